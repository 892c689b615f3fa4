"""Linear programs over the equilibria of a game, by an interior-point method that never builds the whole system.

The program minimises cost · added - Σ kept over joint distributions q = kept + added ≥ 0 with incentive constraints
G q ≤ 0, where kept ≤ `held`. Without `held` it is the optimum of a linear function over the equilibria; with cost 0 and
a joint distribution as `held`, the minimum is the distance from it in total variation, less 1.

Newton's equations reduce to one symmetric system with one unknown per incentive constraint,

    (G D Gᵀ + S/Y) dy = r,    D = diag(q / w) up to the condition Σ q = 1

Multiplying by it takes a few products of matrices as large as the payoff tables, so conjugate gradients solve it. They
are preconditioned by the part that matters: near the solution few constraints bind. If many do, the equivalent
system with one unknown per action profile is factored instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from gamesim.engine.compiled import Integers, Vector
from gamesim.measure.elimination import own_first
from gamesim.measure.incentives import Incentives

Matrix = NDArray[np.float64]
Solver = Callable[[Vector], Vector]
MOST_STEPS = 100  # about 25 are usual
PATIENCE = 12  # steps without better bounds, after which only rounding errors are left
STRONG = 10.0  # ratio of the two parts of a diagonal entry from which a constraint joins the factored system
MOST_FACTORED = 4500  # unknowns of the largest system that is factored
CELLS_PER_CONSTRAINT = 3  # cells per strong constraint up to which the system of cells is faster (measured)
BLOCK_ENTRIES = 2**26  # entries of all blocks up to which they precondition the weak constraints
MOST_PRODUCTS = 400  # conjugate gradient steps
PREDICTOR, CORRECTOR, LAST = 1e-3, 1e-6, 1e-9  # relative errors of the solutions of Newton's equations
NEAR = 1e-4  # difference of the bounds from which the last accuracy is needed
TINY = 1e-15  # probability that counts as 0
SHORTER = 0.995  # share of the step to the boundary that is taken


@dataclass(frozen=True, eq=False)
class Constraints:
    """Multiply by the incentive constraints G on the live profiles, without those that are empty there."""

    incentives: Incentives

    @cached_property
    def cells(self) -> Integers:
        """Return the live profiles."""
        return np.flatnonzero(self.incentives.live)

    @cached_property
    def rows(self) -> Integers:
        """Return the constraints that are not empty."""
        proper = self.incentives.proper
        return proper[self._squares(np.ones(self.cells.size))[proper] > 0]

    @cached_property
    def places(self) -> tuple[Integers, Integers, Integers]:
        """Return the player, the recommended action (0 for a CCE) and the deviation of each constraint."""
        starts, sizes = self.incentives.starts, np.array(self.incentives.game.sizes)
        player = np.searchsorted(starts, self.rows, side="right") - 1
        recommended, to = np.divmod(self.rows - starts[player], sizes[player])
        return player, recommended, to

    def over_game(self, q: Vector) -> Matrix:
        """Return numbers per live profile as an array of the game's shape."""
        full = np.zeros(self.incentives.live.size)
        full[self.cells] = q
        return full.reshape(self.incentives.game.sizes)

    def over_all(self, y: Vector, other: float = 0.0) -> Vector:
        """Return numbers per constraint for all constraints, also empty ones."""
        full = np.full(self.incentives.starts[-1], other)
        full[self.rows] = y
        return full

    def gains(self, q: Vector) -> Vector:
        """Return G q."""
        return self.incentives.gains(self.over_game(q))[self.rows]

    def pressure(self, y: Vector) -> Vector:
        """Return Gᵀ y."""
        return self.incentives.weighted(self.over_all(y)).ravel()[self.cells]

    def squares(self, weights: Vector) -> Vector:
        """Return the diagonal of G D Gᵀ for a diagonal matrix D, up to rounding."""
        return self._squares(weights)[self.rows]

    def _squares(self, weights: Vector) -> Vector:
        parts = []
        for i, table in enumerate(self.incentives.tables):
            own = own_first(self.over_game(weights), i)
            squared = table * table
            found = own @ squared.T - 2 * (own * table) @ table.T + (own * squared).sum(axis=1)[:, None]
            parts.append(found.ravel() if self.incentives.kind == "ce" else found.sum(axis=0))
        found_all: Vector = np.maximum(np.concatenate(parts), 0.0)
        return found_all

    def products(self, weights: Vector, chosen: Integers) -> Matrix:
        """Return G D Gᵀ for some constraints, given the diagonal of D."""
        if not chosen.size:
            return np.zeros((0, 0))
        form = self._correlated_products if self.incentives.kind == "ce" else self._coarse_products
        return form(self.over_game(weights), chosen)

    def _coarse_products(self, weights: Matrix, chosen: Integers) -> Matrix:
        """Add the products up over the actions of the first player."""
        player, _, to = (place[chosen] for place in self.places)
        payoffs = [
            np.moveaxis(t.reshape(np.moveaxis(weights, i, 0).shape), 0, i) for i, t in enumerate(self.incentives.tables)
        ]
        matrix = np.zeros((chosen.size, chosen.size))
        for action, share in enumerate(weights):
            rows = [payoffs[0][to[player == 0]] - payoffs[0][action]]
            for i, table in enumerate(payoffs[1:], 1):
                own = np.moveaxis(table[action], i - 1, 0)
                deviating = np.expand_dims(own[to[player == i]], i)  # the same for all of the player's actions
                rows.append(deviating - table[action])
            flat = np.concatenate([row.reshape(len(row), share.size) for row in rows])
            matrix += (flat * share.ravel()) @ flat.T
        return matrix

    def _correlated_products(self, weights: Matrix, chosen: Integers) -> Matrix:
        """Fill the matrix block by block: a block has the constraints of two recommended actions."""
        player, recommended, to = (place[chosen] for place in self.places)
        sizes, matrix = weights.shape, np.zeros((chosen.size, chosen.size))
        first = np.flatnonzero(np.diff(player * max(sizes) + recommended, prepend=-1))
        groups: list[list[tuple[slice, int, Matrix, Matrix]]] = [[] for _ in sizes]
        for start, end in zip(first, [*first[1:], chosen.size], strict=True):
            i, action, place = int(player[start]), int(recommended[start]), slice(start, end)
            rows = self.incentives.tables[i][to[place]] - self.incentives.tables[i][action]
            weighted = rows * own_first(weights, i)[action]
            matrix[place, place] = weighted @ rows.T
            shape = (len(rows), *sizes[:i], *sizes[i + 1 :])
            groups[i].append((place, action, rows.reshape(shape), weighted.reshape(shape)))
        for i, own in enumerate(groups):
            for j in range(i + 1, len(groups)):
                others = [(place, a, np.moveaxis(rows, i + 1, 0)) for place, a, rows, _ in groups[j]]
                for place, action, _, weighted in own:
                    mine = np.moveaxis(weighted, j, 0)
                    for other, theirs, rows in others:
                        left, right = mine[theirs], rows[action]
                        block = left.reshape(len(left), -1) @ right.reshape(len(right), -1).T
                        matrix[place, other], matrix[other, place] = block, block.T
        return matrix

    def cell_products(self, weights: Vector) -> Matrix:
        """Return Gᵀ W G for the CE of two players, given the diagonal of W."""
        first, second = self.incentives.game.sizes
        matrix = np.zeros((first, second, first, second))
        for i, (table, w) in enumerate(
            zip(self.incentives.tables, np.split(self.over_all(weights), self.incentives.starts[1:-1]), strict=True)
        ):
            for action, share in enumerate(w.reshape(len(table), -1)):
                rows = table - table[action]
                part = (rows * share[:, None]).T @ rows
                place = matrix[action, :, action, :] if i == 0 else matrix[:, action, :, action]
                place += part
        square = matrix.reshape(first * second, -1)
        return square if self.cells.size == len(square) else square[np.ix_(self.cells, self.cells)]

    def blocks(self, weights: Vector, added: Vector, left: NDArray[np.bool_]) -> list[Matrix]:
        """Return the inverses of the blocks of G D Gᵀ + diag(added) with one recommended action, without others."""
        starts, inverses = self.incentives.starts, list[Matrix]()
        keep, diagonal = self.over_all(left.astype(np.float64)), self.over_all(np.where(left, added, 1.0), 1.0)
        for i, table in enumerate(self.incentives.tables):
            own, size = own_first(self.over_game(weights), i), len(table)
            part = slice(starts[i], starts[i + 1])
            block = np.empty((size, size, size))
            for action, kept in enumerate(keep[part].reshape(size, size)):
                rows = (table - table[action]) * kept[:, None]
                block[action] = (rows * own[action]) @ rows.T
            block[:, np.arange(size), np.arange(size)] += diagonal[part].reshape(size, size)
            inverses.append(np.asarray(np.linalg.inv(block), dtype=np.float64))
        return inverses

    def times(self, blocks: list[Matrix], y: Vector) -> Vector:
        """Return the product of the block-diagonal matrix and a vector."""
        parts = np.split(self.over_all(y), self.incentives.starts[1:-1])
        return np.concatenate([(m @ v.reshape(len(m), -1, 1)).ravel() for m, v in zip(blocks, parts, strict=True)])[
            self.rows
        ]


