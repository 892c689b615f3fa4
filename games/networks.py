"""Games on graphs: what a player gets depends on the neighbours only, so no table is ever written out."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from gamesim.engine.compiled import Integers, Vector, kernel
from gamesim.errors import InputError
from gamesim.game import MEMORY, Game, Table, refuse_beyond_memory
from gamesim.games.graphs import graph as make_graph
from gamesim.validation import action_labels, at_least, whole_numbers

Arrays = Mapping[str, np.ndarray[Any, Any]]


class NetworkGame(Game):
    """A game on a graph: its losses come from the graph, its table is written out for tests only.

    A profile holds the strategies of all players laid side by side.

    >>> from gamesim import games
    >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
    >>> game.players, game.sizes, game.range[1].tolist()  # the middle one has two neighbours
    (('0', '1', '2'), (2, 2, 2), [2.0, 4.0, 2.0])
    """

    @property
    @abstractmethod
    def graph(self) -> "nx.Graph[str]":
        """The graph that the game is played on.

        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> sorted(game.graph.edges)
        [('0', '1'), ('1', '2')]
        """

    @abstractmethod
    def payoffs_of(self, choices: Sequence[int]) -> Vector:
        """Return every player's payoff when each plays one action, by the number in `choices`: the definition.

        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> game.payoffs_of([0, 1, 1]).tolist()
        [0.0, 2.0, 2.0]
        """

    def table(self) -> Table:
        """Return the same game written out as a table, if it is small.

        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> game.table().payoffs[:, 0, 1, 1].tolist()
        [0.0, 2.0, 2.0]
        """
        refuse_beyond_memory(self.sizes)
        payoffs = np.empty((len(self.players), *self.sizes))
        for choices in product(*map(range, self.sizes)):
            cell: Any = (..., *choices)
            payoffs[cell] = self.payoffs_of(choices)
        return Table.from_payoffs(payoffs, name=self.name, players=self.players, actions=self.actions)

    def welfare(self, profile: ArrayLike) -> float:
        """Return the expected sum of all payoffs a round when all play the strategies of a profile.

        >>> from gamesim import games
        >>> game = games.make("network-coordination", graph="path", graph_settings={"n": 3}, values=[1.0, 2.0])
        >>> game.welfare([1, 0, 0, 1, 0.5, 0.5])  # the second and the third meet every other time
        2.0
        """
        strategies = np.asarray(profile, dtype=np.float64)
        starts = ends(self.sizes)[:-1]
        losses = np.add.reduceat(strategies * self.expected_losses(strategies), starts)
        return float((self.middle - self.scale * losses).sum())


@kernel
def _polymatrix_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Add up, for each player, the matrices of its edges times the neighbours' strategies."""
    players = integers[0]
    first = integers[1 : 2 + players]  # where each player's actions begin
    begin = integers[2 + players : 3 + 2 * players]  # where each player's edges begin
    edges = begin[players]
    neighbours = integers[3 + 2 * players : 3 + 2 * players + edges]
    matrices = integers[3 + 2 * players + edges : 3 + 2 * players + 2 * edges]
    for player in range(players):
        start, size = first[player], first[player + 1] - first[player]
        for k in range(size):
            losses[start + k] = data[player]
        for edge in range(begin[player], begin[player + 1]):
            other = neighbours[edge]
            at = matrices[edge]
            for b in range(first[other], first[other + 1]):
                weight = profile[b]
                for k in range(size):
                    losses[start + k] += weight * data[at + k]
                at += size
        for k in range(size):  # rounding may lead out of the range by one bit
            losses[start + k] = min(1.0, max(-1.0, losses[start + k]))


