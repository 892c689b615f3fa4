"""Network games: their kernels against the full tables, their files, and the prices of anarchy that they show."""

from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gamesim
from gamesim import games
from gamesim.errors import InputError
from gamesim.games.io import interop
from gamesim.games.networks import (
    LocalPublicGoods,
    NetworkGame,
    Polymatrix,
    local_public_goods,
    network_coordination,
    polymatrix,
)
from gamesim.games.routing import Routing, routing
from gamesim.games.routing.social_cost import divisible_bound

pytestmark = pytest.mark.slow

PATH = {"n": 4}
TRIPS: list[list[str | int]] = [["0,0", "3,3", 2], ["0,1", "2,3", 2], ["1,0", "1,3", 1]]
SMALL: list[NetworkGame] = [
    polymatrix("path", PATH, "uniform", {"actions": 3}, seed=1),
    polymatrix("star", {"n": 4}, "covariant", {"actions": 2, "correlation": -0.5}, seed=2),
    polymatrix("complete", {"n": 6}, "chicken"),
    polymatrix("gnp-random", {"n": 6, "p": 0.3}, "shapley", seed=3),
    polymatrix("cycle", {"n": 5}, "matching-pennies"),
    network_coordination("wheel", {"n": 5}, [1.0, 2.5, -1.0]),
    local_public_goods("star", {"n": 5}),
    local_public_goods("gnp-random", {"n": 6, "p": 0.5}, efforts=2, decay=0.3, cost=0.1, seed=2),
    local_public_goods("path", {"n": 3}, efforts=3, decay=0.0),
    routing("pigou", players=6),
    routing("braess", players=5),
    routing("two-ways", players=4, degree=3),
    routing("grid", players=4, degree=2, seed=1),
    routing("grid", trips=TRIPS, routes=3, degree=4, seed=2),
    routing("pigou", players=6, degree=8),
]


def own_shape() -> Polymatrix:
    """Three players with 2, 3 and 4 actions: no generator makes one."""
    random = np.random.default_rng(7)
    actions = (("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d"))
    edges = np.array([[0, 1], [2, 0], [1, 2]])
    return Polymatrix("own", ("A", "B", "C"), actions, edges, 1e6 + random.normal(size=2 * (6 + 8 + 12)))


@pytest.mark.parametrize("game", [*SMALL, own_shape()], ids=lambda game: f"{game.name}-{len(game.players)}")
def test_kernels_equal_the_full_table(game: NetworkGame) -> None:
    table = game.table()
    low, high = game.range
    if isinstance(game, Routing):
        assert (low <= table.range[0] + 1e-12).all() and (high >= table.range[1] - 1e-12).all()
    else:
        np.testing.assert_allclose(game.range, table.range, rtol=1e-14)
    random = np.random.default_rng(0)
    vertex = np.concatenate([np.eye(size)[random.integers(size)] for size in game.sizes])
    mixed = [np.concatenate([random.dirichlet(np.ones(size)) for size in game.sizes]) for _ in range(3)]
    for profile in [vertex, *mixed]:
        strategies = np.split(profile, np.cumsum(game.sizes)[:-1])
        losses = game.expected_losses(profile)
        assert np.abs(losses).max() <= 1
        total = 0.0
        for i, own in enumerate(np.split(losses, np.cumsum(game.sizes)[:-1])):
            operands: list[Any] = [table.payoffs[i], list(range(len(game.sizes)))]
            for j, strategy in enumerate(strategies):
                operands += [] if i == j else [strategy, [j]]
            payoffs = np.einsum(*operands, [i])
            expected = (game.middle[i] - payoffs) / game.scale[i] if game.scale[i] > 0 else 0 * payoffs
            digits = max(1.0, np.abs(payoffs).max() / max(game.scale[i], 1e-300))  # what the payoffs themselves resolve
            np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12 if digits < 1e3 else 1e-15 * digits)
            total += float(payoffs @ strategies[i])
        assert game.welfare(profile) == pytest.approx(total, rel=1e-12)


def test_payoffs_from_the_definition_by_hand() -> None:
    pennies = polymatrix("path", {"n": 3}, "matching-pennies")
    assert pennies.payoffs_of([0, 0, 1]).tolist() == [1, -1 - 1, 1]
    goods = local_public_goods("star", {"n": 2}, efforts=2, decay=0.5, cost=0.1)  # a centre and two leaves
    np.testing.assert_allclose(goods.payoffs_of([1, 0, 2]), [1 - 1 / 8 - 0.1, 1 - 1 / 2, 1 - 1 / 8 - 0.2])
    roads = routing("braess", players=4)
    shortcut = roads.actions[0].index("s-v-w-t")
    upper = roads.actions[0].index("s-v-t")
    np.testing.assert_allclose(roads.payoffs_of([shortcut, shortcut, shortcut, upper]), [-1.75, -1.75, -1.75, -2])


