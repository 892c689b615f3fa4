"""What `gamesim sweep` and `gamesim study` do, and what they show."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table as Grid
from rich.text import Text

from gamesim import scenario
from gamesim.atomic import WriteInto, refuse_to_overwrite, write_files
from gamesim.errors import InputError
from gamesim.formatting import duration, file_size, number
from gamesim.report.summary import print_table
from gamesim.study.estimate import estimate
from gamesim.study.jobs import Job, Outcome
from gamesim.study.model import Study, find, read
from gamesim.study.pools import Open, cluster, local
from gamesim.study.run import run_study
from gamesim.study.store import FILE, Store

if TYPE_CHECKING:
    from gamesim.study.results import Results


STUDIES = Path("studies")  # where stores are kept unless a person says otherwise
FAILED, INTERRUPTED = 1, 130  # exit codes
SHOWN = 3  # of the best and of the worst points, and
LISTED = 20  # of the failures
WIDE = 200  # letters in a line of what is not read on a terminal
SAMPLE = 40  # points that a dry run may time


def run_sweep(
    name: str, out: str | None, workers: int, address: str | None, console: Console, *, dry_run: bool = False
) -> int:
    """Sweep a study into its store and return the exit code."""
    if workers < 1:
        raise InputError(f"a sweep needs at least one worker, and {workers} came")
    with _told_from_a_scenario(name):
        path = find(name)
        study = read(path)
    store_path = folder_of(path, out) / FILE
    if dry_run:
        _dry_run(study, store_path, workers, console)
        return 0
    open_pool = cluster(address) if address else local(workers)
    with Store(store_path, write=True) as store:
        console.print(f"{study.title or study.name}: {study.count:,} points", style="bold")
        store.register(study.points(), study.description)
        try:
            _watched(store, study, open_pool, console)
        except KeyboardInterrupt:
            counts = store.counts()
            console.print(f"stopped: {counts['done']:,} points are finished, {counts['todo']:,} are to do")
            console.print("the same command goes on from here", style="dim")
            return INTERRUPTED
        return _told(store, store_path, console)


@contextmanager
def _told_from_a_scenario(name: str) -> Iterator[None]:
    """Where no study is found or read, tell who gave a scenario how to run it."""
    try:
        yield
    except InputError:
        try:
            scenario.read(scenario.find(name))
        except InputError:
            pass
        else:
            raise InputError(f"{name} is a scenario, which a study varies: run it with `gamesim run {name}`") from None
        raise


def folder_of(path: Path, out: str | None) -> Path:
    """Return the folder that a study's store is kept in."""
    return Path(out) if out else STUDIES / path.stem


def _watched(store: Store, study: Study, open_pool: Open, console: Console) -> None:
    before = store.counts()
    board = Scoreboard(store, study.measures[0], before["done"], sum(before.values()))
    if console.quiet or not console.is_terminal:
        run_study(study, store, open_pool, board)
        return
    with Live(board, console=console, refresh_per_second=4, transient=True):
        run_study(study, store, open_pool, board)


def _told(store: Store, path: Path, console: Console) -> int:
    counts = store.counts()
    console.print(f"{counts['done']:,} points are finished, {counts['failed']:,} failed, in {path}")
    if not counts["failed"]:
        return 0
    for row in islice(store.rows("failed"), LISTED):
        console.print(Text(f"  {_named(row.labels, row.seed)}: {row.error}"))
    if counts["failed"] > LISTED:
        console.print(f"  … and {counts['failed'] - LISTED:,} more, in the column `error` of gamesim study --csv")
    console.print("the same command tries them again", style="dim")
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
    console.print(f"{count:,} points, of which {count - left:,} are finished", style="bold")
    if not left:
        return
    chosen = Random(0).sample(range(left), min(left, SAMPLE))  # at random: even steps would meet only some choices
    wanted = set(chosen)
    sample = {i: point for i, point in enumerate(study.points() if todo is None else todo) if i in wanted}
    jobs = [Job(point.key, point.text, point.seed) for point in (sample[i] for i in chosen)]
    with console.status("timing some of them"):
        told = estimate(jobs, left, study.measures, workers)
    if not told.sampled:
        console.print("none of those that were tried ran: gamesim sweep tells why")
        return
    console.print(f"about {duration(told.seconds)} with {workers} workers (from {told.sampled} that were timed)")
    console.print(f"{file_size(told.bytes)} of disk in {path}")


