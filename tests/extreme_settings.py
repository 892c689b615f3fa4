"""Try every setting of every game, graph and learner with extreme values, and print what goes wrong.

Run as a script, with little memory and processor time: `test_sizes` starts it for every STEP-th value. Each value must
either work, with finite results and without warnings, or be refused by one short InputError that names the setting. The
last line counts them, by kind.
"""

import inspect
import json
import reprlib
import resource
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from itertools import islice
from types import FrameType
from typing import Any

import numpy as np

import gamesim
from gamesim import games, players
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.games import generators
from gamesim.scenario import Scenario
from tests.graph_settings import SMALL

MEMORY = 2**30  # bytes, beyond what the program takes before it builds anything
SECONDS = 10  # of processor time for one value: none needs more than two
MESSAGE = 500  # characters of the longest message

NAN, INFINITY = float("nan"), float("inf")
SIZES = [10**9, 10**18, 2**31, 2**63, 10**400, 4097, 100_000, 0, -1, -(10**18)]
NUMBERS = [*SIZES, 1e300, 1.7e308, -1e300, 1e-300, 5e-324, NAN, INFINITY, -INFINITY, "x", None, True]
LISTS: list[list[Any]] = [
    [],
    [1.0] * 1_000_000,
    [2] * 1_000_000,
    [2.0] * 100,
    [2] * 64,
    [1e300, 1e300],
    [1.7e308, -1.7e308],
    [1e-300, 1e-300],
    [NAN, 1.0],
    [INFINITY, 1.0],
    [10**18, 10**18],
    [10**9, 3],
    [10**400, 1],
    [-1, 2],
    [0, 0],
    ["a", "b"],
    [[["deep"]]],
]
TRIPS: list[Any] = [[["s", "t", 10**9]], [["s", "t", 1]] * 10_000, [["s"]], [["s", "t", 0]], [["s", "t", 1.5]]]
LARGE: list[tuple[str, dict[str, Any]]] = [  # several settings at once, or settings of parts
    ("bertrand", {"players": 6, "top": 100}),
    ("blotto", {"soldiers": [50, 50], "fields": 8}),
    ("hotelling", {"players": 6, "places": 20}),
    ("polymatrix", {"game": "bertrand", "game_settings": {"top": 10**9}}),
    ("polymatrix", {"game_settings": {"actions": 2000}}),
    ("polymatrix", {"graph": "cycle", "graph_settings": {"n": 65_536}}),
    ("network-coordination", {"values": [1.0] * 4000}),
    ("local-public-goods", {"graph_settings": {"n": 100_000}}),
    ("local-public-goods", {"graph": "cycle", "graph_settings": {"n": 50_000}, "efforts": 100}),
    ("routing", {"network": "grid", "players": 60_000, "routes": 20}),
]

Attempt = tuple[str, str, Callable[[], object]]  # what is tried, the setting that a message must name, and how
shown = reprlib.repr  # of lists with a million entries


def game_attempts() -> Iterator[Attempt]:
    for name, make in games.available().items():
        for key, parameter in inspect.signature(make).parameters.items():
            kind = str(parameter.annotation)
            if "Mapping" in kind or parameter.annotation is str:
                continue
            values = [*NUMBERS, *(LISTS if "Sequence" in kind else LISTS[:2]), *(TRIPS if key == "trips" else ())]
            for value in values:
                yield f"game {name} {key} = {shown(value)}", key, _playing(name, {key: value})
                if value in (10**9, 10**400, -1, 1e300, 1e-300):
                    yield f"scenario {name} {key} = {value}", key, _reading(name, {key: value})
    for name, settings in LARGE:
        yield f"game {name} {shown(settings)}", "reduce", _playing(name, settings)
        yield f"scenario {name} {shown(settings)}", "reduce", _reading(name, settings)


def _playing(name: str, settings: Mapping[str, Any]) -> Callable[[], object]:
    return lambda: play(games.make(name, **settings))


def _reading(name: str, settings: Mapping[str, Any]) -> Callable[[], object]:
    raw = {"rounds": 1, "game": {"name": name, "settings": settings}, "everyone": {"learner": "uniform"}}
    return lambda: Scenario.from_dict(raw)


