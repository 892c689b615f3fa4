"""What is measured of a run: regrets, gaps, trends, and the sets of equilibria.

A measure is a function of a moment of a run: see `measure`. Those of gamesim itself are in `gamesim.measure.builtin`.
"""

from gamesim.measure import builtin as builtin  # makes the measures known
from gamesim.measure.moments import Moment, Moments
from gamesim.measure.registry import Measure, available, find, measure, numbers

__all__ = ["Measure", "Moment", "Moments", "available", "find", "measure", "numbers"]
