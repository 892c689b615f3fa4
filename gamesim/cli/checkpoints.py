"""Runs that go on: checkpoints that outlive a kill, resuming what was stopped, more rounds for what had ended.

While a run with checkpoints is under way, `RUN.partial` stands beside the place of its run folder: the scenario, and
the newest records, each written under another name and renamed. A kill at any moment leaves a whole one. A run that
goes on from a record is, bit for bit, the run that never stopped.
"""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from gamesim.atomic import write_folder
from gamesim.cli.same_run import differs_in_rounds_only, with_horizons
from gamesim.errors import InputError
from gamesim.record import Record, load
from gamesim.report.run_folder import RECORD_FOLDER, SUMMARY_FILE
from gamesim.scenario import Scenario, read
from gamesim.scenario.model import SCENARIO_FILE
from gamesim.simulation import Simulation

SETTINGS_FILE = "settings.json"  # what a run with checkpoints is called, and how often it keeps one
CHECKPOINT_PREFIX = "record-"  # of a record's folder, before the number of its rounds


@dataclass(frozen=True)
class UnfinishedRun:
    """A run to go on with: its scenario, what it is called, and its newest record, if there is one yet.

    `interval` is how many seconds lie between its checkpoints, if it keeps any.
    """

    scenario: Scenario
    name: str
    record: Record | None = None
    interval: float | None = None

    @property
    def rounds(self) -> int:
        """How many rounds have been played."""
        return 0 if self.record is None else self.record.rounds

    def simulation(self) -> Simulation:
        """Return the simulation, where it stopped."""
        return self.scenario.simulation() if self.record is None else Simulation.resume(self.record)


class CheckpointWriter:
    """Keeps a checkpoint of a running simulation every so many seconds; called many times a second."""

    def __init__(self, target: Path, interval: float) -> None:
        self._folder, self._interval = partial_folder(target), interval
        self._next = perf_counter() + interval

    def __call__(self, simulation: Simulation) -> None:
        """Write a checkpoint if it is time."""
        if perf_counter() >= self._next:
            self.write(simulation.record())
            self._next = perf_counter() + self._interval

    def write(self, record: Record) -> None:
        """Write a checkpoint, and only then drop the ones before."""
        place = self._folder / f"{CHECKPOINT_PREFIX}{record.rounds:016d}"
        if not place.exists():
            record_folder = write_folder(place, record.write_parts, force=False)
            for other in self._folder.iterdir():
                if other.name.lstrip(".").startswith(CHECKPOINT_PREFIX) and other != record_folder:
                    shutil.rmtree(other)


def partial_folder(target: Path) -> Path:
    """Return where the checkpoints of a run are kept."""
    if not target.name:
        raise InputError(f"{target} cannot be a run folder, which has a name of its own: give it as runs/NAME")
    return target.with_name(f"{target.name}.partial")


def start_checkpoints(target: Path, run: UnfinishedRun, interval: float) -> CheckpointWriter:
    """Make the place for the checkpoints of a run, with the record that it goes on from, if any."""

    def write(folder: Path) -> None:
        run.scenario.write_parts(folder)
        settings = json.dumps({"name": run.name, "checkpoint": interval})
        (folder / SETTINGS_FILE).write_text(settings + "\n", encoding="utf-8")
        if run.record is not None:
            kept = folder / f"{CHECKPOINT_PREFIX}{run.rounds:016d}"
            kept.mkdir()
            run.record.write_parts(kept)

    if not partial_folder(target).exists():
        write_folder(partial_folder(target), write, force=False)
    return CheckpointWriter(target, interval)


def remove_checkpoints(target: Path) -> None:
    """Drop the checkpoints of a run that has been written, and what a killed process left of writing it."""
    shutil.rmtree(partial_folder(target), ignore_errors=True)
    left = re.compile(re.escape(f".{target.name}") + r"(\.partial)?-(old-)?[a-z0-9_]{8}")
    for other in target.parent.iterdir() if target.parent.is_dir() else ():
        if left.fullmatch(other.name):
            shutil.rmtree(other, ignore_errors=True)


def unfinished_run(target: Path) -> UnfinishedRun | None:
    """Return the run that a folder holds and that has rounds left, or None if it has ended."""
    kept = _kept_run(partial_folder(target))
    if _keeps_no_state(target):
        if not _title_and_stopped(target)[1]:
            return None
        raise InputError(
            f"{target} holds a stopped run with a learner of your own, whose state cannot be kept, so it cannot go on: "
            "run its scenario again with --force"
        )
    whole = _written_run(target)
    if kept is None and whole is None:
        raise InputError(f"there is no run at {target}: give the folder of a run, as gamesim run prints it")
    if kept is not None and (whole is None or whole.rounds < kept.scenario.rounds):
        return kept
    return whole if whole is not None and whole.rounds < whole.scenario.rounds else None


def shorter_run(target: Path, scenario: Scenario) -> UnfinishedRun | None:
    """Return the run in a folder to go on with, if it is this scenario's, for fewer rounds; None if it is another."""
    if partial_folder(target).exists():
        raise InputError(
            f"{partial_folder(target)} holds an unfinished run: go on with `gamesim resume {target}`, "
            f"or start anew with --force"
        )
    if scenario.runs_code or _keeps_no_state(target):
        return None
    whole = _written_run(target)
    if whole is None or whole.record is None:
        return None
    same = differs_in_rounds_only(scenario, whole.scenario, whole.record)
    if same and scenario.rounds == whole.scenario.rounds > whole.rounds:
        raise InputError(
            f"{target} holds {whole.rounds:,} of these {scenario.rounds:,} rounds: go on with "
            f"`gamesim resume {target}`, or start anew with --force"
        )
    if not same or scenario.rounds <= whole.scenario.rounds:
        return None
    return UnfinishedRun(with_horizons(scenario, whole.record), whole.name, whole.record)


def _is_run_folder(target: Path) -> bool:
    return (target / SUMMARY_FILE).is_file() and (target / SCENARIO_FILE).is_file()


def _keeps_no_state(target: Path) -> bool:
    """Whether a folder holds a run with a learner of the user's own: a record has its name, and not its state."""
    return _is_run_folder(target) and any(isinstance(player, str) for player in load(target / RECORD_FOLDER).learners)


def _title_and_stopped(target: Path) -> tuple[str, bool]:
    """Return what the run in a run folder is called, and whether it was stopped."""
    try:
        summary = json.loads((target / SUMMARY_FILE).read_text(encoding="utf-8"))
        return str(summary["title"]), bool(summary["stopped"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{target / SUMMARY_FILE} is not a run's summary") from None


def _written_run(target: Path) -> UnfinishedRun | None:
    """Return the run that a run folder holds."""
    if not _is_run_folder(target):
        return None
    title, _ = _title_and_stopped(target)
    return UnfinishedRun(read(target / SCENARIO_FILE), title, load(target / RECORD_FOLDER))


def _kept_run(folder: Path) -> UnfinishedRun | None:
    """Return the run that a folder of checkpoints keeps."""
    if not (folder / SCENARIO_FILE).is_file():
        return None
    try:
        settings = json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8"))
        name, interval = str(settings["name"]), float(settings["checkpoint"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{folder / SETTINGS_FILE} is not what a run with checkpoints writes") from None
    kept = sorted(folder.glob(f"{CHECKPOINT_PREFIX}*"))
    return UnfinishedRun(read(folder / SCENARIO_FILE), name, load(kept[-1]) if kept else None, interval)
