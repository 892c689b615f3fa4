"""Graphs for network games, from networkx generators or from files."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import networkx as nx

from gamesim.errors import InputError
from gamesim.game import LARGEST_PAYOFF
from gamesim.games.generators import generated
from gamesim.games.io.text import read_text

LARGEST_GRAPH = 10**6  # limit on the nodes and on the edges of a graph in a file
_FILES = (".graphml", ".edgelist", ".edges", ".txt")


def graph(name: str, settings: Mapping[str, Any], seed: int) -> "nx.Graph[str]":
    """Return an undirected graph by the name of a networkx generator, or from a file.

    "cycle" stands for `networkx.cycle_graph`. Files are GraphML or edge lists.

    >>> sorted(graph("cycle", {"n": 4}, seed=0).edges)
    [('0', '1'), ('0', '3'), ('1', '2'), ('2', '3')]
    """
    if name.lower().endswith(_FILES):
        if settings:
            raise InputError(f"{name}: a graph from a file has no settings, got {', '.join(settings)}")
        found = read(name).to_undirected()
    else:
        found = generated(name, settings, seed)
    plain: nx.Graph[str] = nx.Graph()
    plain.add_nodes_from(str(node) for node in found)
    plain.add_edges_from((str(u), str(v)) for u, v in found.edges() if u != v)
    if len(plain) != len(found):
        raise InputError(f"{name}: some nodes of the graph have the same name")
    return plain


def read(path: str | Path) -> "nx.DiGraph[str]":
    """Return the directed graph in a file, with polynomial coefficients as edge attribute `cost`.

    An edge list has one line `from to` per edge, optionally followed by coefficients, lowest power first; # starts a
    comment. GraphML files have the coefficients in an attribute `cost`, separated by spaces. An undirected edge becomes
    two directed edges.
    """
    path = Path(path)
    found = _graphml(path) if path.suffix.lower() == ".graphml" else _edge_list(path)
    if not found:
        raise InputError(f"{path}: expected a graph, found no nodes")
    _refuse_large(str(path), found)
    return found


def _edge_list(path: Path) -> "nx.DiGraph[str]":
    found: nx.DiGraph[str] = nx.DiGraph()
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = line.split("#")[0].split()
        if words:
            place = f"{path}, line {number}"
            if len(words) < 2:
                raise InputError(f"{place}: expected two nodes, got {words[0]!r}")
            if found.has_edge(words[0], words[1]):
                raise InputError(f"{place}: expected each edge once, got {words[0]} {words[1]} again")
            found.add_edge(words[0], words[1], cost=_coefficients(words[2:], place))
    return found


def _graphml(path: Path) -> "nx.DiGraph[str]":
    from xml.etree.ElementTree import ParseError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of attributes without a type, which are then text, as costs are
            raw = nx.read_graphml(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (nx.NetworkXException, ParseError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a GraphML file: {error}") from None
    if raw.is_multigraph():
        raise InputError(f"{path}: expected at most one edge between two nodes, found several")
    found: nx.DiGraph[str] = nx.DiGraph()
    found.add_nodes_from(str(node) for node in raw)
    for u, v, data in raw.edges(data=True):
        cost = _coefficients(str(data.get("cost", "")).split(), f"{path}, edge {u} {v}")
        found.add_edge(str(u), str(v), cost=cost)
        if not raw.is_directed():
            found.add_edge(str(v), str(u), cost=cost)
    return found


def _coefficients(words: list[str], place: str) -> list[float]:
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not 0 <= value <= LARGEST_PAYOFF:
            raise InputError(f"{place}: expected coefficients of at least 0, got {word[:40]!r}")
        values.append(value)
    return values


def _refuse_large(name: str, found: "nx.Graph[str]") -> None:
    if max(len(found), found.number_of_edges()) > LARGEST_GRAPH:
        size = f"{len(found)} nodes and {found.number_of_edges()} edges"
        raise InputError(f"{name}: the graph has {size}; the limit is {LARGEST_GRAPH} of each")
