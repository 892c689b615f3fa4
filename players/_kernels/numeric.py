"""Loops over a vector, written so that the compiler can vectorise them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gamesim.engine.compiled import VECTOR, Vector, cgutils, inlined, instruction, ir, multiply_add, types

LEAST_EXPONENT = -690.0  # below, later products could be subnormal, hence slow


@instruction
def vectorise_widely(typing: Any) -> Any:
    """Let the loops of this kernel use the widest vectors of the processor; the results are the same.

    LLVM otherwise uses half of them on processors that slow down somewhat, which pays only for short loops.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')  # llvmlite's own `add` knows no such pairs
        return context.get_dummy_value()

    return types.void(), generate


@inlined
def exponential(x: float) -> float:
    """Return exp(x) for x ≤ 0, and 0 below -690; unlike the library function, it can be vectorised.

    With k the integer nearest to x / ln 2, exp(x) = 2^k exp(x - k ln 2). Adding 1.5 · 2^52 leaves k in the low bits of
    a number, and 13 terms of the series suffice for an argument up to ln(2) / 2 (Cody and Waite 1980, chapter 6).
    """
    shifted = multiply_add(x, 1.4426950408889634, 6755399441055744.0)
    k = shifted - 6755399441055744.0
    r = multiply_add(k, -1.90821492927058770002e-10, multiply_add(k, -6.93147180369123816490e-01, x))
    series = multiply_add(r, 1.6059043836821613e-10, 2.08767569878681e-09)
    series = multiply_add(r, series, 2.505210838544172e-08)
    series = multiply_add(r, series, 2.755731922398589e-07)
    series = multiply_add(r, series, 2.7557319223985893e-06)
    series = multiply_add(r, series, 2.48015873015873e-05)
    series = multiply_add(r, series, 1.984126984126984e-04)
    series = multiply_add(r, series, 1.388888888888889e-03)
    series = multiply_add(r, series, 8.333333333333333e-03)
    series = multiply_add(r, series, 4.1666666666666664e-02)
    series = multiply_add(r, series, 0.16666666666666666)
    series = multiply_add(r, series, 0.5)
    series = multiply_add(r, series, 1.0)
    series = multiply_add(r, series, 1.0)
    power = (np.float64(shifted).view(np.int64) + 1023) << 52
    return series * np.int64(power).view(np.float64) if x > LEAST_EXPONENT else 0.0


@inlined
def reciprocal_root(x: float) -> float:
    """Return 1 / √x: a guess in single precision, corrected once, with an error of the third order.

    A root and a division in double precision take twice as long, and nothing else shortens a loop that needs both.
    """
    guess = np.float64(np.float32(1) / np.sqrt(np.float32(x)))
    error = multiply_add(-x * guess, guess, 1.0)
    return float(multiply_add(guess * error, multiply_add(error, 0.375, 0.5), guess))


@inlined
def smallest(numbers: Vector) -> float:
    """Return the smallest number, with four independent accumulators."""
    first = second = third = fourth = numbers[0]
    whole = numbers.size & ~3
    for i in range(0, whole, 4):
        first = min(first, numbers[i])
        second = min(second, numbers[i + 1])
        third = min(third, numbers[i + 2])
        fourth = min(fourth, numbers[i + 3])
    for i in range(whole, numbers.size):
        first = min(first, numbers[i])
    return float(min(first, second, third, fourth))


@inlined
def sum_of(numbers: Vector) -> float:
    """Return the sum, with eight independent accumulators."""
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
    for i in range(whole, numbers.size):
        a += numbers[i]
    return ((a + e) + (b + f)) + ((c + g) + (d + h))


def _in_lanes(weighted: bool) -> Callable[[Vector, Vector], float]:
    """Return a function for the sum of the positive numbers, or of these times their weights, except the last n % 16.

    Its sixteen accumulators are two vectors: the compiler alone would not vectorise a sum, whose order is fixed.
    """

    @instruction
    def sums(typing: Any, numbers: Any, weights: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            lanes, whole = ir.VectorType(ir.DoubleType(), 8), ir.IntType(64)
            arrays = [context.make_array(VECTOR)(context, builder, one) for one in given]
            slots, zero = [cgutils.alloca_once(builder, lanes) for _ in range(2)], ir.Constant(lanes, [0.0] * 8)
            for slot in slots:
                builder.store(zero, slot)
            end, step = builder.and_(arrays[0].nitems, whole(~15)), whole(16)
            with cgutils.for_range_slice(builder, whole(0), end, step, whole) as (at, _):
                for k, slot in enumerate(slots):
                    places = [builder.gep(array.data, [builder.add(at, whole(8 * k))]) for array in arrays]
                    loaded = [builder.load(builder.bitcast(place, lanes.as_pointer()), align=8) for place in places]
                    term = builder.select(builder.fcmp_ordered(">", loaded[0], zero), loaded[0], zero)
                    term = builder.fmul(term, loaded[1]) if weighted else term
                    builder.store(builder.fadd(builder.load(slot), term), slot)
            both = builder.fadd(*[builder.load(slot) for slot in slots])
            parts = [builder.extract_element(both, ir.IntType(32)(k)) for k in range(8)]
            while len(parts) > 1:
                half = len(parts) // 2
                parts = [builder.fadd(one, two) for one, two in zip(parts[:half], parts[half:], strict=True)]
            return parts[0]

        return types.float64(VECTOR, VECTOR), generate

    return sums


_positive = _in_lanes(weighted=False)
_weighted = _in_lanes(weighted=True)


@inlined
def sum_of_positive(numbers: Vector) -> float:
    """Return the sum of the positive numbers."""
    total = _positive(numbers, numbers)
    for i in range(numbers.size & ~15, numbers.size):
        total += max(numbers[i], 0.0)
    return total


@inlined
def product_with_positive(numbers: Vector, weights: Vector) -> float:
    """Return the sum of the positive numbers, each times its weight."""
    total = _weighted(numbers, weights)
    for i in range(numbers.size & ~15, numbers.size):
        total += max(numbers[i], 0.0) * weights[i]
    return total


@inlined
def fill(vector: Vector, value: float) -> None:
    """Set every entry; Numba compiles this loop much faster than a slice assignment."""
    for i in range(vector.size):
        vector[i] = value


@inlined
def copy(target: Vector, source: Vector) -> None:
    """Copy every entry of a vector."""
    for i in range(target.size):
        target[i] = source[i]
