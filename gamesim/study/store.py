"""The store of a study: one SQLite file with one row per point, which survives kills and full disks.

A point is a text that describes what to run, a seed, and its labels in tables; its results are measures by name. Its
key is the hash of everything that determines the run, so a finished point is recognised even if the study changes. Only
the sweep's coordinator writes, with one transaction per batch of results; readers may open the store at any time. A
second sweep cannot open the store while the first is running. A damaged store is refused when it is opened, see
`gamesim.study.store_format`.
"""

import json
import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from gamesim.errors import InputError
from gamesim.study import payoffs, store_format
from gamesim.study.canonical import canonical
from gamesim.study.description import Description
from gamesim.study.jobs import Job, Measures, Outcome
from gamesim.study.lock import take_lock
from gamesim.study.write_ahead_log import lost_frames

FILE = "study.sqlite"
POINTS_AT_ONCE = 1000  # read in one query
COLUMNS = "key, labels, seed, status, measures, error, seconds"
REMEDY = "restore it from a copy, or delete it and run the study again"

# What SQLite reports about the disk or another process, not about the content of the file.
FROM_OUTSIDE = (
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
)  # fmt: skip


class Point(Protocol):
    """A point to be stored, before it has run."""

    @property
    def key(self) -> str:
        """The hash of everything that determines the run."""

    @property
    def labels(self) -> Mapping[str, Any]:
        """The choice on each axis."""

    @property
    def seed(self) -> int:
        """The seed."""

    @property
    def text(self) -> str:
        """What to run, without the seed, as JSON."""


@dataclass(frozen=True)
class Row:
    """A point in the store."""

    key: str
    labels: dict[str, Any]
    seed: int
    status: str
    measures: Measures
    error: str | None
    seconds: float | None


