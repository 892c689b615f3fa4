"""Products of strategies with tables, and sums of outer products Σ_t x_t ⊗ y_t.

Every entry of a result adds up its terms in the order of rows or of t, each with one rounding, from 0 or a sum that
started at 0. So the result does not depend on how the matrices are cut into tiles, bit for bit, many products at once
give the same numbers as one after the other, and terms that are 0 can be left out.

A tile of the result stays in registers while all terms are added. The rows and columns that it needs are first copied
to consecutive places, because rows whose lengths are powers of two would evict each other from the cache.

In a two-player game with opposite losses, one table serves both players (`multiply_both_sides`), and is read only once
per round: this takes less than half the time, which goes into reading. Along the rows of a table, eight numbers next to
each other are multiplied at once, so the sums of the first player are split into `PARTS` that are added at the end.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gamesim.engine.compiled import (
    Integers,
    Vector,
    address,
    inlined,
    instruction,
    ir,
    kernel,
    multiply_add,
    part,
    prefetch,
    product_kernel,
    typeof,
    types,
)
from gamesim.engine.layout import LINE, aligned

cgutils: Any = import_module("numba.core.cgutils")
codegen: Any = import_module("numba.core.codegen")
config: Any = import_module("numba.core.config")

WIDE = "+avx512f" in (config.CPU_FEATURES or codegen.get_host_cpu_features())  # 32 registers of 8 numbers, or 16 of 4
# Of tiles: 12 × 16 numbers fill 24 of the 32 registers, 6 × 8 numbers 12 of the 16
HEIGHTS, WIDTHS = ((12, 4, 2, 1), (16, 8, 4, 1)) if WIDE else ((6, 4, 2, 1), (8, 4, 1))
HEIGHT, WIDTH = HEIGHTS[0], WIDTHS[0]
ROWS = 96  # packed at once, a multiple of the largest height
FEW_ROWS = 32  # fewer weights are not searched for zeros
PARTS = 8  # of sums along rows: part k has the terms k, k + 8, ...
SMALL = 8  # rows and columns, at most, of products that need no tiles
STRIP = 8 if WIDE else 4  # rows that `multiply_both_sides` reads at once


class Work(NamedTuple):
    """Hold what `add_product` works with: copies of rows and columns, and where rows begin."""

    numbers: Vector
    sources: Integers
    rows: Integers

    @classmethod
    def allocated(cls, count: int, height: int) -> "Work":
        """Return arrays for sums of up to `count` terms with this many rows."""
        rows = min(height, ROWS)
        return cls(aligned(count * (rows + WIDTH)), np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64))

    def copy(self) -> "Work":
        """Return new arrays of the same sizes, for another thread."""
        numbers = aligned(self.numbers.size)
        return Work(numbers, self.sources.copy(), self.rows.copy())


def _vectors(builder: Any, width: int) -> tuple[Any, Any, Callable[[Any], Any]]:
    """Return the type of vectors of numbers, their multiply-add, and a function that fills one with a number."""
    double = ir.DoubleType()
    vector = ir.VectorType(double, width) if width > 1 else double
    name = f"llvm.fma.v{width}f64" if width > 1 else "llvm.fma.f64"
    add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)

    def repeated(number: Any) -> Any:
        if width == 1:
            return number
        undefined = ir.Constant(vector, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
        return builder.shuffle_vector(builder.insert_element(undefined, number, ir.IntType(32)(0)), undefined, zeros)

    return vector, add, repeated


def _generate_tile(context: Any, builder: Any, signature: Any, given: Any, height: int, width: int) -> None:
    """Generate code that adds all terms to a tile with this height and width."""
    whole = ir.IntType(64)
    vector, add, repeated = _vectors(builder, width)
    left, right, total, rows = (
        context.make_array(signature.args[k])(context, builder, given[k]).data for k in (2, 5, 9, 10)
    )
    at, pitch, first, skip, count, tile, column = (given[k] for k in (3, 4, 6, 7, 8, 11, 12))
    zeros, apart = ir.Constant(vector, [0.0] * width if width > 1 else 0.0), builder.trunc(given[13], ir.IntType(1))

    def entry(array: Any, index: Any, offset: int = 0) -> Any:
        return builder.gep(array, [builder.add(index, whole(offset))])

    def as_vector(pointer: Any) -> Any:
        return builder.bitcast(pointer, vector.as_pointer())

    targets = [as_vector(entry(total, builder.add(column, builder.load(entry(rows, tile, i))))) for i in range(height)]
    sums = [cgutils.alloca_once(builder, vector) for _ in range(height)]
    for target, one in zip(targets, sums, strict=True):
        builder.store(builder.select(apart, zeros, builder.load(target, align=8)), one)
    with cgutils.for_range(builder, count) as terms:
        here = builder.add(at, builder.mul(terms.index, pitch))
        there = builder.add(first, builder.mul(terms.index, skip))
        columns = builder.load(as_vector(entry(right, there)), align=8)
        for i, one in enumerate(sums):
            weight = repeated(builder.load(entry(left, here, i)))
            builder.store(builder.call(add, [weight, columns, builder.load(one)]), one)
    for target, one in zip(targets, sums, strict=True):
        whole_sum = builder.fadd(builder.load(target, align=8), builder.load(one))
        builder.store(builder.select(apart, whole_sum, builder.load(one)), target, align=8)


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
    apart: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        for h in HEIGHTS:
            for w in WIDTHS:
                fits = [builder.icmp_signed("==", given[k], given[k].type(size)) for k, size in ((0, h), (1, w))]
                with builder.if_then(builder.and_(*fits)):
                    _generate_tile(context, builder, signature, given, h, w)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(whole, whole, left, whole, whole, right, *[whole] * 3, total, rows, *[whole] * 3), generate


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
    apart: int,
) -> None:
    """Add left[at + t·pitch + i] · right[first + t·skip + j] to total[rows[tile + i] + column + j], t after t.

    If `apart` is 1, the products are added to each other first, and only their sum to the total.
    """
    _generated_tiles(height, width, left, at, pitch, right, first, skip, count, total, rows, tile, column, apart)


@inlined
def tile_width(columns: int) -> int:
    """Return the width of the next tile if this many columns are left."""
    return WIDTH if columns >= WIDTH else 8 if columns >= 8 else 4 if columns >= 4 else 1


@kernel
def add_packed(
    packed: Vector,
    at: int,
    pitch: int,
    height: int,
    right: Vector,
    first: int,
    skip: int,
    count: int,
    width: int,
    total: Vector,
    rows: Integers,
    column: int,
    apart: int,
) -> None:
    """Add packed[at + t·pitch + i] times a few columns, as wide as a tile, to total[rows[i] + column:].

    `apart` is as in `_add_tile`; if it is 0, the total may be large, and is fetched ahead.
    """
    tile = 0
    while tile < height:
        left = height - tile
        taken = HEIGHT if left >= HEIGHT else 4 if left >= 4 else 2 if left >= 2 else 1
        if apart == 0:
            for i in range(tile, tile + taken):  # the next tile of these rows, which the processor does not foresee
                for k in range(width, 2 * width, LINE):
                    prefetch(total, rows[i] + column + k)
        _add_tile(taken, width, packed, at + tile, pitch, right, first, skip, count, total, rows, tile, column, apart)
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
            taken = tile_width(width - j)
            for t in range(count):
                source = part(right, first + t * skip + j, first + t * skip + j + taken)
                for k in range(taken):
                    columns[t * taken + k] = source[k]
            add_packed(work.numbers, 0, used, used, columns, 0, taken, count, taken, total, work.rows, j, 0)
            j += taken


@kernel
def add_small_product(
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
    """Add the same as `add_product`, bit for bit: as fast for a few rows and columns, and compiled in a tenth."""
    for t in range(count):
        columns = part(right, first + t * skip, first + t * skip + width)
        for i in range(height):
            weight, row = left[at + t * step + i], part(total, to + i * width, to + (i + 1) * width)
            for j in range(width):
                row[j] = multiply_add(weight, columns[j], row[j])


def product_address(largest: int) -> int:
    """Return the address of the kernel that adds products with up to this many rows or columns, for `call_product`."""
    function = add_small_product if largest <= SMALL else add_product
    return address(function, product_kernel(typeof(Work.allocated(1, 1))))


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


@inlined
def _add_listed(weights: Vector, table: Vector, result: Vector, listed: Vector, used: int) -> None:
    """Add the weighted sum of the first `used` listed rows of the table."""
    length, at = result.size, 0
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


@kernel
def contract_listed(weights: Vector, table: Vector, result: Vector, listed: Vector) -> None:
    """Write the weighted sum of the table's rows, after listing those that have weight."""
    used = 0
    for k in range(result.size):
        result[k] = weights[0] * table[k] + 0.0
    for row in range(1, weights.size):
        listed[used] = row
        used += weights[row] != 0.0
    _add_listed(weights, table, result, listed, used)