@dataclass(frozen=True, eq=False)
class Point:
    """Hold a point of the path: amounts and room below their upper bounds, slacks, and the multipliers of each."""

    amounts: Vector
    room: Vector
    low: Vector
    high: Vector
    slacks: Vector
    y: Vector
    level: float  # the multiplier of Σ q = 1


class Program:
    """Follow the central path (Mehrotra 1992) of one program; each call of `step` moves to its next point.

    The amounts are kept on `holding`, which have the upper bounds `held`, and added on all live profiles.
    """

    def __init__(self, constraints: Constraints, cost: Vector, held: Vector | None = None) -> None:
        self.constraints = constraints
        count = constraints.cells.size
        self.holding = np.zeros(0, dtype=np.int64) if held is None else np.flatnonzero(held > TINY)
        self.cells = np.concatenate([self.holding, np.arange(count)])
        self.cost = np.concatenate([np.full(self.holding.size, -1.0), cost])
        self.upper = np.zeros(0) if held is None else held[self.holding]
        self.at = self._start()

    def _start(self) -> Point:
        """Return a point at which all products of a bound's distance and its multiplier are equal."""
        count = self.constraints.cells.size
        kept = self.upper / 2
        amounts = np.concatenate([kept, np.full(count, (1 - kept.sum()) / count)])
        sizes = np.array(self.constraints.incentives.game.sizes)[self.constraints.places[0]]
        share = 1 / sizes if self.constraints.incentives.kind == "ce" else np.ones(sizes.size)
        typical = np.sqrt(share * self.constraints.squares(np.full(count, 1 / count)))
        slacks = np.maximum(-self.constraints.gains(self.total(amounts)), np.maximum(typical / 2, TINY))
        return Point(amounts, kept, 1 / count / amounts, 1 / count / kept, slacks, 1 / count / slacks, 0.0)

    def total(self, amounts: Vector) -> Vector:
        """Return the sum of the amounts per live profile."""
        return np.bincount(self.cells, amounts, self.constraints.cells.size).astype(np.float64)

    @property
    def q(self) -> Vector:
        """Return the joint distribution over the live profiles."""
        q = self.total(self.at.amounts)
        joint: Vector = q / q.sum()
        return joint

    @property
    def centrality(self) -> float:
        """Return the mean product of a bound's distance and its multiplier."""
        at = self.at
        products = at.amounts @ at.low + at.room @ at.high + at.slacks @ at.y
        return float(products / (at.amounts.size + at.room.size + at.y.size))

    def step(self, accuracy: float, deadline: float = np.inf) -> None:
        """Move to the next point: a step towards products of 0 shows how far they can fall, then comes the real one."""
        at, most = self.at, self.upper.size
        inverse = at.low / at.amounts
        inverse[:most] += at.high / at.room
        each = 1 / inverse
        weights, q = self.total(each), self.total(at.amounts)
        missed, missing = self.constraints.gains(q) + at.slacks, 1 - float(q.sum())
        pressure = self.constraints.pressure(at.y) + at.level
        equations = self._equations(weights, at.slacks / at.y)

        def direction(
            error: float, low: Vector, high: Vector, slack: Vector
        ) -> tuple[Vector, Vector, Vector, Vector, Vector, float]:
            """Step towards these products."""
            slope = self.cost + pressure[self.cells] - low / at.amounts
            slope[:most] += high / at.room
            alone, ahead = self.total(each * slope), missed + slack / at.y - at.slacks
            dy, moved, level = equations.solve(alone, ahead, missing, error, deadline)
            step = -each * (slope + moved[self.cells])
            return (
                step,
                (low - at.low * step) / at.amounts - at.low,
                (high + at.high * step[:most]) / at.room - at.high,
                (slack - at.slacks * dy) / at.y - at.slacks,
                dy,
                level,
            )

        zero = np.zeros
        d, dl, dh, ds, dy, _ = direction(PREDICTOR, zero(at.amounts.size), zero(most), zero(at.y.size))
        primal, dual = self._longest(d, dl, dh, ds, dy)
        before = self.centrality
        after = (at.amounts + primal * d) @ (at.low + dual * dl) + (at.slacks + primal * ds) @ (at.y + dual * dy)
        after += (at.room - primal * d[:most]) @ (at.high + dual * dh)
        target = (after / (before * (at.amounts.size + most + at.y.size))) ** 3 * before
        d, dl, dh, ds, dy, level = direction(accuracy, target - d * dl, target + d[:most] * dh, target - ds * dy)
        primal, dual = (min(1.0, SHORTER * length) for length in self._longest(d, dl, dh, ds, dy))
        self.at = Point(
            at.amounts + primal * d,
            at.room - primal * d[:most],
            at.low + dual * dl,
            at.high + dual * dh,
            at.slacks + primal * ds,
            at.y + dual * dy,
            at.level + dual * level,
        )

    def follow(self, prove: Callable[[Vector, Vector], tuple[float, float]], enough: float, deadline: float) -> None:
        """Move along the path until the bounds that `prove` derives from q and the multipliers differ by `enough`.

        Stop before if the deadline, a time of `monotonic`, is reached, or only rounding errors are left.
        """
        least, since = np.inf, 0
        for _ in range(MOST_STEPS):
            lower, upper = prove(self.q, self.constraints.over_all(self.at.y))
            since = 0 if not least <= upper - lower < np.inf else since + 1
            least = min(least, upper - lower)
            if upper - lower <= enough or since == PATIENCE or monotonic() > deadline:
                return
            with np.errstate(all="ignore"):
                self.step(CORRECTOR if upper - lower > NEAR else LAST, deadline)
            if not np.isfinite(self.at.amounts).all() or not np.isfinite(self.at.y).all():
                return

    def _longest(self, d: Vector, dl: Vector, dh: Vector, ds: Vector, dy: Vector) -> tuple[float, float]:
        """Return the longest steps, at most 1, for which amounts and slacks, and multipliers, stay positive."""
        at, most = self.at, self.upper.size
        primal = _longest((at.amounts, d), (at.room, -d[:most]), (at.slacks, ds))
        return primal, _longest((at.low, dl), (at.high, dh), (at.y, dy))

    def _equations(self, weights: Vector, ratio: Vector) -> "ByCells | ByConstraints":
        """Return Newton's equations in the form that is faster to solve."""
        constraints = self.constraints
        strength = constraints.squares(weights) / ratio
        coarse, players = constraints.incentives.kind == "cce", len(constraints.incentives.game.sizes)
        strong = np.flatnonzero(strength > (0.0 if coarse else STRONG))
        few_cells = weights.size <= MOST_FACTORED and players == 2 and not coarse
        if few_cells and strong.size * CELLS_PER_CONSTRAINT > weights.size:
            return ByCells(constraints, weights, ratio)
        if strong.size > MOST_FACTORED:
            strong = np.sort(np.argpartition(-strength, MOST_FACTORED)[:MOST_FACTORED])
        return ByConstraints(constraints, weights, ratio, strong)


