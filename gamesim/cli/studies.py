"""`gamesim sweep` and `gamesim study`: run the points of a study, and tell what came of them."""

import argparse
import os

from gamesim.cli.arguments import Commands, Paragraphs, whole_number
from gamesim.cli.console import make_console

SWEEP_HELP = """\
Runs every point of a study that is not finished yet, and keeps its measures in a store, FOLDER/study.sqlite. Whatever
stops a sweep, the same command goes on: what was finished is never run again, what failed is tried again, and a changed
study runs only what is new. gamesim study FOLDER tells what came of it.

exit codes: 0 done, 1 some points failed (they are listed), 2 a mistake in what was given, 130 stopped by Ctrl-C"""


def add_sweep(commands: Commands) -> None:
    """Add the parser of `gamesim sweep`."""
    sweep = commands.add_parser(
        "sweep",
        help="run all points of a study",
        description=SWEEP_HELP,
        formatter_class=Paragraphs,
    )
    sweep.add_argument("study", metavar="STUDY", help="the path of a study file, or the name of a shipped study")
    sweep.add_argument("--out", metavar="FOLDER", help="where the store is kept (default: studies/STUDY)")
    sweep.add_argument("--workers", type=whole_number, metavar="N", help="processes (default: one for each processor)")
    sweep.add_argument("--cluster", metavar="ADDRESS", help="run on the dask cluster with this scheduler, tcp://...")
    sweep.add_argument("--dry-run", action="store_true", help="say how many points, how long and how much disk")
    sweep.add_argument("--quiet", action="store_true", help="print nothing but mistakes")
    sweep.set_defaults(command=_sweep)


def add_study(commands: Commands) -> None:
    """Add the parser of `gamesim study`."""
    study = commands.add_parser("study", help="print a study's tables and fits, export it, draw it")
    study.add_argument("study", metavar="FILE", help="a store, its folder, or a study that was swept into studies/")
    study.add_argument("--measure", metavar="NAME", help="tell about this measure only")
    study.add_argument("--csv", metavar="PATH", help="write every point as a line of CSV")
    study.add_argument("--parquet", metavar="PATH", help="write every point as Parquet")
    study.add_argument("--figures", metavar="FOLDER", help="draw its figures, as SVG and PNG")
    study.add_argument("--force", action="store_true", help="overwrite existing files")
    study.set_defaults(command=_study)


def _sweep(arguments: argparse.Namespace) -> int:
    from gamesim.cli.sweep import run_sweep

    console = make_console(quiet=arguments.quiet)
    workers = (os.cpu_count() or 1) if arguments.workers is None else arguments.workers
    return run_sweep(arguments.study, arguments.out, workers, arguments.cluster, console, dry_run=arguments.dry_run)


def _study(arguments: argparse.Namespace) -> int:
    from gamesim.cli.study_results import show_study

    asked = {key: getattr(arguments, key) for key in ("measure", "csv", "parquet", "figures", "force")}
    return show_study(arguments.study, make_console(), **asked)
