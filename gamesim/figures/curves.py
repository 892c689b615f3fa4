"""Regrets, gaps and distances over the rounds, on logarithmic axes, with fitted slopes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import Formatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray
from scipy.special import stdtrit

from gamesim.figures.style import (
    COLOURS,
    DARK,
    FEW,
    MARKERS,
    WIDTH,
    legend_below,
    number,
    palette,
    rounds_of,
    short,
    styled,
)
from gamesim.figures.surface import surface
from gamesim.formatting import replicas, superscript
from gamesim.learner import PlainRegret
from gamesim.measure.bounds import HOLDS_IN_WORDS, seen_by
from gamesim.measure.distance import why_left_out
from gamesim.measure.incentives import EquilibriumKind, no_distance
from gamesim.measure.rounding import gap_rounding
from gamesim.measure.trend import CONFIDENCE, Power, power, trend
from gamesim.measure.trend_words import in_words
from gamesim.record import Record

Rounds = NDArray[np.int64]
Values = NDArray[np.float64]

KINDS: dict[PlainRegret, str] = {
    "external": "one fixed action",
    "internal": "one action replaced",
    "swap": "any swap of actions",
}
SETS: dict[EquilibriumKind, str] = {"ce": "CE", "cce": "CCE"}
ZERO = 1e-9  # tolerance of the linear programs; smaller distances are drawn as 0
FITTED, NOTHING = "fitted power law", "0 or less (on the edge)"  # legend entries of thin lines and hollow markers
SHARED = COLOURS[-1]  # colour of a bound shared by several players; no player has it
PLAIN = (5e-5, 9e4)  # range of logarithmic axes in which all ticks are written out
DISTANCE_WORK = 60_000  # (cells + 300 per linear program) × checkpoints up to which distances take seconds


def replicas_first(record: Record, values: Values) -> Values:
    """Return a measure with a leading axis of replicas, even for a single run."""
    return values[None] if record.single else values


def band(values: Values) -> tuple[Values, Values, Values]:
    """Return the mean over replicas and the ends of its 95 % confidence interval (Student's t)."""
    mean = values.mean(axis=0)
    if len(values) < 2:
        return mean, mean, mean
    half = stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return mean, mean - half, mean + half


def line(
    panel: Axes, rounds: Rounds, values: Values, index: int, *, zero: float = 0.0, shown: bool = True
) -> tuple[Any, Power | None]:
    """Draw one measure (one row per replica) on logarithmic axes; return its handle and fitted slope.

    Values of at most `zero`, which a logarithmic axis cannot show, are marked on the bottom edge.
    """
    mean, low, high = band(values)
    above = mean > zero
    look = palette(index)
    marker = MARKERS[index % len(MARKERS)]
    (handle,) = panel.plot(
        rounds, np.where(above, mean, np.nan), **look, marker=marker, markevery=max(1, len(rounds) // 8)
    )
    if len(values) > 1:
        floor = np.where(above, mean, np.nan) * 1e-3
        panel.fill_between(rounds, np.fmax(low, floor), high, where=above, color=look["color"], alpha=0.2, linewidth=0)
    if not above.all():
        edge: dict[str, Any] = {
            "transform": panel.get_xaxis_transform(),
            "clip_on": False,
            "linestyle": "none",
            "zorder": 3,
        }
        hollow = {"marker": marker, "mfc": "white", "mec": look["color"], "label": NOTHING}
        panel.plot(rounds[~above], np.zeros((~above).sum()), **edge, **hollow)
    fitted = power(rounds, mean, zero) if shown else None
    if fitted is not None:
        ends = np.array([fitted.first, fitted.last])
        panel.plot(ends, fitted.factor * ends**fitted.exponent, color=DARK, linewidth=0.8, zorder=2.5, label=FITTED)
    return handle, fitted


def explain(panel: Axes, handles: list[Any], labels: list[str], columns: int = 1, drop: float | None = 0.2) -> None:
    """Put the legend under its panel, or inside if `drop` is None, with entries for thin lines and hollow markers."""
    found: dict[str, Line2D] = {}
    for one in panel.lines:
        if (label := str(one.get_label())) in (FITTED, NOTHING) and label not in found:
            found[label] = Line2D([], [], color=DARK, linewidth=0.8, mfc="white", mec=DARK)
            if label == NOTHING:
                found[label].set(linestyle="none", marker=one.get_marker())
    legend_below(panel, [*handles, *found.values()], [*labels, *found], columns, drop)


def log_axes(panel: Axes, rounds: Rounds, ylabel: str) -> tuple[float, float]:
    """Make both axes logarithmic, with plain tick labels; return the vertical limits, even if all values are 0."""
    panel.set_xlabel("round")
    panel.set_ylabel(ylabel)
    drawn = [np.asarray(one.get_ydata(), dtype=float) for one in panel.lines if one.get_transform() == panel.transData]
    values = np.concatenate([np.zeros(0), *drawn])
    values = values[values > 0]
    low, high = (values.min(), values.max()) if values.size else (0.1, 1.0)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_ylim(low / 1.6, high * 1.6)
    panel.set_xlim(rounds[0] / 1.15, rounds[-1] * 1.5)  # leaves space for the last label
    log_ticks(panel.xaxis)
    log_ticks(panel.yaxis)
    if not values.size:
        panel.text(0.5, 0.5, "0 at every checkpoint", transform=panel.transAxes, ha="center", color=DARK)
    return panel.get_ylim()


def log_ticks(axis: Axis, most: int = 6) -> None:
    """Label a logarithmic axis in the notation of its figure: at powers of ten, and in between if they are too few."""
    low, high = axis.get_view_interval()
    finer = (LogLocator(subs=subs, numticks=12) for subs in ((1.0, 2.0, 5.0), tuple(range(1, 10))))
    for ticks in (LogLocator(numticks=most), *finer, MaxNLocator(4)):
        axis.set_major_locator(ticks)
        if sum(low <= place <= high for place in ticks.tick_values(low, high)) > 2:
            break
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(LogFigure(axis))


class LogFigure(Formatter):
    """Write numbers out if this is possible on every logarithmic axis of the figure, and as powers of ten otherwise."""

    def __init__(self, of: Axis) -> None:
        self._of = of

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of one tick."""
        return self.format_ticks([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the labels of all ticks; the axes are looked at once."""
        figure = self._of.get_figure(root=True)
        every = [one for panel in figure.axes for one in (panel.xaxis, panel.yaxis)] if figure else [self._of]
        ends = [end for one in every if one.get_scale() == "log" for end in one.get_view_interval()]
        plain = min(ends) > PLAIN[0] and max(ends) < PLAIN[1]
        return [tick(value, plain=plain) for value in values]


def least_of(values: Mapping[str, float], zero: float) -> str:
    """Name the runs with the smallest value, up to `zero`, as the subject of "ends" or "end".

    >>> least_of({"a": 0.1, "b": 0.3}, zero=0.0), least_of({"a": 0.1, "b": 0.3, "c": 0.1}, zero=0.0)
    ('a ends', 'a and c end')
    >>> least_of(dict.fromkeys("abcd", 0.1), zero=0.0)
    'all of them end'
    """
    least = min(values.values())
    first, *others = (short(label, 40) for label, value in values.items() if value <= least + zero)
    if not others:
        return f"{first} ends"
    if len(others) + 1 == len(values) > 2:
        return "all of them end"
    return f"{', '.join([first, *others[:-1]])} and {others[-1]} end"


def tick(value: float, plain: bool) -> str:
    """Return a tick's label, written out or as a power of ten.

    >>> tick(2000, plain=True), tick(2000, plain=False), tick(1e-5, plain=False)
    ('2,000', '2×10³', '10⁻⁵')
    """
    if plain or value <= 0:
        return f"{value:,g}"
    power = int(np.floor(np.log10(value) + 1e-9))
    digits = f"{value / 10.0**power:g}"
    return f"10{superscript(power)}" if digits == "1" else f"{digits}×10{superscript(power)}"


@styled
def regrets(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the external, internal and swap regret of each player.

    Regrets are totals in payoff units, with fitted slopes and declared bounds. If actions are drawn, both are of the
    draws.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, means and 95 % confidence bands are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
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
    >>> record = gamesim.simulate("shapley", ["hedge", "blum-mansour"], rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.regrets(record))
    'In shapley, the largest swap regret per round grows like T^0.26 at the checkpoints from round 100 on'
    """
    curve = record.curve
    measured = {kind: replicas_first(record, curve.regret(kind)) for kind in KINDS}
    drawing = surface(_regret_title(record), len(KINDS), size=(WIDTH, 4.4), ax=ax, fig=fig, sharey=True)
    panels = drawing.panels
    zero = gap_rounding(record.game, record.rounds) * record.rounds
    for panel, (kind, meaning) in zip(panels, KINDS.items(), strict=True):
        lines, names = _players(record, measured[kind])
        drawn = [line(panel, curve.rounds, one, index, zero=zero) for index, one in enumerate(lines)]
        handles = [handle for handle, _ in drawn]
        labels = [f"{name}: {fitted}" if fitted else name for name, (_, fitted) in zip(names, drawn, strict=True)]
        for bound, owners in _bounds(record, kind, curve.rounds):
            look = palette(owners[0]) | {"linewidth": 0.9} | ({"color": SHARED} if len(owners) > 1 else {})
            handles += panel.plot(curve.rounds, bound, **look, marker="_", markevery=4)
            labels.append(bound_label(record, owners))
        panel.set_title(f"{kind} regret\n({meaning})")
        explain(panel, handles, labels)
    limits = [log_axes(panel, curve.rounds, "total regret (payoff units)") for panel in panels]
    panels[0].set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    log_ticks(panels[0].yaxis)
    for panel in panels:
        log_ticks(panel.xaxis, most=4)  # three panels side by side have space for few
    for panel in panels[1:]:
        panel.set_ylabel("")
    if any(seen_by(record.learners, i) for i in range(len(record.learners))):
        drawing.note("An opponent saw the drawn actions before it played, so no bound on this regret applies.")
    return drawing.figure


def bound_label(record: Record, owners: Sequence[int]) -> str:
    """Return the legend entry of a bound on the regret of play, with whose it is and in what sense it holds."""
    whose = ", ".join(short(record.game.players[i], 9) for i in owners)
    holds = record.bound_holds(owners[0])
    sense = "" if holds in ("surely", None) else f" ({HOLDS_IN_WORDS[holds]})"
    return ("declared bound" if len(owners) == len(record.learners) else f"bound of {whose}") + sense


def _players(record: Record, values: Values) -> tuple[list[Values], list[str]]:
    """Return one line per player, or the largest and the median of many players."""
    names = record.game.players
    if len(names) <= FEW:
        return [values[..., i] for i in range(len(names))], [short(name, 9) for name in names]
    return [values.max(axis=-1), np.median(values, axis=-1)], [f"largest of {len(names):,}", "median player"]


def _bounds(record: Record, kind: PlainRegret, rounds: Rounds) -> list[tuple[Values, list[int]]]:
    """Return the declared bounds on this kind of regret, each with the indices of its players."""
    found: dict[tuple[float, ...], list[int]] = {}
    everyone = len(record.learners)
    for i in range(everyone if everyone <= FEW else 0):
        promises = [record.bound(i, kind, int(t)) for t in rounds]
        bound = tuple(promise for promise in promises if promise is not None)
        if bound and min(bound) > 0 and np.isfinite(bound).all():
            found.setdefault(bound, []).append(i)
    return [(np.array(bound), owners) for bound, owners in found.items()]


def _regret_title(record: Record) -> str:
    """Return the trend of the largest swap regret per round, which is the CE gap, in the words of the verdict."""
    zero = gap_rounding(record.game, record.rounds)
    trends = [trend(one.curve.rounds, one.curve.gap("ce"), zero) for one in record]
    words = in_words(trends, since=True, of=replicas(record.feedback)).replace("^-", "^−")
    return f"In {short(record.game.name, 40)}, the largest swap regret per round {words}"


@styled
def gaps(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the CE and CCE gaps, and distances if computed, over the rounds.

    Gaps are in payoff units per round, distances in total variation.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, means and 95 % confidence bands are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
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
    >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.gaps(record))
    'After 1,000 rounds of shapley, the CE gap is 0.144 and the CCE gap 0.0058'
    """
    curve = record.curve
    chosen, note = measured_distances(record)
    drawing = surface(_gap_title(record), 1 if chosen is None else 2, ax=ax, fig=fig)
    panels, drop = drawing.panels, None if drawing.given else 0.17
    values = {f"{name} gap": replicas_first(record, curve.gap(kind)) for kind, name in SETS.items()}
    zero = gap_rounding(record.game, record.rounds)
    _lines(panels[0], curve.rounds, values, "gap (payoff units per round)", zero, drop)
    drawing.head(panels[0], "gap: largest gain from deviating", loc="left")
    if chosen is not None:
        values = {
            f"distance to {name}": replicas_first(chosen, chosen.curve.distance(kind, always=True))
            for kind, name in SETS.items()
        }
        _lines(panels[1], curve.rounds, values, "distance (total variation)", ZERO, drop)
        panels[1].set_title("distance: to the nearest equilibrium", loc="left")
    if note:
        drawing.note(note)
    return drawing.figure


def _lines(
    panel: Axes, rounds: Rounds, values: Mapping[str, Values], ylabel: str, zero: float, drop: float | None
) -> None:
    """Draw named measures on logarithmic axes, with their slopes in the legend, see `explain`."""
    drawn = [line(panel, rounds, one, index, zero=zero) for index, one in enumerate(values.values())]
    log_axes(panel, rounds, ylabel)
    labels = [f"{name}: {fitted}" if fitted else name for name, (_, fitted) in zip(values, drawn, strict=True)]
    explain(panel, [handle for handle, _ in drawn], labels, drop=drop)


def measured_distances(record: Record) -> tuple[Record | None, str]:
    """Return the record whose distances are drawn (all replicas, the first, or None), and a note about it."""
    without = no_distance(record.game)
    if without is not None:
        return None, f"Distances not computed: {without}."
    work = (record.game.cells + 300) * len(record.curve.rounds)
    quick = why_left_out(record.game) is None
    if quick and work * record.replicas <= DISTANCE_WORK:
        return record, ""
    if quick and work <= DISTANCE_WORK:
        return record[0], f"Distances are of {replicas(record.feedback, 1)} 1 of {record.replicas}."
    return (
        None,
        f"Distances not computed: linear programs over {record.game.cells:,} cells at every checkpoint are slow.",
    )


def _gap_title(record: Record) -> str:
    zero = gap_rounding(record.game, record.rounds)
    ends = {kind: number(float(np.mean(record.gap(kind))), zero=zero) for kind in SETS}
    mean = "" if record.single else f" (mean of {record.replicas} {replicas(record.feedback)})"
    return (
        f"After {rounds_of(record.rounds)} of {short(record.game.name, 40)}, the CE gap is {ends['ce']} "
        f"and the CCE gap {ends['cce']}{mean}"
    )


@styled
def compare(
    records: Mapping[str, Record],
    kind: EquilibriumKind = "ce",
    *,
    ax: Axes | None = None,
    fig: Figure | SubFigure | None = None,
) -> Figure:
    """Plot the gaps of several runs over the rounds, with fitted slopes.

    Parameters
    ----------
    records : mapping of str to Record
        The records by label; with several replicas, means and 95 % confidence bands are drawn.
    kind : {"ce", "cce"}, default "ce"
        The gap to plot, in payoff units per round.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
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
    >>> names = ("hedge", "blum-mansour")
    >>> records = {name: gamesim.simulate("shapley", name, rounds=1000, perturb=0.2) for name in names}
    >>> figures.title_of(figures.compare(records, kind="ce"))
    'Of 2 runs, blum-mansour ends with the smallest CE gap, 0.00991'
    """
    zero = max(gap_rounding(record.game, record.rounds) for record in records.values())
    ends = {label: float(np.mean(record.gap(kind))) for label, record in records.items()}
    mean = "mean " if any(record.replicas > 1 for record in records.values()) else ""
    drawing = surface(
        f"Of {len(records)} runs, {least_of(ends, zero)} with the smallest {mean}{SETS[kind]} gap, "
        f"{number(min(ends.values()), zero=zero)}",
        size=(WIDTH, 4.2 + 0.18 * max(0, len(records) - 4)),
        ax=ax,
        fig=fig,
    )
    panels = drawing.panels
    handles, labels, grids = [], [], []
    for index, (label, record) in enumerate(records.items()):
        curve = record.curve
        handle, fitted = line(panels[0], curve.rounds, replicas_first(record, curve.gap(kind)), index, zero=zero)
        handles.append(handle)
        labels.append(f"{short(label, 40)}: {fitted}" if fitted else short(label, 40))
        grids.append(curve.rounds)
    log_axes(panels[0], np.unique(np.concatenate(grids)), f"{SETS[kind]} gap (payoff units per round)")
    if any(record.replicas > 1 for record in records.values()):
        drawing.head(panels[0], "mean over replicas with 95 % confidence band", loc="left", color=DARK)
    drop = None if drawing.given else 0.15
    explain(panels[0], handles, labels, columns=1 if len(records) <= 4 else 2, drop=drop)
    return drawing.figure
