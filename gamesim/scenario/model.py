"""A scenario: a game, its players and what to measure, as data that never executes code.

Reading one names every mistake in it at once, each with its key (lists count from 1), what came and what was expected.
Writing one gives a file that reads back as equal, so a run folder repeats the run it holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, PrivateAttr, ValidationError

from gamesim import games, user_learners
from gamesim import toml as toml_writer
from gamesim.deprecated import Renamed
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.scenario import diagnostics
from gamesim.scenario.mistakes import Mistake, message
from gamesim.scenario.parts import EveryonePart, GamePart, MeasurePart, Part, PlayerPart, PrintableText
from gamesim.simulation import Simulation
from gamesim.validation import whole_number

__all__ = ["Scenario"]

Entry = TypeVar("Entry", bound=EveryonePart)

MOST_ROUNDS = 10**15
SCENARIO_FILE = "scenario.toml"  # what a scenario is called in a run folder
GAME_FILE = "game.npz"  # and a game that was read from a file: the one format that keeps every game exactly


class Scenario(Part):
    """A game, its players, how long and how often they play, and what is measured.

    >>> scenario = Scenario.from_dict({"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}})
    >>> scenario.simulation().run(scenario.rounds).rounds
    100
    """

    title: PrintableText = Field(default="", description="printable text")
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
          game.name: unknown game 'chiken'; did you mean 'chicken'?
        """
        if local_code:
            raw = user_learners.load_references(raw, folder)
        mistakes: list[Mistake] = []
        scenario = None
        try:
            scenario = cls.model_validate(dict(raw))
        except ValidationError as error:
            mistakes += (mistake for one in error.errors() for mistake in diagnostics.in_plain_words(one, cls))
        mistakes += diagnostics.conflicting_keys(raw)
        game, found = diagnostics.built_game(raw, folder)
        mistakes += found
        if game is not None:
            mistakes += diagnostics.clashes(raw, game)
        if mistakes or scenario is None or game is None:
            raise InputError(message(source, mistakes))
        scenario._folder, scenario._comment = folder, comment
        scenario.__dict__["played_game"] = _with_names(game, scenario.players)  # a large table is built only once
        return scenario

    of = Renamed("from_dict")

    @property
    def folder(self) -> Path:
        """Where the file of its game is looked for.

        >>> from gamesim.scenario import find, read
        >>> scenario = read(find("shapley"))
        >>> (scenario.folder / "shapley.toml").is_file()
        True
        """
        return self._folder

    @property
    def comment(self) -> str:
        """What the file says in its opening comment: what to look for in the run.

        >>> from gamesim.scenario import find, read
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

    @property
    def player_parts(self) -> Sequence[EveryonePart]:
        """What the scenario says of each player: a table of its own, or the one for everyone.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> [part.learner for part in Scenario.from_dict(raw).player_parts]
        ['hedge', 'hedge']
        """
        if self.everyone is not None:
            return [self.everyone] * len(self.played_game.players)
        return self.players or []

    def simulation(self) -> Simulation:
        """Return the simulation that this scenario says, before its first round.

        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> simulation = scenario.simulation()
        >>> simulation.rounds, simulation.run(scenario.rounds).rounds
        (0, 100)
        """
        entries = self.player_parts
        return Simulation(
            self.played_game,
            [entry.make() for entry in entries],
            seed=self.seed,
            feedback=self.feedback,
            replicas=self.replicas,
            start=[entry.start for entry in entries],
            perturb=[entry.perturb for entry in entries],
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
        >>> from gamesim.scenario import read
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
        (folder / SCENARIO_FILE).write_text(scenario.to_toml(), encoding="utf-8")

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
        def copied(entry: Entry) -> Entry:
            if not user_learners.is_reference(entry.learner):
                return entry
            return entry.model_copy(update={"learner": user_learners.copy_file(entry.learner, folder)})

        everyone = None if self.everyone is None else copied(self.everyone)
        entries = None if self.players is None else [copied(entry) for entry in self.players]
        return self.model_copy(update={"everyone": everyone, "players": entries})


def _with_names(game: Game, entries: Sequence[PlayerPart] | None) -> Game:
    """Return the game with the names that the players' tables give."""
    if entries is None or not any(entry.name for entry in entries):
        return game
    names = tuple(entry.name or name for entry, name in zip(entries, game.players, strict=True))
    return replace(game, players=names)
