"""What a page may ask for: scenarios as data, small enough to watch, that open no file and import nothing."""

import json
from collections.abc import Mapping
from typing import Any, get_type_hints

from gamesim import games
from gamesim.errors import InputError
from gamesim.game import Game, Table, tables_within
from gamesim.scenario import Scenario

PLAYERS = 12
ACTIONS = 64  # of one player
CELLS = 4096  # action profiles
ROUNDS = 10**9
SETTING = 100  # the largest whole number in a game's settings: games of these sizes are listed before they are refused
TABLE = 2**22  # bytes that a game's table may take while it is built
MESSAGE = 2**20  # characters in one message
PAGES = 64  # pages that are open at once

LIMITS = {"players": PLAYERS, "actions": ACTIONS, "cells": CELLS, "rounds": ROUNDS}


def read_message(text: str) -> dict[str, Any]:
    """Return what a page says: a JSON object with a word under "do".

    >>> read_message('{"do": "pause"}')
    {'do': 'pause'}
    >>> read_message("[]")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: a message is a JSON object with a key "do", and [] came
    """
    if len(text) > MESSAGE:
        raise InputError(f"a message has at most {MESSAGE:,} characters, and {len(text):,} came: take a smaller game")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"a message is JSON, and this is not ({error})") from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise InputError(f'a message is a JSON object with a key "do", and {text[:60]} came')
    return message


def asked_game(raw: Any) -> Game:
    """Return the game that a page asks for, with the players' and actions' own names."""
    return asked_scenario({"rounds": 1, "game": raw, "everyone": {"learner": "uniform"}}).played_game


def asked_scenario(raw: Any) -> Scenario:
    """Return the scenario that a page asks for, or say everything that is wrong with it."""
    if not isinstance(raw, Mapping):
        raise InputError(f"a scenario is a table of keys and values, and {type(raw).__name__} came")
    _refuse_files(raw.get("game"))
    with tables_within(TABLE):
        scenario = Scenario.from_dict(raw)
    refuse_beyond(scenario)
    return scenario


def _refuse_files(game: Any) -> None:
    """Refuse what would open a file or take long to build, before anything is built."""
    if not isinstance(game, Mapping):
        return
    if "file" in game:
        raise InputError("game.file: the lab opens no files that a page names: start it with gamesim lab SCENARIO")
    make = games.available().get(game["name"]) if isinstance(game.get("name"), str) else None
    if make is None:
        return
    if not issubclass(get_type_hints(make)["return"], Table):
        raise InputError(f"game.name: the lab shows games with a payoff table, and {game['name']} has none")
    settings = game.get("settings")
    hints = get_type_hints(make)
    for key, value in settings.items() if isinstance(settings, Mapping) else ():
        if "int" in str(hints.get(key)) and key != "seed" and (largest := _largest(value)) > SETTING:
            raise InputError(f"game.settings.{key}: the lab takes whole numbers up to {SETTING}, and {largest:g} came")


def _largest(value: Any) -> float:
    entries = value if isinstance(value, list) else [value]
    return max((one for one in entries if isinstance(one, int | float)), default=0)


def refuse_beyond(scenario: Scenario) -> None:
    """Refuse what is too large to be watched."""
    game, way = scenario.played_game, "run it with gamesim run"
    if not isinstance(game, Table):
        raise InputError(f"the lab shows games with a payoff table, and {game.name} has none: {way}")
    if len(game.players) > PLAYERS:
        raise InputError(f"the lab shows at most {PLAYERS} players, and {game.name} has {len(game.players)}: {way}")
    if max(game.sizes) > ACTIONS:
        raise InputError(f"the lab shows at most {ACTIONS} actions of a player, and {max(game.sizes)} came: {way}")
    if game.cells > CELLS:
        raise InputError(f"the lab shows at most {CELLS:,} action profiles, and there are {game.cells:,}: {way}")
    if scenario.rounds > ROUNDS:
        raise InputError(f"rounds: the lab plays at most {ROUNDS:,}, and {scenario.rounds:,} came: {way}")
    if scenario.replicas is not None:
        raise InputError("replicas: the lab shows one run, and replicas came: leave them out, or choose another seed")
