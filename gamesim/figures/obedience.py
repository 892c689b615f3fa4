"""A correlating device: its distribution, and what players gain by disobeying it."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from gamesim.equilibrium import Obedience
from gamesim.figures.joint import SHARE, matrix
from gamesim.figures.style import COLOURS, DARK, WIDTH, number, person, short, styled
from gamesim.figures.surface import surface
from gamesim.figures.tetrahedron import equilibria, flat, seen
from gamesim.measure.obedience import BREAKS

ROWS = 24  # constraints that are drawn
OBEYED, BROKEN = COLOURS[3], COLOURS[1]


@styled
def obedience(shown: Obedience, *, fig: Figure | SubFigure | None = None) -> Figure:
    """Plot a correlating device, and the gain of every disobedience.

    In a 2×2 game, the device is also drawn as a point beside the polytope of correlated equilibria.

    Parameters
    ----------
    shown : Obedience
        The incentives, see `gamesim.equilibrium.obedience`.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> from gamesim import equilibrium, figures, games
    >>> device = equilibrium.obedience(games.make("chicken"), [[0.7, 0.2], [0.1, 0]])
    >>> figures.title_of(figures.obedience(device))
    'In chicken, Column gains 0.5 per round by playing dare when chicken out is recommended (2 constraints break)'
    """
    game, small = shown.game, shown.game.sizes == (2, 2)
    lines = _constraints(shown)
    height = max(4.6, 1.6 + 0.3 * len(lines))
    drawing = surface(_title(shown), 2, size=(WIDTH + 1.6, height), fig=fig, width_ratios=[1, 1.1])
    left, right = drawing.panels
    if small:
        equilibria(left, game)
        place = seen(flat(shown.joint))[0, :2]
        colour = OBEYED if shown.is_equilibrium else BROKEN
        left.plot(*place, "s", ms=10, color=colour, mec="black", zorder=9, label="the device")
        drawing.legend(columns=4)
        cells = ", ".join(number(float(p)) if p > BREAKS else "0" for p in shown.joint.ravel())
        left.set_title(f"probabilities, row by row: {cells}", fontsize=8.5, pad=26)
    elif shown.joint.ndim == 2:
        image = matrix(left, shown.joint, game.players, game.actions, float(shown.joint.max()))
        drawing.colorbar(image, [left], SHARE, orientation="horizontal", location="bottom")
    else:
        _bars(left, shown)
    gains = np.array([gain for _, gain in lines])
    low, high = game.range
    rounding = BREAKS * float((high - low).max())
    gains[np.abs(gains) <= rounding] = 0.0
    broken = gains > rounding
    places = np.arange(len(lines))
    right.barh(places, gains, color=np.where(broken, BROKEN, OBEYED), height=0.62)
    right.axvline(0, color=DARK, linewidth=1)
    for row, gain, breaks in zip(places, gains, broken, strict=True):
        words = f" {number(float(gain), zero=BREAKS)}{', broken' if breaks else ''}"
        side: Any = {"ha": "left"} if gain <= 0 else {"ha": "right"}
        right.annotate(words, (0, row), (4 if gain <= 0 else -4, 0), textcoords="offset points", va="center",
                       fontsize=8, fontweight="bold" if breaks else "normal", **side)  # fmt: skip
    right.set_yticks(places, [words for words, _ in lines], fontsize=8)
    right.invert_yaxis()
    right.grid(visible=False, axis="y")
    right.set_xlabel("gain by disobeying (payoff units per round)")
    span = float(np.abs(gains).max()) or 1.0
    right.set_xlim(min(-0.45 * span, 1.1 * gains.min()), max(0.45 * span, 1.1 * gains.max()))
    return drawing.figure


def _title(shown: Obedience) -> str:
    name, broken = short(shown.game.name, 40), shown.broken()
    if not broken:
        return f"In {name}, nobody gains by disobeying this device: it is a correlated equilibrium"
    worst = broken[0]
    more = f" ({len(broken)} constraints break)" if len(broken) > 1 else ""
    return (
        f"In {name}, {person(worst.player)} gains {number(worst.gain)} per round by playing {short(worst.to)} "
        f"when {short(worst.recommended or '')} is recommended{more}"
    )


def _constraints(shown: Obedience) -> list[tuple[str, float]]:
    """Return every disobedience in words with its gain, in order; of many, those with the largest gains."""
    found = [
        (f"{short(who, 12)}: {short(labels[a], 14)} → {short(labels[b], 14)}", float(gain))
        for who, labels, gains in zip(shown.game.players, shown.game.actions, shown.gains, strict=True)
        for (a, b), gain in np.ndenumerate(gains)
        if a != b
    ]
    if len(found) <= ROWS:
        return found
    return sorted(found, key=lambda one: -one[1])[:ROWS]


def _bars(panel: Axes, shown: Obedience) -> None:
    """Draw the most likely action profiles as bars."""
    flat_joint = shown.joint.ravel()
    order = np.argsort(-flat_joint, kind="stable")[:12]
    names = [
        ", ".join(short(shown.game.actions[i][a], 8) for i, a in enumerate(np.unravel_index(k, shown.joint.shape)))
        for k in order
    ]
    panel.barh(np.arange(len(order)), flat_joint[order], color=COLOURS[0])
    panel.set_yticks(np.arange(len(order)), names, fontsize=8)
    panel.invert_yaxis()
    panel.set_xlabel(SHARE)
