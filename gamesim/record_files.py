"""Read and write records: a record is a folder with a `manifest.json` and one .npy file per array.

The manifest has the checksums of all files, see `gamesim.sealed`. Reading a record never executes code.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from gamesim import games, sealed
from gamesim.engine.sums import lengths
from gamesim.errors import InputError
from gamesim.formatting import shown
from gamesim.game import Game, Table
from gamesim.games.io import npy
from gamesim.learner import DRAWN, RecordedFeedback
from gamesim.record_checks import check_arrays, check_manifest, check_settings
from gamesim.user_learners import described, from_entry

FORMAT = 1
MANIFEST_FILE = "manifest.json"
VERSIONS = ("gamesim", "numpy", "scipy", "numba")  # packages whose versions a record keeps


class Fields(TypedDict):
    """The fields of a record."""

    game: Game
    learners: tuple[Any, ...]
    rounds: int
    seed: int
    feedback: RecordedFeedback
    started: tuple[bool, ...]
    single: bool
    arrays: dict[str, NDArray[Any]]
    settings: dict[str, Any]


def write(folder: Path, record: Fields) -> None:
    """Write a record's manifest and arrays into an existing folder."""
    game, arrays = record["game"], record["arrays"]
    files = {f"{name}.npy": part for name, part in arrays.items()}
    files |= {f"game_{name}.npy": part for name, part in game.arrays().items()}
    for file, part in files.items():
        np.save(folder / file, part, allow_pickle=False)
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
    sealed.write(folder / MANIFEST_FILE, manifest, files)


def read(folder: Path) -> Fields:
    """Read the record in a folder, after verifying its checksums."""
    if not (folder / MANIFEST_FILE).is_file():
        raise InputError(f"there is no record at {folder}; a record is a folder with a {MANIFEST_FILE}")
    manifest = sealed.read(folder / MANIFEST_FILE)
    if manifest.get("format") != FORMAT:
        raise InputError(f"{folder / MANIFEST_FILE} must have format {FORMAT}, got {shown(manifest.get('format'))}")
    try:
        check_manifest(manifest)
        game = _game(folder, manifest["game"])
        arrays = {name: _array(folder / f"{name}.npy") for name in manifest["arrays"]}
        arrays |= _later_sums(arrays, game, manifest["feedback"])
        check_settings(manifest, game, len(arrays["average"]))
        check_arrays(game, arrays, manifest)
        return Fields(
            game=game,
            learners=tuple(map(from_entry, manifest["players"])),
            rounds=manifest["rounds"],
            seed=manifest["seed"],
            feedback=manifest["feedback"],
            started=tuple(manifest["started"]),
            single=manifest["single"],
            arrays=arrays,
            settings=manifest["settings"],
        )
    except Exception as error:  # files without checksums may be damaged, and NumPy's reader then raises anything
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{folder} is not a complete record ({what})") from None


def _later_sums(arrays: dict[str, NDArray[Any]], game: Game, feedback: RecordedFeedback) -> dict[str, NDArray[Any]]:
    """Return the sums that a record of an earlier version lacks, as NaN: they cannot be computed afterwards."""
    replicas, kept, _ = arrays["checkpoint_average"].shape
    added = {}
    for name, length in lengths(game.sizes, drawn=feedback in DRAWN, tabled=isinstance(game, Table)).items():
        if name not in arrays:
            added[name] = added[f"continue_{name}"] = np.full((replicas, length), np.nan)
            added[f"checkpoint_{name}"] = np.full((replicas, kept, length), np.nan)
    return added


def _game(folder: Path, kept: dict[str, Any]) -> Game:
    games.available()  # imports every class of games, so that Game.kinds() lists them all
    parts = {name: _array(folder / f"game_{name}.npy") for name in kept["arrays"]}
    labels = tuple(tuple(map(_text, of_player)) for of_player in kept["actions"])
    names = tuple(map(_text, kept["players"]))
    return Game.kinds()[kept["kind"]].from_arrays(_text(kept["name"]), names, labels, parts)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"names and labels must be text, got {shown(value)}")
    return value


def _array(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        return np.ascontiguousarray(npy.read(file, path.name, path.stat().st_size))
