"""Polymatrix games: a two-player game on every edge of a graph."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamesim.engine.compiled import Integers, Vector, kernel, prefetch
from gamesim.engine.layout import IntegerLayout, Layout
from gamesim.errors import InputError
from gamesim.game import LARGEST_PAYOFF, Arrays
from gamesim.games.networks.contract import NetworkGame
from gamesim.games.networks.edges import check_edges, ends, inverse_scale, named_graph
from gamesim.validation import action_labels, whole_numbers

if TYPE_CHECKING:
    import networkx as nx

AHEAD = 32  # edges from which neighbours' strategies are fetched before they are needed


class _Graph(NamedTuple):
    players: int
    edges: int  # each edge counted from both ends
    first: Integers  # where each player's actions begin
    begin: Integers  # where each player's edges begin
    places: Integers  # where each player's matrices begin, one per edge
    starts: Integers  # where the actions of each edge's neighbour begin
    stops: Integers  # and end


_GRAPH = IntegerLayout(
    _Graph,
    "",
    players="int",
    edges="int",
    first="players + 1",
    begin="players + 1",
    places="players + 1",
    starts="edges",
    stops="edges",
)
_graph_view = _GRAPH.view


class _Data(NamedTuple):
    base: Vector  # each player's loss before its edges are added
    matrices: Vector


_DATA = Layout(_Data, "players", base="players", matrices="rest")
_data_view = _DATA.view


@kernel
def _losses_of(
    first_player: int,
    end_player: int,
    integers: Integers,
    data: Vector,
    shared: Vector,
    own: Vector,
    profile: Vector,
    losses: Vector,
) -> None:
    """Sum over each player's edges the loss matrix times the neighbour's strategy."""
    players, edges, first, begin, places, starts, stops = _graph_view(integers)
    base, matrices = _data_view(data, players)
    for player in range(first_player, end_player):
        start, size = first[player], first[player + 1] - first[player]
        for k in range(size):
            losses[start + k] = base[player]
        at = places[player]
        for edge in range(begin[player], begin[player + 1]):
            if edge + AHEAD < edges:  # neighbours are anywhere in the profile, which may exceed the cache
                prefetch(profile, starts[edge + AHEAD])
            for b in range(starts[edge], stops[edge]):
                weight = profile[b]
                for k in range(size):
                    losses[start + k] += weight * matrices[at + k]
                at += size
        for k in range(size):  # rounding errors may exceed the range slightly
            losses[start + k] = min(1.0, max(-1.0, losses[start + k]))


@kernel
def _polymatrix_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Write the losses of all players."""
    _losses_of(0, _graph_view(integers).players, integers, data, scratch, scratch, profile, losses)


