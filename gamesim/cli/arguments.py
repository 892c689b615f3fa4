"""Shared parts of the command parsers: arguments, number formats, help and error layout."""

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from gamesim.cli.exit_codes import BAD_INPUT
from gamesim.errors import InputError, readable

if TYPE_CHECKING:
    from gamesim.game import Game

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
Number = TypeVar("Number", int, float)


def add_scenario(command: argparse.ArgumentParser) -> None:
    """Add the SCENARIO argument."""
    command.add_argument("scenario", metavar="SCENARIO", help="path of a scenario file, or name of a built-in scenario")


def add_local_code(command: argparse.ArgumentParser) -> None:
    """Add the option that permits user-defined learners, measures and observers."""
    command.add_argument(
        "--allow-local-code",
        action="store_true",
        help="run the Python files that are named (such as mylearner.py:MyHedge); use it only with files you trust",
    )


class Parser(argparse.ArgumentParser):
    """A parser whose help and errors are wrapped between words."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": Paragraphs, **options})

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with code 2."""
        self.print_usage(sys.stderr)
        self.exit(BAD_INPUT, wrapped(f"{self.prog}: error: {readable(message)}") + "\n")


class Paragraphs(argparse.HelpFormatter):
    """Help that is wrapped between words; an indented line continues under its second column."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = []
        for line in re.sub(r"(?<=\S)\n(?=\S)", " ", text).split("\n"):
            column = re.match(r"  \S.*?  +(?=\S)", line)
            lines.append(_fill(line, width, " " * len(column[0]) if column else ""))
        return "\n".join(lines)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _fill(" ".join(text.split()), width).split("\n")


def wrapped(message: str) -> str:
    """Wrap a message for standard error if that is a terminal; files and pipes get it unchanged."""
    if not sys.stderr.isatty():
        return message
    width = shutil.get_terminal_size().columns
    return "\n".join(_fill(line, width, re.match(" *", line)[0]) for line in message.split("\n"))  # type: ignore[index]


def _fill(line: str, width: int, indent: str = "") -> str:
    """Wrap one line at spaces only: names and options with hyphens stay whole."""
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def whole_number(text: str) -> int:
    """Parse a non-negative integer; the import is local because validation needs NumPy."""
    from gamesim.validation import number_of_rounds

    return _read(text, number_of_rounds)


def seconds(text: str) -> float:
    """Parse a positive number of seconds; the import is local because validation needs NumPy."""
    from gamesim import validation

    return _read(text, validation.seconds)


def _read(text: str, check: Callable[[str], Number]) -> Number:
    """Parse an argument, and pass a validation error on to argparse."""
    try:
        return check(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def game_named(name: str) -> "Game":
    """Return a built-in game, the game in a game file, or that of a scenario file."""
    from gamesim import games

    if name in games.available() and not Path(name).is_file():
        return games.make(name)
    from gamesim import scenario  # here because it takes longer to import

    return scenario.read(name).played_game if name.endswith(".toml") else games.load(name)


def scenario_path(name: str) -> Path:
    """Return the path of a scenario; if the name is a study, the error explains how to run it."""
    from gamesim import scenario

    try:
        return scenario.find(name)
    except InputError:
        from gamesim.study import model as study  # slow to import

        if name not in study.shipped():
            raise
    raise InputError(f"{name} is a study, not a scenario; run it with `gamesim sweep {name}`")
