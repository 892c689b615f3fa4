"""Protocols: order of moves, feedback per player, delay, noise and varying games, against literal loops."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, Simulation, games, players, simulate
from gamesim.games.varying import Varying

pytestmark = pytest.mark.slow

GAME = games.make("uniform", players=3, actions=[3, 2, 4], seed=8)
LEARNERS = ["hedge", "regret-matching", "gradient"]


class InPython:
    """A built-in learner behind the interface of a user's class."""

    def __init__(self, actions: int, name: str = "hedge") -> None:
        self.inner = players.make(name).start(actions)

    def play(self) -> Any:
        return self.inner.play()

    def observe(self, loss: Any) -> None:
        self.inner.observe(loss)


def losses_of(profile: list[Any]) -> list[Any]:
    """Return the losses of every action by Einstein sums of the tables, without gamesim's kernels."""
    p, q, r = profile
    tables = GAME.losses
    return [
        np.einsum("ijk,j,k", tables[0], q, r),
        np.einsum("ijk,i,k", tables[1], p, r),
        np.einsum("ijk,i,j", tables[2], p, q),
    ]


@pytest.mark.parametrize("python", [None, 0, 2])
def test_alternating_moves_match_a_literal_loop(python: int | None) -> None:
    given: list[Any] = [InPython if i == python and name == "hedge" else name for i, name in enumerate(LEARNERS)]
    simulation: Any = Simulation(GAME, given, order="alternating", opening=[[0.7, 0.2, 0.1], None, None])
    running = [players.make(name).start(size) for name, size in zip(LEARNERS, GAME.sizes, strict=True)]
    current = [one.play() for one in running]
    current[0] = np.array([0.7, 0.2, 0.1])
    average = np.zeros(9)
    for t in range(30):
        record = simulation.run(1)
        for played, expected in zip(record.last, current, strict=True):
            assert np.allclose(played, expected, atol=1e-12), f"round {t + 1}"
        average += np.concatenate(current)
        for i, one in enumerate(running):
            one.observe(losses_of(current)[i])  # against what the players before have already moved to
            current[i] = one.play()
    assert np.allclose(np.concatenate(record.average), average / 30)
    simultaneous = simulate(GAME, LEARNERS, 30, opening=[[0.7, 0.2, 0.1], None, None])
    assert not np.allclose(np.concatenate(simultaneous.last), np.concatenate(record.last), atol=1e-3)


def test_a_delay_matches_a_literal_loop() -> None:
    delay = 3
    simulation: Any = Simulation(GAME, ["hedge", InPython, "gradient"], delay=delay, perturb=0.4, seed=2)
    names = ["hedge", "hedge", "gradient"]
    running = [players.make(name).start(size) for name, size in zip(names, GAME.sizes, strict=True)]
    past = [losses_of(simulation.run(1).last)]
    for t in range(1, 20):
        expected = [one.play() for one in running]
        played = simulation.run(1).last
        for found, wanted in zip(played, expected, strict=True):
            assert np.allclose(found, wanted, atol=1e-12), f"round {t + 1}"
        past.append(losses_of(expected))
        if t >= delay:
            for i, one in enumerate(running):
                one.observe(past[t - delay][i])


def test_noise_is_added_to_what_learners_observe_only() -> None:
    simulation: Any = Simulation("matching-pennies", "fictitious-play", noise=0.3, seed=4)
    quiet: Any = Simulation("matching-pennies", "fictitious-play", seed=4)
    observed, real = [], np.zeros(4)
    for _ in range(2000):
        last = np.concatenate(simulation.run(1).last)
        real += simulation.game.expected_losses(last)
        observed.append(simulation._tracks[0].seen - simulation.game.expected_losses(last))
    noise = np.array(observed)
    assert abs(noise.mean()) < 0.02 and abs(noise.std() - 0.3) < 0.01
    assert abs(np.corrcoef(noise[:, 0], noise[:, 1])[0, 1]) < 0.07
    record = simulation.record()
    assert np.allclose(record.moments()[-1].matrices[0].sum(axis=0), real[:2])
    assert not np.allclose(np.concatenate(quiet.run(2000).last), np.concatenate(record.last))


@pytest.mark.parametrize(
    "options", [{"noise": 0.2}, {"delay": 5}, {"order": "alternating"}, {"noise": 0.1, "delay": 2}]
)
def test_pieces_replicas_and_saved_records_are_the_same(options: Any, tmp_path: Path) -> None:
    whole = simulate(GAME, LEARNERS, 137, seed=5, perturb=0.3, replicas=2, **options)
    pieces: Any = Simulation(GAME, LEARNERS, seed=5, perturb=0.3, replicas=2, **options)
    for rounds in (1, 2, 40):
        record = pieces.run(rounds)
    again = Simulation.resume(gamesim.load(record.save(tmp_path / "half"))).run(94)
    alone = simulate(GAME, LEARNERS, 137, seed=6, perturb=0.3, **options)
    assert (np.array(again.joint) == whole.joint).all() and (np.array(whole[1].joint) == alone.joint).all()
    assert np.array_equal(again.arrays["continue_state"], whole.arrays["continue_state"], equal_nan=True)


