"""Runs that go on: checkpoints that outlive a kill, resuming what was stopped, more rounds for what had ended.

While a run with checkpoints is under way, `RUN.partial` stands beside the place of its run folder: the scenario, and
the newest records, each written under another name and renamed. A kill at any moment leaves a whole one. A run that
goes on from a record is, bit for bit, the run that never stopped.

Learners that are tuned to a number of rounds keep the one they started with when a run goes on for longer: their
scenario then says it, as the setting `horizon`.
"""

import json
import re
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from gamesim.atomic import write_folder
from gamesim.errors import InputError
from gamesim.record import Record, load
from gamesim.scenario.model import FILE, EveryonePart, Scenario, read
from gamesim.simulation import Simulation

SETTINGS = "settings.json"
RECORDS = "record-"


@dataclass(frozen=True)
class Unfinished:
    """A run to go on with: its scenario, what it is called, and its newest record, if there is one yet."""

    scenario: Scenario
    name: str
    record: Record | None
    every: float | None

    def simulation(self) -> Simulation:
        """Return the simulation, where it stopped."""
        return self.scenario.simulation() if self.record is None else Simulation.resume(self.record)


class Keeper:
    """Keeps a checkpoint of a running simulation every so many seconds; called many times a second."""

    def __init__(self, target: Path, every: float) -> None:
        self._folder, self._every = partial(target), every
        self._next = perf_counter() + every

    def __call__(self, simulation: Simulation) -> None:
        """Write a checkpoint if it is time."""
        if perf_counter() >= self._next:
            self.keep(simulation.record())
            self._next = perf_counter() + self._every

    def keep(self, record: Record) -> None:
        """Write a checkpoint, and only then drop the ones before."""
        place = self._folder / f"{RECORDS}{record.rounds:016d}"
        if not place.exists():
            record_folder = write_folder(place, record.write_parts, force=False)
            for other in self._folder.iterdir():
                if other.name.lstrip(".").startswith(RECORDS) and other != record_folder:
                    shutil.rmtree(other)


def partial(target: Path) -> Path:
    """Return where the checkpoints of a run are kept."""
    if not target.name:
        raise InputError(f"{target} cannot be a run folder, which has a name of its own: give it as runs/NAME")
    return target.with_name(f"{target.name}.partial")


def begin(target: Path, unfinished: Unfinished, every: float) -> Keeper:
    """Make the place for the checkpoints of a run, with the record that it goes on from, if any."""

    def write(folder: Path) -> None:
        unfinished.scenario.write_parts(folder)
        settings = json.dumps({"name": unfinished.name, "checkpoint": every})
        (folder / SETTINGS).write_text(settings + "\n", encoding="utf-8")
        if unfinished.record is not None:
            kept = folder / f"{RECORDS}{unfinished.record.rounds:016d}"
            kept.mkdir()
            unfinished.record.write_parts(kept)

    if not partial(target).exists():
        write_folder(partial(target), write, force=False)
    return Keeper(target, every)


def end(target: Path) -> None:
    """Drop the checkpoints of a run that has been written, and what a killed process left of writing it."""
    shutil.rmtree(partial(target), ignore_errors=True)
    left = re.compile(re.escape(f".{target.name}") + r"(\.partial)?-(old-)?[a-z0-9_]{8}")
    for other in target.parent.iterdir() if target.parent.is_dir() else ():
        if left.fullmatch(other.name):
            shutil.rmtree(other, ignore_errors=True)


def unfinished(target: Path) -> Unfinished | None:
    """Return the run that a folder holds and that has rounds left, or None if it has ended."""
    kept = _checkpointed(partial(target))
    if _keeps_no_state(target):
        if not _summary(target)["stopped"]:
            return None
        raise InputError(
            f"{target} holds a stopped run with a learner of your own, whose state cannot be kept, so it cannot go on: "
            "run its scenario again with --force"
        )
    whole = _run_folder(target)
    if kept is None and whole is None:
        raise InputError(f"there is no run at {target}: give the folder of a run, as gamesim run prints it")
    if kept is not None and (whole is None or _rounds(whole) < kept.scenario.rounds):
        return kept
    return whole if whole is not None and _rounds(whole) < whole.scenario.rounds else None


