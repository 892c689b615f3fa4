"""Compare the loop with plain NumPy, and test reproducibility, threads, feedback and memory limits."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gamesim import InputError, Record, Simulation, equilibrium, games, load, players, simulate
from gamesim.game import Table
from gamesim.learner import Feedback
from tests.test_conformance import NumpyHedge

SIZES = [3, 2, 4]


def three_player_game(seed: int = 0) -> Table:
    return games.make("uniform", players=3, actions=SIZES, seed=seed)


def plain_numpy(game: Table, rounds: int) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Run anytime Hedge for every player, with losses by einsum, as an independent reference."""
    learners = [NumpyHedge(size) for size in game.sizes]
    matrices = [np.zeros((size, size)) for size in game.sizes]
    joint = np.zeros(game.sizes)
    for _ in range(rounds):
        p, q, r = (learner.play() for learner in learners)
        losses = [
            np.einsum("abc,b,c->a", game.losses[0], q, r),
            np.einsum("abc,a,c->b", game.losses[1], p, r),
            np.einsum("abc,a,b->c", game.losses[2], p, q),
        ]
        joint += np.einsum("a,b,c->abc", p, q, r)
        for i, (strategy, loss) in enumerate(zip((p, q, r), losses, strict=True)):
            matrices[i] += np.outer(strategy, loss)
            learners[i].observe(loss)
    return matrices, joint / rounds


def same_bits(one: Record, other: Record) -> bool:
    return all(np.array_equal(one.arrays[name], other.arrays[name], equal_nan=True) for name in one.arrays)


@pytest.mark.parametrize("rounds", [1, 7, 8, 501])
def test_loop_agrees_with_plain_numpy(rounds: int) -> None:
    game = three_player_game()
    record = simulate(game, "hedge", rounds)
    matrices, joint = plain_numpy(game, rounds)
    assert record.joint is not None
    np.testing.assert_allclose(record.joint, joint, atol=1e-12)
    swap = [(np.diag(m) - m.min(axis=1)).sum() for m in matrices]
    np.testing.assert_allclose(record.regret("swap"), swap * game.scale, atol=1e-10)
    external = [np.trace(m) - m.sum(axis=0).min() for m in matrices]
    np.testing.assert_allclose(record.regret("external"), external * game.scale, atol=1e-10)


def test_python_learners_give_the_same_numbers() -> None:
    game = three_player_game(1)
    compiled = simulate(game, ["hedge", "regret-matching", "hedge"], 700, seed=2, perturb=0.3)
    mixed = simulate(game, [NumpyHedge, "regret-matching", NumpyHedge], 700, seed=2, perturb=0.3)
    for name in ("joint", "trajectory"):
        np.testing.assert_allclose(mixed.arrays[name], compiled.arrays[name], atol=1e-12 * 700, rtol=1e-12)
    np.testing.assert_allclose(mixed.arrays["trajectory"], compiled.arrays["trajectory"], atol=1e-12)


def test_gaps_from_the_joint_distribution_equal_gaps_from_the_regrets() -> None:
    game = three_player_game(3)
    for feedback in ("expected", "sampled"):
        record = simulate(game, ["hedge", "regret-matching-plus", "best-response"], 333, seed=1, feedback=feedback)
        assert record.joint is not None
        for kind in ("ce", "cce"):
            assert abs(record.gap(kind) - equilibrium.gap(game, record.joint, kind)) < 1e-9


def test_results_do_not_depend_on_pieces_threads_or_replicas(monkeypatch: pytest.MonkeyPatch) -> None:
    game = three_player_game(4)
    learners = ["hedge", "regret-matching", "fictitious-play"]

    def run(feedback: Feedback, pieces: list[int], threads: int) -> Record:
        monkeypatch.setattr("gamesim.simulation.simulation.cpu_count", lambda: threads)
        simulation = Simulation(game, learners, seed=9, feedback=feedback, replicas=4, perturb=0.2)
        for rounds in pieces:
            record = simulation.run(rounds)
        return record

    for feedback in ("expected", "sampled"):
        whole = run(feedback, [3000], 1)
        assert same_bits(whole, run(feedback, [3000], 2))
        assert same_bits(whole, run(feedback, [1, 2, 5, 992, 1000, 1000], 2))
        assert not np.array_equal(whole[0].arrays["joint"], whole[1].arrays["joint"]), "replicas must differ"
        assert same_bits(whole[2], simulate(game, learners, 3000, seed=11, feedback=feedback, perturb=0.2))


