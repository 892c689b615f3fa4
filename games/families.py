"""Families of random games: the same seed and settings give the same game, always."""

from collections.abc import Sequence

import numpy as np

from gamesim.game import Table
from gamesim.games.tabulate import table_sizes


def uniform(players: int = 2, actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """Draw every payoff independently and uniformly from [0, 1]: a game without structure.

    Source: the plainest of GAMUT's families (Nudelman, Wortman, Shoham and Leyton-Brown, 2004, "RandomGame").
    Teaches: what learners do when nothing is built in; coarse and correlated equilibria are usually many.

    >>> uniform(players=3, actions=[2, 3, 4], seed=1).payoffs.shape
    (3, 2, 3, 4)
    """
    sizes = table_sizes(players, actions)
    payoffs = np.random.default_rng(seed).random((players, *sizes))
    return Table.of(payoffs, name="uniform")
