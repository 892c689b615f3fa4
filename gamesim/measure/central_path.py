"""Linear programs over the equilibria of a game, by an interior-point method that never builds the whole system.

The program minimises cost · added - Σ kept over joint distributions q = kept + added ≥ 0 with incentive constraints
G q ≤ 0, where kept ≤ `held`. Without `held` it is the optimum of a linear function over the equilibria; with cost 0 and
a joint distribution as `held`, the minimum is the distance from it in total variation, less 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic

import numpy as np

from gamesim.engine.compiled import Vector
from gamesim.measure.constraint_products import Constraints
from gamesim.measure.newton import Equations

MOST_STEPS = 100  # about 25 are usual
PATIENCE = 12  # steps without better bounds, after which only rounding errors are left
PREDICTOR, CORRECTOR, LAST = 1e-2, 1e-3, 1e-6  # relative errors of the solutions of Newton's equations
CENTRING = 4  # steps in which an equilibrium is looked for at which no constraint is tight; two are usual
NEAR = 1e-4  # difference of the bounds from which the last accuracy is needed
TINY = 1e-15  # probability that counts as 0
SHORTER = 0.995  # share of the step to the boundary that is taken


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
        primal, dual = (SHORTER * length for length in self._longest(d, dl, dh, ds, dy))
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


@lru_cache(maxsize=4)  # both ends of a range, and the checkpoints of a run, start there
def inside(constraints: Constraints) -> Vector | None:
    """Return an equilibrium at which no constraint is tight, near the centre of the set; None if none is found."""
    program = Program(constraints, np.zeros(constraints.cells.size))
    for _ in range(CENTRING):
        if not program.step(CORRECTOR):
            return None
        if constraints.gains(program.q).max(initial=-np.inf) < 0:
            return program.q
    return None


def _longest(*moves: tuple[Vector, Vector]) -> float:
    """Return the longest step, at most 1, for which all entries stay positive."""
    falls = [(-value[step < 0] / step[step < 0]).min(initial=1.0) for value, step in moves]
    return float(min(falls))
