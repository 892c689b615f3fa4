"""Learners against literal NumPy transcriptions of their formulas, in every round.

GAMESIM_ROUNDS sets the number of rounds.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gamesim import players

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("GAMESIM_ROUNDS", "150"))
Array = Any


def simplex(point: Array) -> Array:
    """Return the projection onto the simplex, by sorting."""
    ordered = np.sort(point)[::-1]
    thresholds = (np.cumsum(ordered) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - thresholds[ordered > thresholds][-1], 0)


def softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def chopped(point: Array) -> Array:
    """Return the nearest nonnegative vector with a sum of at least 1."""
    return np.maximum(point, 0) if np.maximum(point, 0).sum() >= 1 else simplex(point)


def proportional(values: Array) -> Array:
    kept = np.where(values > 1e-10, values, 0)
    return kept / kept.sum() if kept.sum() > 0 else np.full(len(values), 1 / len(values))


def optimistic_gradient(d: int) -> Any:
    q, loss, t = np.full(d, 1 / d), np.zeros(d), 0
    p = q
    while True:
        loss = yield p
        t += 1
        q = simplex(q - loss / (2 * np.sqrt(d * t)))
        p = simplex(q - loss / (2 * np.sqrt(d * (t + 1))))


def smooth_predictive(d: int) -> Any:
    rate = np.sqrt(0.5 / (8 * d * ROUNDS))
    q = p = np.full(d, 1 / d)
    while True:
        loss = yield p
        r = p @ loss - loss
        q = chopped(q + rate * r)
        lifted = chopped(q + rate * r)
        p = lifted / lifted.sum()


def extragradient(d: int) -> Any:
    q = np.full(d, 1 / d)
    while True:
        p = q / q.sum()
        loss = yield p
        trial = chopped(q + 0.1 * (p @ loss - loss))
        p = trial / trial.sum()
        loss = yield p
        q = chopped(q + 0.1 * (p @ loss - loss))


def stable_predictive(d: int) -> Any:
    q, p = np.ones(d), np.full(d, 1 / d)
    while True:
        loss = yield p
        r = p @ loss - loss
        q = np.maximum(q + r, 0)
        q = np.ones(d) if (q <= 1).all() else q
        p = proportional(q + r)


def discounted(d: int) -> Any:
    regrets, p, t = np.zeros(d), np.full(d, 1 / d), 0
    while True:
        loss = yield p
        t += 1
        regrets = regrets + p @ loss - loss
        regrets = np.where(regrets > 0, regrets * t**1.5 / (t**1.5 + 1), regrets / 2)
        p = proportional(regrets)


def magnetic(d: int) -> Any:
    p, magnet, rate, pull = np.full(d, 1 / d), np.full(d, 1 / d), 0.1, 0.1 * 0.05
    while True:
        loss = yield p
        p = (p * magnet**pull * np.exp(-rate * loss)) ** (1 / (1 + pull))
        p = p / p.sum()


def q_learning(d: int) -> Any:
    values = np.zeros(d)
    while True:
        loss = yield softmax(values / 0.1)
        values = 0.9 * values - 0.1 * loss


def logit(d: int) -> Any:
    p = np.full(d, 1 / d)
    while True:
        loss = yield p
        p = 0.99 * p + 0.01 * softmax(-loss / 0.1)


def replicator(d: int) -> Any:
    logs = np.zeros(d)
    while True:
        p = softmax(logs)
        loss = yield p
        logs = logs + np.log(1 + 0.01 * (p @ loss - loss))


def stationary(phi: Array) -> Array:
    """Return the fixed point p = pφ of an irreducible matrix, by least squares."""
    d = len(phi)
    system = np.vstack([phi.T - np.eye(d), np.ones(d)])
    return np.linalg.lstsq(system, np.append(np.zeros(d), 1.0), rcond=None)[0]


def log_barrier_rows(d: int) -> Any:
    rate = 1 / (8 * np.sqrt(d))
    past, last = np.zeros((d, d)), np.zeros((d, d))
    while True:
        scores = rate * (past + last)
        low = -scores.min(axis=1, keepdims=True)
        high = low + d
        for _ in range(60):  # 1 / (score + x) sums to 1 in each row
            middle = (low + high) / 2
            above = (1 / (scores + middle)).sum(axis=1, keepdims=True) > 1
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        p = stationary(1 / (scores + high) / (1 / (scores + high)).sum(axis=1, keepdims=True))
        loss = yield p
        last = np.outer(p, loss)
        past = past + last


def copies_of_blum_mansour(d: int) -> Any:
    levels = int(np.ceil(np.log2(d))) + 1
    rates = [np.sqrt(2 ** (k + 1) * np.log(d) / ROUNDS) for k in range(levels)]
    defaults = [*(np.eye(d)[c][None].repeat(d, axis=0) for c in range(d)), np.eye(d)]
    prior = np.tile([*[1 / (2 * d)] * d, 1 / 2], levels) / levels
    top = np.sqrt(2 * np.log(2 * d * levels) / ROUNDS)
    past, suffered = np.zeros((d, d)), np.zeros(len(prior))
    while True:
        maps = []
        for rate in rates:
            for default in defaults:
                weights = np.exp(-rate * (past - past.min(axis=1, keepdims=True)))
                weights = weights * (1 / d**2 + (1 - 1 / d) * default)
                maps.append(weights / weights.sum(axis=1, keepdims=True))
        shares = prior * np.exp(-top * (suffered - suffered.min()))
        p = stationary(np.tensordot(shares / shares.sum(), maps, axes=1))
        loss = yield p
        suffered = suffered + np.array([p @ one @ loss for one in maps])
        past = past + np.outer(p, loss)


def bandit_rows(d: int) -> Any:
    rate = np.sqrt(2 * np.log(d) / ROUNDS)
    past = np.zeros((d, d))
    while True:
        p = stationary(np.array([softmax(-rate * row) for row in past]))
        loss, p = yield p  # with the played p: rounding errors in p are amplified by estimates of the size 1 / p
        estimate = np.where(np.isnan(loss), 0.0, (loss + 1) / 2 / p)
        past = past + np.outer(p, estimate)


def subsequence_regret(d: int) -> Any:
    regrets, sizes = np.zeros((d, d)), np.zeros((d, d))
    while True:
        up, down = (np.maximum(regrets + one, 0) ** 2 / (3 * (sizes + 1)) for one in (1, -1))
        flow = np.exp(up - up.max()) - np.exp(down - up.max())
        np.fill_diagonal(flow, 0)
        rest = flow.sum(axis=1).max() - flow.sum(axis=1)
        p = stationary((flow + np.diag(rest)) / flow.sum(axis=1).max())
        loss = yield p
        regret = p[:, None] * (loss[:, None] - loss) / 2
        regrets, sizes = regrets + regret, sizes + np.abs(regret)


def adahedge(d: int) -> Any:
    losses, gaps = np.zeros(d), 0.0
    while True:
        rate = np.log(d) / gaps if gaps > 1e-10 else np.inf
        least = losses <= losses.min() + 1e-10
        p = softmax(-rate * losses) if rate < np.inf else least / least.sum()
        loss = yield p
        after = losses + loss
        if rate < np.inf:
            mixed = -np.log(p @ np.exp(-rate * (loss - loss.min()))) / rate + loss.min()
        else:
            mixed = after.min() - losses.min()
        losses, gaps = after, gaps + max(p @ loss - mixed, 0)


def aggregate(d: int) -> Any:
    """Run AdaHedge over three matrices: constant, of pairs, and with one AdaHedge for each row."""
    top, constant, rows = adahedge(3), adahedge(d), [adahedge(d) for _ in range(d)]
    shares, q, phi = next(top), next(constant), np.array([next(row) for row in rows])
    pairs, t = np.zeros((d, d)), 1
    while True:
        weights = np.exp(-np.sqrt(2 * np.log(d * (d - 1)) / t) * (pairs - pairs.min()))
        np.fill_diagonal(weights, 0)
        moves = weights / weights.sum()
        moves = moves + np.diag(1 - moves.sum(axis=1))
        maps = [np.tile(q, (d, 1)), moves, phi]
        p = stationary(np.tensordot(shares, maps, axes=1))
        loss = yield p
        shares = top.send(np.array([p @ one @ loss for one in maps]))
        q = constant.send(loss)
        phi = np.array([row.send(mass * loss) for row, mass in zip(rows, p, strict=True)])
        pairs, t = pairs + p[:, None] * (loss - loss[:, None]), t + 1


LITERAL: dict[str, Callable[[int], Any]] = {
    "optimistic-gradient": optimistic_gradient,
    "smooth-predictive-rm-plus": smooth_predictive,
    "extragradient-rm-plus": extragradient,
    "stable-predictive-rm-plus": stable_predictive,
    "discounted-regret-matching": discounted,
    "magnetic-mirror-descent": magnetic,
    "q-learning": q_learning,
    "logit": logit,
    "replicator": replicator,
    "blum-mansour-log-barrier": log_barrier_rows,
    "comparator-adaptive-bm": copies_of_blum_mansour,
    "bandit-blum-mansour": bandit_rows,
    "subsequence-regret": subsequence_regret,
    "aggregate": aggregate,
}


@pytest.mark.parametrize("d", [2, 3, 7, 16])
@pytest.mark.parametrize("adversarial", [False, True], ids=["random", "adversarial"])
@pytest.mark.parametrize("name", LITERAL)
def test_it_agrees_with_its_formula(name: str, adversarial: bool, d: int) -> None:
    learner = players.make(name).with_horizon(ROUNDS).start(d)
    literal = LITERAL[name](d)
    expected = next(literal)
    random = np.random.default_rng(d)
    for t in range(ROUNDS):
        strategy = learner.play()
        assert np.abs(strategy - expected).max() < 1e-9, f"round {t + 1}"
        loss = random.uniform(-1, 1, d)
        if adversarial:
            loss = 0.3 * loss
            loss[strategy.argmax()] = 1.0
        if learner.learner.feedback == ("bandit",):
            loss[np.arange(d) != random.choice(d, p=strategy / strategy.sum())] = np.nan
            learner.observe(loss)
            expected = literal.send((loss, strategy))
            continue
        learner.observe(loss)
        expected = literal.send(loss)


def test_a_moving_magnet_moves_to_the_strategy() -> None:
    learner = players.make("magnetic-mirror-descent", rate=0.5, temperature=0.2, period=3).start(3)
    p = magnet = np.full(3, 1 / 3)
    for t, loss in enumerate(np.random.default_rng(0).uniform(-1, 1, (20, 3)), start=1):
        assert np.allclose(learner.play(), p, atol=1e-12)
        learner.observe(loss)
        p = (p * magnet**0.1 * np.exp(-0.5 * loss)) ** (1 / 1.1)
        p = p / p.sum()
        magnet = p if t % 3 == 0 else magnet


@pytest.mark.parametrize("d", [2, 3])
def test_anytime_prior_hedge_is_hedge_over_all_maps(d: int) -> None:
    maps = np.array(list(np.ndindex(*[d] * d)))
    prior = np.zeros(len(maps))
    for default, mass in [(np.arange(d), 1 / 2), *((np.full(d, c), 1 / (2 * d)) for c in range(d))]:
        prior += mass * np.prod((1 - 1 / d) * (maps == default) + 1 / d**2, axis=1)
    assert prior.sum() == pytest.approx(1)
    levels = int(np.ceil(np.log2(d))) + 1
    learner = players.make("prior-hedge", anytime=True).start(d)
    past, suffered = np.zeros((d, d)), np.zeros(levels)
    for t, loss in enumerate(np.random.default_rng(d).uniform(-1, 1, (300, d)), start=1):
        totals = past[np.arange(d), maps].sum(axis=1)
        means = []
        for k in range(levels):
            rate = np.sqrt(2 ** (k + 1) * np.log(d) / t)
            weights = prior * np.exp(-rate * (totals - totals.min()))
            means.append(np.tensordot(weights / weights.sum(), np.eye(d)[maps], axes=1))
        p = stationary(np.tensordot(softmax(-np.sqrt(2 * np.log(levels) / t) * suffered), means, axes=1))
        assert np.abs(learner.play() - p).max() < 1e-9, f"round {t}"
        learner.observe(loss)
        suffered = suffered + np.array([p @ one @ loss for one in means])
        past = past + np.outer(p, loss)


@pytest.mark.parametrize("d", [2, 3, 7, 16])
def test_inertial_regret_matching_follows_its_draws(d: int) -> None:
    learner = players.make("inertial-regret-matching", inertia=1.5).start(d, seed=3)
    gains, random = np.zeros((d, d)), np.random.default_rng(d)
    p = np.full(d, 1 / d)
    for t in range(1, ROUNDS + 1):
        assert np.abs(learner.play() - p).max() < 1e-9, f"round {t}"
        j = learner.draw()
        loss = random.uniform(-1, 1, d)
        learner.observe(loss)
        gains[j] += loss[j] - loss
        p = np.maximum(gains[j] / t, 0) / (1.5 * 2 * (d - 1))
        p[j] = 0
        p[j] = 1 - p.sum()
