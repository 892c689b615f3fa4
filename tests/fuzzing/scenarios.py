"""Scenarios and studies: made from those that are shipped and from random ones, and read, built and played."""

import json
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gamesim import games, players, scenario, toml
from gamesim.games.limits import payoffs_within
from gamesim.measure import numbers
from gamesim.measure.observers import BUILT_IN
from gamesim.report.summary import summarise
from gamesim.scenario import Scenario
from gamesim.scenario.parts import GamePart, MeasurePart, PlayerPart, SchedulePart
from gamesim.study import model as study
from gamesim.study import worker
from gamesim.study.jobs import Job
from tests.fuzzing import texts, trees
from tests.fuzzing.oracle import Wrong
from tests.fuzzing.values import Input, some

PAYOFFS = 2**19  # of the largest game that is built
SMALL = 64  # action profiles of a game that is played
ROUNDS = 3

Tree = dict[str, Any]


@cache
def words() -> tuple[str, ...]:
    """Return the words of scenarios and studies: keys, names, and settings of games and learners."""
    makers: list[Callable[..., Any]] = [*games.available().values(), *players.available().values()]
    settings = {name for make in makers for name in signature(make).parameters}
    parts = (Scenario, GamePart, SchedulePart, PlayerPart, MeasurePart)
    keys = dict.fromkeys(key for part in parts for key in part.model_fields)
    of_studies = ("base", "seeds", "measures", "grid", "changes", "label", "first", "count", "step", *numbers())
    values = (
        *("expected", "sampled", "bandit", "auto", "always", "never", "simultaneous", "alternating", "random", "grid"),
        *("thinned", "every", "windows", "none", "abrupt", "drifting", *BUILT_IN),
    )
    return (*keys, *of_studies, *values, *sorted(settings), *games.available(), *players.available())


# Random scenarios and studies.


def scenario_tree(random: Random) -> Tree:
    """Return a scenario: a shipped one, with few rounds, or a random one."""
    if random.random() < 0.3:
        return {**some(random, _shipped()), "rounds": random.randint(1, 50)}
    tree: Tree = {"rounds": random.randint(1, 50), "game": _game(random)}
    for key, choices in _OF_SCENARIOS.items():
        if random.random() < 0.15:
            tree[key] = some(random, choices)
    if random.random() < 0.3:
        tree["measure"] = {key: some(random, of) for key, of in _OF_MEASURES.items() if random.random() < 0.4}
    if random.random() < 0.3:
        tree["feedback"] = some(random, ("expected", "sampled", "bandit"))
    if random.random() < 0.5:
        tree["everyone"] = _player(random)
    else:
        tree["players"] = [_player(random) for _ in range(2)]
    return tree


_OF_SCENARIOS: dict[str, list[Any]] = {
    "title": ["A title"],
    "seed": [3],
    "replicas": [1, 2],
    "order": ["simultaneous", "alternating"],
    "delay": [0, 1, 5],
    "noise": [0.0, 0.1, 3.0],
}
_OF_MEASURES: dict[str, list[Any]] = {
    "distance": ["auto", "always", "never"],
    "checkpoints": [1, 10, 1000],
    "trajectory": ["thinned", "every", "windows", "none", 1, 7],
    "observers": [[], ["dynamic-regret"], list(BUILT_IN), ["evil.py:Evil"]],
    "measures": [[], ["ce-gap", "welfare"], ["dynamic-regret"], ["evil.py:Evil"]],
}


def study_tree(random: Random) -> Tree:
    """Return a study: the shipped one, or a random one."""
    if random.random() < 0.05:
        return _shipped_study()
    base = {"rounds": 10, "game": _game(random), "everyone": _player(random)}
    tree: Tree = {"base": base if random.random() < 0.8 else some(random, ("chicken", "shapley.toml"))}
    for key, choices in _OF_STUDIES.items():
        if random.random() < 0.4:
            tree[key] = some(random, choices)
    if random.random() < 0.3:
        tree["grid"] = {**tree.get("grid", {}), "everyone": {"settings": {"rate": [0.1, 0.2]}}}
    return tree


