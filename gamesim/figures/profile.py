"""The regret profile, which interpolates between external, internal and swap regret."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gamesim.figures.curves import ZERO, band, replicas_first
from gamesim.figures.style import DARK, FEW, WIDTH, number, palette, person, rounds_of, short, styled
from gamesim.figures.surface import surface
from gamesim.formatting import replicas
from gamesim.learner import Learner
from gamesim.measure.bounds import HOLDS_IN_WORDS
from gamesim.measure.rounding import gap_rounding
from gamesim.record import Record

FAMILIES = ("all but k − 1 actions replaced by one action", "k actions replaced, the others unchanged")
CERTIFIED = {False: "certified bound", True: "improper regret, a smaller bound"}
LARGE = 6  # times the largest regret: a larger bound would flatten everything else
FAR = 0.6  # of the largest value: lower negative values are written at the edge, to keep the scale readable


@styled
def profile(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the regret profile of each player, with its bounds.

    Both families of deviations are drawn for k = 1, ..., d. Of many players, those with the largest swap regret are
    shown.

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
    >>> figures.title_of(figures.profile(record))
    'After 1,000 rounds of shapley, the largest swap regret is 172, that of Row, whose external regret is 7.05'
    """
    swap = replicas_first(record, record.regret("swap")).mean(axis=0)
    shown = np.sort(np.argsort(-swap, kind="stable")[:FEW])
    columns = min(len(shown), 3 if len(shown) > 4 or len(shown) == 3 else 2)
    rows = -(-len(shown) // columns)
    worst = int(swap.argmax())
    notes = ([] if record.single else [f"mean of {record.replicas} {replicas(record.feedback)}"]) + (
        [f"{FEW} of {len(swap):,} players with the largest"] if len(shown) < len(swap) else []
    )
    external = float(replicas_first(record, record.regret("external")).mean(axis=0)[worst])
    zero = gap_rounding(record.game, record.rounds) * record.rounds
    seen = (
        f"the largest swap regret is {number(float(swap[worst]), zero=zero)}, that of "
        f"{person(record.game.players[worst])}, whose external regret is {number(external, zero=zero)}"
        if swap[worst] > zero
        else "no player has swap regret, up to rounding"
    ) + (f" ({', '.join(notes)})" if notes else "")
    drawing = surface(
        f"After {rounds_of(record.rounds)} of {short(record.game.name, 40)}, {seen}",
        columns,
        rows,
        size=(WIDTH, 1.4 + 2.5 * rows),
        ax=ax,
        fig=fig,
    )
    panels = drawing.panels
    for panel, i in zip(panels, shown, strict=False):
        drawing.head(panel, _panel(panel, record, int(i)))
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    for panel in panels[1 : len(shown)]:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    drawing.legend(handles, labels, columns=2)
    return drawing.figure


def _panel(panel: Axes, record: Record, i: int) -> str:
    """Draw the profile of a player, and return the title of the panel."""
    size = record.game.sizes[i]
    k = np.arange(1, size + 1)
    families = [replicas_first(record, values) for values in record.profile(i)]
    for index, (values, family) in enumerate(zip(families, FAMILIES, strict=True)):
        mean, low, high = band(values)
        marker = "os"[index] if size <= 32 else None
        panel.plot(k, mean, label=family, marker=marker, **palette(index))
        if len(values) > 1:
            panel.fill_between(k, low, high, color=palette(index)["color"], alpha=0.2, linewidth=0)
    start = float(max(families[0].mean(axis=0)[0], families[1].mean(axis=0)[0]))
    if start > 0:
        panel.plot(k, start * np.sqrt(k), color=DARK, linewidth=0.9, linestyle=(0, (1, 1.5)), label="growth like √k")
    title = short(record.game.players[i], 26)
    promise = record.learners[i].guarantee() if isinstance(record.learners[i], Learner) else None
    kind = None if promise is None else promise.regret
    bound = None if kind is None else record.bound(i, kind)
    top = max(float(np.max(family.mean(axis=0))) for family in families)
    if record.feedback == "expected":  # certificates are for the strategies
        title += _certificates(panel, record, i, top)
    promised = record.profile_bound(i) if record.feedback == "expected" else None
    if promised is not None:
        if (largest := float(promised[0].max())) <= LARGE * top:
            for index, values in enumerate(promised):
                label = "declared bound" if index == 0 else None
                panel.plot(k, values, color=palette(index)["color"], linewidth=0.8, label=label)
            title += f"\nguarantee: swap regret ≤ {number(largest)}"
    elif bound is not None:
        # External and internal bounds hold at k = 1; a bound on swap regret holds at every k.
        ends = [k[0], k[-1]] if kind == "swap" else [k[0] - 0.15, k[0] + 0.15]
        if bound <= LARGE * top:  # a much larger bound would flatten everything else
            panel.plot(ends, [bound] * 2, color="black", linewidth=1.2, label="declared bound")
            holds = record.bound_holds(i)
            sense = "" if holds in ("surely", None) else f"\n{HOLDS_IN_WORDS[holds]}"
            title += f"\nguarantee: {kind} regret ≤ {number(bound)}{sense}"
    panel.axhline(0, color=DARK, linewidth=0.6)
    _cut_off(panel, k, [family.mean(axis=0) for family in families])
    panel.set_xlabel("k: choices of\na deviation")
    panel.set_ylabel("regret (payoff units)")
    panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    panel.set_xlim(0.7, size + 0.3)
    return title


def _certificates(panel: Axes, record: Record, i: int, top: float) -> str:
    """Draw the certified bounds on the profile of a player, and return a line for its title.

    Those that would flatten everything else are left out.
    """
    title = ""
    for exact, dashes in ((False, (0, (5, 1.5))), (True, (0, (1.5, 1)))):
        found = record.profile_certificate(i, exact=exact)
        if found is None:
            return ""
        means = [replicas_first(record, values).mean(axis=0) for values in found]
        title = title or f"\ncertified: swap regret ≤ {number(float(means[0][-1]))}"
        for index, mean in enumerate(means):
            if mean.max() <= LARGE * top:
                k, label = np.arange(1, len(mean) + 1), CERTIFIED[exact] if index == 0 else None
                panel.plot(k, mean, color=palette(index)["color"], linewidth=1.1, linestyle=dashes, label=label)
    return title


def _cut_off(panel: Axes, k: NDArray[np.int64], means: list[NDArray[np.float64]]) -> None:
    """Cut the axis off above values far below 0, and write these at its edge."""
    bottom = -FAR * max(float(mean.max()) for mean in means)
    if bottom > -ZERO or min(float(mean.min()) for mean in means) >= bottom:
        return
    panel.set_ylim(bottom=bottom)
    for at, value in sorted({(int(at), float(v)) for mean in means for at, v in zip(k, mean, strict=True)}):
        if value < bottom:
            panel.annotate(f"↓ {number(value)}", (at, bottom), (4, 3), textcoords="offset points", fontsize=8)
