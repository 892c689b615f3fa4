"""Figures of a run: each a function from a record to a figure, titled with a sentence that says what is seen.

A figure shows what the record measures and computes nothing of its own but the slope of a plotted line. A function
returns None where its figure does not fit the run (a tetrahedron, say, of a game that is not 2×2).
"""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from gamesim.figures.animation import animate as animate
from gamesim.figures.curves import compare as compare
from gamesim.figures.curves import gaps as gaps
from gamesim.figures.curves import regrets as regrets
from gamesim.figures.joint import joint as joint
from gamesim.figures.nearest import nearest as nearest
from gamesim.figures.network import network as network
from gamesim.figures.payoff_space import payoff_space as payoff_space
from gamesim.figures.profile import profile as profile
from gamesim.figures.strategies import strategies as strategies
from gamesim.figures.style import svg as svg
from gamesim.figures.style import title_of as title_of
from gamesim.figures.style import write as write
from gamesim.figures.tetrahedron import tetrahedra as tetrahedra
from gamesim.figures.tetrahedron import tetrahedron as tetrahedron
from gamesim.figures.triangles import triangles as triangles
from gamesim.record import Record

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

__all__ = [  # noqa: PLE0604  # they are strings
    "animate",
    "compare",
    "draw_run",
    "figure_functions",
    "svg",
    "tetrahedra",
    "title_of",
    "write",
    *(draw.__name__ for draw in _OF_A_RUN),
]


def figure_functions() -> dict[str, Callable[[Record], Figure | None]]:
    """Return every figure of a run by the name of its file.

    >>> list(figure_functions())[:2]
    ['gaps', 'regrets']
    """
    return {draw.__name__.replace("_", "-"): draw for draw in _OF_A_RUN}


def draw_run(record: Record, folder: Path) -> list[Path]:
    """Draw all figures that fit this run, as SVG and PNG, into an existing folder, and return their paths.

    >>> import tempfile
    >>> import gamesim
    >>> record = gamesim.simulate("jordan", "fixed", rounds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in draw_run(record, Path(folder)) if path.suffix == ".svg"]
    ['gaps.svg', 'regrets.svg', 'profile.svg', 'strategies.svg', 'joint.svg']
    """
    paths: list[Path] = []
    for name, draw in figure_functions().items():
        figure = draw(record)
        if figure is not None:
            paths += write(figure, folder / name)
    return paths
