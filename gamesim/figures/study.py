"""Figures of a study: a measure along the rounds or actions, and how it is spread over all games."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator, PercentFormatter

from gamesim.figures.curves import log_axes
from gamesim.figures.style import COLOURS, MARKERS, WIDTH, canvas, legend_below, number, palette, short, styled, write
from gamesim.fits import SYMBOLS, Results, curve

LEAST = 1e-6  # smaller values are drawn here: below lies rounding


@styled
def study(results: Results, measure: str) -> Figure | None:
    """Draw a measure's means along the rounds or actions, and the share of points that are below each value."""
    learner = results.axis("learner")
    labels = results.values(learner) if learner else [None]
    along = next((role for role in SYMBOLS if (axis := results.axis(role)) and len(results.values(axis)) > 1), None)
    if not any(row.measures.get(measure) is not None for row in results.done):
        return None
    figure, panels = canvas(results.title or results.name, 2 if along else 1, size=(WIDTH, 3.9))
    handles = _spread(panels[-1], results, measure, learner, labels)
    if along is not None:
        handles = _along(panels[0], results, measure, along, labels)
    texts = [_legend(results, measure, along, label) for label in labels]
    if learner:
        legend_below(panels[0], handles, texts, columns=2 if along else 1, drop=0.24)
    return figure


def _legend(results: Results, measure: str, along: str | None, label: Any) -> str:
    text = short(str(label), 30)
    if along is None:
        return text
    found = results.slopes(measure, str(results.axis(along)), results.axis("learner")).get(label)
    return text if found is None else f"{text}: {SYMBOLS[along]}^{f'{found.value:.2f}'.replace('-', '−')}"


def _along(panel: Axes, results: Results, measure: str, role: str, labels: list[Any]) -> list[Any]:
    handles = []
    axis = str(results.axis(role))
    for i, label in enumerate(labels):
        x, means = curve(results, measure, axis, label)
        values = np.array([one.value for one in means])
        half = np.nan_to_num(np.array([one.half for one in means]))
        (handle,) = panel.plot(x, np.maximum(values, LEAST), **palette(i), marker=MARKERS[i % len(MARKERS)])
        low, high = np.maximum(values - half, LEAST), np.maximum(values + half, LEAST)
        panel.fill_between(x, low, high, color=COLOURS[i % len(COLOURS)], alpha=0.15, linewidth=0)
        handles.append(handle)
    log_axes(panel, np.array(results.values(axis), dtype=np.int64), f"mean {measure}")
    panel.set_xlabel({"rounds": "rounds T", "actions": "actions d"}[role])
    panel.set_title("mean, with its 95 % interval", loc="left")
    return handles


def _spread(panel: Axes, results: Results, measure: str, learner: str | None, labels: list[Any]) -> list[Any]:
    handles = []
    logarithmic = all((row.measures.get(measure) or 0.0) >= 0 for row in results.longest)
    for i, label in enumerate(labels):
        found = [
            value
            for row in results.longest
            if row.labels.get(str(learner)) == label and (value := row.measures.get(measure)) is not None
        ]
        values = np.sort(np.maximum(found, LEAST) if logarithmic else np.array(found))
        shares = np.arange(1, values.size + 1) / max(values.size, 1)
        (handle,) = panel.step(values, shares, where="post", **palette(i))
        handles.append(handle)
    if logarithmic:
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel(f"{measure}{results.at_the_longest}")
    panel.set_title("share of runs at or below", loc="left")
    panel.yaxis.set_major_formatter(PercentFormatter(1))
    panel.set_ylim(0, 1.02)
    return handles


def draw_study(results: Results, folder: Path, measure: str | None = None) -> list[Path]:
    """Draw the study's measures, or one of them, as SVG and PNG into a folder; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for name in results.chosen(measure):
        figure = study(results, name)
        if figure is not None:
            paths += write(figure, folder / (results.name if measure else f"{results.name}-{name}"))
    return paths
