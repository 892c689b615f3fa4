"""`gamesim compare`: run a scenario once per learner and rank the learners."""

import argparse
from pathlib import Path

from gamesim.cli.arguments import Commands, add_local_code, add_scenario, scenario_path, whole_number
from gamesim.cli.console import announce_compilation, make_console
from gamesim.cli.target import refuse_target


def add_compare(commands: Commands) -> None:
    """Add the parser of `gamesim compare`."""
    compare = commands.add_parser("compare", help="run a scenario once per learner and rank the learners")
    add_scenario(compare)
    compare.add_argument(
        "--learners",
        required=True,
        metavar="LIST",
        help="learners to compare, separated by commas, such as hedge,blum-mansour:rows=adahedge,wavelet; "
        "in each run, all players use the same learner",
    )
    compare.add_argument(
        "--against",
        metavar="LEARNER",
        help="give the compared learners to the first player only; the other players use this one",
    )
    compare.add_argument("--rounds", type=whole_number, metavar="N", help="number of rounds (default: the scenario's)")
    compare.add_argument("--seed", type=whole_number, metavar="N", help="seed (default: the scenario's)")
    compare.add_argument("--out", metavar="FOLDER", help="output folder (default: runs/compare-SCENARIO-SEED)")
    compare.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    compare.add_argument("--force", action="store_true", help="overwrite an earlier comparison")
    add_local_code(compare)
    compare.set_defaults(command=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    import json

    from rich.progress import Progress

    from gamesim.atomic import write_folder
    from gamesim.report import ranking
    from gamesim.report.compare import compare, contenders
    from gamesim.scenario import read

    path = scenario_path(arguments.scenario)
    allowed = arguments.allow_local_code
    scenario = read(path, local_code=allowed).changed(arguments.rounds, arguments.seed)
    chosen = contenders(arguments.learners, local_code=allowed)
    against = contenders(arguments.against, local_code=allowed)[0] if arguments.against else None
    target = Path(arguments.out) if arguments.out else Path("runs") / f"compare-{path.stem}-{scenario.seed}"
    refuse_target(target, force=arguments.force)
    announce_compilation()
    with Progress(console=make_console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{len(chosen)} learners", total=scenario.rounds * len(chosen))
        outcomes = compare(scenario, chosen, against, lambda rounds: bar.update(task, completed=rounds))
    title = scenario.title or path.stem
    write_folder(target, lambda folder: ranking.write(outcomes, title, folder), force=arguments.force)
    if arguments.json:
        print(json.dumps(ranking.as_timed_json(outcomes), allow_nan=False))
    else:
        ranking.show(outcomes, against, make_console())
    make_console(stderr=True).print(f"\nWritten to {target}", style="dim")
    return 0
