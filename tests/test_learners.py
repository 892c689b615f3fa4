"""External-regret learners against independent solutions: literal formulas, quadrature, root finding, solvers.

GAMESIM_LONG sets the number of rounds of long runs.
"""

import math
import os
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import erfcx as scipy_erfcx
from scipy.special import logsumexp

from gamesim import players
from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel
from gamesim.errors import InputError
from gamesim.players._kernels.numeric import exponential
from gamesim.players._kernels.simplex import inverse_power, project
from gamesim.players.squint import erfcx, evidence

pytestmark = pytest.mark.slow

LONG = int(os.environ.get("GAMESIM_LONG", "200000"))
Array = NDArray[np.float64]


def losses(rounds: int, actions: int, seed: int = 0) -> Array:
    """Return random losses with different means, and exact ties in some rounds."""
    random = np.random.default_rng(seed)
    result = np.clip(random.normal(np.linspace(-0.3, 0.3, actions)[::-1], 0.5, (rounds, actions)), -1, 1)
    result[::7] = np.round(result[::7])
    return result


def strategies(name: str, sequence: Array, **setting: object) -> Array:
    learner = players.make(name, **setting).start(sequence.shape[1])
    played = []
    for loss in sequence:
        played.append(learner.play())
        learner.observe(loss)
    return np.array(played)


def positive_share(values: Array) -> Array:
    values = np.maximum(values, 0)
    return values / values.sum() if values.sum() > 0 else np.full(values.size, 1 / values.size)


def regret_after(played: Array, sequence: Array) -> Array:
    return np.array((played * sequence).sum() - sequence.sum(0))


def test_regret_matching_and_plus_and_predictive_follow_their_formulas() -> None:
    sequence = losses(300, 4)
    r = np.zeros(4)
    regrets, clipped = np.zeros(4), np.zeros(4)
    for name in ("regret-matching", "regret-matching-plus", "predictive-rm-plus"):
        played = strategies(name, sequence)
        regrets, clipped, r = np.zeros(4), np.zeros(4), np.zeros(4)
        for p, loss in zip(played, sequence, strict=True):
            choice = {
                "regret-matching": regrets,
                "regret-matching-plus": clipped,
                "predictive-rm-plus": clipped + r,
            }
            np.testing.assert_allclose(p, positive_share(choice[name]), atol=1e-9)
            r = p @ loss - loss
            regrets, clipped = regrets + r, np.maximum(clipped + r, 0)


def test_adahedge_is_the_papers_algorithm() -> None:
    sequence = losses(400, 5)
    sequence[:3] = np.array([[0.5] * 5, [0.0] * 5, [0.2, -0.1, -0.1, 0.4, 1.0]])
    gap, total = 0.0, np.zeros(5)
    for p, loss in zip(strategies("adahedge", sequence), sequence, strict=True):
        if gap == 0:
            expected = positive_share((total <= total.min() + 1e-12) * 1.0)
            mix = (total + loss).min() - total.min()
        else:
            eta = np.log(5) / gap
            weights = np.exp(-eta * (total - total.min()))
            expected = weights / weights.sum()
            mix = -np.log(expected @ np.exp(-eta * loss)) / eta
        np.testing.assert_allclose(p, expected, atol=1e-8)
        gap, total = gap + p @ loss - mix, total + loss
        gap = gap if gap > 1e-12 else 0.0


def test_adahedge_plays_the_same_when_losses_are_scaled_and_shifted() -> None:
    sequence = losses(200, 3)
    np.testing.assert_allclose(strategies("adahedge", sequence), strategies("adahedge", sequence / 4 + 0.7), atol=1e-8)


@kernel
def _erfcx(x: Vector, result: Vector) -> None:
    for i in range(x.size):
        result[i] = erfcx(x[i])


def test_erfcx_agrees_with_scipy() -> None:
    x = np.concatenate([[0, 1e-300, 1e-9, 3.99, 4, 1e8], np.linspace(0, 40, 2001), np.logspace(-3, 6, 200)])
    result = np.zeros(x.size)
    _erfcx(x, result)
    np.testing.assert_allclose(result, scipy_erfcx(x), rtol=1e-12)


