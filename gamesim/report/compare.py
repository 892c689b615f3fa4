"""The same scenario with one learner after another: which of them comes closest to equilibrium, and at what cost."""

import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np

from gamesim import players, user_learners
from gamesim.errors import InputError
from gamesim.learner import Learner
from gamesim.record import Record
from gamesim.report.summary import Summary, summarise
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation

HARDLY_MOVED = (
    0.05  # who stays this near to its first strategies, in mean total variation over the run, has hardly moved
)


@dataclass(frozen=True)
class Contender:
    """A learner as it is named on the command line, with its settings."""

    label: str
    learner: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What came of the scenario with one learner."""

    contender: Contender
    scenario: Scenario
    record: Record
    summary: Summary
    seconds: float  # that a round takes
    moved: float  # how far its strategies were, on average, from where the learner began

    @property
    def hardly_moved(self) -> bool:
        """Whether the learner hardly left the strategies that it began with."""
        return self.moved < HARDLY_MOVED

    def as_json(self) -> dict[str, Any]:
        """The run's JSON object, with the learner, the microseconds a round, and how far it moved."""
        return {
            "learner": self.contender.label,
            "microseconds": 1e6 * self.seconds,
            "moved": self.moved,
            **self.summary.as_json(),
        }


def contenders(text: str, *, local_code: bool = False) -> list[Contender]:
    """Read learners from a list like `hedge,blum-mansour:rows=adahedge,wavelet`.

    Only with `local_code` may it name learners of the user's own, as `mylearner.py:MyHedge`.

    >>> contenders("hedge:rate=0.1,wavelet")[0]
    Contender(label='hedge:rate=0.1', learner='hedge', settings={'rate': 0.1})
    """
    chosen = []
    for label in filter(None, map(str.strip, text.split(","))):
        learner, *settings = label.split(":")
        own = bool(settings) and learner.endswith(".py")
        if own:
            learner, settings = f"{learner}:{settings[0]}", settings[1:]
            learner = user_learners.load_reference(learner, Path()) if local_code else learner
        given = dict(_setting(label, setting) for setting in settings)
        if own:
            user_learners.loaded_class(learner)  # refuses what nobody has allowed
        else:
            players.make(learner, **given)  # says what is wrong with it
        chosen.append(Contender(label, learner, given))
    labels = [one.label for one in chosen]
    if not chosen or len(set(labels)) < len(labels):
        raise InputError(f"learners must be a list like hedge,wavelet, each of them once, and {text!r} came")
    return chosen


def _setting(label: str, text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"settings are written learner:setting=value, and {label!r} came")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value  # a word


def variant(scenario: Scenario, contender: Contender, against: Contender | None) -> Scenario:
    """Return the scenario with this learner for every player, or for the first one against another learner."""
    entries: list[dict[str, Any]] = []
    for i, entry in enumerate(scenario.player_parts):
        chosen = against if against is not None and i > 0 else contender
        kept = entry.model_dump(exclude_defaults=True)
        entries.append(kept | {"learner": chosen.learner, "settings": chosen.settings})
    raw = scenario.model_dump(exclude_none=True, exclude_defaults=True, exclude={"players", "everyone"})
    return Scenario.from_dict(
        {**raw, "players": entries}, source=f"the scenario with {contender.label}", folder=scenario.folder
    )


def compare(
    scenario: Scenario,
    chosen: Sequence[Contender],
    against: Contender | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Outcome]:
    """Run the scenario with each learner, two or more at a time, and return the outcomes, best CE gap first.

    `progress` is called with the number of rounds that have been played by all of them together.
    """
    scenarios = [variant(scenario, contender, against) for contender in chosen]
    simulations = [one.simulation() for one in scenarios]
    for one in scenarios:
        one.simulation().run(1)  # compiles, so that the clock sees rounds only
    played = [0] * len(chosen)

    def run(i: int) -> tuple[Record, float]:
        simulation = simulations[i]
        before = [(0, 0.0)]

        def tell(_: Simulation) -> None:
            played[i] = simulation.rounds
            if simulation.rounds <= scenario.rounds // 2:
                before[0] = simulation.rounds, simulation.seconds
            if progress is not None:
                progress(sum(played))

        record = simulation.run(scenario.rounds, progress=tell)
        rounds, seconds = before[0]  # of the first half, in which the rounds come in small pieces that cost more
        return record, (simulation.seconds - seconds) / (simulation.rounds - rounds)

    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        ran = list(pool.map(run, range(len(chosen))))
    counted = 1 if against is not None else len(scenario.played_game.players)
    outcomes = [
        Outcome(
            contender=contender,
            scenario=one,
            record=record,
            summary=summarise(record, distance=one.measure.distance),
            seconds=seconds,
            moved=max(_moved(record, i) for i in range(counted)),
        )
        for contender, one, (record, seconds) in zip(chosen, scenarios, ran, strict=True)
    ]
    return sorted(outcomes, key=lambda outcome: outcome.summary.gap["ce"])


def _moved(record: Record, i: int) -> float:
    """Return how far a player's strategies were from its learner's own first one: total variation, mean over the run.

    The first round is left out, in which the scenario may have said what to play.
    """
    player, actions = record.learners[i], record.game.sizes[i]
    learner = player.start(actions) if isinstance(player, Learner) else player(actions=actions)
    strategies = record.trajectory[1][i][..., 1:, :]
    return float(np.abs(strategies - learner.play()).sum(axis=-1).mean() / 2) if strategies.size else 0.0
