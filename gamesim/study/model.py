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
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import Any

from gamesim import games, scenario
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Table
from gamesim.measure import numbers
from gamesim.scenario import Scenario
from gamesim.scenario.files import opening_comment
from gamesim.scenario.parts import EveryonePart, MeasurePart, PlayerPart
from gamesim.study.worker import DEFAULT_MEASURES

KEYS = ("title", "base", "seeds", "measures", "grid", "changes")
MOST_POINTS = 10**7
TRIED = 16  # combinations that a value is tried in before it is called a mistake
CHECKED = 50  # values of one axis that are checked before the sweep; the others as they run

Change = tuple[str, Any]  # a key of the scenario, and its new value


@dataclass(frozen=True)
class Choice:
    """One value of an axis: what tables call it, and what it changes."""

    label: Any
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Axis:
    """A name, and the choices along it."""

    name: str
    choices: tuple[Choice, ...]

    @property
    def role(self) -> str:
        """What the axis stands for in tables and fits: "rounds", "actions", "learner", "game" or "other"."""
        changed = {key for choice in self.choices for key, _ in choice.changes}
        if changed == {"rounds"}:
            return "rounds"
        if changed == {"game.settings.actions"}:
            return "actions"
        if changed and changed <= {"game", "game.name", "game.file"}:
            return "game"
        tops = {re.split(r"[.\[]", key)[0] for key in changed}
        settings = any(".settings" in key or key.endswith((".perturb", ".start")) for key in changed)
        return "learner" if tops and tops <= {"everyone", "players"} and not settings else "other"


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


