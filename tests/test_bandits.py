"""Bandit learners, which observe only the loss of the action that they played."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from gamesim import players
from gamesim.errors import InputError
from gamesim.players.exp3 import estimate

BANDITS = ["exp3", "exp3-ix", "tsallis-inf"]


def seen(loss: NDArray[np.float64], action: int) -> NDArray[np.float64]:
    return np.where(np.arange(loss.size) == action, loss, np.nan)


def test_estimates_are_unbiased_unless_a_bias_lowers_them() -> None:
    random = np.random.default_rng(0)
    p = random.dirichlet(np.ones(5))
    loss = random.uniform(-1, 1, 5)
    for bias in (0.0, 0.1):
        mean = np.zeros(5)
        for action in range(5):
            estimated = np.zeros(5)
            estimate(p, seen(loss, action), bias, estimated)
            assert (np.delete(estimated, action) == 0).all()
            mean += p[action] * estimated
        np.testing.assert_allclose(mean, (loss + 1) / 2 * p / (p + bias), atol=1e-14)


def test_exp3_and_exp3_ix_follow_their_formulas() -> None:
    random = np.random.default_rng(1)
    horizon = 80
    for name, bias in (("exp3", 0.0), ("exp3-ix", 0.5)):
        rate = np.sqrt(2 * np.log(4) / (4 * horizon))
        learner = players.make(name, horizon=horizon).start(4)
        total = np.zeros(4)
        for _ in range(horizon):
            p = learner.play()
            weights = np.exp(-rate * (total - total.min()))
            np.testing.assert_allclose(p, weights / weights.sum(), atol=1e-12)
            action, loss = learner.draw(), random.uniform(-1, 1, 4)
            total[action] += (loss[action] + 1) / 2 / (p[action] + bias * rate)
            learner.observe(seen(loss, action))


def test_tsallis_inf_follows_its_formula() -> None:
    random = np.random.default_rng(1)
    learner = players.make("tsallis-inf").start(4, seed=3)
    total = np.zeros(4)
    for t in range(1, 200):
        p = learner.play()
        eta = 2 / np.sqrt(t)

        def excess(x: float, eta: float = eta) -> float:
            return float((4 / (eta * (total - total.min() + x)) ** 2).sum() - 1)

        x = brentq(excess, 2 / eta * (1 - 1e-12), 4 / eta * (1 + 1e-12), xtol=1e-14, rtol=1e-14)
        np.testing.assert_allclose(p, 4 / (eta * (total - total.min() + x)) ** 2, atol=1e-9)
        action, loss = learner.draw(), random.uniform(-1, 1, 4) * [0.2, 1, 1, 1] - [0.8, 0, 0, 0]
        total[action] += (loss[action] + 1) / 2 / p[action]
        learner.observe(seen(loss, action))
    assert p[0] > 0.5


@pytest.mark.parametrize("name", BANDITS)
def test_expected_regret_is_within_the_bound_where_that_of_uniform_play_is_not(name: str) -> None:
    rounds, d, runs = 1500, 3, 10
    random = np.random.default_rng(5)
    sequence = np.where(random.random((rounds, d)) < [0.95, 0.95, 0.05], 1.0, -1.0)
    regrets = []
    for seed in range(runs):
        learner = players.make(name).with_horizon(rounds).start(d, seed=seed)
        total = 0.0
        for loss in sequence:
            action = learner.draw()
            total += loss[action]
            learner.observe(seen(loss, action))
        regrets.append(total - sequence.sum(0).min())
    guarantee = players.make(name).with_horizon(rounds).guarantee()
    assert guarantee is not None
    assert guarantee.expected
    assert str(guarantee).startswith("expected external regret ≤")
    bound = guarantee.bound(rounds, d)
    assert np.mean(regrets) <= bound
    assert sequence.mean(1).sum() - sequence.sum(0).min() > bound


@pytest.mark.parametrize("name", BANDITS)
def test_bandits_play_a_single_action_and_accept_only_bandit_feedback(name: str) -> None:
    import gamesim

    learner = players.make(name).with_horizon(10).start(1)
    learner.observe([0.3])
    np.testing.assert_array_equal(learner.play(), [1.0])
    with pytest.raises(InputError, match=name):
        gamesim.simulate("chicken", [name, name], rounds=5)


def test_fixed_and_uniform_accept_any_feedback() -> None:
    for name in ("fixed", "uniform"):
        learner = players.make(name).start(2)
        learner.observe([float("nan"), 1.0])
        np.testing.assert_array_equal(learner.play(), [0.5, 0.5])
