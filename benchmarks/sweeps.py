"""Speed and memory of sweeps: many short points, processes and threads, one and two workers.

Run: python benchmarks/sweeps.py [--points POINTS] [--store]
CPU seconds are summed over all processes; on a busy machine they are more reliable than wall-clock time.
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
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/sweeps.jsonl")
    given = parser.parse_args()
    points = given.points
    many_games = {"base": BASE, "grid": {"game.settings.seed": {"first": 0, "count": points}}}
    many_seeds = {"base": BASE, "seeds": points}
    one_game = {**BASE, "game": {"name": "uniform", "settings": {"actions": 8}}, "rounds": 400_000}
    long_points = {"base": one_game, "grid": {"game.settings.seed": {"first": 0, "count": 40}}}
    table = Printed("points", "run by", "seconds", "CPU seconds", "points per second", "largest process, MB")
    cases: list[tuple[str, str, int, dict[str, Any], Open]] = [
        ("tiny, to load the kernels", "2 processes", 200, {"base": BASE, "seeds": 200}, local(2)),
        (f"{points:,} games, 3×3, 1000 rounds", "2 processes", points, many_games, local(2)),
        (f"{points:,} games, 3×3, 1000 rounds", "2 threads", points, many_games, threads(2)),
        (f"{points:,} seeds, 3×3, 1000 rounds", "2 processes", points, many_seeds, local(2)),
        ("40 games, 8×8, 400,000 rounds", "1 process", 40, long_points, local(1)),
        ("40 games, 8×8, 400,000 rounds", "2 processes", 40, long_points, local(2)),
        ("40 games, 8×8, 400,000 rounds", "2 threads", 40, long_points, threads(2)),
    ]
    clocks, seconds = {}, {}
    for what, by, count, study, open_pool in cases:
        took = timed(study, open_pool)
        clocks[what, by], seconds[what, by] = took.clock, took.cpu
        row = f"{took.clock:.1f}", f"{took.cpu:.1f}", f"{count / took.clock:,.0f}", f"{took.memory:,.0f}"
        table.add_row(what, by, *row)
    console = Console(width=120)
    console.print(table)
    what = cases[-1][0]
    console.print(f"speed-up of two workers over one: {clocks[what, '1 process'] / clocks[what, '2 processes']:.2f}×")
    if given.store:
        small = cases[1][0]
        cpu = seconds[small, "2 processes"], seconds[what, "2 processes"]
        ratios = {
            "two workers / one, speed": Ratio.of([clocks[what, "1 process"]], [clocks[what, "2 processes"]]),
            "CPU of a point of 1000 rounds / of 400,000": Ratio.of([cpu[0] / points], [cpu[1] / 40]),
        }
        store("sweeps", ratios)
    console.print(f"load average: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
