"""Read and write records: a record is a folder with a `manifest.json` and one .npy file per array.

Reading a record never executes code.
"""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from gamesim import games, players
from gamesim.engine import tracks
from gamesim.engine.loop import BLOCK
from gamesim.engine.sums import lengths
from gamesim.errors import InputError, unknown
from gamesim.game import Game
from gamesim.games.io import npy
from gamesim.learner import Feedback, Learner
from gamesim.validation import whole_number

FORMAT = 1
VERSIONS = ("gamesim", "numpy", "scipy", "numba")  # packages whose versions a record keeps


class Fields(TypedDict):
    """The fields of a record."""

    game: Game
    learners: tuple[Any, ...]
    rounds: int
    seed: int
    feedback: Feedback
    started: tuple[bool, ...]
    single: bool
    arrays: dict[str, NDArray[Any]]
    settings: dict[str, Any]


def write(folder: Path, record: Fields) -> None:
    """Write a record's manifest and arrays into an existing folder."""
    game, arrays = record["game"], record["arrays"]
    for name, part in arrays.items():
        np.save(folder / f"{name}.npy", part, allow_pickle=False)
    for name, part in game.arrays().items():
        np.save(folder / f"game_{name}.npy", part, allow_pickle=False)
    manifest = {
        "format": FORMAT,
        "versions": {name: version(name) for name in VERSIONS},
        "game": {
            "kind": type(game).__name__,
            "name": game.name,
            "players": game.players,
            "actions": game.actions,
            "arrays": sorted(game.arrays()),
        },
        "players": [described(learner) for learner in record["learners"]],
        "rounds": record["rounds"],
        "seed": record["seed"],
        "feedback": record["feedback"],
        "started": record["started"],
        "single": record["single"],
        "arrays": sorted(arrays),
        "settings": record["settings"],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def read(folder: Path) -> Fields:
    """Read the record in a folder, and check that everything in it fits together."""
    manifest = _manifest(folder)
    try:
        game = _game(folder, manifest["game"])
        record = Fields(
            game=game,
            learners=tuple(map(_learner, manifest["players"])),
            rounds=manifest["rounds"],
            seed=manifest["seed"],
            feedback=manifest["feedback"],
            started=tuple(manifest["started"]),
            single=manifest["single"],
            arrays=_arrays(folder, manifest["arrays"], game),
            settings=manifest["settings"],
        )
        _check_values(record)
        _check_arrays(record)
    except Exception as error:  # NumPy raises many kinds on broken files
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{folder} is not a complete record ({what})") from None
    return record


def _manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest, whose values have the types that `write` gives them."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no record at {folder}; a record is a folder with a manifest.json") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON ({error})") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{path} must be a table of keys and values, got {manifest!r:.60}")
    if manifest.get("format") != FORMAT:
        raise InputError(f"{folder} must have record format {FORMAT}, got {manifest.get('format')!r:.60}")
    for key, kind in _TYPES.items():
        if type(manifest.get(key)) is not kind:
            raise InputError(f"{path}: {key} must be of type {kind.__name__}, got {manifest.get(key)!r:.60}")
    return manifest


