"""What a study is about, whatever runs its points."""

from dataclasses import dataclass

from gamesim.study.axes import AxisSummary


@dataclass(frozen=True)
class Description:
    """A study's name and title, the comment it opens with, the measures that every point has, and its axes."""

    name: str
    title: str = ""
    comment: str = ""
    measures: tuple[str, ...] = ()
    axes: tuple[AxisSummary, ...] = ()
