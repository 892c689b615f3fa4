from decimal import Decimal, localcontext
from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import dawsn, erfi

from gamesim.engine.compiled import kernel
from gamesim.players._kernels.numeric import reciprocal_root
from gamesim.players._kernels.scalar import (
    BLOCKS,
    COEFFICIENTS,
    CONTINUOUS,
    LARGEST,
    LARGEST_POTENTIAL,
    SERIES,
    SHORT,
    SHORT_COEFFICIENTS,
    SHORTEST,
    SHORTEST_COEFFICIENTS,
    _predict_row,
    advance_blocks,
    advance_continuous,
    conjugate,
    potential,
    predict,
    regret_bound,
)

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]
G = 2.0
COMPARATORS = np.concatenate([-(10.0 ** np.arange(2, -5, -0.5)), [0.0], 10.0 ** np.arange(-4, 2.5, 0.5)])
SCALES = (1.0, 0.05, 1 / 16**2)


def lemma(scale: float, mass: Array, u: float) -> Array:
    """Return the bound of the paper's lemma on the scalar learner."""
    inner = 2 * scale + 2 * sqrt(2) * abs(u) * sqrt(log(1 + abs(u) / (sqrt(2) * scale))) + 4 * sqrt(2) * abs(u)
    return np.sqrt(G**2 + G * mass) * inner


class Row:
    """Independent scalar learners, with their cumulative losses."""

    def __init__(self, clock: int, width: int, scale: float) -> None:
        self.clock, self.scale = clock, scale
        self.sums, self.masses, self.times, self.totals, self.predictions = np.zeros((5, width))
        self.paid, self.gradients, self.absolute = np.zeros((3, width))

    def observe(self, gradient: Array) -> None:
        self.paid += gradient * self.predictions
        self.gradients += gradient
        self.absolute += np.abs(gradient)
        scales, (roots, changed) = np.full(gradient.size, self.scale), np.zeros((2, gradient.size))
        if self.clock == BLOCKS:
            advance_blocks(gradient, self.sums, self.masses, self.times, self.totals, self.predictions, scales, changed)
        else:
            advance_continuous(gradient, self.times, self.totals, self.predictions, scales, roots, changed)

    def regret(self, u: float) -> Array:
        return self.paid - u * self.gradients

    def bound(self, u: float) -> Array:
        rounds = self.times + (self.masses > 0)
        return regret_bound(self.clock, np.array([self.scale]), rounds, np.array([u]))


def test_the_potential_is_dawsons() -> None:
    z = np.linspace(0, 5, 400)
    expected = np.exp(z**2) * (2 * z * dawsn(z) - 1)
    found = np.array([potential(square) for square in z**2])
    np.testing.assert_allclose(found, expected, rtol=2e-13, atol=2e-14)


@pytest.mark.parametrize("square", [0.3, 1.4, 1.5, 1.6, 7.8, 7.9, 50.0, 300.0, LARGEST])
def test_the_potential_is_its_series_where_dawson_cancels(square: float) -> None:
    with localcontext() as context:
        context.prec = 60
        term, value = Decimal(1), Decimal(-1)
        for m in range(1, 3000):
            term *= Decimal(square) / m
            value += term / (2 * m - 1)
    assert potential(square) == pytest.approx(float(value), rel=1e-13)


@kernel
def row_of_predictions(totals: Array, roots: Array, predictions: Array, scales: Array, terms: int) -> None:
    if terms == 0:
        _predict_row(totals, roots, predictions, scales, SHORTEST_COEFFICIENTS)
    elif terms == 1:
        _predict_row(totals, roots, predictions, scales, SHORT_COEFFICIENTS)
    else:
        _predict_row(totals, roots, predictions, scales, COEFFICIENTS)


@kernel
def roots_of(numbers: Array, roots: Array) -> None:
    for j in range(numbers.size):
        roots[j] = reciprocal_root(numbers[j])


def exactly(time: float, total: float) -> Decimal:
    """Return ½[V(n+1, S+1) - V(n+1, S-1)] / ε from the series, with 50 digits."""
    later, difference = Decimal(time) + 1, Decimal(0)
    for sign in (1, -1):
        square = (Decimal(total) + sign) ** 2 / (2 * later)
        term, m = Decimal(1), 0
        while m < square or term > Decimal("1e-50"):
            m += 1
            term *= square / m
            difference += sign * term / (2 * m - 1)
    return later.sqrt() * difference / 2


