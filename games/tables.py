"""The games that are written out as tables, by name. Adding one is writing a function in one of these modules."""

from collections.abc import Callable
from functools import cache

from gamesim.game import Table
from gamesim.games import contests, crowds, cycles, dilemmas, families, guessing, markets, paradoxes
from gamesim.games.catalogue import factories

MODULES = (contests, crowds, cycles, dilemmas, families, guessing, markets, paradoxes)


@cache
def available() -> dict[str, Callable[..., Table]]:
    """Return every game with a table by the name that scenarios use.

    >>> available()["jordan"]().sizes
    (2, 2, 2)
    """
    return factories(Table, MODULES)
