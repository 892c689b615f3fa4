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

from gamesim.engine.compiled import Vector, inlined, kernel, part, prefetch
from gamesim.players._kernels.eights import Number, count_of, eight, multiply_and_add, put, some, take
from gamesim.players._kernels.numeric import reaches, reciprocal_root

LIPSCHITZ = 2.0  # G: gradients lie in [-G, G]
FULL = LIPSCHITZ * (1 - 1e-9)  # a block closes here, so that rounding does not delay it
BLOCKS, CONTINUOUS, OPTIMISTIC = 0, 1, 2  # numeric codes of the clocks, for the kernels
SERIES = 2.8**2  # the range of the series, z² ≤ SERIES
SHORT = 1.5  # the range of a short series, in which almost all z² lie,
SHORTEST = 0.6  # and that of an even shorter one, in which most do: z² starts at ½
CHUNK = 64  # features advance together: their numbers stay in the fastest cache
AHEAD = 256  # features: so far ahead their numbers are loaded into it
SEVERAL = 16  # vectorised, about this many predictions take as long as one
LARGEST = 650.0  # exp of this is 2e282; for larger z², predictions are capped
LARGEST_POTENTIAL = exp(LARGEST) / (2 * LARGEST)  # 2 z Dawson(z) - 1 = 1 / (2 z²) + ...

# The potential's series has the coefficients 1 / (m! (2m - 1)), here from m = 1. Chebyshev polynomials of the range are
# left out whose coefficients in the derivative, Σ x^m / (m! (2m + 1)) ≥ 1, add up to less than 6e-15 (Lanczos 1938,
# "Trigonometric interpolation of empirical and analytical functions"). Predictions are means of the derivative over
# intervals, so their relative error is as small.
COEFFICIENTS = np.array(
    [
        0.999999999999995, 0.16666666666697022, 0.03333333332920922, 0.005952380977419525, 0.0009259258400350116,
        0.00012626281423762717, 1.526223261582947e-05, 1.6537458776074802e-06, 1.6185328063283875e-07,
        1.4658054291170092e-08, 1.1184717618123039e-09, 1.1912392013054573e-10, -2.146993456394197e-12,
        2.4886111406703422e-12, -3.692449492991427e-13, 6.159931637525617e-14, -7.057050017484577e-15,
        6.575746437278177e-16, -4.431003334632697e-17, 2.1587587923519083e-18, -6.584685059047099e-20,
        1.0424701065006705e-21,
    ]
)  # fmt: skip
# ... less than 3e-15
SHORT_COEFFICIENTS = np.array(
    [
        0.9999999999999974, 0.16666666666690996, 0.033333333328206365, 0.005952380999927199, 0.000925925683301254,
        0.00012626338567440313, 1.526096970704021e-05, 1.6555442528519693e-06, 1.6017138625412175e-07,
        1.567454042007874e-08, 7.483461860980044e-10, 1.8306871840280353e-10,
    ]
)  # fmt: skip
# ... less than 2e-14
SHORTEST_COEFFICIENTS = np.array(
    [
        1.0000000000000144, 0.16666666666472016, 0.03333333339078139, 0.005952380218845258, 0.0009259309222062029,
        0.00012624276662840487, 1.5309988851158595e-05, 1.5865486742167654e-06, 2.1252907629781037e-07,
    ]
)  # fmt: skip


@inlined
def potential(square: float) -> float:
    """Return exp(z²) (2 z Dawson(z) - 1) = Σ_m z^(2m) / (m! (2m - 1)), given z² up to `LARGEST`.

    The first term is -1 and all others are positive, so there is no cancellation if the sum is large.
    """
    term, value, power = 1.0, -1.0, 0.0
    while power < square or term > 1e-17 * abs(value):
        power += 1
        term *= square / power
        value += term / (2 * power - 1)
    return value


