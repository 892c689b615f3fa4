"""Loops over a vector, written so that the compiler can vectorise them."""

from typing import Any

import numpy as np

from gamesim.engine.compiled import VECTOR, Vector, inlined, instruction, ir, multiply_add, types
from gamesim.players._kernels.eights import (
    Number,
    eight,
    multiply_and_add,
    only,
    put,
    rounded_reciprocal_root,
    sum_of_eight,
    take,
)

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
def reciprocal_root(x: Number) -> Number:
    """Return 1 / √x: a guess in single precision, corrected once, with an error of the third order.

    A root and a division in double precision take twice as long, and nothing else shortens a loop that needs both.
    """
    guess = rounded_reciprocal_root(x)
    error = multiply_and_add(-x * guess, guess, 1.0)
    return multiply_and_add(guess * error, multiply_and_add(error, 0.375, 0.5), guess)


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
    """Return the sum, with eight independent accumulators, of which the first also has the last n % 8 numbers."""
    sums = eight(0.0)
    for j in range(0, numbers.size & ~7, 8):
        sums = sums + take(numbers, j)
    for j in range(numbers.size & ~7, numbers.size):
        sums = sums + only(0, numbers[j])
    return float(sum_of_eight(sums))


@inlined
def add_and_subtract(first: Vector, second: Vector) -> None:
    """Replace two vectors that do not overlap by their sum and their difference."""
    for j in range(0, first.size & ~7, 8):
        one, two = take(first, j), take(second, j)
        put(first, j, one + two)
        put(second, j, one - two)
    for j in range(first.size & ~7, first.size):
        difference = first[j] - second[j]
        first[j] += second[j]
        second[j] = difference


@inlined
def add(first: Vector, second: Vector, result: Vector) -> None:
    """Write the sum of two vectors."""
    for j in range(0, result.size & ~7, 8):
        put(result, j, take(first, j) + take(second, j))
    for j in range(result.size & ~7, result.size):
        result[j] = first[j] + second[j]


@inlined
def subtract(first: Vector, second: Vector, result: Vector) -> None:
    """Write the difference of two vectors."""
    for j in range(0, result.size & ~7, 8):
        put(result, j, take(first, j) - take(second, j))
    for j in range(result.size & ~7, result.size):
        result[j] = first[j] - second[j]


@instruction
def reaches(typing: Any, numbers: Any, first: Any, limit: Any) -> Any:
    """Return whether one of the sixteen numbers from `first` on is at least `limit`."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data, number = context.make_array(VECTOR)(context, builder, given[0]).data, ir.IntType(32)
        sixteen = ir.VectorType(ir.DoubleType(), 16)
        place = builder.bitcast(builder.gep(data, [given[1]]), sixteen.as_pointer())
        undefined, zeros = ir.Constant(sixteen, ir.Undefined), ir.Constant(ir.VectorType(number, 16), [0] * 16)
        limits = builder.shuffle_vector(builder.insert_element(undefined, given[2], number(0)), undefined, zeros)
        found = builder.fcmp_ordered(">=", builder.load(place, align=8), limits)
        return builder.icmp_unsigned("!=", builder.bitcast(found, ir.IntType(16)), ir.IntType(16)(0))

    return types.boolean(VECTOR, types.int64, types.float64), generate


@inlined
def sum_of_positive(numbers: Vector) -> float:
    """Return the sum of the positive numbers."""
    sums = eight(0.0)
    for j in range(0, numbers.size & ~7, 8):
        sums = sums + max(take(numbers, j), 0.0)
    return add_rest(sums, numbers)


@inlined
def add_rest(sums: Number, numbers: Vector) -> float:
    """Return the sum of eight sums, and of the positive ones among the last n % 8 numbers."""
    total = sum_of_eight(sums)
    for j in range(numbers.size & ~7, numbers.size):
        total += max(numbers[j], 0.0)
    return float(total)


@inlined
def product_with_positive(numbers: Vector, weights: Vector) -> float:
    """Return the sum of the positive numbers, each times its weight."""
    one = two = eight(0.0)  # sixteen accumulators
    for j in range(0, numbers.size & ~15, 16):
        one = one + max(take(numbers, j), 0.0) * take(weights, j)
        two = two + max(take(numbers, j + 8), 0.0) * take(weights, j + 8)
    total = sum_of_eight(one + two)
    for j in range(numbers.size & ~15, numbers.size):
        total += max(numbers[j], 0.0) * weights[j]
    return float(total)


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
