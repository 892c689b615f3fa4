"""The scalar learner: predict a number x, observe a gradient c in [-2, 2], compete with every number u.

Its potential is V(n, S) = ε √n exp(z²) (2 z Dawson(z) - 1) with z = S / √(2n), which solves the backward heat equation
(Zhang, Cutkosky and Paschalidis 2022, "PDE-based optimal strategy for unconstrained online learning", Theorem 4). With
S the negative sum of gradients in [-1, 1] after n rounds it predicts x = ½[V(n+1, S+1) - V(n+1, S-1)]. Two clocks turn
gradients of any size into rounds, so that regret grows with √Σ|c| rather than √T, and hints extend the second:

- blocks, the paper's (Cutkosky 2018, Theorem 5.8): hold x until the sum of absolute gradients reaches G = 2; the
  block's sum, divided by 2G, is one gradient. Regret(u) ≤ 2G ε √N exp(z_u²) with N blocks, including the open one;
- continuous, this project's: n advances by |c|/G and S by -c/G in every round.
  Regret(u) ≤ G ε √n exp(z_u²), n = Σ|c|/G;
- continuous with guarded hints, this project's: like the second, but x is shifted towards what it would be if the last
  gradient c came again, f(S - c/G) instead of f(S). E, the sum of c/G times the shift, is what hints have cost so far;
  no shift exceeds κ ε √(n+1) - E. So E ≤ κ ε √(n+1), and regret exceeds that of the second by G E exactly. In rounds
  in which the caller does not follow hints, no x is shifted.

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
BLOCKS, CONTINUOUS, OPTIMISTIC = 0, 1, 2  # numeric codes of the clocks, for the kernels
SERIES = 2.8**2  # the range of the series, z² ≤ SERIES
SHORT = 1.5  # the range of a short series, in which almost all z² lie,
SHORTEST = 0.6  # and that of an even shorter one, in which most do: z² starts at ½
SEVERAL = 4  # vectorised, this many predictions take as long as one
LARGEST = 650.0  # exp of this is 2e282; for larger z², predictions are capped
LARGEST_POTENTIAL = exp(LARGEST) / (2 * LARGEST)  # 2 z Dawson(z) - 1 = 1 / (2 z²) + ...

_inverse_factorial = np.concatenate([[1.0], np.cumprod(1 / np.arange(1.0, 40))])
COEFFICIENTS = _inverse_factorial / (2 * np.arange(40) - 1.0)  # 1 / (m! (2m - 1)); the last is below 1e-15 of the sum
# The same series, reduced to 14 terms by leaving out Chebyshev polynomials of [0, SHORT] whose coefficients add up to
# less than 2e-18 (Lanczos 1938, "Trigonometric interpolation of empirical and analytical functions")
SHORT_COEFFICIENTS = np.array(
    [
        -1.0, 1.0000000000000004, 0.16666666666664606, 0.03333333333368329, 0.00595238094928125,
        0.0009259259423524785, 0.00012626256995559884, 1.5262645994161078e-05, 1.6532282495998643e-06,
        1.6234054120637176e-07, 1.4315589732204812e-08, 1.2937887266767043e-09, 5.624204420642397e-11,
        1.2993349436146398e-11,
    ]
)  # fmt: skip


# ... and to 10 terms, with coefficients that add up to less than 3e-16, less than the rounding error of the sum
SHORTEST_COEFFICIENTS = np.array(
    [
        -1.0000000000000002, 1.0000000000000715, 0.16666666666273985, 0.03333333341691126, 0.005952380050268009,
        0.0009259315081990937, 0.0001262416563666481, 1.531103739298791e-05, 1.5862245171089448e-06,
        2.1245048083890063e-07,
    ]
)  # fmt: skip


@inlined
def _series(square: float, coefficients: Vector) -> float:
    """Return the sum of an even number of terms, with independent accumulators for even and odd powers."""
    fourth = square * square
    last = coefficients.size
    even, odd = coefficients[last - 2], coefficients[last - 1]
    for m in range(last - 4, -2, -2):
        even = multiply_add(even, fourth, coefficients[m])
        odd = multiply_add(odd, fourth, coefficients[m + 1])
    return float(multiply_add(odd, square, even))


@inlined
def potential(square: float) -> float:
    """Return exp(z²) (2 z Dawson(z) - 1) = Σ_m z^(2m) / (m! (2m - 1)), given z² up to `LARGEST`.

    The first term is -1 and all others are positive, so there is no cancellation if the sum is large.
    """
    if square <= SERIES:
        return _series(square, SHORT_COEFFICIENTS) if square <= SHORT else _series(square, COEFFICIENTS)
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
) -> tuple[int, bool]:
    """Advance a row of scalar learners with ε = factor · scales by the paper's clock.

    Return how many closed a block, and that these are marked as changed.
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
    return closing, True


