"""Python files of users: learners, measures and observers that a scenario names as `mylearner.py:MyHedge`.

Naming a file does not run it. It runs only after the user has allowed it (`--allow-local-code`), once, and is then
known by its content: a reference inside the program has the form `mylearner.py@SHA256:MyHedge`. The same content gives
the same results wherever it runs, so this form is part of the keys of studies and of the manifests of records, and
workers receive the content of a file instead of its path.
"""

import hashlib
import linecache
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib.util import decode_source
from pathlib import Path
from threading import RLock
from traceback import extract_tb
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from gamesim.engine import kernel_cache
from gamesim.errors import InputError, did_you_mean

KEYS = ("learner", "observers", "measures")  # of the values in scenarios and studies that can be references
HERE = Path(__file__).parent

_REFERENCE = re.compile(r"(?P<file>[^\0\n]+\.py)(?:@(?P<sha256>[0-9a-f]{64}))?:(?P<name>[\w<>]+)")


class UserFile(NamedTuple):
    """A file that has run: its name without folders, its content, and the module that it defines."""

    name: str
    source: bytes
    module: ModuleType


class Reference(NamedTuple):
    """A file, a name that it defines, and the hash of its content if it has run, otherwise None."""

    file: str
    name: str
    sha256: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Return a reference that `is_reference` accepts."""
        match = _REFERENCE.fullmatch(text)
        assert match is not None
        return cls(match["file"], match["name"], match["sha256"])


_files: dict[str, UserFile] = {}  # by the hash of their content
_running = RLock()  # a worker may have several threads
_seen: "WeakKeyDictionary[Any, str]" = WeakKeyDictionary()  # references of what Python programs pass


def is_reference(value: object) -> bool:
    """Return whether a value names something in a Python file.

    >>> is_reference("mylearner.py:MyHedge"), is_reference("hedge")
    (True, False)
    """
    return isinstance(value, str) and _REFERENCE.fullmatch(value) is not None


def shown(text: str) -> str:
    """Return a reference as users write it next to the file; any other text is unchanged.

    >>> shown("mylearner.py@" + 64 * "0" + ":MyHedge"), shown("hedge")
    ('mylearner.py:MyHedge', 'hedge')
    """
    if not is_reference(text):
        return text
    file, name, _ = Reference.parse(text)
    return f"{Path(file).name}:{name}"


def replaced(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Return the values of a scenario or study with every reference in them changed.

    >>> replaced({"everyone": {"learner": "my.py:A"}, "title": "my.py:A"}, str.upper)
    {'everyone': {'learner': 'MY.PY:A'}, 'title': 'my.py:A'}
    """
    if isinstance(value, dict):
        return {
            name: one if name == "game" else replaced(one, change, str(name).rpartition(".")[2])  # tables may be large
            for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(replaced(one, change, key) for one in value)
    return change(value) if key in KEYS and is_reference(value) else value


def references(value: Any) -> list[str]:
    """Return all references in the values of a scenario or study."""
    found: list[str] = []
    replaced(value, lambda reference: found.append(reference) or reference)  # type: ignore[func-returns-value]
    return list(dict.fromkeys(found))


# Running files, which the user must have allowed.


def allow(reference: str, folder: Path) -> str:
    """Run the file of a reference, relative to `folder`, and return the reference with the hash of its content."""
    file, name, sha256 = Reference.parse(reference)
    if sha256 in _files:
        return reference
    return f"{Path(file).name}@{allow_file(folder / file)}:{name}"


def allow_file(path: Path) -> str:
    """Run a file, unless its content has run before, and return the hash of its content."""
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; user-defined code is given as FILE.py:NAME") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    return run(path.name, source)


def run(name: str, source: bytes) -> str:
    """Run the content of a file, unless it has run before, and return its hash."""
    sha256 = hashlib.sha256(source).hexdigest()
    with _running:
        if sha256 not in _files:
            _files[sha256] = UserFile(name, source, _module(name, source, sha256))
    return sha256


def _module(name: str, source: bytes, sha256: str) -> ModuleType:
    """Run a file and return its module.

    The name of its code has the hash instead of the path: kernels are then cached by content, and lines in messages are
    those that ran. For the same reason there is no `__file__`. The module is registered, because Numba and dataclasses
    look for it.
    """
    module = ModuleType(f"{name.removesuffix('.py')}@{sha256[:16]}")
    code_name = f"<{sha256[:16]}>/{name}"
    sys.modules[module.__name__] = module
    kernel_cache.contents[code_name] = source
    try:
        text = decode_source(source)
        linecache.cache[code_name] = len(text), None, text.splitlines(keepends=True), code_name
        exec(compile(source, code_name, "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == code_name]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        raise InputError(f"{name}, line {line}: {in_a_line(error)}") from None
    return module


# What has run.


def named(reference: str) -> Any:
    """Return what a reference names, or raise an InputError if its file has not run or does not define it."""
    _, name, sha256 = Reference.parse(reference)
    if sha256 not in _files:
        raise InputError(
            f"{shown(reference)!r} is Python code, which is not run by default; if you trust the file, allow it with "
            "--allow-local-code (for run, resume, compare, sweep, check, figures and lab)"
        )
    module = _files[sha256].module
    if not hasattr(module, name):
        defined = [key for key, thing in vars(module).items() if _defined_in(thing, module)]
        hint = did_you_mean(name, defined) if defined else "the file defines nothing"
        raise InputError(f"{_files[sha256].name} has no {name!r}; {hint}")
    return getattr(module, name)


def has_run(reference: str) -> bool:
    """Return whether the file of a reference has run, with the content that the reference states."""
    return is_reference(reference) and Reference.parse(reference).sha256 in _files


def defined(sha256: str) -> dict[str, Any]:
    """Return what a file that has run defines, without its imports, by reference."""
    file = _files[sha256]
    found = {name: thing for name, thing in vars(file.module).items() if _defined_in(thing, file.module)}
    return {f"{file.name}@{sha256}:{name}": thing for name, thing in found.items()}


def contents(wanted: Iterable[str]) -> tuple[tuple[str, bytes], ...]:
    """Return the name and content of each file of these references, for `run` in another process."""
    hashes = dict.fromkeys(Reference.parse(one).sha256 or "" for one in wanted)
    return tuple((_files[sha256].name, _files[sha256].source) for sha256 in hashes)


def write(wanted: Iterable[str], folder: Path) -> None:
    """Write the files of these references into a folder."""
    written: dict[str, bytes] = {}
    for name, source in contents(wanted):
        if written.setdefault(name, source) != source:
            raise InputError(f"two different files of user-defined code are named {name}; rename one of them")
        (folder / name).write_bytes(source)


def reference_of(thing: Any) -> str:
    """Return the reference of a class or function of the user, with the hash of its file when it was first seen.

    What has no file, such as a class in a notebook, has a reference without a hash.
    """
    while isinstance(thing, partial):
        thing = thing.func
    with suppress(TypeError):  # what cannot be referred to weakly
        if thing not in _seen:
            _seen[thing] = _reference_of(thing)
        return _seen[thing]
    return _reference_of(thing)


def _reference_of(thing: Any) -> str:
    name, module = getattr(thing, "__name__", type(thing).__name__), getattr(thing, "__module__", "__main__")
    for sha256, file in _files.items():
        if file.module.__name__ == module:
            return f"{file.name}@{sha256}:{name}"
    path = getattr(sys.modules.get(module), "__file__", None)
    try:
        sha256 = hashlib.sha256(Path(path or "").read_bytes()).hexdigest()
    except OSError:
        return f"{module}:{name}"
    return f"{Path(path or '').name}@{sha256}:{name}"


def _defined_in(thing: Any, module: ModuleType) -> bool:
    return getattr(thing, "__module__", None) == module.__name__ and hasattr(thing, "__name__")


# Failures of what has run.


def failure(what: str, when: str, error: Exception) -> InputError:
    """Return the InputError for an exception in a user's code, with the line of the file."""
    frames = list(extract_tb(error.__traceback__))
    while frames and HERE in Path(frames[0].filename).parents:  # these lead to the user's code
        del frames[0]
    where = ""
    if frames:  # the user's lines come first, then those of the libraries that they call
        last = next(frame for frame in reversed(frames) if frame.filename == frames[0].filename)
        where = f"{Path(last.filename).name}, line {last.lineno}, in {last.name}: "
    return InputError(f"{what} failed {when}: {where}{in_a_line(error)}")


def in_a_line(error: BaseException) -> str:
    """Return the type and message of an exception, without line breaks."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
