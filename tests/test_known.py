"""Published and analytic results that a simulation must reproduce."""

import numpy as np
import pytest

from gamesim import equilibrium, games, players, simulate
from gamesim.engine.compiled import Vector


@pytest.mark.parametrize(
    ("game", "ce", "cce", "optimum"),
    [
        ("chicken", (7.2, 10.5), (7.2, 10.5), 12),
        ("shapley", (2 / 3, 1), (2 / 3, 1), 1),
        ("bad-rps", (-2 / 3, -2 / 3), (-2 / 3, 0), 0),
        ("battle-of-the-sexes", (2.4, 5), (2.4, 5), 5),
        ("prisoners-dilemma", (2, 2), (2, 2), 6),
    ],
)
def test_total_payoffs_over_the_equilibria(
    game: str, ce: tuple[float, float], cce: tuple[float, float], optimum: float
) -> None:
    made = games.make(game)
    assert equilibrium.welfare_range(made, "ce") == pytest.approx(ce, abs=1e-6)
    assert equilibrium.welfare_range(made, "cce") == pytest.approx(cce, abs=1e-6)
    assert equilibrium.optimum(made) == pytest.approx(optimum)


def test_chickens_traffic_light_is_a_correlated_equilibrium() -> None:
    chicken = games.make("chicken")
    for light, value in (([[1 / 3, 1 / 3], [1 / 3, 0]], 5.0), ([[1 / 2, 1 / 4], [1 / 4, 0]], 5.25)):
        assert equilibrium.gap(chicken, light, "ce") == pytest.approx(0, abs=1e-12)
        assert equilibrium.distance(chicken, light, "ce") == pytest.approx(0, abs=1e-9)
        payoffs = [(np.array(light) * chicken.payoffs[i]).sum() for i in (0, 1)]
        assert payoffs == pytest.approx([value, value])
    nash = np.outer([2 / 3, 1 / 3], [2 / 3, 1 / 3])
    assert equilibrium.gap(chicken, nash, "ce") == pytest.approx(0, abs=1e-12)
    both_chicken = [[1.0, 0.0], [0.0, 0.0]]
    assert equilibrium.gap(chicken, both_chicken, "ce") == pytest.approx(1)


def test_matching_pennies_last_iterate_spirals_out_while_the_average_converges() -> None:
    losses = games.make("matching-pennies").losses
    row, column = (players.make("hedge", rate=0.1).start(actions=2) for _ in range(2))
    for learner in (row, column):
        learner.observe([-0.7885, 0.7885])  # moves each strategy from 1/2 to 0.539
    divergence, sums = {}, [np.zeros(2), np.zeros(2)]
    for t in range(1, 5001):
        p, q = row.play(), column.play()
        divergence[t] = -0.5 * np.log(4 * p.prod()) - 0.5 * np.log(
            4 * q.prod()
        )  # KL(Nash ‖ play), summed over both players
        row.observe(losses[0] @ q)
        column.observe(p @ losses[1])
        sums[0] += p
        sums[1] += q
    known = {1: 0.0062, 100: 0.0165, 1000: 2.01, 5000: 8.17}
    for t, value in known.items():
        assert divergence[t] == pytest.approx(value, rel=0.02), f"round {t}"
    assert np.abs(np.array(sums) / 5000 - 0.5).max() < 0.01


SHAPLEY_ROUNDS = 20_000


@pytest.mark.parametrize("learner", ["hedge", "fictitious-play", "regret-matching"])
def test_external_learners_cycle_in_shapleys_game(learner: str) -> None:
    record = simulate("shapley", learner, SHAPLEY_ROUNDS, perturb=[0.5, 0.0], seed=1)
    swap = record.regret("swap") / SHAPLEY_ROUNDS
    assert record.welfare == pytest.approx(1, abs=0.005), "uniform play, the only Nash equilibrium, has welfare 2/3"
    assert record.gap("cce") < 0.002, "an approximate coarse correlated equilibrium"
    assert 0.12 < swap.max() < 0.19, "not a correlated equilibrium; the value depends on where in a cycle the run ends"
    assert record.distance("cce") < 0.002
    assert record.distance("ce") > 0.2


def test_prisoners_end_in_mutual_defection() -> None:
    record = simulate("prisoners-dilemma", ["hedge", "regret-matching-plus"], 5000)
    assert record.joint is not None
    assert record.joint[1, 1] > 0.97
    assert record.gap("ce") < 0.1


def duality_gap(losses: Vector, row: Vector, column: Vector) -> float:
    """Return the total gain from best responses, given the row player's losses in a zero-sum game."""
    return float((row @ losses).max() - (losses @ column).min())


@pytest.mark.parametrize(
    ("learner", "known"), [("hedge", (0.077, 0.019, 0.0054)), ("regret-matching", (0.11, 0.033, 0.0092))]
)
def test_average_play_solves_random_zero_sum_games(learner: str, known: tuple[float, ...]) -> None:
    gaps = []
    for seed in range(20):
        table = np.random.default_rng(seed).uniform(-1, 1, (10, 10))
        game = games.from_payoffs(table, -table)
        record = simulate(game, learner, 10_000)
        checkpoints = list(record.arrays["checkpoints"])
        at = [checkpoints.index(rounds) for rounds in (100, 1000, 10_000)]
        averages = record.arrays["checkpoint_average"][0, at] / np.array([[100], [1000], [10_000]])
        gaps.append([duality_gap(-table, average[:10], average[10:]) for average in averages])
    assert np.mean(gaps, axis=0) == pytest.approx(np.array(known), rel=0.25)
