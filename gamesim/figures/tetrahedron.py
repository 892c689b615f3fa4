"""The joint distributions of a 2×2 game as a tetrahedron, with its equilibria and the path of play.

Each vertex is an action profile. The product distributions form a saddle surface between the vertices, and the Nash
equilibria are the points where this surface meets the CE polytope. With two actions, replacing one action with the
other is the same as always playing the other, so CE and CCE coincide.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from gamesim import equilibrium
from gamesim.figures.cloud import counted, paths, some
from gamesim.figures.curves import ZERO, least_of
from gamesim.figures.hull import around, sides
from gamesim.figures.payoff_space import nash_joints
from gamesim.figures.style import COLOURS, DARK, TIME, WIDTH, number, short, styled
from gamesim.figures.surface import surface
from gamesim.game import Table
from gamesim.measure.incentives import EquilibriumKind, written_out
from gamesim.record import Record

Points = NDArray[np.float64]

# Vertices of a cube, seen slightly from the side and from above; row k is the position of action profile k.
CUBE = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
TURN, TILT = np.radians(12), np.radians(12)
VIEW = np.array(
    [
        [-np.sin(TURN), np.cos(TURN), 0.0],
        [-np.sin(TILT) * np.cos(TURN), -np.sin(TILT) * np.sin(TURN), np.cos(TILT)],
        [np.cos(TILT) * np.cos(TURN), np.cos(TILT) * np.sin(TURN), np.sin(TILT)],
    ]
)
SETS: dict[EquilibriumKind, tuple[str, str, str]] = {"cce": ("CCE", COLOURS[5], "///"), "ce": ("CE", COLOURS[3], "")}


@styled
def tetrahedron(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the joint distributions of a 2×2 game as a tetrahedron.

    The figure shows the CE and CCE polytopes, the Nash equilibria and the path of play.

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
        The figure. None if the game is not 2×2.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("chicken", "hedge", rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.tetrahedron(record))
    'Play in chicken ends at a distance of 0.0197 from the correlated equilibria'
    >>> figures.tetrahedron(gamesim.simulate("shapley", "hedge", rounds=10)) is None  # it is not 2×2
    True
    """
    if not is_two_by_two(record):
        return None
    runs = some(record)
    name, ends = short(record.game.name, 40), _apart(float(np.median([one.distance("ce") for one in runs])))
    subject = f"Play in {name} ends" if record.single else f"{counted(record)} of {name} end, in the median,"
    drawing = surface(f"{subject} {ends} the correlated equilibria", size=(WIDTH, 6.4), ax=ax, fig=fig)
    if len(runs) == 1:
        _draw(drawing.panels[0], runs[0])
    else:
        equilibria(drawing.panels[0], written_out(record.game))
        paths(
            drawing.panels[0], [seen(flat(joints))[:, :2] for one in runs if (joints := one.curve.joint()) is not None]
        )
    drawing.legend(columns=3)
    return drawing.figure


