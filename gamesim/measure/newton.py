"""Newton's equations of an interior-point method over the equilibria of a game.

They have one unknown per action profile and one per constraint,

    dq/D + Gᵀ dy + level = a,    G dq - (S/Y) dy = b,    Σ dq = c

with diagonal matrices D, S and Y. Of the constraints, which are up to twice as many as the profiles, only strong ones
keep their unknowns, and some sums of the others, which have one unknown each. What remains of the others is
approximated by a diagonal, and the system is factored. For the CE of two players, whose constraints fall into one block
per recommended action, those of one player are eliminated block by block, so that only the other one's are left.
Projected conjugate gradients (Gould, Hribar and Nocedal 2001) correct the approximation; a step of theirs takes a few
products of matrices as large as the payoff tables.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gamesim.engine.compiled import Vector
from gamesim.measure.constraint_products import Constraints, Matrix
from gamesim.measure.elimination import own_first

Solver = Callable[[Vector], Vector]
STRONG = 10.0  # ratio of the two parts of a diagonal entry, G D Gᵀ and S/Y, from which a constraint has an unknown
FEW = 2000  # strong constraints up to which all of them have one
STRONGEST = 1e5  # the ratio from which a constraint has an unknown if they are more
PRINCIPAL = 30.0  # the ratio from which a component of the others has one
MOST_FACTORED = 7000  # unknowns of the largest system that is factored
MOST_PRODUCTS = 100  # conjugate gradient steps
WORSE = 100.0  # ratio of two sizes of the error from which it is only rounding
SHARES = (1e-15, 1e-13, 1e-11, 1e-9, 1e-7)  # of a matrix's diagonal that are added until it can be factored


@dataclass(frozen=True, eq=False)
class Sums:
    """Hold weighted sums of constraints for a CE: as the rows of a matrix, and by player and recommended action.

    A group has one row per sum of the deviations from one recommended action.
    """

    matrix: csr_array
    groups: list[tuple[int, int, Matrix]]

    @classmethod
    def of_groups(cls, constraints: Constraints, groups: list[tuple[int, int, Matrix]]) -> "Sums":
        """Return the sums of some groups."""
        starts, groups = constraints.incentives.starts, [group for group in groups if len(group[2])]
        numbers, lengths = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for player, action, factors in groups:
            count, size = factors.shape
            numbers.append(np.tile(np.arange(size) + (starts[player] + action * size), count))
            lengths.append(np.full(count, size))
        values = np.concatenate([np.zeros(0), *(factors.ravel() for *_, factors in groups)])
        ends = np.cumsum(np.concatenate([[0], *lengths]))
        matrix = csr_array((values, np.concatenate(numbers), ends), shape=(ends.size - 1, starts[-1]))
        matrix.eliminate_zeros()
        return cls(csr_array(matrix[:, constraints.rows]), groups)

    @classmethod
    def totals(cls, constraints: Constraints, inverse: Vector, strong: NDArray[np.bool_], players: list[int]) -> "Sums":
        """Return strong constraints, and for each action the sum of the others, weighted by Y/S.

        The sum is the mean deviation, which most of the others have in common.
        """
        groups = []
        for i, action, alone, weak in _actions(constraints, inverse, strong, players):
            total = (weak / np.sqrt(weak.sum()))[None] if weak.any() else np.zeros((0, weak.size))
            groups.append((i, action, np.concatenate([alone, total])))
        return cls.of_groups(constraints, groups)

    @classmethod
    def components(
        cls, constraints: Constraints, weights: Vector, inverse: Vector, strong: NDArray[np.bool_], players: list[int]
    ) -> "Sums":
        """Return strong constraints, and for each action the principal components of the others.

        These are eigenvectors of the action's block of (Y/S)^½ G D Gᵀ (Y/S)^½, with the largest eigenvalues.
        """
        found, each = [], constraints.over_game(weights)
        for i, action, alone, weak in _actions(constraints, inverse, strong, players):
            table, roots = constraints.incentives.tables[i], np.sqrt(weak)
            rows = (table - table[action]) * roots[:, None]
            block = (rows * own_first(each, i)[action]) @ rows.T
            values, vectors = np.zeros(0), np.zeros((weak.size, 0))
            if np.linalg.norm(block) > PRINCIPAL:  # a bound on the eigenvalues
                values, vectors = np.linalg.eigh(block)
            found.append((i, action, alone, values, (vectors * roots[:, None]).T))
        room, values = max(MOST_FACTORED - int(strong.sum()), 1), np.concatenate([values for *_, values, _ in found])
        least = max(PRINCIPAL, np.partition(values, -room)[-room] if values.size > room else 0.0)
        groups = [(i, a, np.concatenate([alone, vectors[values > least]])) for i, a, alone, values, vectors in found]
        return cls.of_groups(constraints, groups)

    def columns(self, constraints: Constraints, inverse: Vector) -> Vector:
        """Return the diagonal of Gᵀ Sᵀ S G for those sums S that have weak constraints, whose Y/S are given."""
        incentives, full = constraints.incentives, constraints.over_all(inverse)
        total = np.zeros(incentives.game.sizes)
        for i, action, factors in self.groups:
            weak = constraints.blocks(full, i)[action] > 0
            table = incentives.tables[i]
            rows = factors[factors[:, weak].any(axis=1)] @ (table - table[action])
            own = np.moveaxis(total, i, 0)[action]
            own += (rows * rows).sum(axis=0).reshape(own.shape)
        columns: Vector = total.ravel()[constraints.cells]
        return columns


def _actions(
    constraints: Constraints, inverse: Vector, strong: NDArray[np.bool_], players: list[int]
) -> Iterator[tuple[int, int, Matrix, Vector]]:
    """Yield the player, the action, its strong constraints as sums, and Y/S of the others, for each action."""
    kept, weak = constraints.over_all(strong.astype(np.float64)), constraints.over_all(inverse)
    for i in players:
        identity = np.eye(constraints.incentives.game.sizes[i])
        for action, (mine, others) in enumerate(
            zip(constraints.blocks(kept, i) > 0, constraints.blocks(weak, i), strict=True)
        ):
            yield i, action, identity[mine], others


class Equations:
    """Solve Newton's equations, given the diagonals of D and S/Y.

    All vectors hold the change of q, then that of the multipliers of strong constraints, then that of the level.
    """

    def __init__(self, constraints: Constraints, weights: Vector, ratio: Vector) -> None:
        """Choose the constraints that matter and factor their equations, with the others as a diagonal."""
        self.constraints, self.weights, self.ratio = constraints, weights, ratio
        self._strong, self._reduced = np.ones(ratio.size, dtype=bool), weights
        correlated = constraints.incentives.kind == "ce"
        self._solve = self._correlated() if correlated else coarse_solver(constraints, weights, ratio)
        self._ends = constraints.gains(self._reduced)
        self._even = self._solve(self._ends)
        self._room = float(self._reduced.sum() - self._ends @ self._even)

    def _correlated(self) -> Solver:
        """Choose strong constraints and sums of the others for a CE; return a solver for them."""
        constraints, weights, ratio = self.constraints, self.weights, self.ratio
        player, players = constraints.places[0], list(range(len(constraints.incentives.game.sizes)))
        strength = constraints.squares(weights) / ratio
        strong, first = strength > STRONG, None
        if len(players) == 2:
            first = int(2 * player[strong].sum() > strong.sum())  # the player with more strong constraints
            players.remove(first)
        listed = np.isin(player, players)
        strong &= listed
        many = strong.sum() > FEW
        if many:
            strong &= strength > STRONGEST
            if strong.sum() > MOST_FACTORED:
                strong &= strength >= np.partition(strength[strong], -MOST_FACTORED)[-MOST_FACTORED]
        self._strong = strong | ~listed
        inverse = np.where(self._strong, 0.0, 1 / ratio)
        if many:
            left = weights if first is None else ByBlocks(constraints, weights, ratio, first).left
            sums = Sums.components(constraints, left, inverse, strong, players)
        else:
            sums = Sums.totals(constraints, inverse, strong, players)
        rest = constraints.columns(inverse) - sums.columns(constraints, inverse)
        self._reduced = 1 / (1 / weights + np.maximum(rest, 0))
        if first is None:
            return together(constraints, self._reduced, ratio, sums)
        return ByBlocks(constraints, self._reduced, ratio, first).solver(sums)

    def _project(self, right: Vector) -> Vector:
        """Solve the equations with what remains of the weak constraints as a diagonal."""
        a, b, c = self._parts(right)
        alone = self._reduced * a
        y = self._solve(self.constraints.gains(alone) - b)
        level = (alone.sum() - c - self._ends @ y) / self._room
        y = y - level * self._even
        return np.concatenate([self._reduced * (a - self.constraints.pressure(y) - level), y, [level]])

    def _product(self, move: Vector) -> Vector:
        """Multiply by the matrix of the equations, after the elimination of weak constraints."""
        dq, y, level = self._parts(move)
        gains = self.constraints.gains(dq)
        slope = self.constraints.pressure(np.where(self._strong, y, gains / self.ratio))
        ahead = np.where(self._strong, gains - self.ratio * y, 0.0)
        return np.concatenate([dq / self.weights + slope + level, ahead, [dq.sum()]])

    def _parts(self, vector: Vector) -> tuple[Vector, Vector, float]:
        cells = self.weights.size
        return vector[:cells], vector[cells:-1], float(vector[-1])

    def _size(self, move: Vector) -> float:
        """Return the square of the norm of a move in which its errors are measured."""
        dq, y, _ = self._parts(move)
        return float(dq @ (dq / self._reduced) + y @ (self.ratio * y))

    def solve(
        self, alone: Vector, ahead: Vector, missing: float, error: float, deadline: float
    ) -> tuple[Vector, Vector, float]:
        """Return the changes of the multipliers, of the slope of every cell, and of the level, up to a relative error.

        Every direction is a solution with the diagonal, so that its multipliers fit its change of q, also after
        rounding.
        """
        a = -alone / self.weights - self.constraints.pressure(np.where(self._strong, 0.0, ahead / self.ratio))
        right = np.concatenate([a, np.where(self._strong, -ahead, 0.0), [missing]])
        whole = best = self._project(right)
        least = before = np.inf
        enough, direction = error**2 * self._size(whole), np.zeros(right.size)
        left = right - self._product(whole)
        for _ in range(MOST_PRODUCTS):
            better = self._project(left)
            size = self._size(better)
            if size < least:
                best, least = whole, size
            if not enough < size < WORSE * least or monotonic() > deadline:
                break
            direction = better + size / before * direction
            image = self._product(direction)
            length = size / float(direction[: a.size] @ image[: a.size])
            whole, left, before = whole + length * direction, left - length * image, size
        dq, dy, level = self._parts(best)
        weak = (ahead + self.constraints.gains(dq)) / self.ratio
        return np.where(self._strong, dy, weak), -(dq + alone) / self.weights, level


def coarse_solver(constraints: Constraints, weights: Vector, ratio: Vector) -> Solver:
    """Return a function that solves (G D Gᵀ + S/Y) y = r for a CCE."""
    matrix = constraints.coarse_products(weights)
    matrix[np.diag_indices_from(matrix)] += ratio
    return factored(matrix)


def together(constraints: Constraints, weights: Vector, ratio: Vector, sums: Sums) -> Solver:
    """Return a function that solves S (G D Gᵀ + S/Y) Sᵀ z = S r for sums of constraints, and returns y = Sᵀ z."""
    matrix = correlated_products(constraints, weights, sums)
    matrix[np.diag_indices_from(matrix)] += sums.matrix.power(2) @ ratio
    solve, back = factored(matrix), csr_array(sums.matrix.T)
    return lambda right: back @ solve(sums.matrix @ right)


def correlated_products(constraints: Constraints, weights: Vector, sums: Sums) -> Matrix:
    """Return the lower triangle of S G D Gᵀ Sᵀ, block by block: a block has the sums of two recommended actions."""
    each, size, start = constraints.over_game(weights), sums.matrix.shape[0], 0
    sizes, matrix = each.shape, np.zeros((size, size))
    groups: list[list[tuple[slice, int, Matrix, Matrix]]] = [[] for _ in sizes]
    for i, action, factors in sums.groups:
        table, place = constraints.incentives.tables[i], slice(start, start := start + len(factors))
        rows = factors @ (table - table[action])
        weighted = rows * own_first(each, i)[action]
        matrix[place, place] = weighted @ rows.T
        shape = (len(rows), *sizes[:i], *sizes[i + 1 :])
        groups[i].append((place, action, rows.reshape(shape), weighted.reshape(shape)))
    for i, own in enumerate(groups):
        for j in range(i + 1, len(groups)):
            others = [(place, a, np.moveaxis(rows, i + 1, 0)) for place, a, rows, _ in groups[j]]
            for place, action, _, weighted in own:
                mine = np.moveaxis(weighted, j, 0)
                for other, theirs, rows in others:
                    left, right = rows[action], mine[theirs]
                    matrix[other, place] = left.reshape(len(left), -1) @ right.reshape(len(right), -1).T
    return matrix


class ByBlocks:
    """Solve (G D Gᵀ + S/Y) y = r for all constraints of one player of two, and sums of the other's.

    The equations of the first one fall into one block per recommended action; what they leave of D for the other one,
    D - D Gᵀ (G D Gᵀ + S/Y)⁻¹ G D, has a block of cells for each.
    """

    def __init__(self, constraints: Constraints, weights: Vector, ratio: Vector, first: int) -> None:
        incentives, self.constraints, self.first = constraints.incentives, constraints, first
        self.weights, self.ratio, self.own = weights, ratio, constraints.places[0] == first
        own, cells = incentives.tables[first], incentives.tables[first].shape[1]
        each = own_first(constraints.over_game(weights), first)
        present = constraints.blocks(constraints.over_all(np.ones(ratio.size)), first)
        ratios = constraints.blocks(constraints.over_all(ratio, 1.0), first)
        self._roots, self._halves = np.empty((len(own), len(own), len(own))), np.empty((len(own), len(own), cells))
        for action, (root, half) in enumerate(zip(self._roots, self._halves, strict=True)):
            rows = (own - own[action]) * present[action][:, None]
            weighted = rows * each[action]
            block = weighted @ rows.T
            block[np.diag_indices_from(block)] += ratios[action]
            root[:] = inverse_root(block)
            np.matmul(root, weighted, out=half)

    @property
    def left(self) -> Vector:
        """Return the diagonal of what is left of D."""
        taken = np.moveaxis(np.einsum("abc,abc->ac", self._halves, self._halves), 0, self.first)
        left: Vector = np.maximum(self.weights - taken.ravel()[self.constraints.cells], 0.0)
        return left

    def solver(self, sums: Sums) -> Solver:
        """Return a function that solves the equations with sums of the other player's constraints."""
        if not sums.matrix.shape[0]:
            return self._solve_own
        other = self.constraints.incentives.tables[1 - self.first]
        each = own_first(self.constraints.over_game(self.weights), self.first)
        left = -(self._halves.transpose(0, 2, 1) @ self._halves)
        left[:, np.arange(len(other)), np.arange(len(other))] += each
        between = np.ascontiguousarray(left.transpose(1, 2, 0))
        size = sums.matrix.shape[0]
        gains, recommended = np.empty((size, other.shape[1])), np.empty(size, dtype=np.int64)
        matrix, start = np.empty((size, size)), 0
        for _, action, factors in sums.groups:
            place = slice(start, start := start + len(factors))
            gains[place], recommended[place] = factors @ (other - other[action]), action
            matrix[place, :start] = gains[place] @ (between[action][recommended[:start]] * gains[:start]).T
        matrix[np.diag_indices_from(matrix)] += sums.matrix.power(2) @ self.ratio
        solve_other, back = factored(matrix), csr_array(sums.matrix.T)

        def solve(right: Vector) -> Vector:
            alone = self._solve_own(right)
            y = back @ solve_other(sums.matrix @ (right - self._across(alone)))
            return y + alone - self._solve_own(self._across(y))

        return solve

    def _solve_own(self, right: Vector) -> Vector:
        full = self.constraints.over_all(np.where(self.own, right, 0.0))
        block = self.constraints.blocks(full, self.first)
        block[:] = (self._roots.transpose(0, 2, 1) @ (self._roots @ block[:, :, None]))[:, :, 0]
        return full[self.constraints.rows]

    def _across(self, y: Vector) -> Vector:
        """Return G D Gᵀ y."""
        return self.constraints.gains(self.weights * self.constraints.pressure(y))


