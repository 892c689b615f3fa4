"""Where commands print, and what they say while kernels are compiled."""

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def make_console(stderr: bool = False, quiet: bool = False) -> "Console":
    """Return where to print: names are printed as they are, and where there is no terminal, without control codes."""
    from rich.console import Console

    class Printer(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # to `main`: rich would end the process, with 1

    return Printer(stderr=stderr, quiet=quiet, markup=False, highlight=False, emoji=False)


@cache
def announce_compilation() -> None:
    """Say so, once, when kernels have to be compiled."""
    from gamesim.engine import compiled

    compiled.announce_compilation(
        lambda: print("compiling once, this takes a while; later runs start at once", file=sys.stderr)
    )
