"""`gamesim literature`: measure published results, and write the gallery."""

import argparse
from pathlib import Path

from gamesim.cli.arguments import Commands
from gamesim.cli.console import announce_compilation, make_console
from gamesim.cli.exit_codes import FAILED
from gamesim.errors import InputError, unknown


def add_literature(commands: Commands) -> None:
    """Add the parser of `gamesim literature`."""
    literature = commands.add_parser("literature", help="compare published results with what gamesim measures")
    literature.add_argument("names", nargs="*", metavar="NAME", help="entries, as listed by `gamesim list literature`")
    literature.add_argument("--all", action="store_true", help="measure every entry, and write the gallery to --out")
    literature.add_argument("--small", action="store_true", help="short runs, as in the test suite")
    literature.add_argument("--out", default="docs", metavar="FOLDER", help="folder of the gallery (default: docs)")
    literature.set_defaults(command=_literature)


def _literature(arguments: argparse.Namespace) -> int:
    from gamesim.literature import entries
    from gamesim.literature.entry import SMALL, Entry, Result
    from gamesim.literature.gallery import run, write_gallery

    known = entries()
    if not arguments.names and not arguments.all:
        raise InputError("name entries, or measure all with --all; `gamesim list literature` lists them")
    for name in arguments.names:
        if name not in known:
            raise unknown("entry", name, known)
    chosen = known if arguments.all else {name: known[name] for name in arguments.names}
    console = make_console()
    announce_compilation()

    def done(one: Entry, result: Result) -> None:
        console.print(f"{one.name}: {result.verdict}", style="bold")
        for row in result.comparisons:
            console.print(f"  {row}{'' if row.agrees else '  ← does not agree'}")

    results = run(chosen, SMALL if arguments.small else 1.0, done)
    if arguments.all:
        console.print(f"Written to {write_gallery(Path(arguments.out), chosen, results)}")
    return FAILED if any(results[name].verdict != chosen[name].expected for name in results) else 0
