"""What a player earns, as a phone can show it: a table, a table by how many of the others choose what, or a curve."""

from itertools import combinations, combinations_with_replacement, permutations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.game import Game, Table
from gamesim.games.aggregative.game import Aggregative

CELLS = 64  # of the largest payoff table that is shown
ENUMERATED = 4096  # action profiles of the largest table that is summarised by counts
ROWS = 15  # of a table by counts
POINTS = 301  # of a curve
LINES = 5  # of a curve


def of_role(game: Game, role: int) -> dict[str, Any] | None:
    """Return the payoffs of a role, or None if they do not fit on a page.

    >>> from gamesim import games
    >>> of_role(games.make("chicken"), 1)["rows"]
    [[6.0, 2.0], [7.0, 0.0]]
    >>> of_role(games.make("el-farol", players=3, capacity=1), 0)["rows"][1]
    ['1 stay, 1 go', [0.0, -1.0]]
    >>> of_role(games.make("el-farol-crowd", players=4, capacity=2), 0)["lines"][1]
    ['go', [1.0, 1.0, -1.0, -1.0]]
    """
    if isinstance(game, Aggregative):
        return _curve(game) if (np.diff(game.weights) == 1).all() and game.weights[0] == 0 else _splits(game)
    if not isinstance(game, Table):
        return None
    return (_by_counts(game, role) if len(game.players) > 2 else None) or _table(game, role)


def _table(game: Table, role: int) -> dict[str, Any] | None:
    """Return the payoffs with own actions in rows, profiles of the others in columns."""
    if game.cells > CELLS:
        return None
    others = [labels for i, labels in enumerate(game.actions) if i != role]
    table = np.moveaxis(game.payoffs[role], role, 0).reshape(game.sizes[role], -1)
    names = [name for i, name in enumerate(game.players) if i != role]
    columns = [", ".join(one) for one in product(*others)]
    return {"kind": "table", "others": names, "columns": columns, "rows": table.tolist()}


def _by_counts(game: Table, role: int) -> dict[str, Any] | None:
    """Return the payoffs by how many of the others choose each action; None if it matters who chooses it."""
    others = [labels for i, labels in enumerate(game.actions) if i != role]
    if len(set(others)) > 1 or prod(game.sizes) > ENUMERATED:
        return None
    table, labels = np.moveaxis(game.payoffs[role], role, 0), others[0]
    rows = []
    for some in combinations_with_replacement(range(len(labels)), len(others)):
        payoffs = table[(slice(None), *some)]
        if any((table[(slice(None), *one)] != payoffs).any() for one in set(permutations(some))):
            return None
        rows.append([_counted(labels, [some.count(k) for k in range(len(labels))]), payoffs.tolist()])
    return {"kind": "counts", "rows": rows} if len(rows) <= ROWS else None


def _counted(labels: tuple[str, ...], counts: list[int]) -> str:
    return ", ".join(f"{count} {label}" for label, count in zip(labels, counts, strict=True) if count)


def _splits(game: Aggregative) -> dict[str, Any]:
    """Return the payoffs if all others choose one action, or divide evenly between two, or between all."""
    labels, others = game.actions[0], len(game.players) - 1
    sets: list[tuple[int, ...]] = [some for size in (1, 2) for some in combinations(range(len(labels)), size)]
    sets += [tuple(range(len(labels)))] if len(labels) > 2 else []
    rows = []
    for some in sets[:ROWS]:
        counts = [0] * len(labels)
        for k in range(others):
            counts[some[k % len(some)]] += 1
        payoffs: NDArray[np.float64] = game.payoffs[:, int(np.dot(counts, game.weights))]
        rows.append([_counted(labels, counts), payoffs.tolist()])
    return {"kind": "counts", "rows": rows}


def _curve(game: Aggregative) -> dict[str, Any]:
    """Return the payoffs of some actions as functions of how many others choose the second one, or of their average."""
    labels, others = game.actions[0], len(game.players) - 1
    sums = game.payoffs.shape[1]
    at = np.unique(np.linspace(0, sums - 1, min(sums, POINTS)).round().astype(int))
    two = len(labels) == 2
    shown = np.unique(np.linspace(0, len(labels) - 1, min(len(labels), LINES)).round().astype(int))
    return {
        "kind": "curve",
        "across": f"others who choose {labels[1]}" if two else "average choice of the others",
        "at": (at if two else at / others).tolist(),
        "lines": [[labels[k], game.payoffs[k, at].tolist()] for k in shown],
    }
