"""The command line: a parser, and one small function a command. Heavy imports are made inside the commands."""

import argparse
import json
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gamesim.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from rich.console import Console

    from gamesim.cli.checkpoints import Unfinished
    from gamesim.record import Record
    from gamesim.report.summary import Summary
    from gamesim.scenario import Scenario

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141  # as a shell tells of those whom SIGINT and SIGPIPE end

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

SWEEP_HELP = """\
Runs every point of a study that is not finished yet, and keeps its measures in a store, FOLDER/study.sqlite. Whatever
stops a sweep, the same command goes on: what was finished is never run again, what failed is tried again, and a changed
study runs only what is new. gamesim study FOLDER tells what came of it.

exit codes: 0 done, 1 some points failed (they are listed), 2 a mistake in what was given, 130 stopped by Ctrl-C"""


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
    parser = _parser()
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gamesim",
        description="A simulator of learning in games: how far no-regret play is from correlated equilibria.",
        epilog="Start with: gamesim run chicken",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", dest="called", required=True, metavar="COMMAND")
    parser.set_defaults(commands=commands.choices)

    run = commands.add_parser(
        "run",
        help="simulate a scenario, measure and explain it",
        description=RUN_HELP,
        formatter_class=_Paragraphs,
    )
    run.add_argument(
        "scenario", metavar="SCENARIO", help="the path of a scenario file, or the name of a shipped scenario"
    )
    run.add_argument(
        "--rounds",
        type=_whole_number,
        metavar="N",
        help="play this many rounds instead of the scenario's; an earlier run of fewer rounds goes on to them "
        "(learners that are tuned to a number of rounds keep the first one)",
    )
    run.add_argument("--seed", type=_whole_number, metavar="N", help="take this seed instead of the scenario's")
    run.add_argument("--out", metavar="FOLDER", help="where to write the run folder (default: runs/SCENARIO-SEED)")
    run.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    run.add_argument(
        "--quiet", action="store_true", help="print nothing but mistakes (and the JSON object with --json)"
    )
    run.add_argument("--force", action="store_true", help="overwrite an earlier run folder")
    run.add_argument("--no-figures", action="store_true", help="draw no figures")
    run.add_argument(
        "--checkpoint", type=_seconds, metavar="SECONDS", help="keep a checkpoint so often, for gamesim resume"
    )
    _add_local_code(run)
    run.set_defaults(command=_run)

    _add_compare(commands)
    _add_files(commands)
    _add_resume(commands)

    check = commands.add_parser("check", help="say whether a scenario is valid, without running it")
    check.add_argument(
        "scenario", metavar="SCENARIO", help="the path of a scenario file, or the name of a shipped scenario"
    )
    _add_local_code(check)
    check.set_defaults(command=_check)

    listing = commands.add_parser("list", help="list players, games, scenarios or studies")
    listing.add_argument("what", choices=("players", "games", "scenarios", "studies"), help="what to list")
    listing.set_defaults(command=_list)

    show = commands.add_parser("show", help="show a player's learner, a game or a scenario in detail")
    show.add_argument(
        "name", metavar="NAME", help="the name of a learner, a game or a scenario, or the path of a scenario or a game"
    )
    show.set_defaults(command=_show)

    _add_studies(commands)

    _add_lab(commands)
    return parser


def _add_local_code(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--allow-local-code",
        action="store_true",
        help="run the Python files that are named as learners (mylearner.py:MyHedge): only files that you trust",
    )


def _add_compare(commands: Commands) -> None:
    compare = commands.add_parser("compare", help="run a scenario with one learner after another, and rank them")
    compare.add_argument(
        "scenario", metavar="SCENARIO", help="the path of a scenario file, or the name of a shipped scenario"
    )
    compare.add_argument(
        "--learners",
        required=True,
        metavar="LIST",
        help="which learners to compare, as hedge,blum-mansour:rows=adahedge,wavelet; each is every player's in turn",
    )
    compare.add_argument("--against", metavar="LEARNER", help="let each be the first player's only, against this one")
    compare.add_argument("--rounds", type=_whole_number, metavar="N", help="play this many rounds")
    compare.add_argument("--seed", type=_whole_number, metavar="N", help="take this seed")
    compare.add_argument("--out", metavar="FOLDER", help="where to write (default: runs/compare-SCENARIO-SEED)")
    compare.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    compare.add_argument("--force", action="store_true", help="overwrite an earlier comparison")
    _add_local_code(compare)
    compare.set_defaults(command=_compare)


