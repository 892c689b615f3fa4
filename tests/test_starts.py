"""Initial conditions: learners start at a strategy and continue from there."""

from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, players
from gamesim.scenario import Scenario

STRATEGY = np.array([0.2, 0.5, 0.3])
CAN = [
    "hedge", "hedge:rate=0.5", "first-order-hedge", "ftrl", "ftrl:regulariser=euclidean",
    "ftrl:regulariser=log-barrier:rate=0.2", "optimistic-hedge", "gradient", "replicator", "smooth-fictitious-play",
    "regret-matching", "regret-matching-plus", "predictive-rm-plus", "internal-regret-matching", "stoltz-lugosi",
    "blum-mansour", "blum-mansour:rows=ftrl(regulariser=log-barrier)",
]  # fmt: skip


@pytest.mark.parametrize("text", CAN)
def test_it_plays_the_start_and_goes_on_from_there(text: str) -> None:
    learner = players.from_text(text)
    running = learner.start(3)
    learner.start_at(running.state, STRATEGY)
    assert np.allclose(running.play(), STRATEGY, atol=1e-12)
    running.observe([0.01, 0.0, -0.01])  # a small loss moves it by little from the start, not from uniform
    after = running.play()
    assert 0 < abs(after - STRATEGY).sum() < abs(after - 1 / 3).sum()


def test_the_others_say_that_they_cannot() -> None:
    refused = []
    for name, kind in players.available().items():
        learner = kind().with_horizon(100)
        try:
            learner.start_at(learner.first_state(3), STRATEGY)
        except InputError as error:
            assert f"{name} cannot start at a given strategy" in str(error)
            refused.append(name)
    assert not set(refused) & {text.partition(":")[0] for text in CAN}


def test_replicator_continues_by_its_formula() -> None:
    step, a, b = 0.1, np.array([[1, -1], [-1, 1.0]]), np.array([[-1, 1], [1, -1.0]])
    p, q = np.array([0.9, 0.1]), np.array([0.2, 0.8])
    simulation = gamesim.Simulation("matching-pennies", players.make("replicator", step=step), start=[p, q])
    for _ in range(5):
        played = simulation.run(1).last
        assert np.allclose(played[0], p, atol=1e-14) and np.allclose(played[1], q, atol=1e-14)
        u, v = a @ q, p @ b
        p, q = p * (1 + step * (u - p @ u)), q * (1 + step * (v - q @ v))


def test_hedge_continues_with_the_start_as_its_prior() -> None:
    eta, prior = 0.3, np.array([0.7, 0.1, 0.2])
    simulation = gamesim.Simulation("shapley", players.make("hedge", rate=eta), start=[prior, None], seed=1)
    game, total, other = simulation.game, np.zeros(3), np.zeros(3)
    for _ in range(20):
        played = simulation.run(1).last
        weights = prior * np.exp(-eta * total)
        assert np.allclose(played[0], weights / weights.sum(), atol=1e-12)
        losses = np.split(game.expected_losses(np.concatenate(played)), 2)
        total, other = total + losses[0], other + losses[1]


def test_an_opening_is_for_the_first_round_only() -> None:
    record = gamesim.Simulation("shapley", "gradient", opening=[[1, 0, 0], None])
    assert record.run(1).last[0].tolist() == [1, 0, 0]
    second = record.run(1).last[0]
    plain = players.make("gradient").start(3)
    plain.observe(record.game.expected_losses(np.array([1, 0, 0, 1 / 3, 1 / 3, 1 / 3]))[:3])
    assert np.allclose(second, plain.play())


def test_starts_differ_by_replica() -> None:
    points = np.random.default_rng(0).dirichlet([1, 1, 1], size=4)
    together = gamesim.simulate("shapley", "replicator", 50, replicas=4, start=[points, [0.1, 0.1, 0.8]])
    for r, one in enumerate(together):
        alone = gamesim.simulate("shapley", "replicator", 50, seed=r, start=[points[r], [0.1, 0.1, 0.8]])
        assert (np.array(one.joint) == alone.joint).all()
    cloud = gamesim.simulate("shapley", "replicator", 1, replicas=5, start="random", seed=7)
    assert len({tuple(row) for row in cloud.last[0]}) == 5
    assert (cloud[2].last[0] == gamesim.simulate("shapley", "replicator", 1, start="random", seed=9).last[0]).all()


def test_a_grid_covers_the_square_and_the_triangles() -> None:
    record = gamesim.simulate("matching-pennies", "replicator", 1, replicas=400, start="grid")
    points = {(round(p, 9), round(q, 9)) for p, q in zip(record.last[0][:, 0], record.last[1][:, 0], strict=True)}
    assert points == {(round((i + 0.5) / 20, 9), round((j + 0.5) / 20, 9)) for i in range(20) for j in range(20)}
    triangle = gamesim.simulate("shapley", "replicator", 1, replicas=36, start="grid")
    assert np.allclose(triangle.last[0].sum(axis=1), 1) and triangle.last[0].min() > 0
    assert len({tuple(row.round(9)) for row in triangle.last[0]}) == 6
    with pytest.raises(InputError, match="such as 361, 400, 441, got 390"):
        gamesim.simulate("matching-pennies", "replicator", 1, replicas=390, start="grid")


def test_a_record_states_no_bound_for_another_start() -> None:
    started = gamesim.simulate("shapley", "hedge", 50, start=[[0.98, 0.01, 0.01], None])
    assert started.bound(0, "external") is None and started.bound(1, "external") is not None


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ([[0.5, 0.6, 0.1], None], "sum to 1"),
        ([[0.5, 0.5], None], "3 non-negative numbers"),
        ("everywhere", "unknown start"),
        ([[[1, 0, 0]] * 3, None], "one strategy for each of 1 replicas, got 3"),
        ([None], "one entry for each of the 2 players"),
    ],
)
def test_other_starts_are_refused(start: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        gamesim.simulate("shapley", "hedge", 5, start=start)


def test_starts_in_scenarios() -> None:
    raw: dict[str, Any] = {"rounds": 3, "game": {"name": "matching-pennies"}}
    everyone = {"learner": "replicator", "start": [0.9, 0.1]}
    record = Scenario.from_dict({**raw, "everyone": everyone}).simulation().run(1)
    assert np.allclose(record.last[1], [0.9, 0.1])
    grid = Scenario.from_dict({**raw, "replicas": 9, "everyone": {"learner": "replicator", "start": "grid"}})
    assert len(grid.simulation().run(1).last[0]) == 9
    assert Scenario.from_dict({**raw, "everyone": everyone}).to_toml().count("start") == 1
    with pytest.raises(InputError, match=r"everyone\.start: squint cannot start at a given strategy"):
        Scenario.from_dict({**raw, "everyone": {"learner": "squint", "start": [0.9, 0.1]}})


class Stubborn:
    def __init__(self, actions: int) -> None:
        self.strategy = np.full(actions, 1 / actions)

    def play(self) -> Any:
        return self.strategy

    def observe(self, loss: Any) -> None:
        pass


class Placed(Stubborn):
    def start_at(self, strategy: Any) -> None:
        self.strategy = strategy


def test_a_python_learner_may_define_its_start() -> None:
    record = gamesim.simulate("shapley", [Placed, "hedge"], 2, start=[STRATEGY, None])
    assert (record.last[0] == STRATEGY).all()
    with pytest.raises(InputError, match="Stubborn cannot start"):
        gamesim.simulate("shapley", [Stubborn, "hedge"], 2, start=[STRATEGY, None])
