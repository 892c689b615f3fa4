"""Validate the folder that a command writes."""

import os
from pathlib import Path

from gamesim.errors import InputError


def refuse_target(target: Path, *, force: bool) -> None:
    """Raise, before anything is simulated, if a run folder cannot be written to `target`."""
    from gamesim.atomic import finish_killed_write
    from gamesim.report.run_folder import SUMMARY_FILE

    finish_killed_write(target)
    if target.exists() or target.is_symlink():
        if not force:
            raise InputError(f"{target} already exists; overwrite it with --force, or choose another folder with --out")
        if not (target.name and target.is_dir() and ((target / SUMMARY_FILE).is_file() or not any(target.iterdir()))):
            raise InputError(f"{target} is not a run folder and is not overwritten; choose another folder with --out")
    above = next(folder for folder in target.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError(f"{target} cannot be written: {above} is not a writable folder")
