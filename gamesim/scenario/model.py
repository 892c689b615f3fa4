"""A scenario: a game, its players and what to measure, as data that never executes code.

Reading a scenario reports all its mistakes at once, each with its key (lists count from 1), what was expected and what
was given. Writing one gives a file that reads back equal, so the scenario in a run folder repeats the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr, ValidationError

from gamesim import games, user_files, user_learners
from gamesim import toml as toml_writer
from gamesim.deprecated import Renamed
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.learner import Feedback
from gamesim.record import Record
from gamesim.scenario import diagnostics
from gamesim.scenario.mistakes import Mistake, message
from gamesim.scenario.parts import EveryonePart, GamePart, MeasurePart, Part, PlayerPart, PrintableText
from gamesim.simulation import Simulation
from gamesim.simulation.protocol import MOST_DELAY, Order
from gamesim.validation import LARGEST_NUMBER, MOST_ROUNDS, whole_number

__all__ = ["Scenario"]

SCENARIO_FILE = "scenario.toml"  # the name of the scenario in a run folder
GAME_FILE = "game.npz"  # the name of a game that was read from a file: this format stores every game exactly


class Scenario(Part):
    """Describe a run: the game, its players, the rounds and what to measure.

    Parameters
    ----------
    title : str, default ""
        The title, as printable text.
    rounds : int
        The number of rounds, from 1 to 10^15.
    seed : int, default 0
        The seed of all randomness, at least 0.
    feedback : {"expected", "sampled", "bandit"}, default "expected"
        What the learners observe in each round; players may have their own.
    order : {"simultaneous", "alternating"}, default "simultaneous"
        Whether players observe their losses all at once or one after the other, see `simulate`.
    delay : int, default 0
        The number of rounds after which losses are observed.
    noise : float, default 0.0
        The standard deviation of noise on the observed losses, in units of loss.
    replicas : int, optional
        The number of independent replicas, at least 1. By default there is a single run.
    game : GamePart
        The table [game]: a name with settings, a file, payoff tables, or a schedule of payoff tables.
    players : list of PlayerPart, optional
        The tables [[players]], one per player. Give either these or `everyone`.
    everyone : EveryonePart, optional
        The table [everyone]: one learner for all players.
    measure : MeasurePart, default MeasurePart()
        The table [measure]: what to measure, and how much of the run to keep.

    Examples
    --------
    >>> scenario = Scenario.from_dict({"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}})
    >>> scenario.simulation().run(scenario.rounds).rounds
    100
    """

    title: PrintableText = Field(default="", description="printable text")
    rounds: int = Field(ge=1, le=MOST_ROUNDS, description="an integer from 1 to 10^15")
    seed: int = Field(default=0, ge=0, description="an integer of at least 0")
    feedback: Feedback = Field(default="expected", description='"expected", "sampled" or "bandit"')
    order: Order = Field(default="simultaneous", description='"simultaneous" or "alternating"')
    delay: int = Field(
        default=0, ge=0, le=MOST_DELAY, description="an integer from 0 to 10^6: rounds after which losses are observed"
    )
    noise: float = Field(
        default=0.0,
        ge=0,
        le=LARGEST_NUMBER,
        description="a number of at least 0: standard deviation of noise on the observed losses",
    )
    replicas: int | None = Field(default=None, ge=1, description="an integer of at least 1")
    game: GamePart = Field(description="a table [game]")
    players: list[PlayerPart] | None = Field(default=None, description="one table [[players]] per player")
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
        """Build a scenario from the values of a scenario file.

        Parameters
        ----------
        raw : mapping
            The tables and values of the file, as `tomllib` reads them.
        source : str, default "scenario"
            The name of the scenario in error messages.
        folder : Path, default Path()
            The folder that the path of a game file is relative to.
        comment : str, default ""
            The opening comment, which `to_toml` writes at the top.
        local_code : bool, default False
            Whether to run the Python files that the scenario names, such as ``mylearner.py:MyHedge``.

        Returns
        -------
        Scenario
            The validated scenario.

        Raises
        ------
        InputError
            If there are mistakes in the values; the message lists all of them.

        Examples
        --------
        >>> raw = {"rounds": 0, "game": {"name": "chiken"}, "everyone": {"learner": "hedge"}}
        >>> Scenario.from_dict(raw, source="mine.toml")
        Traceback (most recent call last):
            ...
        gamesim.errors.InputError: mine.toml has 2 errors:
          rounds: expected an integer from 1 to 10^15, got 0
          game.name: unknown game 'chiken'; did you mean 'chicken'?
        """
        if local_code:
            raw = user_files.replaced(dict(raw), lambda reference: user_files.allow(reference, folder))
        mistakes: list[Mistake] = []
        scenario = None
        try:
            scenario = cls.model_validate(dict(raw))
        except ValidationError as error:
            mistakes += diagnostics.in_plain_words(error, raw, cls)
        mistakes += diagnostics.conflicting_keys(raw)
        game, found = diagnostics.built_game(raw, folder)
        mistakes += found
        if game is not None:
            mistakes += diagnostics.clashes(raw, game)
        if game is not None and scenario is not None and not mistakes:
            mistakes += diagnostics.protocol_mistakes(scenario, game)
        if mistakes or scenario is None or game is None:
            raise InputError(message(source, mistakes))
        scenario._folder, scenario._comment = folder, comment
        scenario.__dict__["played_game"] = _with_names(game, scenario.players)  # to build a large table only once
        return scenario

    of = Renamed("from_dict")

    @property
    def folder(self) -> Path:
        """Return the folder that the path of a game file is relative to.

        Examples
        --------
        >>> from gamesim.scenario import find, read
        >>> scenario = read(find("shapley"))
        >>> (scenario.folder / "shapley.toml").is_file()
        True
        """
        return self._folder

    @property
    def comment(self) -> str:
        """Return the opening comment of the file.

        It describes what to look for in the run.

        Examples
        --------
        >>> from gamesim.scenario import find, read
        >>> read(find("shapley")).comment[:28]
        'Each player chases the other'
        """
        return self._comment

    def changed(self, rounds: int | None = None, seed: int | None = None) -> "Scenario":
        """Return a copy with another number of rounds or another seed.

        Parameters
        ----------
        rounds : int, optional
            The new number of rounds, from 1 to 10^15. By default it is unchanged.
        seed : int, optional
            The new seed, at least 0. By default it is unchanged.

        Returns
        -------
        Scenario
            The copy. This scenario is unchanged.

        Raises
        ------
        InputError
            If `rounds` or `seed` is not an integer in its range.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> again = scenario.changed(rounds=500, seed=3)
        >>> again.rounds, again.seed, scenario.rounds
        (500, 3, 100)
        """
        update = {}
        if rounds is not None:
            update["rounds"] = whole_number("rounds", rounds, least=1, most=MOST_ROUNDS)
        if seed is not None:
            update["seed"] = whole_number("seed", seed, least=0)
        return self.model_copy(update=update)

    @cached_property
    def played_game(self) -> Game:
        """Return the game, with the scenario's names for its players.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}}
        >>> players = [{"learner": "hedge", "name": "Ann"}, {"learner": "hedge", "name": "Bob"}]
        >>> Scenario.from_dict({**raw, "players": players}).played_game.players
        ('Ann', 'Bob')
        """
        return _with_names(self.game.make(self._folder, self.title), self.players)

    @property
    def player_parts(self) -> Sequence[EveryonePart]:
        """Return the table of each player: its own [[players]] table, or [everyone].

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> [part.learner for part in Scenario.from_dict(raw).player_parts]
        ['hedge', 'hedge']
        """
        return self.parts_for(self.played_game)

    def parts_for(self, game: Game) -> Sequence[EveryonePart]:
        """Return the table of each player of a game, see `player_parts`.

        Parameters
        ----------
        game : Game
            The game.

        Returns
        -------
        sequence of EveryonePart
            One table per player.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> len(scenario.parts_for(scenario.played_game))
        2
        """
        return [self.everyone] * len(game.players) if self.everyone is not None else self.players or []

    @property
    def feedbacks(self) -> list[Feedback]:
        """Return what each player observes.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "feedback": "sampled"}
        >>> players = [{"learner": "hedge"}, {"learner": "exp3", "feedback": "bandit"}]
        >>> Scenario.from_dict({**raw, "players": players}).feedbacks
        ['sampled', 'bandit']
        """
        return [getattr(part, "feedback", None) or self.feedback for part in self.player_parts]

    def simulation(self) -> Simulation:
        """Return the simulation that this scenario describes.

        Returns
        -------
        Simulation
            The simulation, before its first round.

        Examples
        --------
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
            feedback=self.feedbacks,
            order=self.order,
            delay=self.delay,
            noise=self.noise,
            trajectory=self.measure.trajectory,
            observers=self.measure.all_observers(),
            replicas=self.replicas,
            start="grid" if all(entry.start == "grid" for entry in entries) else [entry.start for entry in entries],
            opening=[entry.opening for entry in entries],
            perturb=[entry.perturb for entry in entries],
            horizon=self.rounds,
            checkpoints=self.measure.checkpoints,
        )

    def resumed(self, record: Record) -> Simulation:
        """Return the simulation that continues a record of this scenario.

        Parameters
        ----------
        record : Record
            The record of the rounds so far.

        Returns
        -------
        Simulation
            The simulation after these rounds.

        Raises
        ------
        InputError
            If the states of the learners are not in the record, or the file of a user-defined learner has changed.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> scenario.resumed(scenario.simulation().run(40)).run(60).rounds
        100
        """
        return Simulation.resume(record, observers=self.measure.all_observers())

    def to_toml(self) -> str:
        """Return the scenario as TOML.

        Returns
        -------
        str
            The text of a scenario file that reads back equal, with the opening comment at the top.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> scenario = Scenario.from_dict(raw)
        >>> scenario.to_toml().splitlines()[1:6]
        ['rounds = 100', 'seed = 0', 'feedback = "expected"', '', '[game]']
        """
        comment = "".join(f"# {line}".rstrip() + "\n" for line in self._comment.splitlines())
        document = user_files.replaced(self._document(), user_files.shown)
        return comment + ("\n" if comment else "") + toml_writer.write(document)

    def _document(self) -> dict[str, Any]:
        """Return the values of a scenario file that reads back equal, with references as they are in this process."""
        document = self.model_dump(exclude={"game", "players", "everyone", "measure"}, exclude_none=True)
        measure = self.measure.model_dump()
        _drop_defaults(document, Scenario, ("order", "delay", "noise"))
        _drop_defaults(measure, MeasurePart, ("trajectory", "observers", "measures"))
        document["game"] = self.game.model_dump(exclude_defaults=True)
        if self.players is not None:
            parts = [player.model_dump(exclude_defaults=True) for player in self.players]
            document["players"] = [{key: part[key] for key in ("name", *part) if key in part} for part in parts]
        if self.everyone is not None:
            document["everyone"] = self.everyone.model_dump(exclude_defaults=True)
        return {**document, "measure": measure}

    def write_parts(self, folder: Path) -> None:
        """Write the scenario and the files that it needs to run into a folder.

        Parameters
        ----------
        folder : Path
            An existing folder. The scenario becomes `scenario.toml`, a game that was read from a file becomes
            `game.npz`, and Python files of user-defined code keep their names.

        Raises
        ------
        InputError
            If two different files of user-defined code have the same name.

        Examples
        --------
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
        user_files.write(self.references, folder)
        (folder / SCENARIO_FILE).write_text(scenario.to_toml(), encoding="utf-8")

    @property
    def references(self) -> list[str]:
        """Return the references to user-defined code, with the hashes of its files.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> Scenario.from_dict(raw).references
        []
        """
        return user_files.references(self._document())

    @property
    def can_resume(self) -> bool:
        """Return whether a record of this scenario holds the states of all learners.

        Examples
        --------
        >>> raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
        >>> Scenario.from_dict(raw).can_resume
        True
        """
        return all(user_learners.keeps_state(entry.make()) for entry in self.player_parts)


def _drop_defaults(table: dict[str, Any], part: type[Part], keys: Iterable[str]) -> None:
    """Remove the keys that most scenarios leave at their defaults."""
    for key in keys:
        if table[key] == part.model_fields[key].get_default(call_default_factory=True):
            del table[key]


def _with_names(game: Game, entries: Sequence[PlayerPart] | None) -> Game:
    """Return the game with the names in the players' tables."""
    if entries is None or not any(entry.name for entry in entries):
        return game
    names = tuple(entry.name or name for entry, name in zip(entries, game.players, strict=True))
    return replace(game, players=names)
