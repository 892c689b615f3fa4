"""The kinds of inputs: how each is made and used, and its share of all inputs."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzzing import commands, game_files, graphs, lab, records, scenarios
from tests.fuzzing.values import Input


class Kind(NamedTuple):
    """A kind of inputs."""

    make: Callable[[Random], Input]
    use: Callable[[Input, Path], None]  # raises InputError if the input is refused
    share: int  # relative to the others; slow kinds get less
    prepare: Callable[[], object] | None = None  # loads what is loaded once, before anything is judged
    readable: Callable[[], tuple[str, ...]] | None = None  # the only files that may be read, if limited


KINDS: dict[str, Kind] = {
    "scenario": Kind(scenarios.make_scenario, scenarios.use_scenario, 20),
    "study": Kind(scenarios.make_study, scenarios.use_study, 10),
    "nfg": Kind(game_files.make_nfg, game_files.use, 15),
    "gam": Kind(game_files.make_gam, game_files.use, 15),
    "csv": Kind(game_files.make_csv, game_files.use, 15),
    "npz": Kind(game_files.make_npz, game_files.use, 10),
    "graph": Kind(graphs.make, graphs.use, 5),
    "record": Kind(records.make, records.use, 3),
    "message": Kind(lab.make_messages, lab.use_messages, 10, lab.prepare),
    "request": Kind(lab.make_request, lab.use_request, 5, lab.prepare, lab.readable),
    "command": Kind(commands.make, commands.use, 3, commands.prepare),
}


def kind_of(random: Random) -> str:
    """Return a kind, with the probability of its share."""
    return random.choices(list(KINDS), [kind.share for kind in KINDS.values()])[0]
