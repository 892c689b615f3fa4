"""Exact arithmetic for small equilibrium sets, where floating point cannot decide.

Payoffs are floating-point numbers, hence rational, and so are the incentive constraints. All numbers here are Python
integers: a constraint may be multiplied by a positive number, and a distribution over action profiles is a vector of
weights, to be divided by its sum.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from time import monotonic

import numpy as np
from numpy.typing import NDArray

TOO_SLOW = "exact arithmetic exceeded its time limit"

Integers = list[int]


def integer_rows(
    tables: Sequence[NDArray[np.float64]], cells: Sequence[NDArray[np.int64]], live: NDArray[np.bool_], *, coarse: bool
) -> list[Integers]:
    """Return the incentive constraints on the live profiles, each as coprime integers, without empty rows.

    `tables` holds each player's payoffs with its actions as rows, and `cells` the number of each profile likewise.

    >>> table, cells, live = np.array([[0.5, 2.0], [0.25, 3.0]]), np.array([[0, 1], [2, 3]]), np.ones(4, dtype=bool)
    >>> integer_rows([table], [cells], live, coarse=False)
    [[0, 0, 1, -4], [-1, 4, 0, 0]]
    """
    position = {int(cell): k for k, cell in enumerate(np.flatnonzero(live))}
    rows: dict[tuple[int, ...], None] = {}
    for table, numbers in zip(tables, cells, strict=True):
        payoffs = [[Fraction(value) for value in row] for row in table.tolist()]
        for to, row in enumerate(payoffs):
            gains = [Fraction(0)] * len(position)
            for recommended, (own, profiles) in enumerate(zip(payoffs, numbers.tolist(), strict=True)):
                if not coarse:
                    gains = [Fraction(0)] * len(position)
                for cell, better, before in zip(profiles, row, own, strict=True):
                    if cell in position:
                        gains[position[cell]] += better - before
                if not coarse and recommended != to and any(gains):
                    rows[tuple(integers(gains))] = None
            if coarse and any(gains):
                rows[tuple(integers(gains))] = None
    return [list(row) for row in rows]


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
        values = [sum(a * x for a, x in zip(row, ray, strict=True) if a and x) for ray in rays]
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


def minimise(
    cost: Sequence[int],
    rows: Sequence[Integers],
    limits: Sequence[int],
    equation: Sequence[int],
    total: int,
    deadline: float = float("inf"),
) -> tuple[list[Fraction], Fraction]:
    """Minimise cost · x subject to rows x ≤ limits, equation · x = total and x ≥ 0; return x and the value.

    The simplex method with Bland's rule on integers (Edmonds 1967): the tableau has one common denominator, the last
    pivot, by which every division is exact.

    >>> minimise([1, 2], [[-1, 0]], [-1], [1, 1], 3)  # x1 ≥ 1, x1 + x2 = 3
    ([Fraction(3, 1), Fraction(0, 1)], Fraction(3, 1))
    """
    count, slacks = len(cost), len(rows)
    width = count + slacks
    body, basis = _first_tableau(rows, limits, equation, total)
    artificial = len(body[0]) - 1 - width
    infeasible = [variable >= width for variable in basis]
    first = [-sum(row[j] for row, one in zip(body, infeasible, strict=True) if one) for j in range(len(body[0]))]
    first[width:-1] = [0] * artificial
    tableau = [*body, first, [*cost, *[0] * (slacks + artificial), 0]]
    denominator = _pivot_until_optimal(tableau, basis, len(body), width + artificial, 1, deadline)
    if tableau[len(body)][-1] != 0:
        raise ArithmeticError("the linear program has no solution")
    for r, variable in enumerate(basis):  # artificial variables that are still basic are 0: exchange them
        if variable >= width:
            enter = next((j for j in range(width) if tableau[r][j] != 0), None)
            if enter is not None:
                denominator = _pivot(tableau, basis, r, enter, denominator)
    for line in tableau:
        line[width:-1] = [0] * artificial
    denominator = _pivot_until_optimal(tableau, basis, len(body) + 1, width, denominator, deadline)
    point = [Fraction(0)] * count
    for r, variable in enumerate(basis):
        if variable < count:
            point[variable] = Fraction(tableau[r][-1], denominator)
    return point, Fraction(-tableau[-1][-1], denominator)


def _first_tableau(
    rows: Sequence[Integers], limits: Sequence[int], equation: Sequence[int], total: int
) -> tuple[list[Integers], list[int]]:
    """Return the rows with slack and artificial variables and a right-hand side ≥ 0, and the basic variables."""
    count, slacks = len(equation), len(rows)
    body: list[Integers] = []
    for r, (row, limit) in enumerate(zip([*rows, equation], [*limits, total], strict=True)):
        sign = 1 if limit >= 0 else -1
        slack = [sign * int(k == r) for k in range(slacks)]
        body.append([*(sign * a for a in row), *slack, sign * limit])
    needed = [r for r, limit in enumerate([*limits, total]) if limit < 0 or r == slacks]
    basis = [count + r for r in range(slacks + 1)]
    for k, r in enumerate(needed):
        basis[r] = count + slacks + k
    for r, line in enumerate(body):
        line[-1:-1] = [int(r == one) for one in needed]
    return body, basis


def _pivot_until_optimal(
    tableau: list[Integers], basis: list[int], objective: int, columns: int, denominator: int, deadline: float
) -> int:
    rows = len(basis)
    while True:
        if monotonic() > deadline:
            raise ArithmeticError(TOO_SLOW)
        costs = tableau[objective]
        enter = next((j for j in range(columns) if costs[j] < 0), None)
        if enter is None:
            return denominator
        leave, best_top, best_bottom = -1, 0, 0
        for r in range(rows):
            bottom = tableau[r][enter]
            if bottom > 0:
                top = tableau[r][-1]
                difference = top * best_bottom - best_top * bottom
                if leave < 0 or difference < 0 or (difference == 0 and basis[r] < basis[leave]):
                    leave, best_top, best_bottom = r, top, bottom
        if leave < 0:
            raise ArithmeticError("the linear program is unbounded")
        denominator = _pivot(tableau, basis, leave, enter, denominator)


def _pivot(tableau: list[Integers], basis: list[int], leave: int, enter: int, denominator: int) -> int:
    """Make a variable basic; return the new common denominator, which stays positive."""
    source = tableau[leave]
    pivot = source[enter]
    if pivot < 0:
        source = tableau[leave] = [-value for value in source]
        pivot = -pivot
    for r, line in enumerate(tableau):
        if r == leave:
            continue
        factor = line[enter]
        if factor:
            tableau[r] = [(pivot * a - factor * b) // denominator for a, b in zip(line, source, strict=True)]
        elif pivot != denominator:
            tableau[r] = [pivot * a // denominator for a in line]
    basis[leave] = enter
    return pivot