class ByCells:
    """Solve Newton's equations for the change of q: dq/D + Gᵀ (Y/S) (ahead + G dq) + level = -alone/D."""

    def __init__(self, constraints: Constraints, weights: Vector, ratio: Vector) -> None:
        self.constraints, self.weights, self.ratio = constraints, weights, ratio
        matrix = constraints.cell_products(1 / ratio)
        matrix[np.diag_indices_from(matrix)] += 1 / weights
        matrix += np.median(np.diag(matrix))  # does not matter if the sum is 0, and makes other sums expensive
        self._solve = factored(matrix)
        even = self._solve(np.ones(weights.size))
        self._even = even / even.sum()

    def _product(self, dq: Vector) -> Vector:
        return dq / self.weights + self.constraints.pressure(self.constraints.gains(dq) / self.ratio)

    def _centred(self, dq: Vector) -> Vector:
        """Multiply, and leave out what only changes the level."""
        found = self._product(dq)
        centred: Vector = found - found.mean()
        return centred

    def _balanced(self, right: Vector) -> Vector:
        """Solve with the sum 0."""
        t = self._solve(right)
        balanced: Vector = t - t.sum() * self._even
        return balanced

    def solve(
        self, alone: Vector, ahead: Vector, missing: float, error: float, deadline: float
    ) -> tuple[Vector, Vector, float]:
        """Return the changes of the multipliers, of the slope of every cell, and of the level."""
        start = missing * self._even
        right = -alone / self.weights - self.constraints.pressure(ahead / self.ratio) - self._product(start)
        dq = conjugate_gradients(self._centred, self._balanced, right - right.mean(), error, deadline)
        level = float((right - self._product(dq)).mean())
        dq += start
        return (ahead + self.constraints.gains(dq)) / self.ratio, -(dq + alone) / self.weights, level


