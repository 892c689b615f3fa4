"""Every game by its name, and made from its settings."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from gamesim.game import Game, Table
from gamesim.games import catalogue, tables
from gamesim.games.networks import LocalPublicGoods, Polymatrix
from gamesim.games.networks import factories as on_graphs
from gamesim.games.routing import Routing
from gamesim.games.routing import factories as on_roads

if TYPE_CHECKING:
    from gamesim.games.game_names import LocalPublicGoodsName, PolymatrixName, RoutingName, TableName


@cache
def available() -> dict[str, Callable[..., Game]]:
    """Return every game by the name that scenarios use: a function whose arguments are the settings.

    >>> available()["chicken"]().payoffs[0]
    array([[6., 2.],
           [7., 0.]])
    """
    return catalogue.factories(Game, (*tables.MODULES, on_graphs, on_roads))


@overload
def make(name: "TableName", **settings: Any) -> Table: ...
@overload
def make(name: "PolymatrixName", **settings: Any) -> Polymatrix: ...
@overload
def make(name: "LocalPublicGoodsName", **settings: Any) -> LocalPublicGoods: ...
@overload
def make(name: "RoutingName", **settings: Any) -> Routing: ...
@overload
def make(name: str, **settings: Any) -> Game: ...
def make(name: str, **settings: Any) -> Game:
    """Return a game by its name, with these settings.

    >>> make("el-farol", players=4, capacity=2).sizes
    (2, 2, 2, 2)
    >>> make("chiken")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: unknown game 'chiken'; did you mean 'chicken'?
    """
    return catalogue.make(available(), name, settings)