def test_saved_bytes_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        simulate("chicken", ["hedge", "regret-matching"], 500, seed=3, feedback="sampled").save(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_save_load_and_continue(tmp_path: Path) -> None:
    game = three_player_game(5)
    for feedback in ("expected", "sampled"):
        simulation = Simulation(game, ["hedge", "regret-matching", "hedge"], seed=1, feedback=feedback, perturb=0.5)
        record = simulation.run(1234)
        read = load(record.save(tmp_path / feedback))
        assert same_bits(record, read)
        assert (read.seed, read.rounds, read.learners, read.feedback) == (1, 1234, record.learners, feedback)
        assert isinstance(read.game, Table)
        assert np.array_equal(read.game.payoffs, game.payoffs)
        assert read.game.actions == game.actions
        assert same_bits(Simulation.resume(read).run(766), simulation.run(766))


def test_an_existing_record_is_not_overwritten(tmp_path: Path) -> None:
    record = simulate("chicken", "hedge", 10)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("data")
    with pytest.raises(InputError, match="already exists"):
        record.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "precious").read_text() == "data"
    record.save(tmp_path / "mine", force=True)
    assert load(tmp_path / "mine").rounds == 10
    assert [path.name for path in tmp_path.iterdir()] == ["mine"], "no other files may remain"


def test_sampled_play_follows_the_strategies() -> None:
    game = games.from_payoffs(np.arange(6.0).reshape(2, 3), -np.arange(6.0).reshape(2, 3))
    row = players.make("fixed", strategy=(0.2, 0.8))
    column = players.make("fixed", strategy=(0.5, 0.0, 0.5))
    rounds = 40_000
    record = simulate(game, [row, column], rounds, seed=5, feedback="sampled")
    assert record.joint is not None
    expected = np.outer([0.2, 0.8], [0.5, 0.0, 0.5])
    spread = 5 * np.sqrt(expected * (1 - expected) / rounds)
    assert (np.abs(record.joint - expected) <= spread).all()
    assert (record.joint[:, 1] == 0).all()
    np.testing.assert_allclose(record.payoffs[0], (record.joint * game.payoffs[0]).sum(), atol=1e-12)


class Notes:
    """A learner that plays uniformly and keeps the losses it observes."""

    observed: list[np.ndarray[Any, Any]]

    def __init__(self, actions: int) -> None:
        self.actions = actions
        type(self).observed = []

    def play(self) -> np.ndarray[Any, Any]:
        return np.full(self.actions, 1 / self.actions)

    def observe(self, loss: np.ndarray[Any, Any]) -> None:
        self.observed.append(loss)


def test_bandit_feedback_reveals_only_the_drawn_action() -> None:
    simulate(three_player_game(6), [Notes, "uniform", "uniform"], 50, feedback="bandit")
    assert all(np.isnan(loss).sum() == 2 for loss in Notes.observed)
    assert len({int(np.flatnonzero(~np.isnan(loss))[0]) for loss in Notes.observed}) == 3
    with pytest.raises(InputError, match="hedge requires expected or sampled feedback, got bandit"):
        simulate("chicken", "hedge", 10, feedback="bandit")


def test_expected_feedback_is_the_loss_against_the_others() -> None:
    game = three_player_game(7)
    others = players.Fixed(strategy=(0.3, 0.7)), players.Fixed(strategy=(0.1, 0.2, 0.3, 0.4))
    simulate(game, [Notes, *others], 3)
    expected = np.einsum("abc,b,c->a", game.losses[0], others[0].strategy, others[1].strategy)
    np.testing.assert_allclose(Notes.observed, [expected] * 3, atol=1e-14)