@dataclass(frozen=True, eq=False)
class Polymatrix(NetworkGame):
    """A two-player game on every edge of a graph; a player uses one action in all of them and gets the sum.

    `edges[e]` names two players u and v; `bimatrices` holds, edge after edge, what u gets and then what v gets, both
    with a row for each action of u and a column for each of v, all laid in one line.

    The expected losses take O(edges · actions²), the range is exact: neighbours choose independently, so the best of a
    sum is the sum of the bests.

    Source: Janovskaja (1968); Cai, Candogan, Daskalakis and Papadimitriou (2016), "Zero-sum polymatrix games".

    >>> edges, bimatrices = np.array([[0, 1]]), np.array([8.0, 3, 1, 9, 5, 2, 6, 7, 4, 2, 4, 3])
    >>> labels = (("high", "low"), ("high", "low", "sale"))
    >>> game = Polymatrix("prices", ("Old", "New"), labels, edges, bimatrices)
    >>> game.payoffs_of([1, 2]).tolist()  # Old's low price, New's sale
    [2.0, 3.0]
    """

    edges: Integers
    bimatrices: Vector

    kernel = _polymatrix_losses

    def __post_init__(self) -> None:
        _check_edges(self.edges, len(self.players))
        if self.bimatrices.shape != (2 * int(self._areas.sum()),):
            raise InputError(
                f"{len(self.edges)} edges between these players need {2 * int(self._areas.sum())} payoffs, "
                f"and {self.bimatrices.size} came"
            )
        if not (np.abs(self.bimatrices) <= 1e150).all():
            raise InputError("payoffs must be numbers within ±1e150")

    @cached_property
    def _areas(self) -> Integers:
        """How many action pairs each edge has."""
        sizes = np.array(self.sizes, dtype=np.int64)
        areas: Integers = sizes[self.edges[:, 0]] * sizes[self.edges[:, 1]]
        return areas

    def _blocks(self) -> Iterator[tuple[Integers, np.ndarray[Any, Any]]]:
        """Yield the edges of one shape together: their numbers, and their payoffs as [edge, u or v, row, column]."""
        sizes = np.array(self.sizes, dtype=np.int64)
        shapes, group = np.unique(sizes[self.edges], axis=0, return_inverse=True)
        starts = 2 * ends(self._areas)[:-1]
        for number, (rows, columns) in enumerate(shapes.tolist()):
            chosen = np.flatnonzero(group.reshape(-1) == number)
            at = starts[chosen][:, None] + np.arange(2 * rows * columns)
            yield chosen, self.bimatrices[at].reshape(-1, 2, rows, columns)

    @cached_property
    def range(self) -> tuple[Vector, Vector]:
        """The least and the largest payoff of each player, in payoff units, exactly.

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
        place = np.empty(len(owner), dtype=np.int64)  # a player's matrices lie side by side
        place[order] = count + ends(area[order])[:-1]
        inverse = np.where(self.scale > 0, 1 / np.where(self.scale > 0, self.scale, 1.0), 0.0)
        base = self.middle.copy()
        data = np.zeros(count + int(area.sum()))
        for chosen, block in self._blocks():
            for side in (0, 1):
                mine = edges[chosen, side]
                centre = block[:, side].mean(axis=(1, 2))  # large payoffs that differ little keep their digits
                np.subtract.at(base, mine, centre)
                losses = (centre[:, None, None] - block[:, side]) * inverse[mine][:, None, None]
                if side == 0:
                    losses = losses.transpose(0, 2, 1)  # the neighbour's action first, the own one last
                at = place[chosen + side * len(edges)][:, None] + np.arange(block.shape[2] * block.shape[3])
                data[at] = losses.reshape(len(chosen), -1)
        data[:count] = base * inverse
        integers = np.concatenate([[count], ends(self.sizes), begin, other[order], place[order]]).astype(np.int64)
        return integers, data

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
        return _named_graph(self.players, self.edges)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:  # noqa: D102
        return {"edges": self.edges, "bimatrices": self.bimatrices}

    @classmethod
    def from_arrays(  # noqa: D102
        cls, name: str, players: Sequence[str], actions: Sequence[Sequence[str]], arrays: Arrays
    ) -> "Polymatrix":
        edges = whole_numbers("edges", arrays["edges"]).reshape(-1, 2)
        bimatrices = np.ascontiguousarray(arrays["bimatrices"], dtype=np.float64)
        return cls(name, tuple(players), action_labels(players, actions), edges, bimatrices)


@kernel
def _public_goods_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Find the distribution of the neighbours' total effort, neighbour by neighbour, then the expected benefit."""
    players, size, most = integers[0], integers[1], integers[2]
    begin = integers[3 : 4 + players]
    neighbours = integers[4 + players :]
    benefit, cost = data[:most], data[most]
    middle, inverse = data[most + 1 : most + 1 + players], data[most + 1 + players :]
    for player in range(players):
        scratch[0] = 1.0
        top = 0
        for edge in range(begin[player], begin[player + 1]):
            start = neighbours[edge] * size
            for total in range(top + 1, top + size):
                scratch[total] = 0.0
            top += size - 1
            for total in range(top, -1, -1):  # from above, so that what is read has not been written yet
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


