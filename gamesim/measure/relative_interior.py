"""A point in the relative interior of a set of equilibria, and the inequalities that are equations on the whole set.

Let G x ≤ 0 and x ≥ 0 describe a cone. All inequalities that are strict anywhere in it are strict at one common point,
which maximises Σ min(slack, 1) (Goldman and Tucker 1956). The others hold with equality everywhere: probabilities that
are 0 in all equilibria, and constraints that are tight in all of them. In floating-point arithmetic, an inequality
counts as an equation if its slack never exceeds the tolerance of linear programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array, hstack, vstack

from gamesim.engine.compiled import Integers, Vector
from gamesim.measure import rational
from gamesim.measure.linear_programs import SECONDS, minimise

POSITIVE = 1e-7  # slack, in units of the largest coefficient, that is certainly not a rounding error
DEPENDENT = 1e-9  # singular value, as a share of the largest, below which equations count as dependent


@dataclass(frozen=True, eq=False)
class RelativeInterior:
    """Hold a distribution in the relative interior, its support, the constraints that are equations, and the dimension.

    The probabilities outside the support are 0 in the whole set. Constraints that are empty on the support are not
    listed.
    """

    point: Vector
    support: NDArray[np.bool_]
    tight: Integers
    dimension: int

    def over(self, size: int, cells: Integers) -> "RelativeInterior":
        """Return the same for more action profiles, of which these were considered; the others have probability 0."""
        point, support = np.zeros(size), np.zeros(size, dtype=bool)
        point[cells], support[cells] = self.point, self.support
        return RelativeInterior(point, support, self.tight, self.dimension)


def in_floats(rows: csr_array, numbers: Integers, deadline: float | None = None) -> RelativeInterior:
    """Find the relative interior by linear programs, given all constraints and their numbers.

    >>> in_floats(csr_array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]]), np.array([4, 7])).tight
    array([4, 7])
    """
    largest = abs(rows).max(axis=1).toarray().ravel() if rows.shape[0] else np.zeros(0)
    filled = np.flatnonzero(largest > 0)
    scaled = csr_array(diags_array(1 / largest[filled]) @ rows[filled])
    deadline = monotonic() + SECONDS if deadline is None else deadline
    try:
        found = _solved(scaled, *_all_at_once(scaled, deadline))
    except ArithmeticError:
        found = None
    if found is None:
        found = _solved(scaled, *_one_after_another(scaled, deadline))
    if found is None:
        raise ArithmeticError("no point in the relative interior of the set of equilibria was found")
    return replace(found, tight=numbers[filled[found.tight]])


def _all_at_once(rows: csr_array, deadline: float) -> tuple[Vector, Vector]:
    """Maximise Σ min(slack, 1) over the cone; return the weights and the slacks up to 1 of all inequalities.

    One program that is fast for sets with an interior, but ill-conditioned for others.
    """
    count, cells = rows.shape
    columns = np.array([cells, cells, count])
    solution = minimise(  # over the weights above 1, those up to 1, and the slacks of constraints up to 1
        np.repeat([0.0, -1.0, -1.0], columns),
        csr_array(hstack([rows, rows, eye_array(count)], format="csr")),
        np.zeros(count),
        np.zeros(columns.sum()),
        0.0,
        np.repeat([np.inf, 1.0, 1.0], columns),
        deadline=deadline,
        once=True,
    )
    above, up_to_one = solution.point[:cells], solution.point[cells:]
    return above + up_to_one[:cells], up_to_one


def _one_after_another(rows: csr_array, deadline: float) -> tuple[Vector, Vector]:
    """Maximise the sum of the slacks not yet known to be positive, and repeat; return what `_all_at_once` returns."""
    count, cells = rows.shape
    inequalities = csr_array(vstack([eye_array(cells), -rows], format="csr"))
    weights, positive = np.zeros(cells), np.zeros(cells + count, dtype=bool)
    while not positive.all():
        cost = -(inequalities.T @ (~positive).astype(np.float64))
        point = minimise(cost, rows, np.zeros(count), np.ones(cells), 1.0, deadline=deadline).point
        new = ~positive & (inequalities @ point > POSITIVE)
        if not new.any():
            break
        weights, positive = weights + point, positive | new
    return weights, positive.astype(np.float64)


def _solved(rows: csr_array, weights: Vector, slacks: Vector) -> RelativeInterior | None:
    """Return the relative interior, from weights and the slacks of all inequalities, or None if they contradict."""
    support, slacks = slacks[: weights.size] > 0.5, slacks[weights.size :]
    held = rows.toarray()[:, support]
    filled = held.any(axis=1)
    tight = np.flatnonzero((slacks < 0.5) & filled)
    equations = np.vstack([held[tight], np.ones(held.shape[1])])
    inside = weights[support] / weights[support].sum()
    target = np.append(np.zeros(tight.size), 1.0)
    correction, _, rank, _ = np.linalg.lstsq(equations, target - equations @ inside, rcond=DEPENDENT)
    inside += correction
    strict = held[(slacks >= 0.5) & filled]
    if min(inside.min(initial=1.0), -(strict @ inside).max(initial=-1.0)) <= 0:
        return None
    point = np.zeros(weights.size)
    point[support] = inside
    return RelativeInterior(point, support, tight, int(inside.size - rank))


def in_integers(rows: Mapping[int, list[int]], size: int, deadline: float | None = None) -> RelativeInterior:
    """Find the relative interior of a small set exactly, given the constraints by number.

    >>> in_integers({4: [1, -1, 0], 7: [-1, 1, 0]}, 3).tight
    array([4, 7])
    """
    deadline = monotonic() + SECONDS if deadline is None else deadline
    weights = rational.relative_interior(rational.distinct(rows.values()), size, deadline)
    support = [k for k, weight in enumerate(weights) if weight]
    held = {number: [row[k] for k in support] for number, row in rows.items()}
    tight = [number for number, row in rows.items() if any(held[number]) and not rational.product(row, weights)]
    equations = rational.distinct([[1] * len(support), *(held[number] for number in tight)])
    return RelativeInterior(
        np.array([weight / sum(weights) for weight in weights]),
        np.array([weight > 0 for weight in weights]),
        np.array(tight, dtype=np.int64),
        len(support) - rational.rank(equations),
    )
