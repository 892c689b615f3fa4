"""Games with a table of payoffs, by name. To add one, write a function in one of these modules."""

from collections.abc import Callable
from functools import cache

from gamesim.game import Table
from gamesim.games import contests, crowds, cycles, dilemmas, families, guessing, markets, paradoxes
from gamesim.games.catalogue import factories

MODULES = (contests, crowds, cycles, dilemmas, families, guessing, markets, paradoxes)


@cache
def available() -> dict[str, Callable[..., Table]]:
    """Return all games with a table, by name.

    >>> available()["jordan"]().sizes
    (2, 2, 2)
    """
    return factories(Table, MODULES)
