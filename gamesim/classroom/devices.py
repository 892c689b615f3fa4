"""Correlating devices: the distributions over action profiles from which a mediator draws recommendations."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Game, Table

NAMES = ("best", "worst", "max-entropy", "uniform")
MOST_CELLS = 64  # action profiles of a game with a device: as many as pages show
VERTICES = 24  # of the polytope of correlated equilibria that are offered
ROUNDING = 1e-3  # by which copied probabilities may differ from 1 in total


def checked(game: Game, cells: Any) -> tuple[float, ...]:
    """Return a distribution over action profiles, or raise an InputError; rounded probabilities are scaled to sum to 1.

    >>> from gamesim import games
    >>> checked(games.make("chicken"), [0, 0.333, 0.333, 0.334])
    (0.0, 0.333, 0.333, 0.334)
    """
    table = _table(game)
    profiles = f"one probability per action profile, {table.cells} in all, the last player's action changing first"
    if not isinstance(cells, Sequence) or isinstance(cells, str) or len(cells) != table.cells:
        given = f"{len(cells)} values" if isinstance(cells, Sequence) and not isinstance(cells, str) else repr(cells)
        raise InputError(f"a device of {game.name} needs {profiles}; got {given:.60}")
    for one in cells:
        if isinstance(one, bool) or not isinstance(one, int | float) or not isfinite(one) or one < 0:
            raise InputError(f"probabilities of a device must be numbers from 0 to 1, got {one!r:.40}")
    total = float(sum(cells))
    if abs(total - 1) > ROUNDING:
        raise InputError(f"the probabilities of a device must sum to 1, got {total:g}")
    return tuple(float(one) / total for one in cells)


def named(game: Game, text: str) -> tuple[float, ...]:
    """Return the device with this name, or with these probabilities.

    >>> from gamesim import games
    >>> named(games.make("chicken"), "0 0.25; 0.25 0.5")
    (0.0, 0.25, 0.25, 0.5)
    """
    from gamesim import equilibrium  # here because it loads SciPy, which a session without a device does not need

    table = _table(game)
    if text == "uniform":
        return (1 / table.cells,) * table.cells
    if text in NAMES:
        polytope = equilibrium.polytope(table, "ce")
        weights = [1.0 if text == "best" else -1.0] * len(game.players)
        return _scaled(polytope.max_entropy() if text == "max-entropy" else polytope.optimum(weights))
    try:
        cells = [float(one) for one in re.split(r"[\s,;\[\]]+", text) if one]
    except ValueError:
        raise InputError(
            f"unknown device {text!r:.60}; expected {', '.join(NAMES)}, or probabilities such as 0,0.5,0.5,0"
        ) from None
    return checked(table, cells)


def offered(game: Game) -> dict[str, Any] | None:
    """Return the correlated equilibria that a page offers as devices, or None for games without a small table."""
    from gamesim import equilibrium

    if not isinstance(game, Table) or game.cells > MOST_CELLS:
        return None
    polytope, small = equilibrium.polytope(game, "ce"), game.cells <= 9
    vertices = list(polytope.vertices().reshape(-1, game.cells)[:VERTICES]) if small else []
    return {
        "best": named(game, "best"),
        "entropy": named(game, "max-entropy"),
        "vertices": [_scaled(one) for one in vertices],
    }


def _table(game: Game) -> Table:
    if not isinstance(game, Table) or game.cells > MOST_CELLS:
        raise InputError(f"a device needs a game with at most {MOST_CELLS} action profiles, which {game.name} is not")
    return game


def _scaled(joint: Any) -> tuple[float, ...]:
    mass = np.maximum(np.asarray(joint, dtype=float).ravel(), 0)
    return tuple(float(one) for one in mass / mass.sum())
