"""Time per round of the wavelet learner, compared with the linear solve that its paper names as the bottleneck.

Run `python benchmarks/flagship.py`, optionally with some of the sizes as arguments. For each number of actions d it
prints, in processor time from one process with one BLAS thread:

- numpy.linalg.solve of a D × D system, the median over many solves before and after the runs of the learner;
- a complete player-round of `wavelet` in self-play on random general-sum games, simulation and record included, and for
  comparison on random zero-sum games, where more actions stay in play;
- the ratio of the two, and its maximum allowed value;
- the share of each stage of the learner, measured with the processor's cycle counter.

At d = 4 it compares the time with that of a round of two Hedge learners in plain NumPy.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import sys
from collections.abc import Callable
from importlib import import_module
from statistics import median
from time import process_time
from typing import Any

import numba.extending
import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from gamesim.engine.compiled import Vector
from gamesim.game import Table
from gamesim.players._kernels.reduction import reduction, settle
from gamesim.players._kernels.wavelet import learn, load, project, restore_improper, settings_view
from gamesim.players.wavelet import Wavelet
from gamesim.simulation import Simulation

ROUNDS = {4: 200_000, 16: 100_000, 64: 20_000, 256: 3_000, 1024: 300}
AT_MOST = {16: 0.5, 64: 0.8, 256: 0.6, 1024: 0.4}
STAGES = ("gradients, transform, scalar learners", "inverse transform", "projection", "fixed point")

ir: Any = import_module("llvmlite.ir")  # untyped
instruction: Callable[[Callable[..., Any]], Callable[..., Any]] = numba.extending.intrinsic


@instruction
def cycles(typing: Any) -> Any:
    """Read the processor's cycle counter."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        counter = ir.FunctionType(ir.IntType(64), [])
        return builder.call(builder.module.declare_intrinsic("llvm.readcyclecounter", (), counter), [])

    return types.int64(), generate


@njit(nogil=True, error_model="numpy")
def staged(settings: Vector, states: Any, tables: Any, rounds: int, spent: Any) -> None:
    """Run self-play and time every stage of a round; D = d here."""
    size = settings_view(settings).size
    losses = np.zeros((2, size))
    for _ in range(rounds):
        first, second = reduction(states[0], size).strategy, reduction(states[1], size).strategy
        losses[0] = 0.0
        losses[1] = 0.0
        for i in range(size):
            for j in range(size):
                losses[0, j] += tables[0, i, j] * second[i]
                losses[1, j] += tables[1, i, j] * first[i]
        for player in range(2):
            state = states[player]
            parts = reduction(state, size)
            own, default = parts.own, parts.default
            at = cycles()
            load(settings, own, losses[player], size)
            moved = learn(settings, own, parts.strategy, default, size)
            after = cycles()
            spent[0] += after - at
            if moved:
                at, moved = after, restore_improper(own, size)
                after = cycles()
                spent[1] += after - at
            if moved:
                at = after
                project(own, default, parts.matrix, size)
                after = cycles()
                spent[2] += after - at
                settle(state, size)
                spent[3] += cycles() - after


def games(size: int, zero_sum: bool = False) -> list[NDArray[np.float64]]:
    """Return the payoffs of random games: one game for large sizes, several for small ones."""
    payoffs = [np.random.default_rng(seed).random((2, size, size)) for seed in range(5 if size <= 64 else 1)]
    return [np.stack([game[0], 1 - game[0]]) for game in payoffs] if zero_sum else payoffs


def shares(actions: int, payoffs: NDArray[np.float64], rounds: int) -> Vector:
    """Return the share of each stage in the time per round."""
    player = Wavelet()
    spent = np.zeros(len(STAGES))
    tables = 1 - 2 * payoffs  # random payoffs lie in [0, 1]
    tables[0] = tables[0].T  # the opponent's action first
    for turn in (2, rounds):  # the first run compiles
        spent[:] = 0
        states = np.stack([player.first_state(actions)] * 2)
        staged(player.kernel_settings(actions), states, np.ascontiguousarray(tables), turn, spent)
    part: Vector = spent / spent.sum()
    return part


def solving(size: int, seconds: float = 0.5) -> float:
    """Return the median time of a linear solve."""
    random = np.random.default_rng(1)
    matrix, right = random.random((size, size)) + size * np.eye(size), random.random(size)
    taken: list[float] = []
    end = process_time() + seconds
    while process_time() < end or len(taken) < 5:
        batch = max(1, 20_000 // size**2)
        start = process_time()
        for _ in range(batch):
            np.linalg.solve(matrix, right)
        taken.append((process_time() - start) / batch)
    return median(taken)


def playing(learner: str, payoffs: list[NDArray[np.float64]], rounds: int) -> float:
    """Return the mean time per player-round in self-play over these games."""
    spent = 0.0
    for game in payoffs:
        simulation = Simulation(Table.from_payoffs(game), [learner, learner], seed=0)
        simulation.run(2)  # compiles or loads the kernels
        start = process_time()
        simulation.run(rounds)
        spent += process_time() - start
    return spent / rounds / 2 / len(payoffs)


def plain_hedge(payoffs: NDArray[np.float64], rounds: int = 20_000) -> float:
    """Return the time per round of two Hedge learners in plain NumPy."""
    tables = 1 - 2 * payoffs
    sums = np.zeros((2, len(payoffs[0])))
    start = process_time()
    for t in range(1, rounds + 1):
        rate = np.sqrt(2 * np.log(4) / t)
        weights = [np.exp(-rate * (total - total.min())) for total in sums]
        first, second = (weight / weight.sum() for weight in weights)
        sums[0] += tables[0] @ second
        sums[1] += first @ tables[1]
    return (process_time() - start) / rounds


def main() -> None:
    for size in [int(word) for word in sys.argv[1:]] or ROUNDS:
        payoffs = games(size)
        before = solving(size)
        round_time = playing("wavelet", payoffs, ROUNDS[size])
        zero_sum_time = playing("wavelet", games(size, zero_sum=True), ROUNDS[size] // 5)
        solve_time = min(before, solving(size))
        line = f"d = {size:4}: solve {solve_time * 1e6:9.2f} µs, player-round {round_time * 1e6:8.2f} µs"
        line += f" (zero-sum {zero_sum_time * 1e6:8.2f} µs)"
        if size in AT_MOST:
            ratio = round_time / solve_time
            verdict = "met" if ratio <= AT_MOST[size] else "MISSED"
            line += (
                f", ratio {ratio:.2f} (zero-sum {zero_sum_time / solve_time:.2f}), at most {AT_MOST[size]}: {verdict}"
            )
        else:
            line += f"; both players {2 * round_time * 1e6:.2f} µs, two Hedge learners in plain NumPy"
            line += f" {plain_hedge(payoffs[0]) * 1e6:.1f} µs"
        print(line, flush=True)
        for stage, share in zip(STAGES, shares(size, payoffs[0], ROUNDS[size]), strict=True):
            print(f"    {share:5.0%}  {stage}")


if __name__ == "__main__":
    main()
