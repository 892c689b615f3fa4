"""Replicas as a cloud: every run, and the quantiles of all runs, so that a mean does not hide where runs part."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from gamesim.figures.curves import SETS, log_ticks
from gamesim.figures.style import COLOURS, FEW, WIDTH, short, styled
from gamesim.figures.surface import Surface, surface
from gamesim.measure.endings import sentence
from gamesim.measure.rounding import gap_rounding
from gamesim.record import Record

Values = NDArray[np.float64]

BANDS = ((0.05, 0.95, 0.14), (0.25, 0.75, 0.24))  # lower and upper quantile, and opacity
RUNS = 100  # runs that are drawn as lines
LOWEST = 1e-6  # of the payoff range: smaller gaps are drawn at the bottom


@styled
def cloud(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot all replicas: strategies, payoffs and gaps, with quantile bands.

    The title states how many runs end where.

    Parameters
    ----------
    record : Record
        The record of a run with replicas.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, which this figure refuses, because it has several panels.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure. None without replicas, or with more than six players.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("battle-of-the-sexes", "hedge", rounds=2000, replicas=20, start="random")
    >>> figures.title_of(figures.cloud(record))
    'Of 20 runs of battle-of-the-sexes, 11 end at (fight, fight) and 9 at (opera, opera)'
    """
    game, players = record.game, len(record.game.players)
    if record.replicas < 2 or players > FEW:
        return None
    rows = players + 1
    title = sentence(record.endings(), short(game.name, 40))
    drawing = surface(title, 2, rows, size=(WIDTH, 1.2 + 1.7 * rows), ax=ax, fig=fig, sharex=True)
    rounds, ends = record.curve.rounds, np.cumsum(game.sizes)[:-1]
    last = np.split(record.curve.measure("last-strategies"), ends, axis=-1)
    payoffs = record.curve.payoffs()
    for i, name in enumerate(game.players):
        left, right = drawing.panels[2 * i : 2 * i + 2]
        action = _most_varied(last[i])
        band(left, rounds, last[i][..., action], COLOURS[i])
        left.set(ylim=(-0.03, 1.03), ylabel="probability")
        left.set_title(f"{short(name, 20)} plays {short(game.actions[i][action], 20)}", loc="left")
        band(right, rounds, payoffs[..., i], COLOURS[i])
        right.set(ylabel="payoff per round")
        right.set_title(f"{short(name, 20)}'s average payoff", loc="left")
    low, high = game.range
    floor = max(LOWEST * float((high - low).max()), gap_rounding(game, record.rounds))
    for panel, (kind, words) in zip(drawing.panels[-2:], SETS.items(), strict=True):
        band(panel, rounds, np.maximum(record.curve.gap(kind), floor), COLOURS[7])
        panel.set(yscale="log", ylabel="payoff per round")
        log_ticks(panel.yaxis, most=4)
        panel.set_title(f"{words} gap", loc="left")
        panel.set_xscale("log")
        panel.set_xlabel("round")
        log_ticks(panel.xaxis, most=5)
    key(drawing, record)
    return drawing.figure


def key(drawing: Surface, record: Record) -> None:
    """Draw the legend of bands."""
    drawn = f"{min(record.replicas, RUNS)} of {record.replicas} runs" if record.replicas > RUNS else "each run"
    handles = [Line2D([], [], color="#555555", lw=0.6, alpha=0.6), Line2D([], [], color="black", lw=1.8)]
    patches = [Patch(color="#555555", alpha=alpha + 0.1) for *_, alpha in BANDS]
    drawing.legend([*handles, *patches], [drawn, "median", "5–95 % of runs", "25–75 % of runs"], columns=4)


def paths(panel: Axes, runs: Sequence[Values], colour: str = COLOURS[0]) -> None:
    """Draw the path of each run in the plane, and where it ends."""
    for run in runs:
        panel.plot(*run.T, color=colour, linewidth=0.8, alpha=0.45, zorder=4)
    ends = np.array([run[-1] for run in runs])
    panel.plot(*ends.T, "s", ms=5, color=colour, mec="white", mew=0.5, zorder=7, label="all rounds, each run")


def some(record: Record) -> list[Record[float]]:
    """Return the replicas that are drawn."""
    return [record[replica] for replica in range(min(record.replicas, RUNS))]


def counted(record: Record) -> str:
    """Return the number of replicas, and of those that are drawn, in words."""
    return f"{record.replicas:,} runs" + (f", of which {RUNS} are drawn" if record.replicas > RUNS else "")


def _most_varied(strategies: Values) -> int:
    """Return the action whose last probability differs most between runs; of two, the first."""
    spread = strategies[:, -1].std(axis=0)
    return int(spread.argmax()) if len(spread) > 2 else 0


def band(panel: Axes, rounds: NDArray[np.int64], values: Values, colour: str, median: str = "black") -> None:
    """Draw one line per run, the median and quantile bands."""
    for low, high, alpha in BANDS:
        edges = np.quantile(values, [low, high], axis=0)
        panel.fill_between(rounds, *edges, color=colour, alpha=alpha, linewidth=0, zorder=1)
    for one in values[:RUNS]:
        panel.plot(rounds, one, color=colour, linewidth=0.6, alpha=0.4, zorder=2)
    panel.plot(rounds, np.median(values, axis=0), color=median, linewidth=1.8, zorder=3)
