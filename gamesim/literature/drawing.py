"""What the figures of the gallery share: a size that is readable on a phone, curves and bars with reference lines."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike, NDArray

from gamesim.figures.curves import log_ticks
from gamesim.figures.style import COLOURS, DARK, DASHES, number, styled
from gamesim.figures.surface import canvas

Curve = tuple[ArrayLike, ArrayLike]
WIDTH = 5.0  # inches: at 360 pixels, text is as large as elsewhere on the page
MOST_POINTS = 600  # of a drawn curve
BELOW = 0.48  # inches from a panel to its legend, for tick labels and the label of the axis


class Line(NamedTuple):
    """A reference line: what it is, and its height, or its own curve."""

    label: str
    value: float | Curve


def sheet(
    title: str, columns: int = 1, rows: int = 1, *, height: float = 3.0, **grid: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure of the width of the gallery, with rows of panels of this height in inches."""
    return canvas(title, columns, rows, size=(WIDTH, 0.5 + height * rows), **grid)


def axes(panel: Axes, x: str, y: str, log: str = "", **look: Any) -> None:
    """Label the axes of a panel, and make those that are named in `log` logarithmic."""
    panel.set(xlabel=x, ylabel=y, xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
    panel.set(**look)
    for name, axis in (("x", panel.xaxis), ("y", panel.yaxis)):
        if name in log:
            log_ticks(axis)


def legend(panel: Axes, columns: int = 1) -> None:
    """Put the legend of a panel below it, where it covers nothing."""
    figure = panel.get_figure(root=True)
    assert figure is not None
    if len(figure.axes) == 1:
        figure.legend(loc="outside lower left", ncols=columns)
    else:
        below = panel.transAxes + ScaledTranslation(0, -BELOW, figure.dpi_scale_trans)
        panel.legend(
            loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncols=columns, borderaxespad=0, borderpad=0
        )


def shared_legend(figure: Figure, panels: Sequence[Axes], columns: int = 1) -> None:
    """Put one legend below all panels, with each label once."""
    found = {
        label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(found.values()), list(found), loc="outside lower left", ncols=columns)


def thinned(at: ArrayLike, values: ArrayLike, log: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return some points of a curve, at about equal distances, with the extremes of what is left out."""
    x, y = np.asarray(at), np.asarray(values)
    if len(x) <= MOST_POINTS:
        return x, y
    first = max(float(x[0]), 1e-9)
    steps = np.geomspace(first, x[-1], MOST_POINTS // 2) if log else np.linspace(x[0], x[-1], MOST_POINTS // 2)
    starts = np.unique(np.searchsorted(x, steps))
    kept = set(starts.tolist())
    for begin, end in pairwise(starts.tolist()):
        kept |= {begin + int(y[begin:end].argmin()), begin + int(y[begin:end].argmax())}
    chosen = np.array(sorted(kept))
    return x[chosen], y[chosen]


@styled
def curves(
    title: str,
    found: Mapping[str, Curve],
    x: str,
    y: str,
    *,
    log: str = "",
    lines: Sequence[Line] = (),
    marker: str = "",
    height: float = 3.2,
    **look: Any,
) -> Figure:
    """Draw curves by name, and reference lines, with the legend below."""
    figure, (panel,) = sheet(title, height=height)
    for k, (name, (at, values)) in enumerate(found.items()):
        shown = thinned(at, values, "x" in log)
        panel.plot(*shown, color=COLOURS[k], linestyle=DASHES[k] if not marker else "-", marker=marker, label=name)
    draw_lines(panel, lines, first=len(found))
    axes(panel, x, y, log, **look)
    legend(panel, 1 if max(map(len, [*found, *(line.label for line in lines)])) > 24 else 2)
    return figure


def draw_lines(panel: Axes, lines: Sequence[Line], first: int = 1) -> None:
    """Draw reference lines into a panel, in the colours after the first ones."""
    for k, (label, value) in enumerate(lines, start=first):
        look: Any = {"color": COLOURS[k % len(COLOURS)], "linestyle": (0, (2, 2)), "linewidth": 1.2, "label": label}
        if isinstance(value, tuple):
            panel.plot(*value, **look)
        else:
            panel.axhline(value, **look)


@styled
def bars(title: str, values: Mapping[str, float], axis: str, *, lines: Sequence[Line] = (), **look: Any) -> Figure:
    """Draw a horizontal bar per name, and reference lines at given values."""
    figure, (panel,) = sheet(title, height=0.7 + 0.34 * len(values) + 0.25 * len(lines))
    panel.barh(range(len(values)), list(values.values()), color=COLOURS[0], height=0.6)
    heights = [float(line.value) for line in lines if isinstance(line.value, int | float)]
    widest = max([*values.values(), *heights])
    for k, value in enumerate(values.values()):
        panel.text(max(value, 0.0) + 0.012 * widest, k, number(value), va="center", color=DARK)
    for k, (line, at) in enumerate(zip(lines, heights, strict=True), start=1):
        panel.axvline(at, color=COLOURS[k], linestyle=(0, (2, 2)), label=line.label)
    panel.set_yticks(range(len(values)), list(values))
    panel.set(xlabel=axis, xlim=(min(0.0, 1.15 * min(values.values())), 1.18 * widest), **look)
    panel.invert_yaxis()
    if lines:
        legend(panel)
    return figure
