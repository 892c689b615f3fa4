"""The scalar learner: predict a number x, observe a gradient c in [-2, 2], compete with every number u.

Its potential is V(n, S) = ε √n exp(z²) (2 z Dawson(z) - 1) with z = S / √(2n), which solves the backward heat equation
(Zhang, Cutkosky and Paschalidis 2022, "PDE-based optimal strategy for unconstrained online learning", Theorem 4). With
S the negative sum of gradients in [-1, 1] after n rounds it predicts x = ½[V(n+1, S+1) - V(n+1, S-1)]. Two clocks turn
gradients of any size into rounds, so that regret grows with √Σ|c| rather than √T:

- blocks, the paper's (Cutkosky 2018, Theorem 5.8): hold x until the sum of absolute gradients reaches G = 2; the
  block's sum, divided by 2G, is one gradient. Regret(u) ≤ 2G ε √N exp(z_u²) with N blocks, including the open one;
- continuous, this project's: n advances by |c|/G and S by -c/G in every round.
  Regret(u) ≤ G ε √n exp(z_u²), n = Σ|c|/G.

Here erfi(z_u) = √(2/π) |u| / ε: the bound is the convex conjugate of V at u, since V_S = ε √(π/2) erfi(z). With
N ≤ 1 + Σ|c|/G the first is below the paper's Lemma on the scalar learner. The second holds because, with
D(g) = V(m+|g|, S-g) - V(m, S) + g x, D(0) = 0, D is convex on [0, 1] and on [-1, 0], and D(±1) ≤ 0.
"""

from math import exp

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfi

from gamesim.engine.compiled import Vector, inlined, kernel, multiply_add

LIPSCHITZ = 2.0  # G: gradients lie in [-G, G]
FULL = LIPSCHITZ * (1 - 1e-9)  # a block closes here, so that rounding does not delay it
BLOCKS, CONTINUOUS = 0, 1  # numeric codes of the clocks, for the kernels
TERMS = 40  # enough for |z| ≤ 2.8, where the last term is below 1e-15 of the sum
SERIES = 2.8**2
SEVERAL = 4  # vectorised, this many predictions take as long as one
LARGEST = 650.0  # exp of this is 2e282; for larger z², predictions are capped
LARGEST_POTENTIAL = exp(LARGEST) / (2 * LARGEST)  # 2 z Dawson(z) - 1 = 1 / (2 z²) + ...

_inverse_factorial = np.concatenate([[1.0], np.cumprod(1 / np.arange(1.0, TERMS))])
COEFFICIENTS = _inverse_factorial / (2 * np.arange(TERMS) - 1.0)  # 1 / (m! (2m - 1))


@inlined
def _series(square: float) -> float:
    """Return the sum of the first terms, with independent accumulators for even and odd powers."""
    fourth = square * square
    even, odd = float(COEFFICIENTS[TERMS - 2]), float(COEFFICIENTS[TERMS - 1])
    for m in range(TERMS - 4, -2, -2):
        even = multiply_add(even, fourth, COEFFICIENTS[m])
        odd = multiply_add(odd, fourth, COEFFICIENTS[m + 1])
    return float(multiply_add(odd, square, even))


@inlined
def potential(square: float) -> float:
    """Return exp(z²) (2 z Dawson(z) - 1) = Σ_m z^(2m) / (m! (2m - 1)), given z² up to `LARGEST`.

    The first term is -1 and all others are positive, so there is no cancellation if the sum is large.
    """
    if square <= SERIES:
        return _series(square)
    term, value, power = 1.0, -1.0, 0.0
    while power < square or term > 1e-17 * value:
        power += 1
        term *= square / power
        value += term / (2 * power - 1)
    return value


@kernel
def predict(scale: float, time: float, total: float) -> float:
    """Return x = ½[V(n+1, S+1) - V(n+1, S-1)] for n = `time`, S = `total` and ε = `scale`."""
    later = time + 1
    up, down = (total + 1) ** 2 / (2 * later), (total - 1) ** 2 / (2 * later)
    if up > LARGEST or down > LARGEST:
        difference = LARGEST_POTENTIAL if total > 0 else -LARGEST_POTENTIAL
    else:
        difference = potential(up) - potential(down)
    return float(0.5 * scale * np.sqrt(later) * difference)