@kernel
def _exponentials(x: Vector, result: Vector) -> None:
    for i in range(x.size):
        result[i] = exponential(x[i])


def test_exponential_agrees_with_numpy() -> None:
    x = -np.concatenate([[0], np.logspace(-20, np.log10(690) - 1e-9, 5000), np.linspace(0, 40, 5001)])
    result = np.zeros(x.size)
    _exponentials(x, result)
    np.testing.assert_allclose(result, np.exp(x), rtol=5e-16)
    beyond = np.array([-691.0, -1e9, -np.inf])
    _exponentials(beyond, beyond)
    np.testing.assert_array_equal(beyond, 0)


@pytest.mark.parametrize("variance", [1e-12, 1e-3, 0.2, 0.26, 1.0, 9.0, 400.0, 1e4])
@pytest.mark.parametrize("ratio", [-1.0, -0.5, -0.01, 0.0, 0.3, 0.99, 1.0, 1.01, 3.0, 40.0])
def test_squint_evidence_agrees_with_quadrature(variance: float, ratio: float) -> None:
    regret = ratio * max(variance, 0.7)
    peak = float(np.clip(regret / (2 * variance), 0, 0.5))
    top = peak * regret - peak**2 * variance
    width = 1 / np.sqrt(max(variance, 4.0))
    cuts = sorted({0.0, 0.5, *(float(c) for c in np.clip(peak + width * np.array([-8, -2, 0, 2, 8]), 0, 0.5))})
    expected = sum(
        quad(lambda eta: np.exp(eta * regret - eta**2 * variance - top), low, high, epsabs=0, epsrel=1e-12)[0]
        for low, high in pairwise(cuts)
    )
    # a second action, whose evidence is ∫ exp(0) dη = 1/2, changes the common exponent
    integrals = np.zeros(2)
    exponent = evidence(np.array([regret, 0.0]), np.array([variance, 0.0]), np.zeros(8), integrals)
    assert exponent == pytest.approx(max(top, 0), rel=1e-12)
    assert np.log(integrals[0]) + exponent - top == pytest.approx(np.log(expected), abs=1e-10)
    assert integrals[1] == pytest.approx(np.exp(-exponent) / 2, rel=1e-10, abs=0)


def test_squint_plays_by_the_integral() -> None:
    sequence = losses(40, 3)
    regrets, variances = np.zeros(3), np.zeros(3)
    for p, loss in zip(strategies("squint", sequence), sequence, strict=True):
        weights = [
            quad(lambda eta, r=r, v=v: np.exp(eta * r - eta**2 * v), 0, 0.5)[0]
            for r, v in zip(regrets, variances, strict=True)
        ]
        np.testing.assert_allclose(p, weights / np.sum(weights), atol=1e-9)
        r = (p @ loss - loss) / 2
        regrets, variances = regrets + r, variances + r**2


@pytest.mark.parametrize("rounds", [1, 10, 1000, 10**5])
@pytest.mark.parametrize("actions", [1, 2, 50, 1000])
def test_squints_bound_follows_from_its_potential(rounds: int, actions: int) -> None:
    """Σ_k ∫ (exp(η R_k - η² V_k) - 1) / η dη ≤ 0: the term of one action is at most what the others can compensate."""
    lowest = quad(lambda eta: -np.expm1(-eta * rounds - eta**2 * rounds) / eta, 0, 0.5, limit=500)[0]
    assert lowest <= 0.5 + np.log(rounds + 1)
    guarantee = players.make("squint").guarantee()
    assert guarantee is not None
    regret = guarantee.bound(rounds, actions) / 2
    peak = min(regret / (2 * rounds), 0.5)
    near = sorted({0.0, 0.5, *(float(c) for c in np.clip(peak + np.array([-4, 0, 4]) / np.sqrt(rounds), 0, 0.5))})
    reached = sum(
        quad(lambda eta: np.expm1(min(eta * regret - eta**2 * rounds, 600)) / eta, low, high, limit=500)[0]
        for low, high in pairwise(near)
    )
    assert reached >= actions * lowest


