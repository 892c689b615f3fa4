"""Read and write records: a record is a folder with a `manifest.json` and one .npy file per array.

Reading a record never executes code.
"""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from gamesim import games, players
from gamesim.engine.sums import lengths
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.learner import Feedback, Learner

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
    """Read the record in a folder."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except FileNotFoundError:
        raise InputError(f"there is no record at {folder}; a record is a folder with a manifest.json") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / 'manifest.json'} is not valid JSON ({error})") from None
    if manifest.get("format") != FORMAT:
        raise InputError(f"{folder} must have record format {FORMAT}, got {manifest.get('format')}")
    try:
        game = _game(folder, manifest["game"])
        return Fields(
            game=game,
            learners=tuple(
                players.make(one["learner"], **one["settings"]) if "learner" in one else one["python"]
                for one in manifest["players"]
            ),
            rounds=manifest["rounds"],
            seed=manifest["seed"],
            feedback=manifest["feedback"],
            started=tuple(manifest["started"]),
            single=manifest["single"],
            arrays=_arrays(folder, manifest["arrays"], game),
            settings=manifest["settings"],
        )
    except (KeyError, OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} is not a complete record ({type(error).__name__}: {error})") from None


def described(learner: Any) -> dict[str, Any]:
    """Return the manifest entry of a learner: its name and settings, or the name of a user-defined class."""
    if isinstance(learner, Learner):
        return {"learner": learner.name, "settings": asdict(learner)}
    return {"python": learner if isinstance(learner, str) else getattr(learner, "__qualname__", repr(learner))}


def _arrays(folder: Path, names: list[str], game: Game) -> dict[str, NDArray[Any]]:
    """Read the arrays; sums that an older version did not keep are NaN."""
    arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in names}
    replicas, checkpoints = len(arrays["average"]), len(arrays["checkpoints"])
    for name, width in lengths(game.sizes).items():
        if name not in arrays:
            arrays[name] = arrays[f"continue_{name}"] = np.full((replicas, width), np.nan)
            arrays[f"checkpoint_{name}"] = np.full((replicas, checkpoints, width), np.nan)
    return arrays


def _game(folder: Path, kept: dict[str, Any]) -> Game:
    games.available()  # imports every class of games, so that Game.kinds() lists them all
    parts = {name: np.load(folder / f"game_{name}.npy", allow_pickle=False) for name in kept["arrays"]}
    labels = tuple(tuple(of_player) for of_player in kept["actions"])
    return Game.kinds()[kept["kind"]].from_arrays(kept["name"], tuple(kept["players"]), labels, parts)