def play(game: Game) -> None:
    """Compute the range and the losses of a game: finite, and within [-1, 1]."""
    low, high = game.range
    losses = game.expected_losses(np.concatenate([np.full(size, 1 / size) for size in game.sizes]))
    assert np.isfinite([low, high]).all() and np.isfinite(losses).all() and np.abs(losses).max() <= 1


def graph_attempts() -> Iterator[Attempt]:
    values = [10**9, 10**400, 100_000, 3000, 0, -1, 1.5, 1e300, 1e-300, NAN, "x", [1.0] * 100_000, [10**9], [3, 2]]
    for name, settings in SMALL.items():
        for key in settings:
            for value in values:
                yield _attempt_at_graph(name, {**settings, key: value}, key)


def _attempt_at_graph(name: str, settings: Mapping[str, Any], key: str) -> Attempt:
    return f"graph {name} {shown(settings)}", key, lambda: generators.generated(name, settings, 0)


def learner_attempts() -> Iterator[Attempt]:
    for name, kind in players.available().items():
        for field in fields(kind):
            for value in [*NUMBERS, *(LISTS if "tuple" in str(field.type) else LISTS[:2])]:
                yield _attempt_at_learner(name, {field.name: value}, field.name)


def _attempt_at_learner(name: str, settings: Mapping[str, Any], key: str) -> Attempt:
    def learn() -> None:
        learner = players.make(name, **settings)
        feedback: Any = "expected" if "expected" in learner.feedback else "bandit"
        record = gamesim.simulate("shapley", [learner, "uniform"], rounds=30, perturb=0.2, feedback=feedback)
        assert np.isfinite(record.payoffs).all() and abs(record.average[0].sum() - 1) < 1e-9
        promise = learner.with_horizon(30).guarantee()
        assert promise is None or promise.bound(30, 3) >= 0

    return f"learner {name} {shown(settings)}", key, learn


def simulation_attempts() -> Iterator[Attempt]:
    values = [*SIZES[:5], 0, -1, 1.5, NAN, "x"]
    for key in ("rounds", "replicas", "checkpoints", "seed", "horizon"):
        for value in values:
            if not (key == "rounds" and value in (10**9, 2**31)):  # a long run, as asked for
                yield _attempt_at_simulation(key, value)


def _attempt_at_simulation(key: str, value: Any) -> Attempt:
    def simulate() -> None:
        if key in ("rounds", "replicas"):
            settings = {"rounds": 10, key: value}
            gamesim.simulate("chicken", "exp3", feedback="bandit", **settings)
        else:
            simulation: Any = gamesim.Simulation
            simulation("chicken", "exp3", feedback="bandit", **{"horizon": 10, key: value}).run(10)

    return f"simulation {key} = {value}", key, simulate


def outcome(attempt: Attempt) -> str:
    """Return "works" or "refused", or what is wrong."""
    _, key, run = attempt
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            run()
        except InputError as error:
            message = str(error)
            if key not in message:
                return f"the message does not name {key}: {message}"
            return "refused" if len(message) <= MESSAGE else f"a message of {len(message)} characters: {message[:100]}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:MESSAGE]
    return "works"


def too_long(signal_number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


ATTEMPTS: dict[str, Callable[[], Iterator[Attempt]]] = {
    "games": game_attempts,
    "graphs": graph_attempts,
    "learners": learner_attempts,
    "simulations": simulation_attempts,
}


def main(step: int) -> None:
    games.make("polymatrix").kernel_arrays()  # networkx and the kernels are loaded, and compiled if need be
    gamesim.simulate("chicken", "hedge", rounds=1)
    with open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    signal.signal(signal.SIGPROF, too_long)
    tallies: dict[str, Counter[str]] = {kind: Counter() for kind in ATTEMPTS}
    for kind, attempts in ATTEMPTS.items():
        for attempt in islice(attempts(), 0, None, 1 if kind == "simulations" else step):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            found = outcome(attempt)
            signal.setitimer(signal.ITIMER_PROF, 0)
            tallies[kind][found if found in ("works", "refused") else "wrong"] += 1
            if found not in ("works", "refused"):
                print(f"{attempt[0][:120]}: {found}", flush=True)
    print(json.dumps(tallies))


if __name__ == "__main__":
    main(int(sys.argv[1]))
