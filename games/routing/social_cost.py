"""The minimum total time of players on roads: enumerated, or bounded if there are too many assignments."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Vector
from gamesim.games.divisions import divisions, number_of_divisions

MOST_ASSIGNMENTS = 2**18  # limit on the assignments of players to routes to enumerate
_MOST_LOADS = 16 * MOST_ASSIGNMENTS  # limit on road loads over all assignments


@dataclass(frozen=True)
class RouteGroup:
    """Players with the same routes: their number, and a 0-1 matrix of the roads (columns) on each route (row)."""

    players: int
    routes: NDArray[np.float64]

    @classmethod
    def of(cls, players: int, routes: Sequence[Sequence[int]], roads: int) -> "RouteGroup":
        """Return the group of `players` players with these routes, given as sequences of roads."""
        uses = np.zeros((len(routes), roads))
        for row, route in enumerate(routes):
            uses[row, list(route)] = 1
        return cls(players, uses)


def road_times(coefficients: NDArray[np.float64], loads: ArrayLike) -> Vector:
    """Return the time of each road (last axis) under these loads: Σ_k coefficients[road, k] load^k.

    >>> road_times(np.array([[1.0, 0.0], [0.0, 0.5]]), [[3, 3], [0, 1]]).tolist()
    [[1.0, 1.5], [1.0, 0.5]]
    """
    powers = np.asarray(loads, dtype=np.float64)[..., None] ** np.arange(coefficients.shape[1])
    taken: Vector = (powers * coefficients).sum(axis=-1)
    return taken


def least_social_cost(groups: Sequence[RouteGroup], coefficients: NDArray[np.float64]) -> tuple[float, bool]:
    """Return the minimum total time, and whether it is exact; if not, it is a lower bound.

    >>> two_roads = RouteGroup.of(2, [[0], [1]], 2)  # of time 1, and of time load / 2
    >>> least_social_cost([two_roads], np.array([[1.0, 0.0], [0.0, 0.5]]))
    (1.5, True)
    """
    roads = len(coefficients)
    ways = prod(number_of_divisions(group.players, len(group.routes)) for group in groups)
    if ways * roads > _MOST_LOADS or ways > MOST_ASSIGNMENTS:
        return divisible_bound(groups, coefficients), False
    loads = np.zeros((1, roads))
    for group in groups:
        own = divisions(group.players, len(group.routes)) @ group.routes
        loads = (loads[:, None] + own[None]).reshape(-1, roads)
    return float((loads * road_times(coefficients, loads)).sum(axis=1).min()), True


def divisible_bound(groups: Sequence[RouteGroup], coefficients: NDArray[np.float64], steps: int = 300) -> float:
    """Return a lower bound on the minimum total time after `steps` Frank-Wolfe steps (1956).

    With divisible players the minimum can only be smaller, and the total is convex, hence above its tangents.

    >>> two_roads = RouteGroup.of(2, [[0], [1]], 2)  # of time 1, and of time load / 2
    >>> round(divisible_bound([two_roads], np.array([[1.0, 0.0], [0.0, 0.5]])), 3)
    1.5
    """
    powers = np.arange(coefficients.shape[1])
    flows = [np.full(len(group.routes), group.players / len(group.routes)) for group in groups]
    best = 0.0
    for number in range(steps):
        loads = np.sum([flow @ group.routes for flow, group in zip(flows, groups, strict=True)], axis=0)
        marginal = (loads[:, None] ** powers * coefficients * (powers + 1)).sum(axis=1)
        bound = float((loads * road_times(coefficients, loads)).sum())
        for k, group in enumerate(groups):
            slope = group.routes @ marginal
            target = np.zeros(len(slope))
            target[slope.argmin()] = group.players
            bound += float(slope @ (target - flows[k]))
            flows[k] += 2 / (number + 2) * (target - flows[k])
        best = max(best, bound)
    return best
