"""How close play is to an equilibrium, and to which: gaps, distances, and the sets themselves."""

import numpy as np

from gamesim.game import Game
from gamesim.measure.distance import distance, distances
from gamesim.measure.incentives import Deviation, EquilibriumKind, deviation_matrices, gap, written_out
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


def optimum(game: Game) -> float:
    """Return the largest total payoff of any action profile of a game, in payoff units a round.

    >>> from gamesim import games
    >>> optimum(games.make("chicken")), optimum(games.make("traffic-light"))
    (12.0, 1.0)
    """
    return float(written_out(game).payoffs.sum(axis=0).max())


def polytope(game: Game, kind: EquilibriumKind) -> Polytope:
    """Return the set of all equilibria of a game, of kind "ce" or "cce".

    >>> from gamesim import games
    >>> equilibria = polytope(games.make("prisoners-dilemma"), "cce")
    >>> equilibria.dimension, equilibria.vertices().tolist()  # one point: both defect
    (0, [[[0.0, 0.0], [0.0, 1.0]]])
    """
    return Polytope.from_game(game, kind)


def welfare_range(game: Game, kind: EquilibriumKind) -> tuple[float, float]:
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
