"""The tables of a scenario file, each validated as far as possible on its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from gamesim import games, players, user_files, user_learners
from gamesim.deprecated import Renamed
from gamesim.errors import InputError, unknown
from gamesim.formatting import shown
from gamesim.game import Game
from gamesim.games.varying import Change, Varying
from gamesim.learner import Feedback, Learner
from gamesim.measure import Measure, find, numbers, observers
from gamesim.measure.observers import Observer
from gamesim.scenario.mistakes import Mistake, Mistakes
from gamesim.scenario.payoffs import payoff_mistakes
from gamesim.scenario.settings import checked_settings, made_learner
from gamesim.user_learners import UserLearner
from gamesim.validation import MOST_CHECKPOINTS, MOST_ROUNDS, STRATEGY_SUM, few_entries


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("names and titles must be printable text")
    return text


PrintableText = Annotated[str, AfterValidator(_printable)]
Label = Annotated[str, Field(min_length=1), AfterValidator(_printable)]


class Part(BaseModel):
    """A table of a scenario file, which accepts no unknown keys, no implicit conversions and no infinite numbers."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True, ignored_types=(Renamed,))


class SchedulePart(Part):
    """The table [game.schedule]: payoff tables that follow each other."""

    tables: list[Any] = Field(min_length=1, description="a list of games, each one array of payoffs per player")
    every: int = Field(
        default=1, ge=1, le=MOST_ROUNDS, description="an integer from 1 to 10^15: the rounds that each table lasts"
    )
    change: Change = Field(default="abrupt", description='"abrupt" or "drifting"')

    @field_validator("tables")
    @classmethod
    def _tables_are_payoffs(cls, tables: list[Any]) -> list[Any]:
        found: list[Mistake] = []
        for i, table in enumerate(tables, 1):
            if not isinstance(table, list):
                found.append((f"[{i}]", f"expected one array of payoffs per player, got {shown(table)}"))
            else:
                found += [(f"[{i}]{below}", what) for below, what in payoff_mistakes(table, None, None)]
        if found:
            raise Mistakes(found[:5])
        return tables


