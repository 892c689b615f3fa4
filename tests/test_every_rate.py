"""Every learner with a rate takes numbers and schedules, states its units, and keeps the bound that they lead to."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

import gamesim
from gamesim import InputError, players
from gamesim.learner import Learner
from gamesim.measure import regrets
from gamesim.rates import RateSetting

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]

SCHEDULE = "0.3*t^-0.4"
BANDITS = ["exp3", "exp3-ix", "tsallis-inf", "bandit-blum-mansour"]
RATED = {
    name: setting.name
    for name, kind in players.available().items()
    for setting in fields(kind)
    if setting.name in ("rate", "step")
}


def rate_in(t: int) -> float:
    return float(0.3 * t**-0.4)


def softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def only(loss: Array, action: int) -> Array:
    return np.where(np.arange(loss.size) == action, loss, np.nan)


def test_all_learners_with_rates_are_found() -> None:
    assert set(BANDITS) | {"hedge", "ftrl", "gradient", "replicator", "logit", "q-learning"} <= set(RATED)


@pytest.mark.parametrize("name", RATED)
def test_a_rate_is_a_number_or_a_schedule_with_units(name: str) -> None:
    kind, setting = players.available()[name], RATED[name]
    (field,) = (field for field in fields(kind) if field.name == setting)
    assert field.type is RateSetting or field.type == "RateSetting"
    explained = (kind.__doc__ or "").split(f"{setting} : float or str")[1].split("Notes")[0]
    assert "loss" in explained or "Weight" in explained or "Share" in explained
    assert "`gamesim.rates`" in explained
    plain = [_strategies(players.make(name, **{setting: given})) for given in (0.3, SCHEDULE)]
    assert np.allclose(plain[0][0], plain[1][0]) and not np.allclose(plain[0][-1], plain[1][-1])
    for wrong in (-1.0, "fast", "0/t"):
        with pytest.raises(InputError, match=setting):
            players.make(name, **{setting: wrong})


def _strategies(learner: Learner) -> list[Array]:
    """Return what a learner plays, against the same losses, of which bandit learners see the first."""
    running, played = learner.start(3), []
    for loss in np.random.default_rng(3).uniform(-1, 1, (6, 3)):
        played.append(running.play())
        running.observe(only(loss, 0) if "bandit" in learner.feedback else loss)
    return played


@pytest.mark.parametrize(("name", "bias"), [("exp3", 0.0), ("exp3-ix", 1.0)])
def test_exp3_with_a_schedule(name: str, bias: float) -> None:
    random, total = np.random.default_rng(1), np.zeros(4)
    learner = players.make(name, rate=SCHEDULE).start(4, seed=2)
    for t in range(1, 80):
        p = softmax(-rate_in(t) * total)  # of losses shifted to [0, 2]
        np.testing.assert_allclose(learner.play(), p, atol=1e-11)
        action, loss = learner.draw(), random.uniform(-1, 1, 4)
        total[action] += (loss[action] + 1) / (p[action] + bias * rate_in(t))
        learner.observe(only(loss, action))


def test_tsallis_inf_with_a_schedule() -> None:
    random, total = np.random.default_rng(1), np.zeros(3)
    learner = players.make("tsallis-inf", rate=SCHEDULE).start(3, seed=2)
    for t in range(1, 80):
        # argmin <L, p> - 4 Σ √p / rate on the simplex: √p_i = 2 / (rate (L_i - x)), with L in units of loss
        def roots(x: float, rate: float = rate_in(t)) -> Array:
            return np.asarray(2 / (rate * (total - total.min() + x)))

        x = brentq(lambda x: float((roots(x) ** 2).sum() - 1), 1e-9, 1e3, xtol=1e-13, rtol=1e-13)
        np.testing.assert_allclose(learner.play(), roots(x) ** 2, atol=1e-8)
        action, loss = learner.draw(), random.uniform(-1, 1, 3)
        total[action] += (loss[action] + 1) / learner.play()[action]
        learner.observe(only(loss, action))


def test_bandit_blum_mansour_with_a_schedule() -> None:
    random, total = np.random.default_rng(1), np.zeros((3, 3))
    learner = players.make("bandit-blum-mansour", rate=SCHEDULE).start(3, seed=2)
    for t in range(1, 80):
        rows, p = softmax(-rate_in(t) * total), learner.play()
        np.testing.assert_allclose(p @ rows, p, atol=1e-10)
        action, loss = learner.draw(), random.uniform(-1, 1, 3)
        total[:, action] += p * (loss[action] + 1) / p[action]
        learner.observe(only(loss, action))


@pytest.mark.parametrize("name", BANDITS)
def test_a_rate_per_payoff_multiplies_payoffs(name: str) -> None:
    game = gamesim.games.make("shapley")
    scale = float(game.scale[0])
    converted = players.make(name, rate="0.1 per payoff").with_payoff_scale(scale)
    assert getattr(converted, "rate") == pytest.approx(0.1 * scale)  # noqa: B009
    with pytest.raises(InputError, match="needs a game"):
        players.make(name, rate="0.1 per payoff").start(3)


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("rate", ["0.2/sqrt(t)", "0.1*t^-0.25", "tuned", 0.02])
def test_expected_regret_is_within_the_bound(name: str, rate: Any) -> None:
    rounds, actions, runs = 600, 3, 12
    learner = players.make(name, rate=rate).with_horizon(rounds)
    promise = learner.guarantee()
    assert promise is not None and promise.expected
    losses = np.random.default_rng(0).choice([-1.0, 1.0], (rounds, actions), p=[0.3, 0.7])
    losses[:, 2] *= -1  # mostly better than the others
    matrices = []
    for seed in range(runs):
        running, matrix = learner.start(actions, seed=seed), np.zeros((actions, actions))
        for loss in losses:
            action = running.draw()
            running.observe(only(loss, action))
            matrix[action] += loss
        matrices.append(matrix)
    measured = getattr(regrets, promise.regret)(np.mean(matrices, axis=0))
    assert measured <= promise.bound(rounds, actions)


@pytest.mark.parametrize("name", BANDITS)
def test_the_bound_of_a_constant_rate_is_that_of_its_formula(name: str) -> None:
    """At the default rate of a horizon, the bound for given rates is the bound of the default."""
    rounds, d = 1000, 5
    default: dict[str, Any] = {
        "exp3": np.sqrt(np.log(d) / (2 * d * rounds)),
        "exp3-ix": np.sqrt(np.log(d) / (2 * d * rounds)),
        "bandit-blum-mansour": np.sqrt(np.log(d) / (2 * rounds)),
        "tsallis-inf": "1/sqrt(t)",
    }
    given = players.make(name, rate=default[name]).guarantee()
    plain = players.make(name).with_horizon(rounds).guarantee()
    assert given is not None and plain is not None and given.regret == plain.regret
    if name == "tsallis-inf":
        assert given.bound(rounds, d) <= plain.bound(rounds, d)
    else:
        assert given.bound(rounds, d) == pytest.approx(plain.bound(rounds, d))


def test_log_barrier_rows_with_a_schedule_have_a_bound() -> None:
    promise = players.make("blum-mansour-log-barrier", rate="0.2/sqrt(t)").guarantee()
    assert promise is not None and promise.regret == "swap"
    rounds, d = 400, 3
    total = sum(0.2 / np.sqrt(t) for t in range(1, rounds + 1))
    wanted = d * (2 + d * np.log(rounds) / (0.2 / np.sqrt(rounds))) + 4 * total
    assert wanted <= promise.bound(rounds, d) <= 1.01 * wanted
    assert players.make("blum-mansour-log-barrier", rate="0.3/sqrt(t)").guarantee() is None  # above 1/4


def test_losses_that_exceed_1_by_rounding_are_accepted() -> None:
    learner = players.make("hedge", rate=1.0).start(2)
    learner.observe([1 + 2**-52, -1 - 2**-52])
    assert np.allclose(learner.play(), softmax(np.array([-1.0, 1.0])), atol=1e-12)
    with pytest.raises(InputError, match=r"^losses must lie in \[-1, 1\], got 1\.00001"):
        learner.observe([1.00001, 0.0])


@pytest.mark.parametrize("name", ["adversary", "clairvoyant"])
def test_openings_and_starts_of_informed_learners_are_refused(name: str) -> None:
    given = [[0.2, 0.8], None]
    for option, words in (("opening", "Row cannot have an opening, because"), ("start", f"{name} cannot start at")):
        options: Any = {option: given}
        with pytest.raises(InputError, match=f"{words}.* after it has observed the other players"):
            gamesim.simulate("chicken", [name, "hedge"], 5, feedback="sampled", **options)
    raw = {"rounds": 5, "feedback": "sampled", "game": {"name": "chicken"}}
    for key, value in (("opening", [0.2, 0.8]), ("start", [0.2, 0.8]), ("start", "random")):
        table = raw | {"players": [{"learner": name, key: value}, {"learner": "hedge"}]}
        with pytest.raises(InputError, match=rf"players\[1\]\.{key}: "):
            gamesim.Scenario.from_dict(table)
