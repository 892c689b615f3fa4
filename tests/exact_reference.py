"""Equilibria in exact arithmetic, straight from their definitions: slow, and independent of gamesim.

Payoffs are nested functions of the profile, all numbers are fractions, and every method is the textbook's: the simplex
method on a full tableau with Bland's rule, and vertices by trying every set of tight constraints.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice, product

import numpy as np
from numpy.typing import NDArray

Row = list[Fraction]
Profile = tuple[int, ...]
ZERO, ONE = Fraction(0), Fraction(1)
SUBSETS_AT_ONCE = 20_000


class Equilibria:
    """Represent the correlated or coarse correlated equilibria of a game, given by payoffs[player][profile]."""

    def __init__(self, payoffs: Sequence[dict[Profile, Fraction]], sizes: Profile, kind: str) -> None:
        self.payoffs, self.sizes, self.kind = payoffs, sizes, kind
        self.profiles = list(product(*map(range, sizes)))

    def gain(self, player: int, recommended: int | None, to: int, profile: Profile) -> Fraction:
        """Return what a player gains at a profile by a deviation from a recommended action, or from any (None)."""
        if recommended is not None and profile[player] != recommended:
            return ZERO
        deviating = (*profile[:player], to, *profile[player + 1 :])
        return self.payoffs[player][deviating] - self.payoffs[player][profile]

    @cached_property
    def constraints(self) -> list[Row]:
        """Return the rows of G q ≤ 0 that are not empty, without repetitions."""
        rows: dict[tuple[Fraction, ...], None] = {}
        for player, size in enumerate(self.sizes):
            told: Sequence[int | None] = range(size) if self.kind == "ce" else [None]
            for recommended, to in product(told, range(size)):
                row = [self.gain(player, recommended, to, profile) for profile in self.profiles]
                if any(row):
                    largest = max(map(abs, row))
                    rows[tuple(value / largest for value in row)] = None
        return [list(row) for row in rows]

    def gap(self, joint: Row) -> Fraction:
        """Return the largest gain of a player by swapping actions (CE) or by one fixed action (CCE)."""
        found = ZERO
        for player, size in enumerate(self.sizes):
            told: Sequence[int | None] = range(size) if self.kind == "ce" else [None]
            gains = [
                max(
                    sum((q * self.gain(player, a, to, one) for q, one in zip(joint, self.profiles, strict=True)), ZERO)
                    for to in range(size)
                )
                for a in told
            ]
            found = max(found, sum(gains, ZERO))
        return found

    def distance(self, joint: Row) -> Fraction:
        """Return min Σ t over equilibria q with t ≥ joint - q and t ≥ 0, by the linear program."""
        n = len(self.profiles)
        rows = [[*row, *[ZERO] * n] for row in self.constraints]
        rows += [[-Fraction(j == k) for j in range(n)] * 2 for k in range(n)]
        limits = [ZERO] * len(self.constraints) + [-q for q in joint]
        return minimum([ZERO] * n + [ONE] * n, rows, limits, [ONE] * n + [ZERO] * n)

    def welfare(self, sign: int) -> Fraction:
        """Return the largest (1) or smallest (-1) total payoff of an equilibrium, by the linear program."""
        total = [sum((payoffs[profile] for payoffs in self.payoffs), ZERO) for profile in self.profiles]
        value = minimum(
            [-sign * u for u in total], self.constraints, [ZERO] * len(self.constraints), [ONE] * len(total)
        )
        return -sign * value

    @cached_property
    def vertices(self) -> list[Row]:
        """Return all vertices: solutions of Σ q = 1 and n - 1 independent tight constraints that satisfy the others."""
        n = len(self.profiles)
        rows = [*self.constraints, *([-Fraction(j == k) for j in range(n)] for k in range(n))]
        found = set()
        for tight in likely_vertices(rows, n):
            point = solution([rows[k] for k in tight])
            if point is not None and all(sum(a * q for a, q in zip(row, point, strict=True) if a) <= 0 for row in rows):
                found.add(tuple(point))
        return [list(point) for point in sorted(found)]

    @property
    def dimension(self) -> int:
        """Return the rank of the differences of vertices."""
        first, *others = self.vertices
        return rank([[a - b for a, b in zip(other, first, strict=True)] for other in others])


def likely_vertices(rows: list[Row], n: int) -> list[tuple[int, ...]]:
    """Return sets of n - 1 rows that may be tight at a vertex, at least one for each vertex.

    Floating-point arithmetic leaves out sets that are far from a vertex, and all but one of those whose solutions agree
    in nine digits. Rows are scaled to entries of at most 1; determinants that are neither 0 nor clearly nonzero are
    left to exact arithmetic.
    """
    floats = np.array(rows, dtype=np.float64)
    found: list[tuple[int, ...]] = []
    seen: set[tuple[float, ...]] = set()
    subsets = combinations(range(len(rows)), n - 1)
    right = np.zeros((n, 1))
    right[-1] = 1
    while chunk := list(islice(subsets, SUBSETS_AT_ONCE)):
        chosen = np.array(chunk, dtype=np.int64).reshape(len(chunk), n - 1)
        systems = np.concatenate([floats[chosen], np.ones((len(chunk), 1, n))], axis=1)
        sizes = np.abs(np.linalg.det(systems))
        regular = np.flatnonzero(sizes > 1e-9)
        points = np.linalg.solve(systems[regular], np.broadcast_to(right, (regular.size, n, 1)))[..., 0]
        near = (points @ floats.T).max(axis=1) < 1e-6
        for k, point in zip(regular[near], points[near].round(9) + 0.0, strict=True):
            if tuple(point) not in seen:
                seen.add(tuple(point))
                found.append(chunk[k])
        found += [chunk[k] for k in np.flatnonzero((sizes > 1e-14) & (sizes <= 1e-9))]
    return found


def solution(rows: list[Row]) -> Row | None:
    """Solve rows · q = 0 and Σ q = 1, or return None if there is not exactly one solution."""
    n = len(rows[0]) if rows else 1
    lines = [[*row, ZERO] for row in rows] + [[ONE] * n + [ONE]]
    for column in range(n):
        pivot = next((k for k in range(column, n) if lines[k][column]), None)
        if pivot is None:
            return None
        lines[column], lines[pivot] = lines[pivot], lines[column]
        lines[column] = [value / lines[column][column] for value in lines[column]]
        for k in range(n):
            if k != column and lines[k][column]:
                factor = lines[k][column]
                lines[k] = [a - factor * b for a, b in zip(lines[k], lines[column], strict=True)]
    return [line[-1] for line in lines]


def rank(rows: list[Row]) -> int:
    """Return the rank of a matrix."""
    left, found = [list(row) for row in rows], 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((k for k in range(found, len(left)) if left[k][column]), None)
        if pivot is not None:
            left[found], left[pivot] = left[pivot], left[found]
            for k in range(found + 1, len(left)):
                factor = left[k][column] / left[found][column]
                left[k] = [a - factor * b for a, b in zip(left[k], left[found], strict=True)]
            found += 1
    return found


def minimum(cost: Row, rows: list[Row], limits: Row, equation: Row) -> Fraction:
    """Minimise cost · x subject to rows x ≤ limits, equation · x = 1 and x ≥ 0: two phases, Bland's rule."""
    count, slacks = len(cost), len(rows)
    width = count + slacks + slacks + 1  # one artificial variable per line, of which some are not needed
    lines: list[Row] = []
    basis: list[int] = []
    for r, (row, limit) in enumerate(zip([*rows, equation], [*limits, ONE], strict=True)):
        sign = ONE if limit >= 0 else -ONE
        slack = [sign * (k == r) for k in range(slacks)]
        artificial = [Fraction(k == r) for k in range(slacks + 1)]
        lines.append([*(sign * a for a in row), *slack, *artificial, sign * limit])
        basis.append(count + r if sign > 0 and r < slacks else count + slacks + r)
    first = [ZERO] * (count + slacks) + [ONE] * (slacks + 1)
    if pivot_to_optimum(lines, basis, first, width) != 0:
        raise ArithmeticError("there is no solution")
    for r, variable in enumerate(basis):  # artificial variables that are basic are 0: exchange or forget them
        if variable >= count + slacks:
            enter = next((k for k in range(count + slacks) if lines[r][k]), None)
            if enter is not None:
                exchange(lines, basis, r, enter)
    return pivot_to_optimum(lines, basis, [*cost, *[ZERO] * (width - count)], count + slacks)


