"""The strategies of players with three actions as paths in a triangle."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from gamesim.figures.cloud import counted, paths, some
from gamesim.figures.movement import known, movement, omitted
from gamesim.figures.style import COLOURS, DARK, FEW, TIME, WIDTH, short, styled
from gamesim.figures.surface import surface
from gamesim.measure.endings import sentence
from gamesim.record import Record

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])  # pure actions
ARROWS = 10
STILL = 0.002  # smallest distance between drawn points of a path; less is not visible


@styled
def triangles(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the strategy paths of players with three actions, with their averages.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, all are drawn, up to 100.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure. None if no player has three actions.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.triangles(record))
    'Strategies in shapley move by up to 1.01 in all after round 398 (0.00167 per round)'
    """
    one = record[0]
    shown = [i for i, size in enumerate(one.game.sizes) if size == 3][:FEW]
    if not shown:
        return None
    columns = min(len(shown), 3)
    rows = -(-len(shown) // columns)
    width = {1: 4.6, 2: WIDTH}.get(columns, WIDTH)
    drawing = surface(
        movement(one, shown) if record.single else sentence(record.endings(), short(one.game.name, 40)),
        columns,
        rows,
        size=(width, 1.3 + rows * width / columns * 0.78),
        ax=ax,
        fig=fig,
    )
    panels = drawing.panels
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    if not record.single:
        for panel, i in zip(panels, shown, strict=False):
            frame(panel, one.game.actions[i])
            paths(panel, [known(run)[1][i] @ CORNERS for run in some(record)])
            drawing.head(panel, short(one.game.players[i], 30))
        marks_of_runs = panels[0].plot([], [], "s", ms=5, color=COLOURS[0], mec="white")
        drawing.legend(marks_of_runs, [f"last round of each of {counted(record)}"], columns=1)
        return drawing.figure
    rounds, played = known(one)
    for panel, i in zip(panels, shown, strict=False):
        frame(panel, one.game.actions[i])
        lines = _path(panel, rounds, played[i] @ CORNERS)
        panel.plot(*(one.average[i] @ CORNERS), marker="*", markersize=11, color=COLOURS[1], mec="black", mew=0.6)
        drawing.head(panel, short(one.game.players[i], 30))
    marks = [("o", "white", "first round"), ("s", "black", "last round"), ("*", COLOURS[1], "average strategy")]
    handles = [
        panels[0].plot([], [], marker, mfc=fill, mec="black", mew=0.6, ms=10 if marker == "*" else 5)[0]
        for marker, fill, _ in marks
    ]
    names = [label for _, _, label in marks]
    drawing.legend(handles, names, columns=3, note=omitted(one, shown))
    drawing.colorbar(lines, panels[: len(shown)], "round", shrink=0.6, aspect=25, format="{x:,.0f}")
    return drawing.figure


def frame(panel: Axes, labels: tuple[str, ...], away: int = 5) -> None:
    """Draw the triangle, with lines at every quarter and the action of each vertex."""
    panel.set_axis_off()
    panel.set_aspect("equal")
    for share in (0.25, 0.5, 0.75):
        for a in range(3):
            ends = [share * CORNERS[a] + (1 - share) * CORNERS[(a + k) % 3] for k in (1, 2)]
            panel.plot(*np.transpose(ends), color="#DDDDDD", linewidth=0.6, zorder=0)
    panel.plot(*CORNERS[[0, 1, 2, 0]].T, color=DARK, linewidth=1)
    for corner, label, place, below in zip(CORNERS, labels, ("left", "right", "center"), (-1, -1, 1), strict=True):
        panel.annotate(short(label, 14), corner, (0, away * below), textcoords="offset points", ha=place,
                       va="top" if below < 0 else "bottom")  # fmt: skip
    panel.set_xlim(-0.06, 1.06)
    panel.set_ylim(-0.12, 0.98)


def _path(panel: Axes, rounds: NDArray[np.int64], every: NDArray[np.float64]) -> LineCollection:
    """Draw a path that darkens with time, with evenly spaced arrows."""
    kept = [0]
    for k in range(1, len(every)):
        if np.hypot(*(every[k] - every[kept[-1]])) >= STILL or k == len(every) - 1:
            kept.append(k)
    points = every[kept]
    lines = LineCollection(list(np.stack([points[:-1], points[1:]], axis=1)), cmap=TIME, linewidths=1.3)
    lines.set_array(rounds[kept][1:].astype(float))
    lines.set_clim(float(rounds[0]), float(max(rounds[-1], rounds[0] + 1)))
    panel.add_collection(lines)
    steps = np.hypot(*np.diff(points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    arrows = int(np.ptp(points, axis=0).max() * ARROWS)  # few if the path is short
    for where in along[-1] * (np.arange(arrows) + 0.5) / max(arrows, 1):
        k = int(np.searchsorted(along, where)) - 1
        direction = 0.012 * (points[k + 1] - points[k]) / steps[k]
        tip = points[k] + (where - along[k]) / steps[k] * (points[k + 1] - points[k])
        arrow = {"arrowstyle": "-|>", "color": "black", "lw": 0.8, "mutation_scale": 9}
        panel.annotate("", tip + direction, tip - direction, arrowprops=arrow)
    panel.plot(*points[0], "o", color="white", mec="black", zorder=4)
    panel.plot(*points[-1], "s", color="black", zorder=4)
    return lines
