"""The points of the study: each one run, with its seed, and kept as soon as it is there.

A claim is a module with `points(small)`, which says what is run, `measure(labels, seed)`, which runs one point in a
worker, and `section(results, folder)`, which tells what came of it.
"""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from gamesim.errors import InputError
from gamesim.study.results import Mean, mean
from gamesim.study.sweep import local

FILE = "points.sqlite"
REVISION = 1  # of the learners and claims: points of another one do not count

Values = dict[str, float]
Labels = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One run of a claim."""

    claim: str
    labels: Labels
    seed: int

    @property
    def key(self) -> str:
        """The hash of all that decides the run."""
        said = json.dumps([REVISION, self.claim, self.labels, self.seed], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:32]


class Store:
    """The finished points, in one SQLite file that no kill can spoil: a transaction for each point."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, timeout=30)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, claim TEXT NOT NULL, labels TEXT NOT NULL, "
                "seed INTEGER NOT NULL, measured TEXT NOT NULL, seconds REAL NOT NULL) WITHOUT ROWID"
            )
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: {error}: choose another place with --out") from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def keep(self, point: Point, measured: Values, seconds: float) -> None:
        """Write down what came of a point."""
        row = point.key, point.claim, json.dumps(point.labels), point.seed, json.dumps(measured), seconds
        self._db.execute("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?)", row)

    def forget(self, points: Iterable[Point]) -> None:
        """Have these points run again."""
        self._db.executemany("DELETE FROM points WHERE key = ?", ((point.key,) for point in points))

    def found(self, points: Sequence[Point]) -> Iterator[tuple[Point, Values, float]]:
        """Give those of the points that are finished, with what was measured and the seconds that it took."""
        rows = self._db.execute("SELECT key, measured, seconds FROM points")
        kept = {key: (json.loads(text), seconds) for key, text, seconds in rows}
        return ((point, *kept[point.key]) for point in points if point.key in kept)


@dataclass(frozen=True)
class Results:
    """The finished points of one claim, and how many there should be."""

    rows: list[tuple[Point, Values]]
    wanted: int
    seconds: float

    @cached_property
    def _by_learner(self) -> dict[Any, list[tuple[Point, Values]]]:
        found: dict[Any, list[tuple[Point, Values]]] = {}
        for row in self.rows:
            found.setdefault(row[0].labels.get("learner"), []).append(row)
        return found

    def values(self, measure: str, **labels: Any) -> dict[int, float]:
        """The values of a measure at these labels, by seed."""
        rows = self._by_learner.get(labels["learner"], []) if "learner" in labels else self.rows
        return {
            point.seed: measured[measure]
            for point, measured in rows
            if measure in measured and all(point.labels.get(key) == value for key, value in labels.items())
        }

    def mean(self, measure: str, **labels: Any) -> Mean | None:
        """The mean over seeds, with its 95 % interval."""
        return mean(self.values(measure, **labels).values())

    def difference(self, measure: str, one: Labels, other: Labels) -> Mean | None:
        """The mean over seeds of `one` less `other`; both met the same random numbers, so seed by seed."""
        first, second = self.values(measure, **one), self.values(measure, **other)
        return mean(first[seed] - second[seed] for seed in first if seed in second)

    def seeds(self) -> list[int]:
        """How many seeds each cell has, of those that have more than one."""
        found = Counter(json.dumps(point.labels) for point, _ in self.rows)
        return [count for count in found.values() if count > 1]

    def labels(self, name: str, **fixed: Any) -> list[Any]:
        """The values that a label takes where others have these, in the order of the points."""
        found = (
            point.labels.get(name)
            for point, _ in self.rows
            if all(point.labels.get(key) == value for key, value in fixed.items())
        )
        return list(dict.fromkeys(value for value in found if value is not None))


def results(store: Store, points: Sequence[Point]) -> Results:
    """Read what there is of a claim's points."""
    found = list(store.found(points))
    return Results([(point, values) for point, values, _ in found], len(points), sum(s for _, _, s in found))


def run(store: Store, points: Sequence[Point], workers: int, watch: Callable[[int, int], object]) -> None:
    """Run the points that are not in the store, in their order, and keep each as it comes."""
    done = {point.key for point, _, _ in store.found(points)}
    todo = [point for point in points if point.key not in done]
    if not todo:
        return
    pool = local(workers)()
    try:
        flying: dict[Future[tuple[Values, float]], Point] = {}
        waiting = iter(todo)
        finished = len(points) - len(todo)
        while True:
            while len(flying) < 2 * workers and (point := next(waiting, None)) is not None:
                flying[pool.executor.submit(measure, point)] = point
            if not flying:
                return
            ended, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in ended:
                store.keep(flying.pop(future), *future.result())
                finished += 1
            watch(finished, len(points))
    finally:
        pool.close()


def measure(point: Point) -> tuple[Values, float]:
    """Run one point; return what was measured and the seconds that it took."""
    began = perf_counter()
    measured: Values = import_module(f"gamesim.wavelet_theorem.{point.claim}").measure(point.labels, point.seed)
    return measured, perf_counter() - began
