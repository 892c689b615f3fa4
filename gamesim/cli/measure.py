"""`gamesim measure`: measure play that was observed, and write a report like that of a run."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from gamesim.cli.arguments import Commands, game_named
from gamesim.cli.console import make_console
from gamesim.cli.target import refuse_target
from gamesim.errors import InputError

if TYPE_CHECKING:
    from gamesim.record import Record
    from gamesim.report.summary import Intervals


def add_measure(commands: Commands) -> None:
    """Add the parser of `gamesim measure`."""
    measure = commands.add_parser(
        "measure",
        help="measure play that was observed, from a CSV or Parquet file",
        description="Measure play that was observed: regrets, gaps and distances, with bootstrap intervals, figures "
        "and a report. The file has one row per move and the columns round, player and action; session, group and "
        "recommendation are optional.",
    )
    measure.add_argument("plays", metavar="PLAYS", help="file of plays, which ends with .csv or .parquet")
    measure.add_argument(
        "--game", required=True, metavar="GAME", help="game file, scenario file, or name of a built-in game"
    )
    measure.add_argument("--pool", action="store_true", help="measure all groups together, as one sequence of rounds")
    measure.add_argument("--drop-incomplete", action="store_true", help="leave out rounds in which a move is missing")
    measure.add_argument(
        "--compare",
        nargs="+",
        metavar="LEARNER",
        help="what these learners would have earned in each seat, against the same moves of the others",
    )
    measure.add_argument("--samples", type=int, default=1000, metavar="N", help="number of resamples (default 1000)")
    measure.add_argument("--out", metavar="FOLDER", help="folder to write (default: runs/NAME of the file)")
    measure.add_argument("--force", action="store_true", help="overwrite the folder")
    measure.add_argument("--no-figures", action="store_true", help="write no figures and no report")
    measure.add_argument("--json", action="store_true", help="print the results as JSON")
    measure.add_argument("--quiet", action="store_true", help="print errors only")
    measure.set_defaults(command=_measure)


def _measure(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    from gamesim.atomic import write_folder
    from gamesim.observation import observed, read
    from gamesim.report import terminal
    from gamesim.report.html import missing_figures
    from gamesim.report.run_folder import write_report, write_run
    from gamesim.report.summary import summarise

    source = Path(arguments.plays)
    if source.suffix not in (".csv", ".parquet"):
        raise InputError(f"plays must be a .csv or .parquet file, got {source}")
    game = game_named(arguments.game)
    found = read(source, game, drop_incomplete=arguments.drop_incomplete)
    record = observed(game, found, pool=arguments.pool)
    target = Path(arguments.out) if arguments.out else Path("runs") / source.stem
    refuse_target(target, force=arguments.force)
    summary = summarise(record, title=source.stem)
    summary = replace(summary, intervals=_intervals(record, arguments.samples))
    console = make_console(stderr=True, quiet=arguments.quiet)

    def write(folder: Path) -> None:
        if not arguments.no_figures:
            for missing in missing_figures(write_report(folder, None, record, summary)):
                console.print(missing)
        write_run(folder, None, record, summary)

    write_folder(target, write, force=arguments.force)
    if arguments.json:
        print(json.dumps(summary.as_full_json(), allow_nan=False, ensure_ascii=False))
    elif not arguments.quiet:
        terminal.show(summary, make_console())
        if arguments.compare:
            _compare(record, arguments.compare)
    if found.left_out:
        console.print(f"{found.left_out} rounds were left out, because a move was missing")
    if found.unused:
        console.print(f"columns not used: {', '.join(found.unused)}", style="dim")
    console.print(f"\nWritten to {target}", style="dim")
    return 0


def _intervals(record: "Record", samples: int) -> "Intervals":
    import numpy as np

    from gamesim.observation.bootstrap import description, intervals
    from gamesim.report.summary import Intervals

    level = 0.95
    found = intervals(record, level=level, samples=samples)
    by_measure = {
        name: list(zip(*(np.atleast_1d(end).tolist() for end in (one.estimate, one.low, one.high)), strict=True))
        for name, one in found.items()
    }
    return Intervals(level, description(record), by_measure)


def _compare(record: "Record", learners: list[str]) -> None:
    """Print what learners would have earned in each seat."""
    from gamesim.formatting import number
    from gamesim.observation import payoffs_in_seat
    from gamesim.report.terminal import print_table

    console = make_console()
    columns = [("mean payoff of", "left"), ("observed", "right"), *((name, "right") for name in learners)]
    payoffs = record.payoffs if record.single else record.payoffs.mean(axis=0)
    rows = []
    for player, name in enumerate(record.game.players):
        earned = [float(payoffs_in_seat(record, player, learner).mean()) for learner in learners]
        rows.append([name, number(float(payoffs[player])), *map(number, earned)])
    console.print()
    print_table(columns, rows, console)
    console.print("What each learner would have earned against the same moves of the others.", style="dim")
