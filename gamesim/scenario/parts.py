"""The tables of a scenario file, each validated as far as possible on its own."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from gamesim import games, players, user_learners
from gamesim.deprecated import Renamed
from gamesim.errors import InputError, unknown
from gamesim.formatting import shown
from gamesim.game import Game
from gamesim.learner import Learner
from gamesim.scenario.mistakes import Mistakes, key_of_setting
from gamesim.scenario.payoffs import payoff_mistakes
from gamesim.scenario.settings import checked_settings, checked_user_settings
from gamesim.user_learners import UserLearner
from gamesim.validation import MOST_CHECKPOINTS, few_entries


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("names and titles must be printable text")
    return text


PrintableText = Annotated[str, AfterValidator(_printable)]
Label = Annotated[str, Field(min_length=1), AfterValidator(_printable)]


class Part(BaseModel):
    """A table of a scenario file, which accepts no unknown keys, no implicit conversions and no infinite numbers."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True, ignored_types=(Renamed,))


class GamePart(Part):
    """The table [game]: a name with settings, a file, or payoff tables."""

    name: str | None = Field(default=None, description='the name of a game, such as "chicken"')
    settings: dict[str, Any] = Field(default_factory=dict, description="a table of the game's settings")
    file: str | None = Field(
        default=None, min_length=1, description="the path of a game file, relative to the scenario's folder"
    )
    players: list[Label] | None = Field(default=None, description="a list of names, one per player")
    actions: list[list[Label]] | None = Field(default=None, description="one list of action labels per player")
    payoffs: list[Any] | None = Field(default=None, description="one array of numbers per player")

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
        if user_learners.is_reference(learner):
            user_learners.loaded_class(learner)
        elif learner not in players.available():
            raise unknown("learner", learner, players.available())
        return learner

    @field_validator("settings")
    @classmethod
    def _settings_fit(cls, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if learner := info.data.get("learner"):
            if user_learners.is_reference(learner):
                checked_user_settings(learner, settings)
                return settings
            kind = players.available()[learner]
            checked = checked_settings(learner, kind, settings)
            try:
                kind(**checked)
            except InputError as error:
                raise Mistakes([(key_of_setting("", error, settings), str(error))]) from None
        return settings

    @field_validator("start", "opening")
    @classmethod
    def _is_a_strategy(cls, start: list[float] | str) -> list[float] | str:
        if not isinstance(start, str) and (not start or min(start) < 0 or abs(sum(start) - 1) > 1e-9):
            raise InputError(f"expected non-negative probabilities that sum to 1, got {shown(start)}")
        return start

    def make(self) -> Learner | UserLearner:
        """Return the learner with its settings."""
        if user_learners.is_reference(self.learner):
            learner_class = user_learners.loaded_class(self.learner)
            return UserLearner(learner_class, checked_user_settings(self.learner, self.settings))
        kind = players.available()[self.learner]
        return kind(**checked_settings(self.learner, kind, self.settings))


class PlayerPart(EveryonePart):
    """One of the tables [[players]]: a learner for one player, and optionally the player's name."""

    name: Label | None = Field(default=None, description="the player's name, as printable text")


class MeasurePart(Part):
    """The table [measure]: whether to compute distances, and how many checkpoints to keep."""

    distance: Literal["auto", "always", "never"] = Field(default="auto", description='"auto", "always" or "never"')
    checkpoints: int = Field(
        default=10, ge=1, le=MOST_CHECKPOINTS, description="an integer from 1 to 1000: checkpoints per decade of rounds"
    )
