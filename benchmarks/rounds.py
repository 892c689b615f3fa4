"""Rounds per second of the compiled loop, compared with an equivalent loop in plain NumPy.

Run: python benchmarks/rounds.py
Both play the same game with the same learner and keep the same sums, Σ p ⊗ l of both players and
the joint distribution.
"""

from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table as Printed
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from gamesim import Simulation, games
from gamesim.game import Table


def numpy_hedge(game: Table, rounds: int) -> float:
    """Play Hedge against Hedge in plain NumPy; return the seconds it took."""
    size = game.sizes[0]
    tables = game.losses[0], game.losses[1].T
    totals = [np.zeros(size), np.zeros(size)]
    matrices = [np.zeros((size, size)), np.zeros((size, size))]
    joint = np.zeros((size, size))
    began = perf_counter()
    for t in range(1, rounds + 1):
        rate = np.sqrt(2 * np.log(size) / t)
        strategies = []
        for total in totals:
            weights = np.exp(-rate * (total - total.min()))
            strategies.append(weights / weights.sum())
        losses = tables[0] @ strategies[1], tables[1] @ strategies[0]
        for i in (0, 1):
            totals[i] += losses[i]
            matrices[i] += np.outer(strategies[i], losses[i])
        joint += np.outer(*strategies)
    return perf_counter() - began


def numpy_regret_matching_plus(game: Table, rounds: int) -> float:
    """Play regret matching+ against itself in plain NumPy; return the seconds it took."""
    size = game.sizes[0]
    tables = game.losses[0], game.losses[1].T
    regrets = [np.zeros(size), np.zeros(size)]
    matrices = [np.zeros((size, size)), np.zeros((size, size))]
    joint = np.zeros((size, size))
    began = perf_counter()
    for _ in range(rounds):
        strategies = []
        for regret in regrets:
            total = regret.sum()
            strategies.append(regret / total if total > 0 else np.full(size, 1 / size))
        losses = tables[0] @ strategies[1], tables[1] @ strategies[0]
        for i in (0, 1):
            regrets[i] = np.maximum(regrets[i] + strategies[i] @ losses[i] - losses[i], 0)
            matrices[i] += np.outer(strategies[i], losses[i])
        joint += np.outer(*strategies)
    return perf_counter() - began


def compiled(game: Table, learner: str, rounds: int) -> float:
    """Run the simulation; return the seconds it took."""
    simulation = Simulation(game, learner, perturb=0.5)
    simulation.run(64)  # load the kernels
    began = perf_counter()
    simulation.run(rounds)
    return perf_counter() - began


def many_players(count: int, rounds: int) -> float:
    """Return the microseconds per player-round of Hedge in one game with `count` players."""
    game = games.make("polymatrix", graph="random-regular", graph_settings={"d": 4, "n": count})
    simulation = Simulation(game, "hedge", perturb=0.5)
    simulation.run(8)
    began = perf_counter()
    simulation.run(rounds)
    return (perf_counter() - began) / rounds / count * 1e6


def main() -> None:
    """Print the table."""
    table = Printed("learner", "d", "NumPy, µs per round", "gamesim, µs per round", "rounds per second", "ratio")
    with threadpool_limits(1):
        for learner, numpy_loop in (("hedge", numpy_hedge), ("regret-matching-plus", numpy_regret_matching_plus)):
            for size in (4, 16, 64, 256):
                game = games.make("uniform", actions=size, seed=size)
                rounds = max(2_000_000 // size**2, 500)
                slow = min(numpy_loop(game, rounds // 10) / (rounds // 10) for _ in range(3))
                fast = min(compiled(game, learner, rounds) / rounds for _ in range(3))
                table.add_row(
                    learner,
                    str(size),
                    f"{slow * 1e6:.2f}",
                    f"{fast * 1e6:.3f}",
                    f"{1 / fast:,.0f}",
                    f"{slow / fast:.1f}×",
                )
        Console().print(table)
        Console().print(f"1000 players in one game: {many_players(1000, 1000):.2f} µs per player-round")


if __name__ == "__main__":
    main()
