"""The fixed point p = pφ of a stochastic matrix φ, which internal- and swap-regret learners play.

A reducible φ has many fixed points. The one chosen is the limit, as δ → 0, of the fixed point of the damped chain
(1-δ)φ + δ·(1 ⊗ default). That fixed point is Σ_k δ(1-δ)^k default·φ^k, so the limit is the long-run average of
default·φ^k: every closed class has the probability with which a walk from `default` is absorbed there, distributed as
the fixed point of the class; transient states have probability 0.

Elimination, after Grassmann, Taksar and Heyman (1985, "Regenerative analysis and steady state distributions for Markov
chains", Operations Research 33), removes the states one by one, from the last, and leaves the chain censored to the
others. It only adds, multiplies and divides non-negative numbers, so every entry of p has a small *relative* error,
however nearly decomposable φ is (O'Cinneide 1993, Numerische Mathematik 65). A state without exit is the last of a
closed class: it is retained, and the others drain into it. One pass thus finds the classes and their masses exactly.

Learners that play fixed points often choose nearly the same row for all actions: then all eigenvalues of φ but one are
near 0, and a few steps p ← pφ from the last fixed point suffice. They are tried first if all states lead to one state
with probability at least a, which implies a single closed class and an error of at most the residual divided by a
(Doeblin), and given up as soon as a step does not reduce the residual to an eighth. They start and stay in the class,
because they start at successors of that state.

Otherwise, there is most often a single closed class and it is small, because learners abandon bad actions. A search
along the positive entries finds it, and only its states are eliminated. For a large class, the eliminated matrix is
kept in the scratch: it is a factorisation I - φ = (I - R)·S·(I - G), with R above and G below the diagonal and S the
exits (Heyman 1985). φ changes little from round to round, so a few steps of iterative refinement with old factors give
the new fixed point in O(n²). If the residual remains too large, the elimination is repeated.
"""

from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, inlined, kernel, multiply_add, part
from gamesim.engine.layout import Layout
from gamesim.players._kernels.numeric import copy, fill, sum_of, vectorise_widely

DIRECT = 80  # a closed class up to this size is eliminated, which is faster than refinement,
STEP = 32  # and so is one of m among n states with m³ ≤ STEP · n², by measurement
RESIDUAL = 1e-13  # refinement stops at this total absolute residual
TOLERABLE = 1e-11  # ... or at this one, if rounding prevents further progress
STEPS = 12  # maximum refinement steps before the factors count as outdated
FAST = 1 / 8  # steps p ← pφ continue while each reduces the residual by this factor
SURE = 1e-4  # ... and start if all states lead to one with at least this probability
FEW = 8  # up to this many states, elimination is faster than such steps
PANEL = 12  # states are eliminated four at a time while this many remain
NEGLIGIBLE = 1e-250  # exits up to this size count as 0; the inverse is still finite
LARGE = 1e50  # unnormalised entries above this are rescaled to prevent overflow


class Scratch(NamedTuple):
    """Scratch of `fixed_point`, partly kept between calls; all 0 before the first call."""

    factored: Vector  # 1 if `factors` are those of a whole matrix with a single closed class
    stays: Vector  # the state that was not eliminated
    start: Vector  # where the next search for the closed class starts
    last: Vector  # the last fixed point
    exits: Vector
    members: Vector  # the states of the closed class
    work: Vector
    factors: Vector
    panel: Vector


SCRATCH = Layout(
    Scratch,
    factored="1",
    stays="1",
    start="1",
    last="d",
    exits="d",
    members="d",
    work="3 * d",
    factors="d * d",
    panel="4 * ((d + 15) // 16 * 16)",  # four rows of `_padded` length
    aligned=True,
)
_view = SCRATCH.view


@inlined
def _padded(length: int) -> int:
    """Return the next multiple of 16, so that vectorised loops have no scalar remainder."""
    return (length + 15) & ~15


@inlined
def _state(number: float, n: int) -> int:
    """Return the number of a state, whatever a damaged record holds instead."""
    return int(number) if 0 <= number < n else 0


@kernel
def fixed_point(matrix: Vector, default: Vector, strategy: Vector, scratch: Vector) -> None:
    """Write the fixed point of a row-stochastic matrix, given row by row, into `strategy`.

    For a large class, the scratch carries the factors and the fixed point of earlier calls. The last digits of the
    strategy then depend on the earlier matrices that used the same scratch.
    """
    n = strategy.size
    sums = part(_view(scratch, n).work, 2 * n, 3 * n)
    fill(sums, 1.0)
    if not approach(matrix, sums, default, strategy, scratch):
        solve(matrix, default, strategy, scratch)


