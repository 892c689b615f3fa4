"""Scenario files: a game, its players and what to measure, as data that never executes code.

A scenario is TOML. Reading one names every mistake in it at once, each with its key (lists count from 1), what came and
what was expected. Writing one gives a file that reads back as equal, so a run folder repeats the run it holds.
"""

import inspect
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from gamesim import games, players, user_learners
from gamesim.deprecated import Renamed
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game
from gamesim.learner import Learner
from gamesim.scenario import toml as toml_writer
from gamesim.simulation import Simulation
from gamesim.validation import whole_number

__all__ = ["Scenario", "find", "read", "shipped"]

MOST_ROUNDS = 10**15
FILE = "scenario.toml"  # what a scenario is called in a run folder
GAME_FILE = "game.npz"  # and a game that was read from a file: the one format that keeps every game exactly

Mistake = tuple[str, str]  # the key, and what is wrong with it


class Mistakes(ValueError):
    """Several mistakes below one key, so that a validator can tell them all."""

    def __init__(self, found: list[Mistake]) -> None:
        super().__init__("; ".join(f"{key}: {what}" for key, what in found))
        self.found = found


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("names and titles are printable text")
    return text


Label = Annotated[str, Field(min_length=1), AfterValidator(_printable)]


class Part(BaseModel):
    """A table of a scenario file: unknown keys are mistakes, nothing is converted, nothing is infinite."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True, ignored_types=(Renamed,))


class GamePart(Part):
    """The table [game]: a name with settings, a file, or payoffs written out."""

    name: str | None = Field(default=None, description='the name of a game, such as "chicken"')
    settings: dict[str, Any] = Field(default_factory=dict, description="a table of the game's settings")
    file: str | None = Field(
        default=None, min_length=1, description="the path of a game file, seen from the scenario's folder"
    )
    players: list[Label] | None = Field(default=None, description="a name for each player")
    actions: list[list[Label]] | None = Field(default=None, description="a list of labels for each player")
    payoffs: list[Any] | None = Field(default=None, description="one array of numbers for each player")

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in games.available():
            raise InputError(f"there is no game called {name!r}: {did_you_mean(name, games.available())}")
        return name

    @field_validator("settings")
    @classmethod
    def _settings_fit(cls, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if name := info.data.get("name"):
            _checked_settings(name, games.available()[name], settings)
        return settings

    @field_validator("payoffs")
    @classmethod
    def _payoffs_are_tables(cls, payoffs: list[Any], info: ValidationInfo) -> list[Any]:
        players, actions = info.data.get("players"), info.data.get("actions")
        if found := list(_payoff_mistakes(payoffs, players, actions)):
            raise Mistakes(found[:5])
        return payoffs

    def make(self, folder: Path, title: str) -> Game:
        """Return the game; a file is looked for from this folder."""
        if self.name is not None:
            known = games.available()[self.name]
            return known(**_checked_settings(self.name, known, self.settings))
        if self.file is not None:
            return games.load(folder / self.file)
        return games.from_payoffs(
            *(self.payoffs or []), name=title or "game", players=self.players, actions=self.actions
        )


class EveryonePart(Part):
    """The table [everyone]: one learner, and how it starts, for all players."""

    learner: str = Field(description='the name of a learner, such as "hedge"')
    settings: dict[str, Any] = Field(default_factory=dict, description="a table of the learner's settings")
    start: list[float] | None = Field(default=None, description="a strategy: one probability for each action, 1 in all")
    perturb: float = Field(
        default=0.0, ge=0, le=1, description="a number from 0 to 1: the random share of the first strategy"
    )

    @field_validator("learner")
    @classmethod
    def _known(cls, learner: str) -> str:
        if user_learners.is_reference(learner):
            user_learners.loaded(learner)
        elif learner not in players.available():
            raise InputError(f"there is no learner called {learner!r}: {did_you_mean(learner, players.available())}")
        return learner

    @field_validator("settings")
    @classmethod
    def _settings_fit(cls, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if learner := info.data.get("learner"):
            if user_learners.is_reference(learner):
                _own_settings(learner, settings)
                return settings
            kind = players.available()[learner]
            checked = _checked_settings(learner, kind, settings)
            try:
                kind(**checked)
            except InputError as error:
                raise Mistakes([(_below("", error, settings), str(error))]) from None
        return settings

    @field_validator("start")
    @classmethod
    def _start_is_a_strategy(cls, start: list[float]) -> list[float]:
        if not start or min(start) < 0 or abs(sum(start) - 1) > 1e-9:
            raise InputError(f"a strategy has no negative probability and sums to 1, and {_shown(start)} came")
        return start

    def make(self) -> Any:
        """Return the learner with its settings: a Learner, or what starts a learner of the user's own."""
        if user_learners.is_reference(self.learner):
            own = user_learners.loaded(self.learner)
            return user_learners.OwnLearner(own, _own_settings(self.learner, self.settings))
        kind = players.available()[self.learner]
        return kind(**_checked_settings(self.learner, kind, self.settings))


