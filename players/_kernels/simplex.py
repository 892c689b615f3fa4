"""Updates that learners share: strategies from losses and regrets.

Rounding must not break ties, so differences of the order of rounding errors are ignored.
"""

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.players._kernels.numeric import copy, exponential, smallest, sum_of

NO_REGRET = 1e-10  # regrets up to this size count as 0
TIED = 1e-12  # losses this close to the smallest count as tied with it


@kernel
def recall(settings: Vector, state: Vector, strategy: Vector) -> None:
    """Play the strategy that `observe` left at the front of the state, where it needs it for the regret."""
    copy(strategy, state)


@kernel
def expected_loss(strategy: Vector, loss: Vector) -> float:
    """Return the expected loss of the strategy; exact if all actions have the same loss."""
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
    """Write the strategy proportional to exp(-rate · losses), subtracting the smallest loss against underflow."""
    least = smallest(losses)
    for i in range(strategy.size):
        strategy[i] = exponential(-rate * (losses[i] - least))
    total = sum_of(strategy)
    for i in range(strategy.size):
        strategy[i] /= total


@kernel
def match(regrets: Vector, strategy: Vector) -> None:
    """Write the strategy proportional to the positive regrets; uniform if no regret exceeds `NO_REGRET`."""
    for i in range(strategy.size):
        strategy[i] = regrets[i] if regrets[i] > NO_REGRET else 0.0
    total = sum_of(strategy)
    for i in range(strategy.size):
        strategy[i] = strategy[i] / total if total > 0 else 1 / strategy.size


@kernel
def uniform_on_least(losses: Vector, tolerance: float, strategy: Vector) -> None:
    """Write the uniform strategy on the actions whose loss is within the tolerance of the smallest."""
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
    """Write the strategy nearest to a point: [point - threshold]₊, with the threshold for which it sums to 1.

    Each pass drops the entries at or below the threshold of the rest, until none is dropped (Michelot 1986,
    "A finite algorithm for finding the projection of a point onto the canonical simplex of R^n").
    """
    threshold, kept = -np.inf, strategy.size + 1
    while True:
        total, above = -1.0, 0
        for i in range(strategy.size):
            if point[i] > threshold:
                total += point[i]
                above += 1
        if above >= kept:  # also if rounding would restore a dropped entry
            break
        threshold, kept = total / above, above
    for i in range(strategy.size):
        strategy[i] = max(point[i] - threshold, 0.0)


@kernel
def inverse_power(rate: float, losses: Vector, power: int, strategy: Vector) -> None:
    """Write p_i = (rate · losses_i + λ)^-power, with the λ for which it sums to 1; power is 1 or 2.

    After subtracting the smallest loss, λ lies in [1, d]. (Σ p)^(-1/power) is concave in λ, like every power mean with
    a negative exponent, so Newton's method increases from λ = 1 to the root without overshooting.
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
        if rise <= 1e-10 * shift:  # convergence is quadratic: the next error is negligible
            break
    for i in range(strategy.size):
        strategy[i] /= total