def test_an_isolated_player_loses_nothing() -> None:
    game = polymatrix("empty", {"n": 2}, "chicken")
    assert game.sizes == (1, 1)
    assert game.expected_losses(np.ones(2)).tolist() == [0, 0]


def test_large_games_need_no_table() -> None:
    game = polymatrix("random-regular", {"d": 4, "n": 500}, "uniform", {"actions": 4})
    assert len(game.players) == 500 and game.graph.number_of_edges() == 1000
    uniform = np.full(2000, 0.25)
    expected = np.zeros(500)
    for (u, v), both in zip(game.edges.tolist(), game.bimatrices.reshape(-1, 2, 4, 4), strict=True):
        expected[u] += both[0].mean()
        expected[v] += both[1].mean()
    losses = game.expected_losses(uniform).reshape(500, 4).mean(axis=1)
    np.testing.assert_allclose(game.middle - game.scale * losses, expected, rtol=1e-12)
    with pytest.raises(InputError, match="at most 63 players"):
        game.table()


def test_graphs_come_by_name_or_from_files(tmp_path: Path) -> None:
    (tmp_path / "ring.edgelist").write_text("# a ring\nA B\nB C\n\nC A # closes it\n")
    ring = network_coordination(str(tmp_path / "ring.edgelist"))
    assert ring.players == ("A", "B", "C")
    assert nx.utils.graphs_equal(ring.graph, nx.cycle_graph(["A", "B", "C"]))
    nx.write_graphml(nx.karate_club_graph(), tmp_path / "club.graphml")
    assert len(polymatrix(str(tmp_path / "club.graphml"), game="chicken").players) == 34
    assert len(polymatrix("karate-club", game="chicken").edges) == 78
    assert len(polymatrix("grid-2d", {"m": 3, "n": 4}, "chicken").edges) == 17
    for name, settings_, message in [
        ("cyle", {"n": 3}, "unknown graph 'cyle'.*did you mean 'cycle"),
        ("cycle", {"m": 3}, "the graph cycle has no setting 'm'"),
        ("cycle", {}, "the graph cycle with {}"),
        ("cycle", {"n": 10**9}, "cycle with n = 1000000000 needs 2,000,000,000 nodes and edges"),
        ("random-regular", {"d": 3, "n": 5}, "the graph random-regular with"),
        ("missing.edgelist", {}, "No such file"),
        (str(tmp_path / "ring.edgelist"), {"n": 3}, "from a file has no settings"),
    ]:
        with pytest.raises(InputError, match=message):
            polymatrix(name, settings_, "chicken")
    with pytest.raises(InputError, match="same number of actions in all games"):
        polymatrix("cycle", {"n": 3}, "uniform", {"actions": [2, 3]})
    with pytest.raises(InputError, match="needs a two-player game on each edge; jordan has 3 players"):
        polymatrix("cycle", {"n": 3}, "jordan")
    for text, message in [
        ("A", "line 1: expected two nodes, got 'A'"),
        ("A B\nA B", "line 2: expected each edge once"),
        ("A B x", "line 1: expected coefficients .* got 'x'"),
        ("A B -1", "got '-1'"),
        ("", "found no nodes"),
    ]:
        (tmp_path / "bad.edgelist").write_text(text)
        with pytest.raises(InputError, match=message):
            routing(str(tmp_path / "bad.edgelist"), trips=[["A", "B", 2]])
    (tmp_path / "bad.graphml").write_text("<graphml><oops>")
    with pytest.raises(InputError, match="not a GraphML file"):
        polymatrix(str(tmp_path / "bad.graphml"), game="chicken")


