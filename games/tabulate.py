"""Build tables from payoffs, from textbook cells or from a rule, and require a game to be one."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Integers
from gamesim.errors import InputError
from gamesim.formatting import shown
from gamesim.game import Game, Table
from gamesim.games import limits
from gamesim.validation import at_least

Rule = Callable[[int, list[Integers]], NDArray[np.float64]]


def from_payoffs(
    *payoffs: ArrayLike,
    name: str = "game",
    players: list[str] | None = None,
    actions: list[list[str]] | None = None,
) -> Table:
    """Return the game with these payoffs.

    Parameters
    ----------
    *payoffs : array_like
        One array per player, all of one shape; axis i indexes the actions of player i. Units are the game's.
    name : str, default "game"
        Name of the game in reports.
    players : list of str, optional
        Names of the players. By default Row and Column, or Player 1, Player 2, ...
    actions : list of list of str, optional
        Labels of the actions, one list per player. By default their numbers.

    Returns
    -------
    Table
        The game.

    Raises
    ------
    InputError
        If the arrays differ in shape, have the wrong number of axes or contain values that are not finite.

    Examples
    --------
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
            axes = 1  # ragged: Table.from_payoffs reports it
        if axes == 2:
            raise InputError(
                "from_payoffs takes one array per player, got one array with two axes: "
                "give (A, -A) for a zero-sum game, (A, A.T) for a symmetric one, (A, B) in general"
            )
        if axes > 2:
            raise InputError(
                f"from_payoffs takes one array per player, got one array with {axes} axes: "
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
    """Return a two-player game from textbook cells: (row's payoff, column's payoff).

    >>> bimatrix("dilemma", [[(3, 3), (0, 5)], [(5, 0), (1, 1)]], ["cooperate", "defect"]).payoffs[1]
    array([[3., 5.],
           [0., 1.]])
    """
    payoffs = np.moveaxis(np.array(cells, dtype=np.float64), -1, 0)
    return Table.from_payoffs(payoffs, name=name, players=players, actions=[rows, columns or rows])


def tabulate(name: str, players: Sequence[str], actions: Sequence[Sequence[str]], rule: Rule) -> Table:
    """Return the game in which player i's payoff is `rule(i, choices)`.

    `choices[j]` holds player j's action numbers along axis j and has length 1 along every other axis, so arithmetic on
    them broadcasts to all action profiles at once. A table beyond the limits is refused before it is built.

    >>> game = tabulate("sum", ["A", "B"], ["ab", "xyz"], lambda i, choices: choices[0] + 10.0 * choices[1])
    >>> game.payoffs[0]
    array([[ 0., 10., 20.],
           [ 1., 11., 21.]])
    """
    sizes = tuple(len(labels) for labels in actions)
    limits.refuse_beyond(name, {"sizes": sizes}, limits.table(len(players), sizes), reduce=["players", "actions"])
    choices = list(np.indices(sizes, dtype=np.int64, sparse=True))
    payoffs = np.empty((len(players), *sizes))
    for i in range(len(players)):
        payoffs[i] = rule(i, choices)
    return Table.from_payoffs(payoffs, name=name, players=players, actions=actions)


def crowd(players: int, least: int = 2) -> list[str]:
    """Return default names for `players` players.

    >>> crowd(3)
    ['Player 1', 'Player 2', 'Player 3']
    """
    at_least("players", players, least)
    return [f"Player {i + 1}" for i in range(players)]


def numbered(count: int, first: int = 0) -> list[str]:
    """Return `count` consecutive integers as action labels.

    >>> numbered(3)
    ['0', '1', '2']
    """
    return [str(first + k) for k in range(count)]


def table_sizes(players: int, actions: int | Sequence[int]) -> tuple[int, ...]:
    """Return the number of actions of each player, given the same number for all or one for each.

    >>> table_sizes(3, 4), table_sizes(2, [2, 5])
    ((4, 4, 4), (2, 5))
    """
    at_least("players", players, 1)
    sizes = (actions,) * players if isinstance(actions, int) else tuple(actions)
    if len(sizes) != players:
        raise InputError(f"{players} players need {players} numbers of actions, got {shown(sizes)}")
    for size in sizes:
        at_least("actions", size, 1)
    return sizes


def as_table(game: Game, needed_by: str) -> Table:
    """Return a game that is a table; raise InputError for any other.

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
    """Return a game that is a two-player table; raise InputError for any other.

    >>> from gamesim import games
    >>> as_bimatrix(games.make("jordan"), "nashpy")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: nashpy takes two-player games; jordan has 3 players
    """
    table = as_table(game, needed_by)
    if len(table.players) != 2:
        raise InputError(f"{needed_by} takes two-player games; {game.name} has {len(table.players)} players")
    return table
