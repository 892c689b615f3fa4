"""Action profiles that carry no mass in any equilibrium, found from the signs of payoff differences alone.

If deviating from a to b never loses on the profiles that are left, then a profile on which it gains has probability 0
in every correlated equilibrium: the expected gain is a sum of non-negative terms that must not be positive. The same
holds for a coarse correlated equilibrium and the deviation to b whatever is recommended. Removing such profiles
until none is left generalises the iterated elimination of strictly dominated actions. It needs no arithmetic but
comparisons, so it is exact whatever the size of the payoffs.
"""

import numpy as np
from numpy.typing import NDArray

from gamesim.game import Table


def own_first(array: NDArray[np.float64], player: int) -> NDArray[np.float64]:
    """Return the array as a matrix: the player's actions as rows, the profiles of the others as columns."""
    return np.moveaxis(array, player, 0).reshape(array.shape[player], -1)


def live_profiles(game: Table, *, coarse: bool) -> NDArray[np.bool_]:
    """Return, for every action profile, whether it may carry mass in an equilibrium.

    >>> from gamesim import games
    >>> live_profiles(games.make("prisoners-dilemma"), coarse=False).tolist()
    [[False, False], [False, True]]
    >>> bool(live_profiles(games.make("matching-pennies"), coarse=False).all())
    True
    """
    live = np.ones(game.sizes, dtype=bool)
    while True:
        before = int(live.sum())
        for player, payoffs in enumerate(game.payoffs):
            table = own_first(payoffs, player)
            mask = np.moveaxis(live, player, 0).reshape(table.shape).copy()
            if coarse:
                _eliminate_coarse(table, mask)
            else:
                _eliminate_correlated(table, mask)
            moved = np.moveaxis(live, player, 0).shape
            live = np.moveaxis(mask.reshape(moved), 0, player)
        if int(live.sum()) == before:
            return np.ascontiguousarray(live)


def _eliminate_correlated(table: NDArray[np.float64], live: NDArray[np.bool_]) -> None:
    """Remove profiles for one player and every pair of a recommended action and another one."""
    for recommended in range(len(table)):
        row = live[recommended]
        for other in range(len(table)):
            if other == recommended or not row.any():
                continue
            better = table[other] > table[recommended]
            if not (row & (table[other] < table[recommended])).any():
                row &= ~better


def _eliminate_coarse(table: NDArray[np.float64], live: NDArray[np.bool_]) -> None:
    """Remove profiles for one player and every action that it could play throughout."""
    for action in range(len(table)):
        if not (live & (table[action] < table)).any():
            live &= ~(table[action] > table)
