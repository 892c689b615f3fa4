"""`gamesim run` and `gamesim resume`: simulate a scenario, measure it, and write a run folder."""

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from gamesim.cli.arguments import (
    Commands,
    Paragraphs,
    add_local_code,
    add_scenario,
    scenario_path,
    seconds,
    whole_number,
)
from gamesim.cli.console import announce_compilation, make_console
from gamesim.cli.exit_codes import INTERRUPTED
from gamesim.cli.target import refuse_target
from gamesim.errors import InputError

if TYPE_CHECKING:
    from gamesim.cli.checkpoints import UnfinishedRun
    from gamesim.report.summary import Summary

RUN_HELP = """\
Simulates the scenario, prints what came of it, and writes a run folder: the scenario as run (which repeats the run),
summary.json, the record and figures. Ctrl-C stops the rounds and keeps what there is; a second Ctrl-C quits at once.

--json prints one object:
  rounds, seed     as run
  players          [{name, learner, payoff (average a round), regret {external, internal, swap} (totals)}]
  gap              {ce, cce}: the most that a player gains a round by deviating (largest swap, external regret a round)
  distance         {ce, cce}: total variation between play and the nearest equilibrium; null where left out
  welfare          the sum of the players' average payoffs a round
  replicas         only with replicas: [{seed, players, gap, distance, welfare}]; the rest are then means

Regrets, gaps, payoffs and welfare are in the game's own payoff units. summary.json holds the same and more.

exit codes: 0 done, 2 a mistake in what was given (nothing is written), 130 stopped by Ctrl-C"""

RESUME_HELP = """\
Goes on with a run that was stopped by Ctrl-C, or killed while it kept checkpoints (gamesim run --checkpoint), and
writes the run folder that the unbroken run would have written, bit for bit.

exit codes: as gamesim run"""


def add_run(commands: Commands) -> None:
    """Add the parser of `gamesim run`."""
    run = commands.add_parser(
        "run",
        help="simulate a scenario, measure and explain it",
        description=RUN_HELP,
        formatter_class=Paragraphs,
    )
    add_scenario(run)
    run.add_argument(
        "--rounds",
        type=whole_number,
        metavar="N",
        help="play this many rounds instead of the scenario's; an earlier run of fewer rounds goes on to them "
        "(learners that are tuned to a number of rounds keep the first one)",
    )
    run.add_argument("--seed", type=whole_number, metavar="N", help="take this seed instead of the scenario's")
    run.add_argument("--out", metavar="FOLDER", help="where to write the run folder (default: runs/SCENARIO-SEED)")
    run.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    run.add_argument(
        "--quiet", action="store_true", help="print nothing but mistakes (and the JSON object with --json)"
    )
    run.add_argument("--force", action="store_true", help="overwrite an earlier run folder")
    run.add_argument("--no-figures", action="store_true", help="draw no figures")
    run.add_argument(
        "--checkpoint", type=seconds, metavar="SECONDS", help="keep a checkpoint so often, for gamesim resume"
    )
    add_local_code(run)
    run.set_defaults(command=_run)


def add_resume(commands: Commands) -> None:
    """Add the parser of `gamesim resume`."""
    resume = commands.add_parser(
        "resume",
        help="go on with a run that was stopped or killed",
        description=RESUME_HELP,
        formatter_class=Paragraphs,
    )
    resume.add_argument("run", metavar="RUN", help="the run folder, also one that a killed run has not written yet")
    resume.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    resume.add_argument("--quiet", action="store_true", help="print nothing but mistakes")
    resume.add_argument("--no-figures", action="store_true", help="draw no figures")
    resume.add_argument(
        "--checkpoint", type=seconds, metavar="SECONDS", help="keep a checkpoint so often (default: as before)"
    )
    resume.set_defaults(command=_resume)


def _run(arguments: argparse.Namespace) -> int:
    from gamesim.cli import checkpoints
    from gamesim.scenario import read

    path = scenario_path(arguments.scenario)
    scenario = read(path, local_code=arguments.allow_local_code).changed(arguments.rounds, arguments.seed)
    if arguments.checkpoint and scenario.runs_code:
        raise InputError(
            "a run with a learner of your own cannot be resumed, as its state is not kept: leave out --checkpoint"
        )
    target = Path(arguments.out) if arguments.out else Path("runs") / f"{path.stem}-{scenario.seed}"
    shorter = None if arguments.force else checkpoints.shorter_run(target, scenario)
    if shorter is None:
        refuse_target(target, force=arguments.force)
        if arguments.force:
            checkpoints.remove_checkpoints(target)
    run = shorter or checkpoints.UnfinishedRun(scenario, scenario.title or path.stem)
    return _finish(run, target, arguments, force=arguments.force or shorter is not None)


def _resume(arguments: argparse.Namespace) -> int:
    from gamesim.cli import checkpoints

    target = Path(str(Path(arguments.run)).removesuffix(".partial"))
    run = checkpoints.unfinished_run(target)
    if run is None:
        checkpoints.remove_checkpoints(target)
        make_console(stderr=True, quiet=arguments.quiet).print(f"{target} has all its rounds: there is nothing to do")
        return 0
    arguments.checkpoint = arguments.checkpoint or run.interval
    return _finish(run, target, arguments, force=True)


def _finish(run: "UnfinishedRun", target: Path, arguments: argparse.Namespace, *, force: bool) -> int:
    """Play the rounds that a run has left, measure it, and write and show what came of it."""
    from gamesim.atomic import write_folder
    from gamesim.cli import checkpoints, progress
    from gamesim.report.run_folder import write_report, write_run
    from gamesim.report.summary import summarise

    scenario = run.scenario
    console = make_console(stderr=True, quiet=arguments.quiet)
    if not arguments.quiet:
        announce_compilation()
    with progress.Stop() as stop:
        simulation = run.simulation()
        keep = None
        if arguments.checkpoint or run.record is not None:  # an earlier record is kept until the longer one is written
            keep = checkpoints.start_checkpoints(target, run, arguments.checkpoint or float("inf"))
        record = progress.run_watched(simulation, scenario.rounds, target.name, console, stop, keep)
        stopped = record.rounds < scenario.rounds

        def measure(distance: str) -> "Summary":
            return summarise(record, title=run.name, distance=distance, stopped=stopped)

        with console.status("measuring"):
            summary = stop.or_else(lambda: measure(scenario.measure.distance), lambda: measure("never"))

        def write(folder: Path) -> None:
            write_run(folder, scenario, record, summary)
            if not arguments.no_figures:
                with console.status("drawing"):
                    stop.or_else(lambda: write_report(folder, scenario, record, summary), lambda: None)

        write_folder(target, write, force=force)
        checkpoints.remove_checkpoints(target)
    _tell(run, summary, target, arguments)
    return INTERRUPTED if stop.wished else 0


def _tell(run: "UnfinishedRun", summary: "Summary", target: Path, arguments: argparse.Namespace) -> None:
    """Print what came of a run, where it is, and how it goes on if it was stopped."""
    from gamesim.report import terminal

    console = make_console(stderr=True, quiet=arguments.quiet)
    if arguments.json:
        print(json.dumps(summary.as_json(), allow_nan=False, ensure_ascii=False))
    elif not arguments.quiet:
        terminal.show(summary, make_console())
    console.print(f"\nWritten to {target}", style="dim")
    if summary.stopped and run.scenario.runs_code:
        console.print("the state of a learner of your own cannot be kept: the same command with --force starts anew")
    elif summary.stopped:
        console.print(f"`gamesim resume {shlex.quote(str(target))}` goes on from here")
