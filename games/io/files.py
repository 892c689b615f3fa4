"""Load and save games. The extension of the path determines the format; each format has its module."""

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
    """Load a game from a file.

    Parameters
    ----------
    path : str or path-like
        A file whose extension is .nfg (Gambit), .gam (GameTracer), .csv or .npz. A game in CSV has one file per player,
        NAME.1.csv, NAME.2.csv, ...; give any of them, or NAME.csv. A two-player game may be one file NAME.csv, with
        both payoffs in each cell, as in ``"3,1"``, or with the players' tables below each other and an empty line
        between them.

    Returns
    -------
    Game
        The game.

    Raises
    ------
    InputError
        If the file cannot be read or is malformed; the message names the line.

    Examples
    --------
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
        return csv_tables.read([(str(one), read_text(one)) for one in found], name)
    return _READ[ending](read_text(path), str(path), path.stem)


def save(game: Game, path: str | os.PathLike[str]) -> list[Path]:
    """Save a game to a file and return the paths written.

    Parameters
    ----------
    game : Game
        The game. Games without a table, such as network games, can be saved as .npz only.
    path : str or path-like
        Where to save. The extension determines the format, as in `load`.

    Returns
    -------
    list of Path
        The files written: one per player for .csv, else one.

    Raises
    ------
    InputError
        If the format is unknown or cannot store the game, or the file cannot be written.

    Notes
    -----
    Payoffs are restored exactly by `load`. The formats .nfg and .npz keep all names and labels, except that a .nfg file
    cannot keep empty ones, which `load` numbers. .csv takes the game's name from the file, and .gam has no names.

    Examples
    --------
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
        raise InputError(f"{path}: {game.name} has no table, which {ending} files need; save it as .npz")
    texts = csv_tables.write(game) if ending == ".csv" else [_WRITE[ending](game)]
    for target, text in zip(targets, texts, strict=True):
        write_text(target, text)
    return targets


def paths(path: Path, players: int) -> list[Path]:
    """Return the files that a game with `players` players is saved to.

    >>> [path.name for path in paths(Path("game.csv"), 2)], [path.name for path in paths(Path("game.nfg"), 2)]
    (['game.1.csv', 'game.2.csv'], ['game.nfg'])
    """
    return csv_tables.paths(path, players) if path.suffix.lower() == ".csv" else [path]


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in FORMATS:
        what = f"unknown format {ending!r}" if ending else "no file extension"
        raise InputError(f"{path}: {what}; {did_you_mean(ending, FORMATS)}")
    return ending
