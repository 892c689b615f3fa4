"""Linear programs over the equilibria of a game, by an interior-point method that never builds the whole system.

The program minimises cost · added - Σ kept over joint distributions q = kept + added ≥ 0 with incentive constraints
G q ≤ 0, where kept ≤ `held`. Without `held` it is the optimum of a linear function over the equilibria; with cost 0 and
a joint distribution as `held`, the minimum is the distance from it in total variation, less 1.

Newton's equations have one unknown per action profile and one per constraint,

    dq/D + Gᵀ dy + level = a,    G dq - (S/Y) dy = b,    Σ dq = c

with D = diag(q / w). Constraints that hardly matter (D and Y/S are small there) are eliminated, and approximated by a
diagonal. The system that remains is factored by one unknown per constraint that matters, G D Gᵀ + S/Y. For the CE of
two players, whose constraints fall into one block per recommended action, those of one player are eliminated block by
block, so that only the other one's are left. Projected conjugate gradients (Gould, Hribar and Nocedal 2001) correct the
approximation; a step of theirs takes a few products of matrices as large as the payoff tables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector
from gamesim.measure.elimination import own_first
from gamesim.measure.incentives import Incentives

Matrix = NDArray[np.float64]
Solver = Callable[[Vector], Vector]
MOST_STEPS = 100  # about 25 are usual
PATIENCE = 12  # steps without better bounds, after which only rounding errors are left
STRONG = 10.0  # ratio of the two parts of a diagonal entry from which a constraint joins the factored system
MOST_FACTORED = 4500  # unknowns of the largest system that is factored
MOST_PRODUCTS = 100  # conjugate gradient steps
WORSE = 100.0  # ratio of two sizes of the error from which it is only rounding
SHARES = (1e-15, 1e-13, 1e-11, 1e-9, 1e-7)  # of a matrix's diagonal that are added until it can be factored
PREDICTOR, CORRECTOR, LAST = 1e-2, 1e-3, 1e-6  # relative errors of the solutions of Newton's equations
CENTRING = 4  # steps in which an equilibrium is looked for at which no constraint is tight; two are usual
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

    @cached_property
    def inside(self) -> Vector | None:
        """Return an equilibrium at which no constraint is tight, near the centre of the set; None if none is found."""
        program = Program(self, np.zeros(self.cells.size))
        for _ in range(CENTRING):
            if not program.step(CORRECTOR):
                return None
            if self.gains(program.q).max(initial=-np.inf) < 0:
                return program.q
        return None

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

    def columns(self, y: Vector) -> Vector:
        """Return the diagonal of Gᵀ Y G for a diagonal matrix Y, up to rounding."""
        total, sizes = np.zeros(self.incentives.game.sizes), self.incentives.game.sizes
        parts = np.split(self.over_all(y), self.incentives.starts[1:-1])
        for i, (table, part) in enumerate(zip(self.incentives.tables, parts, strict=True)):
            weights, squared = part.reshape(-1, len(table)), table * table
            found = weights @ squared - 2 * (weights @ table) * table + weights.sum(axis=1)[:, None] * squared
            total += np.moveaxis(found.reshape(sizes[i], *sizes[:i], *sizes[i + 1 :]), 0, i)
        columns: Vector = np.maximum(total.ravel()[self.cells], 0.0)
        return columns

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

    def __init__(
        self, constraints: Constraints, cost: Vector, held: Vector | None = None, start: Vector | None = None
    ) -> None:
        """Start from an equilibrium at which no constraint is tight, if there is one, and stay inside from then on."""
        self.constraints = constraints
        count = constraints.cells.size
        self.holding = np.zeros(0, dtype=np.int64) if held is None else np.flatnonzero(held > TINY)
        self.cells = np.concatenate([self.holding, np.arange(count)])
        self.cost = np.concatenate([np.full(self.holding.size, -1.0), cost])
        self.upper = np.zeros(0) if held is None else held[self.holding]
        self.at = self._start() if start is None else self._inside(start)

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

    def _inside(self, q: Vector) -> Point:
        """Return a point whose amounts sum to an equilibrium at which no constraint is tight."""
        own = q[self.holding]
        kept = own * self.upper / (own + self.upper)
        amounts = np.concatenate([kept, q])
        amounts[self.upper.size + self.holding] -= kept
        each, slacks, room = 1 / q.size, -self.constraints.gains(q), self.upper - kept
        return Point(amounts, room, each / amounts, each / room, slacks, each / slacks, 0.0)

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

    def step(self, accuracy: float, deadline: float = np.inf) -> bool:
        """Move to the next point and return whether there is one, or only rounding errors are left."""
        with np.errstate(all="ignore"):
            try:
                at = self._next(accuracy, deadline)
            except ArithmeticError:
                return False
        if not np.isfinite(at.amounts).all() or not np.isfinite(at.y).all():
            return False
        self.at = at
        return True

    def _next(self, accuracy: float, deadline: float) -> Point:
        """Return the next point: a step towards products of 0 shows how far they can fall, then comes the real one."""
        at, most = self.at, self.upper.size
        inverse = at.low / at.amounts
        inverse[:most] += at.high / at.room
        each = 1 / inverse
        weights, q = self.total(each), self.total(at.amounts)
        missed, missing = self.constraints.gains(q) + at.slacks, 1 - float(q.sum())
        pressure = self.constraints.pressure(at.y) + at.level
        equations = Equations(self.constraints, weights, at.slacks / at.y)

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
        return Point(
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
            if not self.step(CORRECTOR if upper - lower > NEAR else LAST, deadline):
                return

    def _longest(self, d: Vector, dl: Vector, dh: Vector, ds: Vector, dy: Vector) -> tuple[float, float]:
        """Return the longest steps, at most 1, for which amounts and slacks, and multipliers, stay positive."""
        at, most = self.at, self.upper.size
        primal = _longest((at.amounts, d), (at.room, -d[:most]), (at.slacks, ds))
        return primal, _longest((at.low, dl), (at.high, dh), (at.y, dy))


class Equations:
    """Solve Newton's equations, given the diagonals of D and S/Y.

    All vectors hold the change of q, then that of the multipliers of strong constraints, then that of the level.
    """

    def __init__(self, constraints: Constraints, weights: Vector, ratio: Vector) -> None:
        """Choose the strong constraints and factor their equations, with the others as a diagonal."""
        self.constraints, self.weights, self.ratio = constraints, weights, ratio
        incentives, player = constraints.incentives, constraints.places[0]
        strength = constraints.squares(weights) / ratio
        strong = strength > (0.0 if incentives.kind == "cce" else STRONG)
        first = None
        if incentives.kind == "ce" and len(incentives.game.sizes) == 2:
            first = int(2 * player[strong].sum() > strong.sum())  # the player with more strong constraints
        listed = strong if first is None else strong & (player != first)
        if listed.sum() > MOST_FACTORED:
            strong &= strength >= np.partition(strength[listed], -MOST_FACTORED)[-MOST_FACTORED]
        if first is not None:
            strong |= player == first
        self._strong = strong
        self._reduced = 1 / (1 / weights + constraints.columns(np.where(strong, 0.0, 1 / ratio)))
        self._solve = (
            together(constraints, self._reduced, ratio, strong)
            if first is None
            else ByBlocks(constraints, self._reduced, ratio, strong, first).solve
        )
        self._ends = np.where(strong, constraints.gains(self._reduced), 0.0)
        self._even = self._solve(self._ends)
        self._room = float(self._reduced.sum() - self._ends @ self._even)

    def _project(self, right: Vector) -> Vector:
        """Solve the equations with the weak constraints as a diagonal."""
        a, b, c = self._parts(right)
        alone = self._reduced * a
        y = self._solve(np.where(self._strong, self.constraints.gains(alone) - b, 0.0))
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


def together(constraints: Constraints, weights: Vector, ratio: Vector, strong: NDArray[np.bool_]) -> Solver:
    """Return a function that solves (G D Gᵀ + S/Y) y = r for the strong constraints at once."""
    chosen = np.flatnonzero(strong)
    matrix = constraints.products(weights, chosen)
    matrix[np.diag_indices_from(matrix)] += ratio[chosen]
    solve = factored(matrix)

    def solve_strong(right: Vector) -> Vector:
        y = np.zeros(right.size)
        y[chosen] = solve(right[chosen])
        return y

    return solve_strong


class ByBlocks:
    """Solve (G D Gᵀ + S/Y) y = r for all constraints of one player of two, and the strong ones of the other.

    The equations of the first one fall into one block per recommended action; what they leave of D for the other one,
    D - D Gᵀ (G D Gᵀ + S/Y)⁻¹ G D, has a block of cells for each.
    """

    def __init__(
        self, constraints: Constraints, weights: Vector, ratio: Vector, strong: NDArray[np.bool_], first: int
    ) -> None:
        incentives, self.constraints, self.first = constraints.incentives, constraints, first
        self.weights, self.own = weights, constraints.places[0] == first
        own, other = incentives.tables[first], incentives.tables[1 - first]
        each, actions = own_first(constraints.over_game(weights), first), np.arange(len(own))
        present = self._blocks(constraints.over_all(np.ones(ratio.size)))
        rows = (own - own[:, None]) * present[:, :, None]
        weighted = rows * each[:, None]
        blocks = weighted @ rows.transpose(0, 2, 1)
        blocks[:, actions, actions] += self._blocks(constraints.over_all(ratio, 1.0))
        self._roots = inverse_roots(blocks)
        roots = self._roots @ weighted
        kept = -(roots.transpose(0, 2, 1) @ roots)
        kept[:, np.arange(len(other)), np.arange(len(other))] += each
        between = np.ascontiguousarray(kept.transpose(1, 2, 0))
        self._chosen = np.flatnonzero(strong & ~self.own)
        recommended, to = (place[self._chosen] for place in constraints.places[1:])
        gains, matrix = other[to] - other[recommended], np.empty((to.size, to.size))
        starts = np.flatnonzero(np.diff(recommended, prepend=-1))
        for start, end in zip(starts, [*starts, to.size][1:], strict=True):
            theirs = between[recommended[start]][recommended[:end]] * gains[:end]
            matrix[start:end, :end] = gains[start:end] @ theirs.T
        matrix[np.diag_indices_from(matrix)] += ratio[self._chosen]
        self._solve_other = factored(matrix)

    def _blocks(self, y: Vector) -> Matrix:
        """Return numbers per constraint of the first player, of all, by recommended action."""
        starts, size = self.constraints.incentives.starts, self.constraints.incentives.game.sizes[self.first]
        return y[starts[self.first] : starts[self.first + 1]].reshape(size, size)

    def _solve_own(self, right: Vector) -> Vector:
        full = self.constraints.over_all(np.where(self.own, right, 0.0))
        block = self._blocks(full)
        block[:] = (self._roots.transpose(0, 2, 1) @ (self._roots @ block[:, :, None]))[:, :, 0]
        return full[self.constraints.rows]

    def _across(self, y: Vector) -> Vector:
        """Return G D Gᵀ y."""
        return self.constraints.gains(self.weights * self.constraints.pressure(y))

    def solve(self, right: Vector) -> Vector:
        """Return y, which is 0 for weak constraints."""
        alone = self._solve_own(right)
        y = np.zeros(right.size)
        y[self._chosen] = self._solve_other((right - self._across(alone))[self._chosen])
        return y + alone - self._solve_own(self._across(y))


def inverse_roots(blocks: Matrix) -> Matrix:
    """Return a matrix R with Rᵀ R = B⁻¹ for each of some matrices B that are positive definite up to rounding."""
    diagonal = np.arange(blocks.shape[1])
    scale = 1 / np.sqrt(blocks[:, diagonal, diagonal])
    blocks = blocks * scale[:, :, None] * scale[:, None, :]
    for share in SHARES:
        blocks[:, diagonal, diagonal] = 1 + share
        try:
            roots = np.linalg.cholesky(blocks)
        except np.linalg.LinAlgError:
            continue
        inverse: Matrix = np.linalg.inv(roots.transpose(0, 2, 1)).transpose(0, 2, 1) * scale[:, None, :]
        return inverse
    raise ArithmeticError("the Newton equations are singular: the program was not solved")


def _longest(*moves: tuple[Vector, Vector]) -> float:
    """Return the longest step, at most 1, for which all entries stay positive."""
    falls = [(-value[step < 0] / step[step < 0]).min(initial=1.0) for value, step in moves]
    return float(min(falls))


def factored(matrix: Matrix) -> Solver:
    """Factor a matrix that is positive definite up to rounding, and return a function that solves its equations."""
    if not matrix.size:
        return lambda right: right
    from scipy.linalg import LinAlgError, cholesky  # not every command solves large programs
    from scipy.linalg.blas import dtrsv

    scale = 1 / np.sqrt(np.diag(matrix))
    matrix *= scale
    matrix *= scale[:, None]
    for share in SHARES:
        matrix[np.diag_indices_from(matrix)] = 1 + share
        try:
            root = cholesky(matrix, lower=True, check_finite=False)
        except LinAlgError:
            continue
        return lambda right: scale * dtrsv(root, dtrsv(root, scale * right, lower=1), lower=1, trans=1)
    raise ArithmeticError("the Newton equations are singular: the program was not solved")