def pivot_to_optimum(lines: list[Row], basis: list[int], cost: Row, columns: int) -> Fraction:
    """Pivot until no column improves; return the value."""
    while True:
        prices = [cost[variable] for variable in basis]
        used = [r for r, price in enumerate(prices) if price]
        for enter in range(columns):
            if cost[enter] < sum((prices[r] * lines[r][enter] for r in used), ZERO):
                break
        else:
            return sum((prices[r] * lines[r][-1] for r in used), ZERO)
        steps = [(line[-1] / line[enter], basis[r], r) for r, line in enumerate(lines) if line[enter] > 0]
        exchange(lines, basis, min(steps)[2], enter)


def exchange(lines: list[Row], basis: list[int], leave: int, enter: int) -> None:
    """Make a variable basic."""
    pivot = lines[leave][enter]
    source = lines[leave] = [value / pivot if value else value for value in lines[leave]]
    for r, line in enumerate(lines):
        factor = line[enter]
        if r != leave and factor:
            lines[r] = [a - factor * b if b else a for a, b in zip(line, source, strict=True)]
    basis[leave] = enter


def as_fractions(table: NDArray[np.object_]) -> list[dict[Profile, Fraction]]:
    """Return payoffs[player][profile] from an array of fractions with one axis per player after the first."""
    return [{profile: payoffs[profile] for profile in product(*map(range, payoffs.shape))} for payoffs in table]
