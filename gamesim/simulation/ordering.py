"""An order of a player's actions computed from its payoffs, for learners whose play depends on the order."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.players.wavelet import SPECTRAL, Wavelet

EQUAL = 1e-9  # relative to the largest: eigenvalues that differ by less belong to one eigenspace


def with_order(learner: Any, game: Game, player: int) -> Any:
    """Return the learner of a player with an order of actions in place of order = "spectral".

    >>> import gamesim
    >>> game = gamesim.games.make("ordered-action", actions=4)
    >>> with_order(Wavelet(order="spectral"), game, 0).order
    (0, 1, 2, 3)
    """
    if not isinstance(learner, Wavelet) or learner.order != SPECTRAL:
        return learner
    if not isinstance(game, Table) or game.timed:
        raise InputError(
            f'order = "spectral" needs a game with a payoff table, got {game.name}; give a permutation of the '
            f"{game.sizes[player]} actions, or leave the order out"
        )
    payoffs = np.moveaxis(game.payoffs[player], player, 0)
    return replace(learner, order=spectral_order(payoffs.reshape(len(payoffs), -1)))


def spectral_order(rows: NDArray[np.float64]) -> tuple[int, ...]:
    """Return an order that places similar rows next to each other.

    It sorts by the second eigenvector of the graph Laplacian of the similarities, the Fiedler vector::

        exp(-|r_i - r_j|² / m),  m the median of |r_i - r_j|² over all pairs

    Where this eigenvector is not unique, up to its sign or otherwise, the one closest to the given order is chosen.

    References
    ----------
    Atkins, Boman and Hendrickson (1998), "A spectral algorithm for seriation and the consecutive ones problem", SIAM
    Journal on Computing 28(1).

    >>> rows = np.array([[0.0, 1.0], [4.0, 1.0], [1.0, 1.5], [3.0, 1.0], [2.0, 1.0]])
    >>> spectral_order(rows)
    (0, 2, 4, 3, 1)
    """
    size = len(rows)
    squares = (rows**2).sum(axis=1)
    distances = np.maximum(squares[:, np.newaxis] + squares - 2 * rows @ rows.T, 0)
    typical = np.median(distances[~np.eye(size, dtype=bool)]) if size > 1 else 0.0
    if not typical > EQUAL * squares.max(initial=0.0):  # no pairs, or most rows are equal
        return tuple(range(size))
    similar = np.exp(-distances / typical)
    values, vectors = np.linalg.eigh(np.diag(similar.sum(axis=1)) - similar)
    space = vectors[:, 1:][:, values[1:] <= values[1] + EQUAL * values[-1]]
    given = np.arange(size) - (size - 1) / 2
    closest = space @ (space.T @ given)
    if np.abs(closest).max() <= EQUAL * size:
        closest = space[:, 0]
    return tuple(np.argsort(closest.round(9), kind="stable").tolist())
