"""The outcomes of an input: success, or one refusal. Everything else is a fault.

Faults are tracebacks, warnings, output, refusals that are not a clear message, use of more than 5 seconds of processor
time or 1 GiB of memory, and whatever the interpreter's audit events show: files written, connections, other processes,
code in the folder of the input, and unpickling.
"""

import io
import logging
import os
import resource
import signal
import sys
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from types import CodeType, FrameType
from typing import Any, NamedTuple, TextIO

from gamesim.errors import InputError

SECONDS = 5.0
MEMORY = 2**30  # bytes, in addition to what the interpreter and all libraries take
LONGEST_MESSAGE = 10_000  # characters

ACCEPTED, REFUSED = "accepted", "refused"
FAULTS = ("traceback", "slow", "memory", "warning", "output", "message", "forbidden", "wrong", "crash")
OUTCOMES = (ACCEPTED, REFUSED, *FAULTS)

_FORBIDDEN = (
    *("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "shutil."),
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.kill", "subprocess.", "socket.", "sqlite3."),
    *("tempfile.", "pickle.find_class"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Outcome(NamedTuple):
    """The outcome of an input; `details` describes a fault or quotes the refusal."""

    kind: str
    details: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether the input must not have this outcome."""
        return self.kind in FAULTS

    @property
    def place(self) -> str:
        """Where a fault occurs: the last line of code in its traceback, and the error without its values."""
        lines = self.details.strip().splitlines() or [""]
        places = [line.strip() for line in lines if line.startswith("  File ") and "site-packages" not in line]
        return f"{places[-1]}: {lines[-1][:40]}" if places else lines[-1][:80]


class Refused(Exception):
    """Raised by a use of an input that was refused by a message, rather than by an InputError."""


class Wrong(Exception):
    """Raised by a use of an input whose result is wrong."""


class _Slow(BaseException):
    pass


class _Forbidden(BaseException):
    pass


class Oracle:
    """Judge inputs in this process, from now on. There is one per process: audit hooks cannot be removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._watching = False
        self._readable: tuple[str, ...] | None = None
        self._seen: list[tuple[str, str]] = []
        sys.addaudithook(self._audit)
        signal.signal(signal.SIGPROF, _too_slow)
        warnings.simplefilter("always")
        warnings.showwarning = self._warned
        logging.getLogger().addHandler(_Collector(self._seen))

    def limit_memory(self) -> None:
        """Limit the memory of this process; called once everything that takes much is loaded."""
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        taken = pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, resource.RLIM_INFINITY))

    def judge(self, use: Callable[[], object], *, readable: tuple[str, ...] | None = None) -> Outcome:
        """Use an input and return the outcome; files outside `readable`, if given, must not be read."""
        self._seen.clear()
        self._readable = readable
        output = io.StringIO()
        try:
            with self._watched(output):
                use()
            outcome = Outcome(ACCEPTED)
        except (InputError, Refused) as error:
            outcome = _refusal(str(error))
        except Wrong as error:
            outcome = Outcome("wrong", str(error))
        except _Slow:
            outcome = Outcome("slow", traceback.format_exc())
        except _Forbidden:
            outcome = Outcome("forbidden", traceback.format_exc())
        except MemoryError:
            outcome = Outcome("memory", traceback.format_exc())
        except BaseException:
            outcome = Outcome("traceback", traceback.format_exc())
        if self._seen and not outcome.is_fault:
            outcome = Outcome(*self._seen[0])
        if output.tell() and not outcome.is_fault:
            outcome = Outcome("output", output.getvalue())
        return outcome

    @contextmanager
    def _watched(self, output: io.StringIO) -> Iterator[None]:
        streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = output
        self._watching = True
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._watching = False
            sys.stdout, sys.stderr = streams

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._watching and self._is_forbidden(event, arguments):
            self._watching = False
            if _is_allowed():
                self._watching = True
                return
            self._seen.append(("forbidden", f"{event} {arguments!r:.500}"))
            raise _Forbidden(f"{event} {arguments!r:.500}")

    def _is_forbidden(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            path, mode, flags = arguments
            if (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & _WRITES):
                return str(path) != os.devnull
            return self._readable is not None and not str(path).startswith(self._readable)
        if event == "exec":
            code: CodeType = arguments[0]
            return code.co_filename.startswith(self._folder)
        if event == "socket.gethostname":
            return False
        return event.startswith(_FORBIDDEN)

    def _warned(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        self._seen.append(("warning", f"{category.__name__}: {message} ({filename}, line {lineno})"))


class _Collector(logging.Handler):
    """Keeps what is logged as a warning or worse."""

    def __init__(self, seen: list[tuple[str, str]]) -> None:
        super().__init__(logging.WARNING)
        self._seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        self._seen.append(("traceback", self.format(record)))


def _too_slow(_: int, frame: FrameType | None) -> None:
    raise _Slow


def _is_allowed() -> bool:
    """Whether Numba loads or compiles a kernel, or a temporary file without a name is opened."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("numba.") or frame.f_code is TemporaryFile.__code__:
            return True
        frame = frame.f_back
    return False


def _refusal(message: str) -> Outcome:
    """Return a refusal, if its message is one: not empty, not endless, without control characters."""
    control = {character for character in message if unicodedata.category(character) in ("Cc", "Cs")} - {"\n", "\t"}
    if not message.strip() or len(message) > LONGEST_MESSAGE or control:
        return Outcome("message", f"{len(message)} characters, {control or 'no'} control characters: {message!r:.1000}")
    return Outcome(REFUSED, message)