@given(
    st.floats(-50, 50),
    st.floats(0, 100),
    st.floats(-1, 1),
)
@settings(max_examples=300, deadline=None)
def test_adanormal_hedges_potential_grows_as_its_bound_needs(regret: float, extra: float, r: float) -> None:
    """Luo and Schapire's Lemma 2: Φ(R + r, C + |r|) ≤ Φ(R, C) + w r + 3|r| / 2(C + 1), with R ≤ C."""
    size = abs(regret) + extra

    def potential(x: float, c: float) -> float:
        return float(np.exp(max(x, 0) ** 2 / (3 * c))) if c > 0 else 1.0

    weight = (potential(regret + 1, size + 1) - potential(regret - 1, size + 1)) / 2
    after, before = potential(regret + r, size + abs(r)), potential(regret, size)
    assert after <= (before + weight * r + 1.5 * abs(r) / (size + 1)) * (1 + 1e-12)


def test_normal_hedge_solves_its_equation() -> None:
    sequence = losses(200, 4, seed=3)
    regrets = np.zeros(4)
    for p, loss in zip(strategies("normal-hedge", sequence), sequence, strict=True):
        above = np.maximum(regrets, 0)
        if above.max() <= 1e-10:
            expected = np.full(4, 0.25)
        else:
            square = above.max() ** 2

            def excess(c: float, above: Array = above) -> float:
                return float(np.mean(np.exp(above**2 / (2 * c))) - math.e)

            c = brentq(excess, square / (2 * (1 + np.log(4.1))), square, xtol=1e-16, rtol=1e-14)
            expected = positive_share(above / c * np.exp(above**2 / (2 * c)))
        np.testing.assert_allclose(p, expected, atol=1e-9)
        regrets = regrets + p @ loss - loss


def orlicz(regrets: Array) -> float:
    """Return c with mean exp([R]₊² / 2c) = e."""
    squares = np.maximum(regrets, 0) ** 2 / 2
    top = squares.max()
    if top == 0:
        return 0.0
    return float(brentq(lambda c: logsumexp(squares / c, b=1 / len(squares)) - 1, top / 9, 1.001 * top, rtol=1e-13))


@given(
    hnp.arrays(float, st.integers(2, 40), elements=st.floats(-1, 1)),
    st.floats(1, 40),
    st.randoms(use_true_random=False),
)
def test_normal_hedges_c_grows_as_its_bound_needs(regrets: Array, scale: float, random: Any) -> None:
    """√c grows by at most √2 per round and c, once large, by at most 8.8; losses of ±1 are the worst case."""
    assume(regrets.max() > 0.01)
    d = len(regrets)
    floor = 1024 * (1 + np.log(d))
    for least in (0.1, floor):  # c is proportional to the square of the regrets
        before = regrets * np.sqrt(scale * least / orlicz(regrets))
        c, above = orlicz(before), np.maximum(before, 0)
        p = positive_share(above * np.exp(above**2 / (2 * c)))
        loss = np.array([random.choice([-1.0, 1.0]) for _ in range(d)])
        after = orlicz(before + p @ loss - loss)
        assert np.sqrt(after) <= np.sqrt(c) + np.sqrt(2)
        assert c < floor or after <= c + 8.8


def test_the_last_step_of_normal_hedges_proof_holds_as_written() -> None:
    m, kappa = 256, 2.2
    epsilon = np.sqrt(2 / m) + 1 / (2 * m)
    more = np.exp(epsilon) * (3 + 2 * epsilon) / (2 * m)
    needed = (3 + 2 * epsilon) * (1 + more) / (2 * (1 - epsilon)) * np.exp(2 * epsilon)
    there = kappa / (1 + kappa / m) * np.exp(-kappa * (1 + epsilon) / m)
    assert needed < there
    assert (needed, there) == (pytest.approx(2.11, abs=0.005), pytest.approx(2.16, abs=0.005))


