"""Observers, user-defined measures, weighted averages and trajectories, against every round recomputed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, Simulation, games, simulate
from gamesim.engine.compiled import kernel
from gamesim.measure import regrets
from gamesim.measure.observers import observer

GAME = games.make("uniform", actions=[3, 4], seed=8)
ROUNDS = 333


@observer(size=2)
def in_python(total: Any, round: int, strategies: Any, losses: Any) -> None:
    total[0] += round * strategies[0]
    total[1] = max(total[1], losses[6])


@observer(size=2)
@kernel
def in_kernel(total: Any, round: int, strategies: Any, losses: Any) -> None:
    total[0] += round * strategies[0]
    total[1] = max(total[1], losses[6])


@pytest.fixture(scope="module")
def every() -> Any:
    """Return a run of which every round is kept, and its losses, recomputed."""
    names = ["dynamic-regret", "alternating-regret", "linear-weights", "quadratic-weights"]
    record = simulate(
        GAME, ["hedge", "hedge:rate=0.3"], ROUNDS, perturb=0.5, trajectory="every",
        observers=[in_python, in_kernel, *names],
    )  # fmt: skip
    rounds, (p, q) = record.trajectory
    assert (rounds == np.arange(1, ROUNDS + 1)).all()
    row, column = GAME.losses
    return record, [p, q], [q @ row.T, p @ column]


def test_observers_see_every_round_in_python_and_in_kernels(every: Any) -> None:
    record, (p, _), losses = every
    expected = [(np.arange(ROUNDS) * p[:, 0]).sum(), max(0, losses[1][:, 3].max())]
    assert np.allclose(record.observed("in_python"), expected)
    assert (record.observed("in_kernel") == record.observed("in_python")).all()


def test_dynamic_and_alternating_regret(every: Any) -> None:
    record, strategies, losses = every
    for i, (p, loss) in enumerate(zip(strategies, losses, strict=True)):
        scale = GAME.scale[i]
        dynamic = ((p * loss).sum(axis=1) - loss.min(axis=1)).sum()
        assert record.measure("dynamic-regret")[i] == pytest.approx(scale * dynamic)
        shared = 0.5 * (p * loss).sum() + 0.5 * (p[1:] * loss[:-1]).sum()
        assert record.measure("alternating-regret")[i] == pytest.approx(scale * (shared - loss.sum(axis=0).min()))


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_weighted_averages_and_gaps(every: Any, weights: Any, power: int) -> None:
    record, (p, q), losses = every
    w = np.arange(1, ROUNDS + 1.0) ** power
    joint = np.einsum("t,ti,tj->ij", w, p, q) / w.sum()
    assert np.allclose(record.measure("joint", weights=weights), joint)
    assert np.allclose(record.measure("average-strategies", weights=weights)[:3], w @ p / w.sum())
    gaps = []
    for i, (own, loss) in enumerate(zip((p, q), losses, strict=True)):
        matrix = np.einsum("t,ti,tj->ij", w, own, loss) / w.sum()
        gaps.append(regrets.swap(matrix) * GAME.scale[i])
    assert record.measure("ce-gap", weights=weights) == pytest.approx(max(gaps))
    assert record.curve.measure("ce-gap", weights=weights)[-1] == pytest.approx(max(gaps))
    assert record.measure("ce-gap", weights=weights) != pytest.approx(record.measure("ce-gap"), rel=1e-3)


def test_last_iterate_measures(every: Any) -> None:
    record, (p, q), _ = every
    a, b = GAME.payoffs
    gains = [(a @ q[-1]).max() - p[-1] @ a @ q[-1], (p[-1] @ b).max() - p[-1] @ b @ q[-1]]
    assert record.measure("last-nash-gap") == pytest.approx(max(gains))
    assert record.measure("last-duality-gap") == pytest.approx(sum(gains))
    target = [[0.2, 0.3, 0.5], [0.25] * 4]
    kl = sum((np.array(t) * np.log(np.array(t) / s)).sum() for t, s in zip(target, (p[-1], q[-1]), strict=True))
    assert record.measure("last-kl", profile=target) == pytest.approx(kl)
    along = record.curve.measure("last-kl", profile=target)
    k = len(along) // 2
    at = int(record.curve.rounds[k]) - 1
    kl = sum((np.array(t) * np.log(np.array(t) / s)).sum() for t, s in zip(target, (p[at], q[at]), strict=True))
    assert along[k] == pytest.approx(kl)


def test_divergence_from_the_nearest_equilibrium() -> None:
    record = simulate("battle-of-the-sexes", "hedge", 3, start=[[0.9, 0.1], [0.9, 0.1]])
    last = np.array(record.last)
    assert record.measure("last-kl-to-equilibrium") == pytest.approx(-np.log(last[:, 0]).sum())


def test_welfare_and_price_of_anarchy() -> None:
    record = simulate("prisoners-dilemma", "hedge", 500)
    best = games.make("prisoners-dilemma").payoffs.sum(axis=0).max()
    assert record.measure("price-of-anarchy") == pytest.approx(best / record.welfare)


def test_a_measure_of_ones_own_is_a_function_of_a_moment() -> None:
    record = simulate(GAME, "hedge", 200, perturb=0.5, replicas=4)

    def first_share(moment: Any) -> float:
        return float(moment.sums.last[0])

    assert np.allclose(record.measure(first_share), record.last[0][:, 0])
    along = record.curve.measure(first_share)
    assert along.shape == (4, len(record.curve.rounds)) and (along[:, -1] == record.last[0][:, 0]).all()


def test_totals_are_saved_loaded_and_resumed(tmp_path: Path) -> None:
    observers: Any = [in_kernel, "linear-weights", in_python]
    whole = simulate(GAME, "hedge", 120, perturb=0.3, observers=observers, replicas=2)
    half = simulate(GAME, "hedge", 50, perturb=0.3, observers=observers, replicas=2)
    loaded = gamesim.load(half.save(tmp_path / "half"))
    assert loaded.observers == ["in_kernel", "linear-weights", "in_python"]
    again = Simulation.resume(loaded, observers=observers).run(70)
    for name in loaded.observers:
        assert (again.observed(name) == whole.observed(name)).all()
    with pytest.raises(InputError, match="unknown observer 'in_kernel'"):
        Simulation.resume(loaded)


def test_every_round_of_a_tiny_game_is_kept_from_the_first_piece_on() -> None:
    losses = np.tile([[0.9, -0.2, 0.4], [-0.5, 0.3, 0.1]], (1500, 1))  # more rounds than a buffer holds
    record = gamesim.face("hedge:rate=0.05", losses, trajectory="every")
    weights = np.exp(-0.05 * np.vstack([np.zeros(3), losses.cumsum(axis=0)[:-1]]))
    assert np.array_equal(record.trajectory[0], np.arange(1, 3001))
    np.testing.assert_allclose(record.trajectory[1][0], weights / weights.sum(axis=1, keepdims=True), atol=1e-12)


def test_trajectories_keep_what_they_say(tmp_path: Path) -> None:
    every = simulate(GAME, "hedge", 3000, perturb=0.5, trajectory="every")
    assert len(every.trajectory[0]) == 3000
    third = simulate(GAME, "hedge", 3000, perturb=0.5, trajectory=3)
    assert (third.trajectory[0] == np.arange(1, 3001, 3)).all()
    assert (third.trajectory[1][0] == every.trajectory[1][0][::3]).all()
    windows = simulate(GAME, "hedge", 3000, perturb=0.5, trajectory="windows")
    kept = windows.trajectory[0]
    assert {1000, 999, 993, 3000} - {3000} <= set(kept) and 992 not in kept
    thinned = simulate(GAME, "hedge", 3000, perturb=0.5)
    for record in (windows, thinned):
        at, (p, q) = record.trajectory
        assert (p == every.trajectory[1][0][at - 1]).all() and (q == every.trajectory[1][1][at - 1]).all()
    none = simulate(GAME, "hedge", 3000, perturb=0.5, trajectory="none")
    assert len(none.trajectory[0]) == 0 and (none.last[0] == every.last[0]).all()
    for kind in ("every", "windows", "thinned", "none", 7):
        half = simulate(GAME, "hedge", 1500, perturb=0.5, trajectory=kind)
        whole = simulate(GAME, "hedge", 3000, perturb=0.5, trajectory=kind)
        again = Simulation.resume(gamesim.load(half.save(tmp_path / str(kind)))).run(1500)
        assert (again.trajectory[0] == whole.trajectory[0]).all()
        assert (again.trajectory[1][0] == whole.trajectory[1][0]).all()


@pytest.mark.parametrize("period", [2, 3, 4, 8, 100])
def test_no_cycle_is_in_step_with_a_thinned_trajectory(period: int) -> None:
    class Cycle:
        def __init__(self, actions: int) -> None:
            self.round = 0

        def play(self) -> Any:
            return np.array([1.0, 0.0]) if self.round % period else np.array([0.0, 1.0])

        def observe(self, loss: Any) -> None:
            self.round += 1

    record = simulate("matching-pennies", Cycle, 2500)
    share = record.trajectory[1][0][:, 1].mean()
    assert abs(share - 1 / period) < 0.3 / period + 0.02


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"trajectory": "all"}, "unknown trajectory"),
        ({"trajectory": 0}, "trajectory must be an integer of at least 1"),
        ({"observers": ["regret"]}, "unknown observer"),
        ({"observers": [print]}, "decorated with @observer"),
        ({"observers": [in_kernel, in_kernel]}, "must differ"),
    ],
)
def test_other_arguments_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        simulate(GAME, "hedge", 5, **given)


def test_a_trajectory_beyond_the_limit_is_refused_before_it_is_run() -> None:
    with pytest.raises(InputError, match="a trajectory of 1,000,000,000 rounds would need"):
        simulate(GAME, "hedge", 10**9, trajectory="every")


def test_an_error_in_an_observer_names_its_line() -> None:
    @observer()
    def broken(total: Any, round: int, strategies: Any, losses: Any) -> None:
        total[5] = 1

    with pytest.raises(InputError, match=r"the observer broken failed in round 1: test_observers.py, line \d+"):
        simulate(GAME, "hedge", 5, observers=[broken])


def test_measures_that_need_an_observer_say_so() -> None:
    record = simulate(GAME, "hedge", 5)
    with pytest.raises(InputError, match=r'run it with observers=\["dynamic-regret"\]'):
        record.measure("dynamic-regret")
    with pytest.raises(InputError, match="no observer 'linear-weights'"):
        record.measure("ce-gap", weights="linear")
