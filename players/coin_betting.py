"""Coin betting: one Krichevsky-Trofimov bettor per action."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import NO_REGRET, expected_loss, recall
from gamesim.validation import MOST_ROUNDS, positive


class State(NamedTuple):
    """State of coin betting."""

    strategy: Vector
    coins: Vector  # G, the sum of each bettor's coins
    wealth: Vector  # the logarithm of each bettor's wealth
    counted: Vector  # rounds


STATE = Layout(State, strategy="d", coins="d", wealth="d", counted="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d, horizon = loss.size, settings[0]
    strategy, coins, wealth, counted = _view(state, d)
    rounds = counted[0]
    suffered = expected_loss(strategy, loss)
    richest = -np.inf
    for i in range(d):
        coin = (suffered - loss[i]) / 2  # with losses mapped to [0, 1]
        bet = coins[i] / (rounds + 1 + horizon / 2)
        if coins[i] <= NO_REGRET:
            coin = max(coin, 0.0)
        wealth[i] += np.log(1 + coin * bet)
        coins[i] += coin
        richest = max(richest, wealth[i] if coins[i] > NO_REGRET else -np.inf)
    counted[0] = rounds + 1
    total = 0.0
    for i in range(d):
        bets = coins[i] > NO_REGRET and wealth[i] - richest > -650  # smaller is negligible, and subnormal, hence slow
        strategy[i] = coins[i] * np.exp(wealth[i] - richest) if bets else 0.0
        total += strategy[i]
    for i in range(d):
        strategy[i] = strategy[i] / total if total > 0 else 1 / d


@dataclass(frozen=True)
class CoinBetting(Learner):
    """Run one bettor per action and play in proportion to the bets.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the bets are tuned to. A simulation sets it if it is not given.

    Notes
    -----
    Losses are mapped to [0, 1]. The bettor of action i observes the coin

        g_i = <p, l> - l_i

    or its positive part if the bettor does not bet. With G_i the sum of its coins, it bets in round
    t ≤ T the fraction G_i / (t + T/2) of its wealth:

        w_i = G_i / (t + T/2) · (1 + Σ g_i w_i)

    The strategy is p ∝ [w]₊, and uniform if no bettor bets. A bettor with G_i ≤ 1e-10 does not bet.

    References
    ----------
    Orabona and Pál (2016), "Coin betting and parameter-free online learning", Algorithm 2 with the
    shifted Krichevsky-Trofimov potential and Corollary 6.

    Examples
    --------
    >>> learner = CoinBetting(horizon=10).start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.  , 0.25, 0.75])
    """

    horizon: int | None = None

    name = "coin-betting"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([self.required_horizon()], dtype=np.float64)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "2 √(3 T (3 + ln d))", lambda T, d: 2 * sqrt(3 * T * (3 + log(d)))).tuned_to(
            self.horizon
        )
