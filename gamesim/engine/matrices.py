"""Products of strategies with tables, and sums of outer products Σ_t x_t ⊗ y_t.

Every entry of a result adds up its terms in the order of rows or of t, each with one rounding, from 0 or a sum that
started at 0. So the result does not depend on how the matrices are cut into tiles, bit for bit, many products at once
give the same numbers as one after the other, and terms that are 0 can be left out.

A tile of the result stays in registers while all terms are added. The rows and columns that it needs are first copied
to consecutive places, because rows whose lengths are powers of two would evict each other from the cache.
"""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gamesim.engine.compiled import Integers, Vector, inlined, instruction, ir, kernel, multiply_add, part, types

cgutils: Any = import_module("numba.core.cgutils")

HEIGHTS, WIDTHS = (6, 4, 2, 1), (8, 4, 1)  # of tiles; 6 × 8 numbers fill 12 of the 16 registers of 4 numbers
WIDTH = WIDTHS[0]
ROWS = 96  # packed at once, a multiple of the largest height
FEW_ROWS = 32  # fewer weights are not searched for zeros


class Work(NamedTuple):
    """Hold what `add_product` works with: copies of rows and columns, and where rows begin."""

    numbers: Vector
    sources: Integers
    rows: Integers

    @classmethod
    def allocated(cls, count: int, height: int) -> "Work":
        """Return arrays for sums of up to `count` terms with this many rows."""
        rows = min(height, ROWS)
        return cls(np.zeros(count * (rows + WIDTH)), np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64))

    def copy(self) -> "Work":
        """Return new arrays of the same sizes, for another thread."""
        return Work(self.numbers.copy(), self.sources.copy(), self.rows.copy())


