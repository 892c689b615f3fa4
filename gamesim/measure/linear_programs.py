"""Linear programs, solved by HiGHS (Huangfu and Hall 2018) as scipy ships it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from gamesim.engine.compiled import Vector

SIMPLEX, INTERIOR = "highs-ds", "highs-ipm"
FEASIBILITY = 1e-9  # by how much a solution may miss a constraint


@dataclass(frozen=True, eq=False)
class Solution:
    """Where the least value is, the value, and the multipliers ≥ 0 of the inequalities."""

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
    """Minimise cost · x subject to rows x ≤ limits, equation · x = total and 0 ≤ x ≤ upper; it must have a solution."""
    solve: Any = linprog  # its published types know no sparse rows
    tolerances = {"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY}
    # The simplex has been seen to stall on distances of learned play; it needs a few steps per row where it does not.
    limit = {SIMPLEX: {"maxiter": 1000 + 4 * limits.size}, INTERIOR: {}}
    result: Any = None
    # Where the first way gives up another is asked; presolving has been seen to take a tiny upper bound for a
    # contradiction.
    for way, first in dict.fromkeys([(method, presolve), (INTERIOR, presolve), (SIMPLEX, False), (INTERIOR, False)]):
        result = solve(
            cost,
            A_ub=rows,
            b_ub=limits,
            A_eq=csr_array(equation[None]),
            b_eq=[total],
            bounds=(0, None) if upper is None else np.column_stack([np.zeros(upper.size), upper]),
            method=way,
            options={**tolerances, **limit[way], "presolve": first},
        )
        if result.status == 0:
            multipliers = np.maximum(0.0, -np.asarray(result.ineqlin.marginals))
            return Solution(np.asarray(result.x), float(result.fun), multipliers)
    raise ArithmeticError(f"HiGHS did not solve a linear program with {cost.size} variables: {result.message}")
