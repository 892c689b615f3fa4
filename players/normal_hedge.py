"""NormalHedge: weights from the half-normal potential, without a rate."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.numeric import fill
from gamesim.players._kernels.simplex import NO_REGRET, expected_loss, recall


class State(NamedTuple):
    """State of NormalHedge."""

    strategy: Vector
    regrets: Vector
    root: Vector  # 1 / (2 c) of the previous round, where the next search starts


STATE = Layout(State, strategy="d", regrets="d", root="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, regrets, root = _view(state, d)
    suffered = expected_loss(strategy, loss)
    largest = 0.0
    for i in range(d):
        regrets[i] += suffered - loss[i]
        largest = max(largest, regrets[i])
    if largest <= NO_REGRET:
        fill(strategy, 1 / d)
        return
    # s = 1 / (2 c) solves ln mean exp(s [R]₊²) = 1. The left side is convex and increasing in s, and at the root
    # s max[R]₊² lies between 1 and 1 + ln d. Newton's method, from the previous s, decreases to the root after at most
    # one step up.
    square = largest * largest
    low, high = 1 / square, (1 + np.log(d)) / square
    s = min(max(root[0], low), high)
    for _ in range(100):
        total = slope = 0.0
        for i in range(d):
            regret = regrets[i]
            if regret > NO_REGRET:
                weight = np.exp(s * regret * regret)
                total += weight
                slope += weight * regret * regret
                strategy[i] = weight
            else:
                total += 1.0
                strategy[i] = 0.0
        change = min(max(s - (np.log(total / d) - 1) * total / slope, low), high) - s
        s += change
        if abs(change) <= 1e-8 * s:  # the weights are then corrected to first order; the error is of second order
            break
    root[0] = s
    total = 0.0
    for i in range(d):
        regret = max(regrets[i], 0.0)
        strategy[i] *= regret * (1 + change * regret * regret)
        total += strategy[i]
    for i in range(d):
        strategy[i] /= total


@dataclass(frozen=True)
class NormalHedge(Learner):
    """Weight actions by regret with a half-normal potential, without a rate.

    Notes
    -----
    With R the regret for each action, c solves

        mean_i exp([R_i]₊² / 2c) = e

    and the strategy is

        p_i ∝ [R_i]₊ / c · exp([R_i]₊² / 2c)

    It is uniform while no regret exceeds 1e-10, which absorbs rounding. Regret is small not only
    against the best action but also against the best quantile of the actions.

    For every c,

        R_i ≤ √(2 c (1 + ln d))

    √c is a norm of [R]₊. It grows by at most √2 per round, and once c ≥ 1024 (1 + ln d), c itself grows
    by at most 8.8 per round. Hence after T rounds

        c ≤ 8.8 T + (32 √(1 + ln d) + √2)²

    The proof is in docs/explanation/normal-hedge.md.

    References
    ----------
    Chaudhuri, Freund and Hsu (2009), "A parameter-free hedging algorithm", Figure 1. Their Theorem 1
    bounds the regret against the best ε d actions by O(√(T ln 1/ε) + ln² d). The constants in the
    guarantee are derived in this project.

    Examples
    --------
    >>> learner = NormalHedge().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.   , 0.064, 0.936])
    """

    name = "normal-hedge"
    kernels = recall, _observe
    state_layout = STATE

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            exponent = 1 + log(actions)  # maximum of R² / 2c
            return sqrt(2 * exponent * (8.8 * rounds + (32 * sqrt(exponent) + sqrt(2)) ** 2))

        return Guarantee("external", "√(2 Λ (8.8 T + (32 √Λ + √2)²)), Λ = 1 + ln d", bound)
