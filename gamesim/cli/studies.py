"""`gamesim sweep` and `gamesim study`: run the points of a study, and summarise the results."""

import argparse
import os

from gamesim.cli.arguments import Commands, Paragraphs, add_local_code, whole_number
from gamesim.cli.console import make_console

SWEEP_HELP = """\
Run the unfinished points of a study and save their measures in a store, FOLDER/study.sqlite. If a sweep is stopped,
repeat the command to continue: finished points are not run again, failed points are retried, and of a changed study
only the new points are run. gamesim study FOLDER summarises the results.

exit codes: 0 success, 1 some points failed (they are listed), 2 invalid input, 130 stopped by Ctrl-C"""


def add_sweep(commands: Commands) -> None:
    """Add the parser of `gamesim sweep`."""
    sweep = commands.add_parser(
        "sweep",
        help="run all points of a study",
        description=SWEEP_HELP,
        formatter_class=Paragraphs,
    )
    sweep.add_argument("study", metavar="STUDY", help="path of a study file, or name of a built-in study")
    sweep.add_argument("--out", metavar="FOLDER", help="folder of the store (default: studies/STUDY)")
    sweep.add_argument("--workers", type=whole_number, metavar="N", help="number of processes (default: one per CPU)")
    sweep.add_argument(
        "--cluster", metavar="ADDRESS", help="run on the Dask cluster with this scheduler address (tcp://...)"
    )
    sweep.add_argument(
        "--dry-run", action="store_true", help="estimate points, running time and disk space without running the study"
    )
    sweep.add_argument("--quiet", action="store_true", help="print errors only")
    add_local_code(sweep)
    sweep.set_defaults(command=_sweep)


def add_study(commands: Commands) -> None:
    """Add the parser of `gamesim study`."""
    study = commands.add_parser("study", help="print, export or plot the results of a study")
    study.add_argument("study", metavar="FILE", help="store, its folder, or name of a study in studies/")
    study.add_argument("--measure", metavar="NAME", help="use this measure only")
    study.add_argument("--csv", metavar="PATH", help="write a CSV file with one row per point")
    study.add_argument("--parquet", metavar="PATH", help="write a Parquet file with one row per point")
    study.add_argument("--figures", metavar="FOLDER", help="draw the figures, as SVG and PNG")
    study.add_argument("--force", action="store_true", help="overwrite existing files")
    study.set_defaults(command=_study)


def _sweep(arguments: argparse.Namespace) -> int:
    from gamesim.cli.sweep import run_sweep

    console = make_console(quiet=arguments.quiet)
    workers = (os.cpu_count() or 1) if arguments.workers is None else arguments.workers
    options = {"dry_run": arguments.dry_run, "local_code": arguments.allow_local_code}
    return run_sweep(arguments.study, arguments.out, workers, arguments.cluster, console, **options)


def _study(arguments: argparse.Namespace) -> int:
    from gamesim.cli.study_results import show_study

    asked = {key: getattr(arguments, key) for key in ("measure", "csv", "parquet", "figures", "force")}
    return show_study(arguments.study, make_console(), **asked)
