"""Local public goods: efforts on a graph that help the neighbours too."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamesim.engine.compiled import Integers, Vector, kernel
from gamesim.engine.layout import IntegerLayout, Layout
from gamesim.errors import InputError
from gamesim.game import LARGEST_PAYOFF, Arrays
from gamesim.games.networks.contract import NetworkGame
from gamesim.games.networks.edges import check_edges, ends, inverse_scale, named_graph
from gamesim.validation import action_labels, whole_numbers

if TYPE_CHECKING:
    import networkx as nx


class _Graph(NamedTuple):
    players: int
    size: int  # number of effort levels
    most: int  # number of possible effort totals
    begin: Integers  # where each player's neighbours begin
    neighbours: Integers


_GRAPH = IntegerLayout(_Graph, "", players="int", size="int", most="int", begin="players + 1", neighbours="rest")
_graph_view = _GRAPH.view


class _Data(NamedTuple):
    benefit: Vector
    cost: float
    middle: Vector  # payoffs become losses by (middle - payoff) · inverse
    inverse: Vector


_DATA = Layout(_Data, "most players", benefit="most", cost="float", middle="players", inverse="players")
_data_view = _DATA.view


@kernel
def _losses_of(
    first_player: int,
    end_player: int,
    integers: Integers,
    data: Vector,
    shared: Vector,
    scratch: Vector,
    profile: Vector,
    losses: Vector,
) -> None:
    """Convolve the neighbours' strategies into the distribution of their total effort; take the expected benefit."""
    players, size, most, begin, neighbours = _graph_view(integers)
    benefit, cost, middle, inverse = _data_view(data, most, players)
    for player in range(first_player, end_player):
        scratch[0] = 1.0
        top = 0
        for edge in range(begin[player], begin[player + 1]):
            start = neighbours[edge] * size
            for total in range(top + 1, top + size):
                scratch[total] = 0.0
            top += size - 1
            for total in range(top, -1, -1):  # downwards, because entries below are still needed
                chance = 0.0
                for effort in range(min(size, total + 1)):
                    chance += profile[start + effort] * scratch[total - effort]
                scratch[total] = chance
        for effort in range(size):
            expected = 0.0
            for total in range(top + 1):
                expected += scratch[total] * benefit[effort + total]
            loss = (middle[player] - (expected - cost * effort)) * inverse[player]
            losses[player * size + effort] = min(1.0, max(-1.0, loss))