class PlayerPart(EveryonePart):
    """One of the tables [[players]]: a learner for one player, who may be given a name."""

    name: Label | None = Field(default=None, description="a name, as printable text")


class MeasurePart(Part):
    """The table [measure]: what is measured, and how often."""

    distance: Literal["auto", "always", "never"] = Field(default="auto", description='"auto", "always" or "never"')
    checkpoints: int = Field(
        default=10, ge=1, le=1000, description="a whole number from 1 to 1000: checkpoints a decade"
    )


class Scenario(Part):
    """A game, its players, how long and how often they play, and what is measured.

    >>> scenario = Scenario.from_dict({"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}})
    >>> scenario.simulation().run(scenario.rounds).rounds
    100
    """

    title: Annotated[str, AfterValidator(_printable)] = Field(default="", description="printable text")
    rounds: int = Field(ge=1, le=MOST_ROUNDS, description="a whole number of at least 1, at most 10^15")
    seed: int = Field(default=0, ge=0, description="a whole number of at least 0")
    feedback: Literal["expected", "sampled", "bandit"] = Field(
        default="expected", description='"expected", "sampled" or "bandit"'
    )
    replicas: int | None = Field(default=None, ge=1, description="a whole number of at least 1")
    game: GamePart = Field(description="a table [game]")
    players: list[PlayerPart] | None = Field(default=None, description="a table [[players]] for each player")
    everyone: EveryonePart | None = Field(
        default=None, description="a table [everyone] with one learner for all players"
    )
    measure: MeasurePart = Field(default=MeasurePart(), description="a table [measure]")

    _folder: Path = PrivateAttr(default=Path())
    _comment: str = PrivateAttr(default="")

    @classmethod
    def from_dict(
        cls,
        raw: Mapping[str, Any],
        *,
        source: str = "scenario",
        folder: Path = Path(),
        comment: str = "",
        local_code: bool = False,
    ) -> "Scenario":
        """Return the scenario that raw values say, or raise one InputError that names every mistake in them.

        `source` is what messages call it, `folder` is where the file of its game is looked for, and `comment` is what
        it opens with when it is written. Only with `local_code` are Python files run that it names as learners.

        >>> raw = {"rounds": 0, "game": {"name": "chiken"}, "everyone": {"learner": "hedge"}}
        >>> Scenario.from_dict(raw, source="mine.toml")
        Traceback (most recent call last):
            ...
        gamesim.errors.InputError: mine.toml has 2 mistakes:
          rounds: expected a whole number of at least 1, at most 10^15, and 0 came
          game.name: there is no game called 'chiken': did you mean chicken?
        """
        if local_code:
            raw = user_learners.load_all(raw, folder)
        mistakes: list[Mistake] = []
        scenario = None
        try:
            scenario = cls.model_validate(dict(raw))
        except ValidationError as error:
            mistakes += (mistake for one in error.errors() for mistake in _in_plain_words(one))
        mistakes += _choices(raw)
        game = _built_game(raw, folder, mistakes)
        if game is not None:
            mistakes += _clashes(raw, game)
        if mistakes or scenario is None or game is None:
            raise InputError(_message(source, mistakes))
        scenario._folder, scenario._comment = folder, comment
        scenario.__dict__["played_game"] = _with_names(game, scenario.players)  # a large table is built only once
        return scenario

    of = Renamed("from_dict")

    @property
    def folder(self) -> Path:
        """Where the file of its game is looked for.

        >>> scenario = read(find("shapley"))
        >>> (scenario.folder / "shapley.toml").is_file()
        True
        """
        return self._folder

    @property
    def comment(self) -> str:
        """What the file says in its opening comment: what to look for in the run.

        >>> read(find("shapley")).comment[:26]
        'Three actions and no rest:'
        """
        return self._comment

    def changed(self, rounds: int | None = None, seed: int | None = None) -> "Scenario":
        """Return this scenario with another number of rounds or another seed.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> again = scenario.changed(rounds=500, seed=3)
        >>> again.rounds, again.seed, scenario.rounds
        (500, 3, 100)
        """
        update = {}
        if rounds is not None:
            update["rounds"] = whole_number("rounds", rounds, least=1)
            if rounds > MOST_ROUNDS:
                raise InputError(f"rounds must be at most 10^15, and {rounds} came")
        if seed is not None:
            update["seed"] = whole_number("seed", seed, least=0)
        return self.model_copy(update=update)

    @cached_property
    def played_game(self) -> Game:
        """The game, with the names that this scenario gives to its players.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}}
        >>> players = [{"learner": "hedge", "name": "Ann"}, {"learner": "hedge", "name": "Bob"}]
        >>> Scenario.from_dict({**raw, "players": players}).played_game.players
        ('Ann', 'Bob')
        """
        return _with_names(self.game.make(self._folder, self.title), self.players)

    def simulation(self) -> Simulation:
        """Return the simulation that this scenario says, before its first round.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> simulation = scenario.simulation()
        >>> simulation.rounds, simulation.run(scenario.rounds).rounds
        (0, 100)
        """
        game = self.played_game
        chosen: Sequence[EveryonePart] = self.players or []
        if self.everyone is not None:
            chosen = [self.everyone] * len(game.players)
        return Simulation(
            game,
            [entry.make() for entry in chosen],
            seed=self.seed,
            feedback=self.feedback,
            replicas=self.replicas,
            start=[entry.start for entry in chosen],
            perturb=[entry.perturb for entry in chosen],
            horizon=self.rounds,
            checkpoints=self.measure.checkpoints,
        )

    def to_toml(self) -> str:
        """Return the scenario as TOML that reads back as equal, under its opening comment.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> scenario.to_toml().splitlines()[1:6]
        ['rounds = 100', 'seed = 0', 'feedback = "expected"', '', '[game]']
        """
        document = self.model_dump(exclude={"game", "players", "everyone"}, exclude_none=True)
        measure = document.pop("measure")
        document["game"] = self.game.model_dump(exclude_defaults=True)
        if self.players is not None:
            parts = [player.model_dump(exclude_defaults=True) for player in self.players]
            document["players"] = [{key: part[key] for key in ("name", *part) if key in part} for part in parts]
        if self.everyone is not None:
            document["everyone"] = self.everyone.model_dump(exclude_defaults=True)
        comment = "".join(f"# {line}".rstrip() + "\n" for line in self._comment.splitlines())
        return comment + ("\n" if comment else "") + toml_writer.write({**document, "measure": measure})

    def write_parts(self, folder: Path) -> None:
        """Write the scenario into an existing folder, with a game that came from a file, so that it runs from there.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     scenario.write_parts(Path(folder))
        ...     read(f"{folder}/scenario.toml").to_toml() == scenario.to_toml()
        True
        """
        scenario = self
        if self.game.file is not None:
            games.save(self.played_game, folder / GAME_FILE)
            scenario = self.model_copy(update={"game": GamePart(file=GAME_FILE)})
        if self.runs_code:
            scenario = scenario._with_copied_learners(folder)
        (folder / FILE).write_text(scenario.to_toml(), encoding="utf-8")

    @property
    def runs_code(self) -> bool:
        """Whether a learner is of the user's own.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> scenario.runs_code
        False
        """
        entries = [*(self.players or []), self.everyone]
        return any(user_learners.is_reference(entry.learner) for entry in entries if entry is not None)

    def _with_copied_learners(self, folder: Path) -> "Scenario":
        def copied(entry: Any) -> Any:
            if entry is None or not user_learners.is_reference(entry.learner):
                return entry
            return entry.model_copy(update={"learner": user_learners.copy(entry.learner, folder)})

        entries = None if self.players is None else [copied(entry) for entry in self.players]
        return self.model_copy(update={"everyone": copied(self.everyone), "players": entries})


