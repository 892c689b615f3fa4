"""Phase portraits: where learners go from each strategy, where they rest, and where they end."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.figures.style import COLOURS, DARK, WIDTH, number, short, styled
from gamesim.figures.surface import Surface, surface
from gamesim.figures.tetrahedron import seen
from gamesim.figures.triangles import CORNERS
from gamesim.figures.triangles import frame as triangle_frame
from gamesim.game import Table
from gamesim.measure.endings import PURE, in_words, sentence
from gamesim.portraits import Dynamics, Portrait
from gamesim.portraits import portrait as compute
from gamesim.record import Record

Points = NDArray[np.float64]

PIXELS = 240  # per side of the background
FAINT, FULL = 0.10, 0.62  # strength of a colour where play is slow, and where it is fastest
BASINS = (COLOURS[0], COLOURS[1], COLOURS[3], COLOURS[4], COLOURS[5], COLOURS[6])
NONE = COLOURS[7]  # colour of runs that have not ended at a rest point
PLAIN = "#5B8DB8"  # of a background without basins
LINES = {"square": 4, "triangle": 5, "cube": 3}  # every third, fourth or fifth starting point of a side has a line
LENGTH = {"square": 1.1, "triangle": 1.1, "cube": 2.4}  # of a line, at most
SMOOTH = 0.7  # width of the filter that smooths the borders of basins
ARROW = 0.62  # length of the longest arrow, as a share of the distance between arrows
RUNS = 60  # runs of a record that are drawn as paths
STABILITY = {  # fill of the markers of rest points
    "sink": ("black", "sink: attracts"),
    "saddle": ("#9A9A9A", "saddle: attracts from some sides"),
    "source": ("white", "source: repels"),
    "centre": ("#F0E442", "centre: circled"),
    "degenerate": ("#F0E442", "degenerate: not decided by eigenvalues"),
}


@styled
def portrait(shown: Portrait, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure:
    """Plot a phase portrait.

    Colours show where runs end, and darker shades where play is faster. Arrows show the velocity, lines some runs.

    Parameters
    ----------
    shown : Portrait
        The portrait, see `gamesim.portrait`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> figures.title_of(figures.portrait(gamesim.portrait("zeeman", "replicator", rounds=20000, lines=10)))
    'replicator in zeeman: 67% of starts end at the mixture (33%, 33%, 33%), 33% at action 1'
    """
    drawing = surface(title(shown), size=(WIDTH, 6.6), ax=ax, fig=fig)
    panel = drawing.panels[0]
    places = basins(shown)
    _background(panel, shown, places)
    _arrows(panel, shown)
    for run in chosen_lines(shown):
        place = int(shown.ends[run])
        colour = BASINS[places.index(place)] if place in places else DARK
        _line(panel, project(shown.dynamics, shown.lines[run]), colour, LENGTH[shown.dynamics.shape])
    _finish(drawing, shown, places)
    return drawing.figure


@styled
def phase_space(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the runs of a record in the phase portrait of its learners.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, up to 60 are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure. None unless the game is 2×2, 2×2×2, or symmetric with three actions, and its learners can start at
        any strategy.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("chicken", "hedge", rounds=1000, replicas=20, start="random")
    >>> figures.title_of(figures.phase_space(record))
    'Of 20 runs of chicken, 12 end at (chicken out, dare) and 8 at (dare, chicken out)'
    """
    shown = still_portrait(record)
    if shown is None or (shown.dynamics.shape == "triangle" and not _is_symmetric(record)):
        return None
    drawing = surface(sentence(record.endings(), short(record.game.name, 40)), size=(WIDTH, 6.6), ax=ax, fig=fig)
    panel = drawing.panels[0]
    _background(panel, shown, [])
    _arrows(panel, shown)
    width = shown.points.shape[1]
    for one in _some(record):
        path = project(shown.dynamics, np.concatenate(one.trajectory[1], axis=1)[:, :width])
        _line(panel, path, COLOURS[0], np.inf)
        panel.plot(*path[0], "o", ms=4, mfc="white", mec=COLOURS[0], zorder=5)
        last = np.concatenate(one.last)[:width]
        panel.plot(*project(shown.dynamics, last[None])[0], "s", ms=5, color=COLOURS[0], mec="white", mew=0.5, zorder=7)
    first = Line2D([], [], marker="o", mfc="white", mec=COLOURS[0], color=COLOURS[0], ms=4)
    last_mark = Line2D([], [], marker="s", color=COLOURS[0], ls="none", ms=5)
    many = f"runs ({RUNS} of {record.replicas})" if record.replicas > RUNS else "runs" if record.replicas > 1 else "run"
    _finish(drawing, shown, [], [(first, f"{many}, from the first round"), (last_mark, "last round")])
    return drawing.figure


