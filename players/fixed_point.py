"""The fixed point p = pφ of a stochastic matrix φ: what a player of an internal- or swap-regret learner plays.

φ may be reducible, and then it has many fixed points. The one taken is the limit, as δ → 0, of the fixed point of the
damped chain (1-δ)φ + δ·(1 ⊗ default). That fixed point is Σ_k δ(1-δ)^k default·φ^k, so the limit is the long-run
average of default·φ^k: every closed class gets the mass that a walk from `default` is absorbed with, spread as the
class's own fixed point; states outside closed classes get nothing.

Elimination, after Grassmann, Taksar and Heyman (1985, "Regenerative analysis and steady state distributions for Markov
chains", Operations Research 33), takes out the states one by one from the last, and leaves the chain watched on the
others. It adds, multiplies and divides non-negative numbers only, so every entry of p has a small *relative* error,
however nearly decomposable φ is (O'Cinneide 1993, Numerische Mathematik 65). A state without exit is the last of a
closed class: it stays, and the others drain into it. One pass thus finds the classes and their masses, exactly.

The eliminated matrix is a factorisation I - φ = (I - R)·S·(I - G), with R above and G below the diagonal and S the
exits (Heyman 1985). For large matrices it is kept in the scratch: φ moves little from round to round, so a few steps of
iterative refinement with the old factors give the new fixed point in O(n²). The residual decides; when it is missed,
or when φ has become reducible, the elimination is done again.
"""

import numpy as np

from gamesim.compiled import Vector, kernel

DIRECT = 96  # up to this many states eliminating is cheaper than refining
RESIDUAL = 1e-13  # refinement stops at this total absolute residual
TOLERABLE = 1e-11  # ... or here, when rounding lets it go no further
STEPS = 12  # of refinement at most, before the factors count as too old
NEGLIGIBLE = 1e-250  # an exit this small is none; its inverse is still finite
LARGE = 1e50  # an unnormalised entry beyond this is scaled back before it can overflow


def scratch_size(states: int) -> int:
    """How many numbers of scratch `fixed_point` needs, all zero before the first call."""
    return 2 + states * states + 5 * states


@kernel
def fixed_point(matrix: Vector, default: Vector, strategy: Vector, scratch: Vector) -> None:
    """Write the fixed point of a row-stochastic matrix, given row by row, into `strategy`.

    For a large matrix the scratch carries the factors and the fixed point of earlier calls: the strategy depends, in
    its last digits, on the matrices that came before with the same scratch.
    """
    n = strategy.size
    last = scratch[2 : 2 + n]
    exits = scratch[2 + n : 2 + 2 * n]
    work = scratch[2 + 2 * n : 2 + 5 * n]
    factors = scratch[2 + 5 * n : 2 + 5 * n + n * n]
    if n > DIRECT and scratch[0] == 1:
        strategy[:] = last
        if _refine(matrix, factors, exits, int(scratch[1]), strategy, work) and _one_class(matrix, strategy, work):
            last[:] = strategy
            return
    factors[:] = matrix
    mass = work[:n]
    mass[:] = default
    closed = _eliminate(factors, exits, mass)
    _spread(factors, exits, mass, strategy, work[n:])
    last[:] = strategy
    scratch[0] = closed == 1
    scratch[1] = np.argmin(exits)  # the state without exit, if there is only one


@kernel
def _total(numbers: Vector) -> float:
    """Return the sum, in eight partial sums that do not wait for one another."""
    a = b = c = d = e = f = g = h = 0.0
    whole = numbers.size & ~7
    for i in range(0, whole, 8):
        a += numbers[i]
        b += numbers[i + 1]
        c += numbers[i + 2]
        d += numbers[i + 3]
        e += numbers[i + 4]
        f += numbers[i + 5]
        g += numbers[i + 6]
        h += numbers[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, numbers.size):
        total += numbers[i]
    return total