def inverse_root(block: Matrix) -> Matrix:
    """Return a matrix R with Rᵀ R = B⁻¹ for a matrix B that is positive definite up to rounding."""
    from scipy.linalg.lapack import dpotrf, dtrtri

    diagonal = np.diag(block).copy()
    for share in SHARES:
        block[np.diag_indices_from(block)] = diagonal * (1 + share)
        root, failed = dpotrf(block.T, lower=1)
        if not failed:
            inverse: Matrix = dtrtri(root, lower=1)[0]
            return inverse
    raise ArithmeticError("the Newton equations are singular: the program was not solved")


def factored(matrix: Matrix) -> Solver:
    """Factor a matrix that is positive definite up to rounding, given its lower triangle; return its solver."""
    if not matrix.size:
        return lambda right: right
    from scipy.linalg.blas import dtrsv  # not every command solves large programs
    from scipy.linalg.lapack import dpotrf

    diagonal = np.diag(matrix).copy()
    for share in SHARES:
        matrix[np.diag_indices_from(matrix)] = diagonal * (1 + share)
        root, failed = dpotrf(matrix.T, lower=0, clean=0)
        if not failed:
            return lambda right: dtrsv(root, dtrsv(root, right, trans=1))
    raise ArithmeticError("the Newton equations are singular: the program was not solved")
