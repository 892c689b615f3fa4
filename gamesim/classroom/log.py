"""The log of a room: events in a SQLite file, appended and never changed.

An event is on disk when `append` returns, so that whatever was acknowledged survives a kill or a power failure.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

from gamesim.errors import InputError

Event: TypeAlias = dict[str, Any]  # with its kind under "event"

FORMAT = 1
APPLICATION = 0x67616D65  # the id by which the file is recognised


class Log:
    """Append events to a file, and read them back in order.

    Opening a file takes a lock: a room is open in one server at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        new = not path.exists()
        with ExitStack() as undo:
            try:
                self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=1)
                undo.callback(self._file.close)
                self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._file.execute("PRAGMA journal_mode = WAL")
                self._file.execute("PRAGMA synchronous = FULL")
                self._file.execute("BEGIN EXCLUSIVE")
                if new:
                    self._file.execute(f"PRAGMA application_id = {APPLICATION}")
                    self._file.execute(f"PRAGMA user_version = {FORMAT}")
                    self._file.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT")
                self._file.execute("COMMIT")
                if self._number("application_id") != APPLICATION or self._number("user_version") != FORMAT:
                    raise InputError(f"{path} is not the log of a room; choose another file")
            except sqlite3.OperationalError as error:
                what = "it is open in another server" if "locked" in str(error) else str(error)
                raise InputError(f"{path} cannot be opened: {what}") from None
            except sqlite3.DatabaseError:
                raise InputError(f"{path} is not the log of a room; choose another file") from None
            undo.pop_all()

    def _number(self, pragma: str) -> int:
        return int(self._file.execute(f"PRAGMA {pragma}").fetchone()[0])

    def append(self, *events: Event) -> None:
        """Write events to disk, all or none."""
        texts = [(json.dumps(one, ensure_ascii=False, allow_nan=False, separators=(",", ":")),) for one in events]
        self._file.execute("BEGIN")
        try:
            self._file.executemany("INSERT INTO events (event) VALUES (?)", texts)
            self._file.execute("COMMIT")
        except BaseException:
            self._file.execute("ROLLBACK")
            raise

    def __iter__(self) -> Iterator[Event]:
        for number, text in self._file.execute("SELECT id, event FROM events ORDER BY id").fetchall():
            try:
                event = json.loads(text)
            except ValueError:
                event = None
            if not isinstance(event, dict) or not isinstance(event.get("event"), str):
                raise InputError(f"{self.path}: event {number} is damaged")
            yield event

    def close(self) -> None:
        """Close the file."""
        self._file.close()
