"""The largest rounding error of a gap or of a regret per round. A smaller value is 0 up to rounding.

A regret is a difference of two sums of T losses, weighted with the probabilities of actions. With u the unit roundoff,
half of machine epsilon, a partial sum after t rounds is at most t in size, so an addition costs at most u t, and all of
them u T² / 2. Each loss is itself a sum over the actions of the other players, which costs at most 2 u per action, in
every round. Two sums, divided by T rounds, in payoff units (half of the payoff range R per unit of loss)::

    R / 2 · 2 · (u T / 2 + 2 u Σ_i d_i) = ε R (T / 4 + Σ_i d_i)

with ε = 2 u and d_i the number of actions of player i. With payoffs in [0, 1] this is 6·10⁻¹³ after 10,000 rounds.
"""

import sys

from gamesim.game import Game


def gap_rounding(game: Game, rounds: int) -> float:
    """Return the largest rounding error of a gap after `rounds` rounds, in payoff units per round.

    >>> from gamesim import games
    >>> gap_rounding(games.make("shapley"), 10_000) < 1e-12
    True
    """
    low, high = game.range
    return float(sys.float_info.epsilon * (high - low).max() * (rounds / 4 + sum(game.sizes)))
