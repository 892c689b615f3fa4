"""Fit a power law to the tail of a curve and classify its trend.

A run begins with a transient, so only late checkpoints count: the second half of the logarithmic axis, or the last
decade of the rounds. Noise and cycles average out over the longer window, and the shorter one excludes a late
transient. If a power law fits both, the one with the narrower confidence interval is used. A power law fits if

- the half-width of the 95 % confidence interval of its exponent is at most 1/8, so that a falling curve is not mistaken
  for a constant one, and
- the exponents of the two halves of the window differ by at most 1/4, or by no more than their confidence intervals
  allow. The intervals assume independent residuals; this condition detects bends and cycles, which violate it.

A gap *falls* if its exponent is at most -1/4, half the exponent -1/2 that no-regret learners guarantee. It *falls
slowly* between -1/4 and -1/8, *stays* from -1/8 to 1/8, and *grows* above. If no power law fits, no exponent is
reported: the curve *falls* if the confidence interval over the last decade and the exponents of both its halves are
below -1/4, *stays* if the values of that decade differ by a factor of at most 10^(1/8), as those of rounds^(1/8) do,
and is *unsteady* otherwise. A cycle longer than the window cannot be distinguished from a trend.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Rounds = NDArray[np.int64]
Values = NDArray[np.float64]

FALLS, STAYS = -1 / 4, -1 / 8
SURE, AGREE = 1 / 8, 1 / 4  # largest half-width of an interval, and largest difference between the halves
LEAST = 5  # checkpoints in a window
CONFIDENCE = 0.95
INTERVAL_ROUNDING = 1e-12  # smaller half-widths are rounding errors


@dataclass(frozen=True)
class Power:
    """The power law values ≈ factor · rounds^exponent, fitted from round `first` to round `last`."""

    exponent: float
    factor: float
    first: int
    last: int

    def __str__(self) -> str:
        return f"slope {round(self.exponent, 2) + 0:.2f}".replace("-", "−")  # + 0 avoids −0.00


@dataclass(frozen=True)
class Trend:
    """The trend of a curve, its fitted power law if any, and its range in the last decade of the rounds."""

    word: str  # falls, falls slowly, stays, grows or unsteady; unknown if there are too few checkpoints
    power: Power | None
    lately: tuple[float, float]


def trend(rounds: Rounds, values: Values) -> Trend:
    """Classify the trend of a curve in its later rounds.

    >>> rounds = np.geomspace(1, 10_000, 41)
    >>> late = trend(rounds, np.minimum(0.1, 100 / rounds))  # constant for 1,000 rounds
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
    """Fit a power law to the tail of a curve, or return None if none fits.

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
    """Return the least-squares exponent of y ≈ c · x^exponent and the half-width of its 95 % confidence interval.

    The half-width is NaN for two points.

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
    """Return the index of the first checkpoint at or after a round, or an earlier one if too few would remain."""
    return max(0, min(int(np.searchsorted(rounds, first)), len(rounds) - LEAST))


def _halves(x: Rounds, y: Values) -> list[tuple[float, float]]:
    """Return the exponent and interval of each half of the checkpoints; both halves include the middle one."""
    middle = len(x) // 2
    return [exponent_of(x[: middle + 1], y[: middle + 1]), exponent_of(x[middle:], y[middle:])]


def _word(exponent: float) -> str:
    if exponent > -STAYS:
        return "grows"
    return "stays" if exponent >= STAYS else "falls slowly" if exponent > FALLS else "falls"