@inlined
def _half_difference(total: Number, root: Number, coefficients: Vector) -> Number:
    """Return ½[V(n, S+1) - V(n, S-1)] √n / ε for S = `total` and 1/√n = `root`.

    With P the series of the potential, u = (S+1)² / (2n) and v = (S-1)² / (2n), this is S (P(u) - P(v)) / (u - v). The
    quotient is the sum of the coefficients c_m times h_m = (u^m - v^m) / (u - v). These follow
    h_(m+1) = (u + v) h_m - u v h_(m-1), so Clenshaw's algorithm adds them up, without cancellation and with no root.
    """
    square, inverse = total * total, root * root
    both = multiply_and_add(square, inverse, inverse)  # u + v
    half = 0.5 * multiply_and_add(square, inverse, -inverse)
    product = half * half  # u v
    last = coefficients.size - 1
    before = multiply_and_add(both, coefficients[last], coefficients[last - 1])
    value = multiply_and_add(both, before, multiply_and_add(-product, coefficients[last], coefficients[last - 2]))
    for m in range(last - 3, -1, -1):
        before, value = value, multiply_and_add(both, value, multiply_and_add(-product, before, coefficients[m]))
    return total * value


@kernel
def predict(scale: float, time: float, total: float) -> float:
    """Return x = ½[V(n+1, S+1) - V(n+1, S-1)] for n = `time`, S = `total` and ε = `scale`."""
    later = time + 1
    up, down = (total + 1) ** 2 / (2 * later), (total - 1) ** 2 / (2 * later)
    root, larger = 1 / np.sqrt(later), max(up, down)
    if larger <= SHORT:
        return float(scale * root * _half_difference(total, root, SHORT_COEFFICIENTS))
    if larger <= SERIES:
        return float(scale * root * _half_difference(total, root, COEFFICIENTS))
    if larger <= LARGEST:
        difference = potential(up) - potential(down)
    else:
        difference = LARGEST_POTENTIAL if total > 0 else -LARGEST_POTENTIAL
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
    changed: Vector,
) -> tuple[int, bool]:
    """Advance a row of scalar learners by the paper's clock.

    Return how many closed a block, and that their numbers are in `changed`.
    """
    closing = 0
    for j in range(gradients.size):
        sums[j] += gradients[j]
        masses[j] += abs(gradients[j])
        closing += masses[j] >= FULL
    if closing > 0:
        closing = 0
        whole = gradients.size & ~15
        for first in range(0, gradients.size, 16):
            if first == whole or reaches(masses, first, FULL):
                for j in range(first, min(first + 16, gradients.size)):  # without branches
                    changed[closing] = j
                    closing += masses[j] >= FULL
        for k in range(closing):
            j = int(changed[k])
            totals[j] -= sums[j] / (2 * LIPSCHITZ)
            times[j] += 1
            sums[j] = 0.0
            masses[j] = 0.0
            predictions[j] = predict(scales[j], times[j], totals[j])
    return closing, True


@inlined
def advance_continuous(
    gradients: Vector,
    times: Vector,
    totals: Vector,
    predictions: Vector,
    scales: Vector,
    roots: Vector,
    changed: Vector,
) -> tuple[int, bool]:
    """Advance a row of scalar learners by the continuous clock.

    Return how many predictions changed, and whether their numbers are in `changed`. `roots` is scratch, which splits
    the work into two loops: one waits for roots and memory, and the other has many operations.
    """
    count, listed = 0, True
    for first in range(0, gradients.size, CHUNK):
        end = min(first + CHUNK, gradients.size)
        whole = end & ~7
        moved, least, last = 0, eight(0.0), 0.0
        for j in range(first, whole, 8):
            prefetch(times, j + AHEAD)
            prefetch(totals, j + AHEAD)
            prefetch(predictions, j + AHEAD)
            step = take(gradients, j) * (1 / LIPSCHITZ)
            time, total = take(times, j) + abs(step), take(totals, j) - step
            put(times, j, time)
            put(totals, j, total)
            put(roots, j, reciprocal_root(time + 1.0))
            moved += count_of(step != 0.0)
            least = min(least, _room(SHORTEST, abs(total), time))
        for j in range(whole, end):
            step = gradients[j] * (1 / LIPSCHITZ)
            time, total = times[j] + abs(step), totals[j] - step
            times[j], totals[j], roots[j] = time, total, reciprocal_root(time + 1.0)
            moved += step != 0.0
            last = min(last, _room(SHORTEST, abs(total), time))
        if moved == 0:
            continue
        beyond = some(least < 0.0) or last < 0.0
        wide = beyond and _are_wide(part(totals, first, end), part(gradients, first, end), part(times, first, end), 0.0)
        several = SEVERAL * moved > end - first
        if several:
            row = (part(totals, first, end), part(roots, first, end), part(predictions, first, end))
            different = _predict_within(row, part(scales, first, end), beyond, wide)
            count += different
            listed &= not different
        if wide or not several:  # one by one if few moved, or beyond the range of the series
            for j in range(first, end):
                if _room(SERIES, abs(totals[j]), times[j]) < 0 if several else gradients[j] != 0:
                    predictions[j] = predict(scales[j], times[j], totals[j])
                    if listed:
                        changed[count] = j
                    count += 1
    return count, listed


