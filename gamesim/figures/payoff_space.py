"""Payoffs of two players: the feasible set, the equilibria and the path of play."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from gamesim import equilibrium
from gamesim.figures.cloud import counted, paths, some
from gamesim.figures.hull import around
from gamesim.figures.style import COLOURS, TIME, WIDTH, number, short, styled
from gamesim.figures.surface import surface
from gamesim.game import Table
from gamesim.games.io.interop import nash_equilibria
from gamesim.measure.incentives import EquilibriumKind
from gamesim.record import Record

Points = NDArray[np.float64]

CELLS = 400  # largest game whose equilibrium payoffs are drawn; each vertex takes several linear programs
SEEN = 2e-3  # share of the payoff range below which vertices are not visible
SETS: dict[EquilibriumKind, tuple[str, str, str]] = {"cce": ("CCE", COLOURS[5], "///"), "ce": ("CE", COLOURS[3], "")}


@styled
def payoff_space(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the feasible, CCE, CE and Nash payoffs, and the path of average payoffs.

    Payoffs are in payoff units per round.

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
        The figure. None unless the game is a payoff table of two players.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("commitment", "hedge", rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.payoff_space(record))
    'In commitment, Leader earns 2 per round and Follower 0.996'
    """
    game = record.game
    if not isinstance(game, Table) or len(game.players) != 2:
        return None
    runs = [one.curve.payoffs() for one in some(record)]
    path, last = runs[0], np.median([run[-1] for run in runs], axis=0)
    which = "" if record.single else f" (medians of {counted(record)})"
    drawing = surface(
        f"In {short(game.name, 40)}, {short(game.players[0], 20)} earns {number(last[0])} per round and "
        f"{short(game.players[1], 20)} {number(last[1])}{which}",
        size=(WIDTH, 5.4),
        ax=ax,
        fig=fig,
    )
    panel = drawing.panels[0]
    region(panel, outline(game.payoffs.reshape(2, -1).T), "#D9D9D9", "", "feasible")
    if game.cells <= CELLS:
        corners = {kind: equilibrium_payoffs(game, kind) for kind in SETS}
        if same(corners["cce"], corners["ce"], game):
            region(panel, corners["ce"], *SETS["ce"][1:], "CE = CCE")
        else:
            for kind, (name, colour, hatch) in SETS.items():
                region(panel, corners[kind], colour, hatch, name)
    nash = nash_joints(game)
    if nash.size:
        points = np.tensordot(nash, game.payoffs, axes=([1, 2], [1, 2]))
        panel.plot(*points.T, "*", ms=13, color="white", mec="black", linestyle="none", zorder=6, label="Nash")
    if len(runs) == 1:
        _path(panel, path)
    else:
        paths(panel, runs)
    panel.set_xlabel(f"payoff of {short(game.players[0], 30)} (per round)")
    panel.set_ylabel(f"payoff of {short(game.players[1], 30)} (per round)")
    panel.margins(0.06)
    drawing.legend(columns=7, columnspacing=1.1)
    return drawing.figure


def _path(panel: Axes, path: Points) -> None:
    """Draw the average payoffs of one run, darker with time."""
    panel.plot(*path.T, color="black", linewidth=3, zorder=3.5)  # so that the light start is visible on any background
    steps = LineCollection(list(np.stack([path[:-1], path[1:]], axis=1)), cmap=TIME, linewidths=2, zorder=4)
    steps.set_array(np.arange(len(path) - 1.0))
    panel.add_collection(steps)
    panel.plot([], [], color=TIME(0.6), linewidth=2, label="average so far")
    panel.plot(*path[0], "o", mfc="none", mec="black", mew=1.3, ms=15, zorder=8, label="first round")
    panel.plot(*path[-1], "s", color="black", ms=6, zorder=7, label="all rounds")


def nash_joints(game: Table) -> Points:
    """Return the known Nash equilibria of a two-player game as joint distributions."""
    joints = [np.outer(*profile) for profile in nash_equilibria(game).profiles]
    return np.array(joints).reshape(-1, *game.sizes)


def equilibrium_payoffs(game: Table, kind: EquilibriumKind) -> Points:
    """Return the vertices of the set of equilibrium payoffs, found by optimising in ever more directions."""
    polytope = equilibrium.polytope(game, kind)
    low, high = game.range
    close = SEEN * float(max((high - low).max(), 1e-9))

    def best(direction: Points) -> Points:
        return np.array(polytope.payoffs(polytope.optimum(direction)))

    def beyond(one: Points, other: Points) -> list[Points]:
        """Return the vertices strictly between two, in clockwise order."""
        along = other - one
        length = float(np.hypot(*along))
        if length <= close:
            return []
        outward = np.array([-along[1], along[0]]) / length
        found = best(outward)
        if (found - one) @ outward <= close:
            return []
        return [*beyond(one, found), found, *beyond(found, other)]

    right, top, left, bottom = (best(np.array(way, dtype=float)) for way in ((1, 0), (0, 1), (-1, 0), (0, -1)))
    corners: list[Points] = []
    for one, other in ((right, bottom), (bottom, left), (left, top), (top, right)):
        corners += [one, *beyond(one, other)]
    return outline(np.array(corners))


def same(one: Points, other: Points, game: Table) -> bool:
    """Whether two regions look the same: equal support functions up to what is visible."""
    turns = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    ways = np.array([np.cos(turns), np.sin(turns)])
    low, high = game.range
    return bool(np.abs((one @ ways).max(axis=0) - (other @ ways).max(axis=0)).max() <= SEEN * float((high - low).max()))


def outline(points: Points) -> Points:
    """Return the vertices of the convex hull in order; the two ends of collinear points; a single point itself."""
    centred = points - points.mean(axis=0)
    size = float(np.abs(points).max()) or 1.0
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    if sizes[0] <= 1e-7 * size:
        return points[:1]
    if sizes[-1] <= 1e-7 * size:
        along = centred @ axes[0]
        return points[[int(along.argmin()), int(along.argmax())]]
    return points[around(points)]


def region(panel: Axes, corners: Points, colour: str, hatch: str, label: str) -> None:
    """Draw a convex region, which may be a line segment or a point."""
    if len(corners) > 2:
        faint = to_rgba(colour, 0.35)
        panel.fill(*corners.T, facecolor=faint, hatch=hatch, edgecolor=colour, linewidth=1.4, zorder=2, label=label)
    else:
        panel.plot(*corners.T, marker="D", color=colour, linewidth=6, ms=9, alpha=0.6, zorder=3, label=label)
