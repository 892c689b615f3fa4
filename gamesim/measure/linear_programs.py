"""Linear programs, solved by HiGHS (Huangfu and Hall 2018) through SciPy."""

from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from gamesim.engine.compiled import Vector

SIMPLEX, INTERIOR = "highs-ds", "highs-ipm"
FEASIBILITY = 1e-9  # tolerance of the constraints, in units of their largest coefficient
SECONDS = 60.0  # limit of one program, over all attempts
TOO_SLOW = "its time limit was reached"


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
            return Solution(np.asarray(result.x), float(result.fun), multipliers)
        message = str(result.message)
    raise ArithmeticError(f"a linear program with {cost.size:,} variables was not solved: {message}")
