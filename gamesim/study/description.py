"""The description of a study, independent of what runs its points."""

from dataclasses import dataclass

from gamesim.study.axes import AxisSummary


@dataclass(frozen=True)
class Description:
    """A study's name, title, opening comment, measures and axes."""

    name: str
    title: str = ""
    comment: str = ""
    measures: tuple[str, ...] = ()
    axes: tuple[AxisSummary, ...] = ()
