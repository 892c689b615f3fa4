"""The fast Haar transform along the row index of a matrix, and its inverse.

The Haar vectors of length D = 2^S have entries 0 and ±1: for every scale s = 1 ... S the indices are divided into
intervals of length 2^s, and the vector of an interval is 1 on its first half and -1 on its second half; one more vector
is all ones. They are orthogonal, and <h, h> is the length of the interval. Here the vector of an interval is numbered
by its middle, start + 2^(s-1), and the all-one vector has the number 0, so that the transform works in place.
(Lu, Sun and Zhang, "Sparsity-based interpolation of external, internal and swap regret", Section 2.2.)

Both transforms process the rows from first to last and add or subtract whole rows. A Haar row is complete as soon as
its interval is, and a row is restored from sums that the previous rows have left. Therefore only S + 1 rows are pending
at any time, they stay in the fastest cache, and a learner need not store a matrix of gradients.
"""

from gamesim.engine.compiled import Vector, inlined, kernel, part
from gamesim.players._kernels.numeric import add, add_and_subtract, copy, subtract


def interval(number: int, size: int) -> range:
    """Return the indices on which a Haar vector is not zero.

    >>> [interval(number, 4) for number in range(4)]
    [range(0, 4), range(0, 2), range(0, 4), range(2, 4)]
    """
    half = number & -number
    return range(size) if number == 0 else range(number - half, number + half)


@kernel
def level_of(number: int, size: int) -> int:
    """Return the largest l ≤ log2(size) such that 2^l divides the number.

    Sums pending at the same time start at indices of different levels, so the level determines where each is stored.
    """
    level = 0
    while (1 << level) < size and not (number >> level) & 1:
        level += 1
    return level


@inlined
def merge(first: Vector, second: Vector) -> None:
    """Replace the sums over the two halves of an interval by their sum (the interval) and difference (Haar)."""
    add_and_subtract(first, second)


@kernel
def forward(matrix: Vector, size: int) -> None:
    """Replace a size × size matrix by its inner products with the Haar vectors: row h becomes Σ_i h_i · row i."""
    for i in range(size):
        half = 1
        while i & half:  # row i completes the interval of length 2·half
            start, middle = i + 1 - 2 * half, i + 1 - half
            merge(part(matrix, start * size, (start + 1) * size), part(matrix, middle * size, (middle + 1) * size))
            half *= 2


@inlined
def restore(coefficients: Vector, size: int, i: int, begin: int, pending: Vector, column: int, end: int) -> float:
    """Restore row i of Σ_h h ⊗ coefficients[h], from `column` to `end`, up to its last addition.

    Row l of `pending` becomes the sum over the Haar vectors that are constant on the interval of length 2^l around i,
    for l > 0. Row i itself is row 1 of `pending` plus the returned sign times row i | 1 of the coefficients, or row 0
    of `pending` if the size is 1. The rows begin ... i-1 must have been restored before. The terms are always added
    from the longest interval to the shortest, so the result does not depend on `begin`, bit for bit.
    """
    if i == begin:
        level = level_of(0, size)
        above = part(pending, level * size + column, level * size + end)
        constant = part(coefficients, column, end)
        copy(above, constant)
    else:
        level = level_of(i, size) + 1
    while level > 1:
        level -= 1
        middle = ((i >> level) | 1) << level
        above = part(pending, (level + 1) * size + column, (level + 1) * size + end)
        below = part(pending, level * size + column, level * size + end)
        detail = part(coefficients, middle * size + column, middle * size + end)
        if (i >> level) & 1:
            subtract(above, detail, below)
        else:
            add(above, detail, below)
    if size == 1:
        return 0.0
    return -1.0 if i & 1 else 1.0
