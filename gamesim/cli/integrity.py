"""Verify the checksums of stored results: of a run, a record, the checkpoints of a run, or a study."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from gamesim import scenario, sealed
from gamesim.cli.checkpoints import CHECKPOINT_PREFIX, SETTINGS_FILE, partial_folder
from gamesim.cli.exit_codes import FAILED
from gamesim.errors import InputError
from gamesim.record import load
from gamesim.record_files import MANIFEST_FILE
from gamesim.report.run_folder import FIGURES_FOLDER, RECORD_FOLDER, REPORT_FILE, SUMMARY_FILE
from gamesim.study.results import read_results
from gamesim.study.store import Store

STORE_SUFFIXES = (".sqlite", ".db")


@dataclass
class Finding:
    """What was verified, in one line, and a message for each damage."""

    verified: str = ""
    damages: list[str] = field(default_factory=list)


def results_at(name: str) -> Path | None:
    """Return the folder or store to verify, or None if the name stands for a scenario."""
    path = Path(name)
    if name in scenario.shipped():
        return None
    if path.name and not path.exists() and partial_folder(path).is_dir():
        return partial_folder(path)
    return path if path.is_dir() or path.suffix in STORE_SUFFIXES else None


def check_results(path: Path, console: Console) -> int:
    """Print what was verified and all damages, and return the exit code."""
    findings = list(_findings(path))
    if not findings:
        raise InputError(
            f"{path} holds no run, record, checkpoints or study; to validate a scenario, give the path of its file"
        )
    for finding in findings:
        if finding.verified:
            console.print(finding.verified, soft_wrap=True)
    unprotected = [name for name in (FIGURES_FOLDER, REPORT_FILE) if (path / name).exists()]
    if unprotected:
        is_run = (path / RECORD_FOLDER).is_dir()  # a comparison has no record to draw from
        again = f"; `gamesim figures {path}` draws them again" if is_run else ""
        console.print(f"not covered: {' and '.join(unprotected)}{again}", style="dim", soft_wrap=True)
    damages = [damage for finding in findings for damage in finding.damages]
    for damage in damages:
        console.print(damage, soft_wrap=True)
    return FAILED if damages else 0


def _findings(path: Path) -> Iterator[Finding]:
    stores = [path] if not path.is_dir() else [one for one in sorted(path.iterdir()) if one.suffix in STORE_SUFFIXES]
    for store in stores:
        yield _store(store)
    if not path.is_dir():
        return
    records = [path / RECORD_FOLDER, *sorted(path.glob(f"{CHECKPOINT_PREFIX}*"))]
    if (path / SUMMARY_FILE).exists() or (path / RECORD_FOLDER).is_dir():
        yield _document(path / SUMMARY_FILE)
    elif (path / SETTINGS_FILE).exists() or records[1:] or path.suffix == ".partial":
        yield _document(path / SETTINGS_FILE)
    for record in (path, *records):
        if (record / MANIFEST_FILE).exists() or (record != path and record.is_dir()):
            yield _record(record)


def _document(path: Path) -> Finding:
    """Verify a document and the files that it lists."""
    try:
        document = sealed.examine(path)
    except InputError as error:
        return Finding(damages=[str(error)])
    if document.checksums is None:
        return Finding(f"{path} has no checksums: it was written by an earlier version of gamesim")
    damages, listed = list(document.damages()), len(document.checksums)
    intact = f"{listed - len(damages)} of its {listed} files" if damages else f"its {listed} files"
    return Finding(f"{path} and {intact} are intact", damages)


def _record(folder: Path) -> Finding:
    """Verify a record, and load it if it is intact."""
    finding = _document(folder / MANIFEST_FILE)
    if not finding.damages:
        try:
            load(folder)
        except InputError as error:
            finding.damages.append(str(error))
    return finding


def _store(path: Path) -> Finding:
    """Verify the store of a study, and read its results if it is intact."""
    try:
        with Store(path, verify=False) as store:
            damages = list(store.damages())
            if damages:
                return Finding(damages=damages)
            count = len(read_results(store).rows)
            if store.has_checksums:
                return Finding(f"{path} and its {count:,} points are intact")
            return Finding(
                f"{path} has no checksums: it was written by an earlier version of gamesim; its {count:,} points can "
                "be read, and the next sweep adds checksums"
            )
    except InputError as error:
        return Finding(damages=[str(error)])
