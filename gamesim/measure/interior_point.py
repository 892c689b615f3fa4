"""Minimise a convex separable function over a set of equilibria, with a proof of optimality.

Each of the two functions has a conjugate on the simplex, which turns any multipliers y ≥ 0 into a lower bound: the
minimum over the set is at least the minimum over the simplex of the function plus y · gains. A solution is returned
only if its value equals such a bound up to rounding.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from gamesim.engine.compiled import Integers, Vector
from gamesim.measure.incentives import VIOLATED, Incentives

PROVEN_VALUE = 1e-10  # tolerance between a value and its bound
MOST_STEPS = 200  # interior-point steps; about thirty are usual


class Sum(Protocol):
    """Define a sum over action profiles of a convex function of the probability."""

    def value(self, q: Vector) -> float:
        """Return the sum."""

    def slopes(self, q: Vector) -> tuple[Vector, Vector]:
        """Return the first and second derivative for each action profile."""

    def bound(self, pressure: Vector) -> float:
        """Return the minimum of the sum plus pressure · q over all joint distributions q."""


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
    """Hold a minimiser over a set of equilibria, the minimum, and a lower bound on it."""

    joint: NDArray[np.float64]
    value: float
    bound: float


def minimise_sum(incentives: Incentives, total: Sum) -> Minimum:
    """Minimise a sum over the equilibria; violated constraints join as they are found."""
    shape, start = incentives.game.sizes, np.full(incentives.game.cells, 1 / incentives.game.cells)
    constraints = incentives.proper
    if constraints.size > 1000:
        constraints = incentives.best(incentives.gains(start.reshape(shape)), 2, -np.inf)
        constraints = np.intersect1d(constraints, incentives.proper)
    while True:
        q, multipliers = _interior_point(incentives, constraints, total)
        violated = incentives.best(incentives.gains(q.reshape(shape)), 5, VIOLATED)
        violated = np.setdiff1d(violated, constraints)
        if not violated.size:
            break
        constraints = np.union1d(constraints, violated)
    bound = total.bound(incentives.weighted(multipliers).ravel())
    value = total.value(q)
    if not abs(value - bound) <= PROVEN_VALUE * max(1.0, abs(value)):
        raise ArithmeticError(f"the minimum exceeds its lower bound by {value - bound:.1e}: the program was not solved")
    return Minimum(q.reshape(shape), value, bound)


def _interior_point(incentives: Incentives, constraints: Integers, total: Sum) -> tuple[Vector, Vector]:
    """Follow the central path (Mehrotra 1992) to the minimiser under these constraints.

    With slacks s and multipliers y of the constraints, λ of Σ q = 1 and w of q ≥ 0, it solves::

        φ'(q) + Gᵀy + λ = w,   Gq + s = 0,   Σ q = 1,   s y = q w = 0

    by Newton's method on s y = q w = μ as μ falls to 0. The Newton equations reduce to one symmetric system with one
    row per constraint and one for Σ q = 1.
    """
    rows = incentives.rows(constraints)
    cells, count = rows.shape[1], rows.shape[0]
    system = np.vstack([rows.toarray(), np.ones(cells)])
    q, w = np.full(cells, 1 / cells), np.ones(cells)
    s, y, equal = np.maximum(-(system[:-1] @ q), 0.1 / cells), np.ones(count), 0.0
    for _round in range(MOST_STEPS):
        first, second = total.slopes(q)
        missed = np.append(system[:-1] @ q + s, q.sum() - 1)
        slope = first + y @ system[:-1] + equal
        middle = float(s @ y + q @ w) / (cells + count)
        if middle < 1e-16 and np.abs(missed).max() < 1e-13 and np.abs(q * (slope - w)).max() < 1e-14:
            break
        weights = 1 / (second + w / q)
        matrix = (system * weights) @ system.T
        diagonal = np.append(s / y, 0.0)
        matrix[np.diag_indices(count + 1)] += diagonal + 1e-15 * np.trace(matrix) / (count + 1)
        newton = _Newton(system, q, w, s, y, slope, missed, weights, cho_factor(matrix, lower=True, check_finite=False))
        dq, dw, ds, dy, _ = newton.step(0.0, np.zeros(count), np.zeros(cells))
        primal, dual = _longest((q, dq), (s, ds)), _longest((w, dw), (y, dy))
        after = float((s + primal * ds) @ (y + dual * dy) + (q + primal * dq) @ (w + dual * dw)) / (cells + count)
        dq, dw, ds, dy, de = newton.step(middle * (after / middle) ** 3, ds * dy, dq * dw)
        longest = _longest((q, dq), (s, ds), (w, dw), (y, dy))
        length = longest if longest == 1 else 0.995 * longest
        q, s, w, y, equal = q + length * dq, s + length * ds, w + length * dw, y + length * dy, equal + length * de
    multipliers = np.zeros(incentives.starts[-1])
    multipliers[constraints] = y
    return q / q.sum(), multipliers


@dataclass(frozen=True, eq=False)
class _Newton:
    """Factor the Newton equations at one point of the path once and solve them for two targets."""

    system: NDArray[np.float64]
    q: Vector
    w: Vector
    s: Vector
    y: Vector
    slope: Vector
    missed: Vector
    weights: Vector
    factor: tuple[NDArray[np.float64], bool]

    def step(self, target: float, sy: Vector, qw: Vector) -> tuple[Vector, Vector, Vector, Vector, float]:
        """Step towards s y = q w = target, corrected by the products that the first step neglected."""
        residual = self.slope - (target - qw) / self.q
        ahead = np.append(self.missed[:-1] - self.s + (target - sy) / self.y, self.missed[-1])
        dv = cho_solve(self.factor, ahead - self.system @ (self.weights * residual), check_finite=False)
        dq = -self.weights * (residual + dv @ self.system)
        dw = (target - qw - self.w * dq) / self.q - self.w
        ds = (target - sy - self.s * dv[:-1]) / self.y - self.s
        return dq, dw, ds, dv[:-1], float(dv[-1])


def _longest(*moves: tuple[Vector, Vector]) -> float:
    """Return the longest step, at most 1, for which all entries stay positive."""
    falls = np.concatenate([-value[step < 0] / step[step < 0] for value, step in moves])
    return float(min(falls.min(initial=np.inf), 1.0))
