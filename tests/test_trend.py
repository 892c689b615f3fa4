"""Trends of curves whose tails are known by construction."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import linregress
from scipy.stats import t as student

import gamesim
from gamesim import players
from gamesim.measure.trend import SURE, exponent_of, floor_of, power, trend
from gamesim.measure.trend_words import in_words
from gamesim.report import summary as report

Rounds = NDArray[np.int64]
Values = NDArray[np.float64]
WORDS = {-1.0: "falls", -0.5: "falls", -0.2: "falls slowly", 0.0: "stays", 0.3: "grows"}


def grid(last: int, per_decade: int = 10) -> Rounds:
    """Return checkpoints at even steps of the logarithmic axis, and the last round."""
    steps = 10 ** (np.arange(per_decade * 6 + 1) / per_decade)
    return np.unique([*(round(t) for t in steps if t <= last), last])


def noise(random: np.random.Generator, size: float, count: int) -> Values:
    """Return independent factors around 1."""
    return np.asarray(np.exp(random.normal(0, size, count)))


def cycles(rounds: Rounds, size: float, factor: float, phase: float) -> Values:
    """Return cycles around 1, each `factor` times as long as the last, as in Shapley's game."""
    turned = 2 * np.pi * np.log(rounds) / np.log(factor) + phase
    return np.asarray(np.exp(size * np.sin(turned)))


@pytest.mark.parametrize("last", [100, 2000, 30_000])
@pytest.mark.parametrize("exponent", WORDS)
def test_the_exponent_of_a_power_law_does_not_depend_on_earlier_decades(exponent: float, last: int) -> None:
    rounds = grid(last)
    for early in (0.0, 1e-9, 1.0, 1e9):
        values = np.where(rounds * 10 < last, early, 7.0 * rounds**exponent)
        found = trend(rounds, values)
        assert found.power is not None
        assert found.word == WORDS[exponent]
        assert found.power.exponent == pytest.approx(exponent, abs=1e-6)
        assert found.power.factor == pytest.approx(7.0)
        assert found.power.last == last


@pytest.mark.parametrize("exponent", WORDS)
def test_noise_hides_no_trend_and_makes_none(exponent: float) -> None:
    rounds = grid(10_000)
    random = np.random.default_rng(3)
    small = [rounds**exponent * noise(random, 0.1, len(rounds)) for _ in range(100)]
    found = [power(rounds, values) for values in small]
    errors = [abs(one.exponent - exponent) for one in found if one is not None]
    assert len(errors) > 95 and max(errors) < SURE
    # Noise of a factor of two, up and down, is too much for an exponent over two decades: usually none is reported.
    large = [trend(rounds, rounds**exponent * noise(random, 0.7, len(rounds))) for _ in range(100)]
    assert sum(one.power is None for one in large) > 90
    falling = sum(one.word.startswith("falls") for one in large)
    assert falling > 30 if exponent == -1 else falling < 5 if exponent >= 0 else True


@pytest.mark.parametrize("factor", [2.0, 10**0.5, 8.0])
@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.0])
def test_cycles_that_grow_with_the_rounds_leave_the_exponent(exponent: float, factor: float) -> None:
    rounds = grid(20_000)
    for phase in np.linspace(0, 2 * np.pi, 24):
        found = trend(rounds, rounds**exponent * cycles(rounds, 0.25, factor, phase))
        assert found.power is not None
        assert found.word == WORDS[exponent]
        assert abs(found.power.exponent - exponent) < 0.06


@pytest.mark.parametrize("last", [1000, 20_000])
def test_a_large_cycle_is_no_trend_where_few_are_seen(last: int) -> None:
    rounds = grid(last)
    for phase in np.linspace(0, 2 * np.pi, 24):
        found = trend(rounds, 0.1 * cycles(rounds, 0.8, 10.0, phase))
        assert (found.word, found.power) == ("unsteady", None)


@pytest.mark.parametrize("turn", [3, 4])
def test_a_bend_within_the_last_decade_has_no_exponent(turn: int) -> None:
    """A curve that has come to rest only lately did not grow, and one that fell until lately does not fall."""
    for last in (100, 2000, 20_000):
        rounds = grid(last)
        bend = last / turn
        for values in (np.minimum(rounds, bend), np.maximum(1, rounds / bend)):
            found = trend(rounds, values)
            assert (found.word, found.power) == ("unsteady", None)
        found = trend(rounds, 1 / np.minimum(rounds, bend))
        assert found.word in ("unsteady", "levels off") and found.power is None


