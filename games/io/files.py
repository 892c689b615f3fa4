"""Games in files: the ending of a path says the format, and each format has a module of its own."""

import os
from collections.abc import Callable
from pathlib import Path

from gamesim.atomic import write_file
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game, Table
from gamesim.games.io import csv_tables, gam, nfg, npz
from gamesim.games.io.text import read_text, write_text

_READ: dict[str, Callable[[str, str, str], Table]] = {".nfg": nfg.read, ".gam": gam.read}
_WRITE: dict[str, Callable[[Table], str]] = {".nfg": nfg.write, ".gam": gam.write}
FORMATS = (*_READ, ".csv", ".npz")


def load(path: str | os.PathLike[str]) -> Game:
    """Return the game in the file at this path: .nfg, .gam, .csv (a sheet per player: any, or NAME.csv) or .npz.

    >>> import tempfile
    >>> from gamesim import games
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = games.save(games.make("shapley"), f"{folder}/game.nfg")
    ...     games.load(f"{folder}/game.nfg").actions[1]
    ('left', 'centre', 'right')
    """
    path = Path(path)
    ending = _ending(path)
    if ending == ".npz":
        return npz.read(path)
    if ending == ".csv":
        found = csv_tables.paths(path)
        name = found[0].name.removesuffix(".csv").removesuffix(".1")
        return csv_tables.read([(str(sheet), read_text(sheet)) for sheet in found], name)
    return _READ[ending](read_text(path), str(path), path.stem)


def save(game: Game, path: str | os.PathLike[str]) -> list[Path]:
    """Write a game to a file and return the paths written; the ending of `path` says the format, as in `load`.

    A table reads back exactly: from .nfg and .npz with its names, from .csv under the file's name, from .gam without
    names. Network games, which have no table, go to .npz.

    >>> import tempfile
    >>> from gamesim import games
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in games.save(games.make("jordan"), f"{folder}/game.csv")]
    ['game.1.csv', 'game.2.csv', 'game.3.csv']
    """
    path = Path(path)
    ending = _ending(path)
    targets = paths(path, len(game.players))
    if ending == ".npz":
        write_file(path, lambda out: npz.write(game, out))
        return targets
    if not isinstance(game, Table):
        raise InputError(f"{path}: {game.name} has no table, which {ending} files hold: save it as .npz")
    texts = csv_tables.write(game) if ending == ".csv" else [_WRITE[ending](game)]
    for target, text in zip(targets, texts, strict=True):
        write_text(target, text)
    return targets


def paths(path: Path, players: int) -> list[Path]:
    """Return the files that a game of so many players is written to, given the path that it is saved under.

    >>> [path.name for path in paths(Path("game.csv"), 2)], [path.name for path in paths(Path("game.nfg"), 2)]
    (['game.1.csv', 'game.2.csv'], ['game.nfg'])
    """
    return csv_tables.paths(path, players) if path.suffix.lower() == ".csv" else [path]


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in FORMATS:
        which = f"{ending} files" if ending else "files without an ending"
        raise InputError(f"{path}: games are not kept in {which}: {did_you_mean(ending, FORMATS)}")
    return ending
