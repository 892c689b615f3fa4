"""The command line: one parser of all commands, and what is said when something goes wrong.

Each module of commands adds its parsers and has a small function for each command; whatever is slow to import is
imported in there, so that `gamesim --help` answers at once.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence

from gamesim.cli import compare, files, lab, listing, run, studies, theorem
from gamesim.cli.exit_codes import BAD_INPUT, BROKEN_PIPE, INTERRUPTED
from gamesim.errors import InputError, did_you_mean


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: a person's mistake gives a message and 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows another
    try:
        arguments = _parsed(sys.argv[1:] if argv is None else argv)
        code: int = arguments.command(arguments)
        sys.stdout.flush()
    except SystemExit as end:  # argparse: --help, or a wrong option that it has explained
        code = end.code if isinstance(end.code, int) else BAD_INPUT
    except InputError as error:
        code = _refuse(str(error))
    except MemoryError as error:
        code = _refuse(f"this does not fit into memory ({error}): take fewer players, actions or replicas")
    except BrokenPipeError:  # whoever read our output has gone; nothing more can be said there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    except OSError as error:
        code = _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        print("gamesim: interrupted, nothing written", file=sys.stderr)
        code = INTERRUPTED
    return code


def _refuse(message: str) -> int:
    print(f"gamesim: {message}", file=sys.stderr)
    return BAD_INPUT


def _parsed(given: Sequence[str]) -> argparse.Namespace:
    """Return what the words on the command line say, or say which word may have been meant."""
    parser = build_parser()
    commands: dict[str, argparse.ArgumentParser] = parser.get_default("commands")
    if given and not given[0].startswith("-") and given[0] not in commands:
        raise InputError(f"there is no command {given[0]!r}: {did_you_mean(given[0], commands)}")
    arguments, unknown = parser.parse_known_args(given)
    if unknown:
        command = f"gamesim {arguments.called}"
        option = unknown[0].partition("=")[0]
        if not option.startswith("-"):
            raise InputError(f"{command} does not take {unknown[0]!r}: see {command} --help")
        options = re.findall(r"--[a-z-]+", commands[arguments.called].format_usage())
        raise InputError(f"{command} has no option {option}: {did_you_mean(option, [*options, '--help'])}")
    return arguments


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands, in the order in which help lists them."""
    parser = argparse.ArgumentParser(
        prog="gamesim",
        description="A simulator of learning in games: how far no-regret play is from correlated equilibria.",
        epilog="Start with: gamesim run chicken",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", dest="called", required=True, metavar="COMMAND")
    parser.set_defaults(commands=commands.choices)
    run.add_run(commands)
    compare.add_compare(commands)
    files.add_figures(commands)
    files.add_convert(commands)
    run.add_resume(commands)
    listing.add_check(commands)
    listing.add_list(commands)
    listing.add_show(commands)
    studies.add_sweep(commands)
    studies.add_study(commands)
    theorem.add_theorem(commands)
    lab.add_lab(commands)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"gamesim {version('gamesim')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
