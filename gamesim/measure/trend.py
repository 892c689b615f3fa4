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
    exponent, half = exponent_of(late_rounds, late)
    steepest_up = max(one for one, _ in _halves(late_rounds, late))
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
        exponent, half = exponent_of(x, y)
        word = _word(x, y, exponent, half)
        if half > most or word is None or not _is_straight(x, y, exponent):
            continue
        if exponent < 0 and word != "stays":
            if levels_off is None:
                levels_off = floor_of(rounds[long:], values[long:], rounding) is not None
            if levels_off:
                continue
        factor = float(np.exp(np.mean(np.log(y) - exponent * np.log(x))))
        found, most = Power(word, exponent, factor, int(x[0]), int(x[-1])), half
    return found


def exponent_of(x: NDArray[np.generic], y: Values) -> tuple[float, float]:
    """Return the least-squares exponent of y ≈ c · x^exponent and the half-width of its 95 % confidence interval.

    The half-width is NaN for two points.

    >>> exponent_of(np.array([1, 10, 100]), np.array([1.0, 0.1, 0.01]))
    (-1.0, 0.0)
    """
    place, height = np.log(x.astype(float)), np.log(y)
    place -= place.sum() / len(place)
    height -= height.sum() / len(height)
    weight = float(place @ place)
    exponent = float(place @ height) / weight
    free = len(place) - 2
    if free < 1:
        return exponent, float("nan")
    residual = height - exponent * place
    error = np.sqrt(float(residual @ residual) / free / weight)
    half = float(stdtrit(free, (1 + CONFIDENCE) / 2) * error)
    return round(exponent, 12), half if half > ROUNDING else 0.0


def bend_of(x: NDArray[np.generic], y: Values) -> tuple[float, float]:
    """Return how much the exponent of y rises from the first to the last x, and the half-width of its interval.

    It is the change of slope of the least-squares parabola through the logarithms.

    >>> x = np.geomspace(1, 100, 9)
    >>> bend, half = bend_of(x, np.exp(0.1 * np.log(x) ** 2))  # the exponent is 0.2 log x
    >>> round(bend, 3), round(0.2 * 2 * np.log(10).item(), 3), half
    (0.921, 0.921, 0.0)
    """
    place = np.log(np.asarray(x, dtype=float))
    place -= place.mean()
    span = float(place.max() - place.min())
    weight = float(place @ place)
    square = place * place  # made orthogonal to constants and lines, so that its coefficient is a projection
    square -= weight / len(place) + float(square @ place) / weight * place
    logs = np.log(y)
    logs -= logs.mean()
    weight_of_square = float(square @ square)
    parabola = float(square @ logs) / weight_of_square
    residual = logs - float(place @ logs) / weight * place - parabola * square
    squares = float(residual @ residual)
    free = len(place) - 3
    if squares <= len(place) * ROUNDING**2:
        return 2 * span * parabola, 0.0
    error = np.sqrt(squares / free / weight_of_square) * _widened(residual)
    return 2 * span * parabola, 2 * span * float(stdtrit(free, (1 + CONFIDENCE) / 2) * error)


def floor_of(x: Rounds, y: Values, rounding: float = 0.0) -> float | None:
    """Return the floor c of the curve c + b · x^-a that fits much better than a power law, or None.

    >>> x = np.geomspace(100, 10_000, 21)
    >>> round(floor_of(x, 0.1 + 2 / np.sqrt(x)), 3), floor_of(x, 2 / np.sqrt(x)) is None
    (0.1, True)
    """
    if not (y > rounding).all():
        return None
    exponent, _ = exponent_of(x, y)
    line = np.log(y) - exponent * np.log(x)
    squares = float(((line - line.mean()) ** 2).sum())
    if squares <= len(y) * ROUNDING**2:
        return None

    left, floor = _best_floor(np.log(x / x[0]), y)
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
        grid = np.linspace(least, most, GRID)
        shape = np.exp(-grid[:, None] * place) * constant
        along = shape @ constant / weight
        across = shape - along[:, None] * constant
        size = across.sum(axis=1) / np.einsum("ij,ij->i", across, across)
        floor = constant.sum() / weight - size * along
        residual = floor[:, None] * constant + size[:, None] * shape - 1
        squares = np.einsum("ij,ij->i", residual, residual)
        best = int(squares.argmin())
        step = (most - least) / (GRID - 1)
        least, most = max(APPROACH[0], grid[best] - step), min(APPROACH[1], grid[best] + step)
    return float(squares[best]), float(floor[best]) if size[best] > 0 else 0.0


def _widened(residual: Values) -> float:
    """Return the factor by which the correlation of neighbouring residuals widens a confidence interval."""
    centred = residual - residual.mean()
    squares = float(centred @ centred)
    correlation = np.clip(centred[1:] @ centred[:-1] / squares, 0, CORRELATED) if squares > 0 else 0.0
    return float(np.sqrt((1 + correlation) / (1 - correlation)))


def _is_straight(x: Rounds, y: Values, exponent: float) -> bool:
    """Whether the exponent is nearly the same throughout a window."""
    bend, half = bend_of(x, y)
    return abs(bend) <= max(-STAYS, BENDS * abs(exponent), half)


def _windows(rounds: Rounds) -> tuple[int, int]:
    """Return the indices at which the second half of the logarithmic axis and the last decade of the rounds begin.

    They begin earlier if too few checkpoints would remain.
    """
    last = float(rounds[-1])
    longer, shorter = np.searchsorted(rounds, [min(last**0.5, last / 10), last / 10]).tolist()
    latest = max(0, len(rounds) - LEAST)
    return min(longer, latest), min(shorter, latest)


def _halves(x: Rounds, y: Values) -> list[tuple[float, float]]:
    """Return the exponent and interval of each half of the checkpoints; both halves include the middle one."""
    middle = len(x) // 2
    return [exponent_of(x[: middle + 1], y[: middle + 1]), exponent_of(x[middle:], y[middle:])]


def _of_window(word: str, rounds: Rounds, values: Values) -> Trend:
    """Return the trend of a window without a fit."""
    return Trend(word, int(rounds[0]), float(values[0]), float(values[-1]), float(values.min()), float(values.max()))


def _word(x: Rounds, y: Values, exponent: float, half: float) -> str | None:
    """Return the word for an exponent, or None if its sign is not sure although it is not small."""
    if abs(exponent) <= -STAYS:
        return "stays"
    seen = all(one * exponent >= SEEN * exponent**2 for one, _ in _halves(x, y))
    if not seen or abs(exponent) <= half * _widened(np.log(y) - exponent * np.log(x)):
        return "stays" if abs(exponent) <= SURE else None
    if exponent > 0:
        return "grows"
    return "falls slowly" if exponent > FALLS else "falls"
