"""Exact arithmetic for small equilibrium sets, where floating point cannot decide.

Payoffs stand for rational numbers, see `written`, hence the incentive constraints are rational. All numbers here are
Python integers: a constraint may be multiplied by a positive number, and a distribution over action profiles is a
vector of weights, to be divided by its sum.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, gcd, lcm, ulp
from time import monotonic
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

DENOMINATOR = 10**6  # up to which a fraction that rounds to a payoff is hardly a coincidence
DIGITS = 15  # up to which decimal numbers are distinguishable in floating point
TOO_SLOW = "exact arithmetic exceeded its time limit"

Integers = list[int]
Number = TypeVar("Number", int, Fraction)


def integer_rows(
    tables: Sequence[NDArray[np.float64]], places: Sequence[Sequence[tuple[int, int]]], *, coarse: bool
) -> dict[int, Integers]:
    """Return the incentive constraints that are not empty on some profiles, by number, each as coprime integers.

    `tables` holds each player's payoffs with its actions as rows, and `places` the row and column of each profile.

    >>> table, places = np.array([[0.5, 2.0], [0.25, 3.0]]), [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> integer_rows([table], [places], coarse=False)
    {1: [-1, 4, 0, 0], 2: [0, 0, 1, -4]}
    """
    rows: dict[int, list[Fraction]] = {}
    start = 0
    for table, own in zip(tables, places, strict=True):
        size = len(table)
        before = [written(float(table[place])) for place in own]
        for to in range(size):
            after = [written(float(table[to, column])) for _, column in own]
            gains = [u - v for u, v in zip(after, before, strict=True)]
            if coarse:
                rows[start + to] = gains
                continue
            for action in {action for action, _ in own}:
                told = [gain if a == action else Fraction(0) for (a, _), gain in zip(own, gains, strict=True)]
                rows[start + action * size + to] = told
        start += size if coarse else size * size
    return {number: integers(row) for number, row in sorted(rows.items()) if any(row)}


def distinct(rows: Iterable[Integers]) -> list[Integers]:
    """Return the rows without repetitions.

    >>> distinct([[1, 2], [0, 1], [1, 2]])
    [[1, 2], [0, 1]]
    """
    return [list(row) for row in dict.fromkeys(map(tuple, rows))]


def written(value: float) -> Fraction:
    """Return the number that a floating-point number stands for, so that ties of payoffs are those the user meant.

    It is the fraction with the smallest denominator that rounds to it, or the decimal number that it prints as if that
    denominator is large and the digits are few.

    >>> [str(written(value)) for value in (0.1, -0.15, 1 / 3, 0.123456789, 1e22)]
    ['1/10', '-3/20', '1/3', '123456789/1000000000', '10000000000000000000000']
    """
    if value < 0:
        return -written(-value)
    exact, half = Fraction(value), Fraction(ulp(value)) / 2
    low, high, terms = exact - half, exact + half, []
    while (whole := floor(low)) == floor(high) and low != whole:  # continued fractions, as long as both ends agree
        terms.append(whole)
        low, high = 1 / (high - whole), 1 / (low - whole)
    simplest = Fraction(ceil(low))
    for term in reversed(terms):
        simplest = term + 1 / simplest
    decimal = Decimal(repr(value))
    if (simplest.denominator > DENOMINATOR and len(decimal.as_tuple().digits) <= DIGITS) or value.is_integer():
        return Fraction(decimal)
    return simplest if float(simplest) == value else exact


def integers(row: Sequence[Fraction]) -> Integers:
    """Return a vector of fractions multiplied by the positive number that makes it coprime integers.

    >>> integers([Fraction(1, 2), Fraction(-1, 3)])
    [3, -2]
    """
    common = lcm(*(value.denominator for value in row))
    return _coprime([value.numerator * (common // value.denominator) for value in row])


def _coprime(row: Integers) -> Integers:
    divisor = gcd(*row)
    return [value // divisor for value in row] if divisor > 1 else row


def rank(rows: Sequence[Integers]) -> int:
    """Return the rank of a matrix of integers.

    >>> rank([[1, 2], [2, 4], [0, 3]])
    2
    """
    left = [list(row) for row in rows]
    found = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((k for k in range(found, len(left)) if left[k][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for k in range(found + 1, len(left)):
            if left[k][column]:
                factor, other = left[found][column], left[k][column]
                left[k] = _coprime([factor * a - other * b for a, b in zip(left[k], left[found], strict=True)])
        found += 1
    return found


def extreme_rays(rows: Sequence[Integers], size: int, deadline: float = float("inf")) -> list[Integers]:
    """Return the extreme rays of {x ≥ 0 : rows · x ≤ 0}, by the double description method.

    Starting from the orthant, each constraint keeps the rays that satisfy it and joins every adjacent pair of rays on
    different sides of it (Motzkin et al. 1953). Two rays are adjacent when no third one is zero, or tight, wherever
    both are (Fukuda and Prodon 1996).

    >>> extreme_rays([[1, -1, 0]], 3)
    [[0, 1, 0], [0, 0, 1], [1, 1, 0]]
    """
    rays = [[int(j == k) for j in range(size)] for k in range(size)]
    tight = [((1 << size) - 1) ^ (1 << k) for k in range(size)]  # bit j < size: x_j = 0; bit size + r: row r is tight
    for number, row in enumerate(rows):
        if monotonic() > deadline:
            raise ArithmeticError(TOO_SLOW)
        values = [product(row, ray) for ray in rays]
        bit = 1 << (size + number)
        positive = [k for k, value in enumerate(values) if value > 0]
        negative = [k for k, value in enumerate(values) if value < 0]
        new_rays, new_tight = [], []
        for k, value in enumerate(values):
            if value <= 0:
                new_rays.append(rays[k])
                new_tight.append(tight[k] | (bit if value == 0 else 0))
        for p in positive:
            for n in negative:
                common = tight[p] & tight[n]
                if common.bit_count() < size - 2:
                    continue
                if any(common & ~tight[k] == 0 for k in range(len(rays)) if k not in (p, n)):
                    continue
                up, down = values[p], -values[n]
                new_rays.append(_coprime([down * a + up * b for a, b in zip(rays[p], rays[n], strict=True)]))
                new_tight.append(common | bit)
        rays, tight = new_rays, new_tight
    return rays


def relative_interior(rows: Sequence[Integers], size: int, deadline: float = float("inf")) -> Integers:
    """Return weights x ≥ 0 with rows · x ≤ 0 at which every inequality is strict that is strict anywhere in that cone.

    Maximise the sum of the slacks not yet known to be positive until their maximum is 0, and add up the maximisers.

    >>> relative_interior([[1, -1, 0], [-1, 1, 0]], 3)
    [1, 1, 2]
    """
    inequalities = [*rows, *([-int(j == k) for j in range(size)] for k in range(size))]
    total = [Fraction(0)] * size
    while unknown := [row for row in inequalities if not product(row, total)]:
        profit = [-sum(column) for column in zip(*unknown, strict=True)]
        point, value = maximise(profit, [*rows, [1] * size], [0] * len(rows) + [1], deadline)
        if value == 0:
            break
        total = [a + b for a, b in zip(total, point, strict=True)]
    return integers(total)


def product(row: Sequence[int], point: Sequence[Number]) -> Number:
    """Return the sum of products of two vectors.

    >>> product([1, 2, 0], [3, 4, 5])
    11
    """
    return sum((a * x for a, x in zip(row, point, strict=True) if a and x), start=0 * point[0])


def maximise(
    profit: Sequence[int], rows: Sequence[Integers], limits: Sequence[int], deadline: float = float("inf")
) -> tuple[list[Fraction], Fraction]:
    """Maximise profit · x subject to rows x ≤ limits and x ≥ 0, where limits ≥ 0; return x and the value.

    The simplex method on integers (Edmonds 1967): all entries have one common denominator, the last pivot, by which
    every division is exact. The dictionary has one line per basic variable and one column per non-basic one.

    >>> maximise([3, 2], [[1, 1], [1, 3]], [4, 6])
    ([Fraction(4, 1), Fraction(0, 1)], Fraction(12, 1))
    """
    count = len(profit)
    lines = [*([*row, limit] for row, limit in zip(rows, limits, strict=True)), [*(-value for value in profit), 0]]
    across, down = list(range(count)), list(range(count, count + len(rows)))
    denominator, degenerate = 1, False
    while improving := [column for column in range(count) if lines[-1][column] < 0]:
        if monotonic() > deadline:
            raise ArithmeticError(TOO_SLOW)
        # The steepest column is fast; after a step of length 0, the first one (Bland 1977) rules out a cycle.
        enter = min(improving, key=across.__getitem__ if degenerate else lines[-1].__getitem__)
        leave = _leaving(lines, enter, down)
        degenerate = lines[leave][-1] == 0
        denominator = _exchange(lines, leave, enter, denominator)
        across[enter], down[leave] = down[leave], across[enter]
    point = [Fraction(0)] * count
    for variable, line in zip(down, lines, strict=False):
        if variable < count:
            point[variable] = Fraction(line[-1], denominator)
    return point, Fraction(lines[-1][-1], denominator)


def _leaving(lines: Sequence[Integers], enter: int, down: Sequence[int]) -> int:
    """Return the line of the variable that first reaches 0 as another one enters; among several, the first variable."""
    leave, top, bottom = -1, 0, 0
    for k, variable in enumerate(down):
        rate, room = lines[k][enter], lines[k][-1]
        if rate > 0:
            difference = room * bottom - top * rate
            if leave < 0 or difference < 0 or (difference == 0 and variable < down[leave]):
                leave, top, bottom = k, room, rate
    if leave < 0:
        raise ArithmeticError("the linear program is unbounded")
    return leave


def _exchange(lines: list[Integers], leave: int, enter: int, denominator: int) -> int:
    """Exchange a basic and a non-basic variable; return the new common denominator, which is positive."""
    source = lines[leave]
    pivot = source[enter]
    for k, line in enumerate(lines):
        if k == leave:
            continue
        factor = line[enter]
        if factor:
            lines[k] = [(pivot * a - factor * b) // denominator for a, b in zip(line, source, strict=True)]
        elif pivot != denominator:
            lines[k] = [pivot * a // denominator for a in line]
        lines[k][enter] = -factor
    source[enter] = denominator
    return pivot
