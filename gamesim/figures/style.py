"""How every figure looks, and how it is written: the same record gives the same bytes.

Colours are those of Okabe and Ito (2008), "Color universal design", ordered so that neighbours differ in lightness too;
every line also has a dash pattern and a marker of its own, so nothing is told by colour alone. Text in SVG files is
drawn as paths: it looks the same in every browser, editor and printer, whatever fonts they have.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from threading import RLock
from typing import Any, ParamSpec, TypeVar

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from gamesim import formatting

COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1)), (0, (6, 1, 1, 1, 1, 1)))
MARKERS = "os^Dv<>p"
number = partial(formatting.number, typeset=True)
LIGHT, DARK = "#DDDDDD", "#444444"
WIDTH = 7.2  # inches: a text column; scripts and pages scale it
FEW = 6  # players or lines that can be told apart in one picture
TIME = LinearSegmentedColormap.from_list("time", ["#9ECAE1", "#2171B5", "#08203F"])  # early is light, late is dark
SHADES = "Blues"  # from white for nothing: reads the same in grey

STYLE: Any = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is everywhere
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "text.parse_math": False,  # a dollar sign in somebody's label is a dollar sign
    "svg.fonttype": "path",
    "svg.hashsalt": "gamesim",
    "path.simplify": True,
}

DRAWING = RLock()  # matplotlib's settings belong to the whole process: threads draw one after the other

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@contextmanager
def _style() -> Iterator[None]:
    with DRAWING, matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # A label may be in any script: a letter that the font lacks is drawn as a box, without a complaint for each.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def styled(draw: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a drawing function work in the style of this project, and leave matplotlib's settings as they were."""

    @wraps(draw)
    def in_style(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with _style():
            return draw(*args, **kwargs)

    return in_style


def canvas(
    title: str, columns: int = 1, rows: int = 1, *, size: tuple[float, float] = (WIDTH, 4.2), **grid: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure under a sentence, and its panels row by row."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    say(figure, title)
    panels = figure.subplots(rows, columns, squeeze=False, **grid)
    return figure, list(panels.ravel())


def say(figure: Figure, title: str) -> None:
    """Set the figure's sentence, broken into lines that fit its width."""
    most = int(figure.get_figwidth() * 10.4)
    words = " ".join(title.split())
    lines = wrap(words, most)
    for width in range(most - 1, 20, -1):  # as many lines as needed, but none with one word left over
        narrower = wrap(words, width)
        if len(narrower) > len(lines):
            break
        lines = narrower
    figure.suptitle("\n".join(lines), x=0.012, ha="left", fontsize=11, fontweight="bold")


def title_of(figure: Figure) -> str:
    """Return the sentence over a figure: what is seen in it.

    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "fixed"], rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.joint(record))
    'The most frequent play in matching-pennies is (heads, heads), with 25.3% of the weight'
    """
    return " ".join(figure.get_suptitle().split())


def short(label: str, most: int = 18) -> str:
    """Return a label that fits: one line, at most so many letters, and nothing that a legend would hide.

    >>> short("the longest name that anybody ever gave", 12)
    'the longest…'
    """
    line = " ".join(label.split())
    line = line if len(line) <= most else line[: most - 1].rstrip() + "…"
    return f" {line}" if line.startswith("_") else line  # legends leave out what starts with an underscore


def person(name: str, most: int = 24) -> str:
    """Return a player's name as a sentence takes it.

    >>> person("Row"), person("17")
    ('Row', 'player 17')
    """
    return f"player {name}" if name.isdigit() else short(name, most)


def palette(index: int) -> dict[str, Any]:
    """Return the look of the line with this number; the first is wide, so that it shows under one that covers it."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "linewidth": 2.6 if index == 0 else 1.5,
    }


def count_rounds(panel: Axes) -> None:
    """Label the horizontal axis of rounds with whole numbers."""
    panel.set_xlabel("round")
    panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def rounds_of(rounds: int) -> str:
    """Return a number of rounds in words.

    >>> rounds_of(1), rounds_of(20000)
    ('1 round', '20,000 rounds')
    """
    return f"{rounds:,} round{'' if rounds == 1 else 's'}"


def legend_below(panel: Axes, handles: list[Any], labels: list[str], columns: int = 1, drop: float = 0.2) -> None:
    """Put the legend under its panel, where it hides nothing."""
    panel.legend(handles, labels, loc="upper left", bbox_to_anchor=(0, -drop), ncols=columns, borderaxespad=0)


def ticks_for(labels: tuple[str, ...], most: int = 20, letters: int = 14) -> tuple[NDArray[np.int64], list[str]]:
    """Return where to write which of an axis's labels: all while they are few, else some at even steps."""
    step = -(-len(labels) // most)
    places = np.arange(0, len(labels), step)
    return places, [short(labels[k], letters) for k in places]


def settle(figure: Figure) -> None:
    """Lay the figure out once, for all that is written of it."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def svg(figure: Figure) -> str:
    """Return the figure as SVG text, without a date or anything else that changes from one day to the next.

    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "fixed"], rounds=10)
    >>> figures.svg(figures.joint(record)).splitlines()[0]
    '<?xml version="1.0" encoding="utf-8" standalone="no"?>'
    """
    with _style():
        settle(figure)
        buffer = BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Title": title_of(figure)})
        return buffer.getvalue().decode()


def write(figure: Figure, stem: Path) -> list[Path]:
    """Write the figure as SVG and PNG beside each other, at `stem` with these endings, and return both paths.

    >>> import tempfile
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "fixed"], rounds=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in figures.write(figures.joint(record), Path(folder) / "joint")]
    ['joint.svg', 'joint.png']
    """
    vector, picture = stem.with_suffix(".svg"), stem.with_suffix(".png")
    vector.write_text(svg(figure), encoding="utf-8")
    with _style():
        figure.savefig(picture, dpi=160, metadata={"Software": None})
    return [vector, picture]
