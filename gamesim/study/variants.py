"""Variants of a study's base scenario: apply changes and fill in defaults."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

from gamesim import games
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.scenario.parts import EveryonePart, MeasurePart, PlayerPart

LATER = {"trajectory", "observers", "measures"}  # keys of [measure] that older stores lack: points keep their keys


def change(document: dict[str, Any], key: str, value: Any) -> None:
    """Set one value of a scenario, such as "rounds", "game.settings.seed" or "players[2].learner"."""
    steps: list[str | int] = []
    for part in key.split("."):
        match = re.fullmatch(r"([^\[\]]+)(?:\[(\d+)\])?", part)
        if match is None:
            raise InputError(f"{key}: expected a key such as game.settings.seed or players[2].learner")
        steps.append(match[1])
        if match[2] is not None:
            steps.append(int(match[2]) - 1)
    if steps[0] in ("players", "everyone") and len(steps) == 1:  # a scenario has exactly one of them
        document.pop("everyone" if steps[0] == "players" else "players", None)
    here: Any = document
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, int):
            if not isinstance(here, list) or not 0 <= step < len(here):
                length = len(here) if isinstance(here, list) else 0
                raise InputError(f"{key}: expected an index from 1 to {length}, the number of entries, got {step + 1}")
        elif not isinstance(here, dict):
            raise InputError(f"{key}: cannot set {step!r}, because its parent is not a table")
        if following is None:
            here[step] = deepcopy(value)
        elif isinstance(step, int):
            here = here[step]
        else:
            here = here.setdefault(step, [] if isinstance(following, int) else {})


def complete(raw: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a scenario with all defaults and the payoffs of its game file, so that it alone determines the run."""
    complete = {"feedback": "expected", **raw}
    measure = complete.get("measure", {})
    usual = MeasurePart().model_dump(exclude=LATER)
    complete["measure"] = {**usual, **measure} if isinstance(measure, dict) else measure
    for key, part in (("everyone", EveryonePart), ("players", PlayerPart)):
        tables = complete.get(key)
        if isinstance(tables, dict):
            complete[key] = _with_defaults(tables, part)
        elif isinstance(tables, list):
            complete[key] = [_with_defaults(one, part) if isinstance(one, dict) else one for one in tables]
    game = complete.get("game")
    if isinstance(game, dict) and isinstance(game.get("file"), str) and len(game) == 1:
        complete["game"] = _read_game(folder / game["file"])
    elif isinstance(game, dict) and "name" in game:
        complete["game"] = {"settings": {}, **game}
    return complete


def _with_defaults(table: dict[str, Any], part: type[EveryonePart]) -> dict[str, Any]:
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in part.model_fields.items()
        if not field.is_required() and field.get_default(call_default_factory=True) is not None
    }
    return defaults | table


_files: dict[tuple[Path, int, int], dict[str, Any]] = {}


def _read_game(path: Path) -> dict[str, Any]:
    """Return the game in a file as payoff tables: the file may change, or be missing on a worker."""
    try:
        known = path.resolve(), path.stat().st_mtime_ns, path.stat().st_size
    except (OSError, ValueError) as error:  # a ValueError if the path contains a null character
        raise InputError(f"game.file: cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if known not in _files:
        game = games.load(path)
        if not isinstance(game, Table):
            raise InputError(f"game.file: a study requires a game file with payoff tables, got {path}")
        _files[known] = {
            "payoffs": game.payoffs.tolist(),
            "players": list(game.players),
            "actions": [list(labels) for labels in game.actions],
        }
    return _files[known]