def longer(target: Path, scenario: Scenario) -> Unfinished | None:
    """Return the run in a folder to go on with, if it is this scenario's, for fewer rounds; None if it is another."""
    if partial(target).exists():
        raise InputError(
            f"{partial(target)} holds an unfinished run: go on with `gamesim resume {target}`, "
            f"or start anew with --force"
        )
    if scenario.runs_code or _keeps_no_state(target):
        return None
    whole = _run_folder(target)
    if whole is None or whole.record is None:
        return None
    if scenario.rounds == whole.scenario.rounds > whole.record.rounds and _same_run(scenario, whole):
        raise InputError(
            f"{target} holds {whole.record.rounds:,} of these {scenario.rounds:,} rounds: go on with "
            f"`gamesim resume {target}`, or start anew with --force"
        )
    if scenario.rounds <= whole.scenario.rounds or not _same_run(scenario, whole):
        return None
    return Unfinished(_with_horizons(scenario, whole.record), whole.name, whole.record, None)


def _rounds(run: Unfinished) -> int:
    return 0 if run.record is None else run.record.rounds


def _is_run_folder(target: Path) -> bool:
    return (target / "summary.json").is_file() and (target / FILE).is_file()


def _keeps_no_state(target: Path) -> bool:
    """Whether a folder holds a run with a learner of the user's own: a record has its name, and not its state."""
    return _is_run_folder(target) and any(isinstance(player, str) for player in load(target / "record").learners)


def _summary(target: Path) -> dict[str, Any]:
    try:
        summary = json.loads((target / "summary.json").read_text(encoding="utf-8"))
        return {"title": str(summary["title"]), "stopped": bool(summary["stopped"])}
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{target / 'summary.json'} is not a run's summary") from None


def _run_folder(target: Path) -> Unfinished | None:
    if not _is_run_folder(target):
        return None
    return Unfinished(read(target / FILE), _summary(target)["title"], load(target / "record"), None)


def _checkpointed(folder: Path) -> Unfinished | None:
    if not (folder / FILE).is_file():
        return None
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        name, every = str(settings["name"]), float(settings["checkpoint"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{folder / SETTINGS} is not what a run with checkpoints writes") from None
    kept = sorted(folder.glob(f"{RECORDS}*"))
    return Unfinished(read(folder / FILE), name, load(kept[-1]) if kept else None, every)


# Whether two runs are one run.


def _entries(scenario: Scenario) -> list[EveryonePart]:
    if scenario.everyone is not None:
        return [scenario.everyone] * len(scenario.played_game.players)
    return list(scenario.players or [])


def _tuned(entry: EveryonePart, player: Any) -> Any:
    """Return a player's learner, tuned as the one of a record."""
    horizon = getattr(player, "horizon", None)
    return entry.make() if horizon is None else entry.make().with_horizon(horizon)


def _same_run(scenario: Scenario, run: Unfinished) -> bool:
    """Whether a scenario differs from a run in its rounds only (and in what is measured at the end)."""
    record, before = run.record, run.scenario
    if record is None:
        return False
    game, other = scenario.played_game, record.game
    return (
        (scenario.seed, scenario.feedback, scenario.replicas, scenario.measure.checkpoints)
        == (before.seed, before.feedback, before.replicas, before.measure.checkpoints)
        and (type(game), game.players, game.actions) == (type(other), other.players, other.actions)
        and all(np.array_equal(part, other.arrays()[name]) for name, part in game.arrays().items())
        and [(one.start, one.perturb) for one in _entries(scenario)]
        == [(one.start, one.perturb) for one in _entries(before)]
        and tuple(_tuned(one, player) for one, player in zip(_entries(scenario), record.learners, strict=True))
        == record.learners
    )


def _with_horizons(scenario: Scenario, record: Record) -> Scenario:
    """Return the scenario with the horizons that the record's learners were tuned to, so that it repeats the run."""

    def pinned(entry: EveryonePart, player: Any) -> EveryonePart:
        mine = entry.make()
        if any(field.name == "horizon" for field in fields(mine)) and getattr(mine, "horizon", 0) is None:
            return entry.model_copy(update={"settings": {**entry.settings, "horizon": player.horizon}})
        return entry

    if scenario.everyone is not None:
        return scenario.model_copy(update={"everyone": pinned(scenario.everyone, record.learners[0])})
    entries = [pinned(one, player) for one, player in zip(scenario.players or [], record.learners, strict=True)]
    return scenario.model_copy(update={"players": entries})
