"""AdaNormalHedge: NormalHedge in closed form, adaptive to the absolute regret of each action."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import NO_REGRET, expected_loss, recall


class State(NamedTuple):
    """State of AdaNormalHedge."""

    strategy: Vector
    regrets: Vector  # R
    sizes: Vector  # C = Σ |r|


STATE = Layout(State, strategy="d", regrets="d", sizes="d")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, regrets, sizes = _view(state, d)
    suffered = expected_loss(strategy, loss)
    largest = 0.0
    for i in range(d):
        regret = (suffered - loss[i]) / 2  # with losses mapped to [0, 1]
        regrets[i] += regret
        sizes[i] += abs(regret)
        above = max(regrets[i] + 1, 0.0)
        strategy[i] = above * above / (3 * (sizes[i] + 1))
        largest = max(largest, strategy[i])
    total = 0.0
    for i in range(d):
        if regrets[i] + 1 <= NO_REGRET:
            strategy[i] = 0.0
            continue
        below = max(regrets[i] - 1, 0.0)
        less = below * below / (3 * (sizes[i] + 1)) - strategy[i]
        strategy[i] = np.exp(strategy[i] - largest) * (1 - np.exp(less) if less < -0.1 else -np.expm1(less))
        total += strategy[i]
    for i in range(d):
        strategy[i] = strategy[i] / total if total > 0 else 1 / d


@dataclass(frozen=True)
class AdaNormalHedge(Learner):
    """Weight actions by cumulative and absolute regret, without a learning rate.

    Notes
    -----
    Losses are mapped to [0, 1]. With r the regret of a round for each action, R = Σ r and C = Σ |r|,
    the strategy is

        p ∝ exp([R + 1]₊² / 3(C + 1)) - exp([R - 1]₊² / 3(C + 1))

    and uniform if all of these weights are 0; an action with R + 1 ≤ 1e-10 has weight 0. The mean of
    exp([R]₊² / 3C) over the actions stays below

        B = 5/2 + 3/2 ln(1 + T)

    so that, with C_i ≤ T, the regret for each action i satisfies

        R_i ≤ √(3 C_i ln(d B))

    References
    ----------
    Luo and Schapire (2015), "Achieving all with no parameters: AdaNormalHedge", Theorem 1 and Lemma 2.

    Examples
    --------
    >>> learner = AdaNormalHedge().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.083, 0.412, 0.505])
    """

    name = "adanormal-hedge"
    kernels = recall, _observe
    state_layout = STATE

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee(
            "external",
            "2 √(3 T ln(d (5/2 + 3/2 ln(1 + T))))",
            lambda T, d: 2 * sqrt(3 * T * log(d * (2.5 + 1.5 * log(1 + T)))),
        )
