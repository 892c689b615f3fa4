"""The format of a study's store in SQLite: its tables, its checksums, and upgrades from earlier formats.

SQLite notices damage to its own structures only. Each point and the description of the study therefore have a
checksum, and cells and payoff tables are stored under the hash of their content.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

# Formats 1 and 2 had no checksums, and labels and text in every point; in format 1, the text was named `scenario`.
FORMAT = 3
CHECKSUM = "checksum"  # the key of the description's checksum in the table of the study

STUDY_TABLES = (
    "CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE payoffs (hash TEXT PRIMARY KEY, game TEXT NOT NULL) WITHOUT ROWID",
)
POINT_TABLES = (
    """CREATE TABLE cells (          -- points that differ only in their seeds share a cell
    hash INTEGER PRIMARY KEY,     -- hash of the other columns
    labels TEXT NOT NULL,         -- JSON: the choice on each axis
    text TEXT NOT NULL            -- JSON: what to run, without the seed; payoff tables are stored in table payoffs
)""",
    """CREATE TABLE points (
    key TEXT PRIMARY KEY,         -- hash of everything that determines the run
    position INTEGER,             -- position in the current study; NULL if no longer part of it
    cell INTEGER NOT NULL,        -- hash of a cell
    seed INTEGER NOT NULL,
    version TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('todo', 'done', 'failed')),
    measures TEXT,                -- JSON: one number per measure, or null if undefined
    error TEXT,
    seconds REAL,
    checksum INTEGER NOT NULL     -- hash of the other columns
) WITHOUT ROWID""",
    "CREATE INDEX by_position ON points (position, status)",
)
UNCHECKED = "key, position, cell, seed, version, status, measures, error, seconds"  # all columns but the checksum
COLUMNS = {
    1: "key, position, labels, scenario, seed, version, status, measures, error, seconds",
    2: "key, position, labels, text, seed, version, status, measures, error, seconds",
    3: f"{UNCHECKED}, checksum",
}
SEAL = f"UPDATE points SET checksum = _hash({UNCHECKED})"

_as_json = json.JSONEncoder(default=repr).encode  # `repr` for bytes, which only damage can put into a store


def content_hash(*values: Any) -> int:
    """Return a 64-bit hash of values as SQLite stores them.

    >>> content_hash("hedge", 1, 0.5, None)
    -6014845041899061201
    """
    return int.from_bytes(hashlib.sha256(_as_json(values).encode()).digest()[:8], "big", signed=True)


def statements(found: int) -> Iterator[str]:
    """Yield the SQL that creates a new store (format 0), or upgrades one of an earlier format."""
    if found == 0:
        yield from STUDY_TABLES + POINT_TABLES
    elif found < FORMAT:
        text = "scenario" if found == 1 else "text"
        columns = UNCHECKED.replace("cell", f"_hash(labels, {text})")
        yield "DROP INDEX by_position"
        yield "ALTER TABLE points RENAME TO earlier"
        yield from POINT_TABLES
        yield f"INSERT OR IGNORE INTO cells SELECT _hash(labels, {text}), labels, {text} FROM earlier"
        yield f"INSERT INTO points SELECT {columns}, 0 FROM earlier"
        yield "DROP TABLE earlier"
        yield SEAL
    yield f"PRAGMA user_version = {FORMAT}"


def seal_description(db: sqlite3.Connection) -> None:
    """Write the checksum of the study's description."""
    db.execute("INSERT OR REPLACE INTO study VALUES (?, ?)", (CHECKSUM, str(_description_hash(db))))


def damages(db: sqlite3.Connection, found: int) -> Iterator[str]:
    """Yield what is damaged in a store of this format, in a few words each."""
    for (message,) in db.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield " ".join(message.split())
    if found < FORMAT:
        return
    for *values, checksum in db.execute(f"SELECT {COLUMNS[FORMAT]} FROM points"):
        if content_hash(*values) != checksum:
            yield f"point {values[0]} does not match its checksum"
    for name, labels, text in db.execute("SELECT hash, labels, text FROM cells"):
        if content_hash(labels, text) != name:
            yield f"cell {name} does not match its hash"
    for (lost,) in db.execute("SELECT DISTINCT cell FROM points WHERE cell NOT IN (SELECT hash FROM cells)"):
        yield f"cell {lost} is missing"
    for name, game in db.execute("SELECT hash, game FROM payoffs"):
        if hashlib.sha256(str(game).encode()).hexdigest()[:32] != name:
            yield f"payoff table {name} does not match its hash"
    kept = db.execute("SELECT value FROM study WHERE key = ?", (CHECKSUM,)).fetchone()
    if kept != (str(_description_hash(db)),) and db.execute("SELECT 1 FROM study").fetchone():
        yield "the description of the study does not match its checksum"


def _description_hash(db: sqlite3.Connection) -> int:
    return content_hash(*db.execute("SELECT key, value FROM study WHERE key <> ? ORDER BY key", (CHECKSUM,)))
