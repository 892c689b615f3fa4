"""How a curve goes on: the power of the rounds that its end follows, where it follows one.

A run begins with a transient that says nothing about its end, so only late checkpoints count: the later half of the
logarithmic axis, or the last decade of the rounds. Noise and cycles average out over the longer of the two, and a late
transient is outside the shorter one; where a power law fits both, the one that tells the exponent more exactly counts.
A power law fits where

- the 95 % interval of its exponent reaches no further than 1/8 to each side, so that what falls is not taken for what
  stays, and
- the exponents of both halves differ by no more than 1/4, or than their own intervals allow. Intervals take residuals
  for independent, and a bend or a cycle shows here that they are not.

A gap *falls* when its exponent is at most -1/4, half of the rate rounds^-1/2 that no-regret learners guarantee; it
*stays* from -1/8 to 1/8; in between it falls slowly, and above it grows. Where no power law fits, no exponent is told.
The curve then *falls* if the interval of the last decade and the exponents of both its halves are below -1/4, *stays*
if that decade's values are within a factor of 10^(1/8) of each other, as those of rounds^(1/8) are, and is *unsteady*
otherwise. A cycle longer than what is looked at cannot be told from a trend.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Rounds = NDArray[np.int64]
Values = NDArray[np.float64]

FALLS, STAYS = -1 / 4, -1 / 8
SURE, AGREE = 1 / 8, 1 / 4  # half the width of an exponent's interval, and what the halves may differ by
LEAST = 5  # checkpoints
CONFIDENCE = 0.95
INTERVAL_ROUNDING = 1e-12  # half an interval that is no wider is rounding only


@dataclass(frozen=True)
class Power:
    """The line values ≈ factor · rounds^exponent, from the round `first` to the round `last`."""

    exponent: float
    factor: float
    first: int
    last: int

    def __str__(self) -> str:
        return f"slope {round(self.exponent, 2) + 0:.2f}".replace("-", "−")  # + 0: never minus zero


@dataclass(frozen=True)
class Trend:
    """What a curve does in its later rounds, by which power, and its least and largest value in the last decade."""

    word: str  # falls, falls slowly, stays, grows, unsteady; or unknown, with too few checkpoints
    power: Power | None
    lately: tuple[float, float]


def trend(rounds: Rounds, values: Values) -> Trend:
    """Say what a curve does in its later rounds.

    >>> rounds = np.geomspace(1, 10_000, 41)
    >>> late = trend(rounds, np.minimum(0.1, 100 / rounds))  # for 1,000 rounds it stays
    >>> print(late.word, late.power)
    falls slope −1.00
    """
    decade = _start(rounds, rounds[-1] / 10)
    late_rounds, late = rounds[decade:], values[decade:]
    lately = (float(late.min()), float(late.max()))
    if len(rounds) < LEAST:
        return Trend("unknown", None, lately)
    if (found := power(rounds, values)) is not None:
        return Trend(_word(found.exponent), found, lately)
    if lately[0] > 0:
        exponent, half = exponent_of(late_rounds, late)
        steepest_up = max(one for one, _ in _halves(late_rounds, late))
        if max(exponent + half, steepest_up) <= FALLS:
            return Trend("falls", None, lately)
        if lately[1] <= lately[0] * 10**-STAYS:
            return Trend("stays", None, lately)
    return Trend("unsteady", None, lately)


def power(rounds: Rounds, values: Values) -> Power | None:
    """Return the power of the rounds that the end of a curve follows, or None where no power law fits it.

    >>> print(power(np.array([1, 10, 100, 1000, 10_000, 100_000]), np.array([9, 2, 1, 0.1, 0.01, 0.001])))
    None
    >>> print(power(np.arange(1, 101), 3 / np.sqrt(np.arange(1, 101))))
    slope −0.50
    """
    last, most = float(rounds[-1]), SURE
    found = None
    for start in (_start(rounds, min(last**0.5, last / 10)), _start(rounds, last / 10)):
        x, y = rounds[start:], values[start:]
        if len(x) < LEAST or not (y > 0).all():
            continue
        exponent, half = exponent_of(x, y)
        (one, one_half), (other, other_half) = _halves(x, y)
        if half <= most and abs(one - other) <= max(AGREE, float(np.hypot(one_half, other_half))):
            factor = float(np.exp(np.mean(np.log(y) - exponent * np.log(x))))
            found, most = Power(exponent, factor, int(x[0]), int(x[-1])), half
    return found


def exponent_of(x: NDArray[np.generic], y: Values) -> tuple[float, float]:
    """Return the exponent of y ≈ c · x^exponent by least squares, and half its 95 % interval over the residuals.

    The interval of two points is unknown, NaN.

    >>> exponent_of(np.array([1, 10, 100]), np.array([1.0, 0.1, 0.01]))
    (-1.0, 0.0)
    """
    logs = np.log(np.column_stack([x, y]).astype(float))
    centred = logs - logs.mean(axis=0)
    weight = float(centred[:, 0] @ centred[:, 0])
    exponent = float(centred[:, 0] @ centred[:, 1]) / weight
    free = len(logs) - 2
    if free < 1:
        return exponent, float("nan")
    residual = centred[:, 1] - exponent * centred[:, 0]
    error = np.sqrt(float(residual @ residual) / free / weight)
    half = float(student.ppf((1 + CONFIDENCE) / 2, free) * error)
    return round(exponent, 12), half if half > INTERVAL_ROUNDING else 0.0


def _start(rounds: Rounds, first: float) -> int:
    """Return the first checkpoint from a round on, or an earlier one where too few would be left."""
    return max(0, min(int(np.searchsorted(rounds, first)), len(rounds) - LEAST))


def _halves(x: Rounds, y: Values) -> list[tuple[float, float]]:
    """Return the exponent of each half of the checkpoints, with its interval; both have the one in the middle."""
    middle = len(x) // 2
    return [exponent_of(x[: middle + 1], y[: middle + 1]), exponent_of(x[middle:], y[middle:])]


def _word(exponent: float) -> str:
    if exponent > -STAYS:
        return "grows"
    return "stays" if exponent >= STAYS else "falls slowly" if exponent > FALLS else "falls"
