"""Words, tables and lines that all claims share. Generated numbers are marked until the page is complete."""

import re
from collections.abc import Callable, Sequence
from math import isnan
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from gamesim.figures.style import number
from gamesim.study.results import Results
from gamesim.study.statistics import ROUNDING, Mean, mean, slope
from gamesim.wavelet_theorem.instances import (
    ADANORMAL,
    ADAPTIVE,
    AGGREGATE,
    BARRIER,
    CONTINUOUS,
    COPIES,
    EXTERNAL,
    NORMAL,
    OPTIMISTIC,
    PAPER,
    PREDICTIVE,
    PRIOR,
    SQUINT,
    SUBSEQUENCE,
    UNIFORM,
)
from gamesim.wavelet_theorem.points import Labels

OPEN, CLOSE = "⟦", "⟧"  # around every number that is generated, so that a test can find the others
SMALLEST = 8  # points, of the text in figures


def said(value: float | Mean | None) -> str:
    """Return a generated number, marked: a mean with its interval, or a value."""
    text = mean_text(value) if isinstance(value, Mean) or value is None else number(value)
    return f"{OPEN}{text}{CLOSE}"


def said_power(found: Mean | None) -> str:
    """Return a generated exponent with its interval, marked, to two decimals."""
    return said(None) if found is None else f"{OPEN}{found.value:.2f} ± {found.half:.2f}{CLOSE}".replace("-", "−")


def mean_text(found: Mean | None) -> str:
    """Format a mean with its interval."""
    if found is None:
        return "–"
    if abs(found.value) < ROUNDING and np.nan_to_num(found.half) < ROUNDING:
        return "0"
    half = "" if isnan(found.half) else f" ± {number(float(f'{found.half:.2g}'))}"
    return number(found.value) + half


def unmarked(text: str) -> str:
    """Remove the marks of generated numbers."""
    return text.replace(OPEN, "").replace(CLOSE, "")


def not_generated(text: str) -> list[str]:
    """Return the numbers in a marked text that are not generated."""
    return re.findall(r"\d[\d,.]*", re.sub(f"{OPEN}.*?{CLOSE}", "", text))


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return f"**{title}**\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def listed(names: Sequence[str]) -> str:
    """Join names with commas and "and".

    >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
    ('a, b and c', 'a', 'none')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names) or "none"


def exponents(results: Results, learner: str, along: str, values: Sequence[float], cell: Labels) -> dict[int, float]:
    """Return the log-log slopes of a learner's regret along a label, by seed."""
    by_value = [results.values(learner, **{**cell, along: value}) for value in values]
    seeds = set.intersection(*(set(found) for found in by_value)) if by_value else set()
    fitted = {seed: slope(values, [found[seed] for found in by_value]) for seed in sorted(seeds)}
    return {seed: one.value for seed, one in fitted.items() if one is not None}


def exponent(results: Results, learner: str, along: str, values: Sequence[float], cell: Labels) -> Mean | None:
    """Return the mean of the log-log slopes with its interval over seeds."""
    return mean(exponents(results, learner, along, values, cell).values())


def median_ratio(results: Results, learner: str, rivals: Sequence[str], cells: Sequence[Labels]) -> float:
    """Return the median over cells of a learner's mean regret divided by that of the best rival."""
    ratios = []
    for cell in cells:
        own, others = results.mean(learner, **cell), [results.mean(rival, **cell) for rival in rivals]
        least = min((one.value for one in others if one is not None), default=float("nan"))
        if own is not None and least > 0:
            ratios.append(own.value / least)
    return float(np.median(ratios)) if ratios else float("nan")


# Lines differ in dashes and markers, so that they differ in grey, too; only wavelet learners have filled markers.
LOOKS: dict[str, dict[str, Any]] = {
    OPTIMISTIC: {"color": "black", "marker": "o", "linewidth": 2.2},
    CONTINUOUS: {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    PAPER: {"color": "#56B4E9", "marker": "D", "linestyle": ":"},
    PREDICTIVE: {"color": "#D55E00", "marker": "^", "markerfacecolor": "white"},
    BARRIER: {"color": "#999999", "marker": "P", "markerfacecolor": "white", "linestyle": ":"},
    ADAPTIVE: {"color": "#009E73", "marker": "v", "markerfacecolor": "white", "linestyle": "--"},
    PRIOR: {"color": "#CC79A7", "marker": "s", "markerfacecolor": "white"},
    COPIES: {"color": "#7A4B00", "marker": "D", "markerfacecolor": "white", "linestyle": "-."},
    AGGREGATE: {"color": "#E69F00", "marker": "o", "markerfacecolor": "white"},
    SUBSEQUENCE: {"color": "#5B5B5B", "marker": "X", "markerfacecolor": "white", "linestyle": "-."},
    EXTERNAL: {"color": "#8C6BB1", "marker": "<", "markerfacecolor": "white", "linestyle": ":"},
    UNIFORM: {"color": "#AAAAAA", "marker": "", "linewidth": 3},
    NORMAL: {"color": "#8C6BB1", "marker": "1", "linestyle": "-", "markersize": 8},
    ADANORMAL: {"color": "#8C6BB1", "marker": "2", "linestyle": "--", "markersize": 8},
    SQUINT: {"color": "#8C6BB1", "marker": "x", "linestyle": "-."},
}


def draw_line(panel: Axes, x: Sequence[float], found: Sequence[Mean | None], name: str, linear: bool = False) -> None:
    """Draw means with their intervals, unless `linear` only positive ones; a learner looks the same in all figures."""
    kept = [(a, one) for a, one in zip(x, found, strict=True) if one is not None and (linear or one.value > 0)]
    values = np.array([one.value for _, one in kept])
    halves = np.nan_to_num([one.half for _, one in kept])
    look = {"linewidth": 1.2, "markersize": 5, "capsize": 1.5, "elinewidth": 0.7, "label": name}
    panel.errorbar(
        [a for a, _ in kept],
        values,
        yerr=[halves if linear else np.minimum(halves, 0.9 * values), halves],  # a logarithmic axis has no place for 0
        **{**look, **LOOKS[name]},
    )


def log_axes(panel: Axes, axes: str = "xy", ticks: Sequence[float] = (), text: Callable[[float], str] = number) -> None:
    """Make axes logarithmic, with ticks at powers of ten, or at `ticks` on the x axis."""
    for name in axes:
        axis, scale = (panel.xaxis, panel.set_xscale) if name == "x" else (panel.yaxis, panel.set_yscale)
        scale("log")
        axis.set_major_locator(LogLocator(numticks=6))
        axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    if ticks:
        panel.xaxis.set_major_locator(FixedLocator(ticks))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def legend_below(figure: Figure, panel: Axes, columns: int = 4) -> None:
    """Put the legend of a panel below the figure."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=SMALLEST)