def test_roads_come_from_files_with_polynomial_times(tmp_path: Path) -> None:
    (tmp_path / "roads.edgelist").write_text("s a 1 0 0.5\ns b 2\na t 0 1\nb t 0 0 0 0.25\na b\n")
    game = routing(str(tmp_path / "roads.edgelist"), trips=[["s", "t", 3], ["a", "t", 1]])
    assert game.actions[0] == ("s-a-b-t", "s-b-t", "s-a-t")
    assert game.actions[3] == ("a-b-t", "a-t")
    np.testing.assert_allclose(game.payoffs_of([0, 1, 2, 1])[0], -((1 + 0.5 * 4) + 0 + 0.25 * 8))
    directed: nx.DiGraph[str] = nx.DiGraph()
    for u, v, cost in [
        ("s", "a", "1 0 0.5"),
        ("s", "b", "2"),
        ("a", "t", "0 1"),
        ("b", "t", "0 0 0 0.25"),
        ("a", "b", ""),
    ]:
        directed.add_edge(u, v, cost=cost)
    nx.write_graphml(directed, tmp_path / "roads.graphml")
    again = routing(str(tmp_path / "roads.graphml"), trips=[["s", "t", 3], ["a", "t", 1]])
    np.testing.assert_array_equal(again.table().payoffs, game.table().payoffs)
    cases: list[tuple[list[list[str | int]], str]] = [
        ([], "needs trips"),
        ([["s", "t"]], "trips must be lists of an origin, a destination and a number"),
        ([["s", "x", 1]], "unknown node 'x'"),
        ([["t", "s", 1]], "no route from t to s"),
        ([["s", "s", 1]], "different node"),
    ]
    for trips, message in cases:
        with pytest.raises(InputError, match=message):
            routing(str(tmp_path / "roads.edgelist"), trips=trips)
    with pytest.raises(InputError, match="did you mean 'braess"):
        routing("breass")


@pytest.mark.parametrize(
    "game", [game for game in SMALL if isinstance(game, Routing)], ids=lambda game: str(len(game.players))
)
def test_social_cost_and_its_least(game: Routing) -> None:
    table = game.table()
    costs = -table.payoffs.sum(axis=0)
    least, is_exact = game.least_social_cost
    assert is_exact
    assert least == pytest.approx(costs.min(), rel=1e-12)
    bound = divisible_bound(game._route_groups(), game.coefficients)
    assert 0.85 * least <= bound <= least + 1e-9
    profile = np.concatenate([np.random.default_rng(1).dirichlet(np.ones(size)) for size in game.sizes])
    joint = 1.0
    for strategy in np.split(profile, np.cumsum(game.sizes)[:-1]):
        joint = np.multiply.outer(joint, strategy)
    assert game.social_cost(profile) == pytest.approx(float((joint * costs).sum()), rel=1e-12)
    assert game.welfare(profile) == pytest.approx(-game.social_cost(profile), rel=1e-12)
    loads = np.zeros(len(game.roads))
    for choices in product(*map(range, game.sizes)):
        weight = float(np.asarray(joint)[choices])
        for player, choice in enumerate(choices):
            route = sum(game.sizes[:player]) + choice
            start = int(game.lengths[:route].sum())
            loads[game.steps[start : start + int(game.lengths[route])]] += weight
    np.testing.assert_allclose(game.loads(profile), loads, atol=1e-12)


def test_the_least_cost_of_a_crowd_is_a_bound_that_says_so() -> None:
    game = routing("grid", players=200, routes=8)
    least, is_exact = game.least_social_cost
    assert not is_exact
    quick = np.zeros(8)
    quick[0] = 1
    assert 0 < least <= game.social_cost(np.tile(quick, 200))
    even = routing("pigou", players=300)
    cost, is_exact = even.least_social_cost
    assert is_exact and cost == pytest.approx(225)


@pytest.mark.parametrize("network", ["pigou", "braess"])
def test_learners_reproduce_four_thirds(network: str) -> None:
    """Of several pure equilibria 4/3 is the worst, and the one that equal learners reach.

    The average of Hedge with its anytime rate gets there slowly, because the bad road is only weakly better at the end:
    after 4000 rounds it is still near 1.30. Regret matching is there, and Hedge must come nearer, from below.
    """
    game = routing(network, players=10)
    ratios = {}
    for learner, rounds in [("regret-matching", 4000), ("hedge", 250), ("hedge", 1000), ("hedge", 4000)]:
        record = gamesim.simulate(game, learner, rounds=rounds)
        ratios[learner, rounds] = game.price_of_anarchy(float(record.welfare))
    assert ratios["regret-matching", 4000] == pytest.approx(4 / 3, abs=1e-3)
    assert ratios["hedge", 250] < ratios["hedge", 1000] < ratios["hedge", 4000] < 4 / 3
    small = routing(network, players=4)
    costs = -small.table().payoffs.sum(axis=0)
    pure = [float(costs[tuple(profile)] / costs.min()) for profile in interop.pure_equilibria(small.table())]
    assert max(pure) == pytest.approx(4 / 3) and min(pure) < 1.1