@inlined
def contract(weights: Vector, table: Vector, result: Vector, listed: Vector) -> None:
    """Write the weighted sum of the table's rows; `result` may alias the first row, and `listed` is as long as it."""
    if weights.size >= FEW_ROWS and 8 * count_nonzero(weights) < 7 * weights.size:
        contract_listed(weights, table, result, listed)
    else:
        _contract_all(weights, table, result)


@inlined
def _sum_of_parts(parts: Vector, at: int, step: int) -> float:
    """Return the sum of parts[at + k·step], in the order of k."""
    total = parts[at]
    for k in range(1, PARTS):
        total += parts[at + k * step]
    return float(total)


@kernel
def contract_in_parts(weights: Vector, table: Vector, result: Vector, listed: Vector, parts: Vector) -> None:
    """Write the weighted sum of the table's rows, added up in parts; `parts` is `PARTS` times as long as the result."""
    length = result.size
    for k in range(PARTS):
        one, used = part(parts, k * length, (k + 1) * length), 0
        for i in range(length):
            one[i] = 0.0
        for row in range(k, weights.size, PARTS):
            listed[used] = row
            used += weights[row] != 0.0
        _add_listed(weights, table, one, listed, used)
    for i in range(length):
        result[i] = _sum_of_parts(parts, i, length)


