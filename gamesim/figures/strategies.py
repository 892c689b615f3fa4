"""The mixed strategies of the players over the rounds."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from gamesim.figures.cloud import band, counted, key, some
from gamesim.figures.curves import log_ticks
from gamesim.figures.movement import at_equal_steps, known, movement, omitted
from gamesim.figures.style import COLOURS, FEW, SHADES, WIDTH, count_rounds, palette, short, styled, ticks_for
from gamesim.figures.surface import Surface, surface
from gamesim.measure.endings import sentence
from gamesim.record import Record

EARLY = 0.9  # share of all movement
LINES = 8  # largest number of actions drawn as lines; more are drawn as rows of an image


@styled
def strategies(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the strategy of each player over the rounds.

    Many players with the same actions are drawn as one row per player, or as their mean strategy.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, the median and quantile bands are drawn, or means of many players.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure; None if play was observed, see `frequencies`.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.strategies(record))
    'Strategies in prisoners-dilemma hardly move after round 398 (by at most 7.8×10⁻⁷ in all)'
    """
    if record.feedback == "observed":
        return None
    one = record[0]
    names, actions = one.game.players, one.game.actions
    alike = len(set(actions)) == 1
    which = "" if record.single else f" (mean of {counted(record)})"
    game = short(one.game.name, 40)
    steps = [at_equal_steps(run) for run in some(record)]
    rounds, played = steps[0][0], [np.mean(each, axis=0) for each in zip(*(run for _, run in steps), strict=True)]
    if len(names) > FEW and alike:
        together = np.stack(played)
        if one.game.sizes[0] == 2:
            title = f"How likely each player is to play {short(actions[0][1])} in {game}{which}"
            crowd, many = _sorted_if_many(together[:, :, 1])
            drawing = surface(title, size=(WIDTH, min(6.0, 2.2 + 0.2 * len(crowd))), ax=ax, fig=fig)
            _crowd_of_two(drawing, names, actions[0], rounds, crowd, many)
            return drawing.figure
        mean = together.mean(axis=0)
        drawing = surface(f"The mean strategy of all {len(names):,} players in {game}{which}", ax=ax, fig=fig)
        _panel(drawing, 0, rounds, mean, actions[0], "mean probability")
        count_rounds(drawing.panels[0])
        return drawing.figure
    shown = min(len(names), FEW)
    if not record.single and max(one.game.sizes[:shown]) <= LINES:
        return _bands(record, shown, ax, fig)
    few = f" (the first {shown} of {len(names):,} players)" if shown < len(names) else ""
    title = f"{movement(one, range(shown))}{few}{which}"
    drawing = surface(title, 1, shown, size=(WIDTH, 1.1 + 1.55 * shown), ax=ax, fig=fig, sharex=True)
    panels = drawing.panels
    if note := omitted(one, range(shown)):
        drawing.note(note)
    every, exact = known(one) if record.single else (rounds, played)
    for i, (panel, name, labels) in enumerate(zip(panels, names, actions, strict=False)):
        at, strategy = (every, exact[i]) if len(labels) <= LINES else (rounds, played[i])
        _panel(drawing, i, at, strategy, labels, "probability")
        drawing.head(panel, short(name, 60), loc="left")
    count_rounds(panels[-1])
    if max(one.game.sizes[:shown]) <= LINES and _is_early(one, shown):
        panels[-1].set_xscale("log")
        log_ticks(panels[-1].xaxis)
    return drawing.figure


