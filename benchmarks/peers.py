"""Compare gamesim with `noregret`: the same learners in self-play on the same random games, on one thread.

    pip install ".[bench]"
    python benchmarks/peers.py               # print the table
    python benchmarks/peers.py --store       # also store it in benchmarks/peers.json for the README

`noregret` is a library of regret minimisers in NumPy. Times are processor times per round for both players together,
the minimum over several repetitions. `python docs/generate.py readme` inserts the stored table into the README.
"""

import json
import platform
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Printed
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from gamesim import Learner, Simulation, Table, games, players

STORED = Path(__file__).with_suffix(".json")
SERIES = 4  # passes over all cases, since a machine can be slow for seconds; the minimum is reported
SECONDS = 0.4  # of repetitions per case and pass
peer: Any = import_module("noregret.regret_minimizers")

CASES: tuple[tuple[str, Learner, Callable[[int], Any], tuple[int, ...]], ...] = (
    ("Hedge", players.make("hedge", rate=0.1), lambda d: peer.MultiplicativeWeightsUpdate(d, 0.1), (4, 64)),
    ("Regret matching", players.make("regret-matching"), peer.RegretMatching, (4, 64)),
    (
        "Blum-Mansour, regret matching rows",
        players.make("blum-mansour", rows="regret-matching"),
        lambda d: peer.BlumMansour(d, peer.RegretMatching),
        (4, 16, 64),
    ),
    (
        "Blum-Mansour, Hedge rows",
        players.make("blum-mansour", rows="hedge"),
        lambda d: peer.BlumMansour(d, lambda size: peer.MultiplicativeWeightsUpdate(size, 0.1)),
        (4, 16, 64),
    ),
)


def ours(game: Table, player: Learner, rounds: int) -> float:
    """Return the microseconds per round of gamesim."""
    simulation = Simulation(game, [player, player], perturb=0.5)
    simulation.run(16)
    began = process_time()
    simulation.run(rounds)
    return (process_time() - began) / rounds * 1e6


def theirs(game: Table, make: Callable[[int], Any], rounds: int) -> float:
    """Return the microseconds per round of `noregret`, with matrix products for the payoffs."""
    row, column = (make(size) for size in game.sizes)
    utilities = -game.losses[0], -game.losses[1].T
    began = process_time()
    for _ in range(rounds):
        p, q = np.asarray(row.next_strategy()), np.asarray(column.next_strategy())
        row.observe_utility(utilities[0] @ q)
        column.observe_utility(utilities[1] @ p)
    return (process_time() - began) / rounds * 1e6


def shortest(measured: Callable[[], float]) -> float:
    """Return the minimum time over repetitions."""
    began, times = monotonic(), [measured()]
    while monotonic() < began + SECONDS:
        times.append(measured())
    return min(times)


def measure() -> list[dict[str, Any]]:
    """Return the microseconds per round for every learner and number of actions."""
    cases = [(name, player, make, size) for name, player, make, sizes in CASES for size in sizes]
    times = np.full((len(cases), 2), np.inf)
    for _ in range(SERIES):
        for case, (_, player, make, size) in enumerate(cases):
            game = games.make("uniform", actions=size, seed=1)
            slow = shortest(partial(theirs, game, make, 100))
            fast = shortest(partial(ours, game, player, max(2_000_000 // size**2, 2000)))
            times[case] = np.minimum(times[case], (slow, fast))
    return [
        {"learner": name, "actions": size, "noregret": round(slow, 1), "gamesim": round(fast, 2)}
        for (name, _, _, size), (slow, fast) in zip(cases, times.tolist(), strict=True)
    ]


def main() -> None:
    """Print the table, and store it with --store."""
    with threadpool_limits(1):
        rows = measure()
    printed = Printed("learner", "d", "noregret, µs per round", "gamesim, µs per round", "ratio")
    for row in rows:
        shown = f"{row['noregret']:,.0f}", f"{row['gamesim']:.2f}", f"{row['noregret'] / row['gamesim']:,.0f}×"
        printed.add_row(row["learner"], str(row["actions"]), *shown)
    Console().print(printed)
    if "--store" in sys.argv:
        versions = {name: version(name) for name in ("gamesim", "noregret", "numpy", "numba")}
        result = {"versions": {"python": platform.python_version(), **versions}, "microseconds per round": rows}
        STORED.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
