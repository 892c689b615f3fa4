"""Animate a run: play on the left, gaps on the right."""

import shutil
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from gamesim.errors import InputError
from gamesim.figures.curves import SETS, explain, line, log_axes
from gamesim.figures.joint import SHARE, matrix
from gamesim.figures.movement import known
from gamesim.figures.style import (
    COLOURS,
    SHADES,
    WIDTH,
    rounds_of,
    settle,
    short,
    styled,
    ticks_for,
)
from gamesim.figures.surface import canvas
from gamesim.measure.rounding import gap_rounding
from gamesim.record import Record

FRAMES = 60  # at most
SECONDS = 6  # duration; the last frame stays for one more second
DPI = 110
ROWS = 40  # players whose strategies are shown


@styled
def animate(record: Record, path: str | PathLike[str]) -> Path:
    """Write an animation of a run as a GIF or MP4 file.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, the first one is shown.
    path : str or path-like
        The file to write, which ends with .gif or .mp4. MP4 requires ffmpeg.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    InputError
        If the extension is not supported, or ffmpeg is required but not installed.

    Notes
    -----
    The left panel shows the joint distribution of two players up to each checkpoint, or the strategies of more players.
    The right panel shows the gaps.
    Frames are checkpoints, so time is logarithmic; the animation lasts about 6 seconds.

    Examples
    --------
    >>> import tempfile
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "fixed"], rounds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     figures.animate(record, f"{folder}/pennies.gif").name
    'pennies.gif'
    """
    target = Path(path)
    kinds = {".gif": _write_gif, ".mp4": _write_mp4}
    kind = target.suffix.lower()
    if kind not in kinds:
        raise InputError(f"an animation must be a .gif or an .mp4 file, got {target.name!r}")
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError("an .mp4 animation requires ffmpeg, which is not installed; install it or write a .gif")
    animation = Animation(record[0])
    animation.figure.set_dpi(DPI)
    kinds[kind](animation, target)
    return target


class Animation:
    """A figure that shows one frame at a time: `show(k)` for k from 0 to `length` - 1."""

    def __init__(self, record: Record) -> None:
        self.curve = record.curve
        self.game = record.game
        count = len(self.curve.rounds)
        self.moments = np.unique(np.linspace(0, count - 1, min(count, FRAMES)).astype(int))
        self.length = len(self.moments)
        self.figure, (left, right) = canvas(f"{short(self.game.name, 40)} over the rounds", 2, size=(WIDTH, 3.9))
        joint = self.curve.joint() if len(self.game.players) == 2 else None
        self.frames = _strategies(record, self.curve.rounds) if joint is None else joint
        self.top = float(np.nanmax(self.frames))
        if joint is not None:
            self.image = matrix(left, self.frames[-1], self.game.players, self.game.actions, self.top)
            self.written = {(round(t.get_position()[1]), round(t.get_position()[0])): t for t in left.texts}
        else:
            left.grid(visible=False)
            self.image = left.imshow(self.frames[-1], cmap=SHADES, vmin=0, vmax=1, interpolation="none", aspect="auto")
            left.set_yticks(*ticks_for(self.game.players[:ROWS], 20, 12))
            left.set_xlabel("action (number)")
            places = np.arange(self.frames.shape[2])
            left.set_xticks(places[:: -(-len(places) // 10)], [str(a + 1) for a in places[:: -(-len(places) // 10)]])
            self.written = {}
        self.figure.colorbar(self.image, ax=left, label=SHARE if joint is not None else "probability")
        self.left = left
        self.gaps = {kind: self.curve.gap(kind) for kind in SETS}
        zero = gap_rounding(self.game, record.rounds)
        handles = [
            line(right, self.curve.rounds, gap[None], index, zero=zero, shown=False)[0]
            for index, gap in enumerate(self.gaps.values())
        ]
        log_axes(right, self.curve.rounds, "gap (payoff units per round)")
        explain(right, handles, [f"{name} gap" for name in SETS.values()], columns=2, drop=0.2)
        self.now = right.axvline(self.curve.rounds[0], color="black", linewidth=1)
        (self.dot,) = right.plot([], [], "o", color=COLOURS[0], mec="black", ms=8, zorder=5)
        self.show(self.length - 1)
        settle(self.figure)  # so that nothing moves from frame to frame

    def show(self, k: int) -> Figure:
        """Update the figure to frame k."""
        at = int(self.moments[k])
        cells = self.frames[at]
        self.image.set_data(np.ma.masked_invalid(cells))
        for place, text in self.written.items():
            text.set_text(f"{cells[place]:.3f}")
            text.set_color("white" if cells[place] > 0.6 * self.top else "black")
        rounds = int(self.curve.rounds[at])
        self.left.set_title(f"after {rounds_of(rounds)}")
        self.now.set_xdata([rounds, rounds])
        gap = float(self.gaps["ce"][at])
        self.dot.set_data([rounds], [gap if gap > 0 else np.nan])
        return self.figure


def _strategies(record: Record, rounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return checkpoints × players × actions: the strategies at each checkpoint, padded with NaN."""
    sizes = record.game.sizes[:ROWS]
    frames = np.full((len(rounds), len(sizes), max(sizes)), np.nan)
    at, played = known(record)
    latest = np.searchsorted(at, rounds, side="right") - 1
    for i, size in enumerate(sizes):
        frames[:, i, :size] = played[i][latest]
    return frames


def _write_gif(animation: Animation, target: Path) -> None:
    colours = _picture(animation.show(animation.length - 1)).quantize(128, dither=Image.Dither.NONE)
    frames = [
        _picture(animation.show(k)).quantize(palette=colours, dither=Image.Dither.NONE) for k in range(animation.length)
    ]
    pace = [max(40, 1000 * SECONDS // animation.length)] * animation.length
    pace[-1] += 1000
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=pace, loop=0)


def _picture(figure: Figure) -> Image.Image:
    surface: Any = FigureCanvasAgg(figure)
    surface.draw()
    return Image.fromarray(np.asarray(surface.buffer_rgba())).convert("RGB")


def _write_mp4(animation: Animation, target: Path) -> None:
    from matplotlib.animation import FFMpegWriter

    writer = FFMpegWriter(fps=max(1, round(animation.length / SECONDS)), metadata={}, bitrate=1800)
    with writer.saving(animation.figure, str(target), DPI):
        for k in range(animation.length):
            animation.show(k)
            writer.grab_frame()