@dataclass
class Scoreboard:
    """How far a sweep is, at what rate, and which points are best and worst so far by the study's first measure."""

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
        """Count these in."""
        for outcome in outcomes:
            self.new += 1
            self.done += outcome.measures is not None
            self.failed += outcome.measures is None
            value = outcome.measures[self.measure] if outcome.measures else None
            if value is None:
                continue
            if len(self.best) < SHOWN or value < self.best[-1][0]:
                self.best = heapq.nsmallest(SHOWN, [*self.best, (value, self._name(outcome.key))])
            if len(self.worst) < SHOWN or value > self.worst[-1][0]:
                self.worst = heapq.nlargest(SHOWN, [*self.worst, (value, self._name(outcome.key))])

    def _name(self, key: str) -> str:
        row = self.store.row(key)
        return _named(row.labels, row.seed)

    def __rich__(self) -> Group:
        rate = self.new / max(perf_counter() - self.began, 1e-9)
        left = self.total - self.done - self.failed
        remaining = duration(left / rate) if self.new else "–"
        bar = Progress(
            BarColumn(bar_width=None),
            TextColumn("{task.fields[said]}"),
            expand=True,
        )
        said = f"{self.done:,} of {self.total:,} points · {number(rate)} a second · {remaining} left"
        failures = f" · {self.failed:,} failed" if self.failed else ""
        bar.add_task("", total=max(self.total, 1), completed=self.done + self.failed, said=said + failures)
        grid = Grid(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for place, points in (("least", self.best), ("largest", self.worst)):
            for value, name in points:
                grid.add_row(Text(f"{place} {self.measure}", style="dim"), number(value), Text(name))
        return Group(bar, grid)


def show_study(
    name: str,
    console: Console,
    *,
    measure: str | None = None,
    csv: str | None = None,
    parquet: str | None = None,
    figures: str | None = None,
    force: bool = False,
) -> int:
    """Print a study's tables and fits, write what is asked for, and return the exit code."""
    from gamesim.study.export import write_csv, write_parquet
    from gamesim.study.results import read_results

    for export in filter(None, (csv, parquet)):
        refuse_to_overwrite(Path(export), force=force)
    with Store(store_of(name)) as store:
        results = read_results(store)
    results.chosen(measure)  # refuses a wrong one before anything is written
    parts: list[tuple[Path, WriteInto]] = []
    if csv is not None:
        parts.append(_file(Path(csv), lambda path: write_csv(results, path)))
    if parquet is not None:
        parts.append(_file(Path(parquet), lambda path: write_parquet(results, path)))
    if figures is not None:
        from gamesim.figures.study import draw_study

        parts.append((Path(figures), lambda folder: draw_study(results, folder, measure)))
    written = write_files(parts, force=force)
    show_results(results, measure, console)
    for path in written:
        console.print(f"Written to {path}", style="dim")
    return 0


def _file(path: Path, write: Callable[[Path], None]) -> tuple[Path, WriteInto]:
    """Return the folder that a file belongs into, and what writes it into any folder."""

    def into(folder: Path) -> list[Path]:
        write(folder / path.name)
        return [folder / path.name]

    return path.parent, into


def store_of(name: str) -> Path:
    """Return the store that somebody means: the file, its folder, or a study that was swept into its usual place."""
    path = Path(name)
    swept = {store.parent.name: store for store in sorted(STUDIES.glob(f"*/{FILE}"))}
    if name in swept and not (path / FILE).is_file():
        return swept[name]
    if path.is_dir():
        return path / FILE
    if path.suffix in (".sqlite", ".db"):
        return path
    with _told_from_a_scenario(name):
        return folder_of(find(name, swept), None) / FILE


def show_results(results: "Results", measure: str | None, console: Console) -> None:
    """Print how far the study is, each axis's table, the fits and the learner-by-game matrix."""
    from gamesim.study.tables import tables

    if not console.is_terminal:
        console.width = WIDE
    console.print(Text(results.description.title or results.description.name, style="bold"))
    counts = results.counts
    console.print(
        f"{counts['done']:,} points are finished, {counts['failed']:,} failed, {counts['todo']:,} are to do",
        style="dim",
    )
    if not counts["done"]:
        return
    chosen = results.chosen(measure)
    for table in tables(results, chosen):
        console.print()
        console.print(Text(table.title, style="bold"))
        console.print(Text(table.note, style="dim"))
        columns = [(heading, "right" if k else "left") for k, heading in enumerate(table.headings)]
        print_table(columns, table.rows, console)
