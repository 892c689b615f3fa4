"""Nash equilibria: the pure ones of any table, and all extreme ones of small two-player games."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector
from gamesim.game import Game, Table
from gamesim.games.tabulate import as_bimatrix

__all__ = ["NashEquilibria", "nash_equilibria", "pure_equilibria"]

MOST_SUPPORT_PAIRS = 2**14  # enumeration beyond this takes too long; two players with 7 actions each are within it
SINGULAR = 1e-12  # determinant of inequalities that do not meet in one point
TOLERANCE = 1e-9  # largest gain from deviating, as a share of the largest payoff difference


@dataclass(frozen=True)
class NashEquilibria:
    """Hold the Nash equilibria found in a two-player game.

    Parameters
    ----------
    profiles : tuple of pairs of ndarray of float
        One pair of mixed strategies per equilibrium.
    is_complete : bool
        Whether these are all equilibria.
    note : str
        Why they are, or may not be, complete.

    Examples
    --------
    >>> from gamesim import games
    >>> found = nash_equilibria(games.make("inspection"))
    >>> [[strategy.round(2).tolist() for strategy in profile] for profile in found.profiles], found.note
    ([[[0.25, 0.75], [0.5, 0.5]]], 'all equilibria')
    """

    profiles: tuple[tuple[Vector, Vector], ...]
    is_complete: bool
    note: str


def pure_equilibria(game: Table) -> Integers:
    """Return all pure Nash equilibria of a game with a table.

    Parameters
    ----------
    game : Table
        The game.

    Returns
    -------
    array of int, shape (equilibria, players)
        One row per equilibrium: the number of each player's action.

    Examples
    --------
    >>> from gamesim import games
    >>> pure_equilibria(games.make("chicken")).tolist()
    [[0, 1], [1, 0]]
    >>> pure_equilibria(games.make("jordan")).tolist()  # no pure equilibrium
    []
    """
    stable = np.ones(game.sizes, dtype=bool)
    for player, own in enumerate(game.payoffs):
        stable &= own == own.max(axis=player, keepdims=True)
    return np.argwhere(stable)


def nash_equilibria(game: Game) -> NashEquilibria:
    """Enumerate the Nash equilibria of a two-player game.

    Parameters
    ----------
    game : Game
        A game with a table and two players.

    Returns
    -------
    NashEquilibria
        The equilibria found, and whether these are all.

    Raises
    ------
    InputError
        If the game has no table or not two players.

    Notes
    -----
    Actions that iterated strict dominance by pure actions eliminates are left out first: no equilibrium plays them.
    The extreme equilibria are the pairs of vertices of the two best-response polytopes at which every action is
    unplayed or a best response (Mangasarian, 1964; von Stengel, 2002). All vertices are enumerated. Beyond 2^14 pairs
    of supports only pure equilibria are returned. A degenerate game may have infinitely many equilibria: those
    returned span them.

    Examples
    --------
    >>> from gamesim import games
    >>> found = nash_equilibria(games.make("chicken"))
    >>> found.is_complete, [[strategy.round(2).tolist() for strategy in profile] for profile in found.profiles]
    (True, [[[1.0, 0.0], [0.0, 1.0]], [[0.67, 0.33], [0.67, 0.33]], [[0.0, 1.0], [1.0, 0.0]]])
    """
    table = as_bimatrix(game, "nash_equilibria")
    rows, columns = _undominated(table.payoffs)
    payoffs = table.payoffs[:, rows][:, :, columns]
    pure = [
        (np.eye(len(rows))[a], np.eye(len(columns))[b])
        for a, b in pure_equilibria(Table.from_payoffs(payoffs, name=table.name)).tolist()
    ]
    if (2 ** len(rows) - 1) * (2 ** len(columns) - 1) > MOST_SUPPORT_PAIRS:
        found, is_complete = pure, False
        size = f"{len(rows)} × {len(columns)} actions are left after strict dominance"
        note = f"{size}, too many for enumeration: only pure equilibria"
    else:
        found = _distinct(payoffs, [*pure, *_enumerated(payoffs)])
        # A game that is not degenerate has an odd number of equilibria (Lemke and Howson, 1964).
        is_complete = len(found) % 2 == 1 and not any(_is_degenerate(payoffs, profile) for profile in found)
        note = "all equilibria" if is_complete else "the game is degenerate: there may be more, even infinitely many"
    whole = []
    for x, y in found:
        profile = np.zeros(len(table.payoffs[0])), np.zeros(len(table.payoffs[0, 0]))
        profile[0][rows], profile[1][columns] = x, y
        whole.append(profile)
    whole.sort(key=lambda profile: [-chance for strategy in profile for chance in strategy.round(9)])
    return NashEquilibria(tuple(whole), is_complete, note)


def _undominated(payoffs: NDArray[np.float64]) -> tuple[Integers, Integers]:
    """Return the actions that survive the iterated elimination of those strictly dominated by a pure action."""
    alive = [np.arange(payoffs.shape[1]), np.arange(payoffs.shape[2])]
    while True:
        before = len(alive[0]) + len(alive[1])
        for player in (0, 1):
            own = payoffs[player][np.ix_(*alive)]
            own = own if player == 0 else own.T
            dominated = [(own > own[k]).all(axis=1).any() for k in range(len(own))]
            alive[player] = alive[player][~np.array(dominated)]
        if len(alive[0]) + len(alive[1]) == before:
            return alive[0], alive[1]


def _enumerated(payoffs: NDArray[np.float64]) -> Iterator[tuple[Vector, Vector]]:
    """Yield the candidates: pairs of vertices that together have every label, which an unplayed action or a best
    response gives."""
    low, high = payoffs.min(axis=(1, 2), keepdims=True), payoffs.max(axis=(1, 2), keepdims=True)
    rows, columns = 1 + (payoffs - low) / np.maximum(high - low, np.finfo(float).tiny)  # positive, so bounded polytopes
    x, unlabelled_x = _vertices(columns.T)
    y, unlabelled_y = _vertices(rows)
    swapped = np.roll(unlabelled_y, len(rows) - len(unlabelled_y[0]), axis=1)  # Row's actions first, as for x
    for i, j in np.argwhere(~(unlabelled_x[:, None] & swapped[None]).any(axis=2)):
        yield x[i] / x[i].sum(), y[j] / y[j].sum()


def _vertices(responses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the vertices but 0 of {z ≥ 0, responses @ z ≤ 1}, and which inequalities are strict there."""
    many = responses.shape[1]
    normals = np.vstack([-np.eye(many), responses])
    limits = np.concatenate([np.zeros(many), np.ones(len(responses))])
    bases = np.array(list(combinations(range(len(limits)), many)))
    bases = bases[np.abs(np.linalg.det(normals[bases])) > SINGULAR]
    points = np.linalg.solve(normals[bases], limits[bases][..., None])[..., 0]
    slack = limits - points @ normals.T
    vertices = (slack >= -TOLERANCE).all(axis=1) & (points.sum(axis=1) > TOLERANCE)
    _, first = np.unique(points[vertices].round(9), axis=0, return_index=True)
    return points[vertices][first], slack[vertices][first] > TOLERANCE


