"""The same scenario with one learner after another: which of them comes closest to equilibrium, and at what cost."""

import json
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gamesim import players, user_learners
from gamesim.errors import InputError
from gamesim.formatting import two_digits
from gamesim.learner import Learner
from gamesim.record import Record
from gamesim.report import summary as report
from gamesim.scenario.model import EveryonePart, Scenario
from gamesim.simulation import Simulation

if TYPE_CHECKING:
    from rich.console import Console


STILL = 0.05  # who stays this near to its first strategies, in mean total variation over the run, has hardly moved


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
    summary: report.Summary
    seconds: float  # that a round takes
    moved: float  # how far its strategies were, on average, from where the learner began

    @property
    def still(self) -> bool:
        """Whether the learner hardly left the strategies that it began with."""
        return self.moved < STILL

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
            learner = user_learners.load(learner, Path()) if local_code else learner
        given = dict(_setting(label, setting) for setting in settings)
        if own:
            user_learners.loaded(learner)  # refuses what nobody has allowed
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
    given: Sequence[EveryonePart | None] = scenario.players or [scenario.everyone] * len(scenario.played_game.players)
    entries: list[dict[str, Any]] = []
    for i, entry in enumerate(given):
        chosen = against if against is not None and i > 0 else contender
        kept = {} if entry is None else entry.model_dump(exclude_defaults=True)
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
            summary=report.summarise(record, distance=one.measure.distance),
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


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the object that `gamesim compare --json` prints: one entry a learner, in order of rank.

    `hardly_moved` names those whose gap says nothing about learning.
    """
    return {
        "learners": [outcome.as_json() for outcome in outcomes],
        "hardly_moved": [outcome.contender.label for outcome in outcomes if outcome.still],
    }


def write(outcomes: Sequence[Outcome], title: str, folder: Path) -> None:
    """Write the comparison into an existing folder: numbers, curves, a report, and every scenario as it was run."""
    from gamesim import figures
    from gamesim.report.html import comparison_html

    text = json.dumps(as_json(outcomes), allow_nan=False, indent=1)
    (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    drawn: list[Path] = []
    records = {("(hardly moved) " if one.still else "") + one.contender.label: one.record for one in outcomes}
    for kind in report.SETS:
        drawn += figures.write(figures.compare(records, kind), folder / f"{kind}-gaps")
    summaries = {outcome.contender.label: outcome.summary for outcome in outcomes}
    page = comparison_html(title, summaries, drawn, _note(outcomes))
    (folder / "report.html").write_text(page, encoding="utf-8")
    for rank, outcome in enumerate(outcomes, start=1):
        place = folder / f"{rank}-{outcome.contender.learner.rpartition(':')[2]}"
        place.mkdir()
        outcome.scenario.write_parts(place)


def show(outcomes: Sequence[Outcome], against: Contender | None, console: "Console") -> None:
    """Print one ranked table."""
    columns = ("CE gap", "CCE gap", "to CE", "external", "internal", "swap", "µs")
    rows = []
    for outcome in outcomes:
        summary = outcome.summary
        counted = summary.players[:1] if against is not None else summary.players
        worst = [max(one.regret[kind] for one in counted) / summary.rounds for kind in report.KINDS]
        numbers = [summary.gap["ce"], summary.gap["cce"], summary.distance["ce"], *worst]
        cost = 1e6 * outcome.seconds
        label = outcome.contender.label.replace(":", ": ")  # a long one is wrapped between its settings
        rows.append([label, *map(two_digits, numbers), two_digits(cost)])
    console.print(report.in_a_line(outcomes[0].summary), style="dim")
    console.print()
    report.print_table([("learner", "left"), *((name, "right") for name in columns)], rows, console)
    if note := _note(outcomes):
        console.print(note)
    whose = f"the first player's, against {against.label}" if against is not None else "the largest over the players"
    console.print(
        f"Ranked by the CE gap. Regrets are a round, in payoff units: {whose}. "
        "To CE is the distance; µs are microseconds of a processor a round, for all players together.",
        style="dim",
    )


def _note(outcomes: Sequence[Outcome]) -> str:
    """Name the learners that hardly moved, so that nobody takes their rank for learning."""
    still = [outcome.contender.label for outcome in outcomes if outcome.still]
    if not still:
        return ""
    who = " and ".join(filter(None, [", ".join(still[:-1]), still[-1]]))
    began = "it began" if len(still) == 1 else "they began"
    return f"{who} hardly left the strategies that {began} with: a small gap there says nothing about learning."
