"""Write files and folders atomically: to a temporary path beside the target, which is then renamed."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from gamesim.errors import InputError

WriteInto = Callable[[Path], list[Path]]  # writes files into a folder and returns their paths


def write_file(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write one file atomically."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:50]}-", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as out:
            write(out)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {path}: {error.strerror}") from None
        raise


def write_files(parts: Sequence[tuple[Path, WriteInto]], *, force: bool) -> list[Path]:
    """Write files into several folders, or none at all if one of them would be overwritten without `force`."""
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
    """Write a folder atomically."""
    target = Path(path)
    if target.exists() and not force:
        raise InputError(f"{target} already exists; choose another path, or set force to overwrite it")
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
    """Raise an InputError if a path is a folder, or an existing file and `force` is not set."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; choose another path")
    if path.exists() and not force:
        raise InputError(f"{path} already exists; choose another path, or overwrite it with --force")
