"""Atomic routing: players choose ways through a road graph, and roads slow down with their load."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, pairwise
from math import comb, prod
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from gamesim.engine.compiled import Integers, Vector, kernel
from gamesim.errors import InputError, did_you_mean
from gamesim.games import graphs
from gamesim.games.networks import Arrays, NetworkGame, ends
from gamesim.validation import action_labels, at_least, whole_numbers

DEGREE = 8  # the highest power of the load in a road's time
_ASSIGNMENTS = 2**18  # how many assignments of players to routes are tried for the best one


@kernel
def _routing_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Find each road's expected time for each player who may use it, then add them up along the routes.

    The others on a road are a sum X of independent chances q_j. With the time of 1 + X users written in binomials,
    Σ_k β_k C(X, k), its expectation is Σ_k β_k e_k, where e_k = E C(X, k) is the k-th elementary symmetric polynomial
    of the chances; leaving one player out of them is e'_k = e_k - q e'_{k-1}.
    """
    players, roads, degree, uses, routes = integers[0], integers[1], integers[2], integers[3], integers[4]
    at = 5
    use_road = integers[at : at + uses]  # a use is a road that is on some route of a player
    at += uses
    route_begin = integers[at : at + players + 1]
    at += players + 1
    step_begin = integers[at : at + routes + 1]
    at += routes + 1
    step_use = integers[at:]
    width = degree + 1
    binomials = data[: roads * width]
    middle = data[roads * width : roads * width + players]
    inverse = data[roads * width + players :]
    chance, time = scratch[:uses], scratch[uses : 2 * uses]
    symmetric = scratch[2 * uses :]
    for k in range(uses):
        chance[k] = 0.0
    for k in range(roads * width):
        symmetric[k] = 0.0
    for road in range(roads):
        symmetric[road * width] = 1.0
    for route in range(routes):
        for step in range(step_begin[route], step_begin[route + 1]):
            chance[step_use[step]] += profile[route]
    for use in range(uses):
        start = use_road[use] * width
        for k in range(degree, 0, -1):
            symmetric[start + k] += chance[use] * symmetric[start + k - 1]
    for use in range(uses):
        start = use_road[use] * width
        others = 1.0
        time[use] = binomials[start]
        for k in range(1, width):
            others = symmetric[start + k] - chance[use] * others
            time[use] += binomials[start + k] * others
    for player in range(players):
        for route in range(route_begin[player], route_begin[player + 1]):
            total = 0.0
            for step in range(step_begin[route], step_begin[route + 1]):
                total += time[step_use[step]]
            losses[route] = min(1.0, max(-1.0, (total - middle[player]) * inverse[player]))


