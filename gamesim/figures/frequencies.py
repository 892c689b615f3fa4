"""How often each action was played, if play was observed."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from gamesim.figures.style import FEW, WIDTH, count_rounds, palette, short, styled
from gamesim.figures.surface import surface
from gamesim.record import Record

WINDOWS = 10  # in all rounds
MOST_LINES = 8  # actions drawn per player, those played most


@styled
def frequencies(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot how often each player played its actions, as moving averages.

    Parameters
    ----------
    record : Record
        The record of observed play; groups are taken together.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the game has one player.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure; None if play was simulated.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.observed("chicken", [[0, 1], [1, 1], [1, 0], [1, 1]])
    >>> figures.title_of(figures.frequencies(record))
    'Play in chicken: dare is the most frequent action of Row (75 %) and of Column (75 %)'
    """
    if record.feedback != "observed":
        return None
    plays: NDArray[np.int64] = record.arrays["plays"]
    groups, rounds, count = plays.shape
    shown, game = min(count, FEW), record.game
    window = max(1, rounds // WINDOWS)
    shares = [np.eye(size)[plays[:, :, i]].mean(axis=0) for i, size in enumerate(game.sizes[:shown])]
    drawing = surface(_title(record, shares), 1, shown, size=(WIDTH, 1.1 + 1.55 * shown), ax=ax, fig=fig, sharex=True)
    at = np.arange(window, rounds + 1) - (window - 1) / 2
    for panel, share, name, labels in zip(drawing.panels, shares, game.players, game.actions, strict=False):
        moving = np.apply_along_axis(np.convolve, 0, share, np.full(window, 1 / window), "valid")
        largest = np.sort(np.argsort(-share.mean(axis=0), kind="stable")[:MOST_LINES])
        for index, action in enumerate(largest[-1:] if len(labels) == 2 else largest):
            marker = "o" if len(at) == 1 else None
            panel.plot(at, moving[:, action], label=short(labels[action]), marker=marker, **palette(index))
        panel.set_ylim(-0.03, 1.03)
        panel.set_yticks([0, 0.5, 1])
        panel.set_ylabel("share")
        panel.legend(loc="upper left", bbox_to_anchor=(1.005, 1.05), borderaxespad=0, handlelength=1.8)
        drawing.head(panel, short(name, 60), loc="left")
    count_rounds(drawing.panels[-1])
    of = "" if groups == 1 else f" of {groups} groups"
    drawing.note(f"Moving averages over {window} rounds{of}.")
    return drawing.figure


def _title(record: Record, shares: list[NDArray[np.float64]]) -> str:
    game = record.game
    most = [share.mean(axis=0) for share in shares]
    words = [
        (short(game.actions[i][one.argmax()]), game.players[i], f"{one.max():.0%}".replace("%", " %"))
        for i, one in enumerate(most)
    ]
    start = f"Play in {short(game.name, 40)}"
    if len(words) > 2:
        return f"{start}: how often each action was played"
    if len({label for label, _, _ in words}) == 1:
        listed = " and ".join(f"of {short(name)} ({share})" for _, name, share in words)
        return f"{start}: {words[0][0]} is the most frequent action {listed}"
    return f"{start}: most often " + " and ".join(
        f"{short(name)} plays {label} ({share})" for label, name, share in words
    )
