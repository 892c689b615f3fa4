"""Time per round of the wavelet learners, compared with the linear solve that the paper names as the bottleneck.

    python benchmarks/flagship.py [sizes] [--store]   # 4, 16, 64, 256 and 1024 actions by default

For each number of actions d and each family of losses it prints the processor time of a complete player-round relative
to numpy.linalg.solve of a D × D system, in one process with one BLAS thread. The families are

- general-sum: self-play in random games, simulation and record included;
- zero-sum: self-play in random zero-sum games, where about half of the actions stay in play;
- adversarial: losses ± 0.5 at random, and more for the actions that are played more, so that φ stays dense.

All learners and the solve take turns in short pieces; a ratio is the median over the repetitions with its interval.
Further lines have the ratio of `wavelet-optimistic` to `wavelet-continuous`, the share of each stage of a round,
measured with the processor's cycle counter (on a busy machine it counts other processes as well), and at d = 4 the time
of a round of two Hedge learners in plain NumPy. At the end stands the exponent of the time as a power of d from 64
actions, fitted to each repetition, for the worst family.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from importlib import import_module
from statistics import median
from time import process_time
from typing import Any

import numba.extending
import numpy as np
from numba import njit, types
from numpy.typing import NDArray
from results import Ratio, store

from gamesim import players
from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner
from gamesim.engine.layout import joined
from gamesim.game import Table
from gamesim.players._kernels.reduction import reduction
from gamesim.players._kernels.wavelet import learn, load, restore_improper, settings_view, settle
from gamesim.simulation import Simulation
from gamesim.study.statistics import Mean, mean

ROUNDS = {4: 10_000, 16: 4_000, 64: 400, 256: 40, 1024: 6}  # in a piece
WARM = {4: 500, 16: 500, 64: 300, 256: 100, 1024: 30}  # untimed, before
AT_MOST = {16: 0.2, 64: 0.5, 256: 0.4, 1024: 0.25}
REPETITIONS = 11
FITTED = 64  # the fewest actions in the fit of the exponent
PAPER, CONTINUOUS, OPTIMISTIC = LEARNERS = ("wavelet", "wavelet-continuous", "wavelet-optimistic")
NO_SLOWER = 1.3  # wavelet-optimistic relative to wavelet-continuous
FAMILIES = ("general-sum", "zero-sum", "adversarial")
Run = Callable[[int], object]
STAGES = ("gradients and scalar learners", "inverse transform and projection", "fixed point")

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
                settle(state, size)
                spent[2] += cycles() - after


def payoffs_of(size: int, family: str) -> NDArray[np.float64]:
    """Return the payoffs of a random game."""
    payoffs = np.random.default_rng(0).random((2, size, size))
    return np.stack([payoffs[0], 1 - payoffs[0]]) if family == "zero-sum" else payoffs


@njit(nogil=True, error_model="numpy")
def suffer(play: int, observe: int, settings: Vector, state: Vector, strategy: Vector, losses: Vector) -> None:
    """Add to random losses a penalty of likely actions, one round after another."""
    actions, loss = strategy.size, np.zeros(strategy.size)
    for start in range(0, losses.size, actions):
        call_learner(play, settings, state, strategy)
        for i in range(actions):
            loss[i] = losses[start + i] + 0.5 * min(max(actions * strategy[i] - 1, -1.0), 1.0)
        call_learner(observe, settings, state, loss)


def runner(learner: str, size: int, family: str) -> tuple[Run, int]:
    """Return a function that runs rounds of this learner, and the number of players."""
    if family != "adversarial":
        simulation = Simulation(Table.from_payoffs(payoffs_of(size, family)), [learner, learner], seed=0)
        return simulation.run, 2
    player, random, strategy = players.make(learner), np.random.default_rng(0), np.zeros(size)
    settings, state = player.kernel_settings(size), joined([player.first_state(size)])  # aligned, as in a simulation
    play, observe = (address(function, LEARNER_KERNEL) for function in player.kernels)
    signs = np.where(random.random(max(WARM[size], ROUNDS[size]) * size) < 0.5, -0.5, 0.5)
    return lambda rounds: suffer(play, observe, settings, state, strategy, signs[: rounds * size]), 1


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


def measured(size: int) -> tuple[dict[tuple[str, str], Vector], Vector]:
    """Return the times per player-round of each learner and family, and those of the solve, per repetition."""
    random = np.random.default_rng(1)
    matrix, right = random.random((size, size)) + size * np.eye(size), random.random(size)
    running = {(one, family): runner(one, size, family) for family in FAMILIES for one in LEARNERS}
    for run, _ in running.values():
        run(WARM[size])
    times: dict[tuple[str, str], list[float]] = {key: [] for key in running}
    solves: list[float] = []
    for _ in range(REPETITIONS):
        solves.append(timed(lambda: np.linalg.solve(matrix, right), max(3, 2_000_000 // size**2 // 8)))
        for key, (run, count) in running.items():
            times[key].append(timed(partial(run, ROUNDS[size]), 1) / ROUNDS[size] / count)
    return {key: np.array(taken) for key, taken in times.items()}, np.array(solves)


def timed(work: Callable[[], object], repeat: int) -> float:
    """Return the processor time of a piece of work."""
    start = process_time()
    for _ in range(repeat):
        work()
    return (process_time() - start) / repeat


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


def report(size: int) -> tuple[dict[str, Vector], dict[str, Ratio]]:
    """Print the times of all learners at one size; return those of the worst family, and the ratios."""
    times, solves = measured(size)
    found: dict[str, Ratio] = {}
    print(f"d = {size}: solve {median(solves) * 1e6:.1f} µs")
    worst: dict[str, Vector] = {}
    for learner in LEARNERS:
        ratios = {family: Ratio.of(times[learner, family].tolist(), solves.tolist()) for family in FAMILIES}
        found |= {f"{learner}, {family}, d = {size}": ratio for family, ratio in ratios.items()}
        slowest = max(ratios, key=lambda family: ratios[family].median)
        worst[learner] = times[learner, slowest]
        line = ", ".join(f"{family} {ratios[family]}" for family in FAMILIES)
        if size in AT_MOST:
            met = ratios[slowest].median <= AT_MOST[size]
            line += f"; at most {AT_MOST[size]}: {'met' if met else 'MISSED'}"
        print(f"  {learner:18} {line}", flush=True)
        rounds = max(ROUNDS[size] // 2, 20)
        parts = zip(shares(learner, size, payoffs_of(size, "zero-sum"), rounds), STAGES, strict=True)
        print("      zero-sum: " + ", ".join(f"{share:.0%} {stage}" for share, stage in parts))
    slower = {
        family: Ratio.of(times[OPTIMISTIC, family].tolist(), times[CONTINUOUS, family].tolist()) for family in FAMILIES
    }
    line = ", ".join(f"{family} {ratio}" for family, ratio in slower.items())
    met = max(ratio.median for ratio in slower.values()) <= NO_SLOWER
    print(f"  {OPTIMISTIC} to {CONTINUOUS}: {line}; at most {NO_SLOWER}: {'met' if met else 'MISSED'}")
    if size == 4:
        hedge = plain_hedge(payoffs_of(size, "general-sum"))
        ours = 2e6 * median(times[PAPER, "general-sum"])
        print(f"  two Hedge learners in plain NumPy {hedge * 1e6:.1f} µs, two of {PAPER} {ours:.2f} µs")
    return worst, found


def exponent(sizes: list[int], times: list[Vector]) -> Mean | None:
    """Return the mean exponent over repetitions, with its confidence interval."""
    return mean(np.polyfit(np.log(sizes), np.log(np.array(times)), 1)[0])


def main() -> None:
    """Print all ratios, and store them with --store."""
    parser = ArgumentParser(description="Time the wavelet learners.")
    parser.add_argument("sizes", type=int, nargs="*", default=list(ROUNDS), help="numbers of actions")
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/flagship.jsonl")
    given = parser.parse_args()
    worst, ratios = {}, dict[str, Ratio]()
    for size in given.sizes:
        worst[size], found = report(size)
        ratios |= found
    fitted = [size for size in given.sizes if size >= FITTED]
    if len(fitted) > 1:
        for learner in LEARNERS:
            print(f"{learner:18} exponent {exponent(fitted, [worst[size][learner] for size in fitted])}")
    if given.store:
        store("flagship", ratios)


if __name__ == "__main__":
    main()