def _bands(record: Record, shown: int, ax: Axes | None, fig: Figure | SubFigure | None) -> Figure:
    """Draw the strategies of all replicas at the checkpoints: the median and quantile bands of each action."""
    game, rounds = record.game, record.curve.rounds
    title = sentence(record.endings(), short(game.name, 40))
    drawing = surface(title, 1, shown, size=(WIDTH, 1.4 + 1.55 * shown), ax=ax, fig=fig, sharex=True)
    last = np.split(record.curve.measure("last-strategies"), np.cumsum(game.sizes)[:-1], axis=-1)
    for i, (panel, name, labels) in enumerate(zip(drawing.panels, game.players, game.actions, strict=False)):
        first = 1 if len(labels) == 2 else 0  # for two actions, one suffices
        for action in range(first, len(labels)):
            colour = COLOURS[action - first]
            band(panel, rounds, last[i][..., action], colour, median="black" if first else colour)
            panel.plot([], [], color=colour, linewidth=4, label=short(labels[action]))
        panel.set(ylim=(-0.03, 1.03), yticks=[0, 0.5, 1], ylabel="probability")
        panel.legend(loc="upper left", bbox_to_anchor=(1.005, 1.05), borderaxespad=0, handlelength=1.2)
        drawing.head(panel, short(name, 60), loc="left")
    drawing.panels[-1].set_xscale("log")
    drawing.panels[-1].set_xlabel("round")
    log_ticks(drawing.panels[-1].xaxis)
    key(drawing, record)
    return drawing.figure


def _is_early(record: Record[float], shown: int) -> bool:
    """Whether nearly all movement is in the first tenth of the rounds, which a linear axis would hide."""
    path = record.curve.measure("path-length")[:, :shown].sum(axis=1)
    early = path[record.curve.rounds * 10 <= record.rounds]
    return bool(early.size and early[-1] > EARLY * path[-1])


def _panel(
    drawing: Surface,
    at: int,
    rounds: NDArray[np.int64],
    strategy: NDArray[np.float64],
    labels: tuple[str, ...],
    what: str,
) -> None:
    panel = drawing.panels[at]
    if len(labels) > LINES:
        panel.grid(visible=False)
        image = panel.imshow(
            strategy.T,
            aspect="auto",
            interpolation="none",
            cmap=SHADES,
            vmin=0,
            vmax=strategy.max(),
            extent=_extent(rounds, len(labels)),
        )
        panel.set_yticks(*ticks_for(labels, 10, 12))
        drawing.colorbar(image, [panel], what)
        return
    first = 1 if len(labels) == 2 else 0  # for two actions, one line suffices
    for index in range(first, len(labels)):
        marker = "o" if len(rounds) == 1 else None
        panel.plot(rounds, strategy[:, index], label=short(labels[index]), marker=marker, **palette(index - first))
    panel.set_ylim(-0.03, 1.03)
    panel.set_yticks([0, 0.5, 1])
    panel.set_ylabel(what)
    beside = {"loc": "upper left", "bbox_to_anchor": (1.005, 1.05), "borderaxespad": 0, "handlelength": 1.8}
    panel.legend(**({"loc": "best"} if drawing.given else beside))


def _sorted_if_many(second: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Return one row per player, or of many players a sorted selection, and whether there are many."""
    if len(second) <= 40:
        return second, False
    order = second[np.argsort(second[:, -1], kind="stable")]  # by the last round drawn
    return order[np.linspace(0, len(second) - 1, min(len(second), 1000)).astype(int)], True


def _crowd_of_two(
    drawing: Surface,
    names: tuple[str, ...],
    actions: tuple[str, ...],
    rounds: NDArray[np.int64],
    second: NDArray[np.float64],
    many: bool,
) -> None:
    """Draw one row per player, shaded by the probability of the second action."""
    panels = drawing.panels
    panels[0].grid(visible=False)
    image = panels[0].imshow(
        second, aspect="auto", interpolation="none", cmap=SHADES, vmin=0, vmax=1, extent=_extent(rounds, len(second))
    )
    if many:
        panels[0].set_yticks([])
        panels[0].set_ylabel(f"{len(names):,} players, sorted by the last column")
    else:
        panels[0].set_yticks(*ticks_for(names, 40, 16))
    count_rounds(panels[0])
    drawing.colorbar(image, panels, f"probability of {short(actions[1])}")


def _extent(rounds: NDArray[np.int64], rows: int) -> tuple[float, float, float, float]:
    half = (rounds[-1] - rounds[0]) / max(1, len(rounds) - 1) / 2 or 0.5
    return rounds[0] - half, rounds[-1] + half, rows - 0.5, -0.5