def still_portrait(record: Record) -> Portrait | None:
    """Return the phase portrait of a record's learners without lines, or None if they have none."""
    if not isinstance(record.game, Table) or record.feedback != "expected":
        return None
    try:
        return _without_lines(record.game, record.learners)
    except InputError:
        return None


@lru_cache(maxsize=2)  # the figure and the replay of a report
def _without_lines(game: Table, learners: tuple[Any, ...]) -> Portrait:
    return compute(game, list(learners), lines=0)


def _is_symmetric(record: Record) -> bool:
    """Whether both players always play the same strategy, as in the triangle."""
    return all(bool((first == second).all()) for first, second in (one.trajectory[1] for one in _some(record)))


def basins(shown: Portrait) -> list[int]:
    """Return the rest points at which runs end from an open set of starting points; saddles attract thin sets."""
    thin = ("saddle", "source", "centre")
    found = [place for place in shown.attractors if shown.rest[place].stability.split()[-1] not in thin]
    return found[: len(BASINS)]


def _some(record: Record) -> list[Record[float]]:
    return [record[replica] for replica in range(min(record.replicas, RUNS))]


def project(dynamics: Dynamics, states: Points) -> Points:
    """Return states as points of the drawing."""
    if dynamics.shape == "triangle":
        return np.asarray(states @ CORNERS)
    if dynamics.shape == "square":
        return np.asarray(states[:, [0, 2]])
    return seen(2 * states[:, [0, 2, 4]] - 1)[:, :2]


def title(shown: Portrait) -> str:
    """Return how many runs end where."""
    dynamics = shown.dynamics
    names = short(" and ".join(dict.fromkeys(one.name for one in dynamics.learners)), 40)
    limit = " (limit of small rates)" if dynamics.kind == "limit" else ""
    subject = f"{names}{limit} in {short(dynamics.game.name, 40)}"
    if not len(shown.ends):
        return f"{subject}: the phase portrait"
    some = [(place_name(shown, place), float(np.mean(shown.ends == place))) for place in basins(shown)[:3]]
    if not some:
        return f"{subject}: {_unsettled(shown)}"
    rest = 1 - sum(share for _, share in some)
    if rest < 1e-9 and len(some) == 1:
        return f"{subject}: every start ends at {some[0][0]}"
    border = "on the border between them" if len(some) > 1 and (shown.ends >= 0).all() else "elsewhere"
    parts = [f"{share:.0%} at {name}" for name, share in some] + ([f"{rest:.0%} {border}"] if rest > 1e-9 else [])
    return f"{subject}: {parts[0].replace(' at ', ' of starts end at ', 1)}" + "".join(f", {one}" for one in parts[1:])


def _unsettled(shown: Portrait) -> str:
    """Return how play moves if it ends at no rest point."""
    inside = [point.stability for point in shown.rest if point.is_nash and point.state.min() > 0]
    if inside == ["centre"]:
        return "play circles the equilibrium"
    if inside and all("source" in one for one in inside):
        return "play moves away from the equilibrium and does not settle"
    return f"no start ends at a rest point within {shown.rounds:,} rounds"


