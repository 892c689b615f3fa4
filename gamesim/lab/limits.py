"""Validate requests of a page: small scenarios, given as data, that open no files and import no code."""

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, get_type_hints

from gamesim import games
from gamesim.engine.checkpoints import DECADES, checkpoint_numbers
from gamesim.errors import InputError
from gamesim.formatting import one_line
from gamesim.game import Game, Table
from gamesim.games.io import csv_tables, gam, nfg
from gamesim.games.limits import payoffs_within
from gamesim.lab.connections import MESSAGE
from gamesim.measure.distance import why_left_out
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation
from gamesim.views.frames import ACTIONS, CELLS, PLAYERS

ROUNDS = 10**9
DELAY = 1000  # rounds
PAYOFFS = 2**19  # of a game that is built before it is compared with these limits
CHECKPOINTS = 100  # per power of ten of the rounds
CHECKPOINT_BYTES = 2**21  # maximum size of a run's checkpoints; if each is large, there are fewer
PAGES = 64  # maximum number of open pages
WAITING = 64  # maximum number of messages of a page that wait
RATE, BURST = 200, 400  # maximum number of messages of a page per second, and at once

GAME_TEXT = 2**17  # characters of a game that a page sends as text
NAME = 80  # characters of the name of a file
SMALLER = "use gamesim run instead"
PASTE = (
    "expected the payoffs of both players in each cell, as in 3,1, with tabs between cells, as copied from a "
    'spreadsheet, or "3,1","0,0" with commas; or one block of payoffs per player, with an empty line between them'
)

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


def read_game(files: Any) -> Table:
    """Return the game in files that a page sends, each as a name and a text: one .nfg or .gam file, or CSV.

    Text that is pasted has a name without an extension; it is CSV, as copied from a spreadsheet, or an .nfg file.

    >>> read_game([["pasted", "3,1\\t0,0\\n0,0\\t1/2,3"]]).payoffs[0].tolist()
    [[3.0, 0.0], [0.0, 0.5]]
    """
    pairs = isinstance(files, list) and all(isinstance(one, list) and len(one) == 2 for one in files)
    if not pairs or not all(isinstance(part, str) for one in files for part in one):
        raise InputError(f"files must be a list of pairs of a name and a text, got {files!r:.60}")
    if not 1 <= len(files) <= PLAYERS:
        raise InputError(f"expected from 1 to {PLAYERS} files, got {len(files)}")
    texts = [(one_line(name.strip(), NAME) or "pasted", text.removeprefix("\ufeff")) for name, text in files]
    if (length := sum(len(text) for _, text in texts)) > GAME_TEXT:
        raise InputError(f"a game must have at most {GAME_TEXT:,} characters of text, got {length:,}; {SMALLER}")
    place, text = texts[0]
    ending = PurePosixPath(place).suffix.lower()
    game: Table
    if ending in (".nfg", ".gam") or (ending != ".csv" and text.lstrip().startswith("NFG ")):
        if len(texts) > 1:
            raise InputError(f"expected one {ending or '.nfg'} file, got {len(texts)} files")
        game = (gam if ending == ".gam" else nfg).read(text, place, PurePosixPath(place).stem)
    elif ending in ("", ".csv", ".txt", ".tsv"):
        ordered = sorted(texts) if len(texts) > 1 else texts  # NAME.1.csv, NAME.2.csv, ...
        try:
            game = csv_tables.read(ordered, re.sub(r"(\.1)?\.\w+$", "", ordered[0][0]))
        except csv_tables.MissingTable as error:
            raise InputError(PASTE if not ending else f"{error}; drop all files at once") from None
    else:
        raise InputError(f"{place}: expected a .csv, .nfg or .gam file; open other formats with gamesim convert")
    _refuse_large(game, SMALLER)
    return game


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


def _refuse_large(game: Game, way: str) -> None:
    """Reject games that are too large for the lab."""
    if len(game.players) > PLAYERS:
        raise InputError(f"the lab supports at most {PLAYERS} players, got {len(game.players)}; {way}")
    if max(game.sizes) > ACTIONS:
        raise InputError(f"the lab supports at most {ACTIONS} actions per player, got {max(game.sizes)}; {way}")
    if game.cells > CELLS:
        raise InputError(f"the lab supports at most {CELLS:,} action profiles, got {game.cells:,}; {way}")


def refuse_beyond(scenario: Scenario) -> None:
    """Reject scenarios that are too large for the lab."""
    game, way = scenario.played_game, SMALLER
    if not isinstance(game, Table):
        raise InputError(f"the lab needs a game with a payoff table, got {game.name!r}; {way}")
    _refuse_large(game, way)
    if scenario.rounds > ROUNDS:
        raise InputError(f"rounds must be at most {ROUNDS:,} in the lab, got {scenario.rounds:,}; {way}")
    if scenario.delay > DELAY:
        raise InputError(f"delay must be at most {DELAY:,} in the lab, got {scenario.delay:,}; {way}")
    if scenario.measure.distance == "always" and (reason := why_left_out(game)) is not None:
        raise InputError(f'measure.distance must be "auto" or "never" in the lab: {reason.partition(": ")[0]}; {way}')
    if scenario.replicas is not None:
        raise InputError("replicas: the lab runs a single replica; remove replicas, or change the seed")
