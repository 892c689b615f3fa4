"""Equilibrium gaps, distances to equilibria, and the sets of equilibria."""

import numpy as np

from gamesim.game import Game
from gamesim.measure.distance import distance, distance_bounds, distances
from gamesim.measure.incentives import Deviation, EquilibriumKind, deviation_matrices, gap, written_out
from gamesim.measure.obedience import Obedience, obedience
from gamesim.measure.polytope import Membership, Polytope
from gamesim.measure.total_variation import DistanceBounds

__all__ = [
    "Deviation",
    "DistanceBounds",
    "Membership",
    "Obedience",
    "Polytope",
    "deviation_matrices",
    "distance",
    "distance_bounds",
    "distances",
    "gap",
    "obedience",
    "optimum",
    "polytope",
    "welfare_range",
]


def optimum(game: Game) -> float:
    """Return the maximum total payoff over all action profiles of a game.

    Parameters
    ----------
    game : Game
        A game with a payoff table.

    Returns
    -------
    float
        The maximum sum of the players' payoffs, in payoff units per round.

    Raises
    ------
    InputError
        If the game has no payoff table or too many action profiles.

    Examples
    --------
    >>> from gamesim import games
    >>> optimum(games.make("chicken")), optimum(games.make("traffic-light"))
    (12.0, 1.0)
    """
    return float(written_out(game).payoffs.sum(axis=0).max())


def polytope(game: Game, kind: EquilibriumKind) -> Polytope:
    """Return the set of all correlated or coarse correlated equilibria of a game.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibria.

    Returns
    -------
    Polytope
        The set of equilibria.

    Raises
    ------
    InputError
        If the game has no payoff table or too many action profiles, or if the kind is unknown.

    Examples
    --------
    >>> from gamesim import games
    >>> equilibria = polytope(games.make("prisoners-dilemma"), "cce")
    >>> equilibria.dimension, equilibria.vertices().tolist()  # one point: both defect
    (0, [[[0.0, 0.0], [0.0, 1.0]]])
    """
    return Polytope.from_game(game, kind)


def welfare_range(game: Game, kind: EquilibriumKind) -> tuple[float, float]:
    """Return the minimum and maximum total payoff over all equilibria of a game.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibria.

    Returns
    -------
    tuple of float
        The minimum and the maximum sum of the players' payoffs, in payoff units per round.

    Raises
    ------
    InputError
        If the game has no payoff table or too many action profiles, or if the kind is unknown.
    ArithmeticError
        If a linear program is not solved within 60 seconds.

    Examples
    --------
    >>> from gamesim.game import Table
    >>> chicken = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    >>> tuple(round(total, 6) for total in welfare_range(chicken, "ce"))
    (7.2, 10.5)
    """
    equilibria = Polytope.from_game(game, kind)
    players = len(game.players)
    worst, best = (equilibria.payoffs(equilibria.optimum(np.full(players, sign))).sum() for sign in (-1.0, 1.0))
    return float(worst), float(best)
