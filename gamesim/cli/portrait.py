"""`gamesim portrait`: draw the phase portrait of learners in a small game, and print its rest points."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gamesim.cli.arguments import Commands, Paragraphs, whole_number
from gamesim.cli.console import announce_compilation, make_console

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from gamesim.portraits import Portrait

PORTRAIT_HELP = """\
Draw where learners go from each strategy, where they rest and where they end, and print the rest points with their
stability. The game must be 2×2 (drawn as a square), 2×2×2 (a cube), or symmetric with three actions (a triangle, in
which both players play the same strategy).

Arrows show one round of the learner itself. For learners with memory, such as hedge with its decreasing rate, they show
the mean field of the continuous-time limit; hedge:rate=0.1 has no memory."""


def add_portrait(commands: Commands) -> None:
    """Add the parser of `gamesim portrait`."""
    portrait = commands.add_parser(
        "portrait",
        help="draw the phase portrait of learners in a small game",
        description=PORTRAIT_HELP,
        formatter_class=Paragraphs,
    )
    portrait.add_argument("game", metavar="GAME", help="name of a built-in game, or game file")
    portrait.add_argument(
        "--learner",
        action="append",
        metavar="LEARNER",
        help="learner of all players, such as hedge:rate=0.1, or if repeated, of each player in turn "
        "(default: replicator)",
    )
    portrait.add_argument(
        "--rounds", type=whole_number, metavar="N", help="rounds of each run (default: until it ends)"
    )
    portrait.add_argument("--out", metavar="PATH", help="picture to write, .svg and .png (default: portrait-GAME)")
    portrait.add_argument("--force", action="store_true", help="overwrite existing pictures")
    portrait.set_defaults(command=_portrait)


def _portrait(arguments: argparse.Namespace) -> int:
    from gamesim import figures, games
    from gamesim.atomic import refuse_to_overwrite
    from gamesim.portraits import portrait

    by_name = arguments.game in games.available() or not Path(arguments.game).exists()
    game = games.make(arguments.game) if by_name else games.load(arguments.game)
    stem = Path(arguments.out or f"portrait-{Path(arguments.game).stem}")
    stem = stem.with_suffix("") if stem.suffix in (".svg", ".png") else stem
    for suffix in (".svg", ".png"):
        refuse_to_overwrite(stem.with_suffix(suffix), force=arguments.force)
    announce_compilation()
    learners = arguments.learner or ["replicator"]
    shown = portrait(game, learners[0] if len(learners) == 1 else learners, rounds=arguments.rounds)
    drawn = figures.portrait(shown)
    console = make_console()
    console.print(figures.title_of(drawn), style="bold")
    console.print(f"Arrows: {shown.dynamics.description}.\n")
    console.print(_rest_points(shown))
    for path in figures.write(drawn, stem):
        print(f"Written to {path}")
    return 0


def _rest_points(shown: "Portrait") -> "Grid":
    """Return the rest points as a table."""
    from rich.table import Table as Grid

    from gamesim.figures.portrait import place_name
    from gamesim.formatting import number

    grid = Grid("rest point", "stability", "eigenvalues", "Nash", "runs that end there", box=None, header_style="dim")
    for place, point in enumerate(shown.rest):
        values = ", ".join(number(v.real) + (f" {v.imag:+.3g}i" if v.imag else "") for v in point.eigenvalues)
        count = int((shown.ends == place).sum())
        share = f"{count:,} of {len(shown.ends):,}" if count else ""
        grid.add_row(place_name(shown, place), point.stability, values, "yes" if point.is_nash else "", share)
    return grid
