"""The tables of a study: means along its axes, slopes, and a learner-by-game matrix, with confidence intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gamesim.study.results import SYMBOLS, Results
from gamesim.study.statistics import Mean, mean
from gamesim.study.store import Row

MOST_VALUES = 40  # longer axes get no table


@dataclass(frozen=True)
class StudyTable:
    """A table of formatted cells, with a note on what they are averaged over."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    note: str


def tables(results: Results, measures: Sequence[str]) -> list[StudyTable]:
    """Return all tables: slopes, means along each short axis, and the learner-by-game matrix."""
    made = _slope_tables(results, measures)
    for axis in results.description.axes:
        if 1 < len(axis["values"]) <= MOST_VALUES and axis["role"] != "game" and not axis["name"].endswith(".seed"):
            made.append(_means_along(results, axis["name"], measures))
    learner, game = results.axis("learner"), results.axis("game")
    if learner and game:
        made.append(_matrix(results, learner, game, measures[0]))
    elif game:
        made.append(_means_along(results, game, measures))
    return made


def _slope_tables(results: Results, measures: Sequence[str]) -> list[StudyTable]:
    made = []
    series = results.axis("learner")
    fitted = [name for name in measures if not name.endswith("-slope") and name != "welfare"]
    for role, symbol in SYMBOLS.items():
        axis = results.axis(role)
        if axis is None or not fitted:
            continue
        columns = {name: results.slopes(name, axis, series) for name in fitted}
        labels = list(dict.fromkeys(label for column in columns.values() for label in column))
        rows = [
            [_heading(label), *(_cell(column.get(label)) for column in columns.values())]
            for label in (labels if series is None else [v for v in results.axis_values(series) if v in labels])
        ]
        if rows:
            title = f"slope in {symbol} ({axis}): exponent of measure ≈ c · {symbol}^slope"
            made.append(StudyTable(title, [series or "", *fitted], rows, _note(results, axis, series)))
    return made


def _means_along(results: Results, axis: str, measures: Sequence[str]) -> StudyTable:
    rows = [
        [
            _heading(value),
            f"{len(found):,}",
            *(_cell(mean(row.measures.get(name) for row in found)) for name in measures),
        ]
        for value in results.axis_values(axis)
        if (found := results.select(**{axis: value}))
    ]
    return StudyTable(f"mean along {axis}", [axis, "points", *measures], rows, _note(results, axis))


def _matrix(results: Results, learner: str, game: str, measure: str) -> StudyTable:
    """Return the means at the largest number of rounds, with one row per game and one column per learner."""
    longest = Results(results.description, results.longest)
    learners, games = results.axis_values(learner), results.axis_values(game)
    cells = {(row, column): longest.select(**{game: row, learner: column}) for row in games for column in learners}

    def mean_over(rows: Iterable[Row]) -> str:
        return _cell(mean(row.measures.get(measure) for row in rows))

    rows = [[_heading(row), *(mean_over(cells[row, column]) for column in learners)] for row in games]
    rows.append(["all", *(mean_over(found for row in games for found in cells[row, column]) for column in learners)])
    title = f"{measure}: {learner} by {game}{results.at_the_longest}"
    note = f"{_note(results, learner, game, results.axis('rounds'))} The last row also averages over {game}."
    return StudyTable(title, [game, *map(_heading, learners)], rows, note)


def _note(results: Results, *shown: str | None) -> str:
    """Return the note of a table that shows these axes: what the cells are averaged over."""
    axes = results.description.axes
    over = [axis["name"] for axis in axes if len(axis["values"]) > 1 and axis["name"] not in shown]
    over += ["seeds"] if len({row.seed for row in results.done}) > 1 else []
    return (f"Means over {', '.join(over)}. " if over else "") + "± is the 95 % confidence interval."


def _heading(label: Any) -> str:
    if label is None:
        return "all"
    return f"{label:,}" if isinstance(label, int) and not isinstance(label, bool) else str(label)


def _cell(found: Mean | None) -> str:
    return "–" if found is None else str(found)