_TYPES: dict[str, type] = {
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


def _check_values(record: Fields) -> None:
    """Raise an InputError unless the values of the manifest fit together."""
    players, replicas, settings = len(record["game"].players), len(record["arrays"]["average"]), record["settings"]
    if record["rounds"] < 0 or record["seed"] < 0:
        raise InputError(f"rounds and seed must not be negative, got {record['rounds']} and {record['seed']}")
    if record["feedback"] not in get_args(Feedback):
        raise unknown("feedback", record["feedback"], get_args(Feedback))
    if not len(record["learners"]) == len(record["started"]) == players:
        raise InputError(f"expected {players} learners and first strategies, one per player")
    if replicas < 1 or (record["single"] and replicas > 1):
        raise InputError(f"expected {'one replica' if record['single'] else 'at least one replica'}, got {replicas}")
    whole_number("settings.checkpoints", settings["checkpoints"], least=1)
    if not isinstance(settings["random"], list) or len(settings["random"]) != replicas:
        raise InputError(f"expected {replicas} random states, one per replica, got {settings['random']!r:.60}")


def _check_arrays(record: Fields) -> None:
    """Raise an InputError unless every array has its shape and type; compiled code relies on them."""
    sizes, arrays = record["game"].sizes, record["arrays"]
    replicas, kept, actions = len(arrays["average"]), len(arrays["checkpoints"]), sum(sizes)
    stride = tracks.stride(sizes, record["rounds"])
    rows = -(-record["rounds"] // stride)
    shapes: dict[str, tuple[int, ...]] = {
        "checkpoints": (kept,),
        "trajectory": (replicas, rows, actions),
        "trajectory_rounds": (rows,),
        "continue_state": (replicas, arrays["continue_state"].shape[-1]),  # checked when the run is resumed
        "continue_starts": (replicas, actions),
        "continue_strategies": (replicas, BLOCK, actions),
        "continue_losses": (replicas, BLOCK, actions),
        "continue_stride": (replicas, 1),
    }
    for name, width in lengths(sizes).items():
        shapes |= {name: (replicas, width), f"continue_{name}": (replicas, width)}
        shapes[f"checkpoint_{name}"] = (replicas, kept, width)
    for name, shape in shapes.items():
        kind = np.int64 if name in ("checkpoints", "trajectory_rounds", "continue_stride") else np.float64
        if arrays[name].shape != shape or arrays[name].dtype != kind:
            found = f"{arrays[name].dtype} of shape {arrays[name].shape}"
            raise InputError(f"{name} must be an array of {kind.__name__} of shape {shape}, got {found}")
        if kind is np.float64 and (np.abs(arrays[name]) > 2.0 * record["rounds"]).any() and name != "continue_state":
            raise InputError(f"{name} must grow by at most 2 per round")
    if (arrays["continue_stride"] != stride).any() or arrays["trajectory_rounds"].tolist() != [*range(1, record["rounds"] + 1, stride)]:
        raise InputError(f"the trajectory of {record['rounds']} rounds must keep every round number 1 + k · {stride}")
    grid = arrays["checkpoints"]
    if kept and (grid[0] < 1 or grid[-1] > record["rounds"] or (np.diff(grid) <= 0).any()):
        raise InputError(f"checkpoints must increase from 1 to at most {record['rounds']} rounds")


def described(learner: Any) -> dict[str, Any]:
    """Return the manifest entry of a learner: its name and settings, or the name of a user-defined class."""
    if isinstance(learner, Learner):
        return {"learner": learner.name, "settings": asdict(learner)}
    return {"python": learner if isinstance(learner, str) else getattr(learner, "__qualname__", repr(learner))}


def _arrays(folder: Path, names: list[str], game: Game) -> dict[str, NDArray[Any]]:
    """Read the arrays; sums that an older version did not keep are NaN."""
    arrays = {name: _array(folder / f"{name}.npy") for name in names}
    replicas, checkpoints = len(arrays["average"]), len(arrays["checkpoints"])
    for name, width in lengths(game.sizes).items():
        if name not in arrays:
            arrays[name] = arrays[f"continue_{name}"] = np.full((replicas, width), np.nan)
            arrays[f"checkpoint_{name}"] = np.full((replicas, checkpoints, width), np.nan)
    return arrays


def _game(folder: Path, kept: dict[str, Any]) -> Game:
    games.available()  # imports every class of games, so that Game.kinds() lists them all
    parts = {name: _array(folder / f"game_{name}.npy") for name in kept["arrays"]}
    labels = tuple(tuple(map(_text, of_player)) for of_player in kept["actions"])
    players = tuple(map(_text, kept["players"]))
    return Game.kinds()[kept["kind"]].from_arrays(_text(kept["name"]), players, labels, parts)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"names and labels must be text, got {value!r:.60}")
    return value


def _learner(kept: dict[str, Any]) -> Learner | str:
    """Return a learner from its entry in the manifest, or the name of a user-defined class."""
    return players.make(kept["learner"], **kept["settings"]) if "learner" in kept else _text(kept["python"])


def _array(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        return np.ascontiguousarray(npy.read(file, path.name, path.stat().st_size))
