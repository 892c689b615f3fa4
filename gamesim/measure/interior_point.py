"""Minimise a convex separable function over a set of equilibria, with a proof of optimality.

A set of equilibria may have no interior: some probabilities are 0, and some constraints tight, in all of them. The
program is solved on the support that remains, with equations for those constraints, so that it has a strictly feasible
point and finite multipliers.

Each of the two functions has a conjugate on the simplex, which turns any multipliers y (≥ 0 for inequalities) into a
lower bound: the minimum over the set is at least the minimum over the simplex of the function plus y · gains. A
solution is returned only if its value equals such a bound up to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Vector
from gamesim.measure.incentives import VIOLATED, Incentives
from gamesim.measure.linear_programs import SECONDS, TOO_SLOW

PROVEN_VALUE = 1e-10  # tolerance between a value and its bound
MOST_STEPS = 200  # interior-point steps; about fifteen are usual
MOST_AT_ONCE = 1000  # inequalities up to which all join the first program
ACCEPTED_PRODUCT, ACCEPTED_RESIDUAL, ACCEPTED_SLOPE = 1e-20, 1e-14, 1e-11
NEAR_THE_END, PATIENCE = 1e-16, 10  # at this mean product, 10 steps without progress leave only rounding errors


class Sum(Protocol):
    """Define a sum over action profiles of a convex function of the probability."""

    def value(self, q: Vector) -> float:
        """Return the sum."""

    def slopes(self, q: Vector) -> tuple[Vector, Vector]:
        """Return the first and second derivative for each action profile."""

    def bound(self, pressure: Vector) -> float:
        """Return the minimum of the sum plus pressure · q over all distributions q."""

    def on(self, support: NDArray[np.bool_]) -> "Sum":
        """Return the sum over some of the action profiles."""


@dataclass(frozen=True, eq=False)
class HalfSquares:
    """Compute half the squared Euclidean distance to a point."""

    centre: Vector

    def value(self, q: Vector) -> float:  # noqa: D102
        return 0.5 * float(np.sum((q - self.centre) ** 2))

    def slopes(self, q: Vector) -> tuple[Vector, Vector]:  # noqa: D102
        return q - self.centre, np.ones(q.size)

    def bound(self, pressure: Vector) -> float:  # noqa: D102
        nearest = on_simplex(self.centre - pressure)
        return self.value(nearest) + float(pressure @ nearest)

    def on(self, support: NDArray[np.bool_]) -> "HalfSquares":  # noqa: D102
        return HalfSquares(self.centre[support])


@dataclass(frozen=True)
class NegativeEntropy:
    """Compute Σ q ln q."""

    def value(self, q: Vector) -> float:  # noqa: D102
        held = q[q > 0]
        return float(held @ np.log(held))

    def slopes(self, q: Vector) -> tuple[Vector, Vector]:  # noqa: D102
        return np.log(q) + 1, 1 / q

    def bound(self, pressure: Vector) -> float:  # noqa: D102
        least = pressure.min()
        return float(least - np.log(np.sum(np.exp(least - pressure))))

    def on(self, support: NDArray[np.bool_]) -> "NegativeEntropy":  # noqa: D102
        return self


def on_simplex(point: Vector) -> Vector:
    """Return the joint distribution nearest to a point (Held, Wolfe and Crowder 1974).

    >>> on_simplex(np.array([0.5, 1.5, -3.0]))
    array([0., 1., 0.])
    """
    falling = -np.sort(-point)
    excess = (np.cumsum(falling) - 1) / np.arange(1, point.size + 1)
    result: Vector = np.maximum(point - excess[np.flatnonzero(falling > excess)[-1]], 0)
    return result


@dataclass(frozen=True, eq=False)
class Minimum:
    """Hold a minimiser over a set of equilibria, the minimum on their support, and a lower bound on it."""

    joint: NDArray[np.float64]
    value: float
    bound: float


def minimise_sum(incentives: Incentives, total: Sum) -> Minimum:
    """Minimise a sum over the equilibria within `SECONDS` seconds; violated constraints join as they are found."""
    deadline = monotonic() + SECONDS
    interior, shape = incentives.interior(deadline), incentives.game.sizes
    support, total = interior.support, total.on(interior.support)
    joint = interior.point.reshape(shape).copy()
    if interior.dimension == 0:
        value = total.value(interior.point[support])
        return Minimum(joint, value, value)
    equations = _equations(incentives.scaled_rows(interior.tight, support), int(support.sum()) - interior.dimension)
    inequalities = np.setdiff1d(incentives.proper, interior.tight)
    chosen = inequalities
    if chosen.size > MOST_AT_ONCE:
        chosen = np.intersect1d(incentives.best(incentives.gains(joint), 2, -np.inf), inequalities)
    while True:
        end = _minimiser(incentives.scaled_rows(chosen, support), equations, total, deadline)
        joint[support.reshape(shape)] = end.q / end.q.sum()
        violated = np.setdiff1d(incentives.best(incentives.gains(joint), 5, VIOLATED), chosen)
        if not violated.size:
            break
        if not np.isin(violated, inequalities).all():
            raise ArithmeticError("an equation is violated: the program was not solved")
        chosen = np.union1d(chosen, violated)
    value, bound = total.value(joint.ravel()[support]), total.bound(end.pressure)
    if not abs(value - bound) <= PROVEN_VALUE * max(1.0, abs(value)):
        raise ArithmeticError(f"the minimum exceeds its lower bound by {value - bound:.1e}: the program was not solved")
    return Minimum(joint, value, bound)


def _equations(rows: NDArray[np.float64], rank: int) -> NDArray[np.float64]:
    """Return independent equations among these, and Σ q = 1 as the last one."""
    if rank > 1:
        from scipy.linalg import qr

        rows = rows[qr(rows.T, mode="r", pivoting=True)[-1][: rank - 1]]
    return np.vstack([rows[: rank - 1], np.ones(rows.shape[1])])


def _minimiser(
    inequalities: NDArray[np.float64], equations: NDArray[np.float64], total: Sum, deadline: float
) -> "_Iterate":
    """Follow the central path (Mehrotra 1992) to the minimiser under inequalities G q ≤ 0 and equations E q = e.

    With slacks s and multipliers y of the inequalities, λ of the equations and w of q ≥ 0, it solves::

        φ'(q) + Gᵀy + Eᵀλ = w,   Gq + s = 0,   Eq = e,   s y = q w = 0

    by Newton's method on s y = q w = μ as μ falls to 0. It stops at the rounding error.
    """
    cells, count = equations.shape[1], len(inequalities)
    uniform = np.full(cells, 1 / cells)
    slack = np.maximum(-(inequalities @ uniform), 0.1 / cells)
    at = best = _Iterate(
        inequalities, equations, total, uniform, np.ones(cells), slack, np.ones(count), np.zeros(len(equations))
    )
    since = 0
    for _round in range(MOST_STEPS):
        if best.error <= 1 or since == PATIENCE:
            break
        if monotonic() > deadline:
            raise ArithmeticError(f"a convex program over {cells:,} action profiles was not solved: {TOO_SLOW}")
        with np.errstate(all="ignore"):
            at = at.next()
            if not at.error < np.inf:
                break
        best, since = (at, 0) if at.error < best.error else (best, since + (at.middle < NEAR_THE_END))
    return best


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Hold a point of the path: q and its multipliers w, slacks s and multipliers y, and multipliers λ of equations.

    All equations but the last, Σ q = 1, have a right-hand side of 0.
    """

    inequalities: NDArray[np.float64]
    equations: NDArray[np.float64]
    total: Sum
    q: Vector
    w: Vector
    s: Vector
    y: Vector
    multipliers: Vector

    @cached_property
    def pressure(self) -> Vector:
        """Return Gᵀy + Eᵀλ without the last equation, which is the same for all distributions."""
        pressure: Vector = self.y @ self.inequalities + self.multipliers[:-1] @ self.equations[:-1]
        return pressure

    @cached_property
    def slope(self) -> Vector:
        """Return the slope of the Lagrangian without w."""
        slope: Vector = self.total.slopes(self.q)[0] + self.pressure + self.multipliers[-1]
        return slope

    @cached_property
    def missed(self) -> Vector:
        """Return Gq + s and Eq - e."""
        missed = np.concatenate([self.inequalities @ self.q + self.s, self.equations @ self.q])
        missed[-1] -= 1
        return missed

    @property
    def middle(self) -> float:
        """Return the mean product of a slack and its multiplier."""
        return float(self.s @ self.y + self.q @ self.w) / (self.s.size + self.q.size)

    @property
    def error(self) -> float:
        """Return the largest error, in units of the errors that are accepted; NaN or infinity after an overflow."""
        return float(
            max(
                self.middle / ACCEPTED_PRODUCT,
                np.abs(self.missed).max() / ACCEPTED_RESIDUAL,
                np.abs(self.slope - self.w).max() / ACCEPTED_SLOPE,
            )
        )

    def next(self) -> "_Iterate":
        """Return the next point: a step towards μ = 0 shows how far μ can fall, and a second one is taken.

        The Newton equations reduce to one symmetric system with one row per inequality and equation.
        """
        system, count = np.vstack([self.inequalities, self.equations]), self.s.size
        weights = 1 / (self.total.slopes(self.q)[1] + self.w / self.q)
        matrix = (system * weights) @ system.T
        matrix[np.arange(count), np.arange(count)] += self.s / self.y
        solve = _solver(matrix)

        def step(target: float, sy: Vector, qw: Vector) -> tuple[Vector, Vector, Vector, Vector, Vector]:
            """Step towards s y = q w = target, corrected by the products that the first step neglected."""
            residual = self.slope - (target - qw) / self.q
            ahead = self.missed.copy()
            ahead[:count] += (target - sy) / self.y - self.s
            dv = solve(ahead - system @ (weights * residual))
            dq = -weights * (residual + dv @ system)
            dw = (target - qw - self.w * dq) / self.q - self.w
            ds = (target - sy - self.s * dv[:count]) / self.y - self.s
            return dq, dw, ds, dv[:count], dv[count:]

        dq, dw, ds, dy, _ = step(0.0, np.zeros(count), np.zeros(self.q.size))
        primal, dual = _longest((self.q, dq), (self.s, ds)), _longest((self.w, dw), (self.y, dy))
        after = float((self.s + primal * ds) @ (self.y + dual * dy) + (self.q + primal * dq) @ (self.w + dual * dw))
        share = after / (self.middle * (count + self.q.size))
        dq, dw, ds, dy, de = step(max(self.middle * share**3, ACCEPTED_PRODUCT / 10), ds * dy, dq * dw)
        longest = _longest((self.q, dq), (self.s, ds), (self.w, dw), (self.y, dy))
        length = longest if longest == 1 else 0.995 * longest
        return replace(
            self,
            q=self.q + length * dq,
            w=self.w + length * dw,
            s=self.s + length * ds,
            y=self.y + length * dy,
            multipliers=self.multipliers + length * de,
        )


def _solver(matrix: NDArray[np.float64]) -> Callable[[Vector], Vector]:
    """Factor a matrix that is positive definite up to rounding, and return a function that solves its equations."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = 1 / np.sqrt(np.diag(matrix))
    scaled = matrix * scale * scale[:, None]
    for share in (1e-15, 1e-13, 1e-11, 1e-9):
        try:
            factor = cho_factor(scaled + share * np.eye(len(matrix)), lower=True, check_finite=False)
        except LinAlgError:
            continue
        return lambda right: scale * cho_solve(factor, scale * right, check_finite=False)
    raise ArithmeticError("the Newton equations are singular: the program was not solved")


def _longest(*moves: tuple[Vector, Vector]) -> float:
    """Return the longest step, at most 1, for which all entries stay positive."""
    falls = np.concatenate([-value[step < 0] / step[step < 0] for value, step in moves])
    return float(min(falls.min(initial=np.inf), 1.0))
