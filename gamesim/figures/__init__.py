"""Figures of a run.

Each function takes a record and returns a figure whose title states the finding. Figures plot the measures of the
record and add only fitted slopes. A function returns None if its figure does not apply to the run: a tetrahedron, for
example, requires a 2×2 game.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from matplotlib.figure import Figure

from gamesim.figures.animation import animate as animate
from gamesim.figures.cloud import cloud as cloud
from gamesim.figures.curves import compare as compare
from gamesim.figures.curves import gaps as gaps
from gamesim.figures.curves import regrets as regrets
from gamesim.figures.frequencies import frequencies as frequencies
from gamesim.figures.joint import joint as joint
from gamesim.figures.nearest import nearest as nearest
from gamesim.figures.network import network as network
from gamesim.figures.obedience import obedience as obedience
from gamesim.figures.payoff_space import payoff_space as payoff_space
from gamesim.figures.portrait import phase_space as phase_space
from gamesim.figures.portrait import portrait as portrait
from gamesim.figures.profile import profile as profile
from gamesim.figures.strategies import strategies as strategies
from gamesim.figures.style import svg as svg
from gamesim.figures.style import title_of as title_of
from gamesim.figures.style import write as write
from gamesim.figures.tetrahedron import tetrahedra as tetrahedra
from gamesim.figures.tetrahedron import tetrahedron as tetrahedron
from gamesim.figures.triangles import triangles as triangles
from gamesim.record import Record

# All figures of a run, in the order of the report; files are named after the functions.
_OF_A_RUN: tuple[Callable[[Record], Figure | None], ...] = (
    cloud,
    gaps,
    regrets,
    profile,
    strategies,
    frequencies,
    triangles,
    phase_space,
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
    "obedience",
    "portrait",
    "svg",
    "tetrahedra",
    "title_of",
    "write",
    *(draw.__name__ for draw in _OF_A_RUN),
]


def figure_functions() -> dict[str, Callable[[Record], Figure | None]]:
    """Return the functions that draw a run, by file name.

    Returns
    -------
    dict of str to callable
        Each function takes a record and returns a figure, or None if the figure does not apply to the run.

    Examples
    --------
    >>> list(figure_functions())[:2]
    ['cloud', 'gaps']
    """
    return {draw.__name__.replace("_", "-"): draw for draw in _OF_A_RUN}


def drawn_figures(record: Record, failed: dict[str, str]) -> Iterator[tuple[str, Figure]]:
    """Draw all figures that apply to a run; add those that fail to `failed`, with the reason."""
    for name, draw in figure_functions().items():
        try:
            figure = draw(record)
        except Exception as error:  # one figure is not worth the others, nor the run
            failed[name] = str(error) or type(error).__name__
            continue
        if figure is not None:
            yield name, figure


def draw_run(record: Record, folder: Path, failed: dict[str, str] | None = None, *, png: bool = True) -> list[Path]:
    """Draw all figures that apply to a run into an existing folder.

    Parameters
    ----------
    record : Record
        The record of the run.
    folder : Path
        An existing folder.
    failed : dict of str to str, optional
        Receives the names of the figures that cannot be drawn, for example because a linear program is not solved in
        time, with the reasons.
    png : bool, default True
        Whether to write each figure as PNG too, which takes a third of the time.

    Returns
    -------
    list of Path
        The files written: SVG for each figure, and PNG.

    Examples
    --------
    >>> import tempfile
    >>> import gamesim
    >>> record = gamesim.simulate("jordan", "fixed", rounds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in draw_run(record, Path(folder)) if path.suffix == ".svg"]
    ['gaps.svg', 'regrets.svg', 'profile.svg', 'strategies.svg', 'joint.svg']
    """
    figures = drawn_figures(record, {} if failed is None else failed)
    return [path for name, figure in figures for path in write(figure, folder / name, png=png)]