@pytest.mark.parametrize("players", [10, 60])
def test_the_shortcut_makes_everyone_slower(players: int) -> None:
    """By hand: with it all take 2. Without it equal learners stay at the mixed equilibrium, one half on each way.

    A driver then shares the narrow road with (n + 1) / 2 drivers on average, itself included, and takes 3/2 + 1/(2n):
    the ratio tends to 4/3 as the drivers become many. An even split, 3/2 for each, gives 4/3 at once.
    """
    times = {
        network: -float(gamesim.simulate(routing(network, players=players), "regret-matching", rounds=4000).welfare)
        for network in ("braess", "two-ways")
    }
    assert times["braess"] / players == pytest.approx(2, abs=1e-3)
    assert times["two-ways"] / players == pytest.approx(3 / 2 + 1 / (2 * players), abs=1e-9)
    without = routing("two-ways", players=players)
    even = without.payoffs_of([k % 2 for k in range(players)])
    assert (even == -1.5).all()


def test_affine_congestion_of_learners_stays_within_five_halves() -> None:
    worst = games.make("affine-congestion")
    far = gamesim.simulate(worst, "regret-matching", rounds=500)
    assert float(far.welfare) / -6 <= 2.5
    game = routing("grid", trips=TRIPS, routes=4, seed=4)
    record = gamesim.simulate(game, "regret-matching", rounds=500)
    assert 1 - 1e-9 <= game.price_of_anarchy(float(record.welfare)) <= 2.5


def test_pigou_is_worse_with_higher_powers() -> None:
    """At degree p the ratio is 1 / (1 - p (p + 1)^(-(p + 1)/p)) for many players (Roughgarden, 2003)."""
    for degree in (1, 2, 4):
        game = routing("pigou", players=400, degree=degree)
        narrow = np.tile([1.0, 0.0], 400)
        assert game.actions[0][0] == "s-v-t"
        expected = 1 / (1 - degree * (degree + 1) ** (-(degree + 1) / degree))
        assert game.price_of_anarchy(game.welfare(narrow)) == pytest.approx(expected, rel=1e-3)


def test_records_keep_network_games(tmp_path: Path) -> None:
    for game in (polymatrix("cycle", {"n": 5}, "shapley"), local_public_goods(), routing("grid", players=3, degree=2)):
        record = gamesim.simulate(game, "hedge", rounds=50)
        record.save(tmp_path / game.name)
        back = gamesim.load(tmp_path / game.name)
        assert type(back.game) is type(game)
        assert back.gap("ce") == record.gap("ce")
        assert isinstance(back.game, NetworkGame)
        assert nx.utils.graphs_equal(back.game.graph, game.graph)


def test_public_goods_equilibria_are_maximal_independent_sets() -> None:
    game = local_public_goods("petersen", decay=0.5, cost=0.4)
    for seed in range(3):
        chosen = {game.players.index(node) for node in nx.maximal_independent_set(game.graph, seed=seed)}
        choices = [int(i in chosen) for i in range(10)]
        profile = np.concatenate([np.eye(2)[choice] for choice in choices])
        losses = game.expected_losses(profile).reshape(10, 2)
        assert all(losses[i, choices[i]] <= losses[i].min() for i in range(10))


ARRAYS = st.one_of(
    st.lists(st.integers(-3, 9), max_size=12).map(lambda values: np.array(values, dtype=np.int64)),
    st.lists(st.floats(-2, 2), max_size=12).map(lambda values: np.array(values, dtype=np.float64)),
)


@settings(max_examples=200)
@given(st.sampled_from(SMALL), st.data())
def test_no_arrays_lead_the_kernels_astray(game: NetworkGame, data: st.DataObject) -> None:
    """A record or file may hold anything: what is not refused must be a game within its range."""
    arrays = dict(game.arrays())
    name = data.draw(st.sampled_from(sorted(arrays)))
    part = arrays[name]
    if part.size and data.draw(st.booleans()) and part.dtype.kind in "if":
        part = part.copy()
        part.ravel()[data.draw(st.integers(0, part.size - 1))] = data.draw(st.integers(-2, 99))
    else:
        part = data.draw(ARRAYS)
    try:
        changed = type(game).from_arrays(game.name, game.players, game.actions, {**arrays, name: part})
    except (InputError, ValueError, IndexError):
        return
    profile = np.concatenate([np.full(size, 1 / size) for size in game.sizes])
    losses = changed.expected_losses(profile)
    assert np.abs(losses).max() <= 1
    assert isinstance(changed, (Polymatrix, LocalPublicGoods, Routing))
