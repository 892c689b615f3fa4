"""A network game as a graph, coloured by strategies."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from gamesim.figures.style import COLOURS, DARK, MARKERS, SHADES, WIDTH, short, styled
from gamesim.figures.surface import Surface, surface
from gamesim.formatting import replicas
from gamesim.record import Record

if TYPE_CHECKING:
    import networkx as nx

SMALL, LAID_OUT = 60, 600  # largest numbers of players for layouts by distances and by forces
TIED = 1e-12  # probabilities this close to the largest count as tied with it
NAMED = 24  # largest number of players that are labelled
DRAWN = 6  # largest number of replicas


@styled
def network(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the graph of a network game, coloured by the final strategies.

    If all players have two actions, the shade is the probability of the second; otherwise, colour and shape show the
    most likely action.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, the first six are drawn, or one in given axes.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure. None if the game is not a network game.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("network-coordination", "hedge", rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.network(record))
    'At the end of network-coordination, 1 is the most likely action of 7 of the 10 players'
    """
    graph = getattr(record.game, "graph", None)
    if graph is None or set(graph) != set(record.game.players):
        return None
    count = 1 if ax is not None else min(record.replicas, DRAWN)
    ends = [_last(record[replica]) for replica in range(record.replicas)]
    columns = min(count, 3)
    rows = -(-count // columns)
    size = WIDTH, 6.0 if count == 1 else 2.6 * rows + 0.6
    drawing = surface(_title(record, ends, count), columns, rows, size=size, ax=ax, fig=fig)
    points = _points(graph, record.game.players)
    look: dict[str, Any] = {
        "s": float(np.clip((9000 if len(points) <= LAID_OUT else 60_000) / len(points) / columns**2, 3, 260)),
        "edgecolors": "black" if len(points) <= LAID_OUT else "#888888",
        "linewidths": 0.6 if len(points) <= LAID_OUT else 0.25,
        "rasterized": len(points) > LAID_OUT,
    }
    for replica, panel in enumerate(drawing.panels):
        panel.set_axis_off()
        if replica < count:
            _edges(drawing, panel, record.game, points)
            if count > 1:
                drawing.head(panel, f"{replicas(record.feedback, 1)} {replica + 1}", color=DARK)
    _dots(drawing, points, ends[:count], record.game.actions, look)
    if count == 1 and len(points) <= NAMED:
        for name, point in zip(record.game.players, points, strict=True):
            drop: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "top"}
            drawing.panels[0].annotate(short(name, 12), point, (0, -1 - 0.7 * look["s"] ** 0.5), fontsize=7.5, **drop)
    return drawing.figure


def _last(one: Record) -> list[NDArray[np.float64]]:
    """Return the strategies of the last round, or the last ones that are kept."""
    return [strategies[-1] for strategies in one.trajectory[1]] if np.isnan(one.last[0]).any() else list(one.last)


def _edges(drawing: Surface, panel: Axes, game: Any, points: NDArray[np.float64]) -> None:
    """Draw the edges of the graph, unless there are too many."""
    panel.set_aspect("equal")
    panel.margins(0.12)
    if len(points) <= LAID_OUT:
        number = {name: k for k, name in enumerate(game.players)}
        ends = [points[[number[a], number[b]]] for a, b in game.graph.edges()]
        panel.add_collection(LineCollection(ends, colors="#B0B0B0", linewidths=0.8, zorder=0))
    elif panel is drawing.panels[0]:
        omitted = f"{game.graph.number_of_edges():,} edges are not drawn; neighbours are close to each other"
        drawing.head(panel, omitted, color=DARK)


def _title(record: Record, ends: list[list[NDArray[np.float64]]], drawn: int) -> str:
    """Name the action that is a most likely one of the most players, in all runs together; actions may tie."""
    game = record.game
    best = [[strategy >= strategy.max() - TIED for strategy in last] for last in ends]
    counts = np.array([np.sum([np.pad(one, (0, max(game.sizes) - len(one))) for one in run], axis=0) for run in best])
    top = int(counts.sum(axis=0).argmax())
    label = short(game.actions[0][top], 24) if len(set(game.actions)) == 1 else f"their action number {top + 1}"
    article = "a" if any(one.sum() > 1 for run in best for one in run) else "the"
    low, high = counts[:, top].min(), counts[:, top].max()
    share = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    some = "" if drawn == record.replicas else f", of which {drawn} {'is' if drawn == 1 else 'are'} drawn"
    which = "" if record.single else f" ({record.replicas:,} {replicas(record.feedback)}{some})"
    end = f"At the end of {short(game.name, 40)}"
    return f"{end}, {label} is {article} most likely action of {share} of the {len(ends[0]):,} players{which}"


def _points(graph: "nx.Graph[str]", names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return a position per player: by distances, by forces, or for many players on a spiral in breadth-first order."""
    import networkx as nx  # slow, and only needed here

    if len(names) > LAID_OUT:
        order = [node for part in nx.connected_components(graph) for node in nx.bfs_tree(graph, min(part))]
        rank = {node: k for k, node in enumerate(order)}
        k = np.array([rank[name] for name in names])
        angle = np.pi * (3 - np.sqrt(5)) * k  # the golden angle: a sunflower's seeds
        return np.stack([np.sqrt(k) * np.cos(angle), np.sqrt(k) * np.sin(angle)], axis=1)
    whole = nx.is_connected(graph) and len(names) <= SMALL
    places = nx.kamada_kawai_layout(graph) if whole else nx.spring_layout(graph, seed=0)
    return np.array([places[name] for name in names])


def _dots(
    drawing: Surface,
    points: NDArray[np.float64],
    ends: list[list[NDArray[np.float64]]],
    actions: tuple[tuple[str, ...], ...],
    look: dict[str, Any],
) -> None:
    """Draw the players of every run in the shade of a probability, or in the colour of their most likely action."""
    alike = len(set(actions)) == 1
    if alike and len(actions[0]) == 2:
        for panel, last in zip(drawing.panels, ends, strict=False):
            shade = [strategy[1] for strategy in last]
            dots = panel.scatter(points[:, 0], points[:, 1], c=shade, cmap=SHADES, vmin=0, vmax=1, **look)
        drawing.colorbar(dots, drawing.panels, f"probability of {short(actions[0][1], 24)}", shrink=0.7)
        return
    likeliest = np.array([[int(strategy.argmax()) for strategy in last] for last in ends])
    for index, action in enumerate(np.unique(likeliest)):  # named by number if players' actions differ
        label = short(actions[0][action]) if alike else f"action {action + 1}"
        mark: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}
        for panel, best in zip(drawing.panels, likeliest, strict=False):
            panel.scatter(points[best == action, 0], points[best == action, 1], label=label, **mark, **look)
    last_column = drawing.panels[min(len(ends), 3) - 1]
    place: dict[str, Any] = {"loc": "best"} if drawing.given else {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    last_column.legend(title="most likely action", markerscale=0.5, **place)