def test_what_falls_by_no_single_power_falls_and_what_hardly_changes_stays() -> None:
    rounds = grid(10_000)
    steep = trend(rounds, np.maximum(rounds / 2000.0, 1.0) ** -1 * rounds**-0.5)  # -1/2 first, and -3/2 then
    assert (steep.word, steep.power) == ("falls", None)
    jump = trend(rounds, np.where(rounds < 3000, 0.1, 0.125) * cycles(rounds, 0.02, 3.0, 0.0))
    assert (jump.word, jump.power, jump.first) == ("stays", None, 1000)
    assert jump.least < 0.1 and jump.largest > 0.125
    halved = trend(rounds, np.where(rounds < 3000, 0.1, 0.05))
    assert halved.word == "unsteady"


def test_a_curve_of_zeros_or_of_few_checkpoints_has_no_power() -> None:
    rounds = grid(1000)
    assert power(rounds, np.zeros(len(rounds))) is None
    reaches = np.where(rounds < 500, 1 / rounds, 0.0)  # 0 from there on, so nothing may be fitted
    assert (trend(rounds, reaches).word, trend(rounds, reaches).power) == ("zero", None)
    once = np.where(rounds == 501, 0.0, 1 / rounds)
    assert (trend(rounds, once).word, trend(rounds, once).power) == ("unsteady", None)
    for count in (1, 2, 4):
        few = trend(rounds[:count], 1 / rounds[:count])
        assert (few.word, few.power) == ("unknown", None)
    sparse = grid(100_000, per_decade=1)
    found = power(sparse, 1 / np.sqrt(sparse))
    assert found is not None and found.exponent == pytest.approx(-0.5)
    assert power(sparse, np.minimum(1.0, 1000 / sparse)) is None


def test_the_exponent_and_its_interval_are_those_of_least_squares() -> None:
    x, y = np.array([10, 20, 50, 100, 300]), np.array([3.0, 2.5, 1.1, 0.9, 0.2])
    expected = linregress(np.log(x), np.log(y))
    value, half = exponent_of(x, y)
    assert value == pytest.approx(expected.slope, abs=1e-10)
    assert half == pytest.approx(student.ppf(0.975, 3) * expected.stderr)


def test_a_gap_that_settles_late_does_not_grow() -> None:
    """With a rate of 0.1, Hedge takes 500 rounds of Shapley's game until its CE gap stays near 0.13."""
    record = gamesim.simulate("shapley", [players.make("hedge", rate=0.1)] * 2, rounds=2000, perturb=0.2)
    curve = record.curve
    rest = curve.gap("ce")[curve.rounds > 500]
    rises = (curve.rounds > 30) & (curve.rounds < 120)
    assert np.ptp(rest) < 0.03 and curve.gap("ce")[rises].max() < 0.05 * rest.min()
    summary = report.summarise(record)
    assert in_words(summary.trends["ce"]) == "has no steady trend (0.0368 to 0.138)"
    assert in_words(summary.trends["cce"]) == "falls from 0.0272 to 0.00405"
    assert "but only" not in summary.verdict


@pytest.mark.parametrize(("floor", "size", "exponent"), [(0.1, 2.0, 0.5), (3.0, 40.0, 1.0), (1e-3, 0.5, 0.75)])
def test_the_floor_of_an_exact_curve_is_found(floor: float, size: float, exponent: float) -> None:
    x = np.geomspace(100, 10_000, 21).astype(np.int64)
    assert floor_of(x, floor + size * x.astype(float) ** -exponent) == pytest.approx(floor, rel=0.01)


@pytest.mark.parametrize(("share", "is_seen"), [(0.2, False), (0.3, True), (0.45, True)])
def test_an_exponent_is_seen_in_both_halves_of_the_window(share: float, is_seen: bool) -> None:
    """A step in the middle of the last decade leaves a share of the exponent for the first half."""
    exponent, rounds = -0.2, grid(10_000, per_decade=20)
    rounds = rounds[rounds >= 1000]
    middle = rounds[len(rounds) // 2]
    step = (1 - share) * exponent / linregress(np.log(rounds), 1.0 * (rounds > middle)).slope
    curve = np.exp(share * exponent * np.log(rounds) + step * (rounds > middle))
    early = rounds <= middle
    assert exponent_of(rounds[early], curve[early])[0] == pytest.approx(share * exponent)
    found = power(rounds, curve)
    assert (found is not None) is is_seen
    assert found is None or found.exponent == pytest.approx(exponent)


def test_five_checkpoints_are_enough() -> None:
    rounds = grid(10_000, per_decade=1)
    found = trend(rounds, 3 / rounds)
    assert len(rounds) == 5 and found.power is not None and found.power.exponent == -1
    assert power(rounds[1:], 3 / rounds[1:]) is None
