"""Routing games by name: on a road network of its own, or on one from a file."""

from collections.abc import Sequence

from gamesim.errors import InputError, did_you_mean
from gamesim.game import MOST_PLAYERS
from gamesim.games.routing.game import HIGHEST_DEGREE, Routing
from gamesim.validation import at_least


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
    from gamesim.games import graphs  # these two import networkx, which takes long
    from gamesim.games.routing import roads

    at_least("players", players, 1)
    at_least("routes", routes, 1)
    if not 1 <= degree <= HIGHEST_DEGREE:
        raise InputError(f"degree must lie between 1 and {HIGHEST_DEGREE}, and {degree} came")
    asked = [_trip(trip) for trip in trips]
    if network in roads.NETWORKS:
        total = sum(count for _, _, count in asked) if asked else players
        found = roads.NETWORKS[network](total, degree, seed)
        first, *_, last = found
        return roads.routed(found, asked or [(first, last, players)], routes)
    if "." in network:
        found = graphs.read(network)
        if not asked:
            raise InputError(f"routing on {network} needs trips: lists of origin, destination and number of players")
        return roads.routed(found, asked, routes)
    known = did_you_mean(network, roads.NETWORKS)
    raise InputError(f"there is no road network {network!r}, nor is it a file: {known}")


def _trip(trip: Sequence[str | int]) -> tuple[str, str, int]:
    if len(trip) != 3 or isinstance(trip[2], bool) or not isinstance(trip[2], int) or not 1 <= trip[2] <= MOST_PLAYERS:
        raise InputError(f"a trip is an origin, a destination and a number of players, and {list(trip)} came")
    return str(trip[0]), str(trip[1]), trip[2]