def canonical(value: Any) -> str:
    """Return data as JSON in the one way that equal data share."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Study:
    """A base scenario, its changes and seeds, and what is kept of each point.

    >>> base = {"rounds": 10, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
    >>> study = Study.from_dict({"base": base, "grid": {"rounds": [10, 20]}, "seeds": 3})
    >>> study.count, [point.seed for point in study.points()]
    (6, [0, 1, 2, 0, 1, 2])
    """

    name: str
    title: str
    comment: str
    base: dict[str, Any]
    folder: Path
    seeds: Sequence[int]
    measures: tuple[str, ...]
    grid: tuple[Axis, ...]
    entries: tuple[tuple[Choice, tuple[Axis, ...]], ...]  # of the list of changes, each with its own grid
    entries_name: str

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
        mistakes = [f"{key}: unknown key: {did_you_mean(key, KEYS)}" for key in raw if key not in KEYS]
        read: dict[str, Callable[[], Any]] = {
            "base": lambda: _base(raw.get("base"), folder),
            "changes": lambda: _entries(raw.get("changes", [])),
            "title": lambda: _text(raw.get("title", "")),
            "seeds": lambda: _seeds(raw.get("seeds", 1)),
            "measures": lambda: _measures(raw.get("measures", list(DEFAULT_MEASURES))),
            "grid": lambda: _axes(raw.get("grid", {}), "grid"),
        }
        parts: dict[str, Any] = {}
        for key, part in read.items():
            try:
                parts[key] = part()
            except InputError as error:
                mistakes.append(str(error))
        if len(mistakes) > 1:
            raise InputError(f"{source} has {len(mistakes)} mistakes:" + "".join(f"\n  {one}" for one in mistakes))
        if mistakes:
            raise InputError(f"{source}: {mistakes[0]}")
        base, base_folder = parts.pop("base")
        entries, entries_name = parts.pop("changes")
        study = cls(
            name=name,
            comment=comment,
            base=base,
            folder=base_folder,
            entries=entries,
            entries_name=entries_name,
            **parts,
        )
        try:
            study.check()
        except InputError as error:
            raise InputError(f"{source}: {error}") from None
        return study

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
                _change(changed, key, value)
        return _complete(changed, self.folder)

    def _mistakes(self, axes: tuple[Axis, ...]) -> Iterator[str]:
        """Give a message for each value that fits into none of the combinations that are tried."""
        fitting: list[Choice] | None = None
        for at, axis in enumerate(axes):
            if not axis.name and len(axes) > 1:  # no list of changes: the grid's own values tell what is wrong
                continue
            step = -(-len(axis.choices) // CHECKED)
            for choice in axis.choices[::step]:
                others = ((choice,) if i == at else other.choices for i, other in enumerate(axes))
                known = [] if fitting is None else [(*fitting[:at], choice, *fitting[at + 1 :])]
                message = None
                for combination in [*known, *islice(product(*others), TRIED)]:
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
    raw, text = _load(path)
    comment = opening_comment(text)
    return Study.from_dict(raw, name=path.stem, source=str(path), folder=path.parent, comment=comment)


def _load(path: Path) -> tuple[dict[str, Any], str]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text), text
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}): save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


# How the parts of a study are read.


def _base(raw: Any, folder: Path) -> tuple[dict[str, Any], Path]:
    if isinstance(raw, str):
        path = folder / raw if (folder / raw).is_file() else scenario.find(raw)
        raw, folder = _load(path)[0], path.parent
    if not isinstance(raw, dict):
        came = "nothing" if raw is None else repr(raw)
        raise InputError(f"base: expected a table [base] with a scenario, or the name of one, and {came} came")
    if "replicas" in raw:
        raise InputError("base.replicas: a study runs its points with seeds: take it out, and say seeds = ...")
    return {key: value for key, value in raw.items() if key not in ("seed", "title")}, folder


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.isprintable():
        raise InputError(f"title: expected printable text, and {raw!r} came")
    return raw


def _measures(raw: Any) -> tuple[str, ...]:
    known = numbers()
    if not isinstance(raw, list) or not raw:
        raise InputError(f"measures: expected a list of names from {', '.join(known)}, and {raw!r} came")
    for name in raw:
        if name not in known:
            raise InputError(f"measures: there is no measure called {name!r}: {did_you_mean(str(name), known)}")
    return tuple(dict.fromkeys(raw))


def _seeds(raw: Any) -> Sequence[int]:
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 1:
        return range(raw)
    if isinstance(raw, dict):
        return _range(raw, "seeds", least=0)
    if isinstance(raw, list) and raw and all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in raw):
        return tuple(dict.fromkeys(raw))
    raise InputError(
        f"seeds: expected how many, a list of whole numbers, or {{ first = 0, count = 10 }}, and {raw!r} came"
    )


def _is_range(raw: Any) -> bool:
    return isinstance(raw, dict) and {"first", "count"} <= set(raw) <= {"first", "count", "step"}


def _range(raw: Mapping[str, Any], key: str, least: int | None = None) -> range:
    first, count, step = raw.get("first", 0), raw.get("count", 0), raw.get("step", 1)
    wrong = [value for value in (first, count, step) if isinstance(value, bool) or not isinstance(value, int)]
    if wrong or not _is_range({"first": 0, **raw}) or count < 1 or step < 1 or (least is not None and first < least):
        raise InputError(f"{key}: expected {{ first = 0, count = 10 }} in whole numbers, and {dict(raw)!r} came")
    return range(first, first + count * step, step)


def _axes(raw: Any, place: str) -> tuple[Axis, ...]:
    """Return the axes of a grid: a key with a list or a range, or a name with tables of changes."""
    if not isinstance(raw, dict):
        raise InputError(f"{place}: expected a table of keys and lists, and {raw!r} came")
    axes = []
    for key, values in raw.items():
        known = re.split(r"[.\[]", key)[0] in Scenario.model_fields
        if not known:
            axes.append(_named_axis(key, values, place))
        elif isinstance(values, dict) and not _is_range(values):  # a dotted key without quotes
            axes += _axes({f"{key}.{below}": value for below, value in values.items()}, place)
        else:
            axes.append(_key_axis(key, values, place))
    return tuple(axes)


def _key_axis(key: str, values: Any, place: str) -> Axis:
    if key in ("seed", "replicas"):
        raise InputError(f"{place}.{key}: seeds are given beside the grid: seeds = ...")
    if isinstance(values, dict):
        values = list(_range(values, f"{place}.{key}"))
    if not isinstance(values, list) or not values:
        raise InputError(
            f"{place}.{key}: expected a list of values or {{ first = 0, count = 10 }}, and {values!r} came"
        )
    labels = [_label(value) for value in values]
    if len(set(map(canonical, labels))) < len(labels):
        raise InputError(f"{place}.{key}: values must differ in their names: name them, as in [grid.NAME.VALUE]")
    return Axis(key, tuple(Choice(label, ((key, value),)) for label, value in zip(labels, values, strict=True)))


def _named_axis(name: str, raw: Any, place: str) -> Axis:
    if not isinstance(raw, dict) or not raw or not all(isinstance(one, dict) for one in raw.values()):
        fields = ", ".join(Scenario.model_fields)
        raise InputError(
            f"{place}.{name}: no key of a scenario begins with {name!r} ({did_you_mean(name, fields.split(', '))}), "
            f"and an axis of your own has a table of changes for each of its values, as in [{place}.{name}.VALUE]"
        )
    return Axis(name, tuple(Choice(label, _changes(one, f"{place}.{name}.{label}")) for label, one in raw.items()))


def _entries(raw: Any) -> tuple[tuple[tuple[Choice, tuple[Axis, ...]], ...], str]:
    """Return the list of changes, each with a grid of its own, and what the list is called in tables."""
    if not isinstance(raw, list) or not all(isinstance(one, dict) for one in raw):
        raise InputError(f"changes: expected tables [[changes]], and {raw!r} came")
    if not raw:
        return ((Choice(None, ()), ()),), ""
    entries = []
    for i, one in enumerate(raw, 1):
        place = f"changes[{i}]"
        own = {key: value for key, value in one.items() if key not in ("label", "grid")}
        changes = _changes(own, place)
        label = one.get("label", " ".join(str(_label(value)) for _, value in changes) or f"{i}")
        entries.append((Choice(_text(label), changes), _axes(one.get("grid", {}), f"{place}.grid")))
    labels = [choice.label for choice, _ in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"changes: two entries are called {label!r}: give them a label each")
    tops = {re.split(r"[.\[]", key)[0] for choice, _ in entries for key, _ in choice.changes}
    return tuple(entries), tops.pop() if len(tops) == 1 else "changes"


def _changes(raw: Mapping[str, Any], place: str) -> tuple[Change, ...]:
    for key in raw:
        top = re.split(r"[.\[]", key)[0]
        if top not in Scenario.model_fields:
            raise InputError(f"{place}.{key}: unknown key: {did_you_mean(top, Scenario.model_fields)}")
        if top in ("seed", "replicas"):
            raise InputError(f"{place}.{key}: seeds are given beside the changes: seeds = ...")
    return tuple(raw.items())


def _label(value: Any) -> Any:
    """Return what a table calls a value: itself, or the name in it."""
    if isinstance(value, dict):
        named = [value[key] for key in ("name", "learner", "file") if isinstance(value.get(key), str)]
        settings = value.get("settings", {})
        said = [f"{key}={one}" for key, one in settings.items()] if isinstance(settings, dict) else []
        return " ".join(map(str, named + said)) or canonical(value)
    if isinstance(value, list):
        return " / ".join(str(_label(one)) for one in value)
    return value


# How a scenario is changed and completed.


def _change(document: dict[str, Any], key: str, value: Any) -> None:
    """Change one value of a scenario: "rounds", "game.settings.seed" or "players[2].learner"."""
    steps: list[str | int] = []
    for part in key.split("."):
        match = re.fullmatch(r"([^\[\]]+)(?:\[(\d+)\])?", part)
        if match is None:
            raise InputError(f"{key}: a key is written as game.settings.seed or players[2].learner")
        steps.append(match[1])
        if match[2] is not None:
            steps.append(int(match[2]) - 1)
    if steps[0] in ("players", "everyone") and len(steps) == 1:  # a scenario has one of them
        document.pop("everyone" if steps[0] == "players" else "players", None)
    here: Any = document
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, int):
            if not isinstance(here, list) or not 0 <= step < len(here):
                length = len(here) if isinstance(here, list) else 0
                raise InputError(f"{key}: there are {length} entries to choose from, counted from 1")
        elif not isinstance(here, dict):
            raise InputError(f"{key}: there is no table to change {step!r} in")
        if following is None:
            here[step] = deepcopy(value)
        elif isinstance(step, int):
            here = here[step]
        else:
            here = here.setdefault(step, [] if isinstance(following, int) else {})


def _complete(raw: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a scenario with every default said and its game's file read in, so that nothing else decides the run."""
    complete = {"feedback": "expected", **raw}
    measure = complete.get("measure", {})
    complete["measure"] = {**MeasurePart().model_dump(), **measure} if isinstance(measure, dict) else measure
    for key, part in (("everyone", EveryonePart), ("players", PlayerPart)):
        tables = complete.get(key)
        if isinstance(tables, dict):
            complete[key] = _with_defaults(tables, part)
        elif isinstance(tables, list):
            complete[key] = [_with_defaults(one, part) if isinstance(one, dict) else one for one in tables]
    game = complete.get("game")
    if isinstance(game, dict) and isinstance(game.get("file"), str) and len(game) == 1:
        complete["game"] = _read_game(folder / game["file"])
    elif isinstance(game, dict) and "name" in game:
        complete["game"] = {"settings": {}, **game}
    return complete


def _with_defaults(table: dict[str, Any], part: type[EveryonePart]) -> dict[str, Any]:
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in part.model_fields.items()
        if not field.is_required() and field.get_default(call_default_factory=True) is not None
    }
    return defaults | table


_files: dict[tuple[Path, int, int], dict[str, Any]] = {}


def _read_game(path: Path) -> dict[str, Any]:
    """Return the game in a file as payoffs: the file may change, or not be there where a point runs."""
    try:
        known = path.resolve(), path.stat().st_mtime_ns, path.stat().st_size
    except OSError as error:
        raise InputError(f"game.file: {path} cannot be read: {error.strerror}") from None
    if known not in _files:
        game = games.load(path)
        if not isinstance(game, Table):
            raise InputError(f"game.file: {path} holds no payoff table, and a study takes games from files as tables")
        _files[known] = {
            "payoffs": game.payoffs.tolist(),
            "players": list(game.players),
            "actions": [list(labels) for labels in game.actions],
        }
    return _files[known]