class ByConstraints:
    """Solve Newton's equations for dy: (G D Gᵀ + S/Y) dy = ahead - G alone, up to the condition on Σ q."""

    def __init__(self, constraints: Constraints, weights: Vector, ratio: Vector, strong: Integers) -> None:
        """Factor the equations of the strong constraints, and blocks of the others with one recommended action."""
        self.constraints, self.weights, self.ratio, self.strong = constraints, weights, ratio, strong
        matrix = constraints.products(weights, strong)
        ends = constraints.gains(weights)[strong]
        matrix -= np.outer(ends, ends / weights.sum())
        matrix[np.diag_indices_from(matrix)] += ratio[strong]
        self._solve = factored(matrix)
        self._weak = np.ones(ratio.size, dtype=bool)
        self._weak[strong] = False
        self._diagonal = constraints.squares(weights) + ratio
        self._blocks = None
        if self._weak.any() and sum(size**3 for size in constraints.incentives.game.sizes) <= BLOCK_ENTRIES:
            self._blocks = constraints.blocks(weights, ratio, self._weak)

    def _product(self, dy: Vector) -> Vector:
        slope = self.constraints.pressure(dy)
        even = self.weights @ slope / self.weights.sum()
        return self.ratio * dy + self.constraints.gains(self.weights * (slope - even))

    def _precondition(self, right: Vector) -> Vector:
        if self._blocks is None:
            y = right / self._diagonal
        else:
            y = self.constraints.times(self._blocks, np.where(self._weak, right, 0.0))
        y[self.strong] = self._solve(right[self.strong])
        return y

    def solve(
        self, alone: Vector, ahead: Vector, missing: float, error: float, deadline: float
    ) -> tuple[Vector, Vector, float]:
        """Return the changes of the multipliers, of the slope of every cell, and of the level."""
        whole = self.weights.sum()
        shift = (missing + alone.sum()) / whole
        right = ahead + self.constraints.gains(shift * self.weights - alone)
        dy = conjugate_gradients(self._product, self._precondition, right, error, deadline)
        moved = self.constraints.pressure(dy)
        level = -shift - float(self.weights @ moved / whole)
        return dy, moved + level, level