class Store:
    """The open store of a study; writing requires the lock, and only `gamesim check` opens damaged stores."""

    def __init__(self, path: Path, *, write: bool = False, verify: bool = True) -> None:
        self.path = path
        self._lock: sqlite3.Connection | None = None
        if write:
            self._prepare_folder()
            self._lock = take_lock(path)
        elif not path.is_file():
            raise InputError(f"there is no study at {path}; create one with gamesim sweep")
        elif lost := lost_frames(path):  # SQLite would drop them and delete the log; a sweep runs the points again
            raise InputError(
                f"{path}-wal is damaged: {lost:,} of its pages, with finished points, cannot be read; restore it from "
                "a copy, or repeat gamesim sweep to run these points again"
            )
        with ExitStack() as undo, self._clearly():
            undo.callback(self._unlock)
            # Readers open the file for writing too: a killed writer leaves a log that the next reader recovers.
            mode = "rwc" if write else "rw" if os.access(path, os.W_OK) else "ro"
            uri = f"{path.absolute().as_uri()}?mode={mode}"
            self._db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)
            undo.callback(self._db.close)
            self._db.text_factory = _text
            self._format = self._check_format()
            if verify:
                self._refuse_damage()
            if write:
                self._prepare_tables()
            undo.pop_all()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._db.close()
        self._unlock()

    # Writing, by a sweep.

    def register(self, points: Iterable[Point], description: Description) -> None:
        """Replace the points of the store by those of this study; finished points are kept, failed ones run again."""
        running = version("gamesim")
        with self._transaction() as db:
            for key, value in vars(description).items():
                db.execute("INSERT OR REPLACE INTO study VALUES (?, ?)", (key, canonical(value)))
            store_format.seal_description(db)
            db.execute("UPDATE points SET position = NULL WHERE position IS NOT NULL")
            db.executemany(
                "INSERT INTO points (key, position, cell, seed, version, status, checksum) "
                "VALUES (?, ?, ?, ?, ?, 'todo', 0) "
                "ON CONFLICT (key) DO UPDATE SET position = excluded.position, cell = excluded.cell",
                (
                    (point.key, at, cell, point.seed, running)
                    for at, (point, cell) in enumerate(self._with_stored_cells(points))
                ),
            )
            # Points may have failed for lack of memory or a lost worker; points without some measure also run again.
            lacking = "".join(" OR json_type(measures, ?) IS NULL" for _ in description.measures)
            db.execute(
                "UPDATE points SET status = 'todo', error = NULL WHERE position IS NOT NULL "
                f"AND (status = 'failed' OR (status = 'done' AND (FALSE{lacking})))",
                [f'$."{name}"' for name in description.measures],
            )
            db.execute("DELETE FROM cells WHERE hash NOT IN (SELECT cell FROM points)")
            db.execute(store_format.SEAL)

    def forget(self, keys: Iterable[str]) -> None:
        """Delete these points and their results; once registered again, they are to do."""
        with self._transaction() as db:
            db.executemany("DELETE FROM points WHERE key = ?", ((key,) for key in keys))

    def finish(self, outcomes: Iterable[Outcome]) -> None:
        """Write the outcomes of some points in one transaction."""
        rows = [
            (
                "failed" if outcome.measures is None else "done",
                None if outcome.measures is None else canonical(outcome.measures),
                outcome.error,
                outcome.seconds,
                outcome.key,
            )
            for outcome in outcomes
        ]
        with self._transaction() as db:
            db.executemany(
                "UPDATE points SET status = ?, measures = coalesce(_merged(measures, ?), measures), error = ?, "
                "seconds = ? WHERE key = ?",
                rows,
            )
            db.executemany(f"{store_format.SEAL} WHERE key = ?", ((key,) for *_, key in rows))

    def todo(self) -> Iterator[Job]:
        """Yield the points to run, in the order of the study; points that fail meanwhile are not repeated."""
        position = -1
        stored = whole = ""
        while True:
            with self._clearly():
                page = self._db.execute(
                    "SELECT position, key, text, seed FROM points JOIN cells ON cell = hash "
                    "WHERE position > ? AND status = 'todo' ORDER BY position LIMIT ?",
                    (position, POINTS_AT_ONCE),
                ).fetchall()
            if not page:
                return
            for _, key, text, seed in page:
                if text != stored:  # consecutive points that differ only in their seeds share a text
                    stored, whole = text, self._whole(text)
                yield Job(key, whole, seed)
            position = page[-1][0]

    # Reading.

    def damages(self) -> Generator[str, None, None]:
        """Yield one message for each damage; for a store without checksums, only damage that SQLite notices."""
        try:
            with self._clearly():
                self._db.execute("BEGIN")  # to see one state of a store that a sweep is writing
                for damage in store_format.damages(self._db, self._format):
                    yield f"{self.path} is damaged: {damage}; {REMEDY}"
        except InputError as error:
            yield str(error)
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    @property
    def has_checksums(self) -> bool:
        """Whether the store has checksums; stores of earlier formats have none until a sweep opens them."""
        return self._format == store_format.FORMAT

    def counts(self) -> dict[str, int]:
        """Return the number of points of the study by status: to do, done and failed."""
        with self._clearly():
            found = dict(
                self._db.execute("SELECT status, count(*) FROM points WHERE position IS NOT NULL GROUP BY status")
            )
        return {status: found.get(status, 0) for status in ("todo", "done", "failed")}

    def finished(self) -> set[str]:
        """Return the keys of all finished points, of this study or an earlier version of it."""
        with self._clearly():
            return {key for (key,) in self._db.execute("SELECT key FROM points WHERE status = 'done'")}

    def description(self) -> Description:
        """Return the description of the study."""
        with self._clearly():
            kept = dict(self._db.execute("SELECT key, value FROM study WHERE key <> ?", (store_format.CHECKSUM,)))
        if not kept:
            raise InputError(f"{self.path} contains no study yet; run gamesim sweep first")
        with self._parsing():
            found = {key: json.loads(value) for key, value in kept.items()}
            found["measures"], found["axes"] = tuple(found["measures"]), tuple(found["axes"])
            return Description(**found)

    def row(self, key: str) -> Row:
        """Return the point with this key."""
        with self._clearly():
            (found,) = self._db.execute(f"SELECT {COLUMNS} FROM {self._points} WHERE key = ?", (key,))
        with self._parsing():
            return _row(found)

    def rows(self, status: str | None = None) -> Iterator[Row]:
        """Yield the points of the study, in its order."""
        with self._clearly(), self._parsing():
            found = self._db.execute(
                f"SELECT {COLUMNS} FROM {self._points} "
                "WHERE position IS NOT NULL AND (:status IS NULL OR status = :status) ORDER BY position",
                {"status": status},
            )
            yield from map(_row, found)

    # Internals.

    def _prepare_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create {self.path.parent}: {error.strerror}") from None
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise InputError(f"cannot write to {self.path.parent}; choose another folder with --out")

    def _refuse_damage(self) -> None:
        with closing(self.damages()) as damages:
            damage = next(damages, None)
        if damage is not None:
            raise InputError(damage)

    def _prepare_tables(self) -> None:
        """Create the tables of a new store, or upgrade those of an earlier format."""
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.create_function("_merged", 2, _merged, deterministic=True)
        self._db.create_function("_hash", -1, store_format.content_hash, deterministic=True)
        if self._format < store_format.FORMAT:
            with self._transaction() as db:
                for statement in store_format.statements(self._format):
                    db.execute(statement)
                if self._format:
                    store_format.seal_description(db)
            self._db.execute("VACUUM")
            self._format = store_format.FORMAT

    @property
    def _points(self) -> str:
        """The points with their labels, as SQL."""
        return "points JOIN cells ON cell = hash" if self.has_checksums else "points"

    def _check_format(self) -> int:
        """Return the format of the store, or 0 if it is new and open for writing."""
        found: int = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found > store_format.FORMAT:
            raise InputError(
                f"{self.path} was written by a newer version of gamesim (format {found}, this version supports up to "
                f"{store_format.FORMAT}); install that version, or choose another folder with --out"
            )
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if found == 0 and tables:
            raise InputError(f"{self.path} is not the store of a study; choose another folder with --out")
        if found == 0 and self._lock is None:
            raise InputError(f"{self.path} contains no study yet; run gamesim sweep first")
        columns = ", ".join(name for _, name, *_ in self._db.execute("PRAGMA table_info(points)"))
        if found and columns != store_format.COLUMNS.get(found):
            raise InputError(f"{self.path} is damaged: its columns are not those of format {found}; {REMEDY}")
        return found

    def _with_stored_cells(self, points: Iterable[Point]) -> Iterator[tuple[Point, int]]:
        """Yield each point with the hash of its cell, which is stored."""
        text = stored = ""
        for point in points:
            if point.text != text:  # consecutive points that differ only in their seeds share a text
                text, stored = point.text, self._stored(point.text)
            labels = canonical(point.labels)
            cell = store_format.content_hash(labels, stored)
            self._db.execute("INSERT OR IGNORE INTO cells VALUES (?, ?, ?)", (cell, labels, stored))
            yield point, cell

    def _stored(self, text: str) -> str:
        """Store the payoff tables of a text once, in their own table, and return the text with a hash instead."""
        parts = payoffs.split(text)
        if parts is None:
            return text
        stored, digest, game = parts
        self._db.execute("INSERT OR IGNORE INTO payoffs VALUES (?, ?)", (digest, game))
        return stored

    def _whole(self, stored: str) -> str:
        """Return a stored text with its payoff tables restored."""
        digest = payoffs.digest_in(stored)
        if digest is None:
            return stored
        with self._clearly():
            (game,) = self._db.execute("SELECT game FROM payoffs WHERE hash = ?", (digest,)).fetchone()
        return payoffs.join(stored, game)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._clearly():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _clearly(self) -> Iterator[None]:
        """Turn SQLite's errors into InputErrors that state what to do."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without its details
            if code == sqlite3.SQLITE_NOTADB:
                raise InputError(
                    f"{self.path} is not the store of a study, or its first bytes are damaged; choose another folder "
                    "with --out"
                ) from None
            if code not in FROM_OUTSIDE:
                raise InputError(f"{self.path} is damaged: {error}; {REMEDY}") from None
            raise InputError(
                f"{self.path}: {error}; finished points are kept: free disk space or fix the permissions, "
                f"and run the same command again"
            ) from None
        except UnicodeDecodeError as error:  # raised in place of SQLite's message if that quotes damaged text
            raise InputError(f"{self.path} is damaged: {error}; {REMEDY}") from None

    @contextmanager
    def _parsing(self) -> Iterator[None]:
        """Turn errors in stored JSON, which has no checksum in stores of earlier formats, into InputErrors."""
        try:
            yield
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{self.path} is damaged: {error}; {REMEDY}") from None

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _text(stored: bytes) -> str:
    """Return a stored text; damage to it, which would raise, then changes its checksum."""
    return stored.decode(errors="replace")


def _row(found: tuple[Any, ...]) -> Row:
    key, labels, seed, status, measures, error, seconds = found
    return Row(key, json.loads(labels), seed, status, json.loads(measures or "{}"), error, seconds)


def _merged(before: str | None, after: str | None) -> str | None:
    """Merge two sets of measures; the later ones take precedence."""
    if before is None or after is None:
        return after
    return canonical({**json.loads(before), **json.loads(after)})
