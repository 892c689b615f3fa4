"""Check that everything in a record that was read fits together: measures and compiled code rely on it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.sums import lengths
from gamesim.errors import InputError, unknown
from gamesim.formatting import shown
from gamesim.game import Game, Table
from gamesim.learner import DRAWN, FEEDBACKS
from gamesim.measure.observers import BUILT_IN
from gamesim.validation import MOST_ROUNDS, whole_number

_TYPES: dict[str, type] = {
    "format": int,
    "game": dict,
    "players": list,
    "rounds": int,
    "seed": int,
    "feedback": str,
    "started": list,
    "single": bool,
    "arrays": list,
    "settings": dict,
}
_INTEGERS = ("checkpoints", "trajectory_rounds", "continue_kept", "plays", "recommendations")
_LATER = ("path", "last", "strategy_counterfactuals")  # NaN in records of earlier versions

Arrays = Mapping[str, NDArray[Any]]


def check_manifest(manifest: Mapping[str, Any]) -> None:
    """Raise an InputError unless the values in a manifest have the types that it is written with."""
    for key, kind in _TYPES.items():
        if type(manifest.get(key)) is not kind:
            raise InputError(f"{key} must be of type {kind.__name__}, got {shown(manifest.get(key))}")
    if manifest["feedback"] not in FEEDBACKS:
        raise unknown("feedback", manifest["feedback"], FEEDBACKS)
    whole_number("rounds", manifest["rounds"], least=0, most=MOST_ROUNDS)
    whole_number("seed", manifest["seed"], least=0)


def check_settings(manifest: Mapping[str, Any], game: Game, replicas: int) -> None:
    """Raise an InputError unless the settings are those of a run with this game and number of replicas."""
    settings, count = manifest["settings"], len(game.players)
    if not len(manifest["players"]) == len(manifest["started"]) == count:
        raise InputError(f"players and started must have {count} entries, one per player of the game")
    if replicas < 1 or (manifest["single"] and replicas > 1):
        raise InputError(f"expected {'one replica' if manifest['single'] else 'at least one replica'}, got {replicas}")
    whole_number("settings.checkpoints", settings["checkpoints"], least=1)
    for key in ("protocol", "observers"):
        if not isinstance(settings.get(key, {}), dict):
            raise InputError(f"settings.{key} must be a table, got {shown(settings[key])}")
    _list("settings.random", settings["random"], replicas)
    _list("settings.noise", settings.get("noise", []), replicas if settings.get("protocol", {}).get("noise") else 0)
    for one in _list("settings.python_random", settings.get("python_random", [{}] * replicas), replicas):
        if not isinstance(one, dict):
            raise InputError(f"settings.python_random must be tables, got {shown(one)}")
    for one in _list("settings.states", settings.get("states", [0] * count), count):
        whole_number("settings.states", one, least=0, most=2**50)
    _list("settings.placed", settings.get("placed", [False] * count), count)
    for name, size in settings.get("observers", {}).items():
        whole_number(f"the size of observer {name}", size, least=1)


def check_arrays(game: Game, arrays: Arrays, manifest: Mapping[str, Any]) -> None:
    """Raise an InputError unless the arrays that measures read have the shapes and values of a run of this game."""
    replicas, rounds = len(arrays["average"]), manifest["rounds"]
    kept, rows = len(arrays["checkpoints"]), len(arrays["trajectory_rounds"])
    observers = manifest["settings"].get("observers", {})
    check_shapes(
        arrays,
        {"checkpoints": (kept,), "trajectory_rounds": (rows,), "trajectory": (replicas, rows, sum(game.sizes))},
    )
    drawn = manifest["feedback"] in DRAWN
    tabled = isinstance(game, Table) and "counterfactuals" not in arrays  # which earlier versions stored
    for name, width in lengths(game.sizes, drawn, tabled, sum(observers.values())).items():
        check_shapes(arrays, {name: (replicas, width), f"checkpoint_{name}": (replicas, kept, width)})
        for one in (arrays[name], arrays[f"checkpoint_{name}"]) if name != "observed" else ():
            if not ((np.abs(one) <= 2.0 * rounds) | (name in _LATER and np.isnan(one))).all():
                raise InputError(f"{name} must be finite and grow by at most 2 per round")
    for rounds_kept in (arrays["checkpoints"], arrays["trajectory_rounds"]):
        if len(rounds_kept) and (
            rounds_kept[0] < 1 or rounds_kept[-1] > rounds or (rounds_kept[1:] <= rounds_kept[:-1]).any()
        ):
            raise InputError(f"checkpoints and trajectory_rounds must increase, from 1 to {rounds} at most")
    if not (np.abs(arrays["trajectory"]) <= 2).all():
        raise InputError("trajectory must be strategies")
    for name in {"plays", "recommendations"} & set(arrays):
        check_shapes(arrays, {name: (replicas, rounds, len(game.sizes))})
        if not ((arrays[name] >= -1) & (arrays[name] < game.sizes)).all():
            raise InputError(f"{name} must be indices of actions")
    for name, found in arrays.items():
        if name not in ("checkpoints", "trajectory_rounds") and len(found) != replicas:
            raise InputError(f"{name} must have one row for each of the {replicas} replicas, got {len(found)}")
    _check_headers(game, arrays, observers)


def check_shapes(arrays: Arrays, shapes: Mapping[str, Sequence[int]]) -> None:
    """Raise an InputError unless the arrays have these shapes, and hold 64-bit numbers."""
    for name, shape in shapes.items():
        if name not in arrays:
            raise InputError(f"the array {name} is missing")
        kind, found = np.dtype(np.int64 if name in _INTEGERS else np.float64), arrays[name]
        if found.shape != tuple(shape) or found.dtype != kind:
            raise InputError(
                f"{name} must be an array of {kind} of shape {tuple(shape)}, got {found.dtype} of shape {found.shape}"
            )


def _check_headers(game: Game, arrays: Arrays, observers: Mapping[str, int]) -> None:
    """Raise an InputError unless the totals of built-in observers begin with their headers, which kernels follow."""
    first = 0
    for name, size in observers.items():
        if name in BUILT_IN:
            fresh = BUILT_IN[name].first(game)
            header = fresh[: 2 + len(game.sizes)]
            for array in ("observed", "checkpoint_observed", "continue_observed"):
                if len(fresh) != size or (arrays[array][..., first : first + len(header)] != header).any():
                    raise InputError(f"{array} does not hold the totals of {name} in this game")
        first += size


def _list(name: str, value: Any, length: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise InputError(f"{name} must be a list of {length}, got {shown(value)}")
    return value


def restore_generator(random: np.random.Generator, state: Any) -> None:
    """Set the state of a random number generator to that in a record, or raise an InputError."""
    try:
        random.bit_generator.state = state
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the random state in this record is invalid ({type(error).__name__}: {error})") from None
