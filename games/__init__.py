"""The games: classics and families by name, network games, files, and any payoffs that a person brings.

A game is a function that returns a Game; its arguments are the settings. Adding one is writing such a function in one
of the modules that `available` looks through: the list that everything else uses is derived from them.
"""

if __name__ == "games":  # this folder is on the path in a checkout
    raise ImportError("this folder is the package gamesim.games: import gamesim.games")

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, get_type_hints

from numpy.typing import ArrayLike

from gamesim.deprecated import warn
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game, Table

__all__ = ["available", "from_payoffs", "load", "make", "save"]

_MODULES = ("classics", "contests", "markets", "crowds", "families", "networks", "routing")


@cache
def available() -> dict[str, Callable[..., Game]]:
    """Return every game by the name that scenarios use: a function whose arguments are the settings.

    >>> available()["chicken"]().payoffs[0]
    array([[6., 2.],
           [7., 0.]])
    """
    found: dict[str, Callable[..., Game]] = {}
    for module in (import_module(f"{__name__}.{name}") for name in _MODULES):
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_"):
                kind = get_type_hints(thing).get("return")
                if isinstance(kind, type) and issubclass(kind, Game):
                    found[name.replace("_", "-")] = thing
    return found


def names() -> Any:
    """Deprecated: `available` under its old name."""
    warn("gamesim.games.names", "gamesim.games.available")
    return available()


def make(name: str, **settings: Any) -> Game:
    """Return a game by its name, with these settings.

    >>> make("el-farol", players=4, capacity=2).sizes
    (2, 2, 2, 2)
    >>> make("chiken")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: there is no game called 'chiken': did you mean chicken?
    """
    from pydantic import ConfigDict, ValidationError, validate_call

    known = available()
    if name not in known:
        raise InputError(f"there is no game called {name!r}: {did_you_mean(name, known)}")
    allowed = list(inspect.signature(known[name]).parameters)
    for key in settings:
        if key not in allowed:
            has = did_you_mean(key, allowed) if allowed else "it has no settings"
            raise InputError(f"{name} has no setting {key!r}: {has}")
    try:
        return validate_call(config=ConfigDict(strict=True))(known[name])(**settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{name}: {where}: {first['msg']}, and {first['input']!r} came") from None


def from_payoffs(
    *payoffs: ArrayLike,
    name: str = "game",
    players: list[str] | None = None,
    actions: list[list[str]] | None = None,
) -> Table:
    """Return the game with these payoffs: one array per player, with axis i for player i's actions in every one.

    Payoffs are in the game's own units. `name`, `players` and the labels of `actions` are for people to read.

    >>> from_payoffs([[3, 0], [5, 1]], [[3, 5], [0, 1]], name="dilemma", actions=[["C", "D"], ["C", "D"]]).sizes
    (2, 2)
    >>> game = from_payoffs([[8, 3, 1], [9, 5, 2]], [[6, 7, 4], [2, 4, 3]], players=["Old", "New"])
    >>> game.sizes, game.payoffs[:, 1, 2].tolist()  # Old's second action, New's third
    ((2, 3), [2.0, 3.0])
    """
    import numpy as np

    if len(payoffs) == 1:
        try:
            axes = np.ndim(payoffs[0])
        except ValueError:
            axes = 1  # ragged: Table.of says so
        if axes == 2:
            raise InputError(
                "from_payoffs takes one array per player, and one array with two axes came: "
                "give (A, -A) for a zero-sum game, (A, A.T) for a symmetric one, (A, B) in general"
            )
        if axes > 2:
            raise InputError(
                f"from_payoffs takes one array per player, and one array with {axes} axes came: "
                f"if its first axis is the player, give from_payoffs(*payoffs)"
            )
    return Table.from_payoffs(payoffs, name=name, players=players, actions=actions)


def load(path: str | PathLike[str]) -> Game:
    """Return the game in the file at this path: .nfg, .gam, .csv (a sheet per player: any, or NAME.csv) or .npz.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save(make("shapley"), f"{folder}/game.nfg")
    ...     load(f"{folder}/game.nfg").actions[1]
    ('left', 'centre', 'right')
    """
    from gamesim.games.io import files

    return files.load(path)


def save(game: Game, path: str | PathLike[str]) -> list[Path]:
    """Write a game to a file and return the paths written; the ending of `path` says the format, as in `load`.

    A table reads back exactly: from .nfg and .npz with its names, from .csv under the file's name, from .gam without
    names. Network games, which have no table, go to .npz.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(make("jordan"), f"{folder}/game.csv")]
    ['game.1.csv', 'game.2.csv', 'game.3.csv']
    """
    from gamesim.games.io import files

    return files.save(game, path)
