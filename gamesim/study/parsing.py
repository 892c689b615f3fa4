"""Parse the values of a study file, and report all mistakes in them at once."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gamesim import scenario, user_files
from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import shown
from gamesim.measure import numbers
from gamesim.scenario import Scenario
from gamesim.scenario.files import read_toml
from gamesim.scenario.mistakes import MOST_MISTAKES, heading
from gamesim.scenario.parts import number_measure
from gamesim.study.axes import Axis, Change, Choice, top_of
from gamesim.study.canonical import canonical
from gamesim.study.worker import DEFAULT_MEASURES

MOST_POINTS = 10**7
MOST_VALUES = 10**6  # along one axis
LARGEST_SEED = 2**63 - 1  # that a store holds
KEYS = ("title", "base", "seeds", "measures", "grid", "changes")

Entry = tuple[Choice, tuple[Axis, ...]]  # an entry of the list of changes, with its additional grid


@dataclass(frozen=True)
class Parts:
    """The parsed values of a study file; `folder` is that of the base scenario."""

    title: str
    base: dict[str, Any]
    folder: Path
    seeds: Sequence[int]
    measures: tuple[str, ...]
    grid: tuple[Axis, ...]
    entries: tuple[Entry, ...]
    entries_name: str


def parse(raw: Mapping[str, Any], source: str, folder: Path, *, local_code: bool = False) -> Parts:
    """Parse the values of a study file, or raise one InputError that lists all mistakes in them."""
    if local_code:
        raw = _allowed(dict(raw), folder)
    strange = [key for key in raw if key not in KEYS]
    mistakes = [f"{key}: unknown key; {did_you_mean(key, KEYS)}" for key in strange[:MOST_MISTAKES]]

    @contextmanager
    def collected() -> Iterator[None]:
        try:
            yield
        except InputError as error:
            mistakes.append(str(error))

    with collected():
        base, base_folder = _base(raw.get("base"), folder, local_code=local_code)
    with collected():
        entries, entries_name = _entries(raw.get("changes", []))
    with collected():
        title = _text(raw.get("title", ""))
    with collected():
        seeds = _seeds(raw.get("seeds", 1))
    with collected():
        measures = _measures(raw.get("measures", list(DEFAULT_MEASURES)))
    with collected():
        grid = _axes(raw.get("grid", {}), "grid")
    if len(mistakes) > 1:
        raise InputError(heading(source, len(mistakes)) + "".join(f"\n  {one}" for one in mistakes))
    if mistakes:
        raise InputError(f"{source}: {mistakes[0]}")
    return Parts(title, base, base_folder, seeds, measures, grid, entries, entries_name)


def _allowed(raw: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run the Python files that a study or its base names, and return the values with the hashes of their content."""
    allowed: dict[str, Any] = user_files.replaced(raw, lambda reference: user_files.allow(reference, folder))
    return allowed


def _base(raw: Any, folder: Path, *, local_code: bool) -> tuple[dict[str, Any], Path]:
    if isinstance(raw, str):
        path = _base_path(raw, folder)
        raw, folder = read_toml(path)[0], path.parent
        raw = _allowed(raw, folder) if local_code else raw
    if not isinstance(raw, dict):
        got = "nothing" if raw is None else shown(raw)
        raise InputError(f"base: expected a table [base] with a scenario, or the name or path of one, got {got}")
    if "replicas" in raw:
        raise InputError("base.replicas: not allowed in a study; remove it, and use seeds = ... instead")
    return {key: value for key, value in raw.items() if key not in ("seed", "title")}, folder


def _base_path(name: str, folder: Path) -> Path:
    """Return the path of a base scenario; a study is data, and must not wait for a pipe or a device."""
    try:
        path = folder / name if (folder / name).is_file() else scenario.find(name)
    except OSError as error:
        raise InputError(f"base: cannot read {shown(name)}: {error.strerror}") from None
    if not path.is_file():
        raise InputError(f"base: expected the name or path of a scenario file, got {shown(name)}")
    return path


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.isprintable():
        raise InputError(f"title: expected printable text, got {shown(raw)}")
    return raw


def _measures(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list) or not raw:
        raise InputError(f"measures: expected a list of names from {', '.join(numbers())}, got {shown(raw)}")
    for name in raw:
        try:
            number_measure(name)
        except InputError as error:
            raise InputError(f"measures: {error}") from None
    return tuple(dict.fromkeys(raw))


def _seeds(raw: Any) -> Sequence[int]:
    seeds: Sequence[int] = ()
    if isinstance(raw, int) and not isinstance(raw, bool) and 1 <= raw <= MOST_POINTS:
        seeds = range(raw)
    elif isinstance(raw, dict):
        seeds = _range(raw, "seeds", MOST_POINTS, least=0)
    elif isinstance(raw, list) and all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in raw):
        seeds = tuple(dict.fromkeys(raw))
    if not seeds or (seeds[-1] if isinstance(seeds, range) else max(seeds)) > LARGEST_SEED:
        raise InputError(
            f"seeds: expected an integer from 1 to {MOST_POINTS:,}, a list of integers from 0 to 2^63 - 1, "
            f"or {{ first = 0, count = 10 }}, got {shown(raw)}"
        )
    return seeds