def _add_files(commands: Commands) -> None:
    figures = commands.add_parser("figures", help="draw the figures and the report of a run again, or a film of it")
    figures.add_argument("run", metavar="RUN", help="a run folder")
    figures.add_argument("--animate", metavar="PATH", help="write a film instead: .gif, or .mp4 where ffmpeg is there")
    _add_local_code(figures)
    figures.set_defaults(command=_figures)

    convert = commands.add_parser("convert", help="write a game in another form")
    convert.add_argument("source", metavar="A", help="a game file, or the name of a game")
    convert.add_argument("target", metavar="B", help="where to write it: .nfg, .gam, .csv or .npz")
    convert.add_argument("--force", action="store_true", help="overwrite an existing file")
    convert.set_defaults(command=_convert)


def _add_resume(commands: Commands) -> None:
    resume = commands.add_parser(
        "resume",
        help="go on with a run that was stopped or killed",
        description=RESUME_HELP,
        formatter_class=_Paragraphs,
    )
    resume.add_argument("run", metavar="RUN", help="the run folder, also one that a killed run has not written yet")
    resume.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    resume.add_argument("--quiet", action="store_true", help="print nothing but mistakes")
    resume.add_argument("--no-figures", action="store_true", help="draw no figures")
    resume.add_argument(
        "--checkpoint", type=_seconds, metavar="SECONDS", help="keep a checkpoint so often (default: as before)"
    )
    resume.set_defaults(command=_resume)


def _add_studies(commands: Commands) -> None:
    sweep = commands.add_parser(
        "sweep",
        help="run all points of a study",
        description=SWEEP_HELP,
        formatter_class=_Paragraphs,
    )
    sweep.add_argument("study", metavar="STUDY", help="the path of a study file, or the name of a shipped study")
    sweep.add_argument("--out", metavar="FOLDER", help="where the store is kept (default: studies/STUDY)")
    sweep.add_argument("--workers", type=_whole_number, metavar="N", help="processes (default: one for each processor)")
    sweep.add_argument("--cluster", metavar="ADDRESS", help="run on the dask cluster with this scheduler, tcp://...")
    sweep.add_argument("--dry-run", action="store_true", help="say how many points, how long and how much disk")
    sweep.add_argument("--quiet", action="store_true", help="print nothing but mistakes")
    sweep.set_defaults(command=_sweep)

    study = commands.add_parser("study", help="print a study's tables and fits, export it, draw it")
    study.add_argument("study", metavar="FILE", help="a store, its folder, or a study that was swept into studies/")
    study.add_argument("--measure", metavar="NAME", help="tell about this measure only")
    study.add_argument("--csv", metavar="PATH", help="write every point as a line of CSV")
    study.add_argument("--parquet", metavar="PATH", help="write every point as Parquet")
    study.add_argument("--figures", metavar="FOLDER", help="draw its figures, as SVG and PNG")
    study.add_argument("--force", action="store_true", help="overwrite existing files")
    study.set_defaults(command=_study)

    theorem = commands.add_parser("theorem", help="measure what the wavelet learner's paper proves, claim by claim")
    theorem.add_argument("--small", action="store_true", help="a version of minutes, as the tests run it")
    theorem.add_argument(
        "--out", default="studies/theorem", metavar="FOLDER", help="for store, page, figures (default: studies/theorem)"
    )
    theorem.add_argument("--workers", type=_whole_number, default=2, metavar="N", help="processes (default: 2)")
    theorem.add_argument("--again", action="append", default=[], metavar="CLAIM", help="run this claim's points anew")
    theorem.set_defaults(command=_theorem)


