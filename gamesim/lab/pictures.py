"""What some views need besides frames: a phase portrait, a cloud of runs, and devices to try."""

import json
from collections.abc import Callable
from functools import lru_cache
from time import thread_time
from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.figures.portrait import basins, chosen_lines, place_name, shading, title
from gamesim.game import Game, Table
from gamesim.lab.choices import as_data
from gamesim.lab.limits import simulated
from gamesim.measure.endings import endings, sentence
from gamesim.measure.incentives import written_out
from gamesim.measure.polytope import Polytope
from gamesim.portraits import SHAPES, portrait
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation

KEPT = 32  # answers that are kept: in class, many pages show the same game
STARTS = {"square": 17, "triangle": 18, "cube": 6}  # runs per side of a portrait
PIXELS = 44  # per side of the background of a portrait
POINTS = 160  # of a line
RUNS = 40  # of a cloud
SECONDS = 2.0  # processor time of a cloud
CLOUD_ACTIONS = 24  # of all players
PUSH = 0.5  # share of the first strategies that is drawn at random, if learners cannot start at random strategies
DEVICE_CELLS = 64  # action profiles of a game whose devices are computed
VERTICES = 24  # of the polytope that are offered


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


def _short(numbers: Any, digits: int = 4) -> Any:
    return np.round(np.asarray(numbers, dtype=float), digits).tolist()


@lru_cache(maxsize=KEPT)
def _portrait(key: tuple[Any, ...], learners: tuple[Any, ...]) -> str:
    game = _game(key)
    sizes = {(2, 2): "square", (3, 3): "triangle", (2, 2, 2): "cube"}
    shown = portrait(game, list(learners), lines=STARTS.get(sizes.get(game.sizes, ""), 2))
    dynamics, places = shown.dynamics, basins(shown)
    data: dict[str, Any] = {
        "space": dynamics.shape,
        "title": title(shown),
        "about": dynamics.description,
        "points": _short(shown.points),
        "velocities": _short(shown.velocities, 9),
        "rest": [
            {
                "at": _short(point.state),
                "name": place_name(shown, place),
                "stability": point.stability,
                "nash": point.is_nash,
            }
            for place, point in enumerate(shown.rest)
        ],
        "nash": _short(shown.nash),
        "places": places,
        "lines": [],
    }
    for run in chosen_lines(shown):
        line = shown.lines[run][:-1]
        data["lines"].append({"end": int(shown.ends[run]), "states": _short(line[:: max(1, -(-len(line) // POINTS))])})
    if dynamics.shape != "cube":
        kinds, strengths, _ = shading(shown, places, PIXELS)
        data["pixels"] = {"count": PIXELS, "kinds": kinds.ravel().tolist()}
        data["pixels"]["strengths"] = _short(np.where(np.isnan(strengths), 0, strengths).ravel(), 3)
    assert len(data["points"][0]) == sum(SHAPES[dynamics.shape])
    return json.dumps(data)


@lru_cache(maxsize=KEPT)
def _cloud(text: str) -> str:
    """Return runs of a scenario with other seeds; if nothing in it is random, from random strategies."""
    scenario = Scenario.from_dict(json.loads(text))
    game = scenario.played_game
    if sum(game.sizes) > CLOUD_ACTIONS:
        raise InputError(f"a cloud needs at most {CLOUD_ACTIONS} actions of all players, got {sum(game.sizes)}")
    drawn = any(one != "expected" for one in scenario.feedbacks)
    moving = drawn or scenario.noise > 0 or any(one.perturb > 0 for one in scenario.player_parts)
    simulation = _many(scenario, {} if moving else {"start": "random", "opening": None})
    deadline = thread_time() + SECONDS
    record = simulation.run(scenario.rounds, lambda _: thread_time() > deadline, threads=0)
    curve = record.curve
    last = curve.measure("last-strategies")
    ended = endings(game, last[:, -1])
    data = {
        "title": sentence(ended, game.name),
        "pushed": not moving,
        "rounds": curve.rounds.tolist(),
        "strategies": _short(last, 4),
        "payoffs": _short(curve.payoffs(), 4),
        "gaps": {kind: _short(curve.gap(kind), 6) for kind in ("ce", "cce")},
        "endings": [endings(game, last[:, k]) for k in range(last.shape[1])],
    }
    return json.dumps(data)


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
    """Return the devices that a page offers: the best correlated equilibrium, the most random one, and vertices."""
    game = _game(key)
    if game.cells > DEVICE_CELLS:
        raise InputError(f"devices are computed for at most {DEVICE_CELLS} action profiles, got {game.cells}")
    equilibria = Polytope.from_game(game, "ce")
    small = game.cells <= 9
    data = {
        "best": _short(equilibria.optimum(np.ones(len(game.players))).ravel(), 9),
        "entropy": _short(equilibria.max_entropy().ravel(), 9),
        "vertices": _short(equilibria.vertices().reshape(-1, game.cells)[:VERTICES], 9) if small else [],
    }
    return json.dumps(data)
