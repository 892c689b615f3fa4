"""Files and folders that are written whole or not at all: beside their place first, then renamed."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from gamesim.errors import InputError

WriteInto = Callable[[Path], list[Path]]  # writes files into a folder, and returns their paths


def write_file(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write one file."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:50]}-", dir=path.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as out:
            write(out)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        raise


def write_files(parts: Sequence[tuple[Path, WriteInto]], *, force: bool) -> list[Path]:
    """Write files into several folders; nothing is written if one of them is in the way."""
    with ExitStack() as stack:
        moves: dict[Path, Path] = {}
        for place, write in parts:
            place.mkdir(parents=True, exist_ok=True)
            aside = Path(stack.enter_context(TemporaryDirectory(prefix=".gamesim-", dir=place)))
            moves |= {path: place / path.name for path in write(aside)}
        for target in moves.values():
            refuse_to_overwrite(target, force=force)
        for path, target in moves.items():
            path.replace(target)
    return list(moves.values())


def write_folder(path: str | os.PathLike[str], write: Callable[[Path], None], *, force: bool) -> Path:
    """Write a folder."""
    target = Path(path)
    if target.exists() and not force:
        raise InputError(f"{target} exists already: choose another place, or overwrite it with force")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        temporary.chmod(0o755)
        write(temporary)
        if target.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
            os.replace(target, old / "old")
            os.replace(temporary, target)
            shutil.rmtree(old)
        else:
            os.replace(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return target


def refuse_to_overwrite(path: Path, *, force: bool) -> None:
    """Refuse a place at which a file is to be written and something stands already."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, and a file is to be written there: choose another place")
    if path.exists() and not force:
        raise InputError(f"{path} exists already: overwrite it with --force, or choose another place")
