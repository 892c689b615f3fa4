"""Run a sweep with a live display of its progress, and print the outcome."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table as Grid
from rich.text import Text

from gamesim.cli.exit_codes import FAILED, INTERRUPTED
from gamesim.cli.stores import folder_of, hint_if_scenario
from gamesim.errors import InputError
from gamesim.formatting import duration, file_size, number
from gamesim.study.estimate import estimate
from gamesim.study.jobs import Job, Outcome
from gamesim.study.model import Study, find, read
from gamesim.study.pools import Open, cluster, local
from gamesim.study.run import run_study
from gamesim.study.store import FILE, Store

POINTS_SHOWN = 3  # best and worst points shown while a sweep runs
FAILURES_SHOWN = 20
POINTS_TIMED = 40  # at most, in a dry run


def run_sweep(
    name: str,
    out: str | None,
    workers: int,
    address: str | None,
    console: Console,
    *,
    dry_run: bool = False,
    local_code: bool = False,
) -> int:
    """Run the unfinished points of a study, save them in its store, and return the exit code."""
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    with hint_if_scenario(name):
        path = find(name)
        study = read(path, local_code=local_code)
    store_path = folder_of(path, out) / FILE
    if dry_run:
        _dry_run(study, store_path, workers, console)
        return 0
    open_pool = cluster(address) if address else local(workers)
    with Store(store_path, write=True) as store:
        console.print(f"{study.title or study.name}: {study.count:,} points", style="bold")
        store.register(study.points(), study.description)
        try:
            _run_with_display(store, study, open_pool, console)
        except KeyboardInterrupt:
            counts = store.counts()
            console.print(f"stopped: {counts['done']:,} points finished, {counts['todo']:,} to do")
            console.print("repeat the command to continue", style="dim")
            return INTERRUPTED
        return _print_outcome(store, store_path, console)


def _run_with_display(store: Store, study: Study, open_pool: Open, console: Console) -> None:
    before = store.counts()
    board = Scoreboard(store, study.description.measures[0], before["done"], sum(before.values()))
    if console.quiet or not console.is_terminal:
        run_study(study, store, open_pool, board)
        return
    with Live(board, console=console, refresh_per_second=4, transient=True):
        run_study(study, store, open_pool, board)


def _print_outcome(store: Store, path: Path, console: Console) -> int:
    counts = store.counts()
    console.print(f"{counts['done']:,} points finished, {counts['failed']:,} failed; saved in {path}")
    if not counts["failed"]:
        return 0
    for row in islice(store.rows("failed"), FAILURES_SHOWN):
        console.print(Text(f"  {_named(row.labels, row.seed)}: {row.error}"))
    if counts["failed"] > FAILURES_SHOWN:
        console.print(
            f"  … and {counts['failed'] - FAILURES_SHOWN:,} more; see the column `error` of gamesim study --csv"
        )
    console.print("repeat the command to retry them", style="dim")
    return FAILED


def _named(labels: dict[str, Any], seed: int) -> str:
    return ", ".join([*(f"{name} {label}" for name, label in labels.items()), f"seed {seed}"])


def _dry_run(study: Study, path: Path, workers: int, console: Console) -> None:
    finished: set[str] = set()
    if path.is_file():
        with Store(path) as store:
            finished = store.finished()
    count = study.count
    todo = [point for point in study.points() if point.key not in finished] if finished else None
    left = count if todo is None else len(todo)
    console.print(f"{count:,} points, {count - left:,} of them finished", style="bold")
    if not left:
        return
    chosen = Random(0).sample(
        range(left), min(left, POINTS_TIMED)
    )  # random, because even steps could miss values of an axis
    wanted = set(chosen)
    sample = {i: point for i, point in enumerate(study.points() if todo is None else todo) if i in wanted}
    jobs = [Job(point.key, point.text, point.seed) for point in (sample[i] for i in chosen)]
    with console.status("timing a sample of points"):
        expected = estimate(jobs, left, len(study.seeds), study.measures, workers)
    if not expected.sampled:
        console.print("all sampled points failed; run gamesim sweep for the errors")
        return
    console.print(
        f"about {duration(expected.seconds)} with {workers} workers (estimated from {expected.sampled} points)"
    )
    console.print(f"{file_size(expected.bytes)} of disk space for {path}")


@dataclass
class Scoreboard:
    """Progress of a sweep, its speed, and the best and worst points so far by the study's first measure."""

    store: Store
    measure: str
    done: int
    total: int
    failed: int = 0
    new: int = 0
    best: list[tuple[float, str]] = field(default_factory=list)
    worst: list[tuple[float, str]] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)

    def __call__(self, outcomes: Sequence[Outcome]) -> None:
        """Add new outcomes."""
        for outcome in outcomes:
            self.new += 1
            self.done += outcome.measures is not None
            self.failed += outcome.measures is None
            value = outcome.measures[self.measure] if outcome.measures else None
            if value is None:
                continue
            if len(self.best) < POINTS_SHOWN or value < self.best[-1][0]:
                self.best = heapq.nsmallest(POINTS_SHOWN, [*self.best, (value, self._name(outcome.key))])
            if len(self.worst) < POINTS_SHOWN or value > self.worst[-1][0]:
                self.worst = heapq.nlargest(POINTS_SHOWN, [*self.worst, (value, self._name(outcome.key))])

    def _name(self, key: str) -> str:
        row = self.store.row(key)
        return _named(row.labels, row.seed)

    def __rich__(self) -> Group:
        rate = self.new / max(perf_counter() - self.began, 1e-9)
        left = self.total - self.done - self.failed
        remaining = duration(left / rate) if self.new else "–"
        bar = Progress(
            BarColumn(bar_width=None),
            TextColumn("{task.fields[status]}"),
            expand=True,
        )
        status = f"{self.done:,} of {self.total:,} points · {number(rate)} per second · {remaining} left"
        failures = f" · {self.failed:,} failed" if self.failed else ""
        bar.add_task("", total=max(self.total, 1), completed=self.done + self.failed, status=status + failures)
        grid = Grid(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for place, points in (("smallest", self.best), ("largest", self.worst)):
            for value, name in points:
                grid.add_row(Text(f"{place} {self.measure}", style="dim"), number(value), Text(name))
        return Group(bar, grid)
