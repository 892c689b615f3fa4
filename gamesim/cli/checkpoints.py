"""Write checkpoints of a run, resume a stopped or killed run, and extend a finished run.

While a run with checkpoints is in progress, the folder `RUN.partial` next to its run folder holds the scenario and the
latest record. Each record is written under a temporary name and then renamed, so a complete one survives a kill at any
moment. The folder is locked while the run is in progress. A resumed run is bit-for-bit identical to an uninterrupted
one.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from gamesim import sealed
from gamesim.atomic import finish_killed_write, remove_folder, write_folder
from gamesim.cli.same_run import differs_in_rounds_only, same_scenario, with_horizons
from gamesim.errors import InputError
from gamesim.lock import try_lock
from gamesim.record import Record, load
from gamesim.report.run_folder import RECORD_FOLDER, SUMMARY_FILE
from gamesim.scenario import Scenario, read
from gamesim.scenario.model import SCENARIO_FILE
from gamesim.simulation import Simulation

SETTINGS_FILE = "settings.json"  # the title of a run with checkpoints and its checkpoint interval
CHECKPOINT_PREFIX = "record-"  # of a record folder; the number of rounds follows
LOCK_FILE = "lock"  # held by the process that runs the simulation


@dataclass(frozen=True)
class UnfinishedRun:
    """A run with rounds left: its scenario, its title and its latest record, if any.

    `interval` is the time between checkpoints in seconds, or None without checkpoints.
    """

    scenario: Scenario
    name: str
    record: Record | None = None
    interval: float | None = None

    @property
    def rounds(self) -> int:
        """The number of rounds played."""
        return 0 if self.record is None else self.record.rounds

    def simulation(self) -> Simulation:
        """Return the simulation in the state in which it stopped."""
        return self.scenario.simulation() if self.record is None else self.scenario.resumed(self.record)


class CheckpointWriter:
    """Writes a checkpoint every `interval` seconds; called many times per second."""

    def __init__(self, target: Path, interval: float) -> None:
        self._folder, self._interval = partial_folder(target), interval
        self._next = perf_counter() + interval

    def __call__(self, simulation: Simulation) -> None:
        """Write a checkpoint if one is due."""
        if perf_counter() >= self._next:
            self.write(simulation.record())
            self._next = perf_counter() + self._interval

    def write(self, record: Record) -> None:
        """Write a checkpoint, then remove the earlier ones."""
        place = self._folder / f"{CHECKPOINT_PREFIX}{record.rounds:016d}"
        if not place.exists():
            record_folder = write_folder(place, record.write_parts, force=False)
            for other in self._folder.iterdir():
                if other.name.lstrip(".").startswith(CHECKPOINT_PREFIX) and other != record_folder:
                    shutil.rmtree(other)


def partial_folder(target: Path) -> Path:
    """Return the folder of a run's checkpoints."""
    if not target.name:
        raise InputError(f"{target} cannot be a run folder; use a folder with a name, such as runs/NAME")
    return target.with_name(f"{target.name}.partial")


@contextmanager
def checkpoints(target: Path, run: UnfinishedRun, interval: float | None) -> Iterator[CheckpointWriter | None]:
    """Lock the checkpoint folder of a run, creating it if necessary; without an interval, the run has none."""
    if interval is None:
        yield None
        return

    def write(folder: Path) -> None:
        run.scenario.write_parts(folder)
        files = [path.name for path in folder.iterdir()]
        sealed.write(folder / SETTINGS_FILE, {"name": run.name, "checkpoint": interval}, files)
        if run.record is not None:
            kept = folder / f"{CHECKPOINT_PREFIX}{run.rounds:016d}"
            kept.mkdir()
            run.record.write_parts(kept)

    if not partial_folder(target).exists():
        write_folder(partial_folder(target), write, force=False)
    with _lock(target):
        yield CheckpointWriter(target, interval)


def remove_checkpoints(target: Path) -> None:
    """Remove the checkpoints of a finished run; raise if the run is still in progress."""
    refuse_running(target)
    remove_folder(partial_folder(target))


def refuse_running(target: Path) -> None:
    """Raise if a process is running this run with checkpoints; otherwise tidy up after processes that were killed."""
    finish_killed_write(target)
    finish_killed_write(partial_folder(target))
    if partial_folder(target).is_dir():
        with _lock(target):
            pass


