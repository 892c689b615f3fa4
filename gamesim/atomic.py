"""Write files and folders atomically: into a temporary folder beside the target, out of which they are renamed.

The temporary folder is locked while its process lives. The next write to the same target removes the folders of
processes that were killed, and never one that is still in use.
"""

import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from gamesim.errors import InputError
from gamesim.lock import try_lock

WriteInto = Callable[[Path], list[Path]]  # writes files into a folder and returns their paths

# In a temporary folder: its lock, what will be renamed to the target, what this replaces, and what is being removed.
LOCK, NEW, OLD, REMOVED = "lock", "new", "old", "removed"
LONGEST_NAME = 50  # characters of a file's name in that of its temporary folder
ATTEMPTS = 3  # to lock a new temporary folder, which another process may take for abandoned just before


def write_file(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write one file atomically."""
    try:
        with _temporary_folder(path.parent, path.name[:LONGEST_NAME]) as folder:
            with (folder / NEW).open("wb") as out:
                write(out)
            os.replace(folder / NEW, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def write_files(parts: Sequence[tuple[Path, WriteInto]], *, force: bool) -> list[Path]:
    """Write files into several folders, or none at all if one of them would be overwritten without `force`."""
    with ExitStack() as stack:
        moves: dict[Path, Path] = {}
        for place, write in parts:
            place.mkdir(parents=True, exist_ok=True)
            new = stack.enter_context(_temporary_folder(place, "gamesim")) / NEW
            new.mkdir()
            moves |= {path: place / path.relative_to(new) for path in write(new)}
        for target in moves.values():
            refuse_to_overwrite(target, force=force)
        for path, target in moves.items():
            target.parent.mkdir(exist_ok=True)
            path.replace(target)
    return list(moves.values())


def write_folder(path: str | os.PathLike[str], write: Callable[[Path], None], *, force: bool) -> Path:
    """Write a folder atomically."""
    target = Path(path)
    finish_killed_write(target)
    if target.exists() and not force:
        raise InputError(f"{target} already exists; choose another path, or set force to overwrite it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with _temporary_folder(target.parent, target.name) as folder:
        new, old = folder / NEW, folder / OLD
        new.mkdir()
        write(new)
        try:
            if target.exists():
                os.replace(target, old)
            os.replace(new, target)
        except BaseException:
            if old.exists() and not target.exists():
                os.replace(old, target)
            raise
    return target


def remove_folder(path: Path) -> None:
    """Remove a folder atomically: if this is interrupted, the whole folder is still there or is gone."""
    finish_killed_write(path)
    if path.exists():
        with _temporary_folder(path.parent, path.name) as folder:
            os.replace(path, folder / REMOVED)


def finish_killed_write(target: Path) -> None:
    """Remove the temporary folders that killed processes left behind when they wrote to a path.

    A process that was killed between the two renames by which one folder replaces another leaves neither at the target;
    the new one, which is complete, is then put there.
    """
    pattern = re.compile(re.escape(f".{target.name}-") + "[a-z0-9_]{8}")  # as tempfile names them
    found = os.listdir(target.parent) if target.parent.is_dir() else []
    for folder in (target.parent / name for name in sorted(filter(pattern.fullmatch, found))):
        if _is_temporary(folder):
            lock = _lock_of(folder)
            if lock is not None:  # otherwise its process is alive
                new, old = folder / NEW, folder / OLD
                if new.exists() and old.exists() and not target.exists():
                    os.replace(new, target)
                _remove(folder, lock)


def refuse_to_overwrite(path: Path, *, force: bool) -> None:
    """Raise an InputError if a path is a folder, or an existing file and `force` is not set."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; choose another path")
    if path.exists() and not force:
        raise InputError(f"{path} already exists; choose another path, or overwrite it with --force")


@contextmanager
def _temporary_folder(place: Path, name: str) -> Iterator[Path]:
    """Create a temporary folder in a folder, and remove those that killed processes left there under the same name."""
    finish_killed_write(place / name)
    folder, lock = _locked_folder(place, name)
    try:
        yield folder
    finally:
        _remove(folder, lock)


def _locked_folder(place: Path, name: str) -> tuple[Path, sqlite3.Connection | None]:
    """Create and lock a temporary folder; on a file system without locks, it stays unlocked."""
    for _ in range(ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place))
        lock = _lock_of(folder)
        if lock is not None and folder.is_dir():
            return folder, lock
        _remove(folder, lock)
    return Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place)), None


def _remove(folder: Path, lock: sqlite3.Connection | None) -> None:
    """Remove a temporary folder, the lock by which it is recognised last, because a kill may cut this short."""
    try:
        for name in (NEW, OLD, REMOVED):
            if (folder / name).is_dir():
                shutil.rmtree(folder / name, ignore_errors=True)
            else:
                (folder / name).unlink(missing_ok=True)
    finally:  # if this is interrupted, the next write to the same path removes the rest
        if lock is not None:
            lock.close()  # also because Windows removes no open file
    shutil.rmtree(folder, ignore_errors=True)


def _is_temporary(folder: Path) -> bool:
    """Whether a folder has a lock, or is still empty because its process was killed before locking it."""
    try:
        found = os.listdir(folder)
    except OSError:  # just removed, not a folder, or of another user
        return False
    return not found or LOCK in found


def _lock_of(folder: Path) -> sqlite3.Connection | None:
    """Lock a temporary folder; return None if another process has locked or just removed it, or no lock is possible."""
    try:
        return try_lock(folder / LOCK)
    except sqlite3.OperationalError:
        return None