def place_name(shown: Portrait, place: int) -> str:
    """Return a rest point in words."""
    state = shown.rest[place].state
    if shown.dynamics.shape == "triangle":
        name = in_words(shown.dynamics.game, shown.dynamics.strategies(state)[:1])[1:-1]
        return name if state.max() >= PURE else f"the mixture ({', '.join(f'{share:.0%}' for share in state)})"
    return in_words(shown.dynamics.game, shown.dynamics.strategies(state))


def _background(panel: Axes, shown: Portrait, places: Sequence[int]) -> None:
    """Shade the phase space: the hue by where runs end, the strength by speed."""
    if shown.dynamics.shape == "cube":
        return
    kinds, strengths, top = shading(shown, places, PIXELS)
    colours = np.array([to_rgb(NONE if places else PLAIN), *(to_rgb(one) for one in BASINS)])
    image = 1 - np.nan_to_num(strengths)[..., None] * (1 - colours[kinds])
    image = np.concatenate([image, ~np.isnan(strengths)[..., None]], axis=-1)
    panel.imshow(image, origin="lower", extent=(0, 1, 0, top), aspect="equal", interpolation="bilinear", zorder=0)


def shading(shown: Portrait, places: Sequence[int], count: int) -> tuple[NDArray[np.int64], Points, float]:
    """Return the shades of `count` × `count` pixels of a square or a triangle, from the bottom up, and its height.

    A pixel has the number of the place in `places` where runs end, counted from 1, or 0; and its strength, by speed,
    which is NaN outside the triangle.
    """
    dynamics = shown.dynamics
    top = 1.0 if dynamics.shape == "square" else float(CORNERS[2, 1])
    x, y = np.meshgrid((np.arange(count) + 0.5) / count, top * (np.arange(count) + 0.5) / count)
    pixels = np.stack([x.ravel(), y.ravel()], axis=1)
    points, speeds = project(dynamics, shown.points), _speeds(shown)
    spread = (
        _over_square(points, speeds, count) if dynamics.shape == "square" else _spread(points, speeds[:, None], pixels)
    )
    share = spread.ravel() / (speeds.max() or 1.0)
    strengths = FAINT + (FULL - FAINT) * np.sqrt(share)
    kinds = np.zeros(len(pixels), dtype=np.int64)
    if places:
        from scipy.ndimage import gaussian_filter  # slow to import, and the phase space of a run has no places

        shares = _spread(project(dynamics, shown.lines[:, 0]), shown.ends[:, None] == np.array([-1, *places]), pixels)
        smooth = SMOOTH * count / np.sqrt(len(shown.lines))  # about the distance between two starting points
        shares = gaussian_filter(shares.reshape(count, count, -1), (smooth, smooth, 0)).reshape(len(pixels), -1)
        kinds = shares.argmax(axis=1)
    if dynamics.shape == "triangle":
        weights = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), np.vstack([pixels.T, np.ones(len(pixels))]))
        strengths[weights.min(axis=0) < -1e-9] = np.nan
    return kinds.reshape(count, count), strengths.reshape(count, count), top


def _over_square(points: Points, values: Points, count: int) -> Points:
    """Return values on a square lattice, interpolated over pixels; outside the lattice, those on its border."""
    middles = (np.arange(count) + 0.5) / count
    columns, rows = (np.unique(column) for column in points.T)
    lattice = np.zeros((len(rows), len(columns)))
    lattice[np.searchsorted(rows, points[:, 1]), np.searchsorted(columns, points[:, 0])] = values
    up, across = ([np.interp(middles, places, unit) for unit in np.eye(len(places))] for places in (rows, columns))
    return np.asarray(np.transpose(up) @ lattice @ across)


