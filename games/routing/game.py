"""Atomic routing games: players choose routes, and roads slow down with their load."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gamesim.engine.compiled import Integers, Vector, kernel
from gamesim.engine.layout import IntegerLayout, Layout
from gamesim.errors import InputError
from gamesim.game import Arrays
from gamesim.games.networks.contract import NetworkGame
from gamesim.games.networks.edges import ends, inverse_scale
from gamesim.games.routing.social_cost import RouteGroup, least_social_cost, road_times
from gamesim.validation import action_labels, whole_numbers

if TYPE_CHECKING:
    import networkx as nx

HIGHEST_DEGREE = 8  # highest power of the load in a road's time
LARGEST_COEFFICIENT = 1e100  # limit on the coefficients of a road's time


class _Network(NamedTuple):
    players: int
    roads: int
    degree: int
    uses: int  # a use is a (player, road) pair with the road on some route of the player
    routes: int
    use_begin: Integers  # where each player's uses begin
    use_road: Integers
    road_begin: Integers  # where each road's uses begin, in `road_use`
    road_use: Integers
    route_begin: Integers  # where each player's routes begin
    step_begin: Integers  # where each route's steps begin
    step_use: Integers


_NETWORK = IntegerLayout(
    _Network,
    "",
    players="int",
    roads="int",
    degree="int",
    uses="int",
    routes="int",
    use_begin="players + 1",
    use_road="uses",
    road_begin="roads + 1",
    road_use="uses",
    route_begin="players + 1",
    step_begin="routes + 1",
    step_use="rest",
)
_network_view = _NETWORK.view


class _Data(NamedTuple):
    binomials: Vector  # coefficients of each road's time in binomials of the number of others on it
    middle: Vector  # times become losses by (time - middle) · inverse
    inverse: Vector


_DATA = Layout(_Data, "roads width players", binomials="roads * width", middle="players", inverse="players")
_data_view = _DATA.view


class _Scratch(NamedTuple):
    chance: Vector
    time: Vector
    symmetric: Vector


_SCRATCH = Layout(_Scratch, "uses", chance="uses", time="uses", symmetric="rest")
_scratch_view = _SCRATCH.view


# The number X of others on a road is a sum of independent Bernoulli variables with probabilities q_j. With the time of
# 1 + X users written in binomials, Σ_k β_k C(X, k), its expectation is Σ_k β_k e_k, where e_k = E C(X, k) is the k-th
# elementary symmetric polynomial of the q_j. Removing a player with probability q gives e'_k = e_k - q e'_(k-1).


@kernel
def _chances(
    first_player: int,
    end_player: int,
    integers: Integers,
    data: Vector,
    shared: Vector,
    own: Vector,
    profile: Vector,
    losses: Vector,
) -> None:
    """Write the probability with which each player uses each road."""
    network = _network_view(integers)
    chance = _scratch_view(shared, network.uses).chance
    for use in range(network.use_begin[first_player], network.use_begin[end_player]):
        chance[use] = 0.0
    for route in range(network.route_begin[first_player], network.route_begin[end_player]):
        for step in range(network.step_begin[route], network.step_begin[route + 1]):
            chance[network.step_use[step]] += profile[route]


@kernel
def _symmetric_polynomials(
    first_player: int,
    end_player: int,
    integers: Integers,
    data: Vector,
    shared: Vector,
    own: Vector,
    profile: Vector,
    losses: Vector,
) -> None:
    """Write the elementary symmetric polynomials of each road's probabilities, for a share of the roads."""
    network = _network_view(integers)
    chance, _, symmetric = _scratch_view(shared, network.uses)
    width = network.degree + 1
    shares = network.roads * first_player // network.players, network.roads * end_player // network.players
    for road in range(shares[0], shares[1]):
        start = road * width
        symmetric[start] = 1.0
        for k in range(1, width):
            symmetric[start + k] = 0.0
        for use in range(network.road_begin[road], network.road_begin[road + 1]):
            q = chance[network.road_use[use]]
            for k in range(network.degree, 0, -1):
                symmetric[start + k] += q * symmetric[start + k - 1]


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
    """Compute each road's expected time for each player who may use it, and sum along the routes."""
    network = _network_view(integers)
    width = network.degree + 1
    binomials, middle, inverse = _data_view(data, network.roads, width, network.players)
    chance, time, symmetric = _scratch_view(shared, network.uses)
    for use in range(network.use_begin[first_player], network.use_begin[end_player]):
        start = network.use_road[use] * width
        others = 1.0
        time[use] = binomials[start]
        for k in range(1, width):
            others = symmetric[start + k] - chance[use] * others
            time[use] += binomials[start + k] * others
    for player in range(first_player, end_player):
        for route in range(network.route_begin[player], network.route_begin[player + 1]):
            total = 0.0
            for step in range(network.step_begin[route], network.step_begin[route + 1]):
                total += time[network.step_use[step]]
            losses[route] = min(1.0, max(-1.0, (total - middle[player]) * inverse[player]))


