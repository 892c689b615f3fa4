"""Learners against literal NumPy transcriptions of their formulas, over 2,000 rounds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gamesim import players

ROUNDS = 2000
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
