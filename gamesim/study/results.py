"""The results of a study: its points, and queries of them by their labels."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import unknown
from gamesim.study.canonical import canonical
from gamesim.study.description import Description
from gamesim.study.statistics import Mean, mean, slope
from gamesim.study.store import Row, Store

SYMBOLS = {"rounds": "T", "actions": "d"}  # symbols of the axes along which slopes are fitted, by role


@dataclass(frozen=True)
class Results:
    """The points in a study's store, and the description of the study."""

    description: Description
    rows: list[Row]

    @cached_property
    def done(self) -> list[Row]:
        """The finished points."""
        return [row for row in self.rows if row.status == "done"]

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of points by status: to do, done and failed."""
        found = Counter(row.status for row in self.rows)
        return {status: found[status] for status in ("todo", "done", "failed")}

    @property
    def seconds(self) -> float:
        """The total time of the finished points."""
        return sum(row.seconds or 0.0 for row in self.done)

    # Queries of the finished points by their labels.

    def select(self, /, **labels: Any) -> list[Row]:
        """Return the points with these labels."""
        candidates = (self._by_label.get(label, []) for label in labels.items())
        fewest = min(candidates, key=len, default=self.done)
        return [row for row in fewest if all(row.labels.get(name) == value for name, value in labels.items())]

    @cached_property
    def _by_label(self) -> dict[tuple[str, Hashable], list[Row]]:
        found: dict[tuple[str, Hashable], list[Row]] = {}
        for row in self.done:
            for label in row.labels.items():
                found.setdefault(label, []).append(row)
        return found

    def labels(self, name: str, /, **fixed: Any) -> list[Any]:
        """Return the values of a label among the points with the labels `fixed`, in the order of the points."""
        found = (row.labels.get(name) for row in self.select(**fixed))
        return list(dict.fromkeys(value for value in found if value is not None))

    def values(self, measure: str, /, **labels: Any) -> dict[int, float]:
        """Return the values of a measure at these labels, by seed."""
        found = ((row.seed, row.measures.get(measure)) for row in self.select(**labels))
        return {seed: value for seed, value in found if value is not None}

    def mean(self, measure: str, /, **labels: Any) -> Mean | None:
        """Return the mean over all points with these labels, with its 95 % confidence interval."""
        return mean(row.measures.get(measure) for row in self.select(**labels))

    def difference(self, measure: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Mean | None:
        """Return the mean over seeds of `one` minus `other`, paired by seed: both used the same random numbers."""
        first, second = self.values(measure, **one), self.values(measure, **other)
        return mean(first[seed] - second[seed] for seed in first if seed in second)

    def seeds_per_cell(self) -> list[int]:
        """Return the number of seeds of each set of labels that has more than one."""
        found = Counter(canonical(row.labels) for row in self.done)
        return [count for count in found.values() if count > 1]

    # Queries of the study's axes and measures.

    def axis(self, role: str) -> str | None:
        """Return the name of the axis with this role (rounds, actions, learner or game), if any."""
        return next((axis["name"] for axis in self.description.axes if axis["role"] == role), None)

    def axis_values(self, name: str) -> list[Any]:
        """Return the values along an axis, in the order of the study."""
        return next(list(axis["values"]) for axis in self.description.axes if axis["name"] == name)

    def chosen(self, measure: str | None) -> list[str]:
        """Return the measures to report: the one given, or all of the study."""
        kept = list(self.description.measures)
        if measure is None:
            return kept
        if measure not in kept:
            raise unknown("measure", measure, kept)
        return [measure]

    @property
    def longest(self) -> list[Row]:
        """The points with the largest number of rounds, or all points if the number does not vary."""
        axis = self.axis("rounds")
        return self.done if axis is None else self.select(**{axis: max(self.axis_values(axis))})

    @property
    def at_the_longest(self) -> str:
        """The largest number of rounds as a phrase for titles, empty if the number does not vary."""
        axis = self.axis("rounds")
        return "" if axis is None else f", at {max(self.axis_values(axis)):,} rounds"

    def slopes(self, measure: str, axis: str, series: str | None) -> dict[Any, Mean]:
        """Return the mean slope of a measure along an axis of numbers, for each value of the axis `series`.

        A slope is fitted to each run, that is, to the points that differ only along the axis, and the slopes are
        averaged: the points of a run are not independent. The confidence interval is over runs, or over the residuals
        if there is only one run.
        """
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

    def curve(self, measure: str, axis: str, /, **labels: Any) -> tuple[NDArray[np.float64], list[Mean]]:
        """Return the means of a measure along an axis of numbers, among the points with these labels."""
        means = ((value, self.mean(measure, **{**labels, axis: value})) for value in self.axis_values(axis))
        found = [(float(value), one) for value, one in means if one is not None]
        return np.array([x for x, _ in found]), [one for _, one in found]


def read_results(store: Store) -> Results:
    """Read the points and the description of a study."""
    return Results(store.description(), list(store.rows()))
