"""Tables: from payoffs, from cells as textbooks print them or from a rule; and games that must be one."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Integers
from gamesim.errors import InputError
from gamesim.game import MOST_PLAYERS, Game, Table, refuse_beyond_memory
from gamesim.validation import at_least

Rule = Callable[[int, list[Integers]], NDArray[np.float64]]


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


def bimatrix(
    name: str,
    cells: Sequence[Sequence[tuple[float, float]]],
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
    players: tuple[str, str] = ("Row", "Column"),
) -> Table:
    """Return a two-player game from its cells, as textbooks print them: (row's payoff, column's payoff).

    >>> bimatrix("dilemma", [[(3, 3), (0, 5)], [(5, 0), (1, 1)]], ["cooperate", "defect"]).payoffs[1]
    array([[3., 5.],
           [0., 1.]])
    """
    payoffs = np.moveaxis(np.array(cells, dtype=np.float64), -1, 0)
    return Table.from_payoffs(payoffs, name=name, players=players, actions=[rows, columns or rows])


def tabulate(name: str, players: Sequence[str], actions: Sequence[Sequence[str]], rule: Rule) -> Table:
    """Return the game in which `rule(i, choices)` is player i's payoff, refused before building if it does not fit.

    `choices[j]` holds player j's action numbers along axis j and is 1 wide along every other, so that plain
    arithmetic on them gives the payoffs of all action profiles at once.

    >>> game = tabulate("sum", ["A", "B"], ["ab", "xyz"], lambda i, choices: choices[0] + 10.0 * choices[1])
    >>> game.payoffs[0]
    array([[ 0., 10., 20.],
           [ 1., 11., 21.]])
    """
    sizes = tuple(len(labels) for labels in actions)
    refuse_beyond_memory(sizes)
    choices = list(np.indices(sizes, dtype=np.int64, sparse=True))
    payoffs = np.empty((len(players), *sizes))
    for i in range(len(players)):
        payoffs[i] = rule(i, choices)
    return Table.from_payoffs(payoffs, name=name, players=players, actions=actions)


def crowd(players: int, least: int = 2) -> list[str]:
    """Return names for this many players.

    >>> crowd(3)
    ['Player 1', 'Player 2', 'Player 3']
    """
    at_least("players", players, least)
    return [f"Player {i + 1}" for i in range(players)]


def numbered(count: int, first: int = 0) -> list[str]:
    """Return the labels of actions that are numbers.

    >>> numbered(3)
    ['0', '1', '2']
    """
    return [str(first + k) for k in range(count)]


def table_sizes(players: int, actions: int | Sequence[int]) -> tuple[int, ...]:
    """Return how many actions each player has, from one number for all or one for each, if such a table fits.

    >>> table_sizes(3, 4), table_sizes(2, [2, 5])
    ((4, 4, 4), (2, 5))
    """
    at_least("players", players, 1)
    if isinstance(actions, int):
        at_least("actions", actions, 1)
        if players > MOST_PLAYERS:
            raise InputError(f"players must be at most {MOST_PLAYERS}, and {players} came")
        sizes = (actions,) * players
    else:
        sizes = tuple(actions)
        if len(sizes) != players:
            raise InputError(f"{players} players need {players} numbers of actions, and {list(sizes)} came")
        for size in sizes:
            at_least("actions", size, 1)
    refuse_beyond_memory(sizes)
    return sizes


def as_table(game: Game, needed_by: str) -> Table:
    """Return a game that is a table; refuse one that is none, in the name of what needs it.

    >>> from gamesim import games
    >>> as_table(games.make("routing"), "nashpy")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: routing has no table of payoffs, which nashpy needs
    """
    if not isinstance(game, Table):
        raise InputError(f"{game.name} has no table of payoffs, which {needed_by} needs")
    return game


def as_bimatrix(game: Game, needed_by: str) -> Table:
    """Return a game that is a table for two players; refuse any other, in the name of what needs it.

    >>> from gamesim import games
    >>> as_bimatrix(games.make("jordan"), "nashpy")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: nashpy takes games of two players, and jordan has 3
    """
    table = as_table(game, needed_by)
    if len(table.players) != 2:
        raise InputError(f"{needed_by} takes games of two players, and {game.name} has {len(table.players)}")
    return table