@inlined
def advance_optimistic(
    row: tuple[Vector, ...],
    guard: float,
    followed: float,
    follow: float,
    roots: Vector,
    changed: Vector,
) -> tuple[int, bool]:
    """Advance a row of scalar learners like `advance_continuous`, with the gradients as guarded hints.

    The shifts are what hints add to the predictions if they are followed: `followed` is 1 if they were in this round,
    and `follow` if they are in the next, else 0. `spent` is what they have cost, and `costs` what they would have cost
    if always followed.
    """
    gradients, times, totals, shifts, spent, costs, predictions, scales = row
    count, listed = 0, True
    for first in range(0, gradients.size, CHUNK):
        end = min(first + CHUNK, gradients.size)
        whole = end & ~7
        moved, least, last = 0, eight(0.0), 0.0
        for j in range(first, whole, 8):
            prefetch(times, j + AHEAD)
            prefetch(totals, j + AHEAD)
            prefetch(shifts, j + AHEAD)
            prefetch(spent, j + AHEAD)
            prefetch(predictions, j + AHEAD)
            step, shift = take(gradients, j) * (1 / LIPSCHITZ), take(shifts, j)
            cost = step * shift
            time, total = take(times, j) + abs(step), take(totals, j) - step
            put(costs, j, take(costs, j) + cost)
            put(spent, j, take(spent, j) + followed * cost)
            put(times, j, time)
            put(totals, j, total)
            put(roots, j, reciprocal_root(time + 1.0))
            moved += count_of((step != 0.0) | (shift != 0.0))
            least = min(least, _room(SHORTEST, abs(total) + abs(step), time))
        for j in range(whole, end):
            step, shift = gradients[j] * (1 / LIPSCHITZ), shifts[j]
            cost = step * shift
            time, total = times[j] + abs(step), totals[j] - step
            costs[j] += cost
            spent[j] += followed * cost
            times[j], totals[j], roots[j] = time, total, reciprocal_root(time + 1.0)
            moved += (step != 0.0) | (shift != 0.0)
            last = min(last, _room(SHORTEST, abs(total) + abs(step), time))
        if moved == 0:
            continue
        beyond = some(least < 0.0) or last < 0.0
        wide = beyond and _are_wide(part(totals, first, end), part(gradients, first, end), part(times, first, end), 1.0)
        several = SEVERAL * moved > end - first
        if several:
            different = _predict_hinted_within(row, first, end, roots, guard, follow, beyond, wide)
            rest = whole if wide else end
            _predict_rest(row, whole, rest, roots, guard, follow)
            count, listed = count + different + rest - whole, listed and not different and rest == whole
        if wide or not several:
            for j in range(first, end):
                step = gradients[j] * (1 / LIPSCHITZ)
                far = j >= whole or _room(SERIES, abs(totals[j]) + abs(step), times[j]) < 0
                if far if several else (step != 0) | (shifts[j] != 0):
                    scale = scales[j]
                    plain, hinted = predict(scale, times[j], totals[j]), predict(scale, times[j], totals[j] - step)
                    shifts[j] = _guarded(hinted - plain, guard * scale * np.sqrt(times[j] + 1) - spent[j])
                    predictions[j] = plain + follow * shifts[j]
                    if listed:
                        changed[count] = j
                    count += 1
    return count, listed


@inlined
def _room(square: float, total: Number, time: Number) -> Number:
    """Return a number that is negative if z² of the potential exceeds a limit at |S| + 1 = `total` + 1."""
    return multiply_and_add(total + 1.0, -(total + 1.0), (time + 1.0) * (2 * square))