def test_adanormal_hedge_and_coin_betting_follow_their_formulas() -> None:
    rounds = 150
    sequence = losses(rounds, 4, seed=5)
    regrets, sizes = np.zeros(4), np.zeros(4)
    for p, loss in zip(strategies("adanormal-hedge", sequence), sequence, strict=True):
        scale = 3 * (sizes + 1)
        weights = np.exp(np.maximum(regrets + 1, 0) ** 2 / scale) - np.exp(np.maximum(regrets - 1, 0) ** 2 / scale)
        np.testing.assert_allclose(p, positive_share(weights), atol=1e-9)
        r = (p @ loss - loss) / 2
        regrets, sizes = regrets + r, sizes + abs(r)
    coins, wealth = np.zeros(4), np.ones(4)
    for t, (p, loss) in enumerate(zip(strategies("coin-betting", sequence, horizon=rounds), sequence, strict=True), 1):
        bets = coins / (t + rounds / 2) * wealth
        np.testing.assert_allclose(p, positive_share(bets), atol=1e-9)
        coin = (p @ loss - loss) / 2
        coin = np.where(bets > 0, coin, np.maximum(coin, 0))
        coins, wealth = coins + coin, wealth + coin * bets


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_projection_is_the_nearest_strategy(values: list[float]) -> None:
    point = np.array(values)
    nearest = np.zeros(point.size)
    project(point, nearest)
    descending = np.sort(point)[::-1]
    thresholds = (np.cumsum(descending) - 1) / np.arange(1, point.size + 1)
    threshold = thresholds[np.flatnonzero(descending > thresholds)[-1]]
    np.testing.assert_allclose(nearest, np.maximum(point - threshold, 0), atol=1e-12)


def solve(objective: Callable[[Array], float], actions: int, least: float) -> Array:
    """Return the strategy that minimises a convex function, by a generic solver."""
    sums_to_one: Any = {"type": "eq", "fun": lambda p: p.sum() - 1}
    options: Any = {"ftol": 1e-15, "maxiter": 1000}
    bounds = [(least, 1.0)] * actions
    uniform = np.full(actions, 1 / actions)
    return np.array(minimize(objective, uniform, bounds=bounds, constraints=sums_to_one, options=options).x)


def test_gradient_steps_and_projects() -> None:
    sequence = losses(100, 3)
    p = np.full(3, 1 / 3)
    for t, (played, loss) in enumerate(zip(strategies("gradient", sequence), sequence, strict=True), 1):
        np.testing.assert_allclose(played, p, atol=1e-12)
        target = p - loss / np.sqrt(2 * 3 * t)

        def distance(x: Array, target: Array = target) -> float:
            return float(((x - target) ** 2).sum())

        answer = solve(distance, 3, 0.0)
        nearest = np.zeros(3)
        project(target, nearest)
        np.testing.assert_allclose(nearest, answer, atol=1e-6)
        p = nearest


REGULARISERS = {
    "entropic": lambda p: (p * np.log(p)).sum(),
    "euclidean": lambda p: (p**2).sum() / 2,
    "log-barrier": lambda p: -np.log(p).sum(),
}


@pytest.mark.parametrize("regulariser", REGULARISERS)
@pytest.mark.parametrize("optimistic", [False, True])
def test_ftrl_minimises_its_objective(regulariser: str, optimistic: bool) -> None:
    sequence = losses(12, 4)
    learner = players.make("ftrl", regulariser=regulariser, optimistic=optimistic, rate=0.3).start(4)
    for loss in sequence:
        learner.observe(loss)
    total = sequence.sum(0) + optimistic * sequence[-1]
    answer = solve(lambda p: float(total @ p + REGULARISERS[regulariser](p) / 0.3), 4, 1e-9)
    np.testing.assert_allclose(learner.play(), answer, atol=2e-6)


@pytest.mark.parametrize("rate", [None, 0.1])
@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize("regulariser", REGULARISERS)
def test_ftrls_printed_formula_is_its_bound(regulariser: str, optimistic: bool, rate: float | None) -> None:
    promise = players.make("ftrl", regulariser=regulariser, optimistic=optimistic, rate=rate).guarantee()
    assert promise is not None
    formula = re.sub(r"ln (\w)", r"log(\1)", promise.formula).replace("√", "sqrt")
    product = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula)
    for T, d in ((10, 3), (1000, 7)):
        value = eval(product, {"T": T, "d": d, "rate": rate, "log": math.log, "sqrt": math.sqrt})
        assert promise.bound(T, d) == pytest.approx(value)


