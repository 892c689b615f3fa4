"""Classify the trend of a curve in its later rounds: what a finite run can support, and no more.

A run begins with a transient, so only late checkpoints count: the second half of the logarithmic axis, or the last
decade of the rounds. Noise and cycles average out over the longer window, and the shorter one excludes a late
transient. If a power law fits both, the one with the narrower confidence interval is used. A power law fits if

- the half-width of the 95 % confidence interval of its exponent is at most 1/8, and
- the exponent is nearly the same throughout the window. A parabola through the logarithms gives its change from the
  first to the last round, which may be a quarter of the exponent, 1/16, or what the confidence interval of the change
  allows. Because residuals of cycles are correlated, this interval is widened by their correlation between
  neighbouring checkpoints.

A gap *falls* if its exponent is at most -1/4, half the exponent -1/2 that no-regret learners guarantee. It *falls
slowly* up to -1/16 and *grows* from 1/16 on, provided that the interval, widened likewise, excludes 0 and both halves
of the window show it. Otherwise it *stays*, or if its exponent is beyond 1/8, no power law fits.

No fall is given an exponent if c + b · rounds^-a, with a floor c of at least a quarter of the last value and below all
values, leaves at most an eighth of the squared residuals of a power law: the curve *levels off*. If neither fits, the
curve *falls* if the confidence interval over the last decade and the exponents of both its halves are below -1/4,
*stays* if the values of that decade differ by a factor of at most 10^(1/8), and is *unsteady* otherwise. A value within
the rounding error is *zero*.

All of this describes the checkpoints of the window, which is reported. What happens between and after them is not
known: a cycle longer than the window cannot be distinguished from a trend.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Rounds = NDArray[np.int64]
Values = NDArray[np.float64]

FALLS, STAYS = -1 / 4, -1 / 16
SURE = 1 / 8  # largest half-width of the interval of an exponent
BENDS = 1 / 4  # largest change of an exponent within the window, as a share of it
NARROW = 10 ** (1 / 8)  # largest factor between the values of a curve that stays, if no power law fits
SEEN = 1 / 4  # least exponent of each half of the window, as a share of the exponent
LEAST = 5  # checkpoints in a window
CONFIDENCE = 0.95
ROUNDING = 1e-12  # smaller half-widths are rounding errors
CORRELATED = 0.9  # largest correlation of residuals that is taken into account
FLOOR_SHARE, FLOOR_FIT = 1 / 4, 1 / 8  # least floor as a share of the last value; largest share of squared residuals
APPROACH = (1 / 4, 2.0)  # range of the exponent of the approach to a floor
GRIDS, GRID = 5, 17  # grids of exponents, each eight times finer than the last, and their size
SHARES = np.linspace(0, 1, GRID)[:, None]  # of the way from the first exponent of a grid to the last


@dataclass(frozen=True)
class Power:
    """The power law values ≈ factor · rounds^exponent, fitted from round `first` to round `last`."""

    word: str  # falls, falls slowly, stays or grows
    exponent: float
    factor: float
    first: int
    last: int

    def __str__(self) -> str:
        return f"slope {round(self.exponent, 2) + 0:.2f}".replace("-", "−")  # + 0 avoids −0.00


@dataclass(frozen=True)
class Trend:
    """The trend of a curve in a window: its checkpoints from round `first` on.

    `begin`, `end`, `least` and `largest` are values at these checkpoints.
    """

    word: str  # zero, falls, falls slowly, levels off, stays, grows or unsteady; unknown if there are few checkpoints
    first: int
    begin: float
    end: float
    least: float
    largest: float
    power: Power | None = None  # if one fits
    floor: float | None = None  # if the curve levels off


def trend(rounds: Rounds, values: Values, rounding: float = 0.0) -> Trend:
    """Classify the trend of a curve in its later rounds; values up to `rounding` count as 0.

    >>> rounds = np.geomspace(1, 10_000, 41)
    >>> late = trend(rounds, np.minimum(0.1, 100 / rounds))  # constant for 1,000 rounds
    >>> print(late.word, late.power)
    falls slope −1.00
    >>> late = trend(rounds, 0.1 + 2 / np.sqrt(rounds))
    >>> print(late.word, late.power, round(late.floor, 2))
    levels off None 0.1
    """
    long, decade = _windows(rounds)
    late_rounds, late = rounds[decade:], values[decade:]
    if values[-1] <= rounding:
        return _of_window("zero", late_rounds, late)
    if len(rounds) < LEAST:
        return _of_window("unknown", late_rounds, late)
    if (fitted := power(rounds, values, rounding)) is not None:
        start = int(np.searchsorted(rounds, fitted.first))
        return replace(_of_window(fitted.word, rounds[start:], values[start:]), power=fitted)
    if late.min() <= rounding:
        return _of_window("unsteady", late_rounds, late)
    if (floor := floor_of(rounds[long:], values[long:], rounding)) is not None:
        return replace(_of_window("levels off", rounds[long:], values[long:]), floor=floor)
    place, height = np.log(late_rounds), np.log(late)
    exponent, half = _line(place, height)
    steepest_up = max(one for one, _ in _halves(place, height))
    falls = max(exponent + half, steepest_up) <= FALLS and late[-1] < late[0]
    word = "falls" if falls else "stays" if late.max() <= late.min() * NARROW else "unsteady"
    return _of_window(word, late_rounds, late)


def power(rounds: Rounds, values: Values, rounding: float = 0.0) -> Power | None:
    """Fit a power law to the tail of a curve, or return None if none fits or a value there is at most `rounding`.

    >>> print(power(np.array([1, 10, 100, 1000, 10_000, 100_000]), np.array([9, 2, 1, 0.1, 0.01, 0.001])))
    None
    >>> print(power(np.arange(1, 101), 3 / np.sqrt(np.arange(1, 101))))
    slope −0.50
    """
    long, decade = _windows(rounds)
    most, found = SURE, None
    levels_off: bool | None = None  # not known before it is needed
    if len(rounds) < LEAST:
        return None
    for start in (long, decade):
        x, y = rounds[start:], values[start:]
        if not (y > rounding).all():
            continue
        place, height = np.log(x), np.log(y)
        exponent, half = _line(place, height)
        word = _word(place, height, exponent, half)
        if half > most or word is None or not _is_straight(place, height, exponent):
            continue
        if exponent < 0 and word != "stays":
            if levels_off is None:
                levels_off = floor_of(rounds[long:], values[long:], rounding) is not None
            if levels_off:
                continue
        factor = float(np.exp(_mean(height - exponent * place)))
        found, most = Power(word, exponent, factor, int(x[0]), int(x[-1])), half
    return found


def exponent_of(x: NDArray[np.generic], y: Values) -> tuple[float, float]:
    """Return the least-squares exponent of y ≈ c · x^exponent and the half-width of its 95 % confidence interval.

    The half-width is NaN for two points.

    >>> exponent_of(np.array([1, 10, 100]), np.array([1.0, 0.1, 0.01]))
    (-1.0, 0.0)
    """
    return _line(np.log(x.astype(float)), np.log(y))


def _line(place: Values, height: Values) -> tuple[float, float]:
    """Return the least-squares slope and the half-width of its interval; a study calls this many times per point."""
    place, height = place - _mean(place), height - _mean(height)
    weight = float(place @ place)
    exponent = float(place @ height) / weight
    free = len(place) - 2
    if free < 1:
        return exponent, float("nan")
    residual = height - exponent * place
    error = sqrt(float(residual @ residual) / free / weight)
    half = _quantile(free) * error
    return round(exponent, 12), half if half > ROUNDING else 0.0


def _mean(values: Values) -> float:
    return float(np.add.reduce(values)) / len(values)  # several times faster than values.mean() if there are few


@cache
def _quantile(free: int) -> float:
    """Return the quantile of Student's distribution that bounds the confidence interval."""
    return float(stdtrit(free, (1 + CONFIDENCE) / 2))


