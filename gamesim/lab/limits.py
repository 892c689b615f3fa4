"""Validate requests of a page: small scenarios, given as data, that open no files and import no code."""

import json
from collections.abc import Mapping
from typing import Any, get_type_hints

from gamesim import games
from gamesim.engine.checkpoints import DECADES, checkpoint_numbers
from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.games.limits import payoffs_within
from gamesim.lab.connections import MESSAGE
from gamesim.measure.distance import why_left_out
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation

PLAYERS = 12
ACTIONS = 64  # per player
CELLS = 4096  # action profiles
ROUNDS = 10**9
DELAY = 1000  # rounds
PAYOFFS = 2**19  # of a game that is built before it is compared with these limits
CHECKPOINTS = 100  # per power of ten of the rounds
CHECKPOINT_BYTES = 2**21  # maximum size of a run's checkpoints; if each is large, there are fewer
PAGES = 64  # maximum number of open pages
WAITING = 64  # maximum number of messages of a page that wait
RATE, BURST = 200, 400  # maximum number of messages of a page per second, and at once

LIMITS = {"players": PLAYERS, "actions": ACTIONS, "cells": CELLS, "rounds": ROUNDS}


def read_message(text: str) -> dict[str, Any]:
    """Parse a message: a JSON object with the command under "do".

    >>> read_message('{"do": "pause"}')
    {'do': 'pause'}
    >>> read_message("[]")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: a message must be a JSON object with a key "do", got []
    """
    if len(text) > MESSAGE:
        raise InputError(f"a message must have at most {MESSAGE:,} characters, got {len(text):,}; use a smaller game")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"a message must be valid JSON ({error})") from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise InputError(f'a message must be a JSON object with a key "do", got {text[:60]}')
    return message


def asked_game(raw: Any) -> Game:
    """Return the requested game, with the names of its players and actions."""
    return asked_scenario({"rounds": 1, "game": raw, "everyone": {"learner": "uniform"}}).played_game


def asked_scenario(raw: Any) -> Scenario:
    """Return the requested scenario, or report all mistakes in it."""
    if not isinstance(raw, Mapping):
        raise InputError(f"a scenario must be a table of keys and values, got {type(raw).__name__}")
    _refuse_files(raw.get("game"))
    with payoffs_within(PAYOFFS):
        scenario = Scenario.from_dict(raw)
    refuse_beyond(scenario)
    return scenario


def simulated(scenario: Scenario) -> Simulation:
    """Return the simulation of a scenario, with a thinned trajectory, and checkpoints that take little memory."""
    drawn = any(one != "expected" for one in scenario.feedbacks)
    game = scenario.played_game
    fitting = CHECKPOINT_BYTES // (8 * checkpoint_numbers(game.sizes, drawn, isinstance(game, Table)) * DECADES)
    checkpoints = min(scenario.measure.checkpoints, CHECKPOINTS, max(1, fitting))
    measure = scenario.measure.model_copy(update={"checkpoints": checkpoints, "trajectory": "thinned"})
    return scenario.model_copy(update={"measure": measure}).simulation()


def _refuse_files(game: Any) -> None:
    """Reject games that would open a file, before building them."""
    if not isinstance(game, Mapping):
        return
    if "file" in game:
        raise InputError("game.file: the lab does not open files named by a page; start it with gamesim lab SCENARIO")
    make = games.available().get(game["name"]) if isinstance(game.get("name"), str) else None
    if make is not None and not issubclass(get_type_hints(make)["return"], Table):
        raise InputError(f"game.name: the lab needs a game with a payoff table, got {game['name']!r}")


def refuse_beyond(scenario: Scenario) -> None:
    """Reject scenarios that are too large for the lab."""
    game, way = scenario.played_game, "use gamesim run instead"
    if not isinstance(game, Table):
        raise InputError(f"the lab needs a game with a payoff table, got {game.name!r}; {way}")
    if len(game.players) > PLAYERS:
        raise InputError(f"the lab supports at most {PLAYERS} players, got {len(game.players)}; {way}")
    if max(game.sizes) > ACTIONS:
        raise InputError(f"the lab supports at most {ACTIONS} actions per player, got {max(game.sizes)}; {way}")
    if game.cells > CELLS:
        raise InputError(f"the lab supports at most {CELLS:,} action profiles, got {game.cells:,}; {way}")
    if scenario.rounds > ROUNDS:
        raise InputError(f"rounds must be at most {ROUNDS:,} in the lab, got {scenario.rounds:,}; {way}")
    if scenario.delay > DELAY:
        raise InputError(f"delay must be at most {DELAY:,} in the lab, got {scenario.delay:,}; {way}")
    if scenario.measure.distance == "always" and (reason := why_left_out(game)) is not None:
        raise InputError(f'measure.distance must be "auto" or "never" in the lab: {reason.partition(": ")[0]}; {way}')
    if scenario.replicas is not None:
        raise InputError("replicas: the lab runs a single replica; remove replicas, or change the seed")
