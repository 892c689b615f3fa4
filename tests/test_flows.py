"""Flows in continuous time, against closed forms and invariants."""

from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, games
from gamesim.flows import flow


def test_the_replicator_equation_has_its_closed_form_against_a_dominated_action() -> None:
    game = gamesim.Table.from_payoffs([[[2.0, 2.0], [5.0, 5.0]], [[1.0, 1.0], [1.0, 1.0]]])  # second row pays 3 more
    path = flow(game, 2.0, start=[[0.9, 0.1], [0.3, 0.7]], points=50)
    odds = path.strategies[0][:, 1] / path.strategies[0][:, 0]
    assert np.allclose(odds, 0.1 / 0.9 * np.exp(3 * path.times), rtol=1e-8)
    assert np.allclose(path.strategies[1], [0.3, 0.7])


def test_the_field_is_that_of_the_replicator_equation_in_an_asymmetric_game() -> None:
    game = games.make("uniform", players=3, actions=[3, 2, 4], seed=5)
    start = [[0.2, 0.5, 0.3], [0.6, 0.4], [0.1, 0.2, 0.3, 0.4]]
    path = flow(game, 1e-4, start=start, points=3)
    payoffs = game.payoffs
    p, q, r = map(np.array, start)
    pay = [np.einsum("ijk,j,k", payoffs[0], q, r), np.einsum("ijk,i,k", payoffs[1], p, r)]
    pay.append(np.einsum("ijk,i,j", payoffs[2], p, q))
    for strategy, u, found in zip((p, q, r), pay, path.strategies, strict=True):
        slope = (found[2] - found[0]) / path.times[2]
        expected = strategy * (u - strategy @ u)
        assert np.allclose(slope, expected, rtol=1e-3), (slope, expected)


def test_energy_is_constant_in_zero_sum_games_and_orbits_recur() -> None:
    path = flow("rock-paper-scissors", 200.0, start=[[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], points=20001)
    energy = path.divergence([[1 / 3] * 3] * 2)
    assert np.ptp(energy) / energy.mean() < 1e-6
    away = sum(abs(one - one[0]).sum(axis=1) for one in path.strategies)
    assert away.max() > 0.5 and away[2000:].min() < 0.05
    assert abs(path.averages[0][-1] - 1 / 3).max() < 0.02


@pytest.mark.parametrize(("regulariser", "power"), [("euclidean", 0), ("entropic", 1), ("log-barrier", 2)])
def test_the_metric_is_that_of_the_regulariser(regulariser: Any, power: int) -> None:
    game = games.make("uniform", actions=[3, 2], seed=3)
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.4])
    path = flow(game, 1e-4, start=[p, q], regulariser=regulariser, points=2)
    assert np.allclose(path.strategies[0][0], p, atol=1e-9)
    u, weights = game.payoffs[0] @ q, p**power  # the inverse of the second derivative of ψ
    expected = weights * (u - weights @ u / weights.sum())
    assert np.allclose((path.strategies[0][1] - p) / 1e-4, expected, atol=1e-3 * np.abs(expected).max())


def test_a_step_of_replicator_follows_the_flow() -> None:
    start = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]]
    game = games.make("shapley")
    steps = gamesim.simulate(game, "replicator:step=0.001", 2001, start=start)
    path = flow(game, float(2.0 / game.scale[0]), start=start, points=2)
    assert np.allclose(np.concatenate(steps.last), np.concatenate([one[-1] for one in path.strategies]), atol=2e-3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"time": -1.0}, "time must be positive"),
        ({"time": 1.0, "start": [[1.0, 0.0], [0.5, 0.5]]}, "positive probability"),
        ({"time": 1.0, "start": [[0.5, 0.5]]}, "one entry for each of the 2 players"),
        ({"time": 1.0, "regulariser": "entropy"}, "unknown regulariser 'entropy'; did you mean 'entropic'"),
        ({"time": 1.0, "points": 10**9}, "points must be at most"),
    ],
)
def test_invalid_arguments_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        flow("chicken", **given)