def _spread(points: Points, values: Points, pixels: Points) -> Points:
    """Return values at points, interpolated over pixels; outside the points' hull, those on its border."""
    from scipy.spatial import ConvexHull, Delaunay  # slow to import, and the phase space of most runs is a square

    middle = points.mean(axis=0)
    hull = ConvexHull(points)
    beyond = (pixels - middle) @ hull.equations[:, :2].T / -(hull.equations[:, :2] @ middle + hull.equations[:, 2])
    within = middle + (pixels - middle) / np.maximum(1.0 + 1e-9, beyond.max(axis=1, keepdims=True) * (1 + 1e-9))
    pieces = Delaunay(points)
    piece = pieces.find_simplex(within)
    to_weights = pieces.transform[piece]
    first = np.einsum("pij,pj->pi", to_weights[:, :2], within - to_weights[:, 2])
    weights = np.concatenate([first, 1 - first.sum(axis=1, keepdims=True)], axis=1)
    spread: Points = np.einsum("pk,pkv->pv", weights, values.astype(float)[pieces.simplices[piece]])
    return spread


def _speeds(shown: Portrait) -> Points:
    """Return the speed at each point, as half the sum of absolute changes (the total variation) of all strategies."""
    return np.asarray(np.abs(shown.velocities).sum(axis=1) / 2)


def _arrows(panel: Axes, shown: Portrait) -> None:
    dynamics, speeds = shown.dynamics, _speeds(shown)
    points = project(dynamics, shown.points)
    ways = project(dynamics, shown.points + 1e-3 * shown.velocities / (speeds.max() or 1.0)) - points
    lengths = np.hypot(*ways.T)
    apart = np.sort(np.hypot(*(points - points[0]).T))[1]
    share = (speeds / (speeds.max() or 1.0)) ** 0.4
    moving = lengths > 0
    along = ways[moving] / lengths[moving, None]
    aside = np.stack([-along[:, 1], along[:, 0]], axis=1)
    long = (ARROW * apart * (0.25 + 0.75 * share[moving]))[:, None]
    wide = 0.05 * apart
    shape = [(-0.5, 0.5), (-0.5, -0.5), (0.1, -0.5), (0.1, -2.0), (0.5, 0.0), (0.1, 2.0), (0.1, 0.5)]  # along, aside
    corners = [points[moving] + x * long * along + y * wide * aside for x, y in shape]
    faint = 0.35 if dynamics.shape == "cube" else 0.6
    arrows = Path.make_compound_path_from_polys(np.stack(corners, axis=1))
    panel.update_datalim(arrows.vertices)  # add_patch would find the extrema of each side of each arrow
    panel.add_artist(PathPatch(arrows, facecolor=DARK, alpha=faint, linewidth=0, zorder=2))


