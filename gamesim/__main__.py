"""The command `gamesim`, also as `python -m gamesim`: Ctrl-C ends it without a traceback, at whatever moment."""

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

from gamesim import blas
from gamesim.cli.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

# Imports and figures make many objects and few cycles: a short run need not look for them, but a server must.
RARELY, SOMETIMES = (500_000, 20, 20), (100_000, 50, 50)
SERVERS = (["lab"], ["class"])


def start() -> int:
    """Run the command line and return its exit code."""
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # otherwise the parent ignores Ctrl-C
    if handled:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a KeyboardInterrupt during an import prints a traceback
    sys.unraisablehook = _end_if_interrupted
    gc.set_threshold(*(SOMETIMES if sys.argv[1:2] in SERVERS else RARELY))
    blas.start_with_one_thread()
    from gamesim.cli.main import main

    if handled:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = main()
    if handled:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is written; the interpreter takes a moment to exit
    gc.freeze()  # the interpreter looks for cycles once more before it exits
    return code


def _end_if_interrupted(lost: "UnraisableHookArgs") -> None:
    """End the process if a KeyboardInterrupt was raised in a callback, which Python would report and ignore."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        os.write(2, b"gamesim: interrupted\n")
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(lost)


if __name__ == "__main__":
    sys.exit(start())