def _is_range(raw: Any) -> bool:
    return isinstance(raw, dict) and {"first", "count"} <= set(raw) <= {"first", "count", "step"}


def _range(raw: Mapping[str, Any], key: str, most: int, least: int | None = None) -> range:
    first, count, step = raw.get("first", 0), raw.get("count", 0), raw.get("step", 1)
    wrong = [value for value in (first, count, step) if isinstance(value, bool) or not isinstance(value, int)]
    if wrong or not _is_range({"first": 0, **raw}) or count < 1 or step < 1 or (least is not None and first < least):
        raise InputError(
            f"{key}: expected integers as in {{ first = 0, count = 10, step = 1 }}, got {shown(dict(raw))}"
        )
    if count > most:
        raise InputError(f"{key}: expected a count of at most {most:,}, got {shown(count)}")
    return range(first, first + count * step, step)


def _axes(raw: Any, place: str) -> tuple[Axis, ...]:
    """Return the axes of a grid: keys with lists or ranges, and names with tables of changes."""
    if not isinstance(raw, dict):
        raise InputError(f"{place}: expected a table of keys and lists of values, got {shown(raw)}")
    axes = []
    for key, values in raw.items():
        known = top_of(key) in Scenario.model_fields
        if not known:
            axes.append(_named_axis(key, values, place))
        elif isinstance(values, dict) and not _is_range(values):  # a dotted key without quotes
            axes += _axes({f"{key}.{below}": value for below, value in values.items()}, place)
        else:
            axes.append(_key_axis(key, values, place))
    return tuple(axes)


def _key_axis(key: str, values: Any, place: str) -> Axis:
    if key in ("seed", "replicas"):
        raise InputError(f"{place}.{key}: cannot be varied in a grid; use seeds = ... at the top of the study")
    if isinstance(values, dict):
        values = list(_range(values, f"{place}.{key}", MOST_VALUES))
    if not isinstance(values, list) or not values:
        raise InputError(
            f"{place}.{key}: expected a list of values or {{ first = 0, count = 10 }}, got {shown(values)}"
        )
    labels = [_label(value) for value in values]
    if len(set(map(canonical, labels))) < len(labels):
        raise InputError(f"{place}.{key}: values must have different labels; name them, as in [grid.NAME.VALUE]")
    return Axis(key, tuple(Choice(label, ((key, value),)) for label, value in zip(labels, values, strict=True)))


def _named_axis(name: str, raw: Any, place: str) -> Axis:
    if not isinstance(raw, dict) or not raw or not all(isinstance(one, dict) for one in raw.values()):
        fields = ", ".join(Scenario.model_fields)
        raise InputError(
            f"{place}.{name}: unknown key {name!r}; {did_you_mean(name, fields.split(', '))} "
            f"(a custom axis needs one table of changes per value, as in [{place}.{name}.VALUE])"
        )
    return Axis(name, tuple(Choice(label, _changes(one, f"{place}.{name}.{label}")) for label, one in raw.items()))


def _entries(raw: Any) -> tuple[tuple[Entry, ...], str]:
    """Return the list of changes, each with its additional grid, and the name of the list in tables."""
    if not isinstance(raw, list) or not all(isinstance(one, dict) for one in raw):
        raise InputError(f"changes: expected tables [[changes]], got {shown(raw)}")
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
            raise InputError(f"changes: labels must differ, got {label!r} twice; set label = ... in each entry")
    tops = {top_of(key) for choice, _ in entries for key, _ in choice.changes}
    return tuple(entries), tops.pop() if len(tops) == 1 else "changes"


def _changes(raw: Mapping[str, Any], place: str) -> tuple[Change, ...]:
    for key in raw:
        top = top_of(key)
        if top not in Scenario.model_fields:
            raise InputError(f"{place}.{key}: unknown key; {did_you_mean(top, Scenario.model_fields)}")
        if top in ("seed", "replicas"):
            raise InputError(f"{place}.{key}: cannot be varied in changes; use seeds = ... at the top of the study")
    return tuple(raw.items())


def _label(value: Any) -> Any:
    """Return the label of a value in tables: the value itself, or the name and settings in it."""
    if isinstance(value, dict):
        named = [_label(value[key]) for key in ("name", "learner", "file") if isinstance(value.get(key), str)]
        settings = value.get("settings", {})
        set_to = [f"{key}={one}" for key, one in settings.items()] if isinstance(settings, dict) else []
        return " ".join(map(str, named + set_to)) or canonical(value)
    if isinstance(value, list):
        return " / ".join(str(_label(one)) for one in value)
    return user_files.shown(value) if isinstance(value, str) else value
