"""Network games by name: on a graph of networkx, or on one from a file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.game import LARGEST_PAYOFF, MOST_PAYOFF_BYTES, Table
from gamesim.games import catalogue, tables
from gamesim.games.networks.edges import players_and_edges
from gamesim.games.networks.polymatrix_game import Polymatrix
from gamesim.games.networks.public_goods_game import LocalPublicGoods
from gamesim.validation import at_least

MOST_EFFORTS = 10**7  # of all players together, and of all neighbours of one player


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
    players, edges = players_and_edges(graph, graph_settings, {"random-regular": {"d": 4, "n": 10}}, seed)
    on_edges = list(_edge_games(game, game_settings or {}, len(edges), seed))
    actions: list[tuple[str, ...]] = [("1",)] * len(players)
    set_by: dict[int, int] = {}
    for (u, v), table in zip(edges.tolist(), on_edges, strict=True):
        for player, labels in zip((u, v), table.actions, strict=True):
            if set_by.setdefault(player, len(labels)) != len(labels):
                raise InputError(
                    f"polymatrix: a player needs the same number of actions in all games, and {game} has "
                    f"{table.sizes[0]} and {table.sizes[1]}: choose a game with as many for both"
                )
            actions[player] = labels
    bimatrices = np.concatenate([table.payoffs.ravel() for table in on_edges]) if on_edges else np.zeros(0)
    return Polymatrix("polymatrix", players, tuple(actions), edges, bimatrices)


def _edge_games(game: str, settings: Mapping[str, Any], count: int, seed: int) -> Iterator[Table]:
    """Yield a two-player game for each edge, drawn anew if it is random."""
    known = tables.available()
    first = catalogue.make(known, game, settings, what="two-player game")
    if len(first.players) != 2:
        raise InputError(f"polymatrix needs a two-player game on each edge, and {game} is none")
    if 2 * count * first.cells * 8 > MOST_PAYOFF_BYTES:
        raise InputError(f"{count} games of {first.cells} action pairs do not fit: take fewer edges or actions")
    is_random = "seed" in catalogue.takes(known[game]) and "seed" not in settings
    for number in np.random.default_rng(seed).integers(2**62, size=count).tolist():
        yield known[game](**settings, seed=number) if is_random else first


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
    if len(values) < 1 or not all(abs(value) <= LARGEST_PAYOFF for value in values):
        raise InputError(f"values must name what each action is worth to two who share it, and {list(values)} came")
    players, edges = players_and_edges(graph, graph_settings, {"cycle": {"n": 10}}, seed)
    if 2 * len(edges) * len(values) ** 2 * 8 > MOST_PAYOFF_BYTES:
        raise InputError(f"{len(edges)} edges with {len(values)} actions do not fit: take fewer of either")
    bimatrices = np.tile(np.diag(np.array(values, dtype=np.float64)).ravel(), 2 * len(edges))
    labels = tuple(str(k + 1) for k in range(len(values)))
    return Polymatrix("network-coordination", players, (labels,) * len(players), edges, bimatrices)


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
    players, edges = players_and_edges(graph, graph_settings, {"star": {"n": 5}}, seed)
    most = int(np.bincount(edges.ravel(), minlength=1).max(initial=0)) + 1
    if efforts * max(most, len(players)) > MOST_EFFORTS:
        raise InputError(f"{efforts} efforts of {len(players)} players are too many: take fewer of either")
    benefit = 1 - decay ** np.arange(efforts * most + 1, dtype=np.float64)
    labels = tuple(str(k) for k in range(efforts + 1))
    return LocalPublicGoods("local-public-goods", players, (labels,) * len(players), edges, benefit, cost)
