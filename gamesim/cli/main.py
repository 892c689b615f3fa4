"""The entry point of the command line: one parser for all commands, and error messages.

Each command module adds its parsers and has one small function per command. Slow imports are local to these functions,
so that `gamesim --help` starts quickly.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence

from gamesim import __version__
from gamesim.cli import classroom, compare, files, lab, listing, literature, measure, portrait, run, studies, theorem
from gamesim.cli.arguments import Parser, wrapped
from gamesim.cli.exit_codes import BAD_INPUT, BROKEN_PIPE, INTERRUPTED
from gamesim.errors import InputError, did_you_mean, readable, unknown


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
    parser = build_parser()
    if not given:
        given = ["--help"]
    commands: dict[str, argparse.ArgumentParser] = parser.get_default("commands")
    if given and not given[0].startswith("-") and given[0] not in commands:
        raise unknown("command", given[0], commands)
    arguments, rest = parser.parse_known_args(given)
    if rest:
        command = f"gamesim {arguments.called}"
        option = rest[0].partition("=")[0]
        if not option.startswith("-"):
            raise InputError(f"{command}: unexpected argument {rest[0]!r}; see `{command} --help`")
        options = re.findall(r"--[a-z-]+", commands[arguments.called].format_usage())
        raise InputError(f"{command}: unknown option {option}; {did_you_mean(option, [*options, '--help'])}")
    return arguments


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands, in the order in which the help lists them."""
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
    run.add_run(commands)
    compare.add_compare(commands)
    measure.add_measure(commands)
    files.add_figures(commands)
    portrait.add_portrait(commands)
    files.add_convert(commands)
    run.add_resume(commands)
    listing.add_check(commands)
    listing.add_list(commands)
    listing.add_show(commands)
    studies.add_sweep(commands)
    studies.add_study(commands)
    literature.add_literature(commands)
    theorem.add_theorem(commands)
    lab.add_lab(commands)
    classroom.add_play(commands)
    classroom.add_class(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
