"""How network games scale: Hedge on polymatrix games over random 4-regular graphs, with gaps.

Run `python benchmarks/networks.py` on a quiet machine. It prints, for 100 to 10 000 players of 4 actions and 1000
rounds, the time on the clock and on the processor per player and round, and the most memory that the process has held.
Kernels are compiled before anything is timed, and every size is run equally often, the best run counting. The claims
that it checks: 10 000 players within 60 s and 1 GiB on one core, and a cost per player-round at 10 000 players within
1.5 times that at 100. The flatness is judged by processor time, which a busy machine disturbs less; the 60 s by the
clock.
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
    parser.add_argument("--repeats", type=int, default=3, help="runs of every size, of which the best counts")
    chosen = parser.parse_args()
    gamesim.simulate(games.make("polymatrix"), "hedge", rounds=2).gap("ce")  # compiles
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
        f"a player-round costs {growth:.2f} times that with {few} players (at most {FLAT})": growth <= FLAT,
    }
    for claim, holds in verdicts.items():
        print(f"{'holds' if holds else 'FAILS'}: {claim}")
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