@kernel
def approach(rows: Vector, sums: Vector, default: Vector, strategy: Vector, scratch: Vector) -> bool:
    """Write the fixed point if a few steps p ← pφ reach it, and return whether they do.

    Row i of φ is the positive part of row i of `rows`, divided by the sum of this part, `sums[i]`; or the default, if
    the sum is 0.
    """
    n = strategy.size
    parts = _view(scratch, n)
    if n <= FEW:
        return False
    first = _state(parts.start[0], n)
    common = int(np.argmax(_row(rows, sums, default, first)))  # `first` itself may have left the class
    if _least_in_column(rows, sums, default, common) < SURE:
        return False
    if not _iterate(rows, sums, default, common, parts.last, strategy, parts.work, parts.members):
        return False
    parts.start[0] = np.argmax(strategy)
    copy(parts.last, strategy)
    return True


@inlined
def _row(rows: Vector, sums: Vector, default: Vector, i: int) -> Vector:
    """Return row i, or the default if the row has no positive entry: the positive part of both is a multiple of φ's."""
    row: Vector = (
        part(rows, i * default.size, (i + 1) * default.size) if sums[i] > 0 else part(default, 0, default.size)
    )
    return row


@inlined
def _least_in_column(rows: Vector, sums: Vector, default: Vector, state: int) -> float:
    """Return the least probability with which a state leads to this one."""
    n = default.size
    least = 1.0
    for i in range(n):
        least = min(least, max(rows[i * n + state], 0.0) / sums[i] if sums[i] > 0 else default[state])
        if least < SURE:
            break
    return least


@kernel
def _iterate(
    rows: Vector, sums: Vector, default: Vector, state: int, last: Vector, strategy: Vector, work: Vector, used: Vector
) -> bool:
    """Iterate p ← pφ from the part of the last fixed point on the successors of a state of the closed class.

    Return whether the residual became negligible.
    """
    vectorise_widely()
    n = strategy.size
    following, weights, inverses = part(work, 0, n), part(work, n, 2 * n), part(work, 2 * n, 3 * n)
    empty = 0
    for i in range(n):
        empty += sums[i] == 0
        inverses[i] = 1 / sums[i] if sums[i] > 0 else 0.0
    successors = _row(rows, sums, default, state)
    for j in range(n):
        strategy[j] = last[j] if successors[j] > 0 else 0.0
    if not sum_of(strategy) > 0:
        for j in range(n):
            strategy[j] = max(successors[j], 0.0)
    _normalise(strategy)
    before = np.inf
    while True:
        remaining = 0.0  # what is passed on by rows that are the default
        for i in range(n if empty > 0 else 0):
            remaining += strategy[i] if inverses[i] == 0 else 0.0
        for i in range(n):
            weights[i] = strategy[i] * inverses[i]
            following[i] = remaining * default[i]
        _add_rows(weights, rows, following, used)
        for j in range(n):
            change = following[j] - strategy[j]
            strategy[j] = following[j]
            following[j] = abs(change)
        residual = sum_of(following)  # of the strategy before this step: that of the next is smaller
        if residual <= RESIDUAL or (residual <= TOLERABLE and residual * residual <= RESIDUAL * before):
            _normalise(strategy)
            return True
        if not residual < FAST * before:
            return False
        before = residual


@inlined
def _add_rows(weights: Vector, rows: Vector, result: Vector, used: Vector) -> None:
    """Add the positive parts of rows times their weights, four rows at a time; `used` is scratch."""
    n = result.size
    count = 0
    for i in range(n):
        used[count] = i
        count += weights[i] > 0
    for k in range(0, count & ~3, 4):
        g, h, i, j = int(used[k]), int(used[k + 1]), int(used[k + 2]), int(used[k + 3])
        first, second = part(rows, g * n, g * n + n), part(rows, h * n, h * n + n)
        third, fourth = part(rows, i * n, i * n + n), part(rows, j * n, j * n + n)
        a, b, c, d = weights[g], weights[h], weights[i], weights[j]
        for at in range(n):
            added = multiply_add(c, max(third[at], 0.0), multiply_add(d, max(fourth[at], 0.0), result[at]))
            result[at] = multiply_add(a, max(first[at], 0.0), multiply_add(b, max(second[at], 0.0), added))
    for k in range(count & ~3, count):
        i = int(used[k])
        weight, row = weights[i], part(rows, i * n, i * n + n)
        for at in range(n):
            result[at] = multiply_add(weight, max(row[at], 0.0), result[at])