def _bend(place: Values, logs: Values) -> tuple[float, float]:
    """Return how much the slope of `logs` rises from the first place to the last, and the half-width of its interval.

    It is the change of slope of the least-squares parabola.

    >>> place = np.log(np.geomspace(1, 100, 9))
    >>> bend, half = _bend(place, 0.1 * place**2)  # the slope is 0.2 place
    >>> round(bend, 3), round(0.2 * 2 * np.log(10).item(), 3), half
    (0.921, 0.921, 0.0)
    """
    place = place - _mean(place)
    span = float(place[-1] - place[0])
    weight = float(place @ place)
    square = place * place  # made orthogonal to constants and lines, so that its coefficient is a projection
    square -= weight / len(place) + float(square @ place) / weight * place
    logs = logs - _mean(logs)
    weight_of_square = float(square @ square)
    parabola = float(square @ logs) / weight_of_square
    residual = logs - float(place @ logs) / weight * place - parabola * square
    squares = float(residual @ residual)
    free = len(place) - 3
    if squares <= len(place) * ROUNDING**2:
        return 2 * span * parabola, 0.0
    error = sqrt(squares / free / weight_of_square) * _widened(residual)
    return 2 * span * parabola, 2 * span * _quantile(free) * error


def floor_of(x: Rounds, y: Values, rounding: float = 0.0) -> float | None:
    """Return the floor c of the curve c + b · x^-a that fits much better than a power law, or None.

    >>> x = np.geomspace(100, 10_000, 21)
    >>> round(floor_of(x, 0.1 + 2 / np.sqrt(x)), 3), floor_of(x, 2 / np.sqrt(x)) is None
    (0.1, True)
    """
    if not (y > rounding).all():
        return None
    place, height = np.log(x), np.log(y)
    exponent, _ = _line(place, height)
    line = height - exponent * place
    line -= _mean(line)
    squares = float(line @ line)
    if squares <= len(y) * ROUNDING**2:
        return None
    left, floor = _best_floor(place - place[0], y)
    return floor if FLOOR_SHARE * y[-1] <= floor <= y.min() and left <= FLOOR_FIT * squares else None


