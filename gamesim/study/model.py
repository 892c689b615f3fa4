"""Study files: one base scenario and the changes to it, as points that a sweep runs.

A study is TOML:

    title = "How the gap falls with the number of actions"
    base = "chicken"                       # a shipped scenario or a path; or the table [base], a scenario itself
    seeds = 10                             # 0 to 9; or a list; or { first = 5, count = 10 }
    measures = ["ce-gap", "cce-gap"]       # what is kept of each point

    [grid]                                 # every combination of these
    rounds = [100, 1000, 10000]
    "everyone.learner" = ["hedge", "blum-mansour"]
    "game.settings.seed" = { first = 0, count = 100 }

    [grid.start.even]                      # an axis of your own: changes under one name
    "everyone.perturb" = 0.0
    [grid.start.random]
    "everyone.perturb" = 1.0

    [[changes]]                            # a list: each entry is combined with the whole grid
    game = { name = "shapley" }
    [[changes]]
    label = "random"                       # what tables call it
    game = { name = "uniform" }
    grid = { "game.settings.seed" = { first = 0, count = 100 } }      # for this entry only

A key in quotes, as in mistakes of scenarios, changes one value ("players[2].settings.rate" is the second player's); a
table, as `game = {...}`, replaces the whole table. Like a scenario, a study is data and never executes code.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import Any

from gamesim.errors import InputError, did_you_mean
from gamesim.scenario import Scenario
from gamesim.scenario.files import read_toml
from gamesim.study.axes import Axis, Choice
from gamesim.study.canonical import canonical
from gamesim.study.description import Description
from gamesim.study.parsing import Parts, parse
from gamesim.study.variants import change, complete

MOST_POINTS = 10**7
COMBINATIONS_TRIED = 16  # that a value is tried in before it is called a mistake
VALUES_CHECKED = 50  # of one axis before the sweep; the others as they run


@dataclass(frozen=True)
class Point:
    """One scenario of a study, complete but for its seed, with the labels of its choices."""

    scenario: dict[str, Any]
    seed: int
    labels: dict[str, Any]

    @cached_property
    def text(self) -> str:
        """The scenario without its seed, written in the one way that equal scenarios share."""
        return canonical(self.scenario)

    @property
    def key(self) -> str:
        """The hash of the complete scenario and of the version that runs it."""
        whole = f"{version('gamesim')}\n{self.seed}\n{self.text}"
        return hashlib.sha256(whole.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Study(Parts):
    """A base scenario, its changes and seeds, and what is kept of each point.

    >>> base = {"rounds": 10, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
    >>> study = Study.from_dict({"base": base, "grid": {"rounds": [10, 20]}, "seeds": 3})
    >>> study.count, [point.seed for point in study.points()]
    (6, [0, 1, 2, 0, 1, 2])
    """

    name: str
    comment: str

    @classmethod
    def from_dict(
        cls,
        raw: Mapping[str, Any],
        *,
        name: str = "study",
        source: str = "study",
        folder: Path = Path(),
        comment: str = "",
    ) -> "Study":
        """Return the study that these values say, or raise one InputError that names what is wrong in them."""
        parts = parse(raw, source, folder)
        study = cls(**vars(parts), name=name, comment=comment)
        try:
            study.check()
        except InputError as error:
            raise InputError(f"{source}: {error}") from None
        return study

    @property
    def description(self) -> Description:
        """What the study is about, as its store keeps it."""
        axes = tuple(axis.summary for axis in self.axes)
        return Description(self.name, self.title, self.comment, self.measures, axes)

    @property
    def count(self) -> int:
        """How many points there are; two that come out the same are counted twice here and run once."""
        return len(self.seeds) * sum(prod(len(axis.choices) for axis in axes) for axes in self._products())

    @property
    def axes(self) -> list[Axis]:
        """All axes, for tables: those of the list of changes first."""
        found = []
        if self.entries_name:
            found.append(Axis(self.entries_name, tuple(choice for choice, _ in self.entries)))
        within = {axis.name: axis for _, grid in self.entries for axis in grid}
        return [*found, *(axis for axis in within.values()), *self.grid]

    def points(self) -> Iterator[Point]:
        """Give every point, those that differ only by their seed beside each other."""
        for axes in self._products():
            for choices in product(*(axis.choices for axis in axes)):
                yield from self._points(axes, choices)

    def check(self) -> None:
        """Refuse what cannot be right: too many points, axes that change the same, values that no combination takes."""
        if self.count > MOST_POINTS:
            raise InputError(f"this study has {self.count:,} points, and {MOST_POINTS:,} is the limit")
        for axes in self._products():
            names = [axis.name for axis in axes]
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise InputError(f"grid: {twice} stands both in the grid and in the list of changes, or twice in one")
        mistakes = [mistake for axes in self._products() for mistake in self._mistakes(axes)]
        if mistakes:
            distinct = list(dict.fromkeys(mistakes))
            more = f"\n  … and {len(distinct) - 10} more" if len(distinct) > 10 else ""
            raise InputError("\n  ".join(["", *distinct[:10]]).lstrip() + more)

    def _products(self) -> Iterator[tuple[Axis, ...]]:
        """Give the axes whose product is taken, for each entry of the list of changes."""
        for choice, axes in self.entries:
            yield (Axis(self.entries_name, (choice,)), *axes, *self.grid)

    def _points(self, axes: tuple[Axis, ...], choices: tuple[Choice, ...]) -> Iterator[Point]:
        complete = self._scenario(choices)
        labels = {axis.name: choice.label for axis, choice in zip(axes, choices, strict=True) if axis.name}
        return (Point(complete, seed, labels) for seed in self.seeds)

    def _scenario(self, choices: Sequence[Choice]) -> dict[str, Any]:
        changed = deepcopy(self.base)
        for choice in choices:
            for key, value in choice.changes:
                change(changed, key, value)
        return complete(changed, self.folder)

    def _mistakes(self, axes: tuple[Axis, ...]) -> Iterator[str]:
        """Give a message for each value that fits into none of the combinations that are tried."""
        fitting: list[Choice] | None = None
        for at, axis in enumerate(axes):
            if not axis.name and len(axes) > 1:  # no list of changes: the grid's own values tell what is wrong
                continue
            step = -(-len(axis.choices) // VALUES_CHECKED)
            for choice in axis.choices[::step]:
                others = ((choice,) if i == at else other.choices for i, other in enumerate(axes))
                known = [] if fitting is None else [(*fitting[:at], choice, *fitting[at + 1 :])]
                message = None
                for combination in [*known, *islice(product(*others), COMBINATIONS_TRIED)]:
                    try:
                        Scenario.from_dict({**self._scenario(combination), "seed": self.seeds[0]}, folder=self.folder)
                    except InputError as error:
                        message = message or str(error).removeprefix("scenario: ")
                    else:
                        fitting, message = list(combination), None
                        break
                if message is not None:
                    where = f"{axis.name} = {choice.label}: " if axis.name else ""
                    yield where + message


def shipped() -> dict[str, Path]:
    """Return the studies that come with gamesim, by name."""
    folder = Path(str(files("gamesim.scenarios"))) / "studies"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find(name: str, others: Iterable[str] = ()) -> Path:
    """Return the path of a study given as a path or as the name of a shipped one; `others` may be meant as well."""
    path, known = Path(name), shipped()
    if path.suffix != ".toml" and len(path.parts) == 1 and name in known:
        return known[name]
    if not path.is_file():
        hint = did_you_mean(name, [*known, *others]) if len(path.parts) == 1 else "give the path of a study file"
        raise InputError(f"there is no study {name!r}: {hint}")
    return path


def read(path: str | Path) -> Study:
    """Return the study in a file."""
    path = Path(path)
    raw, comment = read_toml(path)
    return Study.from_dict(raw, name=path.stem, source=str(path), folder=path.parent, comment=comment)
