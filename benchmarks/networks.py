"""Scaling of network games: Hedge on polymatrix games over random 4-regular graphs, including the gaps.

Run `python benchmarks/networks.py [--store]` on an idle machine. For 1000 to 100 000 players with 4 actions and 1000
rounds (200 with 100 000 players), it prints the wall-clock and processor time per player-round on one and two threads,
and the peak memory. The same random game is played on all edges, so that 100 000 players can be built. Kernels are
compiled before timing; times are of the rounds only, without set-up and record, and the best of several runs. The
benchmark checks that two threads give the same bytes, that they are at least 1.7 times as fast as one with 10 000
players (wall-clock, on an idle machine with two cores), and that a player-round with 100 000 players costs at most 1.3
times one with 1000 (processor time, which depends less on the load).
"""

import argparse
import resource
import sys
import time
from dataclasses import dataclass

from results import Ratio, store

from gamesim import games
from gamesim.game import Game
from gamesim.record import Record
from gamesim.simulation import Simulation

FEW, MANY, MOST = 1000, 10_000, 100_000  # players
SPEED_UP, FLAT = 1.7, 1.3
STEPS = 20_000_000  # player-rounds, at most


@dataclass
class Took:
    """The time of all rounds: wall-clock and processor seconds."""

    clock: float
    cpu: float


def game_of(players: int) -> Game:
    """Return a polymatrix game with the same payoffs on all edges of a random 4-regular graph."""
    graph = {"d": 4, "n": players}
    return games.make("polymatrix", graph="random-regular", graph_settings=graph, game_settings={"seed": 1})


def timed(game: Game, rounds: int, threads: int) -> tuple[Took, Record]:
    """Run Hedge on a game; the first round is not timed, because it may compile."""
    simulation = Simulation(game, "hedge", perturb=0.1, trajectory="none")
    simulation.run(1, threads=threads)
    start, cpu = time.perf_counter(), simulation.seconds
    record = simulation.run(rounds - 1, threads=threads)
    return Took(time.perf_counter() - start, simulation.seconds - cpu), record


def same(one: Record, other: Record) -> bool:
    """Return whether two records hold the same bytes."""
    return all(one.arrays[key].tobytes() == other.arrays[key].tobytes() for key in one.arrays)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--players", type=int, nargs="+", default=[FEW, MANY, MOST])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3, help="interleaved runs per size; the best is reported")
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/networks.jsonl")
    chosen = parser.parse_args()
    columns = ("players", 8), ("threads", 8), ("set-up s", 9), ("run s", 8), ("µs clock", 9), ("µs cpu", 8), ("MiB", 6)
    print(*(f"{name:>{width}}" for name, width in (*columns, ("CCE gap", 8), ("CE gap", 8))))
    costs: dict[int, float] = {}
    cases: dict[str, Ratio] = {}
    verdicts = {}
    for players in sorted(chosen.players):
        game = game_of(players)
        rounds = min(chosen.rounds, STEPS // players)
        steps = players * rounds
        start = time.process_time()
        Simulation(game, "hedge", perturb=0.1, trajectory="none")
        setup = time.process_time() - start
        all_runs: dict[int, list[Took]] = {1: [], 2: []}
        records = {}
        for _ in range(chosen.repeats):
            for threads in (1, 2):
                took, records[threads] = timed(game, rounds, threads)
                all_runs[threads].append(took)
        best = {
            threads: Took(min(one.clock for one in runs), min(one.cpu for one in runs))
            for threads, runs in all_runs.items()
        }
        one, two = ([run.clock for run in runs] for runs in all_runs.values())
        cases[f"{players} players, clock on one thread / two"] = Ratio.of(one, two)
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        for threads, took in best.items():
            gaps = records[threads].gap("cce"), records[threads].gap("ce")
            print(
                f"{players:>8} {threads:>8} {setup:>9.2f} {took.clock:>8.2f} {took.clock / steps * 1e6:>9.3f} "
                f"{took.cpu / steps * 1e6:>8.3f} {held:>6.0f} {gaps[0]:>8.4f} {gaps[1]:>8.4f}"
            )
        costs[players] = best[1].cpu / steps
        verdicts[f"{players} players: the same bytes on one and two threads"] = same(records[1], records[2])
        if players == MANY:
            faster = best[1].clock / best[2].clock
            verdicts[f"{players} players: two threads are {faster:.2f} times as fast (at least {SPEED_UP})"] = (
                faster >= SPEED_UP
            )
    few, many = min(costs), max(costs)
    growth = costs[many] / costs[few]
    claim = f"a player-round with {many} players costs {growth:.2f} times one with {few} (at most {FLAT})"
    verdicts[claim] = growth <= FLAT
    cases[f"{many} players / {few}, CPU per player-round"] = Ratio.of([costs[many]], [costs[few]])
    if chosen.store:
        store("networks", cases)
    for claim, holds in verdicts.items():
        print(f"{'holds' if holds else 'FAILS'}: {claim}")
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
