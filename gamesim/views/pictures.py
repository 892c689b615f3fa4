"""What some views draw besides frames: a phase portrait, a cloud of runs, and devices to try."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.measure.endings import endings, sentence
from gamesim.measure.polytope import Polytope
from gamesim.portraits import SHAPES, Portrait
from gamesim.record import Record

PIXELS = 44  # per side of the background of a portrait
POINTS = 160  # of a line
CLOUD_ACTIONS = 24  # of all players
DEVICE_CELLS = 64  # action profiles of a game whose devices are computed
VERTICES = 24  # of the polytope that are offered


def _short(numbers: Any, digits: int = 4) -> Any:
    return np.round(np.asarray(numbers, dtype=float), digits).tolist()


def portrait(shown: Portrait) -> dict[str, Any]:
    """Return what a view draws of a phase portrait."""
    from gamesim.figures.portrait import basins, chosen_lines, place_name, shading, title  # imports matplotlib: slow

    dynamics, places = shown.dynamics, basins(shown)
    data: dict[str, Any] = {
        "space": dynamics.shape,
        "title": title(shown),
        "about": dynamics.description,
        "points": _short(shown.points),
        "velocities": _short(shown.velocities, 9),
        "rest": [
            {
                "at": _short(point.state),
                "name": place_name(shown, place),
                "stability": point.stability,
                "nash": point.is_nash,
            }
            for place, point in enumerate(shown.rest)
        ],
        "nash": _short(shown.nash),
        "places": places,
        "lines": [],
    }
    for run in chosen_lines(shown):
        line = shown.lines[run][:-1]
        data["lines"].append({"end": int(shown.ends[run]), "states": _short(line[:: max(1, -(-len(line) // POINTS))])})
    if dynamics.shape != "cube":
        kinds, strengths, _ = shading(shown, places, PIXELS)
        data["pixels"] = {"count": PIXELS, "kinds": kinds.ravel().tolist()}
        data["pixels"]["strengths"] = _short(np.where(np.isnan(strengths), 0, strengths).ravel(), 3)
    assert len(data["points"][0]) == sum(SHAPES[dynamics.shape])
    return data


def refuse_large_cloud(sizes: Sequence[int]) -> None:
    """Raise an InputError if a cloud would have too many actions."""
    if sum(sizes) > CLOUD_ACTIONS:
        raise InputError(f"a cloud needs at most {CLOUD_ACTIONS} actions of all players, got {sum(sizes)}")


def cloud(record: Record, *, pushed: bool = False) -> dict[str, Any]:
    """Return what a view draws of the replicas of a record; `pushed` means that their first rounds were random."""
    refuse_large_cloud(record.game.sizes)
    curve, game = record.curve, record.game
    last = curve.measure("last-strategies")
    return {
        "title": sentence(endings(game, last[:, -1]), game.name),
        "pushed": pushed,
        "rounds": curve.rounds.tolist(),
        "strategies": _short(last, 4),
        "payoffs": _short(curve.payoffs(), 4),
        "gaps": {kind: _short(curve.gap(kind), 6) for kind in ("ce", "cce")},
        "endings": [endings(game, last[:, k]) for k in range(last.shape[1])],
    }


def device(game: Table) -> dict[str, Any]:
    """Return the devices that a page offers: the best correlated equilibrium, the most random one, and vertices."""
    if game.cells > DEVICE_CELLS:
        raise InputError(f"devices are computed for at most {DEVICE_CELLS} action profiles, got {game.cells}")
    equilibria = Polytope.from_game(game, "ce")
    small = game.cells <= 9
    return {
        "best": _short(equilibria.optimum(np.ones(len(game.players))).ravel(), 9),
        "entropy": _short(equilibria.max_entropy().ravel(), 9),
        "vertices": _short(equilibria.vertices().reshape(-1, game.cells)[:VERTICES], 9) if small else [],
    }