@pytest.mark.parametrize("power", [1, 2])
def test_inverse_power_finds_its_normaliser_for_losses_of_any_range(power: int) -> None:
    random = np.random.default_rng(power)
    for scale in (0.0, 1e-9, 1.0, 1e4, 1e12):
        total = random.uniform(size=6) * scale - 3
        p = np.zeros(6)
        inverse_power(0.7, total, power, p)
        excess = 0.7 * (total - total.min())
        shift = brentq(lambda x, e=excess: ((e + x) ** -power).sum() - 1, 1 - 1e-12, 6, xtol=1e-15, rtol=1e-14)
        np.testing.assert_allclose(p, (excess + shift) ** -power, rtol=1e-9)


def test_ftrls_rate_follows_the_prediction_errors() -> None:
    sequence = losses(60, 3)
    total, last, seen = np.zeros(3), np.zeros(3), 0.0
    for played, loss in zip(strategies("optimistic-hedge", sequence), sequence, strict=True):
        weights = np.exp(-np.sqrt(np.log(3) / (4 + seen)) * (total + last))
        np.testing.assert_allclose(played, weights / weights.sum(), atol=1e-12)
        seen += np.abs(loss - last).max() ** 2
        total, last = total + loss, loss


def test_first_order_hedge_counts_sizes_instead_of_rounds() -> None:
    sequence = losses(60, 3) / 5
    total, sizes = np.zeros(3), 0.0
    for played, loss in zip(strategies("first-order-hedge", sequence), sequence, strict=True):
        weights = np.exp(-np.sqrt(2 * np.log(3) / (1 + sizes)) * total)
        np.testing.assert_allclose(played, weights / weights.sum(), atol=1e-12)
        total, sizes = total + loss, sizes + np.abs(loss).max()


def test_replicator_is_hedge_in_the_limit_of_small_steps() -> None:
    sequence = losses(50, 3)
    replicator, hedge = strategies("replicator", sequence, step=1e-4), strategies("hedge", sequence, rate=1e-4)
    moved = np.abs(hedge[-1] - 1 / 3).max()
    assert moved > 1e-4
    np.testing.assert_allclose(replicator, hedge, atol=1e-3 * moved)


def test_replicator_agrees_with_open_spiel() -> None:
    dynamics = pytest.importorskip("open_spiel.python.egt.dynamics", reason="open_spiel is not installed")
    sequence = losses(50, 3)
    played = strategies("replicator", sequence, step=0.1)
    for p, following, loss in zip(played, played[1:], sequence, strict=False):
        np.testing.assert_allclose(following, p + 0.1 * dynamics.replicator(p, -loss), atol=1e-12)


def test_regret_matching_agrees_with_open_spiel() -> None:
    matching = pytest.importorskip("open_spiel.python.algorithms.regret_matching", reason="open_spiel is not installed")
    rows = np.array([[1.0, -1.0, 0.5], [-0.3, 0.2, -1.0]])
    theirs = matching.regret_matching([rows, -rows], iterations=2000)
    first, second = (players.make("regret-matching").start(size) for size in rows.shape)
    average = [np.zeros(2), np.zeros(3)]
    for _ in range(2000):
        p, q = first.play(), second.play()
        first.observe(-rows @ q)
        second.observe(p @ rows)
        average = [average[0] + p / 2000, average[1] + q / 2000]
    for mine, other in zip(average, theirs, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-3)  # OpenSpiel's version explores a little


def test_smooth_fictitious_play_is_the_logit_of_mean_losses() -> None:
    sequence = losses(30, 3)
    played = strategies("smooth-fictitious-play", sequence, temperature=0.2)
    mean = sequence[:-1].mean(0)
    np.testing.assert_allclose(played[-1], np.exp(-mean / 0.2) / np.exp(-mean / 0.2).sum(), atol=1e-12)
    np.testing.assert_allclose(played[0], 1 / 3)


def test_fictitious_play_and_best_response_are_uniform_on_ties() -> None:
    learner = players.make("fictitious-play").start(3)
    for _ in range(1000):
        learner.observe([0.1, 0.3, 0.5])
        learner.observe([0.3, 0.1, -0.1])
    np.testing.assert_allclose(learner.play(), [1 / 3] * 3)  # although the sums of 0.1 and 0.3 round differently
    learner.observe([0.0, -0.5, 0.0])
    np.testing.assert_allclose(learner.play(), [0, 1, 0])
    responder = players.make("best-response").start(3)
    responder.observe([0.1 + 0.2, 0.3, 0.9])
    np.testing.assert_allclose(responder.play(), [0.5, 0.5, 0])


