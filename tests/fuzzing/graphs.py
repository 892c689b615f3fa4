"""Road networks in files: edge lists and GraphML, mutated, read, and driven on."""

import io
from pathlib import Path
from random import Random

import networkx as nx

from gamesim import games
from gamesim.games import graphs
from tests.fuzzing import texts
from tests.fuzzing.game_files import ask_for_losses
from tests.fuzzing.scenarios import SMALL
from tests.fuzzing.values import Input, some

_NODES = ("s", "v", "w", "t", "a b", "é", "1")
_WORDS = (
    *("s", "t", "0.5", "1", "#", "<node id='s'/>", "<edge source='s' target='t'/>", "cost", "directed", "&lol;"),
    "</graph>",
)
_ENTITIES = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY lol "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY file SYSTEM "/etc/passwd">]>"""


def make(random: Random) -> Input:
    """Return a network file, as an edge list or as GraphML."""
    if random.random() < 0.5:
        return {"roads.edges": texts.mutated(random, _edge_list(random), _WORDS, [_edge_list(random)])}
    text = _graphml(random)
    if random.random() < 0.1:
        text = text.replace("<graphml", f"{_ENTITIES}<graphml", 1)
    return {"roads.graphml": texts.mutated(random, text, _WORDS, [_graphml(random)])}


def _edge_list(random: Random) -> str:
    lines = ["# roads", "s v 0 1", "v t 1", "s t 2 0.5"]
    lines += [
        f"{some(random, 'svwt')} {some(random, 'svwt')} {random.randint(0, 3)}" for _ in range(random.randint(0, 3))
    ]
    return "\n".join(lines) + "\n"


def _graphml(random: Random) -> str:
    roads: nx.DiGraph[str] = nx.DiGraph()
    for _ in range(random.randint(2, 6)):
        roads.add_edge(some(random, _NODES), some(random, _NODES), cost=some(random, ("1", "0 1", "2 0.5", "", "x")))
    out = io.BytesIO()
    nx.write_graphml(roads, out)
    return out.getvalue().decode()


def use(given: Input, folder: Path) -> None:
    """Read a network and make routing and coordination games on it, if it is small."""
    (name,) = given
    found = graphs.read(folder / name)
    if len(found) <= SMALL:
        games.make("network-coordination", graph=str(folder / name))
        game = games.make("routing", network=str(folder / name), trips=[[*list(found)[:1], *list(found)[-1:], 2]])
        ask_for_losses(game)
