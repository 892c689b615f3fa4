"""Projected gradient descent."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from gamesim.players.regret_matching import recall, uniform_then

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee, Learner
from gamesim.validation import positive


@kernel
def project(point: Vector, strategy: Vector) -> None:
    """Write the strategy nearest to a point: [point - threshold]₊ with the threshold that makes the sum 1.

    Each pass leaves out what is at or below the threshold of the rest, until nothing is left out (Michelot 1986, "A
    finite algorithm for finding the projection of a point onto the canonical simplex of R^n").
    """
    threshold, kept = -np.inf, strategy.size + 1
    while True:
        total, above = -1.0, 0
        for i in range(strategy.size):
            if point[i] > threshold:
                total += point[i]
                above += 1
        if above >= kept:  # not even where rounding would take back what was left out
            break
        threshold, kept = total / above, above
    for i in range(strategy.size):
        strategy[i] = max(point[i] - threshold, 0.0)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, point = state[:d], state[d : 2 * d]
    state[2 * d] += 1
    rate = settings[0]
    if rate == 0:
        rate = 1 / np.sqrt(2 * d * state[2 * d])
    for i in range(d):
        point[i] = strategy[i] - rate * loss[i]
    project(point, strategy)


@dataclass(frozen=True)
class Gradient(Learner):
    """Step against the loss, then back to the nearest strategy.

    With Π the Euclidean projection on the strategies, p ← Π(p - rate · l). Without a given `rate`, round t steps with
    rate_t = 1 / sqrt(2 d t): strategies are at most √2 apart and losses at most √d long, so that the regret is at
    most 2 / (2 rate_T) + Σ rate_t d / 2.

    Reference: Zinkevich (2003), "Online convex programming and generalized infinitesimal gradient ascent", Theorem 1.

    >>> learner = Gradient(rate=0.5).start(actions=3)
    >>> learner.observe([1.0, 0.0, 0.0])
    >>> learner.play().round(3)
    array([0. , 0.5, 0.5])
    """

    rate: float | None = None

    name = "gradient"
    kernels = recall, _observe

    def __post_init__(self) -> None:
        positive("rate", self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([self.rate or 0.0])

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return uniform_then(actions, actions + 1)

    def guarantee(self) -> Guarantee:  # noqa: D102
        rate = self.rate
        if rate is None:
            return Guarantee("external", "3 √(d T / 2)", lambda T, d: 3 * sqrt(d * T / 2))
        return Guarantee("external", "1 / rate + rate d T / 2", lambda T, d: 1 / rate + rate * d * T / 2)
