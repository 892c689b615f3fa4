"""The GameTracer format (.gam), as written by GAMUT and QuantEcon.

A file contains only numbers: the number of players, the number of actions of each, and then the payoffs, player after
player, with the first player's action changing fastest. # starts a comment. The format has no names.
"""

import re
from math import prod

import numpy as np

from gamesim.errors import InputError
from gamesim.game import MOST_TABLE_PLAYERS, Table, refuse_beyond_memory
from gamesim.games.io.text import exact_number
from gamesim.games.io.tokens import Tokenizer

_TOKENS = re.compile(r"\s+|#[^\n]*|(?P<word>[^\s#]+)")


def read(text: str, place: str = "text", name: str = "game") -> Table:
    """Return the game in the text of a .gam file; the format stores no names.

    >>> read("2  2 1  1 2  -3 4.5").payoffs.tolist()
    [[[1.0], [2.0]], [[-3.0], [4.5]]]
    """
    tokens = Tokenizer(place, text, _TOKENS)
    first, count = tokens.next, tokens.whole("the number of players")
    if not 1 <= count <= MOST_TABLE_PLAYERS:
        tokens.fail(f"a number of players from 1 to {MOST_TABLE_PLAYERS}", first)
    sizes = []
    for player in range(count):
        first, size = tokens.next, tokens.whole(f"how many actions player {player + 1} of {count} has")
        if size < 1:
            tokens.fail(f"at least one action for player {player + 1}", first)
        sizes.append(size)
    refuse_beyond_memory(sizes)
    total = count * prod(sizes)
    values = [tokens.number(f"payoff {k + 1} of {total}") for k in range(total)]
    if tokens.next.kind != "end":
        tokens.fail("the end of the file")
    payoffs = [np.array(own).reshape(sizes[::-1]).T for own in np.array(values).reshape(count, -1)]
    try:
        return Table.from_payoffs(payoffs, name=name)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def write(game: Table) -> str:
    """Return the game as the text of a .gam file, which keeps everything but the names."""
    header = f"{len(game.players)}\n{' '.join(map(str, game.sizes))}\n"
    return header + "".join(f"\n{' '.join(map(exact_number, own.T.ravel().tolist()))}\n" for own in game.payoffs)
