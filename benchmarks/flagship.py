"""Time per round of the wavelet learners, compared with the linear solve that the paper names as the bottleneck.

Run `python benchmarks/flagship.py`, optionally with some of the sizes as arguments. For each number of actions d it
prints, in processor time from one process with one BLAS thread:

- numpy.linalg.solve of a D × D system, the median over many solves before and after the runs of the learners;
- for each clock, a complete player-round in self-play on random general-sum games, simulation and record included, and
  for comparison on random zero-sum games, where more actions stay in play; the learners take turns, in short pieces;
- the ratios to the solve, for `wavelet` with its maximum allowed value, and for `wavelet-optimistic` also to
  `wavelet-continuous`;
- the share of each stage of each learner, measured with the processor's cycle counter.

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

from gamesim import players
from gamesim.engine.compiled import Vector
from gamesim.game import Table
from gamesim.players._kernels.reduction import reduction, settle
from gamesim.players._kernels.wavelet import learn, load, project, restore_improper, settings_view
from gamesim.simulation import Simulation

ROUNDS = {4: 200_000, 16: 100_000, 64: 20_000, 256: 3_000, 1024: 300}
AT_MOST = {16: 0.5, 64: 0.8, 256: 0.6, 1024: 0.4}
PAPER, CONTINUOUS, OPTIMISTIC = LEARNERS = ("wavelet", "wavelet-continuous", "wavelet-optimistic")
NO_SLOWER = 1.3  # wavelet-optimistic relative to wavelet-continuous
PIECES = 3  # each ends with a record, whose arrays are copied
STAGES = ("gradients and scalar learners", "inverse transform", "projection", "fixed point")

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


def shares(learner: str, actions: int, payoffs: NDArray[np.float64], rounds: int) -> Vector:
    """Return the share of each stage in the time per round."""
    player = players.make(learner)
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


def playing(payoffs: list[NDArray[np.float64]], rounds: int) -> dict[str, float]:
    """Return the mean time per player-round in self-play over these games, for each learner."""
    spent = dict.fromkeys(LEARNERS, 0.0)
    piece = max(rounds // PIECES, 1)
    for game in payoffs:
        running = {one: Simulation(Table.from_payoffs(game), [one, one], seed=0) for one in LEARNERS}
        for simulation in running.values():
            simulation.run(2)  # compiles or loads the kernels
        for _ in range(PIECES):
            for learner, simulation in running.items():
                start = process_time()
                simulation.run(piece)
                spent[learner] += process_time() - start
    return {learner: time / (piece * PIECES) / 2 / len(payoffs) for learner, time in spent.items()}


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


def report(size: int) -> None:
    """Print the times of all learners at one size."""
    payoffs = games(size)
    before = solving(size)
    general, zero_sum = playing(payoffs, ROUNDS[size]), playing(games(size, zero_sum=True), ROUNDS[size] // 5)
    solve = min(before, solving(size))
    print(f"d = {size}: solve {solve * 1e6:.2f} µs")
    for learner in LEARNERS:
        both = general[learner], zero_sum[learner]
        line = f"  {learner:18} player-round {both[0] * 1e6:9.2f} µs, zero-sum {both[1] * 1e6:9.2f} µs"
        line += f"; ratio to the solve {both[0] / solve:.2f}, zero-sum {both[1] / solve:.2f}"
        if learner == PAPER and size in AT_MOST:
            line += f", at most {AT_MOST[size]}: {'met' if both[0] / solve <= AT_MOST[size] else 'MISSED'}"
        if learner == OPTIMISTIC:
            slower = both[0] / general[CONTINUOUS], both[1] / zero_sum[CONTINUOUS]
            line += f"; to {CONTINUOUS} {slower[0]:.2f}, zero-sum {slower[1]:.2f}"
            line += f", at most {NO_SLOWER}: {'met' if max(slower) <= NO_SLOWER else 'MISSED'}"
        print(line, flush=True)
        rounds = max(ROUNDS[size] // 10, 20)
        parts = zip(shares(learner, size, payoffs[0], rounds), STAGES, strict=True)
        print("      " + ", ".join(f"{share:.0%} {stage}" for share, stage in parts))
    if size == 4:
        hedge = plain_hedge(payoffs[0])
        print(f"  two Hedge learners in plain NumPy {hedge * 1e6:.1f} µs, two of {PAPER} {2e6 * general[PAPER]:.2f} µs")


def main() -> None:
    for size in [int(word) for word in sys.argv[1:]] or ROUNDS:
        report(size)


if __name__ == "__main__":
    main()
