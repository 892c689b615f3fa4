"""Scaling of network games: Hedge on polymatrix games over random 4-regular graphs, including the gaps.

Run `python benchmarks/networks.py` on an idle machine. For 100 to 10 000 players with 4 actions and 1000 rounds, it
prints the wall-clock and processor time per player-round and the peak memory. Kernels are compiled before timing, and
the best of several runs is reported. The benchmark checks that 10 000 players take at most 60 s (wall-clock) and 1 GiB
on one core, and that a player-round with 10 000 players costs at most 1.5 times one with 100 (processor time, which
depends less on the load).
"""

import argparse
import resource
import sys
import time

import gamesim
from gamesim import games

SECONDS, BYTES, FLAT = 60.0, 2**30, 1.5


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--players", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3, help="runs per size; the best is reported")
    chosen = parser.parse_args()
    gamesim.simulate(games.make("polymatrix"), "hedge", rounds=2).gap("ce")  # compiles the kernels
    columns = ("players", 8), ("build s", 8), ("run s", 8), ("µs clock", 9), ("µs cpu", 8), ("MiB", 6), ("CCE gap", 8)
    print(*(f"{name:>{width}}" for name, width in (*columns, ("CE gap", 8))))
    cpu_costs: dict[int, float] = {}
    clock = 0.0
    for players in sorted(chosen.players):
        start = time.perf_counter()
        game = games.make("polymatrix", graph="random-regular", graph_settings={"d": 4, "n": players})
        build = time.perf_counter() - start
        steps = players * chosen.rounds
        timings = []
        for _ in range(chosen.repeats):
            start, cpu = time.perf_counter(), time.process_time()
            record = gamesim.simulate(game, "hedge", rounds=chosen.rounds)
            gaps = record.gap("cce"), record.gap("ce")
            timings.append((time.process_time() - cpu, time.perf_counter() - start))
        cpu, clock = min(timings)
        cpu_costs[players] = cpu / steps
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(
            f"{players:>8} {build:>8.2f} {clock:>8.2f} {clock / steps * 1e6:>9.2f} {cpu / steps * 1e6:>8.2f} "
            f"{held / 2**20:>6.0f} {gaps[0]:>8.4f} {gaps[1]:>8.4f}"
        )
    few, many = min(cpu_costs), max(cpu_costs)
    growth = cpu_costs[many] / cpu_costs[few]
    verdicts = {
        f"{many} players in {clock:.1f} s (at most {SECONDS:.0f})": clock <= SECONDS,
        f"{held / 2**20:.0f} MiB (at most {BYTES / 2**20:.0f})": held <= BYTES,
        f"a player-round costs {growth:.2f} times as much as with {few} players (at most {FLAT})": growth <= FLAT,
    }
    for claim, holds in verdicts.items():
        print(f"{'holds' if holds else 'FAILS'}: {claim}")
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
