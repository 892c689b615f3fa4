"""Records: folders whose manifest and arrays are mutated, then loaded, measured and resumed."""

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim import games
from gamesim.record import load
from gamesim.report.run_folder import write_run
from gamesim.report.summary import summarise
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation
from gamesim.user_learners import UserLearner
from tests.fuzzing import arrays, texts, trees, values
from tests.fuzzing.game_files import OTHERS
from tests.fuzzing.scenarios import words
from tests.fuzzing.values import Input, some

ROUNDS = 12
_MORE_WORDS = (
    *("format", "versions", "kind", "Table", "Polymatrix", "arrays", "started", "single", "random", "python"),
    "state",
)


class Lazy:
    """A learner in Python, whose class a record names and never runs."""

    def __init__(self, actions: int, random: np.random.Generator, rate: float) -> None:
        self._actions = actions

    def play(self) -> NDArray[np.float64]:
        return np.full(self._actions, 1 / self._actions)

    def observe(self, loss: NDArray[np.float64]) -> None:
        pass

    def state(self) -> NDArray[np.float64]:
        return np.zeros(1)

    def restore(self, state: NDArray[np.float64]) -> None:
        pass


_RUNS: tuple[tuple[Any, Any, dict[str, Any]], ...] = (
    ("chicken", "hedge", {}),
    ("jordan", ["wavelet", "hedge", "fixed"], {"perturb": 0.3}),
    ("shapley", "regret-matching", {"feedback": "sampled", "replicas": 2}),
    ("chicken", "exp3", {"feedback": "bandit", "horizon": 100}),
    (games.make("polymatrix", graph="path", graph_settings={"n": 3}), "uniform", {"seed": 3}),
    ("rock-paper-scissors", ["wavelet-continuous", "treeswap"], {"horizon": 50}),
    ("jordan", "hedge", {"delay": 2, "noise": 0.1, "trajectory": "windows"}),
    (
        "shapley",
        "hedge",
        {"observers": ["dynamic-regret", "linear-weights", "alternating-regret"], "trajectory": "every"},
    ),
    ("matching-pennies", ["blum-mansour", "squint"], {"checkpoints": 3}),
    (OTHERS[-1], "hedge", {}),
    ("chicken", [UserLearner(Lazy, {"rate": 0.5}), "hedge"], {"replicas": 2}),
)


@cache
def _records() -> list[Input]:
    """Return the folders of some records."""
    found = []
    for game, learners, options in _RUNS:
        record = Simulation(game, learners, **{"horizon": ROUNDS, **options}).run(ROUNDS, threads=0)
        with tempfile.TemporaryDirectory() as folder:
            record.write_parts(Path(folder))
            files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        found.append({**files, "manifest.json": _unsealed(files["manifest.json"])})
    return found


def make(random: Random) -> Input:
    """Return a record whose manifest or arrays are mutated."""
    parts = dict(some(random, _records()))
    for _ in range(1 + int(random.expovariate(1.5))):
        name = "manifest.json" if random.random() < 0.5 else some(random, list(parts))
        if name == "manifest.json":
            parts[name] = _manifest(random, parts.get(name, b"{}"))
        elif random.random() < 0.1:
            del parts[name]
        elif random.random() < 0.1:
            parts[name] = some(random, _records()).get(name, b"")
        else:
            parts[name] = arrays.mutated(random, parts[name])
    return parts


@cache
def _run_folder() -> Input:
    """Return the folder of a run that was stopped, by relative paths."""
    raw = {"rounds": 2 * ROUNDS, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
    scenario = Scenario.from_dict(raw)
    record = scenario.simulation().run(ROUNDS, threads=0)
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), scenario, record, summarise(record, title="a run", stopped=True))
        paths = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def make_run_folder(random: Random) -> Input:
    """Return a run folder, of which a few files are mutated, with checksums that fit or as if of an earlier version."""
    parts = dict(_run_folder())
    for name in ("summary.json", "record/manifest.json"):
        if random.random() < 0.7:
            parts[name] = _unsealed(parts[name])
    for _ in range(1 + int(random.expovariate(1.5))):
        name = some(random, ("summary.json", "scenario.toml", "record/manifest.json", some(random, list(parts))))
        if name.endswith(".npy"):
            parts[name] = arrays.mutated(random, parts[name])
        elif random.random() < 0.5 and name.endswith(".json"):
            parts[name] = _manifest(random, parts[name])
        else:
            parts[name] = texts.mutated(random, parts[name].decode("utf-8", "replace"), (*words(), *_MORE_WORDS), ())
    return parts


def _unsealed(data: bytes) -> bytes:
    """Return a document without its checksums, as earlier versions wrote it: else every mutation would be damage."""
    content = json.loads(data)
    return json.dumps({key: value for key, value in content.items() if key not in ("checksum", "checksums")}).encode()


def _manifest(random: Random, data: bytes) -> bytes:
    known = (*words(), *_MORE_WORDS)
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return texts.flipped(random, data)
    if random.random() < 0.7:
        other = json.loads(some(random, _records())["manifest.json"])
        return json.dumps(trees.mutated(random, tree, known, [other])).encode()
    if random.random() < 0.3 and isinstance(tree, dict):
        return json.dumps({**tree, "rounds": values.number(random)}).encode()
    return texts.mutated(random, data.decode(errors="replace"), known, ())


def use(given: Input, folder: Path) -> None:
    """Load a record, describe and measure it, and play two more rounds."""
    record = load(folder)
    repr(record)
    for one in (record, record[0]):
        json.dumps([np.asarray(one.measure(name)).tolist() for name in ("ce-gap", "payoffs", "external-regret")])
    if one.joint is not None:
        one.curve.measure("cce-gap")
    Simulation.resume(record).run(2, threads=0)