@pytest.mark.parametrize("terms, limit, allowed", [(0, SHORTEST, 2e-14), (1, SHORT, 5e-15), (2, SERIES, 1e-14)])
def test_predictions_in_rows_have_a_small_relative_error(terms: int, limit: float, allowed: float) -> None:
    """Also where S is near 0 and the two potentials cancel, and at the end of each range."""
    random = np.random.default_rng(terms)
    times = np.concatenate([random.uniform(0, 5, 400), 10 ** random.uniform(-6, 6, 600), np.full(100, 2 * limit)])
    most = np.minimum(np.sqrt(1.9999 * limit * (times + 1)) - 1, times)  # |S| ≤ n, and z² is below the limit
    inside = most > 0
    times, most = times[inside], most[inside]
    totals = most * np.where(random.random(times.size) < 0.3, 1.0, 10 ** random.uniform(-9, 0, times.size))
    totals *= random.choice([-1.0, 1.0], times.size)
    roots, predictions = np.zeros((2, times.size))
    roots_of(times + 1, roots)
    row_of_predictions(totals, roots, predictions, np.full(times.size, 0.5), terms)
    with localcontext() as context:
        context.prec = 60
        for time, total, found in zip(times, totals, predictions, strict=True):
            expected = exactly(time, total) / 2
            assert abs(Decimal(found) / expected - 1) < allowed
            assert abs(Decimal(predict(0.5, time, total)) / expected - 1) < 1e-14


def test_the_reciprocal_root_is_correctly_rounded_but_for_the_last_digit() -> None:
    numbers = np.concatenate([np.linspace(1, 4, 1000), 10 ** np.random.default_rng(0).uniform(0, 30, 1000)])
    roots = np.zeros_like(numbers)
    roots_of(numbers, roots)
    with localcontext() as context:
        context.prec = 50
        errors = [Decimal(root) * Decimal(x).sqrt() - 1 for x, root in zip(numbers, roots, strict=True)]
    assert max(abs(error) for error in errors) < 2.3e-16


def test_the_cap_is_close_to_the_potential_where_it_applies() -> None:
    assert pytest.approx(potential(LARGEST), rel=0.01) == LARGEST_POTENTIAL


def test_the_conjugate_is_the_potentials() -> None:
    z = np.linspace(-6, 6, 20001)
    values = np.array([potential(square) for square in z**2])
    for scale, u in product(SCALES, COMPARATORS):
        brute = (u * z * sqrt(2) - scale * values).max()  # n = 1: S = z √2
        found = conjugate(np.array([scale]), np.array([u]))[0]
        assert found == pytest.approx(brute, rel=1e-5)
        assert found >= brute * (1 - 1e-12)
        root = sqrt(log(found / scale)) if found > scale else 0.0
        assert erfi(root) == pytest.approx(sqrt(2 / np.pi) * abs(u) / scale, rel=1e-6, abs=1e-7)


