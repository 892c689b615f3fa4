"""The course: lessons in groups, and the glossary, as data in `course.toml` and `glossary.toml`.

A lesson names a shipped scenario. It asks a question with answers to vote on, names what to watch during the run
without giving the answer away, reveals what happened, explains why, and ends with an exercise.
"""

import tomllib
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gamesim.lab.events import Watch


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Lesson(_Table):
    """One lesson; texts are plain, and technical words in them open the glossary."""

    scenario: str  # the name of a shipped scenario, and of the lesson
    title: str
    views: list[str] = Field(min_length=1)  # the views that it opens with
    opens: dict[Literal["run", "reveal", "why", "exercise"], list[str]] = {}  # views that later steps open in front
    speed: int = Field(ge=0, le=61)  # the position of the slider: 10^(speed / 10) rounds per second, or 61 for no limit
    accelerate: bool = False
    pause: dict[str, Any] = {}  # the event at which play pauses, see `Watch`
    question: str
    answers: list[str] = Field(min_length=2)
    right: int = Field(ge=0)  # the index of the right answer
    watch: str
    reveal: str
    why: str
    exercise: str
    solution: str


class Group(_Table):
    """Lessons about one topic."""

    title: str
    lesson: list[Lesson]


class Entry(_Table):
    """A technical word and its definition."""

    name: str
    also: list[str] = []  # other forms of the word
    text: str


def course() -> list[Group]:
    """Return the groups of the course, in order."""
    groups = [Group(**group) for group in _read("course.toml")["group"]]
    for lesson in (lesson for group in groups for lesson in group.lesson):
        Watch.asked(lesson.pause or None)
        if lesson.right >= len(lesson.answers):
            raise ValueError(f"{lesson.scenario}: there is no answer {lesson.right}")
    return groups


def glossary() -> list[Entry]:
    """Return the entries of the glossary."""
    return [Entry(**entry) for entry in _read("glossary.toml")["entry"]]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files("gamesim.lab") / name).read_text(encoding="utf-8"))