@kernel
def solve(matrix: Vector, default: Vector, strategy: Vector, scratch: Vector) -> None:
    """Write the fixed point of a row-stochastic matrix by elimination or refinement."""
    n = strategy.size
    factored, stays, start, last, exits, members, work, factors, panel = _view(scratch, n)
    first = _state(start[0], n)
    size = _closed_class(matrix, first, members, work)
    mass, weights, spare = part(work, 0, n), part(work, n, 2 * n), part(work, 2 * n, 3 * n)
    if size > 0 and (size <= DIRECT or size**3 <= STEP * n * n):
        fill(mass, 0.0)
        mass[0] = 1.0
    else:
        if size > 0 and factored[0] == 1:
            copy(strategy, last)
            if _refine(matrix, factors, exits, _state(stays[0], n), strategy, work):
                _only(part(members, 0, size), strategy)
                copy(last, strategy)
                return
        size = n
        copy(mass, default)
        for i in range(n):
            members[i] = i
    _restrict(matrix, part(members, 0, size), n, factors)
    closed = _eliminate(factors, part(exits, 0, size), mass, panel)
    factored[0] = closed == 1 and size == n
    for i in range(size):
        if exits[i] == 0:
            stays[0] = i
    _spread(factors, part(exits, 0, size), mass, part(weights, 0, size), spare)
    fill(strategy, 0.0)
    for a in range(size):
        strategy[int(members[a])] = weights[a]
        if weights[a] > strategy[first]:
            first = int(members[a])
    start[0] = first
    copy(last, strategy)


@kernel
def _closed_class(matrix: Vector, start: int, members: Vector, work: Vector) -> int:
    """Write the states of the only closed class, in order, and return their number; 0 if there are several."""
    n = members.size
    reached, reaches = part(work, 0, n), part(work, n, 2 * n)
    while True:
        _search(matrix, start, n, 1, reached, members)
        everywhere = _search(matrix, start, 1, n, reaches, members)
        outside = -1  # a state that is reached but does not lead back: the closed class lies beyond it
        for j in range(n):
            if reached[j] > 0 and reaches[j] == 0:
                outside = j
        if outside < 0:
            break
        start = outside
    if everywhere < n:
        return 0
    size = 0
    for j in range(n):
        if reached[j] > 0:
            members[size] = j
            size += 1
    return size


@inlined
def _search(matrix: Vector, start: int, across: int, along: int, found: Vector, queue: Vector) -> int:
    """Mark the states reachable from `start`, or with strides 1 and n those that reach it; return their number."""
    n = found.size
    fill(found, 0.0)
    found[start] = 1.0
    queue[0] = start
    taken, count = 0, 1
    while taken < count < n:
        at = int(queue[taken]) * across
        taken += 1
        for j in range(n):
            if found[j] == 0 and matrix[at + j * along] > 0:
                found[j] = 1.0
                queue[count] = j
                count += 1
    return count


@inlined
def _restrict(matrix: Vector, members: Vector, n: int, result: Vector) -> None:
    """Write the restriction of a matrix with n states to the members."""
    size = members.size
    if size == n:
        copy(result, matrix)
        return
    for a in range(size):
        row = part(matrix, int(members[a]) * n, int(members[a]) * n + n)
        for b in range(size):
            result[a * size + b] = row[int(members[b])]


