"""The pictures that a page asks for, see `views.pictures`: computed once per game, since many pages show the same."""

import json
from collections.abc import Callable
from functools import lru_cache
from time import thread_time
from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.lab.choices import as_data
from gamesim.lab.limits import simulated
from gamesim.measure.incentives import written_out
from gamesim.portraits import portrait
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation
from gamesim.views import pictures

KEPT = 32  # answers that are kept: in class, many pages show the same game
STARTS = {(2, 2): 17, (3, 3): 18, (2, 2, 2): 6}  # runs per side of a portrait
RUNS = 40  # of a cloud
SECONDS = 2.0  # processor time of a cloud
PUSH = 0.5  # share of the first strategies that is drawn at random, if learners cannot start at random strategies


def message(kind: str, scenario: Scenario, simulation: Simulation[float], shape: int, run: int) -> str:
    """Return the message that a view asks for, or the reason why it cannot be computed."""
    makers: dict[str, Callable[[], str]] = {
        "portrait": lambda: _portrait(_key(scenario.played_game), tuple(simulation.learners)),
        "cloud": lambda: _cloud(json.dumps(as_data(scenario))),
        "device": lambda: _device(_key(scenario.played_game)),
    }
    head = json.dumps({"is": kind, "shape": shape, "run": run})
    try:
        found = makers[kind]()
    except (InputError, ArithmeticError) as error:
        found = json.dumps({"why": str(error)})
    return f"{head[:-1]}, {found[1:]}"


def _key(game: Game) -> tuple[Any, ...]:
    """Return a table as something that can be remembered."""
    payoffs = written_out(game).payoffs
    return payoffs.tobytes(), payoffs.shape, game.players, game.actions, game.name


def _game(key: tuple[Any, ...]) -> Table:
    payoffs, shape, players, actions, name = key
    return Table.from_payoffs(np.frombuffer(payoffs).reshape(shape), players=players, actions=actions, name=name)


@lru_cache(maxsize=KEPT)
def _portrait(key: tuple[Any, ...], learners: tuple[Any, ...]) -> str:
    game = _game(key)
    return json.dumps(pictures.portrait(portrait(game, list(learners), lines=STARTS.get(game.sizes, 2))))


@lru_cache(maxsize=KEPT)
def _cloud(text: str) -> str:
    """Return runs of a scenario with other seeds; if nothing in it is random, from random strategies."""
    scenario = Scenario.from_dict(json.loads(text))
    pictures.refuse_large_cloud(scenario.played_game.sizes)
    drawn = any(one != "expected" for one in scenario.feedbacks)
    moving = drawn or scenario.noise > 0 or any(one.perturb > 0 for one in scenario.player_parts)
    simulation = _many(scenario, {} if moving else {"start": "random", "opening": None})
    deadline = thread_time() + SECONDS
    record = simulation.run(scenario.rounds, lambda _: thread_time() > deadline, threads=0)
    return json.dumps(pictures.cloud(record, pushed=not moving))


def _many(scenario: Scenario, changes: dict[str, Any]) -> Simulation[Any]:
    """Return a simulation of many runs, with these changes to all players, or perturbed if a learner refuses them."""
    parts = [one.model_copy(update=changes) for one in scenario.player_parts]
    try:
        return simulated(scenario.model_copy(update={"replicas": RUNS, "everyone": None, "players": parts}))
    except InputError:
        if "perturb" in changes:
            raise
        return _many(scenario, {"perturb": PUSH})


@lru_cache(maxsize=KEPT)
def _device(key: tuple[Any, ...]) -> str:
    return json.dumps(pictures.device(_game(key)))