def sequences(width: int, rounds: int, random: np.random.Generator) -> list[Array]:
    """Return gradients by round: of all sizes, drifting, switching, rare, one-sided."""
    drift = random.uniform(-1, 1, width)
    size = 10 ** random.uniform(-3, 0, width)
    kinds = np.arange(width) % 5
    signs = random.choice([-1.0, 1.0], (rounds // 20 + 1, width))
    all_rounds = []
    for t in range(rounds):
        noise = random.uniform(-1, 1, width)
        options = [
            noise,
            drift + 0.5 * noise,
            signs[t // 20],
            (random.random(width) < 0.05) * np.sign(noise),
            np.ones(width),
        ]
        all_rounds.append(G * np.clip(np.choose(kinds, options), -1, 1) * np.where(kinds < 2, size, 1))
    return all_rounds


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("clock", [BLOCKS, CONTINUOUS])
def test_regret_stays_within_the_lemma_for_every_comparator(clock: int, scale: float) -> None:
    row = Row(clock, 150, scale)
    for t, gradient in enumerate(sequences(150, 600, np.random.default_rng(2))):
        row.observe(gradient)
        if t % 100 == 99 or t < 10:
            for u in COMPARATORS:
                allowed = lemma(scale, row.absolute, u) if clock == BLOCKS else lemma(scale, row.absolute, u) / 2
                bound = row.bound(u)
                assert (row.regret(u) <= bound + 1e-9).all()
                assert (bound <= allowed * (1 + 1e-9)).all()


@pytest.mark.parametrize("clock", [BLOCKS, CONTINUOUS])
def test_regret_stays_within_the_bound_against_adversaries(clock: int) -> None:
    width = 200
    random = np.random.default_rng(4)
    row = Row(clock, width, 0.1)
    lured = random.choice([0.3, 1.0, 3.0, 10.0], width)  # let the prediction reach this value, then reverse the sign
    turned = np.zeros(width, dtype=bool)
    kind = np.arange(width) % 2
    size = random.choice([0.01, 0.3, 1.0], width)
    for t in range(1500):
        turned ^= np.where(turned, row.predictions < 0.1, row.predictions > lured)
        against = np.where(row.predictions >= 0, 1.0, -1.0)  # always against the prediction
        row.observe(G * size * np.where(kind == 0, against, np.where(turned, 1.0, -1.0)))
        for u in (-3.0, -0.5, 0.0, 0.5, 3.0) if t % 10 == 0 else ():
            assert (row.regret(u) <= row.bound(u) + 1e-9).all()


def worst_loss(clock: int, scale: float, step: float, rounds: int) -> list[tuple[Array, Array, float]]:
    """Return the largest loss over all sequences of gradients ±step, by dynamic programming.

    One entry per block of rounds in which x is held: the possible Σc, the largest loss for each, the clock's time.
    """
    held = int(G / step) if clock == BLOCKS else 1
    moves = [sum(signs) * step for signs in product((-1, 1), repeat=held)]
    unit = 2 * G if clock == BLOCKS else G
    loss = {0.0: 0.0}
    history = []
    for t in range(rounds // held):
        time = float(t) if clock == BLOCKS else t * step / G
        following: dict[float, float] = {}
        for total, paid in loss.items():
            x = predict(scale, time, -total / unit) if t > 0 else 0.0
            for move in moves:
                following[total + move] = max(following.get(total + move, -np.inf), paid + move * x)
        loss = following
        after = float(t + 1) if clock == BLOCKS else (t + 1) * step / G
        history.append((np.array(list(loss)), np.array(list(loss.values())), after))
    return history


@pytest.mark.parametrize("step", [1.0, 2.0])
@pytest.mark.parametrize("clock", [BLOCKS, CONTINUOUS])
def test_the_worst_of_all_sign_sequences_is_within_the_bound(clock: int, step: float) -> None:
    for scale in (1.0, 1 / 64):
        history = worst_loss(clock, scale, step, 300)
        for totals, paid, time in history:
            comparators = np.array([0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 30.0])
            worst = (paid - np.outer(comparators, totals)).max(axis=1)
            assert (worst <= regret_bound(clock, np.array([scale]), np.array([time]), comparators) + 1e-9).all()
        # and the learner never loses more than the maximum found by dynamic programming
        row = Row(clock, 400, scale)
        random = np.random.default_rng(5)
        for t in range(300):
            signs = np.where(random.random(400) < np.linspace(0.5, 1, 400), 1.0, -1.0)
            row.observe(step * np.where(np.arange(400) % 3 == t // 40 % 3, -signs, signs))
        totals, paid, _ = history[-1]
        for u in (0.0, 0.5, 2.0):
            assert row.regret(u).max() <= (paid - u * totals).max() + 1e-9


@kernel
def feed(clock: int, gradient: Array, rounds: int, parts: Array, scales: Array, roots: Array, changed: Array) -> float:
    """Feed the same gradient repeatedly; return the largest absolute prediction."""
    largest = 0.0
    for _ in range(rounds):
        if clock == 0.0:
            advance_blocks(gradient, parts[0], parts[1], parts[2], parts[3], parts[4], scales, changed)
        else:
            advance_continuous(gradient, parts[2], parts[3], parts[4], scales, roots, changed)
        if not abs(parts[4, 0]) < np.inf:
            return np.inf
        largest = max(largest, abs(parts[4, 0]))
    return largest


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("clock", [BLOCKS, CONTINUOUS])
def test_one_sign_for_a_million_rounds_never_overflows(clock: int, sign: float) -> None:
    parts = np.zeros((5, 1))
    largest = feed(clock, np.array([sign * G]), 1_000_000, parts, np.ones(1), np.zeros(1), np.zeros(1))
    assert 1e270 < largest < 1e300
    assert np.isfinite(parts).all()
    assert np.sign(parts[4, 0]) == -sign


def test_the_papers_clock_by_hand() -> None:
    row = Row(BLOCKS, 1, 1.0)
    row.observe(np.array([-1.5]))
    assert row.predictions[0] == 0  # the block is open
    row.observe(np.array([-1.0]))
    z = (2.5 / 4 + np.array([1, -1])) / sqrt(2 * 2)
    values = np.sqrt(2) * np.exp(z**2) * (2 * z * dawsn(z) - 1)
    assert row.predictions[0] == pytest.approx((values[0] - values[1]) / 2, rel=1e-13)
    assert (row.times[0], row.totals[0], row.sums[0], row.masses[0]) == (1, 0.625, 0, 0)
