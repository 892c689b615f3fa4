"""`gamesim check`, `gamesim list` and `gamesim show`: what there is, and whether a scenario is valid."""

import argparse

from gamesim.cli.arguments import Commands, add_local_code, add_scenario, scenario_path
from gamesim.cli.console import announce_compilation, make_console

LISTS = ("learners", "games", "scenarios", "studies")


def add_check(commands: Commands) -> None:
    """Add the parser of `gamesim check`."""
    check = commands.add_parser("check", help="say whether a scenario is valid, without running it")
    add_scenario(check)
    add_local_code(check)
    check.set_defaults(command=_check)


def add_list(commands: Commands) -> None:
    """Add the parser of `gamesim list`."""
    listing = commands.add_parser("list", help="list learners, games, scenarios or studies")
    listing.add_argument("what", type=_current_name, choices=LISTS, help="what to list")
    listing.set_defaults(command=_list)


def add_show(commands: Commands) -> None:
    """Add the parser of `gamesim show`."""
    show = commands.add_parser("show", help="show a player's learner, a game or a scenario in detail")
    show.add_argument(
        "name", metavar="NAME", help="the name of a learner, a game or a scenario, or the path of a scenario or a game"
    )
    show.set_defaults(command=_show)


def _current_name(what: str) -> str:
    """Return what a list is called now: learners were listed as players in version 0.1."""
    return "learners" if what == "players" else what


def _check(arguments: argparse.Namespace) -> int:
    from gamesim.cli.catalogue import scenario_in_a_line
    from gamesim.scenario import read

    path = scenario_path(arguments.scenario)
    scenario = read(path, local_code=arguments.allow_local_code)
    announce_compilation()
    scenario.simulation()
    make_console().print(f"{path} is valid: {scenario_in_a_line(scenario)}")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from gamesim.cli import catalogue

    print_list = {
        "learners": catalogue.list_learners,
        "games": catalogue.list_games,
        "scenarios": catalogue.list_scenarios,
        "studies": catalogue.list_studies,
    }
    print_list[arguments.what](make_console())
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from gamesim.cli import catalogue

    catalogue.show(arguments.name, make_console())
    return 0
