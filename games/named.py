"""All games by name."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from gamesim.game import Game, Table
from gamesim.games import catalogue, tables
from gamesim.games.aggregative import Aggregative
from gamesim.games.aggregative import factories as in_crowds
from gamesim.games.networks import LocalPublicGoods, Polymatrix
from gamesim.games.networks import factories as on_graphs
from gamesim.games.routing import Routing
from gamesim.games.routing import factories as on_roads

if TYPE_CHECKING:
    from gamesim.games.game_names import AggregativeName, LocalPublicGoodsName, PolymatrixName, RoutingName, TableName


@cache
def available() -> dict[str, Callable[..., Game]]:
    """Return all games by name, as functions whose arguments are the settings.

    Returns
    -------
    dict of str to callable
        One function per game, under the name that scenarios use, in alphabetical order.

    Examples
    --------
    >>> available()["chicken"]().payoffs[0]
    array([[6., 2.],
           [7., 0.]])
    """
    return catalogue.factories(Game, (*tables.MODULES, in_crowds, on_graphs, on_roads))


@overload
def make(name: "TableName", **settings: Any) -> Table: ...
@overload
def make(name: "AggregativeName", **settings: Any) -> Aggregative: ...
@overload
def make(name: "PolymatrixName", **settings: Any) -> Polymatrix: ...
@overload
def make(name: "LocalPublicGoodsName", **settings: Any) -> LocalPublicGoods: ...
@overload
def make(name: "RoutingName", **settings: Any) -> Routing: ...
@overload
def make(name: str, **settings: Any) -> Game: ...
def make(name: str, **settings: Any) -> Game:
    """Return a game by name.

    Parameters
    ----------
    name : str
        Name of the game, one of `available()`.
    **settings
        Settings of the game, checked against the types that it declares.

    Returns
    -------
    Game
        The game.

    Raises
    ------
    InputError
        If the name or a setting is unknown, a setting has the wrong type or value, or the game would be too large.

    Examples
    --------
    >>> make("el-farol", players=4, capacity=2).sizes
    (2, 2, 2, 2)
    >>> make("chiken")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: unknown game 'chiken'; did you mean 'chicken'?
    """
    return catalogue.make(available(), name, settings)
