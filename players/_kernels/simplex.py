"""Strategies from losses and regrets: the updates that learners share.

Rounding must not decide a tie, so losses and regrets that differ by less than its usual size count as equal.
"""

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.players._kernels.numeric import copy, exponential, smallest, sum_of

NO_REGRET = 1e-10  # a regret up to here counts as none
TIED = 1e-12  # losses this close to the least count as tied with it


@kernel
def recall(settings: Vector, state: Vector, strategy: Vector) -> None:
    """Play the strategy that `observe` left at the front of the state: it needs it again, for the regret."""
    copy(strategy, state)


@kernel
def expected_loss(strategy: Vector, loss: Vector) -> float:
    """Return the loss that the strategy suffers; exactly the common loss where all actions share one."""
    least = smallest(loss)
    first = second = third = fourth = 0.0  # four independent accumulators
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
def softmin(rate: float, losses: Vector, strategy: Vector) -> None:
    """Write the strategy in proportion to exp(-rate · losses); the least loss is taken off first, against underflow."""
    least = smallest(losses)
    for i in range(strategy.size):
        strategy[i] = exponential(-rate * (losses[i] - least))
    total = sum_of(strategy)
    for i in range(strategy.size):
        strategy[i] /= total


@kernel
def match(regrets: Vector, strategy: Vector) -> None:
    """Write the strategy in proportion to the positive regrets; uniform where there are none."""
    total = 0.0
    for i in range(strategy.size):
        strategy[i] = regrets[i] if regrets[i] > NO_REGRET else 0.0
        total += strategy[i]
    for i in range(strategy.size):
        strategy[i] = strategy[i] / total if total > 0 else 1 / strategy.size


@kernel
def uniform_on_least(losses: Vector, tolerance: float, strategy: Vector) -> None:
    """Write the uniform strategy on the actions whose loss is within the tolerance of the least."""
    least = losses[0]
    for i in range(strategy.size):
        least = min(least, losses[i])
    leaders = 0
    for i in range(strategy.size):
        leaders += losses[i] <= least + tolerance
    for i in range(strategy.size):
        strategy[i] = 1 / leaders if losses[i] <= least + tolerance else 0.0


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
def inverse_power(rate: float, losses: Vector, power: int, strategy: Vector) -> None:
    """Write p_i = (rate · losses_i + λ)^-power with the λ that makes the sum 1; power is 1 or 2.

    With the least loss taken off, λ lies in [1, d]. (Σ p)^(-1/power) is concave in λ, as every power mean with a
    negative exponent, so that Newton's steps from λ = 1 rise to the root without passing it.
    """
    least = losses[0]
    for i in range(strategy.size):
        least = min(least, losses[i])
    shift = 1.0
    for _ in range(100):
        total = slope = 0.0
        for i in range(strategy.size):
            inverse = 1 / (rate * (losses[i] - least) + shift)
            share = inverse if power == 1 else inverse * inverse
            strategy[i] = share
            total += share
            slope += share * inverse
        mean = 1 / total if power == 1 else 1 / np.sqrt(total)
        rise = (1 - mean) * total / (slope * mean)
        shift += rise
        if rise <= 1e-10 * shift:  # the next error is of the square's order
            break
    for i in range(strategy.size):
        strategy[i] /= total