def _distinct(payoffs: NDArray[np.float64], candidates: list[tuple[Vector, Vector]]) -> list[tuple[Vector, Vector]]:
    """Return the candidates that are equilibria, each once."""
    found: list[tuple[Vector, Vector]] = []
    scale = np.ptp(payoffs, axis=(1, 2))
    for x, y in candidates:
        profile = np.clip(x, 0, None), np.clip(y, 0, None)
        if not all(np.isfinite(strategy).all() and abs(strategy.sum() - 1) < TOLERANCE for strategy in profile):
            continue
        own = payoffs[0] @ profile[1], profile[0] @ payoffs[1]
        gains = [values.max() - strategy @ values for values, strategy in zip(own, profile, strict=True)]
        known = any(max(np.abs(x - a).max(), np.abs(y - b).max()) < 1e-7 for a, b in found)
        if not known and (np.array(gains) <= TOLERANCE * scale).all():
            found.append(profile)
    return found


def _is_degenerate(payoffs: NDArray[np.float64], profile: tuple[Vector, Vector]) -> bool:
    """Whether a strategy has more best responses than actions that it plays (von Stengel, 2002)."""
    own = payoffs[0] @ profile[1], profile[0] @ payoffs[1]
    scale = np.ptp(payoffs, axis=(1, 2)) * TOLERANCE
    responses = [int((values >= values.max() - scale[i]).sum()) for i, values in enumerate(own)]
    played = [int((strategy > 1e-7).sum()) for strategy in profile]
    return responses[0] > played[1] or responses[1] > played[0]