@kernel
def _eliminate(factors: Vector, exits: Vector, mass: Vector) -> int:
    """Take the states out from the last to the first; return how many closed classes there are.

    After state k: factors[i, k] for i < k is R, factors[k, j] for j < k is S·G, exits[k] is S, zero for the state that
    stays for its class. `mass` starts as the default distribution and ends on the states that stay.
    """
    n = exits.size
    closed = 0
    for k in range(n - 1, -1, -1):
        row = factors[k * n : k * n + k]
        leaving = _total(row)
        if closed > 0:
            for stays in range(k + 1, n):
                if exits[stays] == 0:
                    leaving += factors[k * n + stays]
        if leaving <= NEGLIGIBLE:
            exits[k] = 0.0
            closed += 1
            continue
        exits[k] = leaving
        for i in range(k):
            weight = factors[i * n + k]
            if weight > 0:
                weight /= leaving
                factors[i * n + k] = weight
                target = factors[i * n : i * n + k]
                for j in range(k):
                    target[j] += weight * row[j]
        weight = mass[k] / leaving
        mass[k] = 0.0
        for j in range(k):
            mass[j] += weight * row[j]
        if closed > 0:
            for stays in range(k + 1, n):
                if exits[stays] == 0 and factors[k * n + stays] > 0:
                    into = factors[k * n + stays]
                    mass[stays] += weight * into
                    for i in range(k):
                        factors[i * n + stays] += factors[i * n + k] * into
    return closed


@kernel
def _spread(factors: Vector, exits: Vector, mass: Vector, strategy: Vector, measure: Vector) -> None:
    """Write the strategy that spreads the mass of each closed class as the class's own fixed point."""
    n = exits.size
    strategy[:] = 0.0
    for stays in range(n):
        if exits[stays] != 0 or mass[stays] == 0:
            continue
        for k in range(stays, n):
            measure[k] = 0.0
        measure[stays] = 1.0
        total = 0.0
        for i in range(stays, n):
            if measure[i] == 0:
                continue
            if measure[i] > LARGE:
                shrink = 1 / measure[i]
                total *= shrink
                for k in range(stays, n):
                    measure[k] *= shrink
            weight = measure[i]
            total += weight
            for k in range(i + 1, n):
                measure[k] += weight * factors[i * n + k]
        share = mass[stays] / total
        for k in range(stays, n):
            strategy[k] += share * measure[k]
    strategy /= _total(strategy)


@kernel
def _refine(matrix: Vector, factors: Vector, exits: Vector, stays: int, strategy: Vector, work: Vector) -> bool:
    """Improve a strategy until pφ - p is negligible, by old factors; return whether that was reached.

    Each step solves e(I - φ₀) = pφ - p for the correction e, with φ₀ the matrix of the factors.
    """
    n = strategy.size
    correction = work[:n]
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
            row = factors[k * n : k * n + k]
            for j in range(k):
                correction[j] += weight * row[j]
        correction[0] = 0.0 if stays == 0 else correction[0] / exits[0]
        total = 0.0
        for i in range(n):
            if i == stays:
                correction[i] = 0.0
                continue
            weight = correction[i]
            row = factors[i * n : (i + 1) * n]
            for k in range(i + 1, n):
                correction[k] += weight * row[k]
        for k in range(n):
            strategy[k] = max(strategy[k] + correction[k], 0.0)
        total = _total(strategy)
        for k in range(n):
            strategy[k] /= total
    return False


@kernel
def times(strategy: Vector, matrix: Vector, result: Vector) -> None:
    """Write strategy · matrix, four rows at a time; rows without mass are not read."""
    n = strategy.size
    result[:] = 0.0
    whole = n & ~3
    for i in range(0, whole, 4):
        a, b, c, d = strategy[i], strategy[i + 1], strategy[i + 2], strategy[i + 3]
        if a == 0 and b == 0 and c == 0 and d == 0:
            continue
        first, second = matrix[i * n : i * n + n], matrix[i * n + n : i * n + 2 * n]
        third, fourth = matrix[i * n + 2 * n : i * n + 3 * n], matrix[i * n + 3 * n : i * n + 4 * n]
        for j in range(n):
            result[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
    for i in range(whole, n):
        weight = strategy[i]
        for j in range(n):
            result[j] += weight * matrix[i * n + j]


@kernel
def _one_class(matrix: Vector, strategy: Vector, work: Vector) -> bool:
    """Whether every state can reach the likeliest one, so that the matrix has one closed class and one fixed point."""
    n = strategy.size
    reaches, queue = work[:n], work[n : 2 * n]
    reaches[:] = 0.0
    goal = np.argmax(strategy)
    reaches[goal] = 1.0
    queue[0] = goal
    taken, waiting = 0, 1
    while taken < waiting < n:
        state = int(queue[taken])
        taken += 1
        for i in range(n):
            if reaches[i] == 0 and matrix[i * n + state] > 0:
                reaches[i] = 1.0
                queue[waiting] = i
                waiting += 1
    return waiting == n
