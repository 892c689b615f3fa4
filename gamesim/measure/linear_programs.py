"""Linear programs, solved by HiGHS (Huangfu and Hall 2018) through SciPy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, diags_array

from gamesim.engine.compiled import Vector

SIMPLEX, INTERIOR = "highs-ds", "highs-ipm"
FEASIBILITY = 1e-9  # tolerance of the constraints, in units of their largest coefficient
SECONDS = 60.0  # limit of one attempt


@dataclass(frozen=True, eq=False)
class Solution:
    """Hold a minimiser, the minimum, and the multipliers ≥ 0 of the inequalities."""

    point: Vector
    value: float
    multipliers: Vector


def minimise(
    cost: Vector,
    rows: csr_array,
    limits: Vector,
    equation: Vector,
    total: float,
    upper: Vector | None = None,
    method: str = SIMPLEX,
    presolve: bool = True,
) -> Solution:
    """Minimise cost · x subject to rows x ≤ limits, equation · x = total and 0 ≤ x ≤ upper.

    Rows are divided by their largest coefficient, because the solver's tolerances are absolute.
    """
    largest = abs(rows).max(axis=1).toarray().ravel() if rows.shape[0] else np.ones(0)
    scale = 1 / np.where(largest > 0, largest, 1.0)
    rows, limits = csr_array(diags_array(scale) @ rows) if scale.size else rows, limits * scale
    solve: Any = linprog  # its type stubs do not know sparse matrices
    tolerances = {"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY}
    # The simplex method can stall on distances of learned play; otherwise it needs a few steps per row.
    limit = {SIMPLEX: {"maxiter": 1000 + 4 * limits.size}, INTERIOR: {}}
    result: Any = None
    # Fall back to another solver if the first fails; presolve can mistake a tiny upper bound for infeasibility.
    for way, first in dict.fromkeys([(method, presolve), (INTERIOR, presolve), (SIMPLEX, False), (INTERIOR, False)]):
        result = solve(
            cost,
            A_ub=rows,
            b_ub=limits,
            A_eq=csr_array(equation[None]),
            b_eq=[total],
            bounds=(0, None) if upper is None else np.column_stack([np.zeros(upper.size), upper]),
            method=way,
            options={**tolerances, **limit[way], "presolve": first, "time_limit": SECONDS},
        )
        if result.status == 0:
            multipliers = scale * np.maximum(0.0, -np.asarray(result.ineqlin.marginals))
            return Solution(np.asarray(result.x), float(result.fun), multipliers)
    raise ArithmeticError(f"HiGHS failed to solve a linear program with {cost.size} variables: {result.message}")
