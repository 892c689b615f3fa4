"""Figures of a run: each a function from a record to a figure, titled with a sentence that says what is seen.

A figure shows what the record measures and computes nothing of its own but the slope of a plotted line. A function
returns None where its figure does not fit the run (a tetrahedron, say, of a game that is not 2×2).
"""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from gamesim.figures.animation import animate
from gamesim.figures.curves import compare, gaps, regrets
from gamesim.figures.joint import joint
from gamesim.figures.nearest import nearest
from gamesim.figures.network import network
from gamesim.figures.payoff_space import payoff_space
from gamesim.figures.profile import profile
from gamesim.figures.strategies import strategies
from gamesim.figures.style import svg, title_of, write
from gamesim.figures.tetrahedron import tetrahedra, tetrahedron
from gamesim.figures.triangles import triangles
from gamesim.record import Record

__all__ = ["animate", "compare", "draw_run", "figure_functions", "svg", "tetrahedra", "title_of", "write"]

# The one list of a run's figures, in the order of a report; their files are named after them.
_OF_A_RUN: tuple[Callable[[Record], Figure | None], ...] = (
    gaps,
    regrets,
    profile,
    strategies,
    triangles,
    tetrahedron,
    payoff_space,
    joint,
    nearest,
    network,
)


def figure_functions() -> dict[str, Callable[[Record], Figure | None]]:
    """Return every figure of a run by the name of its file.

    >>> list(figure_functions())[:2]
    ['gaps', 'regrets']
    """
    return {draw.__name__.replace("_", "-"): draw for draw in _OF_A_RUN}


def draw_run(record: Record, folder: Path) -> list[Path]:
    """Draw all figures that fit this run, as SVG and PNG, into an existing folder, and return their paths."""
    paths: list[Path] = []
    for name, draw in figure_functions().items():
        figure = draw(record)
        if figure is not None:
            paths += write(figure, folder / name)
    return paths