def _add_lab(commands: Commands) -> None:
    lab = commands.add_parser("lab", help="open a live page in the browser, for teaching and exploring")
    lab.add_argument(
        "scenario", metavar="SCENARIO", nargs="?", help="a scenario to open with: a path, or the name of a shipped one"
    )
    lab.add_argument("--port", type=_whole_number, default=8765, metavar="N", help="the port (default: 8765; 0: any)")
    lab.add_argument("--no-browser", action="store_true", help="print the page's address, and open no browser")
    lab.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="listen on this address (default: here)")
    lab.add_argument("--allow-network", action="store_true", help="let other machines in, with a token in the link")
    lab.set_defaults(command=_lab)


class _Paragraphs(argparse.HelpFormatter):
    """Breaks paragraphs to the terminal, and lines that are indented each under its second column."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = []
        for line in re.sub(r"(?<=\S)\n(?=\S)", " ", text).split("\n"):
            column = re.match(r"  \S.*?  +(?=\S)", line)
            lines.append(textwrap.fill(line, width, subsequent_indent=" " * len(column[0]) if column else ""))
        return "\n".join(lines)


class _Version(argparse.Action):
    """Looks the version up only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"gamesim {version('gamesim')}")
        parser.exit()


def _argument(check: str) -> Callable[[str], Any]:
    """Return a check of `validation` as argparse takes it; the module, which needs NumPy, is imported when used."""

    def read(text: str) -> Any:
        from gamesim import validation

        try:
            return getattr(validation, check)(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


_whole_number, _seconds = _argument("number_of_rounds"), _argument("seconds")


def _find(name: str) -> Path:
    """Return the path of a scenario; who names a shipped study is told how to run it."""
    from gamesim import scenario
    from gamesim.study import model as study

    try:
        return scenario.find(name)
    except InputError:
        if name not in study.shipped():
            raise
    raise InputError(f"{name} is a study, which varies a scenario: run it with `gamesim sweep {name}`")


def _run(arguments: argparse.Namespace) -> int:
    from gamesim.cli import checkpoints
    from gamesim.scenario import read

    path = _find(arguments.scenario)
    scenario = read(path, local_code=arguments.allow_local_code).changed(arguments.rounds, arguments.seed)
    if arguments.checkpoint and scenario.runs_code:
        raise InputError(
            "a run with a learner of your own cannot be resumed, as its state is not kept: leave out --checkpoint"
        )
    target = Path(arguments.out) if arguments.out else Path("runs") / f"{path.stem}-{scenario.seed}"
    earlier = None if arguments.force else checkpoints.longer(target, scenario)
    if earlier is None:
        _refuse_target(target, arguments.force)
        if arguments.force:
            checkpoints.end(target)
    run = earlier or checkpoints.Unfinished(scenario, scenario.title or path.stem, None, None)
    return _go_on(run, target, arguments, force=arguments.force or earlier is not None)


def _resume(arguments: argparse.Namespace) -> int:
    from gamesim.cli import checkpoints

    target = Path(str(Path(arguments.run)).removesuffix(".partial"))
    run = checkpoints.unfinished(target)
    if run is None:
        checkpoints.end(target)
        _console(stderr=True, quiet=arguments.quiet).print(f"{target} has all its rounds: there is nothing to do")
        return 0
    arguments.checkpoint = arguments.checkpoint or run.every
    return _go_on(run, target, arguments, force=True)


def _go_on(run: "Unfinished", target: Path, arguments: argparse.Namespace, *, force: bool) -> int:
    """Play the rounds that a run has left, measure it, and write and show what came of it."""
    from gamesim.atomic import write_folder
    from gamesim.cli import checkpoints, progress
    from gamesim.report import summary as report

    scenario = run.scenario
    console = _console(stderr=True, quiet=arguments.quiet)
    if not arguments.quiet:
        _announce_compilation()
    with progress.Stop() as stop:
        simulation = run.simulation()
        keep = None
        if arguments.checkpoint or run.record is not None:  # an earlier record is kept until the longer one is written
            keep = checkpoints.begin(target, run, arguments.checkpoint or float("inf"))
        record = progress.run_watched(simulation, scenario.rounds, target.name, console, stop, keep)
        stopped = record.rounds < scenario.rounds

        def measure(distance: str) -> "Summary":
            return report.summarise(record, title=run.name, distance=distance, stopped=stopped)

        with console.status("measuring"):
            summary = stop.or_else(lambda: measure(scenario.measure.distance), lambda: measure("never"))

        def write(folder: Path) -> None:
            _write_run(folder, scenario, record, summary)
            if not arguments.no_figures:
                with console.status("drawing"):
                    stop.or_else(lambda: _draw(folder, record, summary, scenario), lambda: None)

        write_folder(target, write, force=force)
        checkpoints.end(target)
    if arguments.json:
        print(json.dumps(summary.as_json(), allow_nan=False, ensure_ascii=False))
    elif not arguments.quiet:
        report.show(summary, _console())
    console.print(f"\nWritten to {target}", style="dim")
    if stopped and scenario.runs_code:
        console.print("the state of a learner of your own cannot be kept: the same command with --force starts anew")
    elif stopped:
        console.print(f"`gamesim resume {shlex.quote(str(target))}` goes on from here")
    return INTERRUPTED if stop.wished else 0


def _write_run(folder: Path, scenario: "Scenario", record: "Record", summary: "Summary") -> None:
    scenario.write_parts(folder)
    text = json.dumps(summary.as_full_json(), allow_nan=False, ensure_ascii=False, indent=1)
    (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    (folder / "record").mkdir()
    record.write_parts(folder / "record")


def _draw(folder: Path, record: "Record", summary: "Summary", scenario: "Scenario") -> None:
    from gamesim.figures import draw_run
    from gamesim.report.html import report_html

    (folder / "figures").mkdir(exist_ok=True)
    drawn = draw_run(record, folder / "figures")
    page = report_html(record, summary, drawn, scenario.to_toml())
    (folder / "report.html").write_text(page, encoding="utf-8")


def _refuse_target(target: Path, force: bool) -> None:
    """Refuse, before anything is simulated, a place that a run folder cannot be written to."""
    if target.exists() or target.is_symlink():
        if not force:
            raise InputError(f"{target} exists already: overwrite it with --force, or choose another place with --out")
        if not (target.name and target.is_dir() and ((target / "summary.json").is_file() or not any(target.iterdir()))):
            raise InputError(
                f"{target} is not a run folder, so --force leaves it alone: choose another place with --out"
            )
    above = next(folder for folder in target.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError(f"{target} cannot be written: {above} is not a folder that can be written to")


def _compare(arguments: argparse.Namespace) -> int:
    from rich.progress import Progress

    from gamesim.atomic import write_folder
    from gamesim.report import compare
    from gamesim.scenario import read

    path = _find(arguments.scenario)
    scenario = read(path, local_code=arguments.allow_local_code).changed(arguments.rounds, arguments.seed)
    allowed = arguments.allow_local_code
    chosen = compare.contenders(arguments.learners, local_code=allowed)
    against = compare.contenders(arguments.against, local_code=allowed)[0] if arguments.against else None
    target = Path(arguments.out) if arguments.out else Path("runs") / f"compare-{path.stem}-{scenario.seed}"
    _refuse_target(target, arguments.force)
    _announce_compilation()
    with Progress(console=_console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{len(chosen)} learners", total=scenario.rounds * len(chosen))
        outcomes = compare.compare(scenario, chosen, against, lambda rounds: bar.update(task, completed=rounds))
    title = scenario.title or path.stem
    write_folder(target, lambda folder: compare.write(outcomes, title, folder), force=arguments.force)
    if arguments.json:
        print(json.dumps(compare.as_json(outcomes), allow_nan=False))
    else:
        compare.show(outcomes, against, _console())
    _console(stderr=True).print(f"\nWritten to {target}", style="dim")
    return 0


def _figures(arguments: argparse.Namespace) -> int:
    from gamesim.figures import animate
    from gamesim.record import load
    from gamesim.report import summary as report
    from gamesim.scenario import read

    folder = Path(arguments.run)
    if not (folder / "record").is_dir():
        raise InputError(f"there is no run at {folder}: give the folder of a run, as gamesim run prints it")
    record = load(folder / "record")
    if arguments.animate:
        print(f"Written to {animate(record, arguments.animate)}")
        return 0
    scenario = read(folder / "scenario.toml", local_code=arguments.allow_local_code)
    stopped = record.rounds < scenario.rounds
    summary = report.summarise(
        record, title=scenario.title or folder.name, distance=scenario.measure.distance, stopped=stopped
    )
    _draw(folder, record, summary, scenario)
    print(f"Drawn in {folder / 'figures'}, told in {folder / 'report.html'}")
    return 0


def _convert(arguments: argparse.Namespace) -> int:
    from gamesim import games
    from gamesim.atomic import refuse_to_overwrite
    from gamesim.games.io import files

    by_name = arguments.source in games.available() and not Path(arguments.source).exists()
    game = games.make(arguments.source) if by_name else games.load(arguments.source)
    target = Path(arguments.target)
    for path in files.paths(target, len(game.players)):
        refuse_to_overwrite(path, force=arguments.force)
    for path in games.save(game, target):
        print(f"Written to {path}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from gamesim.cli import listing
    from gamesim.scenario import read

    path = _find(arguments.scenario)
    scenario = read(path, local_code=arguments.allow_local_code)
    _announce_compilation()
    scenario.simulation()
    _console().print(f"{path} is valid: {listing.in_a_line(scenario)}")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from gamesim.cli import listing

    listed = {
        "players": listing.list_players,
        "games": listing.list_games,
        "scenarios": listing.list_scenarios,
        "studies": listing.list_studies,
    }
    listed[arguments.what](_console())
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from gamesim.cli import listing

    listing.show(arguments.name, _console())
    return 0


def _theorem(arguments: argparse.Namespace) -> int:
    from gamesim.wavelet_theorem.run import theorem

    console = _console(stderr=True)
    try:
        page = theorem(Path(arguments.out), arguments.small, arguments.workers, arguments.again, console.print)
    except KeyboardInterrupt:
        console.print("interrupted: the finished points are kept, and the same command goes on from them")
        return INTERRUPTED
    console.print(f"Written to {page}", style="dim")
    return 0


def _lab(arguments: argparse.Namespace) -> int:
    from gamesim.scenario import read

    try:
        from gamesim.lab.server import serve
    except ModuleNotFoundError as error:
        raise InputError(f"the lab needs {error.name}: pip install 'gamesim[lab]'") from None
    first = read(_find(arguments.scenario)) if arguments.scenario else None
    _announce_compilation()
    browser = not arguments.no_browser
    serve(first, arguments.host, arguments.port, allow_network=arguments.allow_network, browser=browser)
    return 0


def _sweep(arguments: argparse.Namespace) -> int:
    from gamesim.cli.studies import run_sweep

    console = _console(quiet=arguments.quiet)
    workers = (os.cpu_count() or 1) if arguments.workers is None else arguments.workers
    return run_sweep(arguments.study, arguments.out, workers, arguments.cluster, console, dry_run=arguments.dry_run)


def _study(arguments: argparse.Namespace) -> int:
    from gamesim.cli.studies import show_study

    asked = {key: getattr(arguments, key) for key in ("measure", "csv", "parquet", "figures", "force")}
    return show_study(arguments.study, _console(), **asked)


def _console(stderr: bool = False, quiet: bool = False) -> "Console":
    """Return where to print: names are printed as they are, and where there is no terminal, without control codes."""
    from rich.console import Console

    class Printer(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # to `main`: rich would end the process, with 1

    return Printer(stderr=stderr, quiet=quiet, markup=False, highlight=False, emoji=False)


@cache
def _announce_compilation() -> None:
    from gamesim.engine.compiled import announce_compilation

    announce_compilation(lambda: print("compiling once, this takes a while; later runs start at once", file=sys.stderr))


if __name__ == "__main__":
    sys.exit(main())