def _generate_tile(context: Any, builder: Any, signature: Any, given: Any, height: int, width: int) -> None:
    """Generate code that adds all terms to a tile with this height and width."""
    whole, double = ir.IntType(64), ir.DoubleType()
    vector = ir.VectorType(double, width) if width > 1 else double
    name = f"llvm.fma.v{width}f64" if width > 1 else "llvm.fma.f64"
    add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
    left, right, total, rows = (
        context.make_array(signature.args[k])(context, builder, given[k]).data for k in (2, 5, 9, 10)
    )
    at, pitch, first, skip, count, tile, column = (given[k] for k in (3, 4, 6, 7, 8, 11, 12))

    def entry(array: Any, index: Any, offset: int = 0) -> Any:
        return builder.gep(array, [builder.add(index, whole(offset))])

    def as_vector(pointer: Any) -> Any:
        return builder.bitcast(pointer, vector.as_pointer())

    def repeated(number: Any) -> Any:
        if width == 1:
            return number
        undefined = ir.Constant(vector, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
        return builder.shuffle_vector(builder.insert_element(undefined, number, ir.IntType(32)(0)), undefined, zeros)

    targets = [as_vector(entry(total, builder.add(column, builder.load(entry(rows, tile, i))))) for i in range(height)]
    sums = [cgutils.alloca_once(builder, vector) for _ in range(height)]
    for target, one in zip(targets, sums, strict=True):
        builder.store(builder.load(target, align=8), one)
    with cgutils.for_range(builder, count) as terms:
        here = builder.add(at, builder.mul(terms.index, pitch))
        there = builder.add(first, builder.mul(terms.index, skip))
        columns = builder.load(as_vector(entry(right, there)), align=8)
        for i, one in enumerate(sums):
            weight = repeated(builder.load(entry(left, here, i)))
            builder.store(builder.call(add, [weight, columns, builder.load(one)]), one)
    for target, one in zip(targets, sums, strict=True):
        builder.store(builder.load(one), target, align=8)


@instruction
def _generated_tiles(
    typing: Any,
    height: Any,
    width: Any,
    left: Any,
    at: Any,
    pitch: Any,
    right: Any,
    first: Any,
    skip: Any,
    count: Any,
    total: Any,
    rows: Any,
    tile: Any,
    column: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        for h in HEIGHTS:
            for w in WIDTHS:
                fits = [builder.icmp_signed("==", given[k], given[k].type(size)) for k, size in ((0, h), (1, w))]
                with builder.if_then(builder.and_(*fits)):
                    _generate_tile(context, builder, signature, given, h, w)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(whole, whole, left, whole, whole, right, *[whole] * 3, total, rows, *[whole] * 2), generate


@kernel
def _add_tile(
    height: int,
    width: int,
    left: Vector,
    at: int,
    pitch: int,
    right: Vector,
    first: int,
    skip: int,
    count: int,
    total: Vector,
    rows: Integers,
    tile: int,
    column: int,
) -> None:
    """Add left[at + t·pitch + i] · right[first + t·skip + j] to total[rows[tile + i] + column + j], t after t."""
    _generated_tiles(height, width, left, at, pitch, right, first, skip, count, total, rows, tile, column)


@kernel
def add_packed(
    packed: Vector,
    height: int,
    right: Vector,
    first: int,
    skip: int,
    count: int,
    width: int,
    total: Vector,
    rows: Integers,
    column: int,
) -> None:
    """Add the rows packed[t·height:] times a few columns, as wide as a tile, to total[rows[i] + column:]."""
    tile = 0
    while tile < height:
        left = height - tile
        taken = 6 if left >= 6 else 4 if left >= 4 else 2 if left >= 2 else 1
        _add_tile(taken, width, packed, tile, height, right, first, skip, count, total, rows, tile, column)
        tile += taken


@kernel
def _nonzero_rows(left: Vector, at: int, first: int, end: int, step: int, count: int, sources: Integers) -> int:
    """List where the rows begin that are not 0 in all terms, and return their number."""
    found = 0
    for i in range(first, end):
        for t in range(count):
            if left[at + i + t * step] != 0.0:
                sources[found] = at + i
                found += 1
                break
    return found


@kernel
def pack(left: Vector, step: int, count: int, height: int, work: Work) -> None:
    """Copy left[sources[i] + t·step] to consecutive places."""
    sources = work.sources
    if height > 0 and sources[height - 1] - sources[0] == height - 1:
        for t in range(count):
            target = part(work.numbers, t * height, (t + 1) * height)
            source = part(left, sources[0] + t * step, sources[0] + t * step + height)
            for i in range(height):
                target[i] = source[i]
        return
    for first in range(0, count, 8):  # if step is 1, eight terms are next to each other
        for i in range(height):
            for t in range(first, min(first + 8, count)):
                work.numbers[t * height + i] = left[sources[i] + t * step]


@kernel
def add_product(
    left: Vector,
    at: int,
    step: int,
    right: Vector,
    first: int,
    skip: int,
    count: int,
    total: Vector,
    to: int,
    height: int,
    width: int,
    work: Work,
) -> None:
    """Add Σ_t left[at + t·step + i] · right[first + t·skip + j] to total[to + i·width + j], in the order of t."""
    columns = part(work.numbers, work.numbers.size - count * WIDTH, work.numbers.size)
    for start in range(0, height, ROWS):
        used = _nonzero_rows(left, at, start, min(start + ROWS, height), step, count, work.sources)
        for i in range(used):  # most actions of a large game are soon abandoned
            work.rows[i] = to + (work.sources[i] - at) * width
        pack(left, step, count, used, work)
        j = 0
        while j < width:
            taken = 8 if width - j >= 8 else 4 if width - j >= 4 else 1
            for t in range(count):
                source = part(right, first + t * skip + j, first + t * skip + j + taken)
                for k in range(taken):
                    columns[t * taken + k] = source[k]
            add_packed(work.numbers, used, columns, 0, taken, count, taken, total, work.rows, j)
            j += taken


@kernel
def _contract_all(weights: Vector, table: Vector, result: Vector) -> None:
    """Write the weighted sum of the table's rows."""
    length = result.size
    for k in range(length):
        result[k] = weights[0] * table[k] + 0.0  # + 0.0 turns -0.0 into 0.0
    row = 1
    while row + 8 <= weights.size:  # eight rows at a time: the result is loaded and stored only once for them
        a, b, c, d = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        e, f, g, h = weights[row + 4], weights[row + 5], weights[row + 6], weights[row + 7]
        at = row * length
        first, second = part(table, at, at + length), part(table, at + length, at + 2 * length)
        third, fourth = part(table, at + 2 * length, at + 3 * length), part(table, at + 3 * length, at + 4 * length)
        fifth, sixth = part(table, at + 4 * length, at + 5 * length), part(table, at + 5 * length, at + 6 * length)
        seventh, last = part(table, at + 6 * length, at + 7 * length), part(table, at + 7 * length, at + 8 * length)
        row += 8
        for k in range(length):
            two = multiply_add(b, second[k], multiply_add(a, first[k], result[k]))
            four = multiply_add(d, fourth[k], multiply_add(c, third[k], two))
            six = multiply_add(f, sixth[k], multiply_add(e, fifth[k], four))
            result[k] = multiply_add(h, last[k], multiply_add(g, seventh[k], six))
    while row < weights.size:
        weight, rest = weights[row], part(table, row * length, (row + 1) * length)
        for k in range(length):
            result[k] = multiply_add(weight, rest[k], result[k])
        row += 1


@kernel
def count_nonzero(weights: Vector) -> int:
    """Return the number of weights that are not 0."""
    count = 0
    for row in range(weights.size):
        count += weights[row] != 0.0
    return count


@kernel
def contract_listed(weights: Vector, table: Vector, result: Vector, listed: Vector) -> None:
    """Write the weighted sum of the table's rows, after listing those that have weight."""
    used, length = 0, result.size
    for k in range(length):
        result[k] = weights[0] * table[k] + 0.0
    for row in range(1, weights.size):
        listed[used] = row
        used += weights[row] != 0.0
    at = 0
    while at + 4 <= used:
        i, j, m, n = int(listed[at]), int(listed[at + 1]), int(listed[at + 2]), int(listed[at + 3])
        a, b, c, d = weights[i], weights[j], weights[m], weights[n]
        first, second = part(table, i * length, (i + 1) * length), part(table, j * length, (j + 1) * length)
        third, fourth = part(table, m * length, (m + 1) * length), part(table, n * length, (n + 1) * length)
        at += 4
        for k in range(length):
            two = multiply_add(b, second[k], multiply_add(a, first[k], result[k]))
            result[k] = multiply_add(d, fourth[k], multiply_add(c, third[k], two))
    while at < used:
        row = int(listed[at])
        weight, rest = weights[row], part(table, row * length, (row + 1) * length)
        at += 1
        for k in range(length):
            result[k] = multiply_add(weight, rest[k], result[k])


@inlined
def contract(weights: Vector, table: Vector, result: Vector, listed: Vector) -> None:
    """Write the weighted sum of the table's rows; `result` may alias the first row, and `listed` is as long as it."""
    if weights.size >= FEW_ROWS and 8 * count_nonzero(weights) < 7 * weights.size:
        contract_listed(weights, table, result, listed)
    else:
        _contract_all(weights, table, result)
