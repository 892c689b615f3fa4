"""Convert between graphs and arrays of edges.

networkx is slow to import, so it is imported only when a graph is built.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError

if TYPE_CHECKING:
    import networkx as nx


def ends(lengths: Sequence[int] | Integers) -> Integers:
    """Return the offsets of concatenated parts with these lengths, and the end of the last.

    >>> ends([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)


def inverse_scale(scale: Vector) -> Vector:
    """Return the units of loss per payoff unit of each player: 0 if its payoffs are equal, or only a subnormal differs.

    >>> inverse_scale(np.array([0.5, 0.0, 5e-324])).tolist()
    [2.0, 0.0, 0.0]
    """
    differs = scale >= np.finfo(np.float64).tiny
    return np.where(differs, 1 / np.where(differs, scale, 1.0), 0.0)


def players_and_edges(
    graph: str, settings: Mapping[str, Any] | None, default: Mapping[str, Mapping[str, Any]], seed: int
) -> tuple[tuple[str, ...], Integers]:
    """Return the nodes of a graph, and its edges as pairs of node numbers.

    Without `settings`, those under the graph's name in `default` are used, if any.

    >>> players, edges = players_and_edges("path", None, {"path": {"n": 3}}, seed=0)
    >>> players, edges.tolist()
    (('0', '1', '2'), [[0, 1], [1, 2]])
    """
    from gamesim.games import graphs

    found = graphs.graph(graph, default.get(graph, {}) if settings is None else settings, seed)
    if len(found) < 1:
        raise InputError("the graph must have at least one node, got none")
    number = {node: k for k, node in enumerate(found)}
    pairs = [(number[u], number[v]) for u, v in found.edges()]
    return tuple(found), np.array(pairs, dtype=np.int64).reshape(-1, 2)


def named_graph(players: Sequence[str], edges: Integers) -> "nx.Graph[str]":
    """Return the graph with these edges and the players' names as nodes."""
    import networkx as nx

    found: nx.Graph[str] = nx.Graph()
    found.add_nodes_from(players)
    found.add_edges_from((players[u], players[v]) for u, v in edges.tolist())
    return found


def check_edges(edges: Integers, players: int) -> None:
    """Validate edges; the kernels do no bounds checks."""
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype != np.int64:
        raise InputError(f"edges must be pairs of player numbers, got an array of shape {edges.shape}")
    if edges.size and (edges.min() < 0 or edges.max() >= players):
        raise InputError(f"edges must join players 0 to {players - 1}, got numbers from {edges.min()} to {edges.max()}")
    if (edges[:, 0] == edges[:, 1]).any():
        raise InputError("edges must join two different players, got one from a player to itself")
