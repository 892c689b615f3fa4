"""Built-in road networks, and the quickest routes through any road network.

A road network is a directed graph whose edges carry `cost`, the coefficients of a road's time as a polynomial of its
load.
"""

from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError, did_you_mean
from gamesim.games.limits import Need, refuse_beyond
from gamesim.games.routing.game import HIGHEST_DEGREE, Routing

MOST_ROADS_ON_ROUTES = 2**21
MOST_ROADS_SEARCHED = 2**22  # while looking for the quickest routes: a few seconds

Trip = tuple[str, str, int]  # origin, destination, number of players


def routed(network: "nx.DiGraph[str]", trips: Iterable[Trip], routes: int) -> Routing:
    """Return the game in which each driver chooses among at most `routes` quickest routes."""
    nodes = {node: k for k, node in enumerate(network)}
    roads = {(u, v): k for k, (u, v) in enumerate(network.edges())}
    coefficients = _coefficients(network)
    alone = coefficients.sum(axis=1)  # the time with a single driver on the road
    nx.set_edge_attributes(network, {road: alone[k] for road, k in roads.items()}, "alone")
    time_alone = _LimitedSearch(routes)
    found: dict[tuple[str, str], list[list[str]]] = {}  # the routes of each origin and destination
    actions: list[tuple[str, ...]] = []
    lengths: list[int] = []
    steps: list[int] = []
    for origin, destination, count in trips:
        if (origin, destination) not in found:
            found[origin, destination] = _quickest(network, origin, destination, routes, time_alone)
        ways = found[origin, destination]
        along = [roads[road] for way in ways for road in pairwise(way)]
        total = len(steps) + count * len(along)
        needed = Need("{amount} roads on the routes of all drivers", total, MOST_ROADS_ON_ROUTES)
        refuse_beyond("routing", {"routes": routes}, [needed], reduce=["routes", "players", "trips"])
        actions += [tuple("-".join(way) for way in ways)] * count
        lengths += [len(way) - 1 for way in ways] * count
        steps += along * count
    pairs = np.array([(nodes[u], nodes[v]) for u, v in roads], dtype=np.int64)
    return Routing(
        "routing",
        tuple(f"Driver {k + 1}" for k in range(len(actions))),
        tuple(actions),
        tuple(nodes),
        pairs,
        coefficients,
        np.array(lengths, dtype=np.int64),
        np.array(steps, dtype=np.int64),
    )


class _LimitedSearch:
    """The time of a road with a single driver, as the search for routes asks for it: only a limited number of times.

    The number of routes through a network may grow exponentially with its size, and how many of them a search visits
    is not known in advance.
    """

    def __init__(self, routes: int) -> None:
        self._routes = routes
        self._asked = 0

    def __call__(self, _from: Any, _to: Any, road: Any) -> float:
        """Return the time of a road; raise InputError if the search takes too long."""
        self._asked += 1
        if self._asked > MOST_ROADS_SEARCHED:
            raise InputError(
                f"routing with routes = {self._routes} needs more than {MOST_ROADS_SEARCHED:,} steps to find the "
                f"routes, the limit; reduce routes, or use fewer trips or a smaller network"
            )
        time: float = road["alone"]
        return time


def _coefficients(network: "nx.DiGraph[str]") -> NDArray[np.float64]:
    """Return the coefficients of each road's time, one row per road, padded with zeros."""
    costs = [network.edges[road]["cost"] for road in network.edges()]
    width = max((len(cost) for cost in costs), default=1)
    if width > HIGHEST_DEGREE + 1:
        raise InputError(f"a road's time must be a polynomial of degree at most {HIGHEST_DEGREE}, got {width - 1}")
    coefficients = np.zeros((len(costs), max(width, 1)))
    for k, cost in enumerate(costs):
        coefficients[k, : len(cost)] = cost
    return coefficients


def _quickest(
    network: "nx.DiGraph[str]", origin: str, destination: str, routes: int, time_alone: _LimitedSearch
) -> list[list[str]]:
    """Return the quickest routes between two nodes on empty roads, as sequences of nodes."""
    for node in (origin, destination):
        if node not in network:
            raise InputError(f"unknown node {node!r} in the road network; {did_you_mean(node, network)}")
    if origin == destination:
        raise InputError(f"a trip must end at a different node, got one from {origin} to {destination}")
    try:
        return list(islice(nx.shortest_simple_paths(network, origin, destination, weight=time_alone), routes))
    except nx.NetworkXNoPath:
        raise InputError(f"there is no route from {origin} to {destination} in the road network") from None


def _power(players: int, degree: int, weight: float = 1.0) -> list[float]:
    """Return the coefficients of weight · (load / players)^degree."""
    return [0.0] * degree + [weight / players**degree]


def _pigou(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(["s", "v", "t"])  # v distinguishes the narrow road from the wide one
    network.add_edge("s", "t", cost=[1.0])
    network.add_edge("s", "v", cost=_power(players, degree))
    network.add_edge("v", "t", cost=[0.0])
    return network


def _two_ways(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(["s", "v", "w", "t"])
    network.add_edge("s", "v", cost=_power(players, degree))
    network.add_edge("v", "t", cost=[1.0])
    network.add_edge("s", "w", cost=[1.0])
    network.add_edge("w", "t", cost=_power(players, degree))
    return network


def _braess(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    network = _two_ways(players, degree, seed)
    network.add_edge("v", "w", cost=[0.0])
    return network


def _grid(players: int, degree: int, seed: int) -> "nx.DiGraph[str]":
    random = np.random.default_rng(seed)
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(f"{x},{y}" for x in range(4) for y in range(4))
    for x in range(4):
        for y in range(4):
            for next_x, next_y in ((x + 1, y), (x, y + 1)):
                if max(next_x, next_y) < 4:
                    base, slope = random.random(2).tolist()
                    power = _power(players, degree, slope)
                    network.add_edge(f"{x},{y}", f"{next_x},{next_y}", cost=[base, *power[1:]])
    return network


NETWORKS: dict[str, Callable[[int, int, int], "nx.DiGraph[str]"]] = {
    "pigou": _pigou,
    "braess": _braess,
    "two-ways": _two_ways,
    "grid": _grid,
}
