"""What the parsers of several commands share: arguments, numbers as people write them, and help in paragraphs."""

import argparse
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

from gamesim.errors import InputError

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Number = TypeVar("Number", int, float)


def add_scenario(command: argparse.ArgumentParser) -> None:
    """Let a command take a scenario."""
    command.add_argument(
        "scenario", metavar="SCENARIO", help="the path of a scenario file, or the name of a shipped scenario"
    )


def add_local_code(command: argparse.ArgumentParser) -> None:
    """Let a command be allowed to run the learners of the user's own."""
    command.add_argument(
        "--allow-local-code",
        action="store_true",
        help="run the Python files that are named as learners (mylearner.py:MyHedge): only files that you trust",
    )


class Paragraphs(argparse.HelpFormatter):
    """Breaks paragraphs to the terminal, and lines that are indented each under its second column."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = []
        for line in re.sub(r"(?<=\S)\n(?=\S)", " ", text).split("\n"):
            column = re.match(r"  \S.*?  +(?=\S)", line)
            lines.append(textwrap.fill(line, width, subsequent_indent=" " * len(column[0]) if column else ""))
        return "\n".join(lines)


def whole_number(text: str) -> int:
    """Read a whole number; the module that knows how needs NumPy, and is imported when used."""
    from gamesim.validation import number_of_rounds

    return _read(text, number_of_rounds)


def seconds(text: str) -> float:
    """Read a positive number of seconds; the module that knows how needs NumPy, and is imported when used."""
    from gamesim import validation

    return _read(text, validation.seconds)


def _read(text: str, check: Callable[[str], Number]) -> Number:
    """Read an argument, and let argparse say what is wrong with it."""
    try:
        return check(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def scenario_path(name: str) -> Path:
    """Return the path of a scenario; who names a shipped study is told how to run it."""
    from gamesim import scenario
    from gamesim.study import model as study

    try:
        return scenario.find(name)
    except InputError:
        if name not in study.shipped():
            raise
    raise InputError(f"{name} is a study, which varies a scenario: run it with `gamesim sweep {name}`")
