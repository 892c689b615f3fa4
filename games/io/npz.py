"""NumPy archives (.npz), the only format that stores every game exactly, network games included.

An archive holds the kind of the game, its names and labels, and the arrays that define it; or only payoffs. Reading one
executes no code.
"""

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Arrays, Game, Table
from gamesim.games.io import npy

_OF_THE_GAME = "game_"  # prefix of the arrays that define the game


def write(game: Game, out: IO[bytes]) -> None:
    """Write a game to an open file."""
    parts = {
        "kind": np.array(type(game).__name__),
        "name": np.array(game.name),
        "players": np.array(game.players),
        "sizes": np.array(game.sizes, dtype=np.int64),
        "labels": np.array([label for labels in game.actions for label in labels]),
    }
    own = {f"{_OF_THE_GAME}{name}": part for name, part in game.arrays().items()}
    with zipfile.ZipFile(out, "w") as archive:  # as `np.savez`, which refuses objects from NumPy 2.2 on only
        for name, part in (parts | own).items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, part, allow_pickle=False)


def read(path: Path) -> Game:
    """Return a game written by `write`, or the table in an archive with an array `payoffs`."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            parts = {name: _array(archive, name) for name in names}
        if "kind" in parts:
            return _game(parts, path)
        if "payoffs" not in parts:
            raise InputError(f"{path}: expected an array called payoffs, found {', '.join(names) or 'nothing'}")
        return Table.from_payoffs(parts["payoffs"], name=path.stem)
    except InputError as error:
        raise error if str(error).startswith(str(path)) else InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds on broken archives
        raise InputError(f"{path}: not a complete .npz file of a game ({type(error).__name__}: {error})") from None


def _game(parts: Arrays, path: Path) -> Game:
    """Return the game in these parts; importing gamesim.games has registered every kind."""
    kind = Game.kinds().get(str(parts["kind"]))
    if kind is None:
        raise InputError(f"{path}: unknown kind of game {str(parts['kind'])!r}")
    ends = np.cumsum(parts["sizes"])[:-1]
    labels = [[str(label) for label in own] for own in np.split(parts["labels"], ends)]
    own = {name.removeprefix(_OF_THE_GAME): part for name, part in parts.items() if name.startswith(_OF_THE_GAME)}
    return kind.from_arrays(str(parts["name"]), [str(name) for name in parts["players"]], labels, own)


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray[Any, Any]:
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        return npy.read(file, name, member.file_size)
