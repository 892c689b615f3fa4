"""What a study says: tables along its axes, slopes with confidence intervals, and the learner-by-game matrix.

A slope is the exponent of measure ≈ c · x^slope, where x is the number of rounds T or of actions d. It is fitted to
each run by itself (all that is the same but x, on logarithmic axes, by least squares) and then averaged: runs of one
game belong together, so they do not count as many. Intervals are of 95 %, by Student's t over the runs; where there is
one run only, over its residuals.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import number
from gamesim.measure.trend import CONFIDENCE, exponent_of
from gamesim.study.store import Row, Store

MOST_VALUES = 40  # of an axis in a table
SYMBOLS = {"rounds": "T", "actions": "d"}
ZERO = 1e-12  # rounding: what is smaller has no logarithm that says something


@dataclass(frozen=True)
class Mean:
    """A mean, half the width of its confidence interval, and over how many."""

    value: float
    half: float
    count: int

    def __str__(self) -> str:
        half = 0.0 if self.half < ZERO * abs(self.value) else self.half  # what rounding leaves is none
        return number(self.value) if np.isnan(half) else f"{number(self.value)} ± {half:.2g}"


@dataclass(frozen=True)
class Printed:
    """A table for people, and over what its cells are averaged."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    note: str


def mean(values: Iterable[float | None]) -> Mean | None:
    """Return the mean with its confidence interval, or None of nothing.

    >>> print(mean([1.0, 2.0, 3.0]))
    2 ± 2.5
    """
    found = np.array([value for value in values if value is not None], dtype=float)
    if not found.size:
        return None
    if found.size == 1:
        return Mean(float(found[0]), float("nan"), 1)
    spread = found.std(ddof=1) / np.sqrt(found.size)
    half = student.ppf((1 + CONFIDENCE) / 2, found.size - 1) * spread
    return Mean(float(found.mean()), float(half), int(found.size))


def slope(x: Sequence[float], y: Sequence[float | None]) -> Mean | None:
    """Return the exponent of y ≈ c · x^slope with its interval over the residuals; None with fewer than two x.

    >>> print(slope([1, 10, 100], [1.0, 0.1, 0.01]))
    -1 ± 0
    """
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if b is not None and b > ZERO and a > 0]
    if len({a for a, _ in pairs}) < 2:
        return None
    return Mean(*exponent_of(*np.array(pairs).T), 1)


@dataclass(frozen=True)
class Results:
    """A study's finished points, and what it is about."""

    name: str
    title: str
    measures: list[str]
    axes: list[dict[str, Any]]
    counts: dict[str, int]
    rows: list[Row]

    @cached_property
    def done(self) -> list[Row]:
        """The points that have their measures."""
        return [row for row in self.rows if row.status == "done"]

    def axis(self, role: str) -> str | None:
        """The name of the axis that stands for the rounds, actions, learner or game, if there is one."""
        return next((axis["name"] for axis in self.axes if axis["role"] == role), None)

    def values(self, axis: str) -> list[Any]:
        """The values along an axis, in the study's order."""
        return next(list(one["values"]) for one in self.axes if one["name"] == axis)

    def chosen(self, measure: str | None) -> list[str]:
        """The measures to tell about: one, or all of the study."""
        if measure is None:
            return self.measures
        if measure not in self.measures:
            hint = did_you_mean(measure, self.measures)
            raise InputError(f"this study keeps no measure called {measure!r}: {hint}")
        return [measure]

    def slopes(self, measure: str, axis: str, series: str | None) -> dict[Any, Mean]:
        """The mean slope of a measure along an axis of numbers, for each value of the axis `series`."""
        runs: dict[Any, dict[str, list[tuple[float, float | None]]]] = {}
        for row in self.done:
            x = row.labels.get(axis)
            if isinstance(x, int | float):
                rest = str([(name, label) for name, label in row.labels.items() if name != axis] + [row.seed])
                one = runs.setdefault(row.labels.get(str(series)), {}).setdefault(rest, [])
                one.append((float(x), row.measures.get(measure)))
        found = {}
        for label, each in runs.items():
            fitted = [fit for pairs in each.values() if (fit := slope(*zip(*pairs, strict=True))) is not None]
            averaged = fitted[0] if len(fitted) == 1 else mean(fit.value for fit in fitted)
            if averaged is not None:
                found[label] = averaged
        return found

    def tables(self, measures: Sequence[str]) -> list[Printed]:
        """All tables: the slopes, the means along each axis that is short, the learner-by-game matrix."""
        printed = self._slope_tables(measures)
        for axis in self.axes:
            if 1 < len(axis["values"]) <= MOST_VALUES and axis["role"] != "game" and not axis["name"].endswith(".seed"):
                printed.append(self._along(axis["name"], measures))
        learner, game = self.axis("learner"), self.axis("game")
        if learner and game:
            printed.append(self._matrix(learner, game, measures[0]))
        elif game:
            printed.append(self._along(game, measures))
        return printed

    def _slope_tables(self, measures: Sequence[str]) -> list[Printed]:
        printed = []
        series = self.axis("learner")
        kept = [name for name in measures if not name.endswith("-slope") and name != "welfare"]
        for role, symbol in SYMBOLS.items():
            axis = self.axis(role)
            if axis is None or not kept:
                continue
            columns = {name: self.slopes(name, axis, series) for name in kept}
            labels = list(dict.fromkeys(label for column in columns.values() for label in column))
            rows = [
                [_said(label), *(_cell(column.get(label)) for column in columns.values())]
                for label in (labels if series is None else [v for v in self.values(series) if v in labels])
            ]
            if rows:
                title = f"slope in {symbol} ({axis}): the exponent of measure ≈ c · {symbol}^slope"
                printed.append(Printed(title, [series or "", *kept], rows, self._averaged(axis, series)))
        return printed

    def _along(self, axis: str, measures: Sequence[str]) -> Printed:
        groups: dict[Any, list[Row]] = {}
        for row in self.done:
            if axis in row.labels:
                groups.setdefault(row.labels[axis], []).append(row)
        rows = [
            [_said(v), f"{len(groups[v]):,}", *(_cell(mean(r.measures.get(m) for r in groups[v])) for m in measures)]
            for v in self.values(axis)
            if v in groups
        ]
        return Printed(f"mean along {axis}", [axis, "points", *measures], rows, self._averaged(axis))

    def _matrix(self, learner: str, game: str, measure: str) -> Printed:
        """Games down, learners across: means over everything else, at the largest number of rounds."""
        learners, played = self.values(learner), self.values(game)
        cells: dict[Any, list[float | None]] = {}
        for row in self.longest:
            value = row.measures.get(measure)
            cells.setdefault((row.labels.get(game), row.labels.get(learner)), []).append(value)
        rows = [[_said(g), *(_cell(mean(cells.get((g, one), []))) for one in learners)] for g in played]
        everywhere = [[value for g in played for value in cells.get((g, one), [])] for one in learners]
        rows.append(["all", *(_cell(mean(values)) for values in everywhere)])
        title = f"{measure}: {learner} by {game}{self.at_the_longest}"
        note = f"{self._averaged(learner, game, self.axis('rounds'))} The last line is over {game} too."
        return Printed(title, [game, *map(_said, learners)], rows, note)

    def _averaged(self, *shown: str | None) -> str:
        """Say over what a table is averaged that shows these axes."""
        over = [axis["name"] for axis in self.axes if len(axis["values"]) > 1 and axis["name"] not in shown]
        over += ["seeds"] if len({row.seed for row in self.done}) > 1 else []
        return (f"Means over {', '.join(over)}. " if over else "") + "± is the 95 % interval."

    @property
    def longest(self) -> list[Row]:
        """The points with the largest number of rounds, where that varies."""
        axis = self.axis("rounds")
        if axis is None:
            return self.done
        last = max(self.values(axis))
        return [row for row in self.done if row.labels.get(axis) == last]

    @property
    def at_the_longest(self) -> str:
        """Those words, for a title."""
        axis = self.axis("rounds")
        return "" if axis is None else f", at {max(self.values(axis)):,} rounds"