class GamePart(Part):
    """The table [game]: a name with settings, a file, payoff tables, or a schedule of payoff tables."""

    name: str | None = Field(default=None, description='the name of a game, such as "chicken"')
    settings: dict[str, Any] = Field(default_factory=dict, description="a table of the game's settings")
    file: str | None = Field(
        default=None, min_length=1, description="the path of a game file, relative to the scenario's folder"
    )
    players: list[Label] | None = Field(default=None, description="a list of names, one per player")
    actions: list[list[Label]] | None = Field(default=None, description="one list of action labels per player")
    payoffs: list[Any] | None = Field(default=None, description="one array of numbers per player")
    schedule: SchedulePart | None = Field(
        default=None, description="a table [game.schedule] of payoff tables that follow each other"
    )

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in games.available():
            raise unknown("game", name, games.available())
        return name

    @field_validator("settings")
    @classmethod
    def _settings_fit(cls, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        for key, value in settings.items():
            few_entries(key, value)  # before pydantic, which reports every wrong entry of a long list
        if name := info.data.get("name"):
            checked_settings(name, games.available()[name], settings)
        return settings

    @field_validator("payoffs")
    @classmethod
    def _payoffs_are_tables(cls, payoffs: list[Any] | None, info: ValidationInfo) -> list[Any]:
        players, actions = info.data.get("players"), info.data.get("actions")
        if payoffs is None:  # null, in a message of the lab
            raise InputError("expected one array of numbers per player, got nothing")
        if found := list(payoff_mistakes(payoffs, players, actions)):
            raise Mistakes(found[:5])
        return payoffs

    def make(self, folder: Path, title: str) -> Game:
        """Return the game; the path of a game file is relative to `folder`."""
        if self.name is not None:
            known = games.available()[self.name]
            return known(**checked_settings(self.name, known, self.settings))
        if self.file is not None:
            return games.load(folder / self.file)
        if self.schedule is not None:
            given = self.schedule.model_dump()
            return Varying.from_tables(
                given.pop("tables"), name=title or "varying", players=self.players, actions=self.actions, **given
            )
        return games.from_payoffs(
            *(self.payoffs or []), name=title or "game", players=self.players, actions=self.actions
        )


class EveryonePart(Part):
    """The table [everyone]: one learner and its first strategy, for all players."""

    learner: str = Field(description='the name of a learner, such as "hedge"')
    settings: dict[str, Any] = Field(default_factory=dict, description="a table of the learner's settings")
    start: list[float] | Literal["random", "grid"] | None = Field(
        default=None,
        description='a mixed strategy at which the learner starts, "random", or "grid": one profile per replica',
    )
    opening: list[float] | None = Field(
        default=None, description="a mixed strategy for the first round only: one probability per action, summing to 1"
    )
    perturb: float = Field(
        default=0.0, ge=0, le=1, description="a number from 0 to 1: the random share of the first round's strategy"
    )

    @field_validator("learner")
    @classmethod
    def _known(cls, learner: str) -> str:
        if user_files.is_reference(learner):
            user_learners.class_of(learner)
        elif learner not in players.available():
            raise unknown("learner", learner, players.available())
        return learner

    @field_validator("settings")
    @classmethod
    def _settings_fit(cls, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if learner := info.data.get("learner"):
            made_learner(learner, settings)
        return settings

    @field_validator("start", "opening")
    @classmethod
    def _is_a_strategy(cls, start: list[float] | str) -> list[float] | str:
        if not isinstance(start, str) and (not start or min(start) < 0 or abs(sum(start) - 1) > STRATEGY_SUM):
            raise InputError(f"expected non-negative probabilities that sum to 1, got {shown(start)}")
        return start

    def make(self) -> Learner | UserLearner:
        """Return the learner with its settings."""
        return made_learner(self.learner, self.settings)


class PlayerPart(EveryonePart):
    """One of the tables [[players]]: a learner for one player, and optionally the player's name."""

    name: Label | None = Field(default=None, description="the player's name, as printable text")
    feedback: Feedback | None = Field(
        default=None, description='"expected", "sampled" or "bandit", if it differs from the feedback of the others'
    )


class MeasurePart(Part):
    """The table [measure]: what to measure, and how much of the run to keep."""

    distance: Literal["auto", "always", "never"] = Field(default="auto", description='"auto", "always" or "never"')
    checkpoints: int = Field(
        default=10, ge=1, le=MOST_CHECKPOINTS, description="an integer from 1 to 1000: checkpoints per decade of rounds"
    )
    trajectory: Literal["thinned", "every", "windows", "none"] | Annotated[int, Field(ge=1, le=MOST_ROUNDS)] = Field(
        default="thinned",
        description='"thinned", "every", "windows", "none", or an integer k from 1 to 10^15 for every k-th round',
    )
    observers: list[str] = Field(
        default_factory=list, description="a list of observers: names of built-in ones, or FILE.py:NAME"
    )
    measures: list[str] = Field(
        default_factory=list, description="a list of further measures in summary.json: names, or FILE.py:NAME"
    )

    @field_validator("observers")
    @classmethod
    def _observers_are_known(cls, names: list[str]) -> list[str]:
        _each(names, observers.find)
        observers.chosen(names)  # raises if two of them have the same name
        return names

    @field_validator("measures")
    @classmethod
    def _measures_are_numbers(cls, names: list[str]) -> list[str]:
        _each(names, number_measure)
        return names

    def all_observers(self) -> list[Observer]:
        """Return the observers, including those that the measures need."""
        needed = [one for name in self.measures if (one := find(name).observer) is not None]
        return observers.chosen(list(dict.fromkeys([*map(observers.find, self.observers), *needed])))


def number_measure(name: Any) -> Measure:
    """Return a measure that gives one number per run, or raise an InputError."""
    if not user_files.is_reference(name) and not (isinstance(name, str) and name in numbers()):
        raise unknown("measure", name, numbers())
    return find(name)


def _each(names: list[str], look_up: Callable[[str], object]) -> None:
    """Look up every name, and raise all mistakes."""
    found: list[Mistake] = []
    for i, name in enumerate(names, 1):
        try:
            look_up(name)
        except InputError as error:
            found.append((f"[{i}]", str(error)))
    if found:
        raise Mistakes(found)
