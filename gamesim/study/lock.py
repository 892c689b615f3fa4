"""The lock of a store: only one sweep at a time writes into it."""

import sqlite3
from pathlib import Path

from gamesim.errors import InputError


def take_lock(path: Path) -> sqlite3.Connection:
    """Take the lock of a store, which the system gives back however the process ends.

    It is SQLite's own, on an empty file beside the store: the same on every system, and readers of the store go free.
    """
    beside = path.with_name(f"{path.name}.lock")
    try:
        lock = sqlite3.connect(beside, isolation_level=None, timeout=0)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except BaseException:
            lock.close()
            raise
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise InputError(
                f"another sweep is working on {path}: wait until it has ended, or choose another place with --out"
            ) from None
        raise InputError(f"{beside}: {error}: choose another place with --out") from None
    return lock
