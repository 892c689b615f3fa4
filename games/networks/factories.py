"""Network games by name, on a networkx graph or one from a file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games import catalogue, tables
from gamesim.games.limits import Need, actions_of_one, arithmetic, limited, needs_of, payoffs, refuse_beyond
from gamesim.games.networks.edges import players_and_edges
from gamesim.games.networks.polymatrix_game import Polymatrix
from gamesim.games.networks.public_goods_game import LocalPublicGoods
from gamesim.validation import at_least

STEPS_PER_GAME = 2**12  # steps of arithmetic that take as long as building a small game


@limited()
def polymatrix(
    graph: str = "random-regular",
    graph_settings: Mapping[str, Any] | None = None,
    game: str = "uniform",
    game_settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Polymatrix:
    """A polymatrix game: a two-player game on every edge of a graph.

    Each player uses one action against all neighbours and gets the sum of the payoffs.

    Parameters
    ----------
    graph : str, default "random-regular"
        Name of a networkx generator without `_graph` (random-regular, cycle, star, grid-2d, erdos-renyi, ...), or a
        GraphML or edge-list file.
    graph_settings : mapping, optional
        Settings of the generator. By default random-regular has `{"d": 4, "n": 10}`.
    game : str, default "uniform"
        Name of a two-player game with a table.
    game_settings : mapping, optional
        Settings of the game. A random game without a seed here is drawn anew for each edge.
    seed : int, default 0
        Seed of the graph and of the games.

    Notes
    -----
    Source: Janovskaja (1968); Kearns, Littman and Singh (2001), "Graphical models for game theory".

    Payoffs:

        u_i(a) = Σ over neighbours j of u_ij(a_i, a_j)

    Teaches: Thousands of players can play one game, because memory grows with the number of edges. With zero-sum games
    on the edges the average strategies of no-regret learners still converge (Cai and Daskalakis, 2011).

    Examples
    --------
    >>> polymatrix("cycle", {"n": 5}, "matching-pennies").sizes
    (2, 2, 2, 2, 2)
    """
    players, edges = players_and_edges(graph, graph_settings, {"random-regular": {"d": 4, "n": 10}}, seed)
    on_edges = list(_edge_games(game, game_settings or {}, len(edges), seed))
    actions: list[tuple[str, ...]] = [("1",)] * len(players)
    set_by: dict[int, int] = {}
    for (u, v), table in zip(edges.tolist(), on_edges, strict=True):
        for player, labels in zip((u, v), table.actions, strict=True):
            if set_by.setdefault(player, len(labels)) != len(labels):
                raise InputError(
                    f"polymatrix: a player must have the same number of actions in all games, got {game} with "
                    f"{table.sizes[0]} and {table.sizes[1]}; choose a game with equal numbers"
                )
            actions[player] = labels
    bimatrices = np.concatenate([table.payoffs.ravel() for table in on_edges]) if on_edges else np.zeros(0)
    return Polymatrix("polymatrix", players, tuple(actions), edges, bimatrices)


def _edge_games(game: str, settings: Mapping[str, Any], count: int, seed: int) -> Iterator[Table]:
    """Yield one two-player game per edge; random games are drawn anew for each."""
    known = tables.available()
    first = catalogue.make(known, game, settings, what="two-player game")
    if len(first.players) != 2:
        raise InputError(f"polymatrix needs a two-player game on each edge; {game} has {len(first.players)} players")
    is_random = "seed" in catalogue.takes(known[game]) and "seed" not in settings
    steps = needs_of(known[game], settings)[-1].amount + STEPS_PER_GAME if is_random else 0
    per_edge = 2 * first.cells + steps
    needs = [payoffs(2 * count * first.cells), arithmetic(count * per_edge)]
    of_size = {"edges": count, "action pairs": first.cells}
    refuse_beyond("polymatrix", of_size, needs, reduce=["graph_settings", "game_settings"])
    for number in np.random.default_rng(seed).integers(2**62, size=count).tolist():
        yield known[game](**settings, seed=number) if is_random else first


@limited()
def network_coordination(
    graph: str = "cycle",
    graph_settings: Mapping[str, Any] | None = None,
    values: Sequence[float] = (1.0, 1.0),
    seed: int = 0,
) -> Polymatrix:
    """Coordination on a graph: conventions, fashions, standards.

    Neighbours want to choose the same action, or different actions if the values are negative.

    Parameters
    ----------
    graph : str, default "cycle"
        Name of a networkx generator without `_graph` (random-regular, cycle, star, grid-2d, erdos-renyi, ...), or a
        GraphML or edge-list file.
    graph_settings : mapping, optional
        Settings of the generator. By default cycle has `{"n": 10}`.
    values : sequence of float, default (1.0, 1.0)
        What each action is worth to two neighbours who share it.
    seed : int, default 0
        Seed of the graph, if it is random.

    Notes
    -----
    Source: Morris (2000), "Contagion"; with negative values, the colouring game of Kearns, Suri and Montfort (2006).

    Payoffs:

        u_i(a) = values[a_i] · (number of neighbours j with a_j = a_i)

    Teaches: With equal values, islands of different conventions survive on sparse graphs. A convention worth more
    spreads by contagion: on a cycle it takes over from any two adjacent players.

    Examples
    --------
    >>> network_coordination("path", {"n": 3}, values=(1.0, 2.0)).payoffs_of([1, 1, 0]).tolist()
    [2.0, 2.0, 0.0]
    """
    if not values:
        raise InputError("values must have at least one entry, one per action, got none")
    players, edges = players_and_edges(graph, graph_settings, {"cycle": {"n": 10}}, seed)
    of_size = {"edges": len(edges), "values": values}
    needs = [actions_of_one(len(values)), payoffs(2 * len(edges) * len(values) ** 2)]
    refuse_beyond("network-coordination", of_size, needs, reduce=["graph_settings", "values"])
    bimatrices = np.tile(np.diag(np.array(values, dtype=np.float64)).ravel(), 2 * len(edges))
    labels = tuple(str(k + 1) for k in range(len(values)))
    return Polymatrix("network-coordination", players, (labels,) * len(players), edges, bimatrices)


@limited()
def local_public_goods(
    graph: str = "star",
    graph_settings: Mapping[str, Any] | None = None,
    efforts: int = 1,
    decay: float = 0.5,
    cost: float = 0.4,
    seed: int = 0,
) -> LocalPublicGoods:
    """Local public goods: efforts on a graph that help the neighbours too.

    Parameters
    ----------
    graph : str, default "star"
        Name of a networkx generator without `_graph` (random-regular, cycle, star, grid-2d, erdos-renyi, ...), or a
        GraphML or edge-list file.
    graph_settings : mapping, optional
        Settings of the generator. By default star has `{"n": 5}`, a centre and five leaves.
    efforts : int, default 1
        Largest effort, at least 1. Efforts are 0, ..., `efforts`.
    decay : float, default 0.5
        How quickly the benefit of efforts saturates, from 0 to below 1. With 0, one unit of effort nearby is all
        that is needed.
    cost : float, default 0.4
        Cost per unit of own effort, at least 0.
    seed : int, default 0
        Seed of the graph, if it is random.

    Notes
    -----
    Source: Bramoullé and Kranton (2007), "Public goods in networks"; decay 0 is the best-shot game of Galeotti, Goyal,
    Jackson, Vega-Redondo and Yariv (2010).

    Payoffs:

        x_i = e_i + Σ over neighbours j of e_j
        u_i = 1 - decay^x_i - cost · e_i

    Teaches: Specialists and free riders. If decay (1 - decay) < cost < 1 - decay, as by default, the pure equilibria
    are the maximal independent sets of the graph: no two neighbours work, and every other player has a neighbour who
    does.

    Examples
    --------
    >>> local_public_goods("star", {"n": 2}).payoffs_of([1, 0, 0]).round(9).tolist()  # only the centre works
    [0.1, 0.5, 0.5]
    """
    at_least("efforts", efforts, 1)
    if not 0 <= decay < 1:
        raise InputError(f"decay must be at least 0 and below 1, got {decay}")
    at_least("cost", cost, 0)
    players, edges = players_and_edges(graph, graph_settings, {"star": {"n": 5}}, seed)
    degrees = np.bincount(edges.ravel(), minlength=1)
    most = int(degrees.max()) + 1
    of_size = {"efforts": efforts, "neighbours": most - 1}
    needs = _needs_of_efforts(efforts, most, int((degrees**2).sum()))
    refuse_beyond("local-public-goods", of_size, needs, reduce=["efforts", "graph_settings"])
    benefit = 1 - decay ** np.arange(efforts * most + 1, dtype=np.float64)
    labels = tuple(str(k) for k in range(efforts + 1))
    return LocalPublicGoods("local-public-goods", players, (labels,) * len(players), edges, benefit, cost)


def _needs_of_efforts(efforts: int, most: int, squared_degrees: int) -> Iterator[Need]:
    """Yield what local public goods need: payoffs per effort and total, and the arithmetic of a round."""
    yield actions_of_one(efforts + 1)
    yield payoffs((efforts + 1) * (efforts * most + 1))
    yield arithmetic(squared_degrees * efforts * (efforts + 1))
