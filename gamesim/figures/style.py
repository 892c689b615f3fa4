"""The style of all figures, and reproducible output: the same record gives the same bytes.

Colours are those of Okabe and Ito (2008), "Color universal design", ordered so that neighbours also differ in
lightness. Lines also differ in dash pattern and marker, so that no information depends on colour alone. Text in SVG
files is drawn as paths, which look the same whatever fonts are installed.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from importlib import import_module
from io import StringIO
from pathlib import Path
from textwrap import wrap
from threading import RLock
from typing import Any, ParamSpec, TypeVar

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from gamesim import formatting

# matplotlib does not annotate its renderers.
RendererSVG: Any = import_module("matplotlib.backends.backend_svg").RendererSVG
MixedModeRenderer: Any = import_module("matplotlib.backends.backend_mixed").MixedModeRenderer

COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1)), (0, (6, 1, 1, 1, 1, 1)))
MARKERS = "os^Dv<>p"
number = partial(formatting.number, typeset=True)
LIGHT, DARK = "#DDDDDD", "#444444"
WIDTH = 7.2  # inches, the width of a text column
FEW = 6  # players or lines that are distinguishable in one figure
TIME = LinearSegmentedColormap.from_list("time", ["#9ECAE1", "#2171B5", "#08203F"])  # early is light, late is dark
SHADES = "Blues"  # from white for 0; also readable in grey

STYLE: Any = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",  # included in matplotlib
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titley": 1.0,  # nothing is drawn above panels, so that no space above them has to be found
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
    "text.parse_math": False,  # so that dollar signs in labels are printed as they are
    "svg.fonttype": "path",
    "svg.hashsalt": "gamesim",
    "path.simplify": True,
    "figure.autolayout": False,  # layouts are chosen figure by figure
    "figure.constrained_layout.use": False,
}

DRAWING = RLock()  # matplotlib's settings are global, so threads draw one after another

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@contextmanager
def _style() -> Iterator[None]:
    with DRAWING, matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # Labels may be in any script; characters missing from the font are drawn as boxes, without warnings.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def styled(draw: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a function draw in this style, without changing matplotlib's settings."""

    @wraps(draw)
    def in_style(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with _style():
            return draw(*args, **kwargs)

    return in_style


def say(figure: Figure | SubFigure, title: str) -> None:
    """Set the title of a figure, wrapped to its width."""
    figure.suptitle(wrapped(title, figure.bbox.width / figure.dpi), x=0.012, ha="left", fontsize=11, fontweight="bold")


def wrapped(title: str, inches: float) -> str:
    """Return a title in lines of about the same length that are not wider than this."""
    most = max(20, int(inches * 10.4))
    words = " ".join(title.split())
    lines = wrap(words, most, break_on_hyphens=False)  # names of games and learners stay whole
    for width in range(max(21, len(words) // max(len(lines), 1)), most):  # so that the last line is not a single word
        narrower = wrap(words, width, break_on_hyphens=False)
        if len(narrower) == len(lines):
            return "\n".join(narrower)
    return "\n".join(lines)


def title_of(figure: Figure) -> str:
    """Return the title of a figure on one line.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A figure of this package.

    Returns
    -------
    str
        The title, a sentence that states the finding.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "fixed"], rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.joint(record))
    'The most frequent action profile in matching-pennies is (heads, heads), with probability 25.3%'
    """
    return " ".join(figure.get_suptitle().split())


def short(label: str, most: int = 18) -> str:
    """Shorten a label to one line of at most `most` characters that legends do not hide.

    >>> short("the longest name of all", 12)
    'the longest…'
    """
    line = formatting.one_line(label, most)
    return f" {line}" if line.startswith("_") else line  # legends leave out what starts with an underscore


def person(name: str, most: int = 24) -> str:
    """Return the name of a player for use in a sentence.

    >>> person("Row"), person("17")
    ('Row', 'player 17')
    """
    return f"player {name}" if name.isdigit() else short(name, most)


def palette(index: int) -> dict[str, Any]:
    """Return the style of a line by index; the first is wide, so that it shows under a line that covers it."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "linewidth": 2.6 if index == 0 else 1.5,
    }


def count_rounds(panel: Axes) -> None:
    """Label the horizontal axis with integer rounds."""
    panel.set_xlabel("round")
    panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def rounds_of(rounds: int) -> str:
    """Return a number of rounds in words.

    >>> rounds_of(1), rounds_of(20000)
    ('1 round', '20,000 rounds')
    """
    return f"{rounds:,} round{'' if rounds == 1 else 's'}"


def legend_below(
    panel: Axes, handles: list[Any], labels: list[str], columns: int = 1, drop: float | None = 0.2
) -> None:
    """Put the legend under its panel, where it covers nothing, or inside if `drop` is None."""
    if drop is None:
        panel.legend(handles, labels, loc="best")
        return
    panel.legend(handles, labels, loc="upper left", bbox_to_anchor=(0, -drop), ncols=columns, borderaxespad=0)


def ticks_for(labels: tuple[str, ...], most: int = 20, letters: int = 14) -> tuple[NDArray[np.int64], list[str]]:
    """Return the positions and texts of tick labels: all if they are few, otherwise at even steps."""
    step = -(-len(labels) // most)
    places = np.arange(0, len(labels), step)
    return places, [short(labels[k], letters) for k in places]


def settle(figure: Figure) -> None:
    """Fix the layout of a figure, for all files written of it; with a layout engine, each file would be drawn twice."""
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)


class _Page(FigureCanvasBase):
    """The canvas of a figure while it is drawn as SVG: what draws text also measures it for the layout, only once.

    `Figure.savefig` would measure it again, with another renderer.
    """

    renderer: Any

    def get_renderer(self) -> Any:
        """Return the renderer for the layout."""
        return self.renderer


def svg(figure: Figure) -> str:
    """Return a figure as reproducible SVG text, without a date.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A figure of this package.

    Returns
    -------
    str
        The SVG document.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "fixed"], rounds=10)
    >>> figures.svg(figures.joint(record)).splitlines()[0]
    '<?xml version="1.0" encoding="utf-8" standalone="no"?>'
    """
    with _style():
        text, inches = StringIO(), figure.get_size_inches()
        about = {"Date": None, "Creator": None, "Title": title_of(figure)}
        canvas, dpi, colour = figure.canvas, figure.dpi, figure.get_facecolor()
        try:
            page = _Page(figure)
            figure.set(dpi=72, facecolor="white")
            pen = RendererSVG(*(72 * inches), text, image_dpi=dpi, metadata=about)
            page.renderer = MixedModeRenderer(figure, *inches, dpi, pen)
            settle(figure)
            figure.draw(page.renderer)
            page.renderer.finalize()
        finally:
            figure.set(dpi=dpi, facecolor=colour, canvas=canvas)
        return text.getvalue()


def write(figure: Figure, stem: Path, *, png: bool = True) -> list[Path]:
    """Write a figure as SVG and PNG.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A figure of this package.
    stem : Path
        The path without an extension; ".svg" and ".png" are appended.
    png : bool, default True
        Whether to write the PNG file.

    Returns
    -------
    list of Path
        The files written.

    Examples
    --------
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
    if not png:
        return [vector]
    with _style():
        figure.savefig(picture, dpi=160, metadata={"Software": None})
    return [vector, picture]