@dataclass(frozen=True, eq=False, repr=False)
class Polymatrix(NetworkGame):
    """Represent a polymatrix game: a two-player game on every edge of a graph.

    A player uses one action in all its games. Payoffs add up over its edges.

    Parameters
    ----------
    name : str
        Name of the game.
    players : tuple of str
        Names of the players.
    actions : tuple of tuple of str
        Labels of the actions, one tuple per player.
    edges : array of int, shape (edges, 2)
        The two players u and v of each edge, by number.
    bimatrices : array of float
        For each edge in turn, the payoffs of u and then those of v, in payoff units, both with one row per action of u
        and one column per action of v, flattened.

    Notes
    -----
    Source: Janovskaja (1968); Cai, Candogan, Daskalakis and Papadimitriou (2016), "Zero-sum polymatrix games".

    Expected losses take O(edges · actions²) time. The range is exact: neighbours choose independently, so the maximum
    of a sum over edges is the sum of the maxima.

    Examples
    --------
    >>> edges, bimatrices = np.array([[0, 1]]), np.array([8.0, 3, 1, 9, 5, 2, 6, 7, 4, 2, 4, 3])
    >>> labels = (("high", "low"), ("high", "low", "sale"))
    >>> game = Polymatrix("prices", ("Old", "New"), labels, edges, bimatrices)
    >>> game.payoffs_of([1, 2]).tolist()  # Old's low price, New's sale
    [2.0, 3.0]
    """

    edges: Integers
    bimatrices: Vector

    kernel = _polymatrix_losses
    stages = (_losses_of,)

    def __post_init__(self) -> None:
        check_edges(self.edges, len(self.players))
        if self.bimatrices.shape != (2 * int(self._areas.sum()),):
            raise InputError(
                f"{len(self.edges)} edges between these players need {2 * int(self._areas.sum())} payoffs, "
                f"got {self.bimatrices.size}"
            )
        if not (np.abs(self.bimatrices) <= LARGEST_PAYOFF).all():
            raise InputError("payoffs must be numbers within ±1e150")

    @cached_property
    def _areas(self) -> Integers:
        """The number of action pairs of each edge."""
        sizes = np.array(self.sizes, dtype=np.int64)
        areas: Integers = sizes[self.edges[:, 0]] * sizes[self.edges[:, 1]]
        return areas

    def _blocks(self) -> Iterator[tuple[Integers, np.ndarray[Any, Any]]]:
        """Yield the edges grouped by shape: their numbers, and their payoffs as [edge, u or v, row, column]."""
        sizes = np.array(self.sizes, dtype=np.int64)
        shapes, group = np.unique(sizes[self.edges], axis=0, return_inverse=True)
        starts = 2 * ends(self._areas)[:-1]
        for number, (rows, columns) in enumerate(shapes.tolist()):
            chosen = np.flatnonzero(group.reshape(-1) == number)
            at = starts[chosen][:, None] + np.arange(2 * rows * columns)
            yield chosen, self.bimatrices[at].reshape(-1, 2, rows, columns)

    @cached_property
    def range(self) -> tuple[Vector, Vector]:
        """Return each player's exact minimum and maximum payoff, in payoff units.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> low, high = game.range
        >>> low.tolist(), high.tolist()
        ([0.0, 0.0, 0.0], [2.0, 4.0, 2.0])
        """
        first = ends(self.sizes)
        low, high = np.zeros(first[-1]), np.zeros(first[-1])
        for chosen, block in self._blocks():
            for side in (0, 1):
                own = first[self.edges[chosen, side]][:, None] + np.arange(block.shape[2 + side])
                np.add.at(low, own, block[:, side].min(axis=2 - side))
                np.add.at(high, own, block[:, side].max(axis=2 - side))
        return np.minimum.reduceat(low, first[:-1]), np.maximum.reduceat(high, first[:-1])

    @cached_property
    def _prepared(self) -> tuple[Integers, Vector]:
        count, edges = len(self.players), self.edges
        owner = np.concatenate([edges[:, 0], edges[:, 1]])
        other = np.concatenate([edges[:, 1], edges[:, 0]])
        order = np.argsort(owner, kind="stable")
        begin = np.searchsorted(owner[order], np.arange(count + 1))
        area = np.concatenate([self._areas, self._areas])
        places = ends(area[order])  # a player's matrices are contiguous
        place = np.empty(len(owner), dtype=np.int64)
        place[order] = places[:-1]
        first = ends(self.sizes)
        inverse = inverse_scale(self.scale)
        base = self.middle.copy()
        matrices = np.zeros(int(area.sum()))
        for chosen, block in self._blocks():
            for side in (0, 1):
                mine = edges[chosen, side]
                centre = block[:, side].mean(axis=(1, 2))  # keeps precision if payoffs are large but differ little
                np.subtract.at(base, mine, centre)
                losses = (centre[:, None, None] - block[:, side]) * inverse[mine][:, None, None]
                if side == 0:
                    losses = losses.transpose(0, 2, 1)  # the neighbour's action first, the player's last
                at = place[chosen + side * len(edges)][:, None] + np.arange(block.shape[2] * block.shape[3])
                matrices[at] = losses.reshape(len(chosen), -1)
        graph = _GRAPH.pack(
            players=count,
            edges=len(owner),
            first=first,
            begin=begin,
            places=places[begin],
            starts=first[other[order]],
            stops=first[other[order] + 1],
        )
        return graph, _DATA.pack(count, base=base * inverse, matrices=matrices)

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        return *self._prepared, 0

    def payoffs_of(self, choices: Sequence[int]) -> Vector:  # noqa: D102
        payoffs = np.zeros(len(self.players))
        at = 0
        for u, v in self.edges.tolist():
            rows, columns = self.sizes[u], self.sizes[v]
            both = self.bimatrices[at : at + 2 * rows * columns].reshape(2, rows, columns)
            payoffs[[u, v]] += both[:, choices[u], choices[v]]
            at += both.size
        return payoffs

    @cached_property
    def graph(self) -> "nx.Graph[str]":  # noqa: D102
        return named_graph(self.players, self.edges)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:  # noqa: D102
        return {"edges": self.edges, "bimatrices": self.bimatrices}

    @classmethod
    def from_arrays(  # noqa: D102
        cls, name: str, players: Sequence[str], actions: Sequence[Sequence[str]], arrays: Arrays
    ) -> "Polymatrix":
        edges = whole_numbers("edges", arrays["edges"]).reshape(-1, 2)
        bimatrices = np.ascontiguousarray(arrays["bimatrices"], dtype=np.float64)
        return cls(name, tuple(players), action_labels(players, actions), edges, bimatrices)