@inlined
def advance_continuous(
    gradients: Vector,
    times: Vector,
    totals: Vector,
    predictions: Vector,
    scales: Vector,
    factor: float,
    changed: Vector,
) -> tuple[int, bool]:
    """Advance a row of scalar learners with ε = factor · scales by the continuous clock.

    Return how many predictions changed, and whether these are marked one by one.
    """
    moved = wide = short = 0
    for j in range(gradients.size):
        step = gradients[j] / LIPSCHITZ
        times[j] += abs(step)
        totals[j] -= step
        moved += step != 0
        wide += _reaches(SHORT, abs(totals[j]), times[j])
        short += _reaches(SHORTEST, abs(totals[j]), times[j])
    several = SEVERAL * moved > gradients.size
    count = 0
    if several and short == 0:
        count = _predict_row(times, totals, predictions, scales, factor, SHORTEST_COEFFICIENTS)
    elif several and wide == 0:
        count = _predict_row(times, totals, predictions, scales, factor, SHORT_COEFFICIENTS)
    elif several:
        count = _predict_row(times, totals, predictions, scales, factor, COEFFICIENTS)
    if moved > 0 and (wide > 0 or not several):  # one by one if few moved, or beyond the range of the series
        for j in range(gradients.size):
            if _reaches(SERIES, abs(totals[j]), times[j]) if several else gradients[j] != 0:
                predictions[j] = predict(factor * scales[j], times[j], totals[j])
                changed[j] = 0.0 if several else 1.0
                count += 1
    return count, not several


@inlined
def advance_optimistic(
    gradients: Vector,
    times: Vector,
    totals: Vector,
    shifts: Vector,
    spent: Vector,
    costs: Vector,
    predictions: Vector,
    scales: Vector,
    factor: float,
    guard: float,
    followed: float,
    follow: float,
    changed: Vector,
) -> tuple[int, bool]:
    """Advance a row of scalar learners like `advance_continuous`, with the gradients as guarded hints.

    The shifts are what hints add to the predictions if they are followed: `followed` is 1 if they were in this round,
    and `follow` if they are in the next, else 0. `spent` is what they have cost, and `costs` what they would have cost
    if always followed.
    """
    moved = wide = short = 0
    for j in range(gradients.size):
        step = gradients[j] / LIPSCHITZ
        cost = step * shifts[j]
        costs[j] += cost
        spent[j] += followed * cost
        times[j] += abs(step)
        totals[j] -= step
        moved += (step != 0) | (shifts[j] != 0)
        wide += _reaches(SHORT, abs(totals[j]) + abs(step), times[j])
        short += _reaches(SHORTEST, abs(totals[j]) + abs(step), times[j])
    several = SEVERAL * moved > gradients.size
    count = 0
    row = (gradients, times, totals, shifts, spent, predictions, scales)
    if several and short == 0:
        count = _predict_row_hinted(row, factor, guard, follow, SHORTEST_COEFFICIENTS)
    elif several and wide == 0:
        count = _predict_row_hinted(row, factor, guard, follow, SHORT_COEFFICIENTS)
    elif several:
        count = _predict_row_hinted(row, factor, guard, follow, COEFFICIENTS)
    if moved > 0 and (wide > 0 or not several):
        for j in range(gradients.size):
            step = gradients[j] / LIPSCHITZ
            far = _reaches(SERIES, abs(totals[j]) + abs(step), times[j])
            if far if several else (step != 0) | (shifts[j] != 0):
                scale = factor * scales[j]
                plain, hinted = predict(scale, times[j], totals[j]), predict(scale, times[j], totals[j] - step)
                shifts[j] = _guarded(hinted - plain, guard * scale * np.sqrt(times[j] + 1) - spent[j])
                predictions[j] = plain + follow * shifts[j]
                changed[j] = 0.0 if several else 1.0
                count += 1
    return count, not several


@inlined
def _reaches(square: float, total: float, time: float) -> bool:
    """Return whether z² of the potential exceeds a limit at |S| + 1 = `total` + 1."""
    return (total + 1) ** 2 > 2 * square * (time + 1)


@inlined
def _guarded(shift: float, room: float) -> float:
    """Return a shift limited to ± room, or 0 if there is no room."""
    limit = max(room, 0.0)
    return min(max(shift, -limit), limit)


@inlined
def _predict_row(
    times: Vector, totals: Vector, predictions: Vector, scales: Vector, factor: float, coefficients: Vector
) -> int:
    """Predict a row with these coefficients of the series, vectorised; count what changed."""
    count = 0
    for j in range(times.size):
        later = times[j] + 1
        prediction = factor * scales[j] * np.sqrt(later) * _half_difference(totals[j], 0.5 / later, coefficients)
        count += prediction != predictions[j]
        predictions[j] = prediction
    return count


@inlined
def _predict_row_hinted(
    row: tuple[Vector, ...], factor: float, guard: float, follow: float, coefficients: Vector
) -> int:
    """Predict a row with hints, like `_predict_row`."""
    gradients, times, totals, shifts, spent, predictions, scales = row
    count = 0
    for j in range(times.size):
        later = times[j] + 1
        root, inverse = factor * scales[j] * np.sqrt(later), 0.5 / later
        plain = root * _half_difference(totals[j], inverse, coefficients)
        hinted = root * _half_difference(totals[j] - gradients[j] / LIPSCHITZ, inverse, coefficients)
        shift = _guarded(hinted - plain, guard * root - spent[j])
        prediction = plain + follow * shift
        count += prediction != predictions[j]
        shifts[j] = shift
        predictions[j] = prediction
    return count


@inlined
def _half_difference(total: float, inverse: float, coefficients: Vector) -> float:
    """Return ½[V(n, S+1) - V(n, S-1)] / (ε √n), given 1 / (2n); z² beyond the range of the long series is capped."""
    up, down = (total + 1) ** 2 * inverse, (total - 1) ** 2 * inverse
    if coefficients.size == COEFFICIENTS.size:
        up, down = min(up, SERIES), min(down, SERIES)
    return 0.5 * (_series(up, coefficients) - _series(down, coefficients))


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
