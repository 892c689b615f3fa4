"""gamesim beside a peer: the same learners in self-play on the same random game, in one run, on one thread.

    pip install ".[bench]"
    OPENBLAS_NUM_THREADS=1 python benchmarks/peers.py

The peer is `noregret`, a library of regret minimisers in NumPy. Times are of the processor, for both players together.
"""

from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Printed

from gamesim import Player, Simulation, Table, games, players

peer: Any = import_module("noregret.regret_minimizers")

CASES: tuple[tuple[str, Player, Callable[[int], Any], tuple[int, ...]], ...] = (
    ("hedge", players.make("hedge", rate=0.1), lambda d: peer.MultiplicativeWeightsUpdate(d, 0.1), (4, 64)),
    ("regret matching", players.make("regret-matching"), peer.RegretMatching, (4, 64)),
    (
        "blum-mansour, regret matching rows",
        players.make("blum-mansour", rows="regret-matching"),
        lambda d: peer.BlumMansour(d, peer.RegretMatching),
        (4, 16, 64),
    ),
    (
        "blum-mansour, hedge rows",
        players.make("blum-mansour", rows="hedge"),
        lambda d: peer.BlumMansour(d, lambda size: peer.MultiplicativeWeightsUpdate(size, 0.1)),
        (4, 16, 64),
    ),
)


def ours(game: Table, player: Player, rounds: int) -> float:
    """Return the microseconds of a round."""
    simulation = Simulation(game, [player, player], perturb=0.5)
    simulation.run(16)
    began = process_time()
    simulation.run(rounds)
    return (process_time() - began) / rounds * 1e6


def theirs(game: Table, make: Callable[[int], Any], rounds: int) -> float:
    """Return the microseconds of a round of the peer's learners, with a matrix product for the payoffs."""
    row, column = (make(size) for size in game.sizes)
    utilities = -game.losses[0], -game.losses[1].T
    began = process_time()
    for _ in range(rounds):
        p, q = np.asarray(row.next_strategy()), np.asarray(column.next_strategy())
        row.observe_utility(utilities[0] @ q)
        column.observe_utility(utilities[1] @ p)
    return (process_time() - began) / rounds * 1e6


def main() -> None:
    """Print the table."""
    printed = Printed("learner", "d", "noregret, µs a round", "gamesim, µs a round", "ratio")
    for name, player, make, sizes in CASES:
        for size in sizes:
            game = games.make("uniform", actions=size, seed=1)
            assert isinstance(game, Table)
            slow = min(theirs(game, make, 100) for _ in range(3))
            fast = min(ours(game, player, max(2_000_000 // size**2, 2000)) for _ in range(3))
            printed.add_row(name, str(size), f"{slow:,.0f}", f"{fast:.2f}", f"{slow / fast:,.0f}×")
    Console().print(printed)


if __name__ == "__main__":
    main()
