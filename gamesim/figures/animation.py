"""A run as a film: what is played, and the gap beside it."""

import shutil
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from gamesim.errors import InputError
from gamesim.figures.curves import SETS, explain, line, log_axes
from gamesim.figures.joint import SHARE, matrix
from gamesim.figures.style import (
    COLOURS,
    SHADES,
    WIDTH,
    canvas,
    rounds_of,
    settle,
    short,
    styled,
    ticks_for,
)
from gamesim.record import Record

PICTURES = 60  # at most
SECONDS = 6  # that a film takes, and rests on its last picture for one more
DOTS = 110  # an inch
ROWS = 40  # players whose strategies are shown


@styled
def animate(record: Record, path: str | PathLike[str]) -> Path:
    """Write a film of the run to `path` and return it: a GIF, or an MP4 where ffmpeg is installed.

    On the left the joint of two players up to each checkpoint, or the strategies of more; on the right the gaps. Time
    runs from checkpoint to checkpoint, so logarithmically, as learning does, and all of it in some 6 seconds. Of
    several replicas the first is shown.

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
        raise InputError(f"a film is a .gif or an .mp4 file, and {target.name!r} came")
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError("an .mp4 film needs ffmpeg, which is not installed: install it, or write a .gif")
    film = Film(record[0])
    film.figure.set_dpi(DOTS)
    kinds[kind](film, target)
    return target


class Film:
    """The figure of a film, and the pictures that it goes through: `show(k)` for k from 0 to `length` - 1."""

    def __init__(self, record: Record) -> None:
        self.curve = record.curve
        self.game = record.game
        count = len(self.curve.rounds)
        self.moments = np.unique(np.linspace(0, count - 1, min(count, PICTURES)).astype(int))
        self.length = len(self.moments)
        self.figure, (left, right) = canvas(f"{short(self.game.name, 40)}, round by round", 2, size=(WIDTH, 3.9))
        joint = self.curve.joint() if len(self.game.players) == 2 else None
        self.pictures = _strategies(record, self.curve.rounds) if joint is None else joint
        self.top = float(np.nanmax(self.pictures))
        if joint is not None:
            self.image = matrix(left, self.pictures[-1], self.game.players, self.game.actions, self.top)
            self.written = {(round(t.get_position()[1]), round(t.get_position()[0])): t for t in left.texts}
        else:
            left.grid(visible=False)
            self.image = left.imshow(
                self.pictures[-1], cmap=SHADES, vmin=0, vmax=1, interpolation="none", aspect="auto"
            )
            left.set_yticks(*ticks_for(self.game.players[:ROWS], 20, 12))
            left.set_xlabel("action (number)")
            places = np.arange(self.pictures.shape[2])
            left.set_xticks(places[:: -(-len(places) // 10)], [str(a + 1) for a in places[:: -(-len(places) // 10)]])
            self.written = {}
        self.figure.colorbar(self.image, ax=left, label=SHARE if joint is not None else "probability")
        self.left = left
        self.gaps = {kind: self.curve.gap(kind) for kind in SETS}
        handles = [
            line(right, self.curve.rounds, gap[None], index, shown=False)[0]
            for index, gap in enumerate(self.gaps.values())
        ]
        log_axes(right, self.curve.rounds, "gap (payoff units a round)")
        explain(right, handles, [f"{name} gap" for name in SETS.values()], columns=2, drop=0.2)
        self.now = right.axvline(self.curve.rounds[0], color="black", linewidth=1)
        (self.dot,) = right.plot([], [], "o", color=COLOURS[0], mec="black", ms=8, zorder=5)
        self.show(self.length - 1)
        settle(self.figure)  # so that nothing jumps from picture to picture

    def show(self, k: int) -> Figure:
        """Bring the figure to picture k."""
        at = int(self.moments[k])
        cells = self.pictures[at]
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
    """Return moments × players × actions: the strategies kept nearest each checkpoint, NaN where there is no action."""
    kept, played = record.trajectory
    nearest = np.abs(kept[None, :] - rounds[:, None]).argmin(axis=1)
    shown = played[:ROWS]
    pictures = np.full((len(rounds), len(shown), max(part.shape[1] for part in shown)), np.nan)
    for i, part in enumerate(shown):
        pictures[:, i, : part.shape[1]] = part[nearest]
    return pictures


def _write_gif(film: Film, target: Path) -> None:
    colours = _picture(film.show(film.length - 1)).quantize(128, dither=Image.Dither.NONE)
    pictures = [_picture(film.show(k)).quantize(palette=colours, dither=Image.Dither.NONE) for k in range(film.length)]
    pace = [max(40, 1000 * SECONDS // film.length)] * film.length
    pace[-1] += 1000
    pictures[0].save(target, save_all=True, append_images=pictures[1:], duration=pace, loop=0)


def _picture(figure: Figure) -> Image.Image:
    surface: Any = FigureCanvasAgg(figure)
    surface.draw()
    return Image.fromarray(np.asarray(surface.buffer_rgba())).convert("RGB")


def _write_mp4(film: Film, target: Path) -> None:
    writer = FFMpegWriter(fps=max(1, round(film.length / SECONDS)), metadata={}, bitrate=1800)
    with writer.saving(film.figure, str(target), DOTS):
        for k in range(film.length):
            film.show(k)
            writer.grab_frame()
