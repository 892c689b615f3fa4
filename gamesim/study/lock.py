"""The lock of a store, which only one sweep at a time may write to."""

import sqlite3
from pathlib import Path

from gamesim.errors import InputError
from gamesim.lock import try_lock


def take_lock(path: Path) -> sqlite3.Connection:
    """Lock a store through an empty file beside it, so that readers are not blocked."""
    beside = path.with_name(f"{path.name}.lock")
    try:
        lock = try_lock(beside)
    except sqlite3.DatabaseError as error:
        raise InputError(f"cannot lock {beside}: {error}; choose another folder with --out") from None
    if lock is None:
        raise InputError(f"another sweep is using {path}; wait until it ends, or choose another folder with --out")
    return lock
