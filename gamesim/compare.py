"""The same scenario with one learner after another: which of them comes closest to equilibrium, and at what cost."""

import json
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gamesim import own_learner, players, report
from gamesim.errors import InputError
from gamesim.record import Record
from gamesim.scenario import EveryonePart, Scenario

if TYPE_CHECKING:
    from rich.console import Console


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
    seconds: float  # of simulation

    def as_json(self) -> dict[str, Any]:
        """The run's JSON object, with the learner and the microseconds a round."""
        return {
            "learner": self.contender.label,
            "microseconds": 1e6 * self.seconds / self.record.rounds,
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
            learner = own_learner.load(learner, Path()) if local_code else learner
        given = dict(_setting(label, setting) for setting in settings)
        if own:
            own_learner.loaded(learner)  # refuses what nobody has allowed
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
    return Scenario.of(
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
        one.simulation().run(1)  # compiles, so that the clock below sees rounds only
    played = [0] * len(chosen)

    def run(i: int) -> tuple[Record, float]:
        def tell(simulation: Any) -> None:
            played[i] = simulation.rounds
            if progress is not None:
                progress(sum(played))

        began = perf_counter()
        record = simulations[i].run(scenario.rounds, progress=tell)
        return record, perf_counter() - began

    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        ran = list(pool.map(run, range(len(chosen))))
    outcomes = [
        Outcome(contender, one, record, report.summarise(record, distance=one.measure.distance), seconds)
        for contender, one, (record, seconds) in zip(chosen, scenarios, ran, strict=True)
    ]
    return sorted(outcomes, key=lambda outcome: outcome.summary.gap["ce"])


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the object that `gamesim compare --json` prints: one entry a learner, in order of rank."""
    return {"learners": [outcome.as_json() for outcome in outcomes]}


def write(outcomes: Sequence[Outcome], title: str, folder: Path) -> None:
    """Write the comparison into an existing folder: numbers, curves, a report, and every scenario as it was run."""
    from gamesim import figures
    from gamesim.page import comparison_html

    text = json.dumps(as_json(outcomes), allow_nan=False, indent=1)
    (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    drawn: list[Path] = []
    for kind in report.SETS:
        figure = figures.compare({outcome.contender.label: outcome.record for outcome in outcomes}, kind)
        drawn += figures.write(figure, folder / f"{kind}-gaps")
    page = comparison_html(title, {outcome.contender.label: outcome.summary for outcome in outcomes}, drawn)
    (folder / "report.html").write_text(page, encoding="utf-8")
    for rank, outcome in enumerate(outcomes, start=1):
        place = folder / f"{rank}-{outcome.contender.learner.rpartition(':')[2]}"
        place.mkdir()
        outcome.scenario.write_parts(place)


def show(outcomes: Sequence[Outcome], against: Contender | None, console: "Console") -> None:
    """Print one ranked table."""
    columns = ("CE gap", "CCE gap", "to CE", "external", "internal", "swap", "µs")
    printed = report.grid(("learner", "left"), *((name, "right") for name in columns))
    printed.padding = (0, 1, 0, 0)
    for column in printed.columns[1:]:
        column.min_width, column.no_wrap = 7, True  # a long name is folded, a number never
    for outcome in outcomes:
        summary = outcome.summary
        counted = summary.players[:1] if against is not None else summary.players
        worst = [max(one.regret[kind] for one in counted) / summary.rounds for kind in report.KINDS]
        numbers = [summary.gap["ce"], summary.gap["cce"], summary.distance["ce"], *worst]
        cost = 1e6 * outcome.seconds / summary.rounds
        printed.add_row(outcome.contender.label, *map(_short, numbers), _short(cost))
    console.print(printed)
    whose = f"the first player's, against {against.label}" if against is not None else "the largest over the players"
    console.print(
        f"Ranked by the CE gap. Regrets are a round, in payoff units: {whose}. "
        "To CE is the distance; µs are microseconds a round, for all players together.",
        style="dim",
    )


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"
