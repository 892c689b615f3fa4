"""`gamesim theorem`: test the claims of the wavelet learner's paper empirically."""

import argparse
from pathlib import Path

from gamesim.cli.arguments import Commands, whole_number
from gamesim.cli.console import make_console
from gamesim.cli.exit_codes import INTERRUPTED


def add_theorem(commands: Commands) -> None:
    """Add the parser of `gamesim theorem`."""
    theorem = commands.add_parser("theorem", help="test the claims of the wavelet learner's paper by simulation")
    theorem.add_argument("--small", action="store_true", help="a smaller version that takes minutes")
    theorem.add_argument(
        "--out",
        default="studies/theorem",
        metavar="FOLDER",
        help="folder of the store, page and figures (default: studies/theorem)",
    )
    theorem.add_argument(
        "--workers", type=whole_number, default=2, metavar="N", help="number of processes (default: 2)"
    )
    theorem.add_argument(
        "--again", action="append", default=[], metavar="CLAIM", help="run the points of this claim again"
    )
    theorem.set_defaults(command=_theorem)


def _theorem(arguments: argparse.Namespace) -> int:
    from gamesim.wavelet_theorem.run import theorem

    console = make_console(stderr=True)
    try:
        page = theorem(Path(arguments.out), arguments.small, arguments.workers, arguments.again, console.print)
    except KeyboardInterrupt:
        console.print("interrupted; finished points are saved, repeat the command to continue")
        return INTERRUPTED
    console.print(f"Written to {page}", style="dim")
    return 0
