"""What came of a study: its points, and what is asked of them by their labels."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError, did_you_mean
from gamesim.study.canonical import canonical
from gamesim.study.description import Description
from gamesim.study.statistics import Mean, mean, slope
from gamesim.study.store import Row, Store

SYMBOLS = {"rounds": "T", "actions": "d"}  # of the axes that slopes are fitted along, by role


@dataclass(frozen=True)
class Results:
    """A study's points as they stand in its store, and what it is about."""

    description: Description
    rows: list[Row]

    @cached_property
    def done(self) -> list[Row]:
        """The points that have their measures."""
        return [row for row in self.rows if row.status == "done"]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many points there are: to do, done and failed."""
        found = Counter(row.status for row in self.rows)
        return {status: found[status] for status in ("todo", "done", "failed")}

    @property
    def seconds(self) -> float:
        """How long the finished points took, together."""
        return sum(row.seconds or 0.0 for row in self.done)

    # What is asked of the finished points by their labels.

    def select(self, /, **labels: Any) -> list[Row]:
        """The points that have these labels."""
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
        """The values that a label takes where others have these, in the order of the points."""
        found = (row.labels.get(name) for row in self.select(**fixed))
        return list(dict.fromkeys(value for value in found if value is not None))

    def values(self, measure: str, /, **labels: Any) -> dict[int, float]:
        """The values of a measure at these labels, by seed."""
        found = ((row.seed, row.measures.get(measure)) for row in self.select(**labels))
        return {seed: value for seed, value in found if value is not None}

    def mean(self, measure: str, /, **labels: Any) -> Mean | None:
        """The mean over all points with these labels, with its 95 % interval."""
        return mean(row.measures.get(measure) for row in self.select(**labels))

    def difference(self, measure: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Mean | None:
        """The mean over seeds of `one` less `other`; both met the same random numbers, so seed by seed."""
        first, second = self.values(measure, **one), self.values(measure, **other)
        return mean(first[seed] - second[seed] for seed in first if seed in second)

    def seeds_per_cell(self) -> list[int]:
        """How many seeds the points with equal labels have, where that is more than one."""
        found = Counter(canonical(row.labels) for row in self.done)
        return [count for count in found.values() if count > 1]

    # What is asked of the study's axes and measures.

    def axis(self, role: str) -> str | None:
        """The name of the axis that stands for the rounds, actions, learner or game, if there is one."""
        return next((axis["name"] for axis in self.description.axes if axis["role"] == role), None)

    def axis_values(self, name: str) -> list[Any]:
        """The values along an axis, in the study's order."""
        return next(list(axis["values"]) for axis in self.description.axes if axis["name"] == name)

    def chosen(self, measure: str | None) -> list[str]:
        """The measures to tell about: one, or all of the study."""
        kept = list(self.description.measures)
        if measure is None:
            return kept
        if measure not in kept:
            raise InputError(f"this study keeps no measure called {measure!r}: {did_you_mean(measure, kept)}")
        return [measure]

    @property
    def longest(self) -> list[Row]:
        """The points with the largest number of rounds, where that varies."""
        axis = self.axis("rounds")
        return self.done if axis is None else self.select(**{axis: max(self.axis_values(axis))})

    @property
    def at_the_longest(self) -> str:
        """Those words, for a title."""
        axis = self.axis("rounds")
        return "" if axis is None else f", at {max(self.axis_values(axis)):,} rounds"

    def slopes(self, measure: str, axis: str, series: str | None) -> dict[Any, Mean]:
        """The mean slope of a measure along an axis of numbers, for each value of the axis `series`.

        It is fitted to each run by itself, all that is the same but the axis, and then averaged: runs of one game
        belong together, so they do not count as many. The interval is over runs; of one run only, over its residuals.
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
        """The means of a measure along an axis of numbers, where others have these labels."""
        means = ((value, self.mean(measure, **{**labels, axis: value})) for value in self.axis_values(axis))
        found = [(float(value), one) for value, one in means if one is not None]
        return np.array([x for x, _ in found]), [one for _, one in found]


def read_results(store: Store) -> Results:
    """Read a study's points and what it is about."""
    return Results(store.description(), list(store.rows()))
