"""The base class of games on graphs, which need no table of payoffs."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.formatting import amount
from gamesim.game import Game, Table, refuse_beyond_memory
from gamesim.games.networks.edges import ends

if TYPE_CHECKING:
    import networkx as nx

MOST_PROFILES = 2**17  # limit on the action profiles of a table, whose payoffs are computed one by one


class NetworkGame(Game):
    """Define the interface of games on graphs, which need no payoff table.

    A profile is the concatenation of all players' mixed strategies.

    Examples
    --------
    >>> from gamesim import games
    >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
    >>> game.players, game.sizes, game.range[1].tolist()  # the middle player has two neighbours
    (('0', '1', '2'), (2, 2, 2), [2.0, 4.0, 2.0])
    """

    @property
    @abstractmethod
    def graph(self) -> "nx.Graph[str]":
        """Return the graph that the game is played on.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> sorted(game.graph.edges)
        [('0', '1'), ('1', '2')]
        """

    @abstractmethod
    def payoffs_of(self, choices: Sequence[int]) -> Vector:
        """Return each player's payoff in an action profile.

        Parameters
        ----------
        choices : sequence of int
            The action profile: the number of each player's action.

        Returns
        -------
        ndarray of float, shape (players,)
            The payoff of each player, in payoff units.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> game.payoffs_of([0, 1, 1]).tolist()
        [0.0, 2.0, 2.0]
        """

    def table(self) -> Table:
        """Return the same game as a payoff table.

        Returns
        -------
        Table
            The game, with the same names and payoffs.

        Raises
        ------
        InputError
            If there are more than 2^17 action profiles.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> game.table().payoffs[:, 0, 1, 1].tolist()
        [0.0, 2.0, 2.0]
        """
        refuse_beyond_memory(self.sizes)
        if self.cells > MOST_PROFILES:
            raise InputError(
                f"{self.name} has {amount(self.cells)} action profiles; a table is built for at most {MOST_PROFILES:,}"
            )
        payoffs = np.empty((len(self.players), *self.sizes))
        for choices in product(*map(range, self.sizes)):
            cell: Any = (..., *choices)
            payoffs[cell] = self.payoffs_of(choices)
        return Table.from_payoffs(payoffs, name=self.name, players=self.players, actions=self.actions)

    def welfare(self, profile: ArrayLike) -> float:
        """Return the expected total payoff of a profile of mixed strategies.

        Parameters
        ----------
        profile : array_like of float
            The mixed strategies of all players, concatenated.

        Returns
        -------
        float
            The expected sum of all payoffs per round, in payoff units.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> game.welfare([1, 0, 0, 1, 0.5, 0.5])  # the second and third meet half of the time
        2.0
        """
        strategies = np.asarray(profile, dtype=np.float64)
        starts = ends(self.sizes)[:-1]
        losses = np.add.reduceat(strategies * self.expected_losses(strategies), starts)
        return float((self.middle - self.scale * losses).sum())
