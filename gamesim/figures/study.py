"""Figures of a study: a measure over rounds or actions, and its distribution over runs."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from gamesim.figures.curves import log_axes, log_ticks
from gamesim.figures.style import COLOURS, MARKERS, WIDTH, palette, short, styled, write
from gamesim.figures.surface import canvas
from gamesim.study.results import SYMBOLS, Results
from gamesim.study.statistics import Mean

LEAST = 1e-6  # smaller values, which are rounding errors, are drawn here on a logarithmic axis
NOT_NEGATIVE = (
    "gap",
    "gap-share",
    "distance",
    "internal-regret",
    "swap-regret",
)  # suffixes of the names of such measures


@styled
def study(results: Results, measure: str) -> Figure | None:
    """Plot the means of a measure over rounds or actions, and the share of runs at or above each value."""
    learner = results.axis("learner")
    labels = results.axis_values(learner) if learner else [None]
    along = next(
        (role for role in SYMBOLS if (axis := results.axis(role)) and len(results.axis_values(axis)) > 1), None
    )
    if not any(row.measures.get(measure) is not None for row in results.done):
        return None
    figure, panels = canvas(results.description.title or results.description.name, 2 if along else 1, size=(WIDTH, 4.0))
    logarithmic = _is_logarithmic(results, measure, along, labels)
    handles = _spread(panels[-1], results, measure, learner, labels, logarithmic)
    if along is not None:
        handles = _along(panels[0], results, measure, along, labels, logarithmic)
    if learner:
        names = [short(str(label), 40) for label in labels]
        figure.legend(handles, names, loc="outside lower left", ncols=3 if len(names) > 4 else 2)
    return figure


def _words(measure: str) -> str:
    """Return the name of a measure in words.

    >>> _words("cce-gap-share"), _words("nash-gap"), _words("swap-regret")
    ('CCE gap share', 'Nash gap', 'swap regret')
    """
    written = {"ce": "CE", "cce": "CCE", "nash": "Nash"}
    return " ".join(written.get(word, word) for word in measure.split("-"))


def _is_logarithmic(results: Results, measure: str, along: str | None, labels: list[Any]) -> bool:
    """Whether a logarithmic axis can show all values; a gap of 0 or less is a rounding error."""
    if measure.endswith(NOT_NEGATIVE):
        return True
    lowest = [value for row in results.longest if (value := row.measures.get(measure)) is not None]
    if along is not None:
        for label in labels:
            _, means = _curve(results, measure, along, label)
            lowest += [one.value - float(np.nan_to_num(one.half)) for one in means]
    return min(lowest, default=1.0) > 0


def _curve(results: Results, measure: str, role: str, label: Any) -> tuple[NDArray[np.float64], list[Mean]]:
    """Return the means over rounds or actions of one learner, or of all runs if learners do not vary."""
    learner = results.axis("learner")
    return results.curve(measure, str(results.axis(role)), **({learner: label} if learner else {}))


def _along(panel: Axes, results: Results, measure: str, role: str, labels: list[Any], logarithmic: bool) -> list[Any]:
    handles = []
    least = LEAST if logarithmic else -np.inf
    for i, label in enumerate(labels):
        x, means = _curve(results, measure, role, label)
        values = np.array([one.value for one in means])
        half = np.nan_to_num(np.array([one.half for one in means]))
        (handle,) = panel.plot(x, np.maximum(values, least), **palette(i), marker=MARKERS[i % len(MARKERS)])
        low, high = np.maximum(values - half, least), np.maximum(values + half, least)
        panel.fill_between(x, low, high, color=COLOURS[i % len(COLOURS)], alpha=0.15, linewidth=0)
        handles.append(handle)
    places = np.array(results.axis_values(str(results.axis(role))), dtype=np.int64)
    if logarithmic:
        log_axes(panel, places, f"{_words(measure)}, mean")
    else:
        panel.set_xscale("log")
        log_ticks(panel.xaxis)
        panel.set_ylabel(f"{_words(measure)}, mean")
    panel.set_xlabel({"rounds": "rounds T", "actions": "actions d"}[role])
    panel.set_title("mean with 95 % confidence interval", loc="left")
    return handles


def _spread(
    panel: Axes, results: Results, measure: str, learner: str | None, labels: list[Any], logarithmic: bool
) -> list[Any]:
    handles = []
    for i, label in enumerate(labels):
        found = [
            value
            for row in results.longest
            if row.labels.get(str(learner)) == label and (value := row.measures.get(measure)) is not None
        ]
        values = np.sort(np.maximum(found, LEAST) if logarithmic else np.array(found))
        shares = 1 - np.arange(values.size) / max(values.size, 1)  # at or above each value
        (handle,) = panel.step(values, shares, where="pre", **palette(i))
        handles.append(handle)
    if logarithmic:
        panel.set_xscale("log")
        log_ticks(panel.xaxis)
    else:
        panel.xaxis.set_major_locator(MaxNLocator(5))
    panel.set_yscale("log")  # because learners differ in the few runs with large values
    panel.set_ylim(panel.dataLim.y0 / 1.3, 1.15)
    log_ticks(panel.yaxis)
    panel.set_xlabel(f"{_words(measure)}{results.at_the_longest}")
    panel.set_title("share of runs at this value or above", loc="left")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    return handles


def draw_study(results: Results, folder: Path, measure: str | None = None) -> list[Path]:
    """Draw the measures of a study, or one of them, as SVG and PNG; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    study_name = results.description.name
    for name in results.chosen(measure):
        figure = study(results, name)
        if figure is not None:
            paths += write(figure, folder / (study_name if measure else f"{study_name}-{name}"))
    return paths
