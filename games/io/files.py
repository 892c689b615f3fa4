"""Games in files: which format a path means, reading within limits, writing whole or not at all."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from gamesim.atomic import write_file
from gamesim.errors import InputError, did_you_mean
from gamesim.game import MEMORY, Game, Table
from gamesim.games.io import gam, nfg, sheets

LARGEST_TEXT = 2**30  # bytes of a text file that is read
_LARGEST_LABELS = 2**28  # bytes of all the labels in an .npz file
_TEXTS: dict[str, tuple[Callable[[str, str, str], Table], Callable[[Table], str]]] = {
    ".nfg": (nfg.read, nfg.write),
    ".gam": (gam.read, gam.write),
}
FORMATS = (*_TEXTS, ".csv", ".npz")


def load(path: str | os.PathLike[str]) -> Game:
    """Return the game in a file: .nfg, .gam, .csv (a sheet per player: any of them, or NAME.csv) or .npz."""
    path = Path(path)
    kind = _format(path)
    if kind == ".npz":
        return _load_npz(path)
    if kind == ".csv":
        found = sheets.paths(path)
        name = found[0].name.removesuffix(".csv").removesuffix(".1")
        return sheets.read([(str(sheet), _text(sheet)) for sheet in found], name)
    return _TEXTS[kind][0](_text(path), str(path), path.stem)


def save(game: Game, path: str | os.PathLike[str]) -> list[Path]:
    """Write a game to a file and return what was written; the ending says the format.

    A table reads back exactly: from .nfg and .npz with its names, from .csv under the file's name, from .gam without
    names. Network games, which have no table, go to .npz.
    """
    path = Path(path)
    kind = _format(path)
    if kind == ".npz":
        write_file(path, lambda out: _save_npz(game, out))
        return [path]
    if not isinstance(game, Table):
        raise InputError(f"{path}: {game.name} has no table, which {kind} files hold: save it as .npz")
    if kind == ".csv":
        written = sheets.paths(path, len(game.players))
        for sheet, text in zip(written, sheets.write(game), strict=True):
            _write_text(sheet, text)
        return written
    _write_text(path, _TEXTS[kind][1](game))
    return [path]


def _format(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in FORMATS:
        which = f"{kind} files" if kind else "files without an ending"
        raise InputError(f"{path}: games are not kept in {which}: {did_you_mean(kind, FORMATS)}")
    return kind


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > LARGEST_TEXT:
            raise InputError(f"{path}: has {size} bytes, and {LARGEST_TEXT} is the limit")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: expected text in UTF-8, and other bytes came") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _write_text(path: Path, text: str) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: cannot write {text[error.start : error.end]!r} as UTF-8") from None
    write_file(path, lambda out: out.write(data))


def _save_npz(game: Game, out: IO[bytes]) -> None:
    parts = {
        "kind": np.array(type(game).__name__),
        "name": np.array(game.name),
        "players": np.array(game.players),
        "sizes": np.array(game.sizes, dtype=np.int64),
        "labels": np.array([label for labels in game.actions for label in labels]),
    }
    np.savez(out, allow_pickle=False, **parts, **{f"game_{name}": part for name, part in game.arrays().items()})


def _load_npz(path: Path) -> Game:
    """Read what `save` wrote, or any archive with an array called payoffs; nothing in it is executed."""
    from gamesim import games

    games.available()  # imports every kind of game
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            parts = {name: _array(archive, name, path) for name in names}
        if "kind" not in parts:
            if "payoffs" not in parts:
                raise InputError(f"{path}: expected an array called payoffs, and found {', '.join(names) or 'nothing'}")
            return Table.from_payoffs(parts["payoffs"], name=path.stem)
        kind = Game.kinds().get(str(parts["kind"]))
        if kind is None:
            raise InputError(f"{path}: there is no kind of game called {parts['kind']}")
        ends = np.cumsum(parts["sizes"])[:-1]
        labels = [[str(label) for label in own] for own in np.split(parts["labels"], ends)]
        arrays = {name.removeprefix("game_"): part for name, part in parts.items() if name.startswith("game_")}
        return kind.from_arrays(str(parts["name"]), [str(name) for name in parts["players"]], labels, arrays)
    except InputError as error:
        raise error if str(error).startswith(str(path)) else InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds on broken archives
        raise InputError(f"{path}: is not a whole .npz file of a game ({type(error).__name__}: {error})") from None


def _array(archive: zipfile.ZipFile, name: str, path: Path) -> np.ndarray[Any, Any]:
    """Read one array, once its header says that it is numbers or labels and that it fits."""
    with archive.open(f"{name}.npy") as part:
        version = npy.read_magic(part)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, kind = read_header(part)
    if kind.kind not in "fiubU":
        raise InputError(f"{path}: {name} must be numbers or labels, and an array of {kind} came")
    needed = kind.itemsize
    for size in shape:
        needed *= size
    limit = _LARGEST_LABELS if kind.kind == "U" else MEMORY
    if needed > limit:
        raise InputError(f"{path}: {name} would take {needed:.3g} bytes, and {limit} is the limit")
    with archive.open(f"{name}.npy") as part:
        result: np.ndarray[Any, Any] = npy.read_array(part, allow_pickle=False)
    return result
