"""Means and slopes with confidence intervals.

A slope is the exponent of measure ≈ c · x^slope, fitted by least squares on logarithmic axes. Confidence intervals have
a level of 95 % and use Student's t distribution, over the values of a mean or the residuals of a slope.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from gamesim.formatting import number
from gamesim.measure.trend import CONFIDENCE, exponent_of

ROUNDING = 1e-12  # smaller values are rounding errors, whose logarithms are meaningless


@dataclass(frozen=True)
class Mean:
    """A mean, the half-width of its confidence interval, and the number of values."""

    value: float
    half: float
    count: int

    def __str__(self) -> str:
        half = 0.0 if self.half < ROUNDING * abs(self.value) else self.half  # a rounding error
        return number(self.value) if np.isnan(half) else f"{number(self.value)} ± {half:.2g}"


def mean(values: Iterable[float | None]) -> Mean | None:
    """Return the mean with its confidence interval, or None if there are no values.

    >>> print(mean([1.0, 2.0, 3.0]))
    2 ± 2.5
    """
    found = np.array([value for value in values if value is not None], dtype=float)
    if not found.size:
        return None
    if found.size == 1:
        return Mean(float(found[0]), float("nan"), 1)
    spread = found.std(ddof=1) / np.sqrt(found.size)
    half = stdtrit(found.size - 1, (1 + CONFIDENCE) / 2) * spread
    return Mean(float(found.mean()), float(half), int(found.size))


def slope(x: Sequence[float], y: Sequence[float | None]) -> Mean | None:
    """Return the exponent of y ≈ c · x^slope with its confidence interval; None with fewer than two distinct x.

    >>> print(slope([1, 10, 100], [1.0, 0.1, 0.01]))
    -1 ± 0
    """
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if b is not None and b > ROUNDING and a > 0]
    if len({a for a, _ in pairs}) < 2:
        return None
    return Mean(*exponent_of(*np.array(pairs).T), 1)
