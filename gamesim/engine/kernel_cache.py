"""The cache of compiled kernels on disk: verified when read, written atomically, and never required.

Numba's own cache loads machine code without a checksum, fails on damaged files and full disks, and keeps an index that
processes can overwrite for each other. Here each compiled kernel is one file that starts with the checksum of the rest.
A file that is missing, damaged or unreadable means that the kernel is compiled; a cache that cannot be written is left
alone.
"""

import hashlib
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

# Numba's type annotations differ between versions, so this file treats Numba as untyped.
numba: Any = import_module("numba")
llvmlite: Any = import_module("llvmlite")
caching: Any = import_module("numba.core.caching")
compiler: Any = import_module("numba.core.compiler")
serialize: Any = import_module("numba.core.serialize")
rtsys: Any = import_module("numba.core.runtime").rtsys

contents: dict[str, bytes] = {}  # of code that runs under a name which is not the path of its file

CONSTANTS = (bool, int, float, complex, str, np.generic)  # types of the constants that Numba compiles into kernels
CHECKSUM_BYTES = hashlib.sha256().digest_size
VERSIONS = (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag)


class KernelCache(caching._Cache):  # type: ignore[misc]  # untyped
    """The cache of one kernel, with the interface that Numba's dispatchers expect."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._folders = cache_folders(function.__code__.co_filename)
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The first folder that is searched, or None for code without a file."""
        return str(self._folders[0]) if self._folders else None

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None if it has to be compiled."""
        rtsys.initialize(target_context)  # refreshing would import all that compiling needs
        key = self._key(signature, target_context.codegen())
        for folder in self._folders if self._enabled else ():
            try:
                kept, reduced = pickle.loads(_read_verified(folder / self._name(key)))
                if kept == key:
                    return compiler.CompileResult._rebuild(target_context, *reduced)
            except Exception:  # whatever is wrong with a cached file, the kernel can be compiled
                continue
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write a compiled kernel to the first folder that can be written, if any."""
        if not self._enabled or not self._folders or any(not one.can_cache for one in compiled.lifted):
            return
        if compiled.library.has_dynamic_globals:  # addresses, which are valid in this process only
            return
        key = self._key(signature, compiled.codegen)
        data = serialize.dumps((key, compiled._reduce()))
        for folder in self._folders:
            with suppress(OSError):
                _write_verified(folder / self._name(key), data)
                return

    def enable(self) -> None:
        """Use the cache."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor write the cache."""
        self._enabled = False

    def flush(self) -> None:
        """Remove the files of this kernel."""
        for folder in self._folders:
            for path in folder.glob(f"{self._function.__name__}-*"):
                with suppress(OSError):
                    path.unlink()

    def _key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        """Return all that determines the machine code, besides the source files, which the folder's name stands for."""
        function = self._function
        code, values = function.__code__, [cell.cell_contents for cell in function.__closure__ or ()]
        where = (code.co_filename, function.__module__, function.__qualname__, code.co_firstlineno)
        parts = (code.co_code, serialize.dumps(values), *_used_by(function, set()))
        digests = tuple(hashlib.sha256(part).hexdigest() for part in parts)
        return signature, codegen.magic_tuple(), where, digests, VERSIONS

    def _name(self, key: tuple[Any, ...]) -> str:
        """Return the name of a file; the key inside the file is compared, so a common name would do no harm."""
        return f"{self._function.__name__}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}"


def _used_by(function: Callable[..., Any], seen: set[Callable[..., Any]]) -> Iterator[bytes]:
    """Yield what is compiled into a function from other modules: the files of the kernels it calls, and constants."""
    seen.add(function)
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        called = getattr(value, "py_func", None)
        if called is not None and called not in seen:
            yield from (folder.name.encode() for folder in cache_folders(called.__code__.co_filename)[:1])
            yield from _used_by(called, seen)
        elif all(isinstance(one, CONSTANTS) for one in (value if isinstance(value, tuple) else [value])):
            yield f"{name} = {value!r}".encode()
        elif isinstance(value, np.ndarray):
            yield name.encode() + value.tobytes()


def _read_verified(path: Path) -> bytes:
    """Return the content of a file, or raise a ValueError if it does not match its checksum."""
    if sys.platform != "win32" and path.parent.stat().st_uid != os.getuid():
        raise ValueError(f"{path.parent} belongs to another user")  # pickles of others could run their code
    whole = path.read_bytes()
    checksum, data = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
    if hashlib.sha256(data).digest() != checksum:
        raise ValueError(f"{path} does not match its checksum")
    return data


def _write_verified(path: Path, data: bytes) -> None:
    """Write a file with its checksum under a temporary name, then rename it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@cache
def cache_folders(source: str) -> tuple[Path, ...]:
    """Return the cache folders for the kernels of a file, in the order in which they are tried.

    They are below NUMBA_CACHE_DIR, or the user's cache folder and a temporary folder, never in the package. Numba does
    not notice edits of callees in other files, so the folder's name has a hash of this file and of all files of gamesim
    that it imports. Code from a prompt has no file that could be compared, and is not cached.
    """
    files = files_behind(source, set())
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(read_source(path)[0])
    return tuple(parent / f"kernels-{digest.hexdigest()[:16]}" for parent in _cache_parents()) if files else ()


def files_behind(source: str, found: set[str]) -> set[str]:
    """Return a file and all files of gamesim that it imports, directly or indirectly."""
    if source not in found and (source in contents or os.path.exists(source)):  # code from a prompt has no file
        found.add(source)
        for imported in read_source(source)[1]:
            files_behind(imported, found)
    return found


@cache
def read_source(source: str) -> tuple[bytes, list[str]]:
    """Return a digest of a file, and the files of gamesim that it imports directly; most are behind many kernels."""
    content = contents[source] if source in contents else Path(source).read_bytes()
    modules = re.findall(rb"^from (gamesim\.[\w.]+) import", content, re.MULTILINE)
    specs = [find_spec(module.decode()) for module in modules]
    imported = [spec.origin for spec in specs if spec is not None and spec.origin is not None]
    return hashlib.sha256(content).digest(), imported


def _cache_parents() -> list[Path]:
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR)]
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
    parents = [Path(home) / "gamesim"]
    with suppress(OSError):  # no temporary folder can be written
        user = os.getuid() if sys.platform != "win32" else os.environ.get("USERNAME", "user")
        parents.append(Path(tempfile.gettempdir()) / f"gamesim-{user}")
    return parents