def _lock(target: Path) -> AbstractContextManager[object]:
    """Lock the checkpoint folder of a run."""
    try:
        lock = try_lock(partial_folder(target) / LOCK_FILE)
    except sqlite3.DatabaseError:  # a file system without locks, or a damaged lock
        return nullcontext()
    if lock is None:
        raise InputError(f"another process is running {target}; wait until it ends, or choose another folder")
    return closing(lock)


def unfinished_run(target: Path, *, local_code: bool = False) -> UnfinishedRun | None:
    """Return the unfinished run in a folder, or None if the run is complete."""
    refuse_running(target)
    kept = _kept_run(partial_folder(target), local_code=local_code)
    if _keeps_no_state(target):
        if kept is not None:  # a run that replaces the one in the folder
            return kept
        if not _title_and_stopped(target)[1]:
            return None
        raise InputError(
            f"{target} cannot be resumed because the state of a user-defined learner is not saved; "
            "run its scenario again with --force"
        )
    if kept is None and _is_run_folder(target) and not _title_and_stopped(target)[1]:
        return None
    whole = _written_run(target, local_code=local_code)
    if kept is None and whole is None:
        if (target / RECORD_FOLDER).is_dir():
            sealed.read(target / SUMMARY_FILE)  # raises for the file that is missing
        raise InputError(f"{target} is not a run folder; `gamesim run` prints the path of the folder it writes")
    if kept is not None:
        # A run folder with another scenario is an earlier run that this one extends or replaces.
        if whole is None or whole.rounds < kept.rounds or not same_scenario(whole.scenario, kept.scenario):
            return kept
        whole = replace(whole, interval=kept.interval)
    return whole if _title_and_stopped(target)[1] else None


def shorter_run(target: Path, scenario: Scenario) -> UnfinishedRun | None:
    """Return the run in a folder if it is the same scenario with fewer rounds, else None."""
    refuse_running(target)
    if partial_folder(target).exists():
        raise InputError(
            f"{partial_folder(target)} holds an unfinished run; continue it with `gamesim resume {target}`, "
            f"or start over with --force"
        )
    if not scenario.can_resume or _keeps_no_state(target):
        return None
    if _is_run_folder(target) and _needs_code(target) and not scenario.references:  # another run
        return None
    whole = _written_run(target, local_code=bool(scenario.references))
    if whole is None or whole.record is None:
        return None
    same = differs_in_rounds_only(scenario, whole.scenario, whole.record)
    if same and scenario.rounds == whole.scenario.rounds > whole.rounds:
        raise InputError(
            f"{target} holds the first {whole.rounds:,} of {scenario.rounds:,} rounds; continue with "
            f"`gamesim resume {target}`, or start over with --force"
        )
    if not same or scenario.rounds <= whole.scenario.rounds:
        return None
    return UnfinishedRun(with_horizons(scenario, whole.record), whole.name, whole.record)


def _is_run_folder(target: Path) -> bool:
    return (target / SUMMARY_FILE).is_file() and (target / SCENARIO_FILE).is_file()


def _keeps_no_state(target: Path) -> bool:
    """Whether a folder holds a run with a user-defined learner, whose state a record does not contain."""
    return _is_run_folder(target) and bool(load(target / RECORD_FOLDER).players_without_state)


def _needs_code(target: Path) -> bool:
    """Whether a run folder holds Python files, which the scenario of the run names."""
    return any(target.glob("*.py"))


def _title_and_stopped(target: Path) -> tuple[str, bool]:
    """Return the title of the run in a run folder, and whether it was stopped."""
    summary = sealed.read(target / SUMMARY_FILE)
    try:
        return str(summary["title"]), bool(summary["stopped"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{target / SUMMARY_FILE} is not the summary of a run") from None


def _written_run(target: Path, *, local_code: bool) -> UnfinishedRun | None:
    """Return the run in a run folder."""
    if not _is_run_folder(target):
        return None
    title, _ = _title_and_stopped(target)
    return UnfinishedRun(read(target / SCENARIO_FILE, local_code=local_code), title, load(target / RECORD_FOLDER))


def _kept_run(folder: Path, *, local_code: bool) -> UnfinishedRun | None:
    """Return the run in a checkpoint folder."""
    if not folder.is_dir():
        return None
    settings = sealed.read(folder / SETTINGS_FILE)
    try:
        name, interval = str(settings["name"]), float(settings["checkpoint"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{folder / SETTINGS_FILE} is not the settings file of a run with checkpoints") from None
    kept = sorted(folder.glob(f"{CHECKPOINT_PREFIX}*"))
    scenario = read(folder / SCENARIO_FILE, local_code=local_code)
    return UnfinishedRun(scenario, name, load(kept[-1]) if kept else None, interval)