def _generate_strip(context: Any, builder: Any, signature: Any, given: Any, height: int) -> None:
    """Generate code that multiplies a few rows of a table on both sides, `PARTS` columns at a time."""
    whole = ir.IntType(64)
    vector, add, repeated = _vectors(builder, PARTS)
    table, left, right, below, parts = (
        context.make_array(signature.args[k])(context, builder, given[k]).data for k in (1, 4, 5, 6, 7)
    )
    first, length = given[2], given[3]

    def entry(array: Any, index: Any) -> Any:
        return builder.bitcast(builder.gep(array, [index]), vector.as_pointer())

    each = [builder.add(first, whole(i)) for i in range(height)]
    weights = [repeated(builder.load(builder.gep(left, [row]))) for row in each]
    begins = [builder.mul(row, length) for row in each]
    sums = [cgutils.alloca_once(builder, vector) for _ in each]
    for one in sums:
        builder.store(ir.Constant(vector, [0.0] * PARTS), one)
    with cgutils.for_range(builder, builder.udiv(length, whole(PARTS))) as columns:
        j = builder.mul(columns.index, whole(PARTS))
        other, total = builder.load(entry(right, j), align=8), builder.load(entry(below, j), align=8)
        for weight, begin, one in zip(weights, begins, sums, strict=True):
            numbers = builder.load(entry(table, builder.add(begin, j)), align=8)
            total = builder.call(add, [weight, numbers, total])
            builder.store(builder.call(add, [other, numbers, builder.load(one)]), one)
        builder.store(total, entry(below, j), align=8)
    for i, one in enumerate(sums):
        builder.store(builder.load(one), entry(parts, whole(i * PARTS)), align=8)


@instruction
def _multiply_strip(
    typing: Any, height: Any, table: Any, first: Any, length: Any, left: Any, right: Any, below: Any, parts: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        for h in (STRIP, 1):
            with builder.if_then(builder.icmp_signed("==", given[0], given[0].type(h))):
                _generate_strip(context, builder, signature, given, h)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(whole, table, whole, whole, left, right, below, parts), generate


@kernel
def multiply_both_sides(
    left: Vector, table: Vector, right: Vector, beside: Vector, below: Vector, parts: Vector
) -> None:
    """Write minus the rows times `right` to `beside`, added up in parts, and `left` times the columns to `below`.

    `parts` has room for `STRIP` times `PARTS` numbers.
    """
    height, length = left.size, right.size
    whole = length - length % PARTS
    for j in range(length):
        below[j] = 0.0
    row = 0
    while row < height:
        taken = STRIP if height - row >= STRIP else 1
        _multiply_strip(taken, table, row, length, left, right, below, parts)
        for i in range(row, row + taken):
            at = (i - row) * PARTS
            for j in range(whole, length):
                below[j] = multiply_add(left[i], table[i * length + j], below[j])
                parts[at + j - whole] = multiply_add(right[j], table[i * length + j], parts[at + j - whole])
            beside[i] = 0.0 - _sum_of_parts(parts, at, 1)
        row += taken