def _longest(*moves: tuple[Vector, Vector]) -> float:
    """Return the longest step, at most 1, for which all entries stay positive."""
    falls = [(-value[step < 0] / step[step < 0]).min(initial=1.0) for value, step in moves]
    return float(min(falls))


def conjugate_gradients(product: Solver, precondition: Solver, right: Vector, error: float, deadline: float) -> Vector:
    """Solve a symmetric positive definite system up to a relative error, in the norm of the preconditioner."""
    found, left = np.zeros(right.size), right
    ahead = better = precondition(left)
    size = first = float(left @ better)
    for _ in range(MOST_PRODUCTS):
        image = product(ahead)
        curvature = float(ahead @ image)
        if not curvature > 0:
            break
        found = found + size / curvature * ahead
        left = left - size / curvature * image
        better = precondition(left)
        size, before = float(left @ better), size
        if not size > error**2 * first or monotonic() > deadline:
            break
        ahead = better + size / before * ahead
    return found


def factored(matrix: Matrix) -> Solver:
    """Factor a matrix that is positive definite up to rounding, and return a function that solves its equations."""
    if not matrix.size:
        return lambda right: right
    scale = 1 / np.sqrt(np.diag(matrix))
    matrix *= scale
    matrix *= scale[:, None]
    for share in (1e-15, 1e-13, 1e-11, 1e-9, 1e-7):
        matrix[np.diag_indices_from(matrix)] = 1 + share
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            continue
        return lambda right: scale * cho_solve(factor, scale * right, check_finite=False)
    raise ArithmeticError("the Newton equations are singular: the program was not solved")
