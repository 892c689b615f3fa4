"""Linear programs, solved by HiGHS (Huangfu and Hall 2018) through SciPy, small ones with a dense tableau."""

from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gamesim.engine.compiled import Vector

SIMPLEX, INTERIOR = "highs-ds", "highs-ipm"
FEASIBILITY = 1e-9  # tolerance of the constraints, in units of their largest coefficient
SECONDS = 60.0  # limit of one program, over all attempts
PIVOT = 1e-12  # below which entries of a tableau count as 0
MOST_PIVOTS = 1000  # of a small program, which usually takes a few per cell
TOO_SLOW = "its time limit was reached"


@dataclass(frozen=True, eq=False)
class Solution:
    """Hold a minimiser, and the multipliers ≥ 0 of the inequalities."""

    point: Vector
    multipliers: Vector


def dual_simplex(cost: Vector, rows: NDArray[np.float64], limits: Vector) -> Solution:
    """Minimise cost · x subject to rows x ≤ limits and x ≥ 0, where cost ≥ 0, with a dense tableau (Lemke 1954).

    It starts at x = 0, so it takes few pivots if few limits are negative. Small programs are solved in less time than
    HiGHS needs to read them.
    """
    count, size = rows.shape
    tableau = np.zeros((count + 1, size + 1))
    tableau[:-1, :-1], tableau[:-1, -1], tableau[-1, :-1] = rows, limits, cost
    basic, other = np.arange(size, size + count), np.arange(size)  # x, then the slacks
    for _ in range(MOST_PIVOTS):
        values, row = tableau[:-1, -1], int(tableau[:-1, -1].argmin())
        if values[row] >= -PIVOT:
            solution, prices = np.zeros(size + count), np.zeros(size + count)
            solution[basic], prices[other] = np.maximum(values, 0), np.maximum(tableau[-1, :-1], 0)
            return Solution(solution[:size], prices[size:])
        entries = tableau[row, :-1]
        ratios = np.full(size, np.inf)
        np.divide(tableau[-1, :-1], -entries, out=ratios, where=entries < -PIVOT)
        ties = np.flatnonzero(ratios <= ratios.min() + PIVOT)
        column = int(ties[entries[ties].argmin()])  # the largest pivot
        pivot = tableau[row, column]
        if not pivot < -PIVOT:
            raise ArithmeticError("a linear program has no solution up to rounding")
        across, down = tableau[row] / pivot, tableau[:, column].copy()
        tableau -= down[:, None] * across
        tableau[row], tableau[:, column] = across, -down / pivot
        tableau[row, column] = 1 / pivot
        basic[row], other[column] = other[column], basic[row]
    raise ArithmeticError(f"a linear program was not solved in {MOST_PIVOTS} pivots")


def minimise(
    cost: Vector,
    rows: csr_array,
    limits: Vector,
    equation: Vector,
    total: float,
    upper: Vector | None = None,
    method: str = SIMPLEX,
    presolve: bool = True,
    deadline: float | None = None,
    once: bool = False,
) -> Solution:
    """Minimise cost · x subject to rows x ≤ limits, equation · x = total and 0 ≤ x ≤ upper.

    Rows are divided by their largest coefficient, because the solver's tolerances are absolute. The deadline is a time
    of `monotonic`, by default in `SECONDS` seconds. If a solver fails, others are tried, unless `once` is set.
    """
    from scipy.optimize import linprog  # slow to import, and not every command solves programs

    deadline = monotonic() + SECONDS if deadline is None else deadline
    largest = abs(rows).max(axis=1).toarray().ravel() if rows.shape[0] else np.ones(0)
    scale = 1 / np.where(largest > 0, largest, 1.0)
    rows, limits = csr_array(diags_array(scale) @ rows) if scale.size else rows, limits * scale
    solve: Any = linprog  # its type stubs do not know sparse matrices
    tolerances = {"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY}
    # The simplex method can stall on distances of learned play; otherwise it needs a few steps per row.
    limit = {SIMPLEX: {"maxiter": 1000 + 4 * limits.size}, INTERIOR: {}}
    message = ""
    # Presolve can mistake a tiny upper bound for infeasibility.
    ways = dict.fromkeys([(method, presolve), (INTERIOR, presolve), (SIMPLEX, False), (INTERIOR, False)])
    for way, first in islice(ways, 1 if once else None):
        if (left := deadline - monotonic()) <= 0:
            message = TOO_SLOW
            break
        result: Any = solve(
            cost,
            A_ub=rows,
            b_ub=limits,
            A_eq=csr_array(equation[None]),
            b_eq=[total],
            bounds=(0, None) if upper is None else np.column_stack([np.zeros(upper.size), upper]),
            method=way,
            options={**tolerances, **limit[way], "presolve": first, "time_limit": left},
        )
        if result.status == 0:
            multipliers = scale * np.maximum(0.0, -np.asarray(result.ineqlin.marginals))
            return Solution(np.asarray(result.x), multipliers)
        message = str(result.message)
    raise ArithmeticError(f"a linear program with {cost.size:,} variables was not solved: {message}")