def test_an_informed_player_best_responds_to_the_current_round() -> None:
    pennies = games.make("matching-pennies")
    record = simulate(pennies, ["hedge", "adversary"], 500, perturb=[0.5, 0.0])
    assert record.payoffs[0] < 0, "a player who observes the opponent's strategy cannot lose at matching pennies"
    _, (strategies, replies) = record.trajectory
    values = strategies @ pennies.losses[1]
    np.testing.assert_allclose((replies * values).sum(axis=1), values.min(axis=1), atol=1e-12)


def test_start_and_perturb_change_the_first_round_only() -> None:
    record = simulate("shapley", "hedge", 2, opening=[[1, 0, 0], None], perturb=[0.0, 0.25], seed=1)
    _, (row, column) = record.trajectory
    assert row[0].tolist() == [1, 0, 0]
    assert 0 < np.abs(column[0] - 1 / 3).max() <= 0.25
    assert record.started == (True, True)
    loss = games.make("shapley").losses[0] @ column[0]
    weights = np.exp(-np.sqrt(np.log(3)) * loss)
    np.testing.assert_allclose(row[1], weights / weights.sum(), atol=1e-12)


def test_measures_on_the_curve_are_those_of_shorter_runs() -> None:
    curve = simulate(three_player_game(8), "hedge", 250, perturb=0.5).curve
    assert curve.rounds.tolist()[-3:] == [158, 200, 250]
    for k in (0, 4, len(curve.rounds) - 1):
        shorter = simulate(three_player_game(8), "hedge", int(curve.rounds[k]), perturb=0.5)
        assert curve.gap("ce")[k] == shorter.gap("ce")
        assert curve.distance("cce")[k] == shorter.distance("cce")
        assert curve.regret("internal")[k].tolist() == shorter.regret("internal").tolist()


def test_the_trajectory_keeps_one_round_of_every_stretch() -> None:
    rounds, (strategies, _) = simulate("chicken", "hedge", 5000, perturb=0.5).trajectory
    whole = simulate("chicken", "hedge", 1000, perturb=0.5).trajectory
    assert rounds[0] == 1 and ((rounds - 1) // 8).tolist() == list(range(len(rounds))) and len(rounds) >= 624
    assert whole[0].tolist() == list(range(1, 1001))
    early = rounds <= 1000
    assert np.array_equal(strategies[early], whole[1][0][rounds[early] - 1])


def test_progress_can_stop_a_run() -> None:
    simulation = Simulation("chicken", "hedge")
    record = simulation.run(10**9, progress=lambda now: now.rounds > 1000)
    assert 1000 < record.rounds < 10**8
    assert record.rounds == simulation.rounds


def test_a_joint_distribution_that_is_too_large_is_omitted() -> None:
    big = games.from_payoffs(*np.random.default_rng(0).random((2, 2**11, 2**11 + 1)))
    record = simulate(big, "regret-matching", 3)
    assert record.joint is None
    assert record.gap("cce") >= 0
    with pytest.raises(InputError, match="4,196,352 action profiles, above the limit"):
        record.distance("ce")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rounds": 0}, "rounds must be an integer of at least 1, got 0"),
        ({"rounds": 1.5}, "rounds must be an integer"),
        ({"learners": ["hedge"]}, "one entry for each of the 2 players of chicken, got 1"),
        ({"learners": ["hegde", "hedge"]}, "did you mean 'hedge"),
        ({"learners": [3, "hedge"]}, "a learner must be a name"),
        ({"game": "chiken"}, "did you mean 'chicken"),
        ({"feedback": "smapled"}, "did you mean 'sampled"),
        ({"seed": -1}, "seed must be an integer"),
        ({"replicas": 0}, "replicas must be"),
        ({"replicas": 10**9}, "GiB"),
        ({"start": [[0.5, 0.6], None]}, "sum to 1"),
        ({"start": [[0.5, 0.5, 0.0], None]}, "2 non-negative numbers"),
        ({"perturb": 2.0}, r"perturb must lie in \[0, 1\], got 2.0"),
    ],
)
def test_mistakes_are_reported(given: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"game": "chicken", "learners": ["hedge", "hedge"], "rounds": 10} | given
    with pytest.raises(InputError, match=message):
        simulate(**arguments)


