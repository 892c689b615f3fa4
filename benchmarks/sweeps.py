"""Speed and memory of sweeps: many short points, processes and threads, one and two workers.

Run: python benchmarks/sweeps.py [--points POINTS] [--repetitions REPETITIONS] [--store]
CPU seconds are summed over all processes; on a busy machine they are more reliable than wall-clock time. Sweeps of long
points are repeated, by one worker and by two in turns; their rows are those of the last repetition.
"""

import argparse
import multiprocessing
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from results import Ratio, store
from rich.console import Console
from rich.table import Table as Printed

from gamesim.study.model import Study
from gamesim.study.pools import Open, Pool, local
from gamesim.study.run import run_study
from gamesim.study.store import Store

BASE: dict[str, Any] = {
    "rounds": 1000,
    "game": {"name": "uniform", "settings": {"actions": 3}},
    "everyone": {"learner": "hedge", "perturb": 0.5},
}
LONG, LONG_POINTS = "{} games, 8×8, 400,000 rounds", (40, 160)  # few: the last one leaves a worker idle


@dataclass
class Took:
    """The cost of a sweep: wall-clock seconds, CPU seconds, and the peak memory of the largest process in MB."""

    clock: float
    cpu: float
    memory: float


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a running process."""
    try:
        numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # no /proc on this system
        return float("nan")
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process: int) -> float:
    """Return the peak memory of a process in MB."""
    try:
        (line,) = (one for one in Path(f"/proc/{process}/status").read_text().splitlines() if one.startswith("VmHWM"))
    except (OSError, ValueError):
        return float("nan")
    return int(line.split()[1]) / 1024


def timed(study: dict[str, Any], open_pool: Open) -> Took:
    """Run a sweep into a new store and measure it."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "study.sqlite", write=True) as store:
        began, before = perf_counter(), process_time()
        workers: list[tuple[float, float]] = []  # CPU seconds and memory, read before the workers exit

        def watched() -> Pool:
            pool = open_pool()
            close = pool.close

            def look_and_close() -> None:
                found = [one.pid for one in multiprocessing.active_children() if one.pid is not None]
                workers.extend((cpu_of(one), memory_of(one)) for one in found)
                close()

            pool.close = look_and_close
            return pool

        whole = Study.from_dict(study)
        store.register(whole.points(), whole.description)
        run_study(whole, store, watched)
        took, cpu = perf_counter() - began, process_time() - before
        counts = store.counts()
        if counts["todo"] or counts["failed"]:
            raise SystemExit(f"not all points ran: {counts}")
    largest = max([memory_of(os.getpid()), *(memory for _, memory in workers)])
    return Took(took, cpu + sum(seconds for seconds, _ in workers), largest)


def threads(workers: int) -> Open:
    """Return a function that opens a pool of threads, for comparison with processes."""

    def open_pool() -> Pool:
        executor = ThreadPoolExecutor(workers)
        return Pool(executor, workers, close=executor.shutdown)

    return open_pool


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--repetitions", type=int, default=6, help="of the sweeps of long points (default 6)")
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/sweeps.jsonl")
    given = parser.parse_args()
    points = given.points
    many_games = {"base": BASE, "grid": {"game.settings.seed": {"first": 0, "count": points}}}
    many_seeds = {"base": BASE, "seeds": points}
    one_game = {**BASE, "game": {"name": "uniform", "settings": {"actions": 8}}, "rounds": 400_000}
    table = Printed("points", "run by", "seconds", "CPU seconds", "points per second", "largest process, MB")
    cases: list[tuple[str, str, int, dict[str, Any], Open]] = [
        ("tiny, to load the kernels", "2 processes", 200, {"base": BASE, "seeds": 200}, local(2)),
        (f"{points:,} games, 3×3, 1000 rounds", "2 processes", points, many_games, local(2)),
        (f"{points:,} games, 3×3, 1000 rounds", "2 threads", points, many_games, threads(2)),
        (f"{points:,} seeds, 3×3, 1000 rounds", "2 processes", points, many_seeds, local(2)),
    ]
    for count in LONG_POINTS:
        long_points = {"base": one_game, "grid": {"game.settings.seed": {"first": 0, "count": count}}}
        pools = ("1 process", local(1)), ("2 processes", local(2))
        pair = [(LONG.format(count), by, count, long_points, pool) for by, pool in pools]
        cases += pair * given.repetitions
    taken: dict[tuple[str, str], list[Took]] = {}
    rows = {}
    for what, by, count, study, open_pool in cases:
        took = timed(study, open_pool)
        taken.setdefault((what, by), []).append(took)
        shown = f"{took.clock:.1f}", f"{took.cpu:.1f}", f"{count / took.clock:,.0f}", f"{took.memory:,.0f}"
        rows[what, by] = (what, by, *shown)
    for row in rows.values():
        table.add_row(*row)
    ratios = {}
    for count in LONG_POINTS:
        one, two = ([took.clock for took in taken[LONG.format(count), by]] for by in ("1 process", "2 processes"))
        ratios[f"two workers / one, speed, {count} points"] = Ratio.of(one, two)
    small, large = (taken[case[0], "2 processes"][-1].cpu / case[2] for case in (cases[1], cases[-1]))
    console = Console(width=120)
    console.print(table)
    for what, ratio in ratios.items():
        console.print(f"{what}: {ratio}")
    if given.store:
        store("sweeps", ratios | {"CPU of a point of 1000 rounds / of 400,000": Ratio.of([small], [large])})
    console.print(f"load average: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
