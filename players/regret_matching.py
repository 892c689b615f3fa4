"""Regret matching: play in proportion to positive regret."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from gamesim.players._kernels.numeric import copy, smallest

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee, Learner

ROUNDING = 1e-10  # a regret up to here counts as none: noise of the additions must not decide a tie


@kernel
def match(regrets: Vector, strategy: Vector) -> None:
    """Write the strategy in proportion to the positive regrets; uniform where there are none."""
    total = 0.0
    for i in range(strategy.size):
        strategy[i] = regrets[i] if regrets[i] > ROUNDING else 0.0
        total += strategy[i]
    for i in range(strategy.size):
        strategy[i] = strategy[i] / total if total > 0 else 1 / strategy.size


@kernel
def expected_loss(strategy: Vector, loss: Vector) -> float:
    """Return the loss that the strategy suffers; exactly the common loss where all actions share one."""
    least = smallest(loss)
    first = second = third = fourth = 0.0  # four sums that do not wait for one another
    whole = loss.size & ~3
    for i in range(0, whole, 4):
        first += strategy[i] * (loss[i] - least)
        second += strategy[i + 1] * (loss[i + 1] - least)
        third += strategy[i + 2] * (loss[i + 2] - least)
        fourth += strategy[i + 3] * (loss[i + 3] - least)
    for i in range(whole, loss.size):
        first += strategy[i] * (loss[i] - least)
    return least + ((first + second) + (third + fourth))


@kernel
def recall(settings: Vector, state: Vector, strategy: Vector) -> None:
    """Play the strategy that `observe` left at the front of the state: it needs it again, for the regret."""
    copy(strategy, state)


def uniform_then(actions: int, *sizes: int) -> Vector:
    """Return a first state: the uniform strategy at the front, and zeros for all that follows."""
    return np.concatenate([np.full(actions, 1 / actions), np.zeros(sum(sizes))])


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, regrets = state[: loss.size], state[loss.size :]
    suffered = expected_loss(strategy, loss)
    for i in range(loss.size):
        regrets[i] += suffered - loss[i]
    match(regrets, strategy)


@dataclass(frozen=True)
class RegretMatching(Learner):
    """Play each action in proportion to how much better it would have done so far.

    With R = Σ (<p, l> 1 - l) the regret for each action, the strategy is p ∝ [R]₊, and uniform where no regret is
    positive. Since <[R]₊, r> = 0, |[R]₊|² grows by at most |r|² ≤ 4 d in a round, which gives the bound.

    Reference: Hart and Mas-Colell (2000), "A simple adaptive procedure leading to correlated equilibrium", Theorem B;
    the bound: Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games", Corollary 2.1 with p = 2.

    >>> learner = RegretMatching().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.5])
    >>> learner.play().round(3)
    array([0. , 0.2, 0.8])
    """

    name = "regret-matching"
    kernels = recall, _observe

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return uniform_then(actions, actions)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "2 √(d T)", lambda T, d: 2 * sqrt(d * T))
