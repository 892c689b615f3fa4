"""Sizes are computed from settings before anything is built, and settings beyond a limit get one message."""

import inspect
import json
import os
import subprocess
import sys
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import games, players
from gamesim.cli.main import main
from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.games import generators, limits, tables
from gamesim.games.divisions import divisions, number_of_divisions
from gamesim.games.routing import roads
from gamesim.lab.limits import asked_game
from gamesim.players import Hedge, TreeSwap
from gamesim.scenario import Scenario
from tests.graph_settings import SMALL

BERTRAND = "bertrand with top = 1000000000 needs a table of 2.0e+18 payoffs (13.9 EiB); at most 16,777,216 are allowed"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs limits on memory and processor time")
def test_an_extreme_value_works_or_is_refused() -> None:
    """In a separate process with little memory: a value that ran away would end the tests with it.

    Every seventh value is tried, and all of them if GAMESIM_SIZES is all.
    """
    step = 1 if os.environ.get("GAMESIM_SIZES") == "all" else 7
    root = Path(__file__).parents[1]
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.extreme_settings", str(step)]
    paths = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=root, env=paths)
    *wrong, last = done.stdout.splitlines() or [""]
    assert not wrong and done.returncode == 0, "\n".join([*wrong[:20], done.stderr[-2000:]])
    tallies = json.loads(last)
    least = {"games": 3000 // step, "graphs": 2000 // step, "learners": 600 // step, "simulations": 40}
    assert tallies.keys() == least.keys()
    for kind, tally in tallies.items():
        assert sum(tally.values()) >= least[kind] and min(tally["works"], tally["refused"]) > 5, kind


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("bertrand", {"top": 10**9}, f"{BERTRAND}; reduce top"),
        (
            "el-farol",
            {"players": 10**18},
            "el-farol with players = 1000000000000000000 needs a table for 1.0e+18 players; at most 63 are allowed; "
            "reduce players",
        ),
        (
            "uniform",
            {"players": 3, "actions": [4000, 3, 4000]},
            "uniform with players = 3, actions = [4000, 3, 4000] needs a table of 144,000,000 payoffs (1.07 GiB); "
            "at most 16,777,216 are allowed; reduce players or actions",
        ),
        (
            "trust",
            {"endowment": 4096},
            "trust with endowment = 4096 needs 4,097 actions of one player; at most 4,096 are allowed; "
            "reduce endowment",
        ),
        (
            "hotelling",
            {"places": 600},
            "hotelling with places = 600 needs 864,000,000 steps of arithmetic; at most 536,870,912 are allowed; "
            "reduce places",
        ),
        ("hawk-dove", {"cost": 1e300}, "cost must be 0 or from 1e-100 to 1e+100 in absolute value, got 1e+300"),
        ("minimum-effort", {"base": float("nan")}, "base must be finite, got nan"),
        ("el-farol", {"capacity": 2**63}, "capacity must be at most 2^53 in absolute value, got 9223372036854775808"),
        ("uniform", {"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ],
)
def test_the_message_names_the_settings_what_they_need_and_the_limit(
    name: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        games.make(name, **settings)
    assert str(caught.value) == message
    with pytest.raises(InputError) as caught:
        games.available()[name](**settings)
    assert str(caught.value) == message


def test_the_same_message_comes_from_scenarios_studies_and_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = {"name": "bertrand", "settings": {"top": 10**9}}
    with pytest.raises(InputError) as caught:
        Scenario.from_dict({"rounds": 1, "game": game, "everyone": {"learner": "hedge"}})
    assert BERTRAND in str(caught.value)
    monkeypatch.chdir(tmp_path)
    text = 'rounds = 1\n[game]\nname = "bertrand"\nsettings = { top = %d }\n[everyone]\nlearner = "hedge"\n'
    Path("large.toml").write_text(text % 10**9)
    Path("small.toml").write_text(text % 4)
    Path("study.toml").write_text('base = "small.toml"\n[grid]\n"game.settings.top" = [4, 1000000000]\n')
    commands = [
        "show large.toml",
        "check large.toml",
        "run large.toml",
        "compare large.toml --learners hedge",
        "sweep study.toml",
    ]
    for command in commands:
        assert main(command.split()) == 2, command
        said = " ".join("".join(capsys.readouterr()).split())
        assert BERTRAND in said, (command, said)


def test_the_lab_has_lower_limits() -> None:
    with pytest.raises(InputError, match="at most 64 actions"):
        asked_game({"name": "zero-sum", "settings": {"actions": 300}})
    with pytest.raises(InputError, match="at most 524,288 are allowed; reduce actions"):
        asked_game({"name": "zero-sum", "settings": {"actions": 600}})
    with pytest.raises(InputError, match="steps of arithmetic; at most 16,777,216 are allowed; reduce places"):
        asked_game({"name": "hotelling", "settings": {"places": 300}})
    assert games.make("zero-sum", actions=600).cells == 360_000


# What games declare, compared with what they are.


VARIED: dict[str, list[dict[str, Any]]] = {
    "players": [{"players": 3}, {"players": 5}],
    "actions": [{"actions": 2}],
    "voters": [{"voters": 4, "candidates": 2}],
    "values": [{"values": [3.0, 2.0, 1.0]}],
    "weights": [{"weights": [3.0, 2.0], "machines": 3}],
    "soldiers": [{"soldiers": [4, 2], "fields": 2}, {"soldiers": [3, 0], "fields": 4}],
}


@pytest.mark.parametrize("name", tables.available())
def test_a_game_is_as_large_as_it_declares(name: str) -> None:
    """A size that is declared too small runs away, and one too large refuses what would fit."""
    make = games.available()[name]
    takes = inspect.signature(make).parameters
    if not takes or not limits.needs_of(make, {}):
        return  # of one size only
    numbers = [{key: one.default + 2} for key, one in takes.items() if isinstance(one.default, int) and key != "seed"]
    varied = [settings for key in takes for settings in VARIED.get(key, ())]
    for settings in [{}, *numbers, *varied]:
        try:
            game = games.make(name, **settings)
        except InputError:  # an even minority, or a list of another length
            continue
        assert isinstance(game, Table)
        of_players, of_payoffs, of_actions, *_ = limits.needs_of(make, settings)[1 if name == "blotto" else 0 :]
        assert of_players.amount == len(game.players)
        if name != "braess" or settings.get("shortcut", True):
            assert (of_payoffs.amount, of_actions.amount) == (game.payoffs.size, max(game.sizes)), settings


def test_every_game_with_settings_is_limited() -> None:
    for name, make in games.available().items():
        assert bool(inspect.signature(make).parameters) == hasattr(make, "__wrapped__"), name


@pytest.mark.parametrize("name", SMALL)
def test_a_graph_is_as_large_as_its_generator_declares(name: str) -> None:
    """Its nodes and edges together; those of random graphs on average, over some seeds."""
    size, steps = (need.amount for need in generators._needs(name, SMALL[name]))
    graphs = [generators.generated(name, SMALL[name], seed) for seed in range(20)]
    assert np.mean([len(graph) + graph.number_of_edges() for graph in graphs]) <= 1.05 * size
    assert max(len(graph) for graph in graphs) <= size <= steps


def test_every_graph_with_settings_has_a_size() -> None:
    known = generators._generators()
    assert set(generators._SIZES) <= set(known) and set(SMALL) == set(generators._SIZES)
    for name in set(known) - set(SMALL):  # none has settings, so each is always the same
        assert 0 <= len(generators.generated(name, {}, 0)) < 100
    with pytest.raises(InputError, match=r"the graph hypercube with n = 40 needs .* nodes and edges; at most 524,288"):
        games.make("network-coordination", graph="hypercube", graph_settings={"n": 40})
    with pytest.raises(InputError, match=r"polymatrix with edges = 100, action pairs = 4 needs .* steps of arithmetic"):
        slow = {"game": "congestion", "game_settings": {"players": 2, "actions": 2, "resources": 50_000}}
        games.make("polymatrix", graph="cycle", graph_settings={"n": 100}, **slow)
    with pytest.raises(InputError, match="n must be a number or a list, got 'many'"):
        games.make("network-coordination", graph="cycle", graph_settings={"n": "many"})
    named = games.make("network-coordination", graph="cycle", graph_settings={"n": ["Ann", "Bob", "Cy"]})
    assert named.players == ("Ann", "Bob", "Cy")


def test_the_search_for_routes_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid of 8 × 8 crossings has 3432 shortest routes alone."""
    lines = [f"{x},{y} {x + 1},{y} 1\n{y},{x} {y},{x + 1} 1\n" for x in range(7) for y in range(8)]
    (tmp_path / "grid.edgelist").write_text("".join(lines))
    network = {"network": str(tmp_path / "grid.edgelist"), "trips": [["0,0", "7,7", 2]]}
    assert games.make("routing", **network, routes=20).sizes == (20, 20)
    monkeypatch.setattr(roads, "MOST_ROADS_SEARCHED", 10_000)
    with pytest.raises(InputError, match="routes = 1000 needs more than 10,000 steps to find the routes"):
        games.make("routing", **network, routes=1000)
    monkeypatch.setattr(roads, "MOST_ROADS_ON_ROUTES", 500)
    with pytest.raises(InputError, match="needs 560 roads on the routes of all drivers; at most 500 are allowed"):
        games.make("routing", **network, routes=20)


def test_divisions_are_counted_and_listed_alike() -> None:
    for total in range(6):
        for parts in range(1, 5):
            listed = divisions(total, parts)
            assert len(listed) == number_of_divisions(total, parts)
            assert (listed.sum(axis=1) == total).all() and listed.min() >= 0
            assert len({tuple(row) for row in listed.tolist()}) == len(listed)
            assert listed.tolist() == sorted(listed.tolist())


# Learners and simulations.


def test_treeswap_with_levels_longer_than_any_run() -> None:
    """Only the fastest of 50 levels observes anything before round 100: it is Hedge, and the others stay uniform."""
    losses = np.random.default_rng(0).uniform(-1, 1, (40, 3))
    tree, hedge = TreeSwap(base=100, depth=50), Hedge(rate=sqrt(2 * log(3) / 100))
    running, fastest = tree.start(actions=3), hedge.start(actions=3)
    for loss in losses:
        running.observe(loss)
        fastest.observe(loss)
    np.testing.assert_allclose(running.play(), (fastest.play() + 49 / 3) / 50, rtol=1e-12)
    assert np.ptp(fastest.play()) > 0.1
    assert tree.guarantee().bound(40, 3) == 80  # trivial: 100^50 rounds are no float's worth of them


def test_a_state_beyond_memory_is_refused() -> None:
    for learner in (players.make("blum-mansour", rows="wavelet"), players.make("wavelet")):
        with pytest.raises(InputError, match=r"a state of .* numbers .* is too large; at most 1,073,741,824"):
            learner.start(actions=2**18)
    with pytest.raises(InputError, match="actions must be at most 1,048,576, got 1000000000000000000"):
        players.make("hedge").start(actions=10**18)


def test_states_count_towards_the_memory_of_a_simulation() -> None:
    game: Game = games.make("uniform", actions=100)
    gamesim.Simulation(game, "hedge", replicas=10)
    with pytest.raises(InputError, match=r"would need .* for 100,000 replicas of uniform, but the limit is 8 GiB"):
        gamesim.Simulation(game, "hedge", replicas=100_000)
