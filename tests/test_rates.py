"""Rates as numbers and schedules, per loss and per payoff, against the formulas; and learners among the settings."""

from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, players
from gamesim.learner import Learner
from gamesim.measure import regrets
from gamesim.scenario import Scenario

pytestmark = pytest.mark.slow

SCHEDULES: dict[str, Any] = {
    "0.5/sqrt(t)": lambda t: 0.5 / np.sqrt(t),
    "0.8*t^-0.25": lambda t: 0.8 * t**-0.25,
    "0.9/t": lambda t: 0.9 / t,
    "1.5e-1 t^-0.1": lambda t: 0.15 * t**-0.1,
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_is_the_rate_of_its_round(schedule: str) -> None:
    losses = np.random.default_rng(1).uniform(-1, 1, (60, 3))
    formulas: dict[str, Any] = {
        "hedge": lambda t, total, last: _softmax(-SCHEDULES[schedule](t) * total),
        "ftrl": lambda t, total, last: _softmax(-SCHEDULES[schedule](t) * total),
        "optimistic-hedge": lambda t, total, last: _softmax(-SCHEDULES[schedule](t) * (total + last)),
    }
    for name, per_strategy in formulas.items():
        learner, total, last = players.make(name, rate=schedule).start(3), np.zeros(3), np.zeros(3)
        for t, loss in enumerate(losses, start=1):
            assert np.allclose(learner.play(), per_strategy(t, total, last), atol=1e-12), (name, t)
            learner.observe(loss)
            total, last = total + loss, loss


def _softmax(scores: Any) -> Any:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def test_a_tuned_rate_is_tuned_to_the_rounds_of_the_run() -> None:
    record = gamesim.simulate("shapley", players.make("hedge", rate="tuned"), rounds=400)
    assert record.learners[0].rate == "tuned to 400"
    learner = record.learners[0].start(3)
    learner.observe([1.0, 0.0, -1.0])
    assert np.allclose(learner.play(), _softmax(-np.sqrt(2 * np.log(3) / 400) * np.array([1, 0, -1])))
    with pytest.raises(InputError, match="needs a number of rounds"):
        players.make("hedge", rate="tuned").start(3)


def test_a_rate_per_payoff_multiplies_payoffs() -> None:
    game = gamesim.Table.from_payoffs([[[7, 1, -3], [2, 4, 0]], [[5, 9, 1], [0, 1, 30]]])
    eta, rounds = 0.05, 40
    record = gamesim.Simulation(game, players.make("hedge", rate=f"{eta} per payoff"))
    totals = [np.zeros(2), np.zeros(3)]
    for _ in range(rounds):
        p, q = (_softmax(eta * total) for total in totals)
        played = record.run(1).last
        assert np.allclose(played[0], p, atol=1e-12) and np.allclose(played[1], q, atol=1e-12)
        totals[0] += game.payoffs[0] @ q
        totals[1] += p @ game.payoffs[1]
    with pytest.raises(InputError, match="needs a game"):
        players.make("hedge", rate="0.1 per payoff").start(3)


@pytest.mark.parametrize("name", ["hedge", "ftrl", "optimistic-hedge", "gradient", "stoltz-lugosi"])
@pytest.mark.parametrize("rate", ["0.5/sqrt(t)", "1.5*t^-0.25", "tuned", 0.05])
def test_guarantees_of_schedules_are_kept(name: str, rate: Any) -> None:
    rounds, actions = 500, 4
    learner = players.make(name, rate=rate).with_horizon(rounds)
    promise = learner.guarantee()
    assert promise is not None
    random = np.random.default_rng(2)
    for worst in (False, True):
        running, matrix = learner.start(actions), np.zeros((actions, actions))
        for _ in range(rounds):
            strategy = running.play()
            loss = random.uniform(-1, 1, actions)
            if worst:
                loss = np.where(np.arange(actions) == strategy.argmax(), 1.0, -1.0)
            running.observe(loss)
            matrix += np.outer(strategy, loss)
        assert getattr(regrets, promise.regret)(matrix) <= promise.bound(rounds, actions)


@pytest.mark.parametrize("rate", ["fast", "1", "-1/sqrt(t)", "0/t", "1/sqrt(t) per dollar", "", "tuned to soon", -1.0])
def test_other_rates_are_refused_with_the_forms(rate: Any) -> None:
    with pytest.raises(InputError, match=r"^hedge: rate must be"):
        players.make("hedge", rate=rate)


def _with_rows(rows: Any) -> dict[str, Any]:
    everyone = {"learner": "blum-mansour", "settings": {"rows": rows}}
    return {"rounds": 50, "game": {"name": "shapley"}, "everyone": everyone}


def test_learners_among_the_settings() -> None:
    rows = players.FTRL(regulariser="log-barrier", optimistic=True, rate=0.1)
    learner = players.BlumMansour(rows=rows)
    table = {"learner": "ftrl", "regulariser": "log-barrier", "optimistic": True, "rate": 0.1}
    assert players.make("blum-mansour", rows=table) == learner
    text = "blum-mansour:rows=ftrl(regulariser=log-barrier,optimistic=true,rate=0.1)"
    assert players.from_text(text) == learner
    assert players.make(learner.name, **learner.settings()) == learner
    record = Scenario.from_dict(_with_rows(table)).simulation().run(50)
    assert record.learners[0] == learner.with_horizon(50)
    given = gamesim.simulate("shapley", text, 50)
    assert (np.array(record.joint) == np.array(given.joint)).all()
    plain, other = (gamesim.simulate("shapley", one, 50, perturb=0.3) for one in ("blum-mansour:rows=ftrl", text))
    assert not np.allclose(plain.average[0], other.average[0])


def test_rows_with_settings_match_rows_run_by_hand() -> None:
    d, losses = 3, np.random.default_rng(4).uniform(-1, 1, (30, 3))
    rows: list[Any] = [players.FTRL("euclidean", optimistic=True, rate="0.3/sqrt(t)").start(d) for _ in range(d)]
    learner = players.BlumMansour(rows=players.FTRL("euclidean", optimistic=True, rate="0.3/sqrt(t)")).start(d)
    for loss in losses:
        phi = np.array([row.play() for row in rows])
        values, vectors = np.linalg.eig(phi.T)
        fixed = np.real(vectors[:, np.argmin(abs(values - 1))])
        strategy = fixed / fixed.sum()
        assert np.allclose(learner.play(), strategy, atol=1e-9)
        learner.observe(loss)
        for i, row in enumerate(rows):
            row.observe(strategy[i] * loss)


def test_the_bound_of_rows_with_settings_is_kept() -> None:
    learner = players.BlumMansour(rows=players.Hedge(rate=0.05))
    promise = learner.guarantee()
    assert promise is not None and promise.regret == "swap"
    assert promise.bound(1000, 5) == pytest.approx(5 * (np.log(5) / 0.05 + 0.05 * 1000 / 2))
    default: Learner = players.BlumMansour(rows=players.Hedge())
    assert default.guarantee().bound(1000, 5) == players.BlumMansour(rows="hedge").guarantee().bound(1000, 5)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("rows", "key", "words"),
    [
        ({"learner": "ftlr"}, "rows.learner", "did you mean 'ftrl'"),
        ({"learner": "ftrl", "rat": 1}, "rows.rat", "did you mean 'rate'"),
        ({"learner": "ftrl", "optimistic": 3}, "rows.optimistic", "valid boolean"),
        ({"learner": "hedge", "rate": -2.0}, "rows.rate", "must be positive"),
        ({"optimistic": True}, "rows.learner", "missing"),
        ({"learner": "exp3"}, "rows", "learns from the loss of every action"),
    ],
)
def test_mistakes_in_nested_settings_name_their_key(rows: Any, key: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.from_dict(_with_rows(rows))
    assert f"everyone.settings.{key}: " in str(caught.value) and words in str(caught.value)


@pytest.mark.parametrize("text", ["hedge:rate", "blum-mansour:rows=ftrl(rate=1", "blum-mansour:rows=ftrl(rate)"])
def test_malformed_notation_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"must have the form|must be closed"):
        players.from_text(text)