@kernel
def _routing_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Write the losses of all players."""
    players = _network_view(integers).players
    _chances(0, players, integers, data, scratch, scratch, profile, losses)
    _symmetric_polynomials(0, players, integers, data, scratch, scratch, profile, losses)
    _losses_of(0, players, integers, data, scratch, scratch, profile, losses)


@dataclass(frozen=True, eq=False, repr=False)
class Routing(NetworkGame):
    """Represent an atomic routing game, in which roads slow down with their load.

    Each player chooses a route. Its payoff is minus its travel time.

    Parameters
    ----------
    name : str
        Name of the game.
    players : tuple of str
        Names of the players.
    actions : tuple of tuple of str
        Labels of the routes, one tuple per player.
    nodes : tuple of str
        Names of the nodes.
    roads : array of int, shape (roads, 2)
        Start and end of each road, as positions in `nodes`.
    coefficients : array of float, shape (roads, degree + 1)
        Coefficients of each road's time, lowest power first, in units of time.
    lengths : array of int
        Number of roads on each route, player after player.
    steps : array of int
        Roads of all routes, route after route.

    Notes
    -----
    Source: Rosenthal (1973), "The network equilibrium problem in integers".

    Payoffs, with x players on a road:

        time(road) = Σ_k coefficients[road, k] x^k
        u_i = -(sum of the times of the roads on i's route)

    Expected losses are exact and take O(degree) time for each road on a route. `range` encloses a player's payoffs. It
    is attained if all players who can use the roads of the slowest route do so, and none uses those of the quickest.

    Examples
    --------
    >>> from gamesim import games
    >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
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
    stages = (_chances, _symmetric_polynomials, _losses_of)

    def __post_init__(self) -> None:
        count = len(self.roads)
        if self.roads.ndim != 2 or self.roads.shape[1] != 2 or self.coefficients.shape[:1] != (count,):
            raise InputError("roads must be pairs of node numbers, with one row of coefficients each")
        if self.roads.size and (self.roads.min() < 0 or self.roads.max() >= len(self.nodes)):
            raise InputError(f"roads must join nodes 0 to {len(self.nodes) - 1}")
        if self.coefficients.ndim != 2 or not 1 <= self.coefficients.shape[1] <= HIGHEST_DEGREE + 1:
            raise InputError(f"a road's time must be a polynomial of degree at most {HIGHEST_DEGREE}")
        if not ((self.coefficients >= 0) & (self.coefficients <= LARGEST_COEFFICIENT)).all():
            raise InputError("the coefficients of roads must be from 0 to 1e100")
        if self.lengths.shape != (sum(self.sizes),) or self.lengths.min() < 0 or self.lengths.sum() != self.steps.size:
            raise InputError(f"{sum(self.sizes)} routes need as many lengths, which must sum to the number of steps")
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
        """The pairs (player, road) on some route, as player · roads + road, and the pair of each step."""
        uses, of_step = np.unique(self._player_of_step * len(self.roads) + self.steps, return_inverse=True)
        return uses, of_step.reshape(-1)

    def times(self, loads: ArrayLike) -> Vector:
        """Return the time of each road under these loads.

        Parameters
        ----------
        loads : array_like of float, shape (..., roads)
            The number of players on each road.

        Returns
        -------
        ndarray of float, shape (..., roads)
            The time of each road, in units of time.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.times([1, 2, 2]).tolist()  # on s-t, s-v and v-t
        [1.0, 1.0, 0.0]
        """
        return road_times(self.coefficients, loads)

    @cached_property
    def range(self) -> tuple[Vector, Vector]:
        """Return bounds on each player's payoff, in payoff units.

        The lower bound has all possible users on the slowest route; the upper has the player alone on the quickest.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
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
        binomials = self.coefficients @ _in_binomials(width, lambda x, power: (1 + x) ** power)
        inverse = inverse_scale(self.scale)
        network = _NETWORK.pack(
            players=count,
            roads=roads,
            degree=width - 1,
            uses=len(uses),
            routes=len(self.lengths),
            use_begin=ends(np.bincount(uses // roads, minlength=count)),
            use_road=uses % roads,
            road_begin=ends(np.bincount(uses % roads, minlength=roads)),
            road_use=np.argsort(uses % roads, kind="stable"),
            route_begin=ends(self.sizes),
            step_begin=ends(self.lengths),
            step_use=of_step,
        )
        data = _DATA.pack(roads, width, count, binomials=binomials, middle=-self.middle, inverse=inverse)
        return network, data, 2 * len(uses) + roads * width

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        return self._prepared

    def payoffs_of(self, choices: Sequence[int]) -> Vector:  # noqa: D102
        begin = ends(self.lengths)
        chosen = ends(self.sizes)[:-1] + np.array(choices)
        ways = [self.steps[begin[route] : begin[route + 1]] for route in chosen]
        times = self.times(np.bincount(np.concatenate(ways), minlength=len(self.roads)))
        return np.array([-times[way].sum() for way in ways])

    def chances(self, profile: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the probability that each player uses each road.

        Parameters
        ----------
        profile : array_like of float
            The mixed strategies of all players over their routes, concatenated.

        Returns
        -------
        ndarray of float, shape (players, roads)
            The probability of each player (row) using each road (column).

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.chances([1.0, 0.0, 0.25, 0.75]).tolist()
        [[0.0, 1.0, 1.0], [0.75, 0.25, 0.25]]
        """
        found = np.zeros((len(self.players), len(self.roads)))
        np.add.at(found, (self._player_of_step, self.steps), np.repeat(np.asarray(profile), self.lengths))
        return found

    def loads(self, profile: ArrayLike) -> Vector:
        """Return the expected number of players on each road.

        Parameters
        ----------
        profile : array_like of float
            The mixed strategies of all players over their routes, concatenated.

        Returns
        -------
        ndarray of float, shape (roads,)
            The expected number of players on each road.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.loads([1.0, 0.0, 0.25, 0.75]).tolist()  # on s-t, s-v and v-t
        [0.75, 1.25, 1.25]
        """
        expected: Vector = self.chances(profile).sum(axis=0)
        return expected

    def social_cost(self, profile: ArrayLike) -> float:
        """Return the exact expected total time of a profile.

        Parameters
        ----------
        profile : array_like of float
            The mixed strategies of all players over their routes, concatenated.

        Returns
        -------
        float
            The sum over roads of E[load · time(load)], in units of time.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
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

    def _route_groups(self) -> list[RouteGroup]:
        """Group the players that have the same routes."""
        begin, first = ends(self.lengths), ends(self.sizes)
        counts: Counter[tuple[tuple[int, ...], ...]] = Counter()
        for a, b in pairwise(first):
            counts[tuple(tuple(self.steps[begin[route] : begin[route + 1]].tolist()) for route in range(a, b))] += 1
        return [RouteGroup.of(players, routes, len(self.roads)) for routes, players in counts.items()]

    @cached_property
    def least_social_cost(self) -> tuple[float, bool]:
        """Return the minimum total time, and whether it is exact.

        If it is not exact, it is a lower bound. The time is in units of time.

        Up to 2^18 assignments of players to routes are enumerated. Beyond that, the bound comes from the convex
        relaxation with divisible players (Frank and Wolfe, 1956).

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.least_social_cost
        (1.5, True)
        """
        return least_social_cost(self._route_groups(), self.coefficients)

    def price_of_anarchy(self, welfare: float) -> float:
        """Return the ratio of the total time to the minimum total time.

        Parameters
        ----------
        welfare : float
            The expected sum of all payoffs per round: minus the total time.

        Returns
        -------
        float
            The ratio of the total time to the minimum, an upper bound on it if the minimum is not exact.

        Raises
        ------
        InputError
            If the minimum total time is 0.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> game.price_of_anarchy(game.welfare([1.0, 0.0, 1.0, 0.0]))  # both on the narrow road
        1.3333333333333333
        """
        least, _ = self.least_social_cost
        if least <= 0:
            raise InputError(f"{self.name} has a minimum total time of 0, so the price of anarchy is undefined")
        return -welfare / least

    @cached_property
    def graph(self) -> "nx.DiGraph[str]":
        """Return the road network, with each road's time coefficients as `cost`.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("routing", network="pigou", players=2)  # a road of time 1, or one of time load / 2
        >>> sorted(game.graph.edges(data="cost"))
        [('s', 't', [1.0, 0.0]), ('s', 'v', [0.0, 0.5]), ('v', 't', [0.0, 0.0])]
        """
        import networkx as nx

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


def _in_binomials(width: int, power_of: Callable[[int, int], int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return in row p the integers β with power_of(x, p) = Σ_k β_k C(x, k), by finite differences.

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
