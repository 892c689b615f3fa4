"""Compare gamesim with other packages: the same learners in self-play on the same random games, on one thread.

    pip install ".[bench,peers]"
    python benchmarks/peers.py               # print the table
    python benchmarks/peers.py --store       # also store it in benchmarks/peers.json for the README, and the ratios

Times are processor times per round for both players together. Each package runs as its documentation shows, and in
turns with gamesim: the minimum over the repetitions is the time, and the ratio is their median with a 95 % interval. A
package that is not installed is left out. NumPy stands for a loop written by hand, with and without the sums that a
record needs. LiteEFG solves extensive-form games only, and is not compared. `make generate` inserts the stored table
into the README.
"""

import json
import platform
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from results import Ratio, store
from rich.console import Console
from rich.table import Table as Printed
from rounds import in_numpy
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from gamesim import Learner, Simulation, Table, games, players

STORED = Path(__file__).with_suffix(".json")
REPETITIONS = 9
ROUNDS = 100  # of a package in Python
NUMPY = "NumPy"
WITHOUT_SUMS = "NumPy without sums"

Run = Callable[[Table, int], object]  # play a game for some rounds


def with_noregret(make: Callable[[Any, int], Any]) -> Run:
    """Return self-play of two regret minimisers of noregret, with matrix products for the utilities."""

    def run(game: Table, rounds: int) -> None:
        peer: Any = import_module("noregret.regret_minimizers")
        row, column = (make(peer, size) for size in game.sizes)
        utilities = -game.losses[0], -game.losses[1].T
        for _ in range(rounds):
            p, q = np.asarray(row.next_strategy()), np.asarray(column.next_strategy())
            row.observe_utility(utilities[0] @ q)
            column.observe_utility(utilities[1] @ p)

    return run


def with_open_spiel(game: Table, rounds: int) -> object:
    """Run OpenSpiel's regret matching, which records the average strategies."""
    peer: Any = import_module("open_spiel.python.algorithms.regret_matching")
    return peer.regret_matching(list(game.payoffs), iterations=rounds)


def with_quantecon(game: Table, rounds: int) -> object:
    """Run QuantEcon's fictitious play."""
    peer: Any = import_module("quantecon.game_theory")
    payoffs = np.ascontiguousarray(game.payoffs[0]), np.ascontiguousarray(game.payoffs[1].T)
    return peer.FictitiousPlay(peer.NormalFormGame([peer.Player(one) for one in payoffs])).play(num_reps=rounds)


def with_nashpy(game: Table, rounds: int) -> object:
    """Run Nashpy's fictitious play, which yields the counts of actions after each round."""
    peer: Any = import_module("nashpy")
    return list(peer.Game(*game.payoffs).fictitious_play(iterations=rounds))


class Case(NamedTuple):
    """A learner, the numbers of actions to measure, and the packages that have it."""

    name: str
    learner: Learner
    sizes: tuple[int, ...]
    peers: dict[str, Run]


CASES = (
    Case(
        "Hedge",
        players.make("hedge", rate=0.1),
        (4, 64),
        {"noregret": with_noregret(lambda peer, d: peer.MultiplicativeWeightsUpdate(d, 0.1))},
    ),
    Case(
        "Regret matching",
        players.make("regret-matching"),
        (4, 64),
        {"noregret": with_noregret(lambda peer, d: peer.RegretMatching(d)), "open_spiel": with_open_spiel},
    ),
    Case(
        "Fictitious play",
        players.make("fictitious-play"),
        (4, 64),
        {"quantecon": with_quantecon, "nashpy": with_nashpy},
    ),
    Case(
        "Blum-Mansour, regret matching rows",
        players.make("blum-mansour", rows="regret-matching"),
        (4, 16, 64),
        {"noregret": with_noregret(lambda peer, d: peer.BlumMansour(d, peer.RegretMatching))},
    ),
    Case(
        "Blum-Mansour, Hedge rows",
        players.make("blum-mansour", rows="hedge"),
        (4, 16, 64),
        {
            "noregret": with_noregret(
                lambda peer, d: peer.BlumMansour(d, lambda size: peer.MultiplicativeWeightsUpdate(size, 0.1))
            )
        },
    ),
)


def installed() -> dict[str, str]:
    """Return the version of every package that is installed, and list the others."""
    found = {}
    for name in ("gamesim", "numpy", "numba", "noregret", "open_spiel", "quantecon", "nashpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            Console(stderr=True).print(f"{name} is not installed, and left out")
    return found


def seconds(run: Callable[[], object], rounds: int) -> float:
    """Return the processor time per round."""
    began = process_time()
    run()
    return (process_time() - began) / rounds


def timed(case: Case, size: int, packages: dict[str, str]) -> dict[str, list[float]]:
    """Return the seconds per round of gamesim and of each package, in turns."""
    game = games.make("uniform", actions=size, seed=1)
    simulation = Simulation(game, case.learner, perturb=0.5)
    rounds = max(1_000_000 // size**2, 2000)
    ways: dict[str, Callable[[], float]] = {"gamesim": lambda: seconds(lambda: simulation.run(rounds), rounds)}
    if case.name == "Hedge":
        ways[NUMPY] = in_numpy(game, "hedge", 100 * ROUNDS, sums=True)
        ways[WITHOUT_SUMS] = in_numpy(game, "hedge", 100 * ROUNDS, sums=False)
    for name, play in case.peers.items():
        if name in packages:
            ways[name] = lambda play=play: seconds(lambda: play(game, ROUNDS), ROUNDS)  # type: ignore[misc]
    for way in ways.values():
        way()  # load and compile
    rows = [[way() for way in ways.values()] for _ in range(REPETITIONS)]
    return dict(zip(ways, map(list, zip(*rows, strict=True)), strict=True))


def main() -> None:
    """Print the table, and store it with --store."""
    packages = installed()
    rows: list[dict[str, Any]] = []
    ratios: dict[str, Ratio] = {}
    printed = Printed("learner", "d", "gamesim, µs per round", "package", "µs per round", "ratio")
    with threadpool_limits(1):
        for case in CASES:
            for size in case.sizes:
                times = timed(case, size, packages)
                shortest = {name: 1e6 * min(one) for name, one in times.items()}
                rows.append({"learner": case.name, "actions": size, **{k: round(v, 2) for k, v in shortest.items()}})
                for name in list(times)[1:]:
                    ratio = Ratio.of(times[name], times["gamesim"])
                    ratios[f"{case.name}, d = {size}, {name} / gamesim"] = ratio
                    shown = f"{shortest['gamesim']:.2f}", name, f"{shortest[name]:,.1f}", str(ratio)
                    printed.add_row(case.name, str(size), *shown)
    Console(width=120).print(printed)
    if "--store" in sys.argv:
        result = {"versions": {"python": platform.python_version(), **packages}, "microseconds per round": rows}
        STORED.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        store("peers", ratios)


if __name__ == "__main__":
    main()