def shipped() -> dict[str, Path]:
    """Return the scenarios that come with gamesim, by name.

    >>> "chicken" in shipped()
    True
    """
    found = (Path(str(entry)) for entry in files("gamesim.scenarios").iterdir())
    return {path.stem: path for path in sorted(found) if path.suffix == ".toml"}


def find(name: str) -> Path:
    """Return the path of a scenario given as a path or as the name of a shipped one.

    >>> find("chikcen")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: there is no scenario called 'chikcen': did you mean chicken?
    >>> find("shapley").name
    'shapley.toml'
    """
    path, known = Path(name), shipped()
    is_path = path.suffix == ".toml" or len(path.parts) > 1
    if not is_path and name in known:
        return known[name]
    if path.is_dir():
        hint = f": did you mean {path / FILE}?" if (path / FILE).is_file() else ", and a scenario is a TOML file"
        raise InputError(f"{name} is a folder{hint}")
    if not path.exists():
        if is_path:
            raise InputError(
                f"there is no file {name}: give the path of a scenario, or the name of one of: {', '.join(known)}"
            )
        raise InputError(f"there is no scenario called {name!r}: {did_you_mean(name, known)}")
    return path


def read(path: str | Path, *, local_code: bool = False) -> Scenario:
    """Return the scenario in the file at a path; only with `local_code` are Python files run that it names as learners.

    >>> scenario = read(find("shapley"))
    >>> scenario.game.name, scenario.rounds
    ('shapley', 20000)
    """
    path = Path(path)
    raw, text = read_toml(path)
    if "base" in raw and "game" not in raw:
        raise InputError(f"{path} is a study, which varies a scenario: run it with `gamesim sweep {path}`")
    comment = opening_comment(text)
    return Scenario.from_dict(raw, source=str(path), folder=path.parent, comment=comment, local_code=local_code)


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return what a TOML file says, and its text."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text), text
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}): save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path} is not valid TOML: its arrays are nested too deeply") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def opening_comment(text: str) -> str:
    """Return the comment that a file opens with.

    >>> opening_comment("# Look at the gap.\\n#\\n# It shrinks.\\n\\nrounds = 5  # few")
    'Look at the gap.\\n\\nIt shrinks.'
    """
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append("".join(c for c in line.lstrip("#").strip() if c.isprintable()))
    return "\n".join(lines)


