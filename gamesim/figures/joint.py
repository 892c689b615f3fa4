"""The joint distribution of play: how often each action profile was played."""

import sys
from itertools import islice

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from gamesim.figures.style import COLOURS, SHADES, WIDTH, number, short, styled, ticks_for
from gamesim.figures.surface import Surface, surface
from gamesim.formatting import replicas
from gamesim.record import Record

WRITTEN = 8  # largest number of actions for which cells show their probability
SMALL = 5e-5  # smaller probabilities are written as 0
SLICES = 6  # largest number of actions of a third player for which one matrix per action is drawn
SHARE = "probability (share of rounds)"
BARS = 20  # action profiles shown if there is no matrix


def joint_of(record: Record) -> NDArray[np.float64] | None:
    """Return the joint distribution, averaged over replicas."""
    joint = record.joint
    return joint if joint is None or record.single else joint.mean(axis=0)


@styled
def joint(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the joint distribution of play.

    Two players give a matrix, three give one matrix per action of the third player, and larger games the most likely
    action profiles as bars.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, means are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure. None if the joint distribution is too large to store.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.joint(record))
    'The most frequent action profile in commitment is (up, left), with probability 49.8%'
    """
    cells = joint_of(record)
    if cells is None:
        return None
    game = record.game
    title = _title(record, cells)
    if cells.ndim == 2:
        drawing = surface(title, size=(WIDTH, _height(cells.shape)), ax=ax, fig=fig)
        image = matrix(drawing.panels[0], cells, game.players, game.actions, float(cells.max()))
        drawing.colorbar(image, drawing.panels, SHARE)
        return drawing.figure
    if cells.ndim == 3 and cells.shape[2] <= SLICES:
        columns = 2 if cells.shape[2] == 4 else min(cells.shape[2], 3)
        rows = -(-cells.shape[2] // columns)
        drawing = surface(title, columns, rows, size=(WIDTH, 1.0 + 2.6 * rows), ax=ax, fig=fig)
        shown = drawing.panels[: cells.shape[2]]
        for a, panel in enumerate(shown):
            image = matrix(panel, cells[:, :, a], game.players, game.actions, float(cells.max()))
            drawing.head(panel, f"{short(game.players[2], 14)}: {short(game.actions[2][a], 14)}")
        for panel in drawing.panels[len(shown) :]:
            panel.set_axis_off()
        drawing.colorbar(image, shown, SHARE)
        return drawing.figure
    bars = _most_likely(cells)
    drawing = surface(title, size=(WIDTH, 1.5 + 0.24 * len(bars)), ax=ax, fig=fig)
    _bars(drawing, cells, bars, game.actions)
    return drawing.figure


def _title(record: Record, cells: NDArray[np.float64]) -> str:
    """Name the most frequent action profile, or count those that tie for it up to rounding."""
    game, top = record.game, float(cells.max())
    tied = int((cells >= top - sys.float_info.epsilon * record.rounds).sum())
    mean = "" if record.single else f" (mean of {record.replicas} {replicas(record.feedback)})"
    name = short(game.name, 40)
    if tied == cells.size > 1:
        return f"All {tied:,} action profiles of {name} are equally frequent, with probability {top:.1%} each{mean}"
    if tied > 1:
        return f"{tied:,} action profiles of {name} are the most frequent, with probability {top:.1%} each{mean}"
    likeliest = np.unravel_index(cells.argmax(), cells.shape)
    profile = ", ".join(short(game.actions[i][a]) for i, a in islice(enumerate(likeliest), 6))
    more = ", …" if len(likeliest) > 6 else ""
    return f"The most frequent action profile in {name} is ({profile}{more}), with probability {top:.1%}{mean}"


def _height(shape: tuple[int, ...]) -> float:
    return float(np.clip(0.6 * shape[0] * min(1.0, 8 / max(shape)) + 1.8, 3.0, 6.5))


def matrix(
    panel: Axes,
    cells: NDArray[np.float64],
    players: tuple[str, ...],
    actions: tuple[tuple[str, ...], ...],
    top: float,
) -> AxesImage:
    """Draw a matrix of probabilities up to `top`, with the first player's actions as rows."""
    panel.grid(visible=False)
    panel.spines[:].set_visible(True)
    image = panel.imshow(cells, cmap=SHADES, vmin=0, vmax=top, interpolation="none", aspect="auto")
    panel.set_ylabel(short(players[0], 30))
    panel.set_xlabel(short(players[1], 30))
    panel.set_yticks(*ticks_for(actions[0]))
    places, labels = ticks_for(actions[1])
    slanted = sum(map(len, labels)) > 40
    panel.set_xticks(
        places,
        labels,
        rotation=40 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else None,
    )
    if max(cells.shape) <= WRITTEN:
        for (i, j), value in np.ndenumerate(cells):
            colour = "white" if value > 0.6 * top else "black"
            written = number(float(value)) if value >= SMALL else "0"
            panel.text(j, i, written, ha="center", va="center", color=colour, fontsize=8)
    return image


def _most_likely(cells: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the indices of the most likely action profiles, in order."""
    order = np.argsort(-cells, axis=None, kind="stable")[:BARS]
    return np.asarray(order[cells.ravel()[order] >= min(0.001, cells.max())])


def _bars(
    drawing: Surface, cells: NDArray[np.float64], order: NDArray[np.int64], actions: tuple[tuple[str, ...], ...]
) -> None:
    """Draw action profiles as bars."""
    panels = drawing.panels
    profiles = [np.unravel_index(k, cells.shape) for k in order]
    letters = max(2, 60 // cells.ndim - 2)
    names = [", ".join(short(actions[i][a], letters) for i, a in enumerate(profile)) for profile in profiles]
    panels[0].barh(np.arange(len(order)), cells.ravel()[order], color=COLOURS[0])
    panels[0].set_yticks(np.arange(len(order)), [short(name, 64) for name in names], fontsize=8)
    panels[0].invert_yaxis()
    panels[0].grid(visible=False, axis="y")
    panels[0].set_xlabel(SHARE)
    rest = 1 - cells.ravel()[order].sum()
    if cells.size > len(order):
        drawing.head(
            panels[0],
            f"{len(order)} of {cells.size:,} action profiles; the others have total probability {max(rest, 0):.1%}",
            loc="left",
        )
