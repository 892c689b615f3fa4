"""`gamesim run` and `gamesim resume`: simulate a scenario or a game, measure it, and write a run folder."""

import argparse
import shlex
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from gamesim.cli.arguments import (
    Commands,
    Paragraphs,
    add_local_code,
    seconds,
    whole_number,
)
from gamesim.cli.console import announce_compilation, make_console
from gamesim.cli.exit_codes import INTERRUPTED
from gamesim.cli.game_runs import DEFAULT_LEARNER, DEFAULT_ROUNDS, scenario_and_name
from gamesim.cli.target import refuse_target
from gamesim.errors import InputError

if TYPE_CHECKING:
    from gamesim.cli.checkpoints import CheckpointWriter, UnfinishedRun
    from gamesim.interrupts import Stop
    from gamesim.record import Record
    from gamesim.report.summary import Summary
    from gamesim.scenario import Scenario

RUN_HELP = """\
Simulate a scenario, or a game with the learners given, print the results, and write a run folder with the scenario as
run, summary.json, the record, the figures and a report. Running that scenario again reproduces the run. If the folder
exists, its run is continued if it is the same with fewer rounds; otherwise a new folder is written, such as
runs/chicken-0-2. Ctrl-C stops the run and keeps the rounds played; a second Ctrl-C quits immediately.

--json prints one object:
  rounds, seed     of the run
  players          [{name, learner, payoff (mean per round), regret {external, internal, swap} (totals)}]
  gap              {ce, cce}: the largest gain per round from deviating (largest swap and external regret per round)
  distance         {ce, cce}: total variation distance from play to the nearest equilibrium, or null if not computed
  distance_bounds  if a distance was not solved in time only: {ce or cce: [lower, upper]}, both certified
  welfare          sum of the players' mean payoffs per round
  replicas         with replicas only: [{seed, players, gap, distance, welfare}]; the other values are then means

Regrets, gaps, payoffs and welfare are in the payoff units of the game. summary.json contains these values and more.

exit codes: 0 success, 2 invalid input (nothing is written), 130 stopped by Ctrl-C"""

RESUME_HELP = """\
Continue a run that was stopped by Ctrl-C, or killed while writing checkpoints (gamesim run --checkpoint). The run
folder is bit-for-bit identical to that of an uninterrupted run.

exit codes: as for gamesim run"""


def add_run(commands: Commands) -> None:
    """Add the parser of `gamesim run`."""
    run = commands.add_parser(
        "run",
        help="simulate a scenario or a game and report the results",
        description=RUN_HELP,
        formatter_class=Paragraphs,
    )
    run.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="path of a scenario file or name of a built-in scenario; or a game: its name, or a .nfg, .gam, .csv or "
        ".npz file",
    )
    run.add_argument(
        "--learner",
        action="append",
        metavar="LEARNER",
        help="learner of the players of a game, such as hedge or hedge:rate=0.1: once for all players, or once per "
        f"player (default: {DEFAULT_LEARNER}); the first round is perturbed by 0.1",
    )
    run.add_argument(
        "--rounds",
        type=whole_number,
        metavar="N",
        help=f"number of rounds (default: the scenario's, or {DEFAULT_ROUNDS} for a game); an existing run with fewer "
        "rounds is extended, and its learners keep the horizon they were tuned to",
    )
    run.add_argument("--seed", type=whole_number, metavar="N", help="seed (default: the scenario's)")
    run.add_argument(
        "--out", metavar="FOLDER", help="run folder to write (default: runs/SCENARIO-SEED, or a new folder)"
    )
    run.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    run.add_argument("--quiet", action="store_true", help="print errors only (and the JSON object, with --json)")
    run.add_argument("--force", action="store_true", help="overwrite an existing run folder")
    run.add_argument("--no-figures", action="store_true", help="do not draw figures or write the report")
    run.add_argument(
        "--checkpoint",
        type=seconds,
        metavar="SECONDS",
        help="write a checkpoint every SECONDS seconds (see gamesim resume)",
    )
    add_local_code(run)
    run.set_defaults(command=_run)


def add_resume(commands: Commands) -> None:
    """Add the parser of `gamesim resume`."""
    resume = commands.add_parser(
        "resume",
        help="continue a run that was stopped or killed",
        description=RESUME_HELP,
        formatter_class=Paragraphs,
    )
    resume.add_argument("run", metavar="RUN", help="run folder, even if a killed run has not written it yet")
    resume.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    resume.add_argument("--quiet", action="store_true", help="print errors only")
    resume.add_argument("--no-figures", action="store_true", help="do not draw figures or write the report")
    resume.add_argument(
        "--checkpoint",
        type=seconds,
        metavar="SECONDS",
        help="write a checkpoint every SECONDS seconds (default: as before)",
    )
    add_local_code(resume)
    resume.set_defaults(command=_resume)


def _run(arguments: argparse.Namespace) -> int:
    from gamesim.cli import checkpoints

    scenario, name = scenario_and_name(arguments.scenario, arguments.learner, local_code=arguments.allow_local_code)
    scenario = scenario.changed(arguments.rounds, arguments.seed)
    if arguments.checkpoint and not scenario.can_resume:
        raise InputError(
            "a run with a learner in Python cannot be resumed, unless its class has state() and restore(state); "
            "omit --checkpoint"
        )
    target, shorter = _target(scenario, name, arguments)
    if shorter is None:
        refuse_target(target, force=arguments.force)
        if arguments.force:
            checkpoints.remove_checkpoints(target)
    run = shorter or checkpoints.UnfinishedRun(scenario, scenario.title or name)
    return _finish(run, target, arguments, force=arguments.force or shorter is not None)


