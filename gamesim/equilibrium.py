"""How close play is to an equilibrium, and to which: gaps, distances, and the sets themselves."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from gamesim.game import Game
from gamesim.measure import distance as total_variation
from gamesim.measure.incentives import (
    Deviation,
    Incentives,
    checked_joint,
    checked_kind,
    deviation_matrices,
    gap,
    written_out,
)
from gamesim.measure.polytope import Membership, Polytope

__all__ = [
    "Deviation",
    "Membership",
    "Polytope",
    "deviation_matrices",
    "distance",
    "distances",
    "gap",
    "optimum",
    "polytope",
    "welfare_range",
]


def distance(game: Game, joint: ArrayLike, kind: str) -> float:
    """Return the total variation between a joint and the nearest CE or CCE: the least mass to move to get there.

    It lies between 0 and 1. `joint` has an axis for each player of the `game`, and `kind` is "ce" or "cce".

    >>> from gamesim.game import Table
    >>> pennies = Table.from_payoffs([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> round(distance(pennies, [[1, 0], [0, 0]], "ce"), 9)
    0.75
    """
    return distances(game, [joint], kind)[0]


def distances(game: Game, joints: Iterable[ArrayLike], kind: str) -> list[float]:
    """Return the distance of each of several joints of one game, as of a run's checkpoints: each helps the next.

    Distances are total variations, from 0 to 1, and `kind` is "ce" or "cce".

    >>> from gamesim import games
    >>> dilemma = games.make("prisoners-dilemma")
    >>> [round(far, 9) for far in distances(dilemma, [[[0.25, 0.25], [0.25, 0.25]], [[0, 0.1], [0, 0.9]]], "ce")]
    [0.75, 0.1]
    """
    table = written_out(game)
    incentives = Incentives(table, checked_kind(kind))
    arrays = (checked_joint(table, joint) for joint in joints)
    return [nearest.distance for nearest in total_variation.along(incentives, arrays)]


def optimum(game: Game) -> float:
    """Return the largest total payoff of any action profile of a game, in payoff units a round.

    >>> from gamesim import games
    >>> optimum(games.make("chicken")), optimum(games.make("traffic-light"))
    (12.0, 1.0)
    """
    return float(written_out(game).payoffs.sum(axis=0).max())


def polytope(game: Game, kind: str) -> Polytope:
    """Return the set of all equilibria of a game, of kind "ce" or "cce".

    >>> from gamesim import games
    >>> equilibria = polytope(games.make("prisoners-dilemma"), "cce")
    >>> equilibria.dimension, equilibria.vertices().tolist()  # one point: both defect
    (0, [[[0.0, 0.0], [0.0, 1.0]]])
    """
    return Polytope.from_game(game, kind)


def welfare_range(game: Game, kind: str) -> tuple[float, float]:
    """Return the least and the largest total payoff over the equilibria of kind "ce" or "cce", in payoff units a round.

    >>> from gamesim.game import Table
    >>> chicken = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    >>> tuple(round(total, 6) for total in welfare_range(chicken, "ce"))
    (7.2, 10.5)
    """
    equilibria = Polytope.from_game(game, kind)
    players = len(game.players)
    worst, best = (equilibria.payoffs(equilibria.optimum(np.full(players, sign))).sum() for sign in (-1.0, 1.0))
    return float(worst), float(best)