def test_feedback_per_player() -> None:
    seen: list[Any] = []

    class Listener(InPython):
        def observe(self, loss: Any, drawn: int = -1) -> None:
            seen.append((loss.copy(), drawn))
            super().observe(loss)

    feedback: Any = ["expected", "sampled", "bandit"]
    simulation: Any = Simulation(GAME, [Listener, "hedge", "tsallis-inf"], feedback=feedback, seed=3)
    for _ in range(50):
        record = simulation.run(1)
        expected = GAME.expected_losses(np.concatenate(record.last))
        track = simulation._tracks[0]
        assert np.allclose(seen[-1][0], expected[:3]) and seen[-1][1] == track.drawn[0]
        assert np.allclose(track.seen[3:5], GAME.expected_losses(track.profile)[3:5])
        assert np.isnan(track.seen[5:]).sum() == 3
    assert record.joint.sum() == pytest.approx(1) and np.allclose(record.joint * 50, np.round(record.joint * 50))
    with pytest.raises(InputError, match="tsallis-inf requires bandit feedback, got expected"):
        Simulation(GAME, ["tsallis-inf", "hedge", "hedge"], feedback=["expected"] * 3)


def test_a_python_learner_gets_its_own_generator() -> None:
    class Noisy:
        def __init__(self, actions: int, random: np.random.Generator) -> None:
            self.strategy = random.dirichlet(np.ones(actions))

        def play(self) -> Any:
            return self.strategy

        def observe(self, loss: Any) -> None:
            pass

    record = simulate("shapley", Noisy, 2, replicas=3, seed=1)
    rows = {tuple(row) for side in record.last for row in side}
    assert len(rows) == 6
    assert (simulate("shapley", Noisy, 2, seed=2).last[0] == record[1].last[0]).all()


def test_a_varying_game_pays_by_its_schedule(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    tables = random.uniform(-3, 5, (3, 2, 2, 3))
    for change in ("abrupt", "drifting"):
        game = Varying.from_tables(list(tables), every=4, change=change)
        record = simulate(game, ["hedge", "regret-matching"], 50, trajectory="every")
        total = np.zeros(2)
        p, q = record.trajectory[1]
        for t in range(50):
            now, share = t // 4 % 3, (t % 4) / 4 if change == "drifting" else 0.0
            table = (1 - share) * tables[now] + share * tables[(now + 1) % 3]
            total += [p[t] @ table[0] @ q[t], p[t] @ table[1] @ q[t]]
        assert np.allclose(record.payoffs, total / 50)
        again = gamesim.load(record.save(tmp_path / change))
        assert (
            Simulation.resume(again).run(30).payoffs == simulate(game, ["hedge", "regret-matching"], 80).payoffs
        ).all()


def test_facing_losses_is_learning_without_a_game() -> None:
    losses = np.random.default_rng(1).uniform(-1, 1, (300, 4))
    record = gamesim.face("regret-matching", losses)
    learner, matrix = players.make("regret-matching").start(4), np.zeros((4, 4))
    for loss in losses:
        matrix += np.outer(learner.play(), loss)
        learner.observe(loss)
    assert np.allclose(record.moments()[-1].matrices[0], matrix)
    assert record.regret("external")[0] == pytest.approx(np.trace(matrix) - matrix.sum(axis=0).min())

    def worst(round: int, strategy: Any) -> Any:
        return np.where(np.arange(4) == strategy.argmax(), 1.0, -1.0)

    adaptive = gamesim.face("hedge", worst, rounds=400, actions=4)
    assert 0 < adaptive.regret("external")[0] <= adaptive.bound(0, "external")
    bandit = gamesim.face("exp3", losses, feedback="bandit", seed=2)
    assert bandit.feedback == "bandit"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"order": "both"}, "unknown order"),
        ({"delay": -1}, "delay must be an integer of at least 0"),
        ({"delay": 10**9}, "at most 1,000,000"),
        ({"noise": float("nan")}, "noise must be a number from 0"),
        ({"order": "alternating", "feedback": "sampled"}, "alternating moves need expected feedback"),
        ({"feedback": ["expected"]}, "one entry for each of the 3 players"),
    ],
)
def test_other_protocols_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        simulate(GAME, LEARNERS, 5, **given)


@pytest.mark.parametrize(
    ("losses", "given", "words"),
    [
        ([[2.0, 0.0]], {}, r"must lie in \[-1, 1\], got 2.0"),
        ([[float("nan"), 0.0]], {}, "got nan"),
        ([1.0, 0.0], {}, "one row per round"),
        (lambda round, strategy: [0, 0], {}, "needs rounds="),
        (lambda round, strategy: [0, 0], {"rounds": 5, "actions": 2, "noise": 0.1}, "remove noise="),
    ],
)
def test_other_losses_are_refused(losses: Any, given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        gamesim.face("hedge", losses, **given)


def test_no_bound_is_stated_for_another_protocol() -> None:
    assert simulate("shapley", "hedge", 50, delay=2).bound(0, "external") is None
    assert simulate("shapley", "hedge", 50).bound(0, "external") is not None
