"""Time of a round, as a multiple of the two matrix-vector products that it cannot do without.

Run: python benchmarks/rounds.py [--store]
Two players play a random zero-sum game, in which most actions stay in play. The products are BLAS calls in a compiled
loop. The loop in NumPy does the same as gamesim, with and without the sums that a record needs. All of them run in
turns, on one thread; ratios are of CPU times, as the median over the repetitions with a 95 % interval. The record at
the end, which copies the sums of all checkpoints, is not part of a round. The last table has the time of a round of one
of 64 replicas as a multiple of that of a single run.
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  # compiled code calls this BLAS; its threads are limited once it is loaded
from numba import njit
from results import Ratio, store
from rich.console import Console
from rich.table import Table as Printed
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from gamesim import Simulation, games
from gamesim.engine.compiled import Vector
from gamesim.game import Table

ROUNDS = {4: 400_000, 16: 200_000, 64: 40_000, 256: 5_000, 1024: 400}  # by number of actions
IN_NUMPY = 100  # times fewer rounds
REPLICAS = 64
REPLICA_ROUNDS = {16: 6400, 64: 640, 256: 64}  # by number of actions; multiples of a block
WARM_UP = 640
LEARNERS = ("regret-matching-plus", "hedge")

Timed = Callable[[], float]


@njit
def _multiply(first, second, rows, columns, losses, others, rounds):  # type: ignore[no-untyped-def]
    for _ in range(rounds):
        np.dot(first, columns, losses)
        np.dot(second, rows, others)


def products(game: Table, rounds: int) -> Timed:
    """Return a function that multiplies the two loss matrices with strategies and returns the seconds per round."""
    size = game.sizes[0]
    strategy = np.full(size, 1 / size)
    tables = np.ascontiguousarray(game.losses[0]), np.ascontiguousarray(game.losses[1].T)
    given = (*tables, strategy, strategy, np.zeros(size), np.zeros(size))
    _multiply(*given, 1)

    def run() -> float:
        began = process_time()
        _multiply(*given, rounds)
        return (process_time() - began) / rounds

    return run


def compiled(game: Table, learner: str, rounds: int) -> Timed:
    """Return a function that continues a simulation and returns the seconds per round."""
    simulation = Simulation(game, learner, perturb=0.5)
    simulation.advance(64)  # load the kernels

    def run() -> float:
        began = process_time()
        simulation.advance(rounds)
        return (process_time() - began) / rounds

    return run


def in_numpy(game: Table, learner: str, rounds: int, *, sums: bool) -> Timed:
    """Return a function that plays in plain NumPy, with or without sums, and returns the seconds per round."""
    step = {"hedge": _hedge, "regret-matching-plus": _regret_matching_plus}[learner]
    size = game.sizes[0]
    tables = game.losses[0], np.ascontiguousarray(game.losses[1].T)
    rounds = max(rounds // IN_NUMPY, 20)

    def run() -> float:
        states = [np.zeros(size), np.zeros(size)]
        matrices = [np.zeros((size, size)), np.zeros((size, size))]
        joint = np.zeros((size, size))
        losses = [np.zeros(size), np.zeros(size)]
        strategies = [np.full(size, 1 / size)] * 2
        began = process_time()
        for t in range(1, rounds + 1):
            strategies = [step(states[i], strategies[i], losses[i], t) for i in (0, 1)]
            losses = [tables[0] @ strategies[1], tables[1] @ strategies[0]]
            if sums:
                for i in (0, 1):
                    matrices[i] += np.outer(strategies[i], losses[i])
                joint += np.outer(*strategies)
        return (process_time() - began) / rounds

    return run


def _hedge(total: Vector, _: Vector, loss: Vector, t: int) -> Vector:
    total += loss
    weights = np.exp(-np.sqrt(2 * np.log(len(total)) / t) * (total - total.min()))
    strategy: Vector = weights / weights.sum()
    return strategy


def _regret_matching_plus(regret: Vector, strategy: Vector, loss: Vector, _: int) -> Vector:
    np.maximum(regret + strategy @ loss - loss, 0, out=regret)
    total = regret.sum()
    return regret / total if total > 0 else np.full(len(regret), 1 / len(regret))


def replicated(game: Table, learner: str, rounds: int, replicas: int | None) -> Timed:
    """Return a function that continues a simulation and returns the seconds per round of a replica."""
    simulation: Simulation[Any] = Simulation(game, learner, perturb=0.5, replicas=replicas)
    simulation.advance(WARM_UP)

    def run() -> float:
        began = process_time()
        simulation.advance(rounds)
        return (process_time() - began) / rounds / simulation.replicas

    return run


def many_players(count: int, rounds: int) -> float:
    """Return the microseconds per player-round of Hedge in one game with `count` players."""
    game = games.make("polymatrix", graph="random-regular", graph_settings={"d": 4, "n": count})
    simulation = Simulation(game, "hedge", perturb=0.5)
    simulation.run(8)
    began = process_time()
    simulation.run(rounds)
    return (process_time() - began) / rounds / count * 1e6


def single(repetitions: int) -> dict[str, Ratio]:
    """Print the times of single runs, and return their ratios to the products."""
    found = {}
    table = Printed("learner", "d", "products, µs", "gamesim, µs", "gamesim / products", "NumPy / gamesim", "… no sums")
    for learner in LEARNERS:
        for size, rounds in ROUNDS.items():
            game = games.make("zero-sum", actions=size, seed=size)
            timed = [products(game, rounds), compiled(game, learner, rounds)]
            timed += [in_numpy(game, learner, rounds, sums=sums) for sums in (True, False)]
            bare, ours, full, plain = zip(*([one() for one in timed] for _ in range(repetitions)), strict=True)
            ratios = [Ratio.of(*pair) for pair in ((ours, bare), (full, ours), (plain, ours))]
            for against, one in zip(("products", "NumPy / ours", "NumPy without sums / ours"), ratios, strict=True):
                found[f"{learner}, d = {size}, {against}"] = one
            shown = (f"{np.median(times) * 1e6:.3f}" for times in (bare, ours))
            table.add_row(learner, str(size), *shown, *map(str, ratios))
    Console(width=140).print(table)
    return found


def with_replicas(repetitions: int) -> dict[str, Ratio]:
    """Print the times of replicas, and return their ratios to single runs."""
    found = {}
    table = Printed("learner", "d", "single, µs", f"one of {REPLICAS} replicas, µs", "ratio")
    for learner in LEARNERS:
        for size, rounds in REPLICA_ROUNDS.items():
            game = games.make("zero-sum", actions=size, seed=size)
            timed = [replicated(game, learner, 16 * rounds, None), replicated(game, learner, rounds, REPLICAS)]
            alone, together = zip(*([one() for one in timed] for _ in range(repetitions)), strict=True)
            found[f"{learner}, d = {size}, {REPLICAS} replicas"] = ratio = Ratio.of(together, alone)
            shown = (f"{np.median(times) * 1e6:.3f}" for times in (alone, together))
            table.add_row(learner, str(size), *shown, str(ratio))
    Console(width=140).print(table)
    return found


def main() -> None:
    """Print the tables, and store the ratios with --store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/rounds.jsonl")
    given = parser.parse_args()
    with threadpool_limits(1):
        found = single(given.repetitions) | with_replicas(given.repetitions)
        Console().print(f"1000 players in one game: {many_players(1000, 1000):.2f} µs per player-round")
    if given.store:
        store("rounds", found)


if __name__ == "__main__":
    main()
