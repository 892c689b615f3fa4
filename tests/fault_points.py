"""Fault points: the operations of a command that change files, write to a store or start a worker.

`watch` calls a function just before each of them, which may kill the process there. Nothing on disk changes between two
operations, so the moments before all of them are also the moments after all of them. They are observed from outside, by
an audit hook and a subclass of SQLite's connection: gamesim itself knows nothing about them.
"""

import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHANGES = ("os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link", "os.symlink", "os.truncate", "shutil.rmtree")
STATEMENTS = ("BEGIN", "COMMIT", "PRAGMA journal_mode")  # of the others, nothing outlives a kill
RANDOM_PART = re.compile(r"-[a-z0-9_]{8}(?=$|/)")  # of the name of a temporary folder

# The kinds of fault points, by the first pattern that matches.
KINDS = {
    "start a worker": r"^worker",
    "create the store": r"^store: (PRAGMA|create)",
    "lock": r"^store: BEGIN EXCLUSIVE",
    "store transaction": r"^store: ",
    "remove files": r"^(rmtree|remove|rmdir) |/removed$",
    "rename a checkpoint": r"^rename .*partial",
    "rename the result": r"^rename ",
    "figures and report": r"(svg|png|html|figures|figs)$",
    "write a checkpoint": r"partial",
    "record and summary": r"^(write|mkdir) .*/new(/|$)",
    "create a temporary folder": r"^mkdir .*-\*$",
    "other": "",
}


def kind_of(name: str) -> str:
    """Return the kind of a fault point."""
    return next(kind for kind, pattern in KINDS.items() if re.search(pattern, name))


def watch(visit: Callable[[str], object], below: Path) -> None:
    """Call `visit` with a description of each operation, before it; only paths below a folder count."""
    inside = str(below.resolve())

    def place(path: Any) -> str | None:
        """Return a path relative to the folder, or None if it is elsewhere."""
        whole = os.path.abspath(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else ""
        if not whole.startswith(inside):
            return None
        return RANDOM_PART.sub("-*", whole.removeprefix(inside).lstrip("/"))

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = given
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) if mode is None else set("wax+") & set(mode)
            if writes and (where := place(path)) is not None:
                visit(f"write {where}")
        elif event in CHANGES and (where := place(given[0])) is not None:
            to = f" to {place(given[1])}" if event == "os.rename" else ""
            visit(f"{event.partition('.')[2]} {where}{to}")
        elif event == "socket.connect" and isinstance(given[1], str | bytes):  # the fork server
            visit("worker")

    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
            if statement.startswith(STATEMENTS):
                visit(f"store: {' '.join(statement.split()[:2])}")
            return super().execute(statement, *parameters)

        def executescript(self, script: str) -> sqlite3.Cursor:
            visit("store: create tables")
            return super().executescript(script)

    connect = sqlite3.connect

    def connected(*given: Any, **named: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connect(*given, **{"factory": Connection, **named})
        return opened

    sqlite3.connect = connected  # type: ignore[assignment]
    sys.addaudithook(hook)


def strike(kind: str, number: int, with_signal: signal.Signals, note: Path, *, group: bool) -> Callable[[str], None]:
    """Return a function for `watch` that sends a signal at point `number` of a kind, and notes its name in a file."""
    count = 0

    def visit(name: str) -> None:
        nonlocal count
        count += kind_of(name) == kind
        if count == number and not note.exists():
            note.write_text(name)
            (os.killpg if group else os.kill)(os.getpid(), with_signal)

    return visit