# How mistakes are found and told.


@cache
def _parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(make, eval_str=True).parameters


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    """Return what checks values of a type; building it takes long beside the check itself."""
    return TypeAdapter(annotation)


def _checked_settings(
    name: str, make: Callable[..., Any], settings: Mapping[str, Any], given: str = ""
) -> dict[str, Any]:
    """Return the settings as what `make` takes, or raise all mistakes in them: keys and types, from its signature.

    What is `given` by the simulation is no setting.
    """
    takes = {key: one for key, one in _parameters(make).items() if key != given}
    found: list[Mistake] = []
    checked = {}
    for key, value in settings.items():
        if key not in takes:
            has = did_you_mean(key, takes) if takes else "it has no settings"
            found.append((key, f"{name} has no setting {key!r}: {has}"))
            continue
        try:  # as JSON, in which an array may be a tuple and yet nothing is converted silently
            kind = Any if takes[key].annotation is inspect.Parameter.empty else takes[key].annotation
            checked[key] = _adapter(kind).validate_json(json.dumps(value, default=str), strict=True)
        except ValidationError as error:
            wanted = dict.fromkeys(one["msg"].removeprefix("Input should be ") for one in error.errors())
            found.append((key, f"expected {' or '.join(wanted)}, and {_shown(value)} came"))
    for key, parameter in takes.items():
        if parameter.default is inspect.Parameter.empty and key not in settings:
            found.append((key, f"is missing: {name} needs it"))
    if found:
        raise Mistakes(found)
    return checked


