"""Run the same scenario once per learner and compare equilibrium gaps and running times."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import numpy as np

from gamesim import players, user_files, user_learners
from gamesim.errors import InputError
from gamesim.learner import Learner
from gamesim.players import notation
from gamesim.record import Record
from gamesim.report.summary import Summary, summarise
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation

Result = TypeVar("Result")

HARDLY_MOVED = 0.05  # mean total variation from the initial strategies below which a learner has hardly moved


@dataclass(frozen=True)
class Contender:
    """A learner as given on the command line, with its settings."""

    label: str
    learner: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The results of the scenario with one learner."""

    contender: Contender
    scenario: Scenario
    record: Record
    summary: Summary
    seconds: float  # per round
    moved: float  # mean total variation from the initial strategies, at most

    @property
    def hardly_moved(self) -> bool:
        """Whether the learner stayed close to its initial strategies."""
        return self.moved < HARDLY_MOVED

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of the run with the learner and the distance moved, without running times."""
        return {"learner": self.contender.label, "moved": self.moved, **self.summary.as_json()}


def contenders(text: str, *, local_code: bool = False) -> list[Contender]:
    """Parse a list of learners such as `hedge,blum-mansour:rows=adahedge,wavelet`.

    User-defined learners, such as `mylearner.py:MyHedge`, require `local_code`.

    >>> contenders("hedge:rate=0.1,wavelet")[0]
    Contender(label='hedge:rate=0.1', learner='hedge', settings={'rate': 0.1})
    """
    chosen = [
        contender(label, local_code=local_code) for label in filter(None, map(str.strip, notation.split(text, ",")))
    ]
    labels = [one.label for one in chosen]
    if not chosen or len(set(labels)) < len(labels):
        raise InputError(f"learners must be a list of distinct learners such as hedge,wavelet, got {text!r}")
    return chosen


def contender(label: str, *, local_code: bool = False) -> Contender:
    """Parse a learner such as `hedge:rate=0.1` or, with `local_code`, `mylearner.py:MyHedge:rate=0.1`."""
    learner, *settings = notation.split(label, ":")
    if settings and learner.endswith(".py"):
        learner, settings = f"{learner}:{settings[0]}", settings[1:]
        if not user_files.is_reference(learner):
            raise InputError(f"a user-defined learner must be given as FILE.py:CLASS, got {learner!r}")
    values: dict[str, Any] = {"learner": learner, "settings": notation.settings(settings, label)}
    if local_code:
        values = user_files.replaced(values, lambda reference: user_files.allow(reference, Path()))
    found = Contender(label, **values)
    if user_files.is_reference(found.learner):
        user_learners.class_of(found.learner)  # raises unless local code is allowed
    else:
        players.make(found.learner, **found.settings)  # raises if the learner or a setting is invalid
    return found


def variant(scenario: Scenario, contender: Contender, against: Contender | None) -> Scenario:
    """Return the scenario with this learner for all players, or for the first player against another learner."""
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
    """Run the scenario with each learner, in parallel, and return the outcomes by increasing CE gap.

    `progress` is called with the total number of rounds played in all runs.
    """
    scenarios = [variant(scenario, contender, against) for contender in chosen]
    simulations = [one.simulation() for one in scenarios]
    for one in scenarios:
        one.simulation().run(1)  # compiles the kernels, so that only rounds are timed
    played = [0] * len(chosen)
    interrupted = Event()

    def run(i: int) -> tuple[Record, float]:
        simulation = simulations[i]
        before = [(0, 0.0)]

        def update(_: Simulation) -> bool:
            played[i] = simulation.rounds
            if simulation.rounds <= scenario.rounds // 2:
                before[0] = simulation.rounds, simulation.seconds
            if progress is not None:
                progress(sum(played))
            return interrupted.is_set()

        record = simulation.run(scenario.rounds, progress=update)
        rounds, seconds = before[0]  # the first half is not timed: its short pieces cost more per round
        return record, (simulation.seconds - seconds) / (simulation.rounds - rounds)

    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        try:
            running = [pool.submit(run, i) for i in range(len(chosen))]
            ran = [_result(one) for one in running]
        except BaseException:  # such as Ctrl-C; the pool waits for the runs, so they are stopped
            interrupted.set()
            pool.shutdown(cancel_futures=True)
            raise
    counted = 1 if against is not None else len(scenario.played_game.players)
    outcomes = [
        Outcome(
            contender=contender,
            scenario=one,
            record=record,
            summary=summarise(record, distance=one.measure.distance, measures=one.measure.measures),
            seconds=seconds,
            moved=max(_moved(record, i) for i in range(counted)),
        )
        for contender, one, (record, seconds) in zip(chosen, scenarios, ran, strict=True)
    ]
    return sorted(outcomes, key=lambda outcome: outcome.summary.gap["ce"])


def _result(running: Future[Result]) -> Result:
    """Return the result of a run; a wait without a time limit would miss a Ctrl-C that another thread receives."""
    while not running.done():
        wait([running], timeout=1)
    return running.result()


def _moved(record: Record, i: int) -> float:
    """Return a bound on the mean total variation between a player's strategies and the first one of its learner.

    The first round is skipped, because the scenario may prescribe its strategy. The trajectory keeps one round in
    several; since then, a strategy has moved by at most the path between, whose exact length is known.
    """
    player, actions = record.learners[i], record.game.sizes[i]
    random = np.random.default_rng(0)
    learner = player.start(actions) if isinstance(player, Learner) else user_learners.running(player, actions, random)
    rounds, strategies = record.trajectory[0], record.trajectory[1][i][..., 1:, :]
    path = float(np.mean(record.measure("path-length")[..., i]))
    if not strategies.size:
        return path / 2
    between = (np.diff(rounds).max() - 1) * path / record.rounds
    return float(np.abs(strategies - np.asarray(learner.play(), dtype=np.float64)).sum(axis=-1).mean() + between) / 2
