"""The consoles of the commands, and the message shown while kernels are compiled."""

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def make_console(stderr: bool = False, quiet: bool = False) -> "Console":
    """Return a console that prints text verbatim, and without control codes if it is not a terminal."""
    from rich.console import Console

    class Printer(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # handled by `main`; rich would exit with code 1

    return Printer(stderr=stderr, quiet=quiet, markup=False, highlight=False, emoji=False)


@cache
def announce_compilation() -> None:
    """Print a message, once, if kernels have to be compiled."""
    from gamesim.engine import compiled

    compiled.announce_compilation(
        lambda: print("compiling; this takes a while, and later runs start immediately", file=sys.stderr)
    )
