"""The command line: arguments of every command, up to the point at which it would start to simulate, write or serve."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NoReturn
from unittest.mock import patch

from gamesim.cli import main as entry
from gamesim.cli.checkpoints import UnfinishedRun
from gamesim.cli.exit_codes import BAD_INPUT, FAILED
from tests.fuzzing import texts, values
from tests.fuzzing.oracle import Refused, Wrong
from tests.fuzzing.records import make_run_folder
from tests.fuzzing.scenarios import make_scenario, make_study, words
from tests.fuzzing.values import Input, some

# Where each command starts its work, with all its input checked.
_WORK = (
    *("gamesim.cli.checkpoints.remove_checkpoints", "gamesim.report.compare.compare", "gamesim.atomic.write_file"),
    *("gamesim.atomic.write_files", "gamesim.atomic.write_folder", "gamesim.games.io.text.write_file"),
    *("gamesim.games.io.files.write_file", "gamesim.cli.study_results.write_files", "gamesim.cli.sweep.Store"),
    *("gamesim.cli.sweep.estimate", "gamesim.wavelet_theorem.run.theorem", "gamesim.lab.server.listening"),
    *("gamesim.figures.animate", "gamesim.report.run_folder.write_report"),
)
_NAMES = ("chicken", "chikcen", "scenario.toml", "study.toml", "shapley", "swap-against-external", "own.nfg", "own.csv")
_VALUES = ("1", "0", "-1", "1e3", "1.5", "nan", "inf", "1e400", "9" * 5000, "", "x", "--", "-", "out", ".", "/", "..")
_LEARNERS = ("hedge", "hedge,wavelet", "hedge:rate=0.1", "hedge:rate=nan", "blum-mansour:rows=adahedge", ",", "a.py:B")
LONGEST = 20_000  # characters of an argument; systems limit them too
_OF_RUNS = (
    ("resume", "run"),
    ("figures", "run"),
    ("check", "run"),
    ("run", "run/scenario.toml", "--out", "run", "--rounds", "1e3"),
    ("run", "run/scenario.toml", "--out", "run", "--force"),
)


class _Reached(BaseException):
    pass


def make(random: Random) -> Input:
    """Return the arguments of a command, and sometimes a scenario or study that they can name."""
    arguments = _arguments(random)
    for _ in range(int(random.expovariate(1.0))):
        _mutate(random, arguments)
    files: Input = {}
    if random.random() < 0.1:
        files = make_scenario(random) | make_study(random)
        files.pop("evil.py", None)  # the arguments may allow it
    elif random.random() < 0.15:
        files = {f"run/{name}": data for name, data in make_run_folder(random).items()}
        arguments = list(some(random, _OF_RUNS))
    return {"arguments.json": json.dumps(arguments).encode(), **files}


def _arguments(random: Random) -> list[str]:
    """Return a command with some of its options."""
    command = some(random, list(_options()))
    arguments = [command]
    if random.random() < 0.9:
        arguments.append(some(random, _NAMES if random.random() < 0.8 else words()))
    for option, takes_value in _options()[command]:
        if random.random() < 0.2 or option == "--learners":
            arguments.append(option)
            if takes_value:
                arguments.append(some(random, _LEARNERS if option in ("--learners", "--against") else _VALUES))
    return arguments


def _mutate(random: Random, arguments: list[str]) -> None:
    at = random.randint(0, len(arguments))
    how = random.randrange(5)
    if how == 0:
        arguments[at:at] = [values.text(random, words())[:LONGEST]]
    elif how == 1:
        del arguments[at : at + 1]
    elif how == 2:
        arguments[at:at] = arguments[: random.randint(0, 2)]
    elif arguments:
        at = random.randrange(len(arguments))
        changed = texts.mutated(random, arguments[at], words(), ())[:LONGEST].decode("utf-8", "surrogateescape")
        arguments[at] = changed.replace("\0", "")  # no argument of a process contains one


@cache
def _options() -> dict[str, list[tuple[str, bool]]]:
    """Return the options of each command, and whether they take a value."""
    commands: dict[str, Any] = entry.build_parser().get_default("commands")
    return {
        name: [
            (action.option_strings[-1], action.nargs != 0)
            for action in parser._actions
            if action.option_strings and action.dest != "help"
        ]
        for name, parser in commands.items()
    }


def prepare() -> None:
    """Load everything that commands load."""
    with _stopped_at_work():
        pass


def use(given: Input, folder: Path) -> None:
    """Run a command up to its work; it prints what it refuses, and exits with code 2."""
    arguments = json.loads(given["arguments.json"])
    printed, complaints = io.StringIO(), io.StringIO()
    with _stopped_at_work(), patch.object(sys, "stdout", printed), patch.object(sys, "stderr", complaints):
        try:
            code = entry.main(arguments)
        except _Reached:
            return
    said = complaints.getvalue()
    if "out of memory" in said:
        raise MemoryError(said)
    if code == BAD_INPUT:
        raise Refused(said)
    if code == FAILED and printed.getvalue():  # gamesim check, of a damaged run
        raise Refused(printed.getvalue())
    if code != 0 or not (printed.getvalue() or said):
        raise Wrong(f"{arguments} exits with code {code} and prints {said!r:.1000}")


@contextmanager
def _stopped_at_work() -> Iterator[None]:
    """Replace the functions that do the work of commands by one that stops there."""

    def reached(*_: object, **__: object) -> NoReturn:
        raise _Reached

    def finish(run: UnfinishedRun, *_: object, **__: object) -> NoReturn:
        if run.record is not None:
            run.simulation().run(1, threads=0)
        raise _Reached

    with ExitStack() as stack:
        stack.enter_context(patch("gamesim.cli.run._finish", finish))
        for name in _WORK:
            stack.enter_context(patch(name, reached))
        yield