_OF_STUDIES: dict[str, list[Any]] = {
    "title": ["A study"],
    "seeds": [1, 3, [0, 5], {"first": 0, "count": 3}, {"first": 2, "count": 2, "step": 5}],
    "measures": [["ce-gap"], ["cce-gap", "welfare"]],
    "grid": [
        {"rounds": [5, 10]},
        {"everyone.learner": ["hedge", "uniform"], "rounds": {"first": 1, "count": 3}},
        {"game.settings.seed": {"first": 0, "count": 3}},
        {"start": {"even": {"everyone.perturb": 0.0}, "random": {"everyone.perturb": 1.0}}},
        {"game": [{"name": "chicken"}, {"name": "shapley"}]},
    ],
    "changes": [
        [{"game": {"name": "chicken"}}, {"game": {"name": "shapley"}, "label": "other"}],
        [{"rounds": 7, "grid": {"feedback": ["expected", "sampled"]}}],
        [{"players": [{"learner": "hedge"}, {"learner": "uniform"}], "players[2].learner": "fixed"}],
    ],
}


def _game(random: Random) -> Tree:
    kind = random.random()
    if kind < 0.1:
        return {"file": some(random, ("own.nfg", "own.csv", "own.npz", "none.gam"))}
    if kind < 0.4:
        rows, columns = random.randint(1, 3), random.randint(1, 3)
        payoffs = [[[random.randint(-3, 3) for _ in range(columns)] for _ in range(rows)] for _ in range(2)]
        labels = {"players": ["A", "B"], "actions": [list("abc"[:rows]), list("xyz"[:columns])]}
        given = labels if random.random() < 0.5 else {}
        if random.random() < 0.7:
            return {"payoffs": payoffs, **given}
        schedule = {"tables": [payoffs, payoffs[::-1]] if rows == columns else [payoffs], "every": random.randint(1, 3)}
        return {"schedule": {**schedule, "change": some(random, ("abrupt", "drifting"))}, **given}
    name = some(random, list(games.available()))
    return (
        {"name": name, "settings": _settings(random, games.available()[name])}
        if random.random() < 0.7
        else {"name": name}
    )


def _player(random: Random) -> Tree:
    if random.random() < 0.02:
        return {"learner": "evil.py:Evil", "settings": {"rate": 0.5}}
    name = some(random, list(players.available()))
    tree: Tree = {"learner": name}
    if random.random() < 0.5:
        tree["settings"] = _settings(random, players.available()[name])
    if random.random() < 0.2:
        key = some(random, ("start", "opening"))
        tree[key] = some(random, ([0.5, 0.5], [1.0, 0.0], [0.2, 0.3, 0.5], "random", "grid"))
    if random.random() < 0.2:
        tree["perturb"] = some(random, (0.0, 0.5, 1.0))
    return tree


def _settings(random: Random, make: Callable[..., Any]) -> Tree:
    """Return some settings of a game or learner, of the right types and small."""
    hints = get_type_hints(make)
    found = {}
    for name, parameter in signature(make).parameters.items():
        value = _value(random, hints.get(name), parameter)
        if value is not None and random.random() < 0.5:
            found[name] = value
    return found


def _value(random: Random, hint: Any, parameter: Parameter) -> Any:
    options = get_args(hint) or (hint,)
    if get_origin(hint) is Literal:
        return some(random, options)
    if any(get_origin(one) is Literal for one in options):
        return some(random, get_args(next(one for one in options if get_origin(one) is Literal)))
    if bool in options:
        return random.random() < 0.5
    if int in options:
        return random.randint(1, 4)
    if float in options:
        return some(random, (0.1, 0.5, 1.0, 2.0))
    default = parameter.default
    return list(default) if isinstance(default, tuple) and default else None


@cache
def _shipped() -> list[Tree]:
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in scenario.shipped().values()]


@cache
def _shipped_study() -> Tree:
    (path,) = study.shipped().values()
    tree = tomllib.loads(path.read_text(encoding="utf-8"))
    return {**tree, "changes": tree["changes"][:4], "grid": {"rounds": [3, 4], "learner": tree["grid"]["learner"]}}