@kernel
def _eliminate(factors: Vector, exits: Vector, mass: Vector, panel: Vector) -> int:
    """Eliminate the states from the last to the first; return the number of closed classes.

    After state k, factors[i, k] for i < k is R, factors[k, j] for j < k is S·G, and exits[k] is S, which is 0 for the
    retained state of a class. `mass` starts as the default distribution and ends on the retained states.
    """
    n = exits.size
    closed = 0
    k = n - 1
    while k >= 0:
        if closed == 0 and k >= PANEL:
            # Four states at once, first among themselves, then for all others: a quarter of the memory traffic.
            taken = 0
            while taken < 4 and _leave(factors, exits, k - taken, closed) > NEGLIGIBLE:
                _pass_on(factors, exits, k - taken, k - 3, k - taken, closed)
                taken += 1
            if taken == 4:
                _pass_on_four(factors, exits, k, mass, panel)
            else:
                for state in range(k, k - taken, -1):
                    _pass_on(factors, exits, state, 0, k - 3, closed)
                    _hand_over(factors, exits, state, mass)
            k -= taken
            if taken == 4:
                continue
        if _leave(factors, exits, k, closed) > NEGLIGIBLE:
            _pass_on(factors, exits, k, 0, k, closed)
            _hand_over(factors, exits, k, mass)
        else:
            exits[k] = 0.0
            closed += 1
        k -= 1
    return closed


@kernel
def _leave(factors: Vector, exits: Vector, k: int, closed: int) -> float:
    """Write and return the probability of leaving state k for an earlier or a retained state."""
    n = exits.size
    leaving = sum_of(part(factors, k * n, k * n + k))
    if closed > 0:
        for stays in range(k + 1, n):
            leaving += factors[k * n + stays] if exits[stays] == 0 else 0.0
    exits[k] = leaving
    return leaving


@kernel
def _pass_on(factors: Vector, exits: Vector, k: int, begin: int, end: int, closed: int) -> None:
    """Redirect transitions from the states begin ... end-1 into state k to the successors of k."""
    n = exits.size
    row = part(factors, k * n, k * n + n)
    for i in range(begin, end):
        target = part(factors, i * n, i * n + n)
        weight = target[k]
        if weight > 0:
            weight /= exits[k]
            target[k] = weight
            for j in range(k):
                target[j] += weight * row[j]
            if closed > 0:
                for stays in range(k + 1, n):
                    target[stays] += weight * row[stays] if exits[stays] == 0 else 0.0


@kernel
def _hand_over(factors: Vector, exits: Vector, k: int, mass: Vector) -> None:
    """Move the mass of state k to its successors."""
    n = exits.size
    row = part(factors, k * n, k * n + n)
    weight = mass[k] / exits[k]
    mass[k] = 0.0
    for j in range(n):
        if j < k or exits[j] == 0:
            mass[j] += weight * row[j]


@kernel
def _pass_on_four(factors: Vector, exits: Vector, k: int, mass: Vector, panel: Vector) -> None:
    """Redirect transitions into the states k, k-1, k-2, k-3, and their mass, to the successors of these states.

    The panel holds their rows, padded with zeros, so that nothing is added past the end of a target.
    """
    n = exits.size
    first, second = part(factors, k * n, k * n + n), part(factors, k * n - n, k * n)
    third, fourth = part(factors, k * n - 2 * n, k * n - n), part(factors, k * n - 3 * n, k * n - 2 * n)
    width = _padded(k - 3)
    one, two = part(panel, 0, width), part(panel, width, 2 * width)
    three, four = part(panel, 2 * width, 3 * width), part(panel, 3 * width, 4 * width)
    fill(part(panel, 0, 4 * width), 0.0)
    for j in range(k - 3):
        one[j], two[j], three[j], four[j] = first[j], second[j], third[j], fourth[j]
    by_a, by_b, by_c, by_d = 1 / exits[k], 1 / exits[k - 1], 1 / exits[k - 2], 1 / exits[k - 3]
    for i in range(k - 2):
        target = part(factors, i * n, i * n + n) if i < k - 3 else mass
        a = target[k] * by_a
        b = (target[k - 1] + a * first[k - 1]) * by_b
        c = (target[k - 2] + a * first[k - 2] + b * second[k - 2]) * by_c
        d = (target[k - 3] + a * first[k - 3] + b * second[k - 3] + c * third[k - 3]) * by_d
        target[k], target[k - 1], target[k - 2], target[k - 3] = a, b, c, d
        if a > 0 or b > 0 or c > 0 or d > 0:
            for j in range(width):
                added = multiply_add(c, three[j], multiply_add(d, four[j], target[j]))
                target[j] = multiply_add(a, one[j], multiply_add(b, two[j], added))
    for state in range(k - 3, k + 1):
        mass[state] = 0.0


