"""`gamesim figures` and `gamesim convert`: redraw a run, and convert a game to another file format."""

import argparse
from pathlib import Path

from gamesim.cli.arguments import Commands, add_local_code, game_named
from gamesim.errors import InputError


def add_figures(commands: Commands) -> None:
    """Add the parser of `gamesim figures`."""
    figures = commands.add_parser("figures", help="draw a run again, as SVG and PNG, or animate it")
    figures.add_argument("run", metavar="RUN", help="run folder")
    figures.add_argument(
        "--animate", metavar="PATH", help="write an animation instead: .gif, or .mp4 (requires ffmpeg)"
    )
    add_local_code(figures)
    figures.set_defaults(command=_figures)


def add_convert(commands: Commands) -> None:
    """Add the parser of `gamesim convert`."""
    convert = commands.add_parser("convert", help="convert a game to another file format")
    convert.add_argument("source", metavar="GAME", help="game file, scenario file, or name of a built-in game")
    convert.add_argument("target", metavar="PATH", help="output file, which ends with .nfg, .gam, .csv or .npz")
    convert.add_argument("--force", action="store_true", help="overwrite an existing file")
    convert.set_defaults(command=_convert)


def _figures(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    from gamesim import sealed
    from gamesim.figures import animate
    from gamesim.record import load
    from gamesim.report.html import missing_figures
    from gamesim.report.run_folder import FIGURES_FOLDER, RECORD_FOLDER, REPORT_FILE, SUMMARY_FILE, write_report
    from gamesim.report.summary import summarise
    from gamesim.scenario import read
    from gamesim.scenario.model import SCENARIO_FILE
    from gamesim.user_learners import restored

    folder = Path(arguments.run)
    if not (folder / RECORD_FOLDER).is_dir():
        raise InputError(f"{folder} is not a run folder; `gamesim run` prints the path of the folder it writes")
    sealed.read(folder / SUMMARY_FILE)  # raises if the scenario is damaged
    record = load(folder / RECORD_FOLDER)
    if arguments.animate:
        print(f"Written to {animate(record, arguments.animate)}")
        return 0
    if record.feedback == "observed":
        scenario, summary = None, summarise(record, title=folder.name)
    else:
        scenario = read(folder / SCENARIO_FILE, local_code=arguments.allow_local_code)
        stopped = record.rounds < scenario.rounds
        title = scenario.title or folder.name
        record = replace(record, learners=restored(record.learners, {}))
        asked = scenario.measure
        summary = summarise(record, title=title, distance=asked.distance, stopped=stopped, measures=asked.measures)
    for missing in missing_figures(write_report(folder, scenario, record, summary, png=True)):
        print(missing)
    print(f"Wrote {folder / FIGURES_FOLDER} and {folder / REPORT_FILE}")
    return 0


def _convert(arguments: argparse.Namespace) -> int:
    from gamesim import games
    from gamesim.atomic import refuse_to_overwrite
    from gamesim.games.io import files

    game = game_named(arguments.source)
    target = Path(arguments.target)
    for path in files.paths(target, len(game.players)):
        refuse_to_overwrite(path, force=arguments.force)
    for path in games.save(game, target):
        print(f"Written to {path}")
    return 0