@dataclass(frozen=True, eq=False)
class LocalPublicGoods(NetworkGame):
    """Efforts that help the neighbours too: a player gets benefit[own and neighbours' efforts] - cost · own effort.

    Every player chooses an effort 0, 1, ...; `edges[e]` names two neighbours, by their numbers; `benefit` has an entry
    for every total that can occur. The expected losses are exact, from the distribution of the neighbours' total; the
    range is exact.

    Source: Bramoullé and Kranton (2007), "Public goods in networks".

    >>> benefit, labels = np.array([0.0, 1.0, 1.5, 1.75]), (("0", "1"),) * 3
    >>> game = LocalPublicGoods("path", ("A", "B", "C"), labels, np.array([[0, 1], [1, 2]]), benefit, cost=0.4)
    >>> game.payoffs_of([1, 0, 1]).tolist()  # the one in the middle has two workers beside it
    [0.6, 1.5, 0.6]
    """

    edges: Integers
    benefit: Vector
    cost: float

    kernel = _public_goods_losses

    def __post_init__(self) -> None:
        _check_edges(self.edges, len(self.players))
        if len(set(self.sizes)) != 1:
            raise InputError("in local public goods all players have the same efforts to choose from")
        if self.benefit.shape != (self._totals,):
            raise InputError(f"benefit needs {self._totals} entries, one per total, and {self.benefit.shape} came")
        if not (np.abs(self.benefit) <= 1e150).all() or not abs(self.cost) <= 1e150:
            raise InputError("benefits and the cost must be numbers within ±1e150")

    @cached_property
    def _degrees(self) -> Integers:
        return np.bincount(self.edges.ravel(), minlength=len(self.players)).astype(np.int64)

    @cached_property
    def _totals(self) -> int:
        """How many totals of a player's and the neighbours' efforts there can be."""
        return (self.sizes[0] - 1) * (int(self._degrees.max(initial=0)) + 1) + 1

    @cached_property
    def range(self) -> tuple[Vector, Vector]:
        """The least and the largest payoff of each player, in payoff units, exactly: neighbours can reach every total.

        >>> game = local_public_goods("star", {"n": 2}, decay=0.5, cost=0.4)  # a centre and two leaves
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
        count = len(self.players)
        head = [count, self.sizes[0], self._totals]
        integers = np.concatenate([head, ends(self._degrees), other[order]]).astype(np.int64)
        inverse = np.where(self.scale > 0, 1 / np.where(self.scale > 0, self.scale, 1.0), 0.0)
        return integers, np.concatenate([self.benefit, [self.cost], self.middle, inverse]), self._totals

    def payoffs_of(self, choices: Sequence[int]) -> Vector:  # noqa: D102
        efforts = np.array(choices)
        totals = efforts.copy()
        np.add.at(totals, self.edges[:, 0], efforts[self.edges[:, 1]])
        np.add.at(totals, self.edges[:, 1], efforts[self.edges[:, 0]])
        payoffs: Vector = self.benefit[totals] - self.cost * efforts
        return payoffs

    @cached_property
    def graph(self) -> "nx.Graph[str]":  # noqa: D102
        return _named_graph(self.players, self.edges)

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


def polymatrix(
    graph: str = "random-regular",
    graph_settings: Mapping[str, Any] | None = None,
    game: str = "uniform",
    game_settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Polymatrix:
    """A two-player game on every edge of a graph, each player using one action against all neighbours.

    `graph` is the name of a networkx generator without `_graph` (random-regular, cycle, star, grid-2d, erdos-renyi,
    ...) with its own `graph_settings`, or a GraphML or edge-list file; `game` is any two-player game with its
    `game_settings`; random ones are drawn anew for each edge, from `seed`.

    Source: Janovskaja (1968); Kearns, Littman and Singh (2001), "Graphical models for game theory".
    Teaches: thousands of players in one game; with zero-sum games on the edges learners' averages still converge (Cai
    and Daskalakis, 2011).

    >>> polymatrix("cycle", {"n": 5}, "matching-pennies").sizes
    (2, 2, 2, 2, 2)
    """
    found = make_graph(graph, _regular(graph) if graph_settings is None else graph_settings, seed)
    edges = _edges(found)
    tables = list(_edge_games(game, dict(game_settings or {}), len(edges), seed))
    actions: list[tuple[str, ...]] = [("1",)] * len(found)
    set_by: dict[int, int] = {}
    for (u, v), table in zip(edges.tolist(), tables, strict=True):
        for player, labels in zip((u, v), table.actions, strict=True):
            if set_by.setdefault(player, len(labels)) != len(labels):
                raise InputError(
                    f"polymatrix: a player needs the same number of actions in all games, and {game} has "
                    f"{table.sizes[0]} and {table.sizes[1]}: choose a game with as many for both"
                )
            actions[player] = labels
    bimatrices = np.concatenate([table.payoffs.ravel() for table in tables]) if tables else np.zeros(0)
    return Polymatrix("polymatrix", tuple(found), tuple(actions), edges, bimatrices)


def _regular(graph: str) -> dict[str, int]:
    return {"d": 4, "n": 10} if graph == "random-regular" else {}


def _edge_games(game: str, settings: dict[str, Any], count: int, seed: int) -> Iterator[Table]:
    """Yield a two-player game for each edge, drawn anew if it is random."""
    import inspect

    from gamesim import games

    first = games.make(game, **settings)
    if not isinstance(first, Table) or len(first.players) != 2:
        raise InputError(f"polymatrix needs a two-player game on each edge, and {game} is none")
    if 2 * count * first.cells * 8 > MEMORY:
        raise InputError(f"{count} games of {first.cells} action pairs do not fit: take fewer edges or actions")
    maker = games.available()[game]
    is_random = "seed" in inspect.signature(maker).parameters and "seed" not in settings
    for number in np.random.default_rng(seed).integers(2**62, size=count).tolist():
        drawn = maker(**settings, seed=number) if is_random else first
        if isinstance(drawn, Table):
            yield drawn


def network_coordination(
    graph: str = "cycle",
    graph_settings: Mapping[str, Any] | None = None,
    values: Sequence[float] = (1.0, 1.0),
    seed: int = 0,
) -> Polymatrix:
    """Neighbours who want to do the same: conventions, fashions, standards; with negative values, to differ.

    A player gets values[k] for each neighbour with whom both play k. `graph`, `graph_settings` and `seed` are as in
    polymatrix; without settings cycle has 10 nodes.

    Source: Morris (2000), "Contagion"; with negative values, the colouring game of Kearns, Suri and Montfort (2006).
    Teaches: islands of different conventions survive on sparse graphs; a better one spreads by contagion.

    >>> network_coordination("path", {"n": 3}, values=(1.0, 2.0)).payoffs_of([1, 1, 0]).tolist()
    [2.0, 2.0, 0.0]
    """
    if len(values) < 1 or not all(abs(value) <= 1e150 for value in values):
        raise InputError(f"values must name what each action is worth to two who share it, and {list(values)} came")
    found = make_graph(graph, {"n": 10} if graph_settings is None and graph == "cycle" else graph_settings or {}, seed)
    edges = _edges(found)
    if 2 * len(edges) * len(values) ** 2 * 8 > MEMORY:
        raise InputError(f"{len(edges)} edges with {len(values)} actions do not fit: take fewer of either")
    bimatrices = np.tile(np.diag(np.array(values, dtype=np.float64)).ravel(), 2 * len(edges))
    labels = tuple(str(k + 1) for k in range(len(values)))
    return Polymatrix("network-coordination", tuple(found), (labels,) * len(found), edges, bimatrices)


def local_public_goods(
    graph: str = "star",
    graph_settings: Mapping[str, Any] | None = None,
    efforts: int = 1,
    decay: float = 0.5,
    cost: float = 0.4,
    seed: int = 0,
) -> LocalPublicGoods:
    """Efforts that help the neighbours too, so that each hopes for the others'.

    A player with effort e and a total of x, the neighbours' efforts included, gets 1 - decay^x - cost · e; with decay 0
    one effort nearby is all that is needed. An effort is a number from 0 to `efforts`. `graph`, `graph_settings` and
    `seed` are as in polymatrix; without settings star has 5 leaves.

    Source: Bramoullé and Kranton (2007), "Public goods in networks"; decay 0 is the best-shot game of Galeotti, Goyal,
    Jackson, Vega-Redondo and Yariv (2010).
    Teaches: specialists and free riders: equilibria are maximal sets of players of whom no two are neighbours.

    >>> local_public_goods("star", {"n": 2}).payoffs_of([1, 0, 0]).round(9).tolist()  # only the centre works
    [0.1, 0.5, 0.5]
    """
    at_least("efforts", efforts, 1)
    if not 0 <= decay < 1:
        raise InputError(f"decay must lie between 0 and 1, and {decay} came")
    at_least("cost", cost, 0)
    found = make_graph(graph, {"n": 5} if graph_settings is None and graph == "star" else graph_settings or {}, seed)
    edges = _edges(found)
    most = int(np.bincount(edges.ravel(), minlength=1).max(initial=0)) + 1
    if efforts * max(most, len(found)) > 10**7:
        raise InputError(f"{efforts} efforts of {len(found)} players are too many: take fewer of either")
    benefit = 1 - decay ** np.arange(efforts * most + 1, dtype=np.float64)
    labels = tuple(str(k) for k in range(efforts + 1))
    players = tuple(found)
    return LocalPublicGoods("local-public-goods", players, (labels,) * len(players), edges, benefit, cost)


def ends(lengths: Sequence[int] | Integers) -> Integers:
    """Where parts of these lengths begin when laid side by side, and where the last one ends.

    >>> ends([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)


def _edges(found: "nx.Graph[str]") -> Integers:
    """Return the edges as pairs of the nodes' numbers."""
    if len(found) < 1:
        raise InputError("a network game needs at least one player, and a graph without nodes came")
    number = {node: k for k, node in enumerate(found)}
    return np.array([(number[u], number[v]) for u, v in found.edges()], dtype=np.int64).reshape(-1, 2)


def _named_graph(players: Sequence[str], edges: Integers) -> "nx.Graph[str]":
    found: nx.Graph[str] = nx.Graph()
    found.add_nodes_from(players)
    found.add_edges_from((players[u], players[v]) for u, v in edges.tolist())
    return found


def _check_edges(edges: Integers, players: int) -> None:
    """Refuse edges that would lead the kernels astray."""
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype != np.int64:
        raise InputError(f"edges must be pairs of players' numbers, and an array of shape {edges.shape} came")
    if edges.size and (edges.min() < 0 or edges.max() >= players):
        raise InputError(f"edges must be between players 0 to {players - 1}, and {edges.max()} or {edges.min()} came")
    if (edges[:, 0] == edges[:, 1]).any():
        raise InputError("edges must be between two players, and one leads from a player to itself")
