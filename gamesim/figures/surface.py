"""What a figure is drawn into: a new figure, or a figure, subfigure or axes of the user's."""

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure, SubFigure

from gamesim.errors import InputError
from gamesim.figures.style import DARK, WIDTH, say, wrapped

INSET = (1.03, 0.0, 0.04, 1.0)  # of a colour bar beside given axes, in units of their size


@dataclass(frozen=True)
class Surface:
    """The panels of a figure, row by row, and the area that contains them.

    In axes of the user's (`given`), titles, notes and legends stay with these axes, and nothing is resized.
    """

    area: Figure | SubFigure
    panels: list[Axes]
    given: bool

    @property
    def figure(self) -> Figure:
        """The whole figure."""
        return self.area if isinstance(self.area, Figure) else self.area.get_figure(root=True)

    def head(self, panel: Axes, text: str, **look: Any) -> None:
        """Set the title of a panel, or add it to the title of given axes."""
        if self.given:
            below = "\n".join(_in_lines(panel, line) for line in text.splitlines())
            panel.set_title(f"{panel.get_title(loc='left')}\n{below}", loc="left")
        else:
            panel.set_title(text, **look)

    def note(self, text: str) -> None:
        """Write a note under the figure, or under the title of given axes."""
        if self.given:
            self.head(self.panels[0], text)
            return
        below = self.area.legend([], [], loc="outside lower left", title=text, alignment="left")
        below.get_title().set(fontsize=8, color=DARK)

    def legend(self, *handles_and_labels: Any, columns: int, note: str = "", **look: Any) -> None:
        """Put one legend for all panels under the figure, with a note above it.

        In given axes it is inside, or if they are hidden, just below, where no labels are.
        """
        if self.given:
            under: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.02), "ncols": 2}
            place = {"loc": "best"} if self.panels[0].axison else under
            self.panels[0].legend(*handles_and_labels, title=note or None, **place)
            return
        below = self.area.legend(
            *handles_and_labels, loc="outside lower left", ncols=columns, title=note, alignment="left", **look
        )
        below.get_title().set(fontsize=8, color=DARK)

    def colorbar(self, shades: ScalarMappable, panels: list[Axes], label: str, **look: Any) -> None:
        """Add a colour bar to panels, which make room for it; given axes keep their size."""
        if self.given:
            self.area.colorbar(shades, cax=self.panels[0].inset_axes(INSET), label=label, format=look.get("format"))
        else:
            self.area.colorbar(shades, ax=panels, label=label, **look)


def surface(
    title: str,
    columns: int = 1,
    rows: int = 1,
    *,
    size: tuple[float, float] = (WIDTH, 4.2),
    ax: Axes | None = None,
    fig: Figure | SubFigure | None = None,
    **grid: Any,
) -> Surface:
    """Return panels below a title, in given axes, in a given figure, or in a new figure of this size."""
    if ax is not None:
        _check_axes(ax, fig, columns * rows)
        area = ax.get_figure()
        assert area is not None
        ax.set_title(_in_lines(ax, title), loc="left")
        return Surface(area, [ax], given=True)
    if fig is None:
        fig = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(fig)
    else:
        _check_figure(fig)
    say(fig, title)
    panels = fig.subplots(rows, columns, squeeze=False, **grid)
    return Surface(fig, list(panels.ravel()), given=False)


def _in_lines(ax: Axes, text: str) -> str:
    """Wrap text to the width of given axes; their titles are smaller than that of a figure."""
    figure = ax.get_figure()
    return wrapped(text, 1.25 * ax.bbox.width / figure.dpi) if figure is not None else text


def canvas(title: str, columns: int = 1, rows: int = 1, **look: Any) -> tuple[Figure, list[Axes]]:
    """Return a new figure with a title, and its panels row by row."""
    made = surface(title, columns, rows, **look)
    return made.figure, made.panels


def _check_axes(ax: Axes, fig: object, panels: int) -> None:
    """Raise an InputError unless these are axes in which one panel can be drawn."""
    if not isinstance(ax, Axes):
        raise InputError(f"ax must be one matplotlib Axes, got {type(ax).__name__}; plt.subplots() returns one")
    if ax.name != "rectilinear":
        raise InputError(f"ax must have rectangular coordinates, got {ax.name} axes")
    if fig is not None:
        raise InputError("ax and fig exclude each other, got both: give the axes or the figure to draw into")
    if panels > 1:
        raise InputError(f"this figure has {panels} panels for this run, so that one ax cannot hold it; give fig=...")


def _check_figure(fig: Figure | SubFigure) -> None:
    """Raise an InputError unless this is an empty figure, and let it make room for legends if it has no layout."""
    if not isinstance(fig, Figure | SubFigure):
        raise InputError(f"fig must be a matplotlib Figure or SubFigure, got {type(fig).__name__}")
    if fig.axes or fig.subfigs:
        raise InputError(
            "fig must be empty, because its axes could be covered, got a figure with axes; give a new figure, or one "
            "of its subfigures: plt.figure().subfigures(1, 2)"
        )
    if isinstance(fig, Figure) and fig.get_layout_engine() is None:
        fig.set_layout_engine("constrained")
