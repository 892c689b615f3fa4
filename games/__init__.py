"""Named games and families, network games, games in files, and custom payoffs.

A game is a function that returns a `Game`; its arguments are the settings. To add one, write such a function in one of
the modules that `available` searches. Every list of games is derived from them.
"""

if __name__ == "games":  # this folder is on the path in a checkout
    raise ImportError("this folder is the package gamesim.games: import gamesim.games")

from typing import Any

from gamesim.deprecated import warn
from gamesim.games.io.files import load as load
from gamesim.games.io.files import save as save
from gamesim.games.named import available as available
from gamesim.games.named import make as make
from gamesim.games.tabulate import from_payoffs as from_payoffs

__all__ = ["available", "from_payoffs", "load", "make", "save"]


def names() -> Any:
    """Deprecated: `available` under its old name."""
    warn("gamesim.games.names", "gamesim.games.available")
    return available()