def _best_floor(place: Values, y: Values) -> tuple[float, float]:
    """Return the squared residuals, in relative terms, and the floor c of the best fit of y by c + b · exp(-a · place).

    For each exponent a the best b and c are projections, computed for a grid of exponents at once; each grid is finer
    than the last, around its best exponent.
    """
    constant = 1 / y
    weight = float(constant @ constant)
    least, most = APPROACH
    for _ in range(GRIDS):
        grid = least + SHARES * (most - least)
        shape = np.exp(-grid * place) * constant
        along = shape @ constant / weight
        across = shape - along[:, None] * constant
        size = across.sum(axis=1) / np.einsum("ij,ij->i", across, across)
        floor = constant.sum() / weight - size * along
        residual = floor[:, None] * constant + size[:, None] * shape - 1
        squares = np.einsum("ij,ij->i", residual, residual)
        best = int(squares.argmin())
        step = (most - least) / (GRID - 1)
        middle = float(grid[best, 0])
        least, most = max(APPROACH[0], middle - step), min(APPROACH[1], middle + step)
    return float(squares[best]), float(floor[best]) if size[best] > 0 else 0.0


def _widened(residual: Values) -> float:
    """Return the factor by which the correlation of neighbouring residuals widens a confidence interval."""
    centred = residual - _mean(residual)
    squares = float(centred @ centred)
    correlation = float(centred[1:] @ centred[:-1]) / squares if squares > 0 else 0.0
    correlation = min(max(correlation, 0.0), CORRELATED)
    return sqrt((1 + correlation) / (1 - correlation))


def _is_straight(place: Values, logs: Values, exponent: float) -> bool:
    """Whether the exponent is nearly the same throughout a window."""
    bend, half = _bend(place, logs)
    return abs(bend) <= max(-STAYS, BENDS * abs(exponent), half)


def _windows(rounds: Rounds) -> tuple[int, int]:
    """Return the indices at which the second half of the logarithmic axis and the last decade of the rounds begin.

    They begin earlier if too few checkpoints would remain.
    """
    last = float(rounds[-1])
    longer, shorter = np.searchsorted(rounds, [min(last**0.5, last / 10), last / 10]).tolist()
    latest = max(0, len(rounds) - LEAST)
    return min(longer, latest), min(shorter, latest)


def _halves(place: Values, height: Values) -> list[tuple[float, float]]:
    """Return the exponent and interval of each half of the checkpoints; both halves include the middle one."""
    middle = len(place) // 2
    return [_line(place[: middle + 1], height[: middle + 1]), _line(place[middle:], height[middle:])]


def _of_window(word: str, rounds: Rounds, values: Values) -> Trend:
    """Return the trend of a window without a fit."""
    return Trend(word, int(rounds[0]), float(values[0]), float(values[-1]), float(values.min()), float(values.max()))


def _word(place: Values, height: Values, exponent: float, half: float) -> str | None:
    """Return the word for an exponent, or None if its sign is not sure although it is not small."""
    if abs(exponent) <= -STAYS:
        return "stays"
    seen = all(one * exponent >= SEEN * exponent**2 for one, _ in _halves(place, height))
    if not seen or abs(exponent) <= half * _widened(height - exponent * place):
        return "stays" if abs(exponent) <= SURE else None
    if exponent > 0:
        return "grows"
    return "falls slowly" if exponent > FALLS else "falls"
