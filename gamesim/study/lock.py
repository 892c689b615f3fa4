"""The lock of a store, which only one sweep at a time may write to."""

import sqlite3
from pathlib import Path

from gamesim.errors import InputError


def take_lock(path: Path) -> sqlite3.Connection:
    """Lock a store; the operating system releases the lock when the process ends, even if it is killed.

    This is an SQLite lock on an empty file beside the store. It works on every platform and does not block readers.
    """
    beside = path.with_name(f"{path.name}.lock")
    try:
        lock = sqlite3.connect(beside, isolation_level=None, timeout=0)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except BaseException:
            lock.close()
            raise
    except sqlite3.DatabaseError as error:
        if "locked" in str(error):
            raise InputError(
                f"another sweep is using {path}; wait until it ends, or choose another folder with --out"
            ) from None
        raise InputError(f"cannot lock {beside}: {error}; choose another folder with --out") from None
    return lock