@kernel
def _spread(factors: Vector, exits: Vector, mass: Vector, strategy: Vector, measure: Vector) -> None:
    """Write the strategy that distributes the mass of each closed class as the fixed point of the class."""
    n = exits.size
    fill(strategy, 0.0)
    for stays in range(n):
        if exits[stays] != 0 or mass[stays] == 0:
            continue
        for k in range(stays, n):
            measure[k] = 0.0
        measure[stays] = 1.0
        for begin in range(stays, n, 4):  # four states at once, first among themselves, then for all later ones
            end = min(begin + 4, n)
            for i in range(begin, end):
                if measure[i] > LARGE:
                    shrink = 1 / measure[i]
                    for k in range(stays, n):
                        measure[k] *= shrink
                for k in range(i + 1, end):
                    measure[k] += measure[i] * factors[i * n + k]
            if end < n:
                _add_four(part(measure, begin, end), part(factors, begin * n, end * n), end, part(measure, 0, n))
        share = mass[stays] / sum_of(part(measure, stays, n))
        for k in range(stays, n):
            strategy[k] += share * measure[k]
    _normalise(strategy)


@inlined
def _only(members: Vector, strategy: Vector) -> None:
    """Remove the mass that rounding left on states outside the closed class."""
    at = 0
    for i in range(strategy.size):
        if at < members.size and members[at] == i:
            at += 1
        else:
            strategy[i] = 0.0
    _normalise(strategy)


@inlined
def _normalise(strategy: Vector) -> None:
    weights = 0.0
    for k in range(strategy.size):
        weights += strategy[k]
    for k in range(strategy.size):
        strategy[k] /= weights


@kernel
def _refine(matrix: Vector, factors: Vector, exits: Vector, stays: int, strategy: Vector, work: Vector) -> bool:
    """Refine a strategy with old factors until pφ - p is negligible; return whether this succeeded.

    Each step solves e(I - φ₀) = pφ - p for the correction e, with φ₀ the matrix of the factors.
    """
    vectorise_widely()
    n = strategy.size
    correction = part(work, 0, n)
    before = np.inf
    for _ in range(STEPS):
        times(strategy, matrix, correction)
        residual = 0.0
        for k in range(n):
            correction[k] -= strategy[k]
            residual += abs(correction[k])
        if residual <= RESIDUAL:
            return True
        if not residual < before / 2:
            return residual <= TOLERABLE
        before = residual
        for k in range(n - 1, 0, -1):
            if k == stays:
                continue
            weight = correction[k] / exits[k]
            correction[k] = weight
            row = part(factors, k * n, k * n + k)
            for j in range(k):
                correction[j] += weight * row[j]
        correction[0] = 0.0 if stays == 0 else correction[0] / exits[0]
        for i in range(n):
            if i == stays:
                correction[i] = 0.0
                continue
            weight, later = correction[i], part(correction, i + 1, n)
            row = part(factors, i * n + i + 1, (i + 1) * n)
            for k in range(n - i - 1):  # from 0: otherwise the loop is not vectorised
                later[k] += weight * row[k]
        for k in range(n):
            strategy[k] = max(strategy[k] + correction[k], 0.0)
        _normalise(strategy)
    return False


@inlined
def times(strategy: Vector, matrix: Vector, result: Vector) -> None:
    """Write strategy · matrix, four rows at a time; groups of rows without mass are not read."""
    n = result.size
    fill(result, 0.0)
    whole = strategy.size & ~3
    for i in range(0, whole, 4):
        _add_four(part(strategy, i, i + 4), part(matrix, i * n, (i + 4) * n), 0, result)
    for i in range(whole, strategy.size):
        weight, row = strategy[i], part(matrix, i * n, i * n + n)
        for j in range(n):
            result[j] += weight * row[j]


@inlined
def _add_four(weights: Vector, rows: Vector, begin: int, result: Vector) -> None:
    """Add four rows times their weights, from entry `begin` onwards."""
    n = result.size
    a, b, c, d = weights[0], weights[1], weights[2], weights[3]
    if a != 0 or b != 0 or c != 0 or d != 0:
        first, second = part(rows, begin, n), part(rows, n + begin, 2 * n)
        third, fourth = part(rows, 2 * n + begin, 3 * n), part(rows, 3 * n + begin, 4 * n)
        target = part(result, begin, n)
        for j in range(n - begin):
            added = multiply_add(c, third[j], multiply_add(d, fourth[j], target[j]))
            target[j] = multiply_add(a, first[j], multiply_add(b, second[j], added))
