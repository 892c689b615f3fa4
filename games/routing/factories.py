"""Routing games by name, on a built-in road network or one from a file."""

from collections.abc import Sequence

from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import shown
from gamesim.games.limits import Need, actions_of_one, limited, refuse_beyond
from gamesim.games.routing.game import HIGHEST_DEGREE, Routing
from gamesim.validation import at_least

MOST_DRIVERS = 2**17


@limited()
def routing(
    network: str = "braess",
    players: int = 10,
    trips: Sequence[Sequence[str | int]] = (),
    routes: int = 4,
    degree: int = 1,
    seed: int = 0,
) -> Routing:
    """Atomic routing: drivers choose routes through a network and slow each other.

    Parameters
    ----------
    network : str, default "braess"
        One of "pigou", "braess", "two-ways" (Braess's network without the shortcut) and "grid" (4 × 4, random times
        drawn from `seed`); or a GraphML or edge-list file whose edges carry the coefficients of polynomials.
    players : int, default 10
        Number of drivers, at least 1, from the first node to the last. Ignored if there are trips.
    trips : sequence of (origin, destination, players), optional
        Trips of several kinds of drivers. Required for a network from a file.
    routes : int, default 4
        How many of the quickest routes on empty roads each driver chooses from, at least 1.
    degree : int, default 1
        Power of the load in the times of named networks, from 1 to 8.
    seed : int, default 0
        Seed of the grid's times.

    Notes
    -----
    Source: Rosenthal (1973), "The network equilibrium problem in integers"; Roughgarden and Tardos (2002).

    Payoffs:

        u_i = -(sum of the times of the roads on i's route)
        time of a road = Σ_k coefficients[k] · load^k

    Teaches: The price of anarchy. With affine times it is 4/3 on pigou and braess with an even number of drivers, and
    never above 5/2, even for coarse correlated equilibria (Roughgarden, 2009).

    Examples
    --------
    >>> routing("pigou", players=4).actions[0]
    ('s-v-t', 's-t')
    """
    from gamesim.games import graphs  # these two import networkx, which is slow
    from gamesim.games.routing import roads

    at_least("players", players, 1)
    at_least("routes", routes, 1)
    if not 1 <= degree <= HIGHEST_DEGREE:
        raise InputError(f"degree must be from 1 to {HIGHEST_DEGREE}, got {degree}")
    asked = [_trip(trip) for trip in trips]
    total = sum(count for _, _, count in asked) if asked else players
    drivers = Need("{amount} drivers", total, MOST_DRIVERS)
    refuse_beyond("routing", {"trips": trips} if asked else {"players": players}, [drivers])
    refuse_beyond("routing", {"routes": routes}, [actions_of_one(routes)])
    if network in roads.NETWORKS:
        found = roads.NETWORKS[network](total, degree, seed)
        first, *_, last = found
        return roads.routed(found, asked or [(first, last, players)], routes)
    if "." in network:
        found = graphs.read(network)
        if not asked:
            raise InputError(f"routing on {network} needs trips: lists of origin, destination and number of players")
        return roads.routed(found, asked, routes)
    known = did_you_mean(network, roads.NETWORKS)
    raise InputError(f"unknown road network {network!r}, which is not a file either; {known}")


def _trip(trip: Sequence[str | int]) -> tuple[str, str, int]:
    if len(trip) != 3 or isinstance(trip[2], bool) or not isinstance(trip[2], int) or trip[2] < 1:
        raise InputError(f"trips must be lists of an origin, a destination and a number of players, got {shown(trip)}")
    return str(trip[0]), str(trip[1]), trip[2]
