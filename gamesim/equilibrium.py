"""How close play is to an equilibrium, and to which: gaps, distances, and the sets themselves."""

import numpy as np
from numpy.typing import ArrayLike

from gamesim import distance as distance_
from gamesim.compiled import Vector
from gamesim.game import Game
from gamesim.incentives import Incentives, checked_joint, checked_kind, deviation_matrices, gap, written_out
from gamesim.programs import minimise

__all__ = ["deviation_matrices", "distance", "gap", "optimum", "welfare_range"]


def distance(game: Game, joint: ArrayLike, kind: str) -> float:
    """Return the total variation between a joint and the nearest CE or CCE: the least mass to move to get there.

    >>> from gamesim.game import Table
    >>> pennies = Table.of([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> round(distance(pennies, [[1, 0], [0, 0]], "ce"), 9)
    0.75
    """
    table = written_out(game)
    array = checked_joint(table, joint)
    return distance_.direct(Incentives(table, checked_kind(kind)), array).distance


def optimum(game: Game) -> float:
    """Return the largest total payoff of any action profile."""
    return float(written_out(game).payoffs.sum(axis=0).max())


def welfare_range(game: Game, kind: str) -> tuple[float, float]:
    """Return the least and the largest total payoff over the CE or the CCE.

    >>> from gamesim.game import Table
    >>> chicken = Table.of([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    >>> tuple(round(total, 6) for total in welfare_range(chicken, "ce"))
    (7.2, 10.5)
    """
    table = written_out(game)
    incentives = Incentives(table, checked_kind(kind))
    total = table.payoffs.sum(axis=0).ravel()
    return _least(incentives, total), -_least(incentives, -total)


def _least(incentives: Incentives, payoff: Vector) -> float:
    system = incentives.whole()
    scale = float(np.abs(payoff).max()) or 1.0
    return scale * minimise(payoff / scale, system, np.zeros(system.shape[0]), np.ones(payoff.size), 1.0).value
