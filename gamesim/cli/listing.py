"""`gamesim check`, `gamesim list` and `gamesim show`: validate a scenario or results; describe what is built in."""

import argparse
import re

from gamesim.cli.arguments import Commands, Paragraphs, add_local_code, scenario_path
from gamesim.cli.console import announce_compilation, make_console

CHECK_HELP = """\
Validate a scenario without running it; verify that stored results are undamaged: those of a run, a record, the
checkpoints of a run or a study, where every file and every point has a checksum; or run the conformance checks on a
user-defined learner, which needs --allow-local-code.

exit codes: 0 success, 1 damaged results or failed checks (all are listed), 2 invalid input"""
LISTS = ("learners", "games", "scenarios", "studies", "literature")


def add_check(commands: Commands) -> None:
    """Add the parser of `gamesim check`."""
    check = commands.add_parser(
        "check",
        help="validate a scenario, verify stored results, or check a user-defined learner",
        description=CHECK_HELP,
        formatter_class=Paragraphs,
    )
    check.add_argument(
        "name",
        metavar="PATH",
        help="scenario file or name of a built-in scenario; the folder of a run, record or study, or a store; or "
        "mylearner.py:MyHedge, with settings as in mylearner.py:MyHedge:rate=0.5",
    )
    add_local_code(check)
    check.set_defaults(command=_check)


def add_list(commands: Commands) -> None:
    """Add the parser of `gamesim list`."""
    listing = commands.add_parser("list", help="list learners, games, scenarios, studies or published results")
    listing.add_argument(
        "what",
        nargs="?",
        type=_current_name,
        choices=LISTS,
        metavar="KIND",
        help="learners, games, scenarios, studies or literature; without it, print what can be listed",
    )
    listing.set_defaults(command=_list)


def add_show(commands: Commands) -> None:
    """Add the parser of `gamesim show`."""
    show = commands.add_parser("show", help="describe a learner, a game or a scenario")
    show.add_argument(
        "name", metavar="NAME", help="name of a learner, game or scenario, or path of a scenario or game file"
    )
    show.set_defaults(command=_show)


def _current_name(what: str) -> str:
    """Return the current name of a list: version 0.1 called learners players."""
    return "learners" if what == "players" else what


def _check(arguments: argparse.Namespace) -> int:
    from gamesim.cli.catalogue import describe_scenario
    from gamesim.cli.integrity import check_results, results_at
    from gamesim.scenario import read

    if re.search(r"\.py(:|$)", arguments.name):
        from gamesim.cli.conformity import check_learners

        return check_learners(arguments.name, make_console(), local_code=arguments.allow_local_code)
    if (results := results_at(arguments.name)) is not None:
        return check_results(results, make_console())
    path = scenario_path(arguments.name)
    scenario = read(path, local_code=arguments.allow_local_code)
    announce_compilation()
    scenario.simulation()
    make_console().print(f"{path} is valid: {describe_scenario(scenario)}")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from gamesim.cli import catalogue

    print_list = {
        None: catalogue.list_kinds,
        "learners": catalogue.list_learners,
        "games": catalogue.list_games,
        "scenarios": catalogue.list_scenarios,
        "studies": catalogue.list_studies,
        "literature": catalogue.list_literature,
    }
    print_list[arguments.what](make_console())
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from gamesim.cli import catalogue

    catalogue.show(arguments.name, make_console())
    return 0