def chosen_lines(shown: Portrait) -> list[int]:
    """Return the runs that are drawn as lines: some of a grid of starting points, or all if they are few."""
    if len(shown.lines) <= RUNS:
        return list(range(len(shown.lines)))
    step = LINES[shown.dynamics.shape]
    firsts = project(shown.dynamics, shown.lines[:, 0]) if shown.dynamics.shape != "cube" else shown.lines[:, 0, ::2]
    columns = [np.unique(column.round(9), return_inverse=True)[1] for column in firsts.T]
    return [run for run in range(len(firsts)) if all(int(column[run]) % step == step // 2 for column in columns)]


def _line(panel: Axes, path: Points, colour: str, most: float) -> None:
    """Draw a run up to a length, with an arrowhead near its beginning."""
    steps = np.hypot(*np.diff(path, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    end = int(np.searchsorted(along, most, side="right"))
    shown = path[: max(end, 2)]
    panel.plot(*shown.T, color=colour, linewidth=1.1, alpha=0.9, zorder=3)
    total = along[min(end, len(along)) - 1]
    if total < 0.05:
        return
    at = int(np.searchsorted(along, min(0.5 * total, 0.25)))
    tip, tail = path[at], path[at - 1]
    ahead = 0.012 * (tip - tail) / np.hypot(*(tip - tail))
    panel.annotate("", tip + ahead, tip - ahead, zorder=4,
                   arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1, "mutation_scale": 10})  # fmt: skip


def _finish(drawing: Surface, shown: Portrait, places: Sequence[int], more: Sequence[tuple[Any, str]] = ()) -> None:
    """Draw the frame, the rest points, the equilibria and the legend."""
    panel, dynamics = drawing.panels[0], shown.dynamics
    _frame(panel, dynamics)
    marks: dict[str, Any] = {}
    if len(shown.nash):
        look: dict[str, Any] = {"marker": "o", "ls": "none", "ms": 15, "mfc": "none", "mec": COLOURS[5], "mew": 2.2}
        panel.plot(*project(dynamics, shown.nash).T, **look, zorder=8, clip_on=False)
        marks["Nash equilibrium"] = Line2D([], [], **(look | {"ms": 10}))
    for point in shown.rest:
        fill, words = STABILITY[point.stability.split()[-1]]
        look = {"marker": "o", "ls": "none", "ms": 8, "mfc": fill, "mec": "black", "mew": 1.3}
        panel.plot(*project(dynamics, point.state[None]).T, **look, zorder=9, clip_on=False)
        marks.setdefault(words, Line2D([], [], **look))
    for k, place in enumerate(places):
        words = f"ends at {short(place_name(shown, place), 44)}"
        marks[words] = (
            Patch(color=BASINS[k], alpha=0.6) if dynamics.shape != "cube" else Line2D([], [], color=BASINS[k])
        )
    if places and (shown.ends < 0).any() and dynamics.shape != "cube":
        marks["ends elsewhere"] = Patch(color=NONE, alpha=0.6)
    for handle, words in more:
        marks[words] = handle
    words = f"Arrows: {dynamics.description}."
    drawing.legend(list(marks.values()), list(marks), columns=2, note=words)
    if dynamics.shape != "cube":
        speeds = _speeds(shown)
        unit = "per unit of time" if dynamics.kind == "limit" else "per round"
        norm = Normalize(0, float(speeds.max()) or 1.0)
        hue = np.array(to_rgb(NONE if places else PLAIN))
        strengths = FAINT + (FULL - FAINT) * np.sqrt(np.linspace(0, 1, 32))
        shades = LinearSegmentedColormap.from_list("speed", [tuple(1 - one * (1 - hue)) for one in strengths])
        drawing.colorbar(ScalarMappable(norm, shades), [panel], f"speed (total variation {unit})", shrink=0.7,
                         format=lambda x, _: number(x))  # fmt: skip


def _frame(panel: Axes, dynamics: Dynamics) -> None:
    game = dynamics.game
    panel.grid(visible=False)
    if dynamics.shape == "triangle":
        triangle_frame(panel, game.actions[0], away=11)
        return
    names = [
        f"probability that {short(game.players[i], 14)} plays {short(game.actions[i][0], 14)}"
        for i in range(len(game.players))
    ]
    panel.set_aspect("equal")
    if dynamics.shape == "square":
        panel.set(xlim=(0, 1), ylim=(0, 1), xlabel=names[0], ylabel=names[1])
        panel.spines[:].set_visible(True)
        return
    panel.set_axis_off()
    corners = np.array(list(product((0.0, 1.0), repeat=3)))
    for a, b in product(range(8), repeat=2):
        if a < b and np.abs(corners[a] - corners[b]).sum() == 1:
            ends = seen(2 * corners[[a, b]] - 1)[:, :2]
            panel.plot(*ends.T, color=DARK, linewidth=0.9, alpha=0.6, zorder=1)
    for i, name in enumerate(names):
        others = [k for k in range(3) if k != i]
        middles = np.full((4, 3), 0.5)
        middles[:, others] = list(product((0.0, 1.0), repeat=2))
        places = seen(2 * middles - 1)[:, :2]
        along = seen(2 * np.eye(3)[[i]])[0, :2]
        upright = abs(along[1]) > abs(along[0])
        place = places[int(places[:, 0].argmin() if upright else places[:, 1].argmin())]  # an edge on the outline
        slope = float(np.degrees(np.arctan2(along[1], along[0])))
        slope = (slope + 90) % 180 - 90
        away, sides = ((-5, 0), ("right", "center")) if upright else ((0, -5), ("center", "top"))
        panel.annotate(name, place, away, textcoords="offset points", fontsize=8, ha=sides[0], va=sides[1],
                       rotation=90 if upright else slope, rotation_mode="default")  # fmt: skip
    panel.margins(0.06)
