"""The entry point of the command line: one parser for all commands, and error messages.

Each command module adds its parsers and has one small function per command. Slow imports are local to these functions,
so that `gamesim --help` starts quickly, and a command imports no other command's module.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module

from gamesim import __version__
from gamesim.cli.arguments import Parser, wrapped
from gamesim.cli.exit_codes import BAD_INPUT, BROKEN_PIPE, INTERRUPTED
from gamesim.errors import InputError, did_you_mean, readable, unknown

# The module with the function `add_COMMAND` of each command, in the order in which the help lists them.
MODULES = {
    "run": "run",
    "compare": "compare",
    "measure": "measure",
    "figures": "files",
    "portrait": "portrait",
    "convert": "files",
    "resume": "run",
    "check": "listing",
    "list": "listing",
    "show": "listing",
    "sweep": "studies",
    "study": "studies",
    "literature": "literature",
    "theorem": "theorem",
    "lab": "lab",
    "play": "classroom",
    "class": "classroom",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; invalid input gives a message and 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows a replacement
    try:
        arguments = _parsed(sys.argv[1:] if argv is None else argv)
        code: int = arguments.command(arguments)
        sys.stdout.flush()
    except SystemExit as end:  # argparse: --help, or an error it has printed
        code = end.code if isinstance(end.code, int) else BAD_INPUT
    except InputError as error:
        code = _refuse(str(error))
    except MemoryError as error:
        code = _refuse(f"out of memory ({error}); use fewer players, actions or replicas")
    except BrokenPipeError:  # the reader of standard output has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    except OSError as error:
        code = _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        print("gamesim: interrupted", file=sys.stderr)
        code = INTERRUPTED
    return code


def _refuse(message: str) -> int:
    print(wrapped(f"gamesim: {readable(message)}"), file=sys.stderr)
    return BAD_INPUT


def _parsed(given: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; suggest a correction for a misspelt command or option."""
    given = given or ["--help"]
    if not given[0].startswith("-") and given[0] not in MODULES:
        raise unknown("command", given[0], MODULES)
    parser = build_parser([given[0]] if given[0] in MODULES else list(MODULES))
    commands: dict[str, argparse.ArgumentParser] = parser.get_default("commands")
    arguments, rest = parser.parse_known_args(given)
    if rest:
        command = f"gamesim {arguments.called}"
        option = rest[0].partition("=")[0]
        if not option.startswith("-"):
            raise InputError(f"{command}: unexpected argument {rest[0]!r}; see `{command} --help`")
        options = re.findall(r"--[a-z-]+", commands[arguments.called].format_usage())
        raise InputError(f"{command}: unknown option {option}; {did_you_mean(option, [*options, '--help'])}")
    return arguments


def build_parser(names: Sequence[str] = tuple(MODULES)) -> argparse.ArgumentParser:
    """Return the parser of some commands, by default of all."""
    parser = Parser(
        prog="gamesim",
        description="Simulate learners playing a game, and measure their regret and how close play is to equilibrium.",
        epilog="Try `gamesim run chicken`. Options of a command: `gamesim COMMAND --help`.",
    )
    parser.add_argument(
        "--version", action="version", version=f"gamesim {__version__}", help="show the version and exit"
    )
    commands = parser.add_subparsers(title="commands", dest="called", required=True, metavar="COMMAND")
    parser.set_defaults(commands=commands.choices)
    for name in names:
        getattr(import_module(f"gamesim.cli.{MODULES[name]}"), f"add_{name}")(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
