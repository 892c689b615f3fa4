"""Loops over a vector, written so that the compiler can vectorise them."""

from typing import Any

import numpy as np

from gamesim.engine.compiled import Vector, inlined, instruction, multiply_add, types

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


@inlined
def sum_of_positive(numbers: Vector) -> float:
    """Return the sum of the positive numbers, with eight independent accumulators."""
    a = b = c = d = e = f = g = h = 0.0
    whole = numbers.size & ~7
    for i in range(0, whole, 8):
        a += max(numbers[i], 0.0)
        b += max(numbers[i + 1], 0.0)
        c += max(numbers[i + 2], 0.0)
        d += max(numbers[i + 3], 0.0)
        e += max(numbers[i + 4], 0.0)
        f += max(numbers[i + 5], 0.0)
        g += max(numbers[i + 6], 0.0)
        h += max(numbers[i + 7], 0.0)
    for i in range(whole, numbers.size):
        a += max(numbers[i], 0.0)
    return ((a + e) + (b + f)) + ((c + g) + (d + h))


@inlined
def product_with_positive(numbers: Vector, weights: Vector) -> float:
    """Return the sum of the positive numbers, each times its weight, with eight independent accumulators."""
    a = b = c = d = e = f = g = h = 0.0
    whole = numbers.size & ~7
    for i in range(0, whole, 8):
        a += max(numbers[i], 0.0) * weights[i]
        b += max(numbers[i + 1], 0.0) * weights[i + 1]
        c += max(numbers[i + 2], 0.0) * weights[i + 2]
        d += max(numbers[i + 3], 0.0) * weights[i + 3]
        e += max(numbers[i + 4], 0.0) * weights[i + 4]
        f += max(numbers[i + 5], 0.0) * weights[i + 5]
        g += max(numbers[i + 6], 0.0) * weights[i + 6]
        h += max(numbers[i + 7], 0.0) * weights[i + 7]
    for i in range(whole, numbers.size):
        a += max(numbers[i], 0.0) * weights[i]
    return ((a + e) + (b + f)) + ((c + g) + (d + h))


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
