"""Threads that share the players of one simulation: the same bytes for any number of them, and as the plain loop."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gamesim import games
from gamesim.engine import shared_players
from gamesim.game import Game
from gamesim.record import Record
from gamesim.simulation import Simulation

pytestmark = pytest.mark.slow


def _polymatrix() -> Game:
    return games.make("polymatrix", graph="barabasi-albert", graph_settings={"n": 31, "m": 3}, game="uniform")


def _goods() -> Game:
    return games.make("local-public-goods", graph="star", graph_settings={"n": 24})


def _routing() -> Game:
    trips = [["0,0", "3,3", 9], ["0,1", "2,3", 8], ["1,0", "3,2", 5]]
    return games.make("routing", network="grid", trips=trips, degree=2)


def _same(one: Record, other: Record) -> bool:
    return all(np.array_equal(one.arrays[key], other.arrays[key], equal_nan=True) for key in one.arrays)


@pytest.mark.parametrize("make", [_polymatrix, _goods, _routing])
def test_threads_share_players_without_changing_a_bit(
    make: Callable[[], Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make()
    learners = [("hedge", "regret-matching", "stoltz-lugosi")[k % 3] for k in range(len(game.players))]
    alone = Simulation(game, learners, perturb=0.3, seed=2)
    assert not alone._setup.stages.size  # too few players, so it is the plain loop
    expected = alone.run(77)
    monkeypatch.setattr("gamesim.simulation.simulation._processors", lambda: 3)
    monkeypatch.setattr("gamesim.engine.shared_players.PLAYERS_PER_THREAD", 5)
    for threads in (1, 2, 3):
        shared = Simulation(game, learners, perturb=0.3, seed=2)
        assert shared_players.most_threads(shared._setup) == len(game.players) // 5
        shared.run(20, threads=threads)
        assert _same(shared.run(57, threads=threads), expected)
    with_plain = Simulation(game, learners, perturb=0.3, seed=2)
    with_plain.run(33, threads=0)
    assert _same(with_plain.run(44, threads=2), expected)


@pytest.mark.parametrize(
    "options", [{"feedback": "sampled"}, {"order": "alternating"}, {"delay": 2}, {"observers": ["dynamic-regret"]}]
)
def test_other_protocols_run_in_one_thread(options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamesim.engine.shared_players.PLAYERS_PER_THREAD", 5)
    simulation = Simulation(_polymatrix(), "hedge", **options)
    assert shared_players.most_threads(simulation._setup) == 1
    assert simulation.run(9, threads=2).rounds == 9