def test_regret_profile_and_phi_against_brute_force() -> None:
    game = games.make("uniform", players=2, actions=[3, 4], seed=2)
    record = simulate(game, "hedge", 97, perturb=1.0, seed=1)
    for player, size in enumerate(game.sizes):
        together, alone = record.profile(player)
        best = {"together": np.full(size, -np.inf), "alone": np.full(size, -np.inf)}
        for targets in product(range(size), repeat=size):
            phi = np.eye(size)[list(targets)]
            phis = [phi if i == player else np.eye(n) for i, n in enumerate(game.sizes)]
            regret = record.regret("phi", phi=phis)[player]
            frequent = max(targets.count(target) for target in targets)
            fixed = sum(target == action for action, target in enumerate(targets))
            for k in range(1, size + 1):
                if frequent >= size - k + 1:
                    best["together"][k - 1] = max(best["together"][k - 1], regret)
                if fixed >= size - k:
                    best["alone"][k - 1] = max(best["alone"][k - 1], regret)
        np.testing.assert_allclose(together, best["together"], atol=1e-10)
        np.testing.assert_allclose(alone, best["alone"], atol=1e-10)
        assert together[0] == pytest.approx(record.regret("external")[player])
        assert alone[0] == pytest.approx(record.regret("internal")[player])
        assert together[-1] == pytest.approx(record.regret("swap")[player])


def test_quantile_regret_runs_from_external_regret_down() -> None:
    game = games.make("uniform", actions=[4, 5], seed=1)
    record = simulate(game, "uniform", 50)
    assert record.regret("quantile", epsilon=1 / 4)[0] == pytest.approx(record.regret("external")[0])
    losses = [record.regret("quantile", epsilon=k / 5)[1] for k in range(1, 6)]
    assert losses == sorted(losses, reverse=True)
    sums = -np.sort(-game.payoffs[1].mean(axis=0))
    np.testing.assert_allclose(losses, 50 * (sums - sums.mean()), atol=1e-10)


def test_nash_gap_of_the_average_strategies() -> None:
    game = games.from_payoffs([[4, 0, 1], [1, 2, 0]], [[1, 2, 0], [0, 1, 5]])
    record = simulate(
        game, [players.make("fixed", strategy=(0.5, 0.5)), players.make("fixed", strategy=(0.2, 0.3, 0.5))], 9
    )
    row, column = np.array([1.3, 0.8]), np.array([0.5, 1.5, 2.5])
    gaps = row.max() - row.mean(), column.max() - column @ [0.2, 0.3, 0.5]
    assert record.nash_gap() == pytest.approx(max(gaps))


@pytest.mark.parametrize("learner", ["hedge", "regret-matching-plus"])  # the latter abandons most actions
@pytest.mark.parametrize("opposite", [False, True])
def test_replicas_of_a_large_table_are_the_same_bytes_as_single_runs(
    learner: str, opposite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gamesim.simulation.simulation.cpu_count", lambda: 2)
    game = games.make("uniform", actions=[131, 139], seed=2)
    if opposite:
        game = games.from_payoffs(game.payoffs[0], -game.payoffs[0])
    assert game.opposite == opposite
    options: Any = {"perturb": 0.3, "observers": ["dynamic-regret"]}
    together = Simulation(game, learner, seed=4, replicas=9, **options)
    assert together._groups, "this game is large enough for replicas to advance together"
    for piece in (1, 70, 90):
        together.run(piece, threads=piece % 3)
    found = together.record()
    resumed = Simulation.resume(found).run(40)
    for replica in (0, 7):
        alone = Simulation(game, learner, seed=4 + replica, **options)
        for record in (found, resumed):
            alone.run(record.rounds - alone.rounds)
            for name, array in alone.record().arrays.items():
                shared = name in ("checkpoints", "trajectory_rounds")
                ours, theirs = record.arrays[name], array
                if not shared:
                    ours, theirs = ours[replica], theirs[0]
                assert np.array_equal(ours, theirs, equal_nan=True), name