@styled
def tetrahedra(
    records: Mapping[str, Record], *, ax: Axes | None = None, fig: Figure | SubFigure | None = None
) -> Figure | None:
    """Plot the tetrahedra of several runs of 2×2 games side by side.

    Parameters
    ----------
    records : mapping of str to Record
        The records by label; with several replicas, the first one is drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure. None if a game is not 2×2 or there are no records.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> records = {name: gamesim.simulate("chicken", name, rounds=1000, perturb=0.2) for name in ("hedge", "fixed")}
    >>> figures.title_of(figures.tetrahedra(records))
    'Of 2 runs, hedge ends nearest to the correlated equilibria, at a distance of 0.0197 from them'
    """
    if not records or not all(is_two_by_two(record) for record in records.values()):
        return None
    ends = {label: record[0].distance("ce") for label, record in records.items()}
    columns = min(len(records), 2)
    rows = -(-len(records) // columns)
    drawing = surface(
        f"Of {len(records)} runs, {least_of(ends, ZERO)} nearest to the correlated equilibria, "
        f"{_apart(min(ends.values()))} them",
        columns,
        rows,
        size=(WIDTH, 1.3 + 3.6 * rows),
        ax=ax,
        fig=fig,
    )
    panels = drawing.panels
    for panel, (label, record) in zip(panels, records.items(), strict=False):
        _draw(panel, record[0])
        drawing.head(panel, f"{short(label, 30)}: distance {number(ends[label], zero=ZERO)}")
    for panel in panels[len(records) :]:
        panel.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    drawing.legend(handles, labels, columns=3)
    return drawing.figure


def _apart(distance: float) -> str:
    """Return a distance in words; the linear programs leave smaller ones open."""
    return "within 10⁻⁹ of" if distance <= ZERO else f"at a distance of {number(distance)} from"


def is_two_by_two(record: Record) -> bool:
    """Whether the game of a record is 2×2."""
    return isinstance(record.game, Table) and record.game.sizes == (2, 2)


def _draw(panel: Axes, record: Record) -> None:
    """Draw the tetrahedron, its equilibria and the path of one run."""
    game = written_out(record.game)
    joints = record.curve.joint()
    if joints is None:
        return
    equilibria(panel, game)
    _path(panel, seen(flat(joints))[:, :2])


def equilibria(panel: Axes, game: Table) -> None:
    """Draw the tetrahedron of a 2×2 game with its CE and CCE polytopes and its Nash equilibria."""
    panel.set_axis_off()
    panel.set_aspect("equal", adjustable="datalim")
    _frame(panel, [f"{short(row, 14)},\n{short(column, 14)}" for row in game.actions[0] for column in game.actions[1]])
    corners = {kind: equilibrium.polytope(game, kind).vertices() for kind in SETS}
    same = len(corners["ce"]) == len(corners["cce"]) and np.allclose(corners["ce"], corners["cce"], atol=1e-7)
    for kind, (name, colour, hatch) in SETS.items():
        if kind == "ce" or not same:
            _solid(panel, flat(corners[kind]), colour, hatch, "CE and CCE (the same set)" if same else name)
    nash = nash_joints(game)
    if nash.size:
        places = seen(flat(nash))[:, :2].T
        panel.plot(*places, "*", ms=12, color="white", mec="black", zorder=6, label="Nash equilibrium")


def flat(joints: Points) -> Points:
    """Return joint distributions as points in the cube."""
    points: Points = joints.reshape(-1, 4) @ CUBE
    return points


def seen(points: Points) -> Points:
    """Return points in view coordinates: right, up, and towards the viewer."""
    places: Points = points @ VIEW.T
    return places


def _frame(panel: Axes, labels: list[str]) -> None:
    """Draw the tetrahedron (hidden edge dashed), the product distributions and the labels of the vertices."""
    places = seen(CUBE)
    behind = int(places[:, 2].argmin())
    for i in range(4):
        for j in range(i):
            style = (0, (4, 3)) if behind in (i, j) and _hidden(places, i, j) else "-"
            panel.plot(*places[[i, j], :2].T, color=DARK, linewidth=1, linestyle=style, zorder=1)
    share = np.linspace(0, 1, 11)
    lines = []
    for p in share:
        rows = [np.outer([p, 1 - p], [q, 1 - q]) for q in (0, 1)]
        columns = [np.outer([q, 1 - q], [p, 1 - p]) for q in (0, 1)]
        lines += [seen(flat(np.array(ends)))[:, :2] for ends in (rows, columns)]
    mesh = LineCollection(lines, colors="#BBBBBB", linewidths=0.6, zorder=0.5, label="independent play")
    panel.add_collection(mesh)
    for place, label in zip(places[:, :2], labels, strict=True):
        away, height = ((0, 6), "bottom") if place[1] > 0 else ((0, -6), "top")
        text = panel.annotate(label, place, away, textcoords="offset points", ha="center", va=height, fontsize=8.5)
        text.set_in_layout(False)  # the margins below leave space for the labels
    panel.margins(0.25, 0.18)


def _hidden(places: Points, i: int, j: int) -> bool:
    """Whether an edge is hidden: the other two vertices lie on both sides of it, in front."""
    others = [k for k in range(4) if k not in (i, j)]
    along = places[j, :2] - places[i, :2]
    side = [float(along[0] * (places[k, 1] - places[i, 1]) - along[1] * (places[k, 0] - places[i, 0])) for k in others]
    return side[0] * side[1] < 0 and places[others, 2].mean() > places[[i, j], 2].mean()


def edges(points: Points) -> tuple[Points, list[tuple[int, int]]]:
    """Return the vertices and the edges of a convex body of dimension at most 3."""
    centred = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    dimension = int((sizes > 1e-7).sum())
    if dimension == 0:
        return points[:1], []
    within = centred @ axes[:dimension].T
    if dimension == 1:
        return points[[int(within.argmin()), int(within.argmax())]], [(0, 1)]
    if dimension == 2:
        corners = around(within)
        return points, list(pairwise([*corners, corners[0]]))
    return points, sides(within)


def _solid(panel: Axes, points: Points, colour: str, hatch: str, label: str) -> None:
    """Draw a convex body: a filled outline with its edges."""
    corners, pairs = edges(points)
    places = seen(corners)[:, :2]
    if len(places) > 2:
        outline = places[around(places)]
        panel.fill(*outline.T, facecolor=colour, alpha=0.25, linewidth=0, zorder=2, label=label)
        if hatch:
            panel.fill(*outline.T, fill=False, hatch=hatch, edgecolor=colour, linewidth=0, zorder=2)
    for pair in pairs:
        panel.plot(*places[list(pair)].T, color=colour, linewidth=1.4, zorder=3)
    small = len(places) <= 2  # a segment or a point, which the legend shows by its ends
    panel.plot(*places.T, "o", color=colour, ms=8 if small else 3.5, zorder=3, label=label if small else None)


def _path(panel: Axes, places: Points) -> None:
    """Draw the path of the joint distribution over the checkpoints, darker with time."""
    steps = LineCollection(list(np.stack([places[:-1], places[1:]], axis=1)), cmap=TIME, linewidths=2, zorder=4)
    steps.set_array(np.arange(len(places) - 1.0))
    panel.add_collection(steps)
    panel.plot(*places[0], "o", mfc="none", mec="black", mew=1.3, ms=15, zorder=8, label="first round")
    panel.plot(*places[-1], "s", color="black", ms=6, zorder=7, label="all rounds")
