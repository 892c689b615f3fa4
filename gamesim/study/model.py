"""Study files: a base scenario and its variants, the points that a sweep runs.

A study is TOML:

    title = "CE gap against the number of actions"
    base = "chicken"                       # the name or path of a scenario; or a table [base] that contains one
    seeds = 10                             # 0 to 9; or a list; or { first = 5, count = 10 }
    measures = ["ce-gap", "cce-gap"]       # what to store for each point; also FILE.py:NAME

    [grid]                                 # every combination of these values
    rounds = [100, 1000, 10000]
    "everyone.learner" = ["hedge", "blum-mansour"]
    "game.settings.seed" = { first = 0, count = 100 }

    [grid.start.even]                      # a custom axis: each value is a set of changes
    "everyone.perturb" = 0.0
    [grid.start.random]
    "everyone.perturb" = 1.0

    [[changes]]                            # a list of variants, each combined with the whole grid
    game = { name = "shapley" }
    [[changes]]
    label = "random"                       # its name in tables
    game = { name = "uniform" }
    grid = { "game.settings.seed" = { first = 0, count = 100 } }      # for this entry only

A key in quotes, written as in error messages, changes one value: "players[2].settings.rate" is the second player's
rate. A table, such as `game = {...}`, replaces the whole table. Like a scenario, a study is data: it runs the Python
files that it names only if the user allows it, and the content of these files is then part of each point.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import Any

from gamesim import user_files
from gamesim.errors import InputError, unknown
from gamesim.formatting import one_line, shown
from gamesim.measure import find as find_measure
from gamesim.notebook import ROWS, Rows, card, some
from gamesim.scenario import Scenario
from gamesim.scenario.files import read_toml
from gamesim.study.axes import Axis, Choice
from gamesim.study.canonical import canonical
from gamesim.study.description import Description
from gamesim.study.jobs import version_here
from gamesim.study.parsing import MOST_POINTS, Parts, parse
from gamesim.study.variants import change, complete

COMBINATIONS_TRIED = 16  # combinations in which a value is tried before it counts as a mistake
VALUES_CHECKED = 50  # values per axis that are checked before the sweep; the sweep checks the others as they run


@dataclass(frozen=True)
class Point:
    """One scenario of a study, complete except for the seed, with the labels of its choices."""

    scenario: dict[str, Any]
    seed: int
    labels: dict[str, Any]

    @cached_property
    def text(self) -> str:
        """The scenario without its seed, as canonical JSON."""
        return canonical(self.scenario)

    @property
    def key(self) -> str:
        """The hash of the complete scenario and the version of gamesim."""
        whole = f"{version_here()}\n{self.seed}\n{self.text}"
        return hashlib.sha256(whole.encode()).hexdigest()[:32]


@dataclass(frozen=True, repr=False)
class Study(Parts):
    """A base scenario, its variants and seeds, and the measures to store for each point.

    >>> base = {"rounds": 10, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
    >>> study = Study.from_dict({"base": base, "grid": {"rounds": [10, 20]}, "seeds": 3})
    >>> study.count, [point.seed for point in study.points()]
    (6, [0, 1, 2, 0, 1, 2])
    >>> study
    <Study: study, 6 points, 3 seeds>
    """

    name: str
    comment: str

    def __repr__(self) -> str:
        return f"<Study: {one_line(self.name)}, {', '.join(self._extent())}>"

    def _extent(self) -> list[str]:
        """Return the numbers of points and seeds in words."""
        return [f"{self.count:,} points", f"{len(self.seeds):,} seed{'' if len(self.seeds) == 1 else 's'}"]

    @classmethod
    def from_dict(
        cls,
        raw: Mapping[str, Any],
        *,
        name: str = "study",
        source: str = "study",
        folder: Path = Path(),
        comment: str = "",
        local_code: bool = False,
    ) -> "Study":
        """Build a study from the values of a study file, or raise one InputError that lists all mistakes in them.

        With `local_code`, the Python files that it names are run.
        """
        parts = parse(raw, source, folder, local_code=local_code)
        study = cls(**vars(parts), name=name, comment=comment)
        try:
            study.check()
        except InputError as error:
            raise InputError(f"{source}: {error}") from None
        return study

    @property
    def description(self) -> Description:
        """The description of the study, as stored."""
        axes = tuple(axis.summary for axis in self.axes)
        measures = tuple(map(user_files.shown, self.measures))
        return Description(self.name, self.title, self.comment, measures, axes)

    @property
    def references(self) -> list[str]:
        """The references to user-defined code, with the hashes of its files."""
        choices = [choice for axis in self.axes for choice in axis.choices]
        changes = [{key: value} for choice in choices for key, value in choice.changes]
        return user_files.references([self.base, *changes, {"measures": self.measures}])

    @property
    def count(self) -> int:
        """The number of points; identical points are counted separately here but run once."""
        return len(self.seeds) * sum(prod(len(axis.choices) for axis in axes) for axes in self._products())

    @property
    def axes(self) -> list[Axis]:
        """All axes, for tables, starting with those of the list of changes."""
        found = []
        if self.entries_name:
            found.append(Axis(self.entries_name, tuple(choice for choice, _ in self.entries)))
        within = {axis.name: axis for _, grid in self.entries for axis in grid}
        return [*found, *(axis for axis in within.values()), *self.grid]

    def _repr_html_(self) -> str:
        found = self.axes
        rows = [
            (one.name, f"{len(one.choices):,}", some([choice.label for choice in one.choices])) for one in found[:ROWS]
        ]
        lines = [" · ".join(self._extent()), f"measures: {', '.join(self.description.measures)}"]
        table = Rows(("axis", "values", "first values"), rows, len(found), frozenset([1])) if found else None
        return card("Study", self.title or self.name, lines, table)

    def points(self) -> Iterator[Point]:
        """Yield every point; those that differ only in their seeds are consecutive."""
        for axes in self._products():
            for choices in product(*(axis.choices for axis in axes)):
                yield from self._points(axes, choices)

    def check(self) -> None:
        """Raise an InputError for too many points, a repeated axis, or a value that is valid in no combination."""
        if self.count > MOST_POINTS:
            raise InputError(f"a study must have at most {MOST_POINTS:,} points, got {self.count:,}")
        for axes in self._products():
            names = [axis.name for axis in axes]
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise InputError(f"grid: {twice} must be varied only once, in either the grid or the list of changes")
        mistakes = [mistake for axes in self._products() for mistake in self._mistakes(axes)]
        if mistakes:
            distinct = list(dict.fromkeys(mistakes))
            more = f"\n  … and {len(distinct) - 10} more" if len(distinct) > 10 else ""
            raise InputError("\n  ".join(["", *distinct[:10]]).lstrip() + more)

    def _products(self) -> Iterator[tuple[Axis, ...]]:
        """Yield the axes to combine, for each entry of the list of changes."""
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
        found = complete(changed, self.folder)
        own = [name for name in self.measures if user_files.is_reference(name) or find_measure(name).observer]
        measure = found["measure"]
        if own and isinstance(measure, dict):
            measure["measures"] = list(dict.fromkeys([*measure.get("measures", []), *own]))
        return found

    def _mistakes(self, axes: tuple[Axis, ...]) -> Iterator[str]:
        """Yield a message for each value that is valid in none of the combinations tried."""
        fitting: list[Choice] | None = None
        for at, axis in enumerate(axes):
            if not axis.name and len(axes) > 1:  # no list of changes: the values of the grid show the mistakes
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
    """Return the path of a study given by path or by the name of a shipped one; hints also draw on `others`."""
    path, known = Path(name), shipped()
    if path.suffix != ".toml" and len(path.parts) == 1 and name in known:
        return known[name]
    try:
        is_file = path.is_file()
    except OSError as error:
        raise InputError(f"cannot read {shown(name)}: {error.strerror}") from None
    if not is_file:
        if len(path.parts) == 1:
            raise unknown("study", name, [*known, *others])
        raise InputError(f"there is no file {name}; give the path of a study file")
    return path


def read(path: str | Path, *, local_code: bool = False) -> Study:
    """Return the study in a file; with `local_code`, the Python files that it names are run."""
    path = Path(path)
    raw, comment = read_toml(path)
    return Study.from_dict(
        raw, name=path.stem, source=str(path), folder=path.parent, comment=comment, local_code=local_code
    )