@inlined
def _are_wide(totals: Vector, gradients: Vector, times: Vector, hints: float) -> bool:
    """Return whether a potential is beyond the short series, also with hints if this is 1."""
    beyond = 0
    for j in range(totals.size):
        beyond += _room(SHORT, abs(totals[j]) + hints * abs(gradients[j] * (1 / LIPSCHITZ)), times[j]) < 0
    return beyond > 0


@inlined
def _predict_within(row: tuple[Vector, ...], scales: Vector, beyond: bool, wide: bool) -> bool:
    """Predict a row with the shortest series whose range contains all potentials, or with the longest."""
    totals, roots, predictions = row
    if wide:
        return _predict_row(totals, roots, predictions, scales, COEFFICIENTS)
    if beyond:
        return _predict_row(totals, roots, predictions, scales, SHORT_COEFFICIENTS)
    return _predict_row(totals, roots, predictions, scales, SHORTEST_COEFFICIENTS)


@inlined
def _predict_hinted_within(
    row: tuple[Vector, ...],
    first: int,
    end: int,
    roots: Vector,
    guard: float,
    follow: float,
    beyond: bool,
    wide: bool,
) -> bool:
    """Predict part of a row with hints, like `_predict_within`."""
    if wide:
        return _predict_hinted(row, first, end, roots, guard, follow, COEFFICIENTS)
    if beyond:
        return _predict_hinted(row, first, end, roots, guard, follow, SHORT_COEFFICIENTS)
    return _predict_hinted(row, first, end, roots, guard, follow, SHORTEST_COEFFICIENTS)


@inlined
def _guarded(shift: Number, room: Number) -> Number:
    """Return a shift limited to ± room, or 0 if there is no room."""
    limit = max(room, 0.0)
    return min(max(shift, -limit), limit)


@inlined
def _predict_row(totals: Vector, roots: Vector, predictions: Vector, scales: Vector, coefficients: Vector) -> bool:
    """Predict a row with these coefficients of the series; return whether something changed."""
    whole = totals.size & ~7
    changed = 0
    for j in range(0, whole, 8):
        root = take(roots, j)
        prediction = take(scales, j) * root * _half_difference(take(totals, j), root, coefficients)
        changed |= count_of(prediction != take(predictions, j))
        put(predictions, j, prediction)
    for j in range(whole, totals.size):
        prediction = scales[j] * roots[j] * _half_difference(totals[j], roots[j], coefficients)
        changed |= prediction != predictions[j]
        predictions[j] = prediction
    return changed != 0


@inlined
def _predict_rest(row: tuple[Vector, ...], whole: int, end: int, roots: Vector, guard: float, follow: float) -> None:
    """Predict the last n % 8 of a row with hints."""
    gradients, times, totals, shifts, spent, _, predictions, scales = row
    for j in range(whole, end):
        root, step = roots[j], gradients[j] * (1 / LIPSCHITZ)
        unit = scales[j] * root
        plain = _half_difference(totals[j], root, SHORT_COEFFICIENTS)
        hinted = _half_difference(totals[j] - step, root, SHORT_COEFFICIENTS)
        shift = _guarded(unit * (hinted - plain), guard * (times[j] + 1) * unit - spent[j])
        shifts[j], predictions[j] = shift, multiply_and_add(unit, plain, follow * shift)


@inlined
def _predict_hinted(
    row: tuple[Vector, ...], first: int, end: int, roots: Vector, guard: float, follow: float, coefficients: Vector
) -> bool:
    """Predict part of a row with hints, like `_predict_row`, except the last n % 8."""
    gradients, times, totals, shifts, spent, _, predictions, scales = row
    changed = 0
    for j in range(first, end & ~7, 8):
        root, step, total = take(roots, j), take(gradients, j) * (1 / LIPSCHITZ), take(totals, j)
        unit = take(scales, j) * root
        plain = _half_difference(total, root, coefficients)
        hinted = _half_difference(total - step, root, coefficients)
        shift = _guarded(unit * (hinted - plain), (take(times, j) + 1.0) * guard * unit - take(spent, j))
        prediction = multiply_and_add(unit, plain, follow * shift)
        changed |= count_of(prediction != take(predictions, j))
        put(shifts, j, shift)
        put(predictions, j, prediction)
    return changed != 0


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
