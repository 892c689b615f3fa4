"""Hedge: exponential weights."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from gamesim.compiled import Vector, kernel, phase
from gamesim.errors import positive
from gamesim.player import Guarantee, Player


@phase
def exponential(x: float) -> float:
    """Return exp(x) for x ≤ 0, and 0 below -690; unlike the library's, the compiler can do several of these at once.

    With k the integer nearest to x / ln 2, exp(x) = 2^k exp(x - k ln 2): adding 1.5 · 2^52 leaves k in the low bits of
    a number, and 13 terms of the series do for an argument up to ln(2) / 2 (Cody and Waite 1980, chapter 6). Below -690
    numbers would become so small that every later step is many times slower.
    """
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    series = 2.08767569878681e-09 + r * 1.6059043836821613e-10
    series = 2.755731922398589e-07 + r * (2.505210838544172e-08 + r * series)
    series = 2.48015873015873e-05 + r * (2.7557319223985893e-06 + r * series)
    series = 1.388888888888889e-03 + r * (1.984126984126984e-04 + r * series)
    series = 4.1666666666666664e-02 + r * (8.333333333333333e-03 + r * series)
    series = 1.0 + r * (1.0 + r * (0.5 + r * (0.16666666666666666 + r * series)))
    power = (np.float64(shifted).view(np.int64) + 1023) << 52
    return series * np.int64(power).view(np.float64) if x > -690 else 0.0


@phase
def smallest(numbers: Vector) -> float:
    """Return the least number, of four partial ones that do not wait for one another."""
    first = second = third = fourth = numbers[0]
    whole = numbers.size & ~3
    for i in range(0, whole, 4):
        first = min(first, numbers[i])
        second = min(second, numbers[i + 1])
        third = min(third, numbers[i + 2])
        fourth = min(fourth, numbers[i + 3])
    for i in range(whole, numbers.size):
        first = min(first, numbers[i])
    return float(min(first, second, third, fourth))


@phase
def sum_of(numbers: Vector) -> float:
    """Return the sum, in four partial sums that do not wait for one another."""
    first = second = third = fourth = 0.0
    whole = numbers.size & ~3
    for i in range(0, whole, 4):
        first += numbers[i]
        second += numbers[i + 1]
        third += numbers[i + 2]
        fourth += numbers[i + 3]
    for i in range(whole, numbers.size):
        first += numbers[i]
    return (first + second) + (third + fourth)


@kernel
def softmin(rate: float, losses: Vector, strategy: Vector) -> None:
    """Write the strategy in proportion to exp(-rate · losses); the least loss is taken off first, against underflow."""
    least = smallest(losses)
    for i in range(strategy.size):
        strategy[i] = exponential(-rate * (losses[i] - least))
    total = sum_of(strategy)
    for i in range(strategy.size):
        strategy[i] /= total


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    rate = settings[0]
    if rate == 0:  # anytime: the rate of round t; losses have range 2
        rate = np.sqrt(2 * np.log(strategy.size) / (state[0] + 1))
    softmin(rate, state[1:], strategy)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    state[0] += 1
    for i in range(loss.size):
        state[1 + i] += loss[i]


@dataclass(frozen=True)
class Hedge(Player):
    """Play each action in proportion to exp(-rate · its loss so far).

    With L the loss of each action so far, the strategy is p ∝ exp(-rate · L). Without a given `rate`, round t plays
    with rate_t = sqrt(8 ln d / t) / 2, which needs no horizon.

    Reference: Freund and Schapire (1997), "A decision-theoretic generalization of on-line learning", Theorem 2;
    anytime rate and bound: Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games", Theorem 2.3.

    >>> learner = Hedge(rate=1.0).start(actions=3)
    >>> learner.observe([1.0, 0.0, 0.0])
    >>> learner.play().round(3)
    array([0.155, 0.422, 0.422])
    """

    rate: float | None = None

    name = "hedge"
    kernels = _play, _observe

    def __post_init__(self) -> None:
        positive("rate", self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([self.rate or 0.0])

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return np.zeros(1 + actions)

    def guarantee(self) -> Guarantee:  # noqa: D102
        rate = self.rate
        if rate is None:
            return Guarantee(
                "external", "2(√(2 T ln d) + √(ln d / 8))", lambda T, d: 2 * (sqrt(2 * T * log(d)) + sqrt(log(d) / 8))
            )
        return Guarantee("external", "ln d / rate + rate T / 2", lambda T, d: log(d) / rate + rate * T / 2)
