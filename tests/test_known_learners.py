"""Known behaviour of the learners in games: numbers that an incorrect learner would miss."""

import numpy as np
import pytest
from numpy.typing import NDArray

import gamesim
from gamesim import players
from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel

Array = NDArray[np.float64]


@kernel
def _self_play(
    kernels: tuple[int, int],
    settings: tuple[Vector, Vector],
    states: tuple[Vector, Vector],
    payoffs: Array,
    rounds: int,
    power: int,
    averages: tuple[Vector, Vector],
) -> None:
    """Let two learners play a zero-sum game; average their strategies with weights t^power."""
    m, n = payoffs.shape
    p, q, row_loss, column_loss = np.zeros(m), np.zeros(n), np.zeros(m), np.zeros(n)
    play, observe = kernels
    total = 0.0
    for t in range(1, rounds + 1):
        call_learner(play, settings[0], states[0], p)
        call_learner(play, settings[1], states[1], q)
        weight = float(t) ** power
        total += weight
        for i in range(m):
            row_loss[i] = 0.0
            for j in range(n):
                row_loss[i] -= payoffs[i, j] * q[j]
            averages[0][i] += weight * p[i]
        for j in range(n):
            column_loss[j] = 0.0
            for i in range(m):
                column_loss[j] += payoffs[i, j] * p[i]
            averages[1][j] += weight * q[j]
        call_learner(observe, settings[0], states[0], row_loss)
        call_learner(observe, settings[1], states[1], column_loss)
    for average in averages:
        for i in range(average.size):
            average[i] /= total


def duality_gaps(name: str, rounds: int, power: int) -> Array:
    """Return the duality gaps of the average strategies in ten random 10 × 10 zero-sum games."""
    player = players.make(name)
    gaps = []
    for seed in range(10):
        payoffs = np.random.default_rng(seed).uniform(-1, 1, (10, 10))
        play, observe = (address(function, LEARNER_KERNEL) for function in player.kernels)
        settings = player.kernel_settings(10), player.kernel_settings(10)
        states = player.first_state(10), player.first_state(10)
        row, column = np.zeros(10), np.zeros(10)
        _self_play((play, observe), settings, states, payoffs, rounds, power, (row, column))
        gaps.append((payoffs @ column).max() - (row @ payoffs).min())
    return np.array(gaps)


@pytest.mark.parametrize(
    ("name", "power", "known"),
    [
        ("hedge", 0, (0.077, 0.019, 0.0054)),
        ("regret-matching", 0, (0.11, 0.033, 0.0092)),
        ("regret-matching-plus", 1, (0.068, 0.012, 0.0019)),
    ],
)
def test_duality_gaps_in_random_zero_sum_games(name: str, power: int, known: tuple[float, ...]) -> None:
    found = [duality_gaps(name, rounds, power).mean() for rounds in (100, 1000, 10_000)]
    np.testing.assert_allclose(found, known, rtol=0.15)


def test_predictive_regret_matching_plus_is_faster_by_orders_of_magnitude() -> None:
    """In one of five of these games it has not converged at T = 10^4; the median gap is below 1e-8."""
    found = [np.median(duality_gaps("predictive-rm-plus", rounds, 2)) for rounds in (100, 1000, 10_000)]
    assert 1e-3 < found[0] < 1e-2
    assert 3e-6 < found[1] < 1e-4
    assert found[2] < 1e-8


def test_optimistic_hedges_regret_stays_bounded_where_hedges_grows() -> None:
    payoffs = np.random.default_rng(3).uniform(-1, 1, (7, 10))
    game = gamesim.games.from_payoffs(payoffs, -payoffs)

    def regrets(name: str) -> Array:
        return np.array(
            [gamesim.simulate(game, name, rounds=rounds).regret("external").max() for rounds in (10**3, 10**4)]
        )

    optimistic, plain = regrets("optimistic-hedge"), regrets("hedge")
    assert optimistic[1] < 1.1 * optimistic[0] < 5
    assert plain[1] > 2 * plain[0]
    assert plain[1] > 10


def divergences(name: str) -> list[float]:
    """Return KL(Nash ‖ play), summed over both players of matching pennies, in rounds 1, 100, 1000, 5000."""
    payoffs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    row, column = (players.make(name, rate=0.1).start(2) for _ in range(2))
    for loss in ([-0.56, 0.56], [-0.56, 0.56], [0.0, 0.0]):
        row.observe(loss)
    found = []
    for t in range(1, 5001):
        p, q = row.play(), column.play()
        if t in (1, 100, 1000, 5000):
            found.append(float(-0.5 * np.log(16 * p[0] * p[1] * q[0] * q[1])))
        row.observe(-payoffs @ q)
        column.observe(p @ payoffs)
    return found


def test_matching_pennies_last_iterates_diverge_or_converge() -> None:
    np.testing.assert_allclose(divergences("hedge"), [0.0062, 0.0165, 2.01, 8.17], rtol=0.02)
    np.testing.assert_allclose(divergences("optimistic-hedge"), [0.0062, 0.0024, 0, 0], rtol=0.02, atol=1e-6)


@pytest.mark.parametrize("name", ["fictitious-play", "hedge", "regret-matching", "adahedge"])
def test_shapleys_game_external_learners_reach_a_coarse_equilibrium_that_is_not_correlated(name: str) -> None:
    record = gamesim.simulate("shapley", name, rounds=20_000, perturb=0.5, seed=1)
    assert record.payoffs.sum() == pytest.approx(1, abs=2e-3)
    assert 0.1 < record.regret("swap").max() / 20_000 < 0.18
    assert record.gap("cce") < 1e-3


@pytest.mark.parametrize("name", ["blum-mansour", "internal-regret-matching"])
def test_shapleys_game_swap_learners_reach_correlated_equilibria(name: str) -> None:
    record = gamesim.simulate("shapley", name, rounds=20_000, perturb=0.5, seed=1)
    assert record.regret("swap").max() / 20_000 < 4e-3
    assert record.payoffs.sum() > 2 / 3 + 0.02  # play has left the mixed equilibrium, whose welfare is 2/3


def test_an_adversary_best_responds_to_the_strategy_of_the_same_round() -> None:
    record = gamesim.simulate("matching-pennies", [players.make("fixed", strategy=(0.9, 0.1)), "adversary"], rounds=10)
    low, high = record.game.range
    worst = low[0] + 0.1 * (high[0] - low[0])  # from the first round it wins only with its rare action
    assert record.payoffs[0] == pytest.approx(worst)
    assert record.regret("swap")[1] == pytest.approx(0, abs=1e-9)
