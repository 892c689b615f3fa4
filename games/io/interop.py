"""Conversion to and from the games of other libraries, and Nash equilibria from `gamesim.games.nash`.

nashpy, pygambit, quantecon and OpenSpiel (pyspiel) are optional and imported on use.
"""

import io
from importlib import import_module
from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.games.io import nfg
from gamesim.games.nash import NashEquilibria, nash_equilibria, pure_equilibria
from gamesim.games.tabulate import as_bimatrix, as_table

__all__ = [
    "NashEquilibria",
    "from_nashpy",
    "from_openspiel",
    "from_pygambit",
    "from_quantecon",
    "nash_equilibria",
    "pure_equilibria",
    "to_nashpy",
    "to_openspiel",
    "to_pygambit",
    "to_quantecon",
]


def to_nashpy(game: Game) -> Any:
    """Convert a two-player game to a `nashpy.Game`.

    Parameters
    ----------
    game : Game
        The game; it must be a payoff table of two players.

    Returns
    -------
    nashpy.Game
        The game, in the same payoff units, without its names.

    Raises
    ------
    InputError
        If the game is not a payoff table of two players.

    Examples
    --------
    >>> from gamesim import games
    >>> to_nashpy(games.make("chicken")).payoff_matrices[1].tolist()  # Column's
    [[6.0, 7.0], [2.0, 0.0]]
    """
    return _library("nashpy").Game(*as_bimatrix(game, "nashpy").payoffs)


def from_nashpy(game: Any, name: str = "game") -> Table:
    """Convert a `nashpy.Game` to a payoff table.

    Parameters
    ----------
    game : nashpy.Game
        The game.
    name : str, default "game"
        The name of the table.

    Returns
    -------
    Table
        The game as a payoff table, in the same payoff units.

    Examples
    --------
    >>> from gamesim import games
    >>> from_nashpy(to_nashpy(games.make("chicken"))).payoffs[1].tolist()
    [[6.0, 7.0], [2.0, 0.0]]
    """
    return Table.from_payoffs(game.payoff_matrices, name=name)


def to_pygambit(game: Game) -> Any:
    """Convert a game to a `pygambit.Game`, keeping its names.

    Parameters
    ----------
    game : Game
        The game; it must be a payoff table.

    Returns
    -------
    pygambit.Game
        The game in strategic form, in the same payoff units.

    Raises
    ------
    InputError
        If the game is not a payoff table, or pygambit is not installed.

    Examples
    --------
    >>> from gamesim import games
    >>> from_pygambit(to_pygambit(games.make("chicken"))).payoffs[1].tolist()  # doctest: +SKIP
    [[6.0, 7.0], [2.0, 0.0]]
    """
    return _library("pygambit").read_nfg(io.StringIO(nfg.write(as_table(game, "pygambit"))))


def from_pygambit(game: Any) -> Table:
    """Convert a `pygambit.Game` to a payoff table.

    Parameters
    ----------
    game : pygambit.Game
        The game. An extensive game is converted to strategic form.

    Returns
    -------
    Table
        The game as a payoff table, in the same payoff units.

    Examples
    --------
    >>> from gamesim import games
    >>> from_pygambit(to_pygambit(games.make("chicken"))).payoffs[1].tolist()  # doctest: +SKIP
    [[6.0, 7.0], [2.0, 0.0]]
    """
    return nfg.read(game.to_nfg(), "the game of pygambit")


def to_quantecon(game: Game) -> Any:
    """Convert a game to a quantecon `NormalFormGame`.

    Parameters
    ----------
    game : Game
        The game; it must be a payoff table.

    Returns
    -------
    quantecon.game_theory.NormalFormGame
        The game, in the same payoff units, without its names.

    Raises
    ------
    InputError
        If the game is not a payoff table, or quantecon is not installed.

    Examples
    --------
    >>> from gamesim import games
    >>> from_quantecon(to_quantecon(games.make("chicken"))).payoffs[1].tolist()  # doctest: +SKIP
    [[6.0, 7.0], [2.0, 0.0]]
    """
    table = as_table(game, "quantecon")
    return _library("quantecon.game_theory").NormalFormGame(np.moveaxis(table.payoffs, 0, -1))


def from_quantecon(game: Any, name: str = "game") -> Table:
    """Convert a quantecon `NormalFormGame` to a payoff table.

    Parameters
    ----------
    game : quantecon.game_theory.NormalFormGame
        The game.
    name : str, default "game"
        The name of the table.

    Returns
    -------
    Table
        The game as a payoff table, in the same payoff units.

    Examples
    --------
    >>> from gamesim import games
    >>> from_quantecon(to_quantecon(games.make("chicken"))).payoffs[1].tolist()  # doctest: +SKIP
    [[6.0, 7.0], [2.0, 0.0]]
    """
    return Table.from_payoffs(np.moveaxis(np.asarray(game.payoff_profile_array, dtype=np.float64), -1, 0), name=name)


def to_openspiel(game: Game) -> Any:
    """Convert a game to an OpenSpiel matrix game or tensor game.

    Parameters
    ----------
    game : Game
        The game; it must be a payoff table.

    Returns
    -------
    pyspiel.MatrixGame or pyspiel.TensorGame
        A matrix game for two players, a tensor game otherwise, in the same payoff units.

    Raises
    ------
    InputError
        If the game is not a payoff table, or OpenSpiel is not installed.

    Examples
    --------
    >>> from gamesim import games
    >>> from_openspiel(to_openspiel(games.make("chicken"))).payoffs[1].tolist()  # doctest: +SKIP
    [[6.0, 7.0], [2.0, 0.0]]
    """
    pyspiel, table = _library("pyspiel"), as_table(game, "OpenSpiel")
    labels = [list(own) for own in table.actions]
    if len(table.players) == 2:
        return pyspiel.create_matrix_game(table.name, table.name, *labels, *table.payoffs)
    return pyspiel.create_tensor_game(table.name, table.name, labels, [own.ravel().tolist() for own in table.payoffs])


def from_openspiel(game: Any) -> Table:
    """Convert an OpenSpiel matrix or tensor game to a payoff table.

    Parameters
    ----------
    game : pyspiel.MatrixGame or pyspiel.TensorGame
        The game.

    Returns
    -------
    Table
        The game as a payoff table, in the same payoff units.

    Raises
    ------
    InputError
        If the game is neither a matrix game nor a tensor game.

    Examples
    --------
    >>> from gamesim import games
    >>> from_openspiel(to_openspiel(games.make("chicken"))).payoffs[1].tolist()  # doctest: +SKIP
    [[6.0, 7.0], [2.0, 0.0]]
    """
    name = game.get_type().short_name
    if hasattr(game, "row_utilities"):
        labels = [
            [game.row_action_name(k) for k in range(game.num_rows())],
            [game.col_action_name(k) for k in range(game.num_cols())],
        ]
        return Table.from_payoffs([game.row_utilities(), game.col_utilities()], name=name, actions=labels)
    if not hasattr(game, "shape"):
        raise InputError(f"{name} is not a matrix or tensor game; convert it with OpenSpiel first")
    labels = [[game.action_name(i, k) for k in range(size)] for i, size in enumerate(game.shape())]
    return Table.from_payoffs([game.player_utilities(i) for i in range(len(labels))], name=name, actions=labels)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        package = {"pyspiel": "open_spiel"}.get(name, name.split(".", maxsplit=1)[0])
        raise InputError(f"{package} is not installed; run: pip install {package}") from None