def results(store: Store) -> Results:
    """Read a study's points and what it is about."""
    about = store.about()
    return Results(
        name=about["name"],
        title=about["title"],
        measures=about["measures"],
        axes=about["axes"],
        counts=store.counts(),
        rows=list(store.rows()),
    )


def _columns(results: Results) -> tuple[list[str], list[str], list[str]]:
    axes = [axis["name"] for axis in results.axes]
    measures = list(dict.fromkeys([*results.measures, *(name for row in results.done for name in row.measures)]))
    return axes, measures, ["key", *axes, "seed", "status", *measures, "error", "seconds"]


def _line(row: Row, axes: list[str], measures: list[str]) -> list[Any]:
    labels = [row.labels.get(axis) for axis in axes]
    values = [row.measures.get(measure) for measure in measures]
    return [row.key, *labels, row.seed, row.status, *values, row.error, row.seconds]


def write_csv(results: Results, path: Path) -> None:
    """Write every point as a line: its labels, seed, status, measures, error and seconds."""
    axes, measures, columns = _columns(results)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(_line(row, axes, measures) for row in results.rows)


def write_parquet(results: Results, path: Path) -> None:
    """Write the same as Parquet; numbers are numbers, and a column of mixed labels is text."""
    try:
        pyarrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'gamesim[parquet]'") from None
    axes, measures, columns = _columns(results)
    lines = [_line(row, axes, measures) for row in results.rows]
    arrays = {name: [line[i] for line in lines] for i, name in enumerate(columns)}
    for name in axes:
        kinds = {type(value) for value in arrays[name] if value is not None}
        if not (len(kinds) <= 1 or kinds == {int, float}):
            arrays[name] = [None if value is None else str(value) for value in arrays[name]]
        elif kinds == {int, float}:
            arrays[name] = [None if value is None else float(value) for value in arrays[name]]
    types = {name: pyarrow.float64() for name in (*measures, "seconds")} | {"error": pyarrow.string()}
    table = pyarrow.table({name: pyarrow.array(values, types.get(name)) for name, values in arrays.items()})
    parquet.write_table(table, path)


def curve(results: Results, measure: str, axis: str, label: Any) -> tuple[NDArray[np.float64], list[Mean]]:
    """Return the means of a measure along an axis of numbers, for one learner."""
    learner = results.axis("learner")
    x, means = [], []
    for value in results.values(axis):
        rows = [r for r in results.done if r.labels.get(axis) == value and r.labels.get(str(learner)) == label]
        found = mean(row.measures.get(measure) for row in rows)
        if found is not None:
            x.append(float(value))
            means.append(found)
    return np.array(x), means


def _said(label: Any) -> str:
    if label is None:
        return "all"
    return f"{label:,}" if isinstance(label, int) and not isinstance(label, bool) else str(label)


def _cell(found: Mean | None) -> str:
    return "–" if found is None else str(found)