@inlined
def advance_blocks(
    gradients: Vector,
    sums: Vector,
    masses: Vector,
    times: Vector,
    totals: Vector,
    predictions: Vector,
    scales: Vector,
    factor: float,
    changed: Vector,
) -> int:
    """Advance a row of scalar learners with ε = factor · scales by the paper's clock.

    Return how many closed a block, and mark these as changed.
    """
    closing = 0
    for j in range(gradients.size):
        sums[j] += gradients[j]
        masses[j] += abs(gradients[j])
        closing += masses[j] >= FULL
    if closing > 0:
        for j in range(gradients.size):
            if masses[j] >= FULL:
                totals[j] -= sums[j] / (2 * LIPSCHITZ)
                times[j] += 1
                sums[j] = 0.0
                masses[j] = 0.0
                predictions[j] = predict(factor * scales[j], times[j], totals[j])
                changed[j] = 1.0
    return closing


@inlined
def advance_continuous(
    gradients: Vector,
    times: Vector,
    totals: Vector,
    predictions: Vector,
    scales: Vector,
    factor: float,
    changed: Vector,
) -> int:
    """Advance a row of scalar learners with ε = factor · scales by the continuous clock.

    Return how many have a nonzero gradient, and mark these as changed.
    """
    moved = 0
    for j in range(gradients.size):
        moved += gradients[j] != 0
    if moved == 0:
        return 0
    for j in range(gradients.size):
        times[j] += abs(gradients[j]) / LIPSCHITZ
        totals[j] -= gradients[j] / LIPSCHITZ
        changed[j] = 1.0 if gradients[j] != 0 else 0.0
    many = SEVERAL * moved > gradients.size
    if many:  # vectorised, including unchanged ones; those beyond the range of the series follow
        for j in range(gradients.size):
            later = times[j] + 1
            up, down = (totals[j] + 1) ** 2 / (2 * later), (totals[j] - 1) ** 2 / (2 * later)
            difference = _series(min(up, SERIES)) - _series(min(down, SERIES))
            predictions[j] = 0.5 * (factor * scales[j]) * np.sqrt(later) * difference
    for j in range(gradients.size):
        if (abs(totals[j]) + 1) ** 2 > 2 * SERIES * (times[j] + 1) if many else gradients[j] != 0:
            predictions[j] = predict(factor * scales[j], times[j], totals[j])
    return moved


def regret_bound(
    clock: int, scale: NDArray[np.float64], time: NDArray[np.float64], comparator: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the bound on Σ c (x - u) after `time` rounds of the clock, counting the open block as one."""
    steps = 2 * LIPSCHITZ if clock == BLOCKS else LIPSCHITZ
    bound: NDArray[np.float64] = steps * np.sqrt(time) * conjugate(scale, comparator)
    return bound


def conjugate(scale: NDArray[np.float64], comparator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ε exp(z²) with erfi(z) = √(2/π) |u| / ε, the conjugate of the potential at n = 1.

    >>> conjugate(np.array([1.0, 1.0, 0.01]), np.array([0.0, 1.0, -1.0])).round(4)
    array([1.    , 1.4658, 2.9836])
    """
    target = np.sqrt(2 / np.pi) * np.abs(comparator) / scale
    # erfi is convex for z ≥ 0 and erfi(z) ≥ 2z/√π, so Newton's method decreases to the root from a point above it
    z = np.minimum(np.sqrt(np.pi) / 2 * target, np.sqrt(np.log1p(target)) + 0.5)
    for _ in range(40):
        z = z - (erfi(z) - target) * np.exp(-(z**2)) * np.sqrt(np.pi) / 2
    value: NDArray[np.float64] = scale * np.exp(z**2)
    return value