def _own_settings(reference: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a learner of the user's own, checked against its class."""
    kind = user_learners.loaded(reference)
    return _checked_settings(kind.__name__, kind, settings, given="actions")


def _payoff_mistakes(
    payoffs: list[Any], players: list[str] | None, actions: list[list[str]] | None
) -> Iterator[Mistake]:
    """Give every entry that is no finite number, rows of a wrong length, or that tables are too many or too few.

    A row should have an entry for each label, if any row has so many; else as many entries as most rows.
    """
    expected: list[tuple[int, str]] = []  # the entries along each axis, and why
    rows = [payoffs]
    while rows := [one for above in rows for one in above if isinstance(one, list)]:
        counts, axis = Counter(map(len, rows)), len(expected)
        labels = len(actions[axis]) if actions is not None and axis < len(actions) else None
        if labels is not None and labels in counts:
            expected.append((labels, f"one for each label in game.actions[{axis + 1}]"))
        else:
            expected.append((counts.most_common(1)[0][0], "as its neighbours have"))
    found = list(_entry_mistakes(payoffs, expected))
    yield from found
    tables, axes = len(payoffs), len(expected)
    if found or tables == axes:
        return
    named = players or actions
    if axes == 0:
        yield "", "expected a table for each player, and numbers came"
    elif axes == (len(named) if named else max(tables, axes)):
        yield "", f"expected {axes} tables, one of each player's payoffs, and {tables} came, for {axes} players"
    else:
        need = f"{tables} axes, one for each player's actions" if tables > 1 else "one axis"
        yield "", f"the number of tables, {tables}, is that of the players, so each needs {need}, and {axes} came"


def _entry_mistakes(entries: list[Any], expected: list[tuple[int, str]], path: str = "") -> Iterator[Mistake]:
    if any(isinstance(one, list) for one in entries):
        (length, why), below = expected[0], expected[1:]
        for i, one in enumerate(entries, 1):
            if not isinstance(one, list):
                yield f"{path}[{i}]", f"expected an array, as its neighbours are, and {_shown(one)} came"
            elif len(one) != length:
                yield f"{path}[{i}]", f"ragged: expected {length} entries, {why}, and {len(one)} came"
            else:
                yield from _entry_mistakes(one, below, f"{path}[{i}]")
        return
    for i, one in enumerate(entries, 1):
        if isinstance(one, bool) or not isinstance(one, int | float):
            yield f"{path}[{i}]", f"expected a number, and {_shown(one)} came"
        elif not abs(one) <= sys.float_info.max:  # also a whole number too large for a float
            yield f"{path}[{i}]", f"expected a finite number, and {_shown(one)} came"


def _label_mistakes(part: GamePart) -> Iterator[Mistake]:
    """Give names and labels that are more or fewer than the players and actions in sound payoffs."""
    count = len(part.payoffs or [])
    for key, names in (("players", part.players), ("actions", part.actions)):
        if names is not None and len(names) != count:
            what = "names" if key == "players" else "lists of labels"
            yield (
                f"game.{key}",
                f"expected {count} {what}, as there are {count} tables of payoffs, and {len(names)} came",
            )
    if part.actions is None or len(part.actions) != count:
        return
    rows = part.payoffs
    for i, labels in enumerate(part.actions, 1):
        rows = rows[0] if rows else []
        if len(labels) != len(rows):
            who = f" of {part.players[i - 1]}" if part.players and len(part.players) == count else ""
            yield (
                f"game.actions[{i}]",
                f"expected {len(rows)} labels, as the payoffs have actions{who}, and {len(labels)} came",
            )


def _in_plain_words(error: Any) -> Iterator[Mistake]:
    """Say what pydantic found in our words."""
    location = list(error["loc"])
    key = _path(location)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Mistakes):
        yield from ((f"{key}{'' if below[:1] in ('[', '') else '.'}{below}", what) for below, what in cause.found)
    elif isinstance(cause, InputError):
        yield key, str(cause)
    elif error["type"] == "extra_forbidden":
        yield key, f"unknown key: {did_you_mean(str(location[-1]), _table(location).model_fields)}"
    else:
        named = [part for part in location if isinstance(part, str)]
        field = _table(location).model_fields.get(named[-1])
        expected = (field and field.description) or str(error["msg"])
        if error["type"] == "missing":
            yield key, f"is missing: expected {expected}"
        else:
            yield key, f"expected {expected}, and {_shown(error['input'])} came"


def _table(location: list[str | int]) -> type[Part]:
    """Return the table that a key stands in."""
    tables: dict[Any, type[Part]] = {
        "game": GamePart, "players": PlayerPart, "everyone": EveryonePart, "measure": MeasurePart
    }  # fmt: skip
    inside = len([part for part in location if isinstance(part, str)]) > 1
    return tables[location[0]] if inside else Scenario


def _choices(raw: Mapping[str, Any]) -> Iterator[Mistake]:
    """Give the keys that exclude or need one another."""
    if ("players" in raw) == ("everyone" in raw):
        came = "both came" if "players" in raw else "neither came"
        yield "players", f"expected either a table [[players]] for each player or one table [everyone], and {came}"
    game = raw.get("game")
    if not isinstance(game, dict):
        return
    given = [key for key in ("name", "file", "payoffs") if key in game]
    if len(given) != 1:
        came = f"{' and '.join(given)} came" if given else "none came"
        yield "game", f"expected exactly one of name, file and payoffs, and {came}"
        return
    for key, partner in (("settings", "name"), ("players", "payoffs"), ("actions", "payoffs")):
        if key in game and partner not in game:
            yield f"game.{key}", f"goes with {partner}, and {given[0]} came"


