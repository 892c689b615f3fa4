"""Measures of a run: regrets, gaps, distances, trends, and user-defined ones.

A measure is a function of a moment of a run, see `measure`. The built-in measures are in `gamesim.measure.builtin`.
"""

from gamesim.measure import builtin as builtin  # makes the measures known
from gamesim.measure.moments import Moment, Moments
from gamesim.measure.registry import Measure, available, find, measure, numbers

__all__ = ["Measure", "Moment", "Moments", "available", "find", "measure", "numbers"]
