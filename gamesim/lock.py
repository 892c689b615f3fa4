"""Locks that the operating system releases when their process ends, even if it is killed."""

import sqlite3
from pathlib import Path


def try_lock(path: Path) -> sqlite3.Connection | None:
    """Lock a file, which is created if missing; return the lock, or None if another process or thread holds it.

    This is an SQLite lock on an empty file, which works on every platform. Closing the connection releases it. Raises
    sqlite3.OperationalError if the file cannot be opened.
    """
    lock = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        lock.execute("PRAGMA journal_mode = MEMORY")  # otherwise there would be a second file
        lock.execute("BEGIN EXCLUSIVE")
    except BaseException as error:
        lock.close()
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return None
        raise
    return lock