@cache
def _texts() -> list[str]:
    """Return the texts of all shipped scenarios and studies, with their comments."""
    paths = [*scenario.shipped().values(), *study.shipped().values()]
    return [path.read_text(encoding="utf-8") for path in paths]


# Inputs.


def make_scenario(random: Random) -> Input:
    """Return a scenario file, mutated as a tree or as text, and sometimes game files beside it."""
    return {"scenario.toml": _file(random, scenario_tree, _texts()[:-1]), **_beside(random)}


def make_study(random: Random) -> Input:
    """Return a study file, mutated as a tree or as text."""
    return {"study.toml": _file(random, study_tree, ()), **_beside(random)}


def _file(random: Random, tree: Callable[[Random], Tree], others: Sequence[str]) -> bytes:
    kind = random.random()
    if kind < 0.05:
        return _written(tree(random)).encode()
    if kind < 0.6:
        changed = trees.mutated(random, tree(random), words(), [tree(random)])
        text = _written(changed if isinstance(changed, dict) else {"game": changed})
        return text.encode("utf-8", "surrogatepass")
    text = some(random, others) if others and random.random() < 0.3 else _written(tree(random))
    return texts.mutated(random, text, words(), [*others, _written(tree(random))])


def _written(tree: Tree) -> str:
    try:
        return toml.write(tree)
    except (TypeError, ValueError, RecursionError):  # a mutation that TOML cannot hold, or Python cannot write
        return 'rounds = 1\ngame = { name = "chicken" }\neveryone = { learner = "hedge" }\n'


def _beside(random: Random) -> Input:
    """Return files that a scenario may name: games, and code that must not run."""
    if random.random() < 0.8:
        return {}
    return {
        "own.nfg": b'NFG 1 R "t" { "A" "B" } { 2 2 } 1 2 3 4 5 6 7 8',
        "own.1.csv": b"1,2\n3,4\n",
        "own.2.csv": b"1,2\n3,4\n",
        "evil.py": b"raise SystemExit('this must not run')\n",
    }


# Uses.


def use_scenario(given: Input, folder: Path) -> None:
    """Read a scenario, write it as TOML and read that back, and play a few rounds if it is small."""
    with payoffs_within(PAYOFFS):
        made = scenario.read(folder / "scenario.toml")
        again = Scenario.from_dict(tomllib.loads(made.to_toml()), folder=folder)
    if again.model_dump() != made.model_dump():
        raise Wrong(f"the scenario reads back differently: {made.to_toml():.2000}")
    play(made)


def play(made: Scenario) -> None:
    """Play a few rounds of a scenario whose game is small, and measure them."""
    if made.played_game.cells <= SMALL and len(made.played_game.players) <= 6 and (made.replicas or 1) <= 3:
        record = made.simulation().run(min(made.rounds, ROUNDS), threads=0)
        distance = "always" if made.measure.distance == "always" else "never"  # "auto" takes most of the time
        summary = summarise(record, distance=distance, measures=made.measure.measures)
        json.dumps(summary.as_json(), allow_nan=False)
        if summary.missing:
            raise Wrong(f"measures fail: {summary.missing}")


def use_study(given: Input, folder: Path) -> None:
    """Read a study, enumerate its first points, and run one if it is small."""
    with payoffs_within(PAYOFFS):
        made = study.read(folder / "study.toml")
        json.dumps(made.description._asdict() if hasattr(made.description, "_asdict") else vars(made.description))
        for _, point in zip(range(3), made.points(), strict=False):
            job = Job(point.key, point.text, point.seed)
            tree = json.loads(point.text)
            if isinstance(tree.get("rounds"), int) and 0 < tree["rounds"] < 100:
                try_point(job, made.measures)


def try_point(job: Job, measures: Sequence[str]) -> None:
    """Run a point if its game is small, as a worker does; a failure is reported as text."""
    made = worker.scenario_of(job)
    if made.played_game.cells <= SMALL and len(made.played_game.players) <= 6:
        (outcome,) = worker.run([job], measures)
        if outcome.error is not None and outcome.error.partition(":")[0].endswith(("Error", "Warning", "Exception")):
            raise Wrong(f"a point fails with {outcome.error}")