@dataclass(frozen=True, eq=False)
class Routing(NetworkGame):
    """Players who choose routes; a road with x players on it takes Σ_k coefficients[road, k] x^k. Payoffs are -time.

    Time has the units of the `coefficients`. `roads[r]` leads from one node to another, by their numbers in `nodes`;
    `steps` holds the roads of every route,
    route after route and player after player, and `lengths` how many roads each route has.

    The expected losses are exact and take O(degree) for each road on a route. `range` is a guaranteed enclosure of a
    player's payoffs, attained when all who can are on the same roads, or none of them.

    Source: Rosenthal (1973), "The network equilibrium problem in integers".

    >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
    >>> game.actions[0], game.payoffs_of([0, 1]).tolist(), game.payoffs_of([0, 0]).tolist()
    (('s-v-t', 's-t'), [-0.5, -1.0], [-1.0, -1.0])
    >>> game.nodes, game.roads.tolist(), game.coefficients.tolist()
    (('s', 'v', 't'), [[0, 2], [0, 1], [1, 2]], [[1.0, 0.0], [0.0, 0.5], [0.0, 0.0]])
    """

    nodes: tuple[str, ...]
    roads: Integers
    coefficients: np.ndarray[Any, np.dtype[np.float64]]
    lengths: Integers
    steps: Integers

    kernel = _routing_losses

    def __post_init__(self) -> None:
        count = len(self.roads)
        if self.roads.ndim != 2 or self.roads.shape[1] != 2 or self.coefficients.shape[:1] != (count,):
            raise InputError("roads must be pairs of nodes' numbers, with a row of coefficients for each")
        if self.roads.size and (self.roads.min() < 0 or self.roads.max() >= len(self.nodes)):
            raise InputError(f"roads must be between nodes 0 to {len(self.nodes) - 1}")
        if self.coefficients.ndim != 2 or not 1 <= self.coefficients.shape[1] <= DEGREE + 1:
            raise InputError(f"a road's time must be a polynomial of degree at most {DEGREE}")
        if not ((self.coefficients >= 0) & (self.coefficients <= 1e100)).all():
            raise InputError("the coefficients of roads must be numbers from 0 to 1e100")
        if self.lengths.shape != (sum(self.sizes),) or self.lengths.min() < 0 or self.lengths.sum() != self.steps.size:
            raise InputError(f"{sum(self.sizes)} routes need as many lengths, which add up to the steps")
        if self.steps.size and (self.steps.min() < 0 or self.steps.max() >= count):
            raise InputError(f"the steps of routes must be roads 0 to {count - 1}")
        route = np.repeat(np.arange(len(self.lengths)), self.lengths)
        if len(np.unique(route * max(count, 1) + self.steps)) != self.steps.size:
            raise InputError("a route must not use a road twice")

    @cached_property
    def _player_of_step(self) -> Integers:
        return np.repeat(np.repeat(np.arange(len(self.players)), self.sizes), self.lengths)

    @cached_property
    def _uses(self) -> tuple[Integers, Integers]:
        """Each (player, road) that is on some route, as player · roads + road, and the use of every step."""
        uses, of_step = np.unique(self._player_of_step * len(self.roads) + self.steps, return_inverse=True)
        return uses, of_step.reshape(-1)

    def times(self, loads: ArrayLike) -> Vector:
        """Return the time that each road takes with these loads, numbers of players; the last axis is the road.

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.times([1, 2, 2]).tolist()  # on s-t, s-v and v-t
        [1.0, 1.0, 0.0]
        """
        powers = np.asarray(loads, dtype=np.float64)[..., None] ** np.arange(self.coefficients.shape[1])
        taken: Vector = (powers * self.coefficients).sum(axis=-1)
        return taken

    @cached_property
    def range(self) -> tuple[Vector, Vector]:
        """An enclosure of each player's payoffs, -time: alone on the quickest route, with all others on the slowest.

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> low, high = game.range
        >>> low.tolist(), high.tolist()
        ([-1.0, -1.0], [-0.5, -0.5])
        """
        most = np.bincount(self._uses[0] % len(self.roads), minlength=len(self.roads))
        alone, crowded = self.times(np.ones(len(self.roads))), self.times(most)
        begin = ends(self.lengths)
        quick = np.array([alone[self.steps[a:b]].sum() for a, b in pairwise(begin)])
        slow = np.array([crowded[self.steps[a:b]].sum() for a, b in pairwise(begin)])
        first = ends(self.sizes)[:-1]
        return -np.maximum.reduceat(slow, first), -np.minimum.reduceat(quick, first)

    @cached_property
    def _prepared(self) -> tuple[Integers, Vector, int]:
        uses, of_step = self._uses
        count, roads, width = len(self.players), len(self.roads), self.coefficients.shape[1]
        head = [count, roads, width - 1, len(uses), len(self.lengths)]
        parts = np.concatenate([head, uses % roads, ends(self.sizes), ends(self.lengths), of_step])
        binomials = self.coefficients @ _in_binomials(width, lambda x, power: (1 + x) ** power)
        inverse = np.where(self.scale > 0, 1 / np.where(self.scale > 0, self.scale, 1.0), 0.0)
        data = np.concatenate([binomials.ravel(), -self.middle, inverse])
        return parts.astype(np.int64), data, 2 * len(uses) + roads * width

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        return self._prepared

    def payoffs_of(self, choices: Sequence[int]) -> Vector:  # noqa: D102
        begin = ends(self.lengths)
        chosen = ends(self.sizes)[:-1] + np.array(choices)
        ways = [self.steps[begin[route] : begin[route + 1]] for route in chosen]
        times = self.times(np.bincount(np.concatenate(ways), minlength=len(self.roads)))
        return np.array([-times[way].sum() for way in ways])

    def chances(self, profile: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the chance that each player (row) is on each road (column) under the strategies of a profile.

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.chances([1.0, 0.0, 0.25, 0.75]).tolist()
        [[0.0, 1.0, 1.0], [0.75, 0.25, 0.25]]
        """
        found = np.zeros((len(self.players), len(self.roads)))
        np.add.at(found, (self._player_of_step, self.steps), np.repeat(np.asarray(profile), self.lengths))
        return found

    def loads(self, profile: ArrayLike) -> Vector:
        """Return the expected number of players on each road under the strategies of a profile.

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.loads([1.0, 0.0, 0.25, 0.75]).tolist()  # on s-t, s-v and v-t
        [0.75, 1.25, 1.25]
        """
        expected: Vector = self.chances(profile).sum(axis=0)
        return expected

    def social_cost(self, profile: ArrayLike) -> float:
        """Return the expected total time of all players under a profile, exactly: Σ E[load · time of the load].

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.social_cost([1.0, 0.0, 0.25, 0.75])  # 1/4 · (1 + 1) + 3/4 · (1/2 + 1)
        1.625
        """
        width = self.coefficients.shape[1] + 1
        symmetric = np.zeros((width, len(self.roads)))
        symmetric[0] = 1
        for chance in self.chances(profile):
            for k in range(width - 1, 0, -1):
                symmetric[k] += chance * symmetric[k - 1]
        binomials = self.coefficients @ _in_binomials(width, lambda x, power: x ** (power + 1))[:-1]
        return float((binomials.T * symmetric).sum())

    @cached_property
    def _groups(self) -> list[tuple[int, np.ndarray[Any, np.dtype[np.float64]]]]:
        """Players with the same routes: how many they are, and the roads (columns) that each route (row) uses."""
        begin, first = ends(self.lengths), ends(self.sizes)
        counts: Counter[tuple[tuple[int, ...], ...]] = Counter()
        for a, b in pairwise(first):
            counts[tuple(tuple(self.steps[begin[route] : begin[route + 1]].tolist()) for route in range(a, b))] += 1
        groups = []
        for routes, players in counts.items():
            incidence = np.zeros((len(routes), len(self.roads)))
            for row, route in enumerate(routes):
                incidence[row, list(route)] = 1
            groups.append((players, incidence))
        return groups

    @cached_property
    def least_social_cost(self) -> tuple[float, bool]:
        """The least total time of all players, and whether it is exact; if not, it is a lower bound.

        Up to 2^18 ways to share out players among their routes are all tried. Beyond, players are taken as divisible,
        which can only make the total less, and a point of that convex problem (Frank and Wolfe, 1956) gives the bound.

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.least_social_cost
        (1.5, True)
        """
        ways = prod(comb(players + len(routes) - 1, players) for players, routes in self._groups)
        if ways * len(self.roads) <= _ASSIGNMENTS * 16 and ways <= _ASSIGNMENTS:
            loads = np.zeros((1, len(self.roads)))
            for players, routes in self._groups:
                loads = (loads[:, None] + (_compositions(players, len(routes)) @ routes)[None]).reshape(
                    -1, loads.shape[1]
                )
            return float((loads * self.times(loads)).sum(axis=1).min()), True
        return self._divisible_bound(), False

    def _divisible_bound(self, rounds: int = 300) -> float:
        powers = np.arange(self.coefficients.shape[1])
        flows = [np.full(len(routes), players / len(routes)) for players, routes in self._groups]
        best = 0.0
        for number in range(rounds):
            loads = np.sum([flow @ routes for flow, (_, routes) in zip(flows, self._groups, strict=True)], axis=0)
            marginal = (loads[:, None] ** powers * self.coefficients * (powers + 1)).sum(axis=1)
            bound = float((loads * self.times(loads)).sum())
            for k, (players, routes) in enumerate(self._groups):
                slope = routes @ marginal
                target = np.zeros(len(slope))
                target[slope.argmin()] = players
                bound += float(slope @ (target - flows[k]))
                flows[k] += 2 / (number + 2) * (target - flows[k])
            best = max(best, bound)
        return best

    def price_of_anarchy(self, welfare: float) -> float:
        """Return how many times the least total time this welfare, a sum of payoffs, costs; never less than it does.

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.price_of_anarchy(game.welfare([1.0, 0.0, 1.0, 0.0]))  # both on the narrow road
        1.3333333333333333
        """
        least, _ = self.least_social_cost
        if least <= 0:
            raise InputError(f"{self.name} takes no time at best, so that there is no ratio to it")
        return -welfare / least

    @cached_property
    def graph(self) -> "nx.DiGraph[str]":
        """The roads, each with the coefficients of its time as `cost`.

        >>> game = routing("pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> sorted(game.graph.edges(data="cost"))
        [('s', 't', [1.0, 0.0]), ('s', 'v', [0.0, 0.5]), ('v', 't', [0.0, 0.0])]
        """
        found: nx.DiGraph[str] = nx.DiGraph()
        found.add_nodes_from(self.nodes)
        for (u, v), cost in zip(self.roads.tolist(), self.coefficients.tolist(), strict=True):
            found.add_edge(self.nodes[u], self.nodes[v], cost=cost)
        return found

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:  # noqa: D102
        return {
            "nodes": np.array(self.nodes),
            "roads": self.roads,
            "coefficients": self.coefficients,
            "lengths": self.lengths,
            "steps": self.steps,
        }

    @classmethod
    def from_arrays(  # noqa: D102
        cls, name: str, players: Sequence[str], actions: Sequence[Sequence[str]], arrays: Arrays
    ) -> "Routing":
        return cls(
            name,
            tuple(players),
            action_labels(players, actions),
            tuple(str(node) for node in arrays["nodes"]),
            whole_numbers("roads", arrays["roads"]).reshape(-1, 2),
            np.ascontiguousarray(arrays["coefficients"], dtype=np.float64),
            whole_numbers("lengths", arrays["lengths"]),
            whole_numbers("steps", arrays["steps"]),
        )


def routing(
    network: str = "braess",
    players: int = 10,
    trips: Sequence[Sequence[str | int]] = (),
    routes: int = 4,
    degree: int = 1,
    seed: int = 0,
) -> Routing:
    """Drivers who choose ways through a road graph and slow each other down; payoffs are -time.

    `network` is pigou, braess, two-ways (Braess without the shortcut) or grid (4 × 4, random times, drawn from `seed`),
    where a road's time grows with the power `degree` of its load; or a GraphML or edge-list file whose edges carry the
    coefficients of polynomials. `trips` are lists of origin, destination and number of players; without them all
    `players` go from the first node to the last. Each chooses among the `routes` quickest ways on empty roads.

    Source: Rosenthal (1973), "The network equilibrium problem in integers"; Roughgarden and Tardos (2002).
    Teaches: the price of anarchy: 4/3 for pigou and braess, never above 5/2 for affine times, even for coarse
    correlated equilibria (Roughgarden, 2009).

    >>> routing("pigou", players=4).actions[0]
    ('s-v-t', 's-t')
    """
    at_least("players", players, 1)
    at_least("routes", routes, 1)
    if not 1 <= degree <= DEGREE:
        raise InputError(f"degree must lie between 1 and {DEGREE}, and {degree} came")
    trips = list(trips)
    if network in _NETWORKS:
        total = sum(_trip(trip)[2] for trip in trips) if trips else players
        map_ = _NETWORKS[network](total, degree, seed)
        trips = trips or [(next(iter(map_)), list(map_)[-1], players)]
    elif "." in network:
        map_ = graphs.read(network)
        if not trips:
            raise InputError(f"routing on {network} needs trips: lists of origin, destination and number of players")
    else:
        raise InputError(f"there is no road network {network!r}, nor is it a file: {did_you_mean(network, _NETWORKS)}")
    return _routed(map_, [_trip(trip) for trip in trips], routes)


def _trip(trip: Sequence[str | int]) -> tuple[str, str, int]:
    if len(trip) != 3 or isinstance(trip[2], bool) or not isinstance(trip[2], int) or not 1 <= trip[2] <= 10**6:
        raise InputError(f"a trip is an origin, a destination and a number of players, and {list(trip)} came")
    return str(trip[0]), str(trip[1]), trip[2]


def _routed(map_: "nx.DiGraph[str]", trips: list[tuple[str, str, int]], routes: int) -> Routing:
    """Give every traveller the quickest ways, and lay the game out in arrays."""
    nodes = {node: k for k, node in enumerate(map_)}
    roads = {(u, v): k for k, (u, v) in enumerate(map_.edges())}
    costs = [map_.edges[road]["cost"] for road in roads]
    width = max((len(cost) for cost in costs), default=1)
    if width > DEGREE + 1:
        raise InputError(f"a road's time must be a polynomial of degree at most {DEGREE}, and {width - 1} came")
    coefficients = np.zeros((len(roads), max(width, 1)))
    for k, cost in enumerate(costs):
        coefficients[k, : len(cost)] = cost
    empty = coefficients.sum(axis=1)  # the time with one on the road
    nx.set_edge_attributes(map_, {road: empty[k] for road, k in roads.items()}, "alone")
    players: list[str] = []
    actions: list[tuple[str, ...]] = []
    lengths: list[int] = []
    steps: list[int] = []
    for origin, destination, count in trips:
        for node in (origin, destination):
            if node not in nodes:
                raise InputError(f"there is no node {node!r} in the road network: {did_you_mean(node, nodes)}")
        if origin == destination:
            raise InputError(f"a trip must lead somewhere else, and one from {origin} to {destination} came")
        try:
            ways = list(islice(nx.shortest_simple_paths(map_, origin, destination, weight="alone"), routes))
        except nx.NetworkXNoPath:
            raise InputError(f"there is no way from {origin} to {destination} in the road network") from None
        for _ in range(count):
            players.append(f"Driver {len(players) + 1}")
            actions.append(tuple("-".join(way) for way in ways))
            lengths += [len(way) - 1 for way in ways]
            steps += [roads[road] for way in ways for road in pairwise(way)]
    pairs = np.array([(nodes[u], nodes[v]) for u, v in roads], dtype=np.int64)
    return Routing(
        "routing",
        tuple(players),
        tuple(actions),
        tuple(nodes),
        pairs,
        coefficients,
        np.array(lengths, dtype=np.int64),
        np.array(steps, dtype=np.int64),
    )


def _power(players: int, degree: int, weight: float = 1.0) -> list[float]:
    """Coefficients of weight · (load / players)^degree."""
    return [0.0] * degree + [weight / players**degree]


def _pigou(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    map_: nx.DiGraph[str] = nx.DiGraph()
    map_.add_nodes_from(["s", "v", "t"])  # v only keeps the narrow road apart from the wide one
    map_.add_edge("s", "t", cost=[1.0])
    map_.add_edge("s", "v", cost=_power(players, degree))
    map_.add_edge("v", "t", cost=[0.0])
    return map_


def _two_ways(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    map_: nx.DiGraph[str] = nx.DiGraph()
    map_.add_nodes_from(["s", "v", "w", "t"])
    map_.add_edge("s", "v", cost=_power(players, degree))
    map_.add_edge("v", "t", cost=[1.0])
    map_.add_edge("s", "w", cost=[1.0])
    map_.add_edge("w", "t", cost=_power(players, degree))
    return map_


def _braess(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    map_ = _two_ways(players, degree, seed)
    map_.add_edge("v", "w", cost=[0.0])
    return map_


def _grid(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    random = np.random.default_rng(seed)
    map_: nx.DiGraph[str] = nx.DiGraph()
    map_.add_nodes_from(f"{x},{y}" for x in range(4) for y in range(4))
    for x in range(4):
        for y in range(4):
            for next_x, next_y in ((x + 1, y), (x, y + 1)):
                if max(next_x, next_y) < 4:
                    base, slope = random.random(2).tolist()
                    power = _power(players, degree, slope)
                    map_.add_edge(f"{x},{y}", f"{next_x},{next_y}", cost=[base, *power[1:]])
    return map_


_NETWORKS: dict[str, Callable[[int, int, int], "nx.DiGraph[str]"]] = {
    "pigou": _pigou,
    "braess": _braess,
    "two-ways": _two_ways,
    "grid": _grid,
}


def _in_binomials(width: int, power_of: Callable[[int, int], int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Row p: the whole numbers β with power_of(x, p) = Σ_k β_k C(x, k), by differences at x = 0, 1, ...

    >>> _in_binomials(3, lambda x, p: x**p).tolist()  # x² = x + 2 C(x, 2)
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 2.0]]
    """
    rows = []
    for power in range(width):
        values = [power_of(x, power) for x in range(width)]
        row = []
        while values:
            row.append(values[0])
            values = [b - a for a, b in pairwise(values)]
        rows.append(row)
    return np.array(rows, dtype=np.float64)


def _compositions(total: int, parts: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """All ways to share `total` among so many parts, one a row.

    >>> _compositions(2, 2).tolist()
    [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]
    >>> _compositions(3, 1).tolist()
    [[3.0]]
    """
    chosen = list(combinations(range(total + parts - 1), parts - 1))
    bars = np.array(chosen, dtype=np.int64).reshape(len(chosen), parts - 1)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, total + parts - 1)))
    return (np.diff(edges, axis=1) - 1).astype(np.float64)
