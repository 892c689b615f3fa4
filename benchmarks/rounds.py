"""Time of a round, as a multiple of the two matrix-vector products that it cannot do without.

Run: python benchmarks/rounds.py
Two players play a random zero-sum game, in which most actions stay in play. The products are BLAS calls in a compiled
loop. The loop in NumPy does the same as gamesim, with and without the sums that a record needs. All of them run in
turns, on one thread; ratios are of CPU times, as the median and the range over the repetitions.
"""

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np
from numba import njit
from rich.console import Console
from rich.table import Table as Printed
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from gamesim import Simulation, games
from gamesim.engine.compiled import Vector
from gamesim.game import Table

ROUNDS = {4: 400_000, 16: 200_000, 64: 40_000, 256: 5_000, 1024: 400}  # by number of actions
IN_NUMPY = 100  # times fewer rounds

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
    simulation.run(64)  # load the kernels

    def run() -> float:
        began = process_time()
        simulation.run(rounds)
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


def ratio(times: list[float], to: list[float]) -> str:
    """Return the median ratio and its range."""
    found = np.array(times) / np.array(to)
    return f"{np.median(found):.2f} ({found.min():.2f} to {found.max():.2f})"


def many_players(count: int, rounds: int) -> float:
    """Return the microseconds per player-round of Hedge in one game with `count` players."""
    game = games.make("polymatrix", graph="random-regular", graph_settings={"d": 4, "n": count})
    simulation = Simulation(game, "hedge", perturb=0.5)
    simulation.run(8)
    began = process_time()
    simulation.run(rounds)
    return (process_time() - began) / rounds / count * 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=9)
    given = parser.parse_args()
    table = Printed("learner", "d", "products, µs", "gamesim, µs", "gamesim / products", "NumPy / gamesim", "… no sums")
    with threadpool_limits(1):
        for learner in ("regret-matching-plus", "hedge"):
            for size, rounds in ROUNDS.items():
                game = games.make("zero-sum", actions=size, seed=size)
                timed = [products(game, rounds), compiled(game, learner, rounds)]
                timed += [in_numpy(game, learner, rounds, sums=sums) for sums in (True, False)]
                bare, ours, full, plain = zip(
                    *([one() for one in timed] for _ in range(given.repetitions)), strict=True
                )
                table.add_row(
                    learner,
                    str(size),
                    f"{np.median(bare) * 1e6:.3f}",
                    f"{np.median(ours) * 1e6:.3f}",
                    ratio(list(ours), list(bare)),
                    f"{np.median(np.array(full) / ours):.1f}×",
                    f"{np.median(np.array(plain) / ours):.1f}×",
                )
        Console(width=140).print(table)
        Console().print(f"1000 players in one game: {many_players(1000, 1000):.2f} µs per player-round")


if __name__ == "__main__":
    main()