def _target(scenario: "Scenario", name: str, arguments: argparse.Namespace) -> "tuple[Path, UnfinishedRun | None]":
    """Return the run folder to write, and the run in it if this one extends it."""
    from gamesim.cli import checkpoints

    first = Path(arguments.out) if arguments.out else Path("runs") / f"{name}-{scenario.seed}"
    if arguments.force:
        return first, None
    shorter = checkpoints.shorter_run(first, scenario)
    if arguments.out or shorter is not None:
        return first, shorter
    target, numbers = first, count(2)
    while shorter is None and (target.exists() or target.is_symlink()):
        target = first.with_name(f"{first.name}-{next(numbers)}")
        shorter = checkpoints.shorter_run(target, scenario)
    return target, shorter


def _resume(arguments: argparse.Namespace) -> int:
    from gamesim.cli import checkpoints

    target = Path(str(Path(arguments.run)).removesuffix(".partial"))
    run = checkpoints.unfinished_run(target, local_code=arguments.allow_local_code)
    if run is None:
        checkpoints.remove_checkpoints(target)
        make_console(stderr=True, quiet=arguments.quiet).print(f"{target} is complete; there is nothing to do")
        return 0
    arguments.checkpoint = arguments.checkpoint or run.interval
    return _finish(run, target, arguments, force=True)


def _finish(run: "UnfinishedRun", target: Path, arguments: argparse.Namespace, *, force: bool) -> int:
    """Play the remaining rounds, measure the run, and print and write the results."""
    from gamesim.cli import checkpoints
    from gamesim.interrupts import Stop

    interval = arguments.checkpoint
    if interval is None and run.record is not None and run.scenario.can_resume:
        interval = float("inf")  # the earlier record is kept until the longer one is written
    if not arguments.quiet:
        announce_compilation()
    with Stop() as stop:
        try:
            with checkpoints.checkpoints(target, run, interval) as keep:
                record, summary = _play_and_measure(run, target, arguments, stop, keep)
                try:
                    _print_results(record, summary, arguments)
                finally:  # even if nobody reads the results, the run is not lost
                    summary = _write(run, record, summary, target, arguments, stop, force=force)
        except KeyboardInterrupt:
            if checkpoints.partial_folder(target).exists():
                make_console(stderr=True, quiet=arguments.quiet).print(_how_to_continue(target, run))
            raise
        checkpoints.remove_checkpoints(target)
    _print_target(run, summary, target, arguments)
    return INTERRUPTED if stop.wished else 0


def _play_and_measure(
    run: "UnfinishedRun", target: Path, arguments: argparse.Namespace, stop: "Stop", keep: "CheckpointWriter | None"
) -> "tuple[Record, Summary]":
    """Play the remaining rounds and measure the run."""
    from gamesim.cli.progress import run_watched
    from gamesim.report.summary import summarise

    scenario = run.scenario
    console = make_console(stderr=True, quiet=arguments.quiet)
    record = run_watched(run.simulation(), scenario.rounds, target.name, console, stop, keep)
    stopped = record.rounds < scenario.rounds

    def measure(distance: str, *, stopped: bool) -> "Summary":
        measures = scenario.measure.measures
        return summarise(record, title=run.name, distance=distance, stopped=stopped, measures=measures)

    with console.status("measuring"):
        summary = stop.or_else(
            lambda: measure(scenario.measure.distance, stopped=stopped),
            lambda: measure("never", stopped=stopped or scenario.can_resume),  # cut short, so it counts as stopped
        )
    return record, summary


def _print_results(record: "Record", summary: "Summary", arguments: argparse.Namespace) -> None:
    """Print the results of a run, before its figures are drawn."""
    import json

    from gamesim.report import terminal
    from gamesim.report.ending import ending

    if arguments.json:
        print(json.dumps(summary.as_json(), allow_nan=False, ensure_ascii=False))
    elif not arguments.quiet:
        console = make_console()
        terminal.show(summary, console, record.game)
        console.print(f"\n{ending(record)}")
    sys.stdout.flush()


def _write(
    run: "UnfinishedRun",
    record: "Record",
    summary: "Summary",
    target: Path,
    arguments: argparse.Namespace,
    stop: "Stop",
    *,
    force: bool,
) -> "Summary":
    """Draw the figures and write the run folder; return the summary as written."""
    from dataclasses import replace

    from gamesim.atomic import write_folder
    from gamesim.report.html import missing_figures
    from gamesim.report.run_folder import write_report, write_run

    console = make_console(stderr=True, quiet=arguments.quiet)

    def draw(folder: Path) -> bool:
        for missing in missing_figures(write_report(folder, run.scenario, record, summary)):
            console.print(missing)
        return True

    def write(folder: Path) -> None:
        nonlocal summary
        if not arguments.no_figures:
            with console.status("drawing"):
                drawn = stop.or_else(lambda: draw(folder), lambda: False)
            if not drawn and run.scenario.can_resume:
                summary = replace(summary, stopped=True)
        write_run(folder, run.scenario, record, summary)

    write_folder(target, write, force=force)
    return summary


def _print_target(run: "UnfinishedRun", summary: "Summary", target: Path, arguments: argparse.Namespace) -> None:
    """Print the folder of a run and, if it was stopped, how to resume it."""
    console = make_console(stderr=True, quiet=arguments.quiet)
    console.print(f"\nWritten to {target}", style="dim")
    if summary.stopped and not run.scenario.can_resume:
        console.print(
            "the state of a user-defined learner is not saved; to start over, repeat the command with --force"
        )
    elif summary.stopped:
        console.print(_how_to_continue(target, run))


def _how_to_continue(target: Path, run: "UnfinishedRun") -> str:
    allow = " --allow-local-code" if run.scenario.references else ""
    return f"continue with `gamesim resume {shlex.quote(str(target))}{allow}`"