def test_rounding_does_not_break_ties() -> None:
    """All actions have equal losses, not exact in binary: no learner may prefer one of them."""
    for name in players.available():
        player = players.make(name).with_horizon(600)
        if "expected" not in player.feedback or player.ordered:
            continue
        learner = player.start(3)
        for t in range(600):
            shared = ((t * 7) % 11) / 10 - 0.3
            learner.observe([shared, shared, shared])
        np.testing.assert_allclose(learner.play(), 1 / 3, atol=1e-9, err_msg=name)


@kernel
def _long_run(
    play: int, observe: int, settings: Vector, state: Vector, kind: int, rounds: int, strategy: Vector
) -> float:
    """Run on constant losses, long blocks or losses against the leader; return the largest error of Σ p."""
    d = strategy.size
    loss = np.zeros(d)
    worst = 0.0
    for t in range(rounds):
        call_learner(play, settings, state, strategy)
        error = abs(strategy.sum() - 1)
        worst = np.inf if np.isnan(error) else max(worst, error)
        for i in range(d):
            if kind == 0:
                loss[i] = 1.0 if i > 0 else -1.0
            elif kind == 1:
                loss[i] = 1.0 if (t // (rounds // 6 + 1)) % d == i else -1.0
            else:
                loss[i] = 1.0 if strategy[i] >= 1 / d else -1.0
        call_learner(observe, settings, state, loss)
    return worst


@pytest.mark.parametrize("name", players.available())
def test_a_long_run_stays_finite(name: str) -> None:
    player = players.make(name)
    if player.feedback == ("bandit",) or name.startswith("wavelet"):
        pytest.skip("this test needs full feedback; the wavelet learners have separate long runs")
    solves = ("aggregate", "blum-mansour", "blum-mansour-log-barrier", "comparator-adaptive-bm", "prior-hedge",
              "stoltz-lugosi", "subsequence-regret")  # fmt: skip
    rounds = LONG // 10 if name in solves else LONG
    player = player.with_horizon(rounds)
    play, observe = (address(function, LEARNER_KERNEL) for function in player.kernels)
    for kind in range(3):
        strategy = np.zeros(3)
        state = player.first_state(3)
        worst = _long_run(play, observe, player.kernel_settings(3), state, kind, rounds, strategy)
        assert worst <= 1e-9
        assert strategy.min() >= 0


@pytest.mark.parametrize("name", ["coin-betting", "exp3", "exp3-ix", "treeswap", "prior-hedge"])
def test_a_learner_tuned_to_a_horizon_says_so(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} needs a horizon, got None"):
        players.make(name).start(2)
    player = players.make(name).with_horizon(50)
    assert player.with_horizon(70) == player  # a horizon that is set does not change


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("ftrl", {"regulariser": "cubic"}),
        ("ftrl", {"rate": -1.0}),
        ("gradient", {"rate": 0.0}),
        ("fixed", {"strategy": (0.5, 0.6)}),
        ("fixed", {"strategy": (1.5, -0.5)}),
        ("replicator", {"step": 0.5}),
        ("smooth-fictitious-play", {"temperature": 0.0}),
        ("coin-betting", {"horizon": 0}),
        ("blum-mansour", {"rows": "hegde"}),
        ("blum-mansour", {"rows": "exp3"}),
        ("treeswap", {"base": 0}),
    ],
)
def test_invalid_settings_are_rejected(name: str, setting: dict[str, object]) -> None:
    with pytest.raises(InputError, match=name):
        players.make(name, **setting)


def test_a_fixed_strategy_must_fit_the_actions() -> None:
    with pytest.raises(InputError, match="one probability for each of the 3 actions, got 2"):
        players.make("fixed", strategy=(0.5, 0.5)).start(3)
    np.testing.assert_array_equal(players.make("fixed", strategy=[0.2, 0.3, 0.5]).start(3).play(), [0.2, 0.3, 0.5])
