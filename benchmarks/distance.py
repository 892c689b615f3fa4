"""Compare distances and welfare ranges with HiGHS on the whole linear program, by simplex and by interior point.

    python benchmarks/distance.py [--games 16x16 32x32 6x6x6] [--kinds ce cce] [--noise 1] [--rounds 10000] [--limit 60]
        [--store]

Payoffs are uniform; with `--noise 0.3` the second player's are the negative of the first player's plus noise, so there
are few equilibria. Distances are those of `hedge` in self-play after `--rounds` rounds, and of a random joint
distribution. Everything runs on one thread and is measured in processor time, as the machine may be busy; `--limit` is
in seconds of real time for each solution. A dash means that HiGHS failed or exceeded the limit. The errors are
differences from HiGHS, in total variation or payoff units. The proof is the difference of the certified bounds, or the
tolerance to which a welfare range is proven. The benchmark fails if a value has no proof, or is further than 1e-6 from
both solutions by HiGHS. With `--store`, ratios of gamesim's time to that of HiGHS are appended to
benchmarks/results/distance.jsonl.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from results import Ratio, store
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import gamesim
from gamesim import equilibrium
from gamesim.game import Table
from gamesim.measure.incentives import EquilibriumKind, Incentives

Result = TypeVar("Result")
AGREE, PROVEN = 1e-6, 1e-8
METHODS = {"simplex": "highs-ds", "interior point": "highs-ipm"}
Cases = dict[str, Ratio]  # times of gamesim divided by those of HiGHS


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = process_time()
    result = work()
    return process_time() - start, result


def random_game(sizes: tuple[int, ...], noise: float) -> Table:
    payoffs = np.random.default_rng(sizes).random((len(sizes), *sizes))
    if noise != 1:
        payoffs[1] = noise * payoffs[1] - payoffs[0]
    return Table.from_payoffs(payoffs)


def play(game: Table, rounds: int) -> NDArray[np.float64]:
    joint = gamesim.simulate(game, "hedge", rounds=rounds, perturb=0.1).joint
    if joint is None:
        raise RuntimeError(f"the joint distribution for {game.sizes} actions was not recorded")
    return joint


def highs(cost: Any, rows: csr_array, total: Any, upper: Any, method: str, limit: float) -> float:
    """Minimise cost · x subject to rows x ≤ 0, total · x = 1 and 0 ≤ x ≤ upper; NaN if this fails."""
    solve: Any = linprog  # its type stubs do not know sparse matrices
    found = solve(
        cost,
        A_ub=rows,
        b_ub=np.zeros(rows.shape[0]),
        A_eq=csr_array(total[None]),
        b_eq=[1.0],
        bounds=np.column_stack([np.zeros(cost.size), upper]),
        method=method,
        options={"time_limit": limit},
    )
    return float(found.fun) if found.status == 0 else float("nan")


def distance_by_highs(incentives: Incentives, joint: NDArray[np.float64], method: str, limit: float) -> float:
    """Maximise the mass that both distributions have in common."""
    system, cells = incentives.system(), joint.size
    cost = np.repeat([-1.0, 0.0], cells)
    upper = np.concatenate([joint.ravel(), np.full(cells, np.inf)])
    return 1 + highs(cost, csr_array(hstack([system, system])), np.ones(2 * cells), upper, method, limit)


def welfare_by_highs(incentives: Incentives, method: str, limit: float) -> NDArray[np.float64]:
    total, system = incentives.game.payoffs.sum(axis=0).ravel(), incentives.system()
    upper = np.full(total.size, np.inf)
    return np.array([s * highs(s * total, system, np.ones(total.size), upper, method, limit) for s in (1, -1)])


def row(name: str, ours: tuple[float, Any, float], others: list[tuple[float, Any]], cases: Cases) -> bool:
    """Print one line, add the ratios to `cases`, and return whether the value is proven and agrees with HiGHS."""
    seconds, value, proof = ours
    errors = [float(np.abs(np.subtract(value, other)).max()) for _, other in others]
    cells = [
        f"{took:>9.2f}{took / seconds:>8.1f}{error:>9.0e}" if np.isfinite(error) else f"{took:>9.2f}{'-':>8}{'-':>9}"
        for (took, _), error in zip(others, errors, strict=True)
    ]
    print(f"{name:<30}{seconds:>9.2f}{proof:>9.0e}{''.join(cells)}", flush=True)
    near = [error for error in errors if np.isfinite(error)]
    for method, (took, _), error in zip(METHODS, others, errors, strict=True):
        if np.isfinite(error) and proof <= PROVEN:
            cases[f"{name}, {method}"] = Ratio.of([seconds], [took])
    return bool(proof <= PROVEN) and (not near or min(near) <= AGREE)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", nargs="+", default=["16x16", "32x32", "6x6x6", "4x4x4x4", "3x3x3x3x3"])
    parser.add_argument("--kinds", nargs="+", default=["ce", "cce"])
    parser.add_argument("--noise", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/distance.jsonl")
    chosen = parser.parse_args()
    passed = True
    cases: Cases = {}
    columns = [f"{name:>9}{'ratio':>8}{'error':>9}" for name in ("simplex", "interior")]
    print(f"{'seconds':<30}{'gamesim':>9}{'proof':>9}{''.join(columns)}", flush=True)
    with threadpool_limits(1):
        for text in chosen.games:
            game = random_game(tuple(int(size) for size in text.split("x")), chosen.noise)
            joints = {
                "hedge": play(game, chosen.rounds),
                "random": np.random.default_rng(1).dirichlet(np.ones(game.cells)).reshape(game.sizes),
            }
            for kind in chosen.kinds:
                for name, joint in joints.items():
                    case = f"{text} {kind} distance, {name}"
                    passed &= compare_distance(case, game, kind, joint, chosen.limit, cases)
                passed &= compare_welfare(f"{text} {kind} welfare range", game, kind, chosen.limit, cases)
    if chosen.store:
        store("distance", cases)
    return int(not passed)


def compare_distance(
    name: str, game: Table, kind: EquilibriumKind, joint: NDArray[np.float64], limit: float, cases: Cases
) -> bool:
    solve = partial(equilibrium.distance_bounds, game, joint, kind, always=True, seconds=2 * limit)
    seconds, found = timed(solve)
    whole = partial(distance_by_highs, Incentives(game, kind), joint)
    others = [timed(partial(whole, method, limit)) for method in METHODS.values()]
    return row(name, (seconds, found.distance, found.upper - found.lower), others, cases)


def compare_welfare(name: str, game: Table, kind: EquilibriumKind, limit: float, cases: Cases) -> bool:
    """Compare both ends of the range; `welfare_range` raises an ArithmeticError unless they are proven up to 1e-8."""
    try:
        seconds, found = timed(partial(equilibrium.welfare_range, game, kind))
    except ArithmeticError as error:
        print(f"{name}: {error}")
        return False
    whole = partial(welfare_by_highs, Incentives(game, kind))
    others = [timed(partial(whole, method, limit)) for method in METHODS.values()]
    return row(name, (seconds, found, PROVEN), others, cases)


if __name__ == "__main__":
    sys.exit(main())