def _built_game(raw: Mapping[str, Any], folder: Path, mistakes: list[Mistake]) -> Game | None:
    """Return the game if its table is sound, and add what building it finds wrong."""
    part = _sound(GamePart, raw.get("game"))
    if part is None or any(key.startswith("game") for key, _ in _choices(raw)):
        return None
    if part.payoffs is not None and (found := list(_label_mistakes(part))):
        mistakes += found
        return None
    key = "game.settings" if part.name else "game.file" if part.file else "game.payoffs"
    try:
        game: Game = part.make(folder, str(raw.get("title", "")))
    except InputError as error:
        mistakes.append((_below(key, error, part.settings), str(error)))
        return None
    return game


def _clashes(raw: Mapping[str, Any], game: Game) -> Iterator[Mistake]:
    """Give what does not fit together between game and players, as far as the players' tables are sound."""
    everyone, given = _sound(EveryonePart, raw.get("everyone")), raw.get("players")
    if everyone:
        first_of_size = {size: i for i, size in reversed(list(enumerate(game.sizes)))}
        for i in sorted(first_of_size.values()):
            yield from _misfits("everyone", everyone, game, i, raw)
    if not isinstance(given, list):
        return
    if len(given) != len(game.players):
        who = ", ".join(game.players[:10]) + (", …" if len(game.players) > 10 else "")
        yield "players", f"expected {len(game.players)} tables, as the game has players ({who}), and {len(given)} came"
        return
    entries = [_sound(PlayerPart, one) for one in given]
    for i, entry in enumerate(entries):
        if entry:
            yield from _misfits(f"players[{i + 1}]", entry, game, i, raw)
    names = [one.get("name", name) for one, name in zip(given, game.players, strict=True) if isinstance(one, dict)]
    for i, name in enumerate(names):
        if name in names[:i]:
            yield (
                f"players[{i + 1}].name",
                f"players need names that differ, and {name!r} came before",
            )


def _misfits(place: str, entry: EveryonePart, game: Game, i: int, raw: Mapping[str, Any]) -> Iterator[Mistake]:
    """Give what of one player's table does not fit the game or the feedback."""
    size = game.sizes[i]
    if entry.start is not None and len(entry.start) != size:
        yield (
            f"{place}.start",
            f"expected {size} probabilities, one for each action of {game.players[i]}, and {len(entry.start)} came",
        )
    player = entry.make()
    if not isinstance(player, Learner):
        return
    feedback = raw.get("feedback", "expected")
    if feedback in ("expected", "sampled", "bandit") and feedback not in player.feedback:
        yield (
            f"{place}.learner",
            f"{player.name} works with {' or '.join(player.feedback)} feedback, not with {feedback}",
        )
    try:
        rounds = raw.get("rounds")
        (player.with_horizon(rounds) if isinstance(rounds, int) and rounds > 0 else player).kernel_settings(size)
    except InputError as error:
        yield _below(f"{place}.settings", error, entry.settings), str(error)


def _sound(table: type[Any], raw: Any) -> Any:
    """Return a table that is sound by itself, or None."""
    try:
        return table.model_validate(raw)
    except ValidationError:
        return None


def _below(key: str, error: InputError, settings: Mapping[str, Any]) -> str:
    """Return the key of the setting that a message begins with, or the key of the settings."""
    word = str(error).split()[0]
    return f"{key}.{word}".removeprefix(".") if word in settings else key


def _with_names(game: Game, entries: Sequence[PlayerPart] | None) -> Game:
    """Return the game with the names that the players' tables give."""
    if entries is None or not any(entry.name for entry in entries):
        return game
    names = tuple(entry.name or name for entry, name in zip(entries, game.players, strict=True))
    return replace(game, players=names)


def _path(location: Sequence[str | int]) -> str:
    """Return a key as people count: players[2].settings."""
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _message(source: str, mistakes: list[Mistake]) -> str:
    if len(mistakes) == 1:
        return f"{source}: {mistakes[0][0]}: {mistakes[0][1]}"
    return f"{source} has {len(mistakes)} mistakes:" + "".join(f"\n  {key}: {what}" for key, what in mistakes)
