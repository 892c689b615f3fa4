"""Aggregative games by name: games for a whole class or a crowd."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gamesim.errors import InputError
from gamesim.games.aggregative.game import Aggregative
from gamesim.games.limits import Need, actions_of_one, arithmetic, limited, payoffs
from gamesim.games.tabulate import crowd, numbered
from gamesim.validation import at_least


def _needs(players: int, top: int) -> Iterator[Need]:
    """Yield what a game with weights 0, ..., `top` needs: actions, payoffs, and steps per round."""
    return _needs_of(players, max(top, 0) + 1, max(top, 0))


def _needs_of(players: int, actions: int, largest: int) -> Iterator[Need]:
    """Yield what a game with these numbers of players and actions and this largest weight needs."""
    players = max(players, 1)
    sums = (players - 1) * largest + 1
    yield actions_of_one(actions)
    yield payoffs(actions * sums)
    yield arithmetic(players * players.bit_length() * actions * sums)


def _counted(name: str, players: Sequence[str], actions: Sequence[str], rows: Sequence[ArrayLike]) -> Aggregative:
    """Return the game in which action k has the weight k; a row has an action's payoffs by the sum of the others'."""
    sums = (len(players) - 1) * (len(actions) - 1) + 1
    table = np.array([np.broadcast_to(row, sums) for row in rows], dtype=np.float64)
    weights = np.arange(len(actions), dtype=np.int64)
    return Aggregative(name, tuple(players), (tuple(actions),) * len(players), weights, table + 0.0)


@limited(lambda players: _needs(players, 1))
def el_farol_crowd(players: int = 100, capacity: int = 60) -> Aggregative:
    """The El Farol bar with a crowd: going out is fun unless too many go.

    The same game as el-farol, without its payoff table.

    Parameters
    ----------
    players : int, default 100
        Number of players, at least 2.
    capacity : int, default 60
        Largest number of players for whom the bar is fun, at least 0.

    Notes
    -----
    Source: Arthur (1994), "Inductive reasoning and bounded rationality", with these numbers.

    Payoffs:

        u_i = 0   if i stays
        u_i = 1   if i goes and at most capacity players go
        u_i = -1  if i goes and more than capacity players go

    Teaches: Attendance stays near the capacity although nobody coordinates it. If there is room for some players but
    not for all, exactly capacity players go in every pure equilibrium, so equal players fare unequally.

    Examples
    --------
    >>> el_farol_crowd(players=5, capacity=3).payoffs[1].tolist()  # going, while 0 to 4 others go
    [1.0, 1.0, 1.0, -1.0, -1.0]
    """
    names = crowd(players)
    at_least("capacity", capacity, 0)
    others = np.arange(players)
    return _counted("el-farol-crowd", names, ["stay", "go"], [0.0, 1.0 - 2.0 * (1 + others > capacity)])


@limited(lambda players: _needs(players, 1))
def minority_crowd(players: int = 101) -> Aggregative:
    """The minority game with a crowd: the players on the smaller side win.

    The same game as minority, without its payoff table.

    Parameters
    ----------
    players : int, default 101
        Number of players, odd and at least 3.

    Notes
    -----
    Source: Challet and Zhang (1997), "Emergence of cooperation and organization in an evolutionary game".

    Payoffs:

        u_i = 1 if fewer than half of the players choose i's side
        u_i = 0 otherwise

    Teaches: Most players lose in every round. The closer the sides are to equal, the more players win: at most
    (players - 1) / 2. If everyone tosses a coin, the sides differ by about √players.

    Examples
    --------
    >>> minority_crowd(players=5).payoffs.tolist()  # selling and buying, while 0 to 4 others buy
    [[0.0, 0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0, 0.0]]
    """
    names = crowd(players, least=3)
    if players % 2 == 0:
        raise InputError(f"players must be odd in the minority game, got {players}")
    others = np.arange(players)
    return _counted("minority-crowd", names, ["sell", "buy"], [2 * others > players, 2 * (1 + others) < players])


@limited(lambda players: _needs(players, 1))
def pigou_crowd(players: int = 60) -> Aggregative:
    """Pigou's example with many drivers: a wide road, and a narrow one that fills up.

    The same game as pigou, without its payoff table.

    Parameters
    ----------
    players : int, default 60
        Number of drivers, at least 2.

    Notes
    -----
    Source: Pigou (1920), "The Economics of Welfare"; Roughgarden and Tardos (2002), "How bad is selfish routing?".

    Payoffs:

        u_i = -1                                     on the wide road
        u_i = -(drivers on the narrow road) / players  on the narrow road

    Teaches: The price of anarchy of affine costs, 4/3, with a class as drivers. Each driver is at least as fast on the
    narrow road, whatever the others do; half of the drivers there is optimal.

    Examples
    --------
    >>> pigou_crowd(players=4).payoffs[1].tolist()  # the narrow road, with 0 to 3 others on it
    [-0.25, -0.5, -0.75, -1.0]
    """
    names = [f"Driver {k + 1}" for k in range(len(crowd(players)))]
    others = np.arange(players)
    return _counted("pigou-crowd", names, ["wide", "narrow"], [-1.0, -(1 + others) / players])


@limited(lambda players, shortcut: _needs_of(players, 2 + shortcut, players + shortcut))
def braess_crowd(players: int = 30, shortcut: bool = True) -> Aggregative:
    """Braess's paradox with many drivers: a new road that makes everyone slower.

    The same game as braess, without its payoff table.

    Parameters
    ----------
    players : int, default 30
        Number of drivers, at least 2.
    shortcut : bool, default True
        Whether the shortcut is open.

    Notes
    -----
    Source: Braess (1968), "Über ein Paradoxon aus der Verkehrsplanung".

    Payoffs:

        x = fraction of drivers on s-v
        y = fraction of drivers on w-t
        u_i = -(x + 1)  on s-v-t
        u_i = -(1 + y)  on s-w-t
        u_i = -(x + y)  on s-v-w-t

    The sum of the others' weights is (drivers on s-v) + players · (drivers on w-t).

    Teaches: With a class as drivers, the mean time rises from about 3/2 towards 2 once the shortcut is open.

    Examples
    --------
    >>> game = braess_crowd(players=3)
    >>> game.payoffs[:, 2 * (1 + 3)].round(3).tolist()  # both others on s-v-w-t
    [-2.0, -2.0, -2.0]
    """
    names = [f"Driver {k + 1}" for k in range(len(crowd(players)))]
    ways = ["s-v-t", "s-w-t", "s-v-w-t"] if shortcut else ["s-v-t", "s-w-t"]
    weights = np.array([1, players, players + 1][: len(ways)], dtype=np.int64)
    second, first = np.divmod(np.arange((players - 1) * int(weights.max()) + 1), players)  # others on w-t and on s-v
    x, y = (first + 1) / players, (second + 1) / players  # with this driver
    rows = [-(x + 1), -(1 + y), -(x + y)][: len(ways)]
    return Aggregative("braess-crowd", tuple(names), (tuple(ways),) * players, weights, np.array(rows))


@limited(_needs)
def guess_two_thirds_crowd(players: int = 30, top: int = 20, fraction: float = 2 / 3) -> Aggregative:
    """The beauty contest with a crowd: be close to two thirds of the average.

    Unlike in guess-two-thirds the winner does not take all: every player pays the distance of their guess from the
    target.

    Parameters
    ----------
    players : int, default 30
        Number of players, at least 2.
    top : int, default 20
        Largest guess, at least 1. Guesses are 0, ..., `top`.
    fraction : float, default 2/3
        Fraction of the average to guess, strictly between 0 and 1.

    Notes
    -----
    Source: Nagel (1995), "Unraveling in guessing games: an experimental study", with distances as payoffs.

    Payoffs:

        u_i = -|g_i - fraction · average of all guesses|

    Teaches: Iterated dominance leads down step by step. With the default fraction, everyone guessing 0 is an
    equilibrium and so is everyone guessing 1, because guesses are integers; no other common guess is.

    Examples
    --------
    >>> game = guess_two_thirds_crowd(players=3, top=10)
    >>> game.payoffs[6, 3 + 9].round(9).tolist()  # guesses of 6, 3 and 9: two thirds of the average are 4
    -2.0
    """
    names = crowd(players)
    at_least("top", top, 1)
    if not 0 < fraction < 1:
        raise InputError(f"fraction must be between 0 and 1, both excluded, got {fraction}")
    others = np.arange((players - 1) * top + 1)
    rows = [-np.abs(guess - fraction * (guess + others) / players) for guess in range(top + 1)]
    return _counted("guess-two-thirds-crowd", names, numbered(top + 1), rows)