@kernel
def _public_goods_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Write the losses of all players."""
    _losses_of(0, _graph_view(integers).players, integers, data, scratch, scratch, profile, losses)


@dataclass(frozen=True, eq=False, repr=False)
class LocalPublicGoods(NetworkGame):
    """Represent a game of local public goods: efforts that help neighbours too.

    Every player chooses an effort 0, 1, ...

    Parameters
    ----------
    name : str
        Name of the game.
    players : tuple of str
        Names of the players.
    actions : tuple of tuple of str
        Labels of the efforts, one tuple per player, all of the same length.
    edges : array of int, shape (edges, 2)
        Pairs of neighbours, by number.
    benefit : array of float
        Benefit of each possible total effort, in payoff units.
    cost : float
        Cost per unit of own effort, in payoff units.

    Notes
    -----
    Source: Bramoullé and Kranton (2007), "Public goods in networks".

    Payoffs:

        u_i = benefit[e_i + Σ over neighbours j of e_j] - cost · e_i

    Expected losses are exact, computed from the distribution of the neighbours' total effort. The range is exact.

    Examples
    --------
    >>> benefit, labels = np.array([0.0, 1.0, 1.5, 1.75]), (("0", "1"),) * 3
    >>> game = LocalPublicGoods("path", ("A", "B", "C"), labels, np.array([[0, 1], [1, 2]]), benefit, cost=0.4)
    >>> game.payoffs_of([1, 0, 1]).tolist()  # both neighbours of the middle player work
    [0.6, 1.5, 0.6]
    """

    edges: Integers
    benefit: Vector
    cost: float

    kernel = _public_goods_losses
    stages = (_losses_of,)

    def __post_init__(self) -> None:
        check_edges(self.edges, len(self.players))
        if len(set(self.sizes)) != 1:
            raise InputError("all players must have the same number of efforts in local public goods")
        if self.benefit.shape != (self._totals,):
            raise InputError(f"benefit must have {self._totals} entries, one per total, got shape {self.benefit.shape}")
        if not (np.abs(self.benefit) <= LARGEST_PAYOFF).all() or not abs(self.cost) <= LARGEST_PAYOFF:
            raise InputError("benefits and the cost must be numbers within ±1e150")

    @cached_property
    def _degrees(self) -> Integers:
        return np.bincount(self.edges.ravel(), minlength=len(self.players)).astype(np.int64)

    @cached_property
    def _totals(self) -> int:
        """The number of possible totals of a player's and its neighbours' efforts."""
        return (self.sizes[0] - 1) * (int(self._degrees.max(initial=0)) + 1) + 1

    @cached_property
    def range(self) -> tuple[Vector, Vector]:
        """Return each player's exact minimum and maximum payoff, in payoff units.

        Examples
        --------
        >>> from gamesim import games
        >>> star = {"graph": "star", "graph_settings": {"n": 2}}  # a centre and two leaves
        >>> game = games.make("local-public-goods", **star, decay=0.5, cost=0.4)
        >>> low, high = game.range
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.0, 0.0, 0.0], [0.75, 0.5, 0.5])
        """
        size = self.sizes[0]
        bounds = {}
        for degree in np.unique(self._degrees).tolist():
            totals = np.add.outer(np.arange(size), np.arange((size - 1) * degree + 1))
            payoffs = self.benefit[totals] - self.cost * np.arange(size)[:, None]
            bounds[degree] = payoffs.min(), payoffs.max()
        low, high = np.array([bounds[degree] for degree in self._degrees.tolist()]).T
        return np.ascontiguousarray(low), np.ascontiguousarray(high)

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        owner = np.concatenate([self.edges[:, 0], self.edges[:, 1]])
        other = np.concatenate([self.edges[:, 1], self.edges[:, 0]])
        order = np.argsort(owner, kind="stable")
        inverse = inverse_scale(self.scale)
        count = len(self.players)
        graph = _GRAPH.pack(
            players=count, size=self.sizes[0], most=self._totals, begin=ends(self._degrees), neighbours=other[order]
        )
        data = _DATA.pack(
            self._totals, count, benefit=self.benefit, cost=self.cost, middle=self.middle, inverse=inverse
        )
        return graph, data, self._totals

    def payoffs_of(self, choices: Sequence[int]) -> Vector:  # noqa: D102
        efforts = np.array(choices)
        totals = efforts.copy()
        np.add.at(totals, self.edges[:, 0], efforts[self.edges[:, 1]])
        np.add.at(totals, self.edges[:, 1], efforts[self.edges[:, 0]])
        payoffs: Vector = self.benefit[totals] - self.cost * efforts
        return payoffs

    @cached_property
    def graph(self) -> "nx.Graph[str]":  # noqa: D102
        return named_graph(self.players, self.edges)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:  # noqa: D102
        return {"edges": self.edges, "benefit": self.benefit, "cost": np.array([self.cost])}

    @classmethod
    def from_arrays(  # noqa: D102
        cls, name: str, players: Sequence[str], actions: Sequence[Sequence[str]], arrays: Arrays
    ) -> "LocalPublicGoods":
        edges = whole_numbers("edges", arrays["edges"]).reshape(-1, 2)
        benefit = np.ascontiguousarray(arrays["benefit"], dtype=np.float64)
        labels = action_labels(players, actions)
        return cls(name, tuple(players), labels, edges, benefit, float(arrays["cost"][0]))
