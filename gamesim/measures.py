"""Deprecated: `gamesim.measure.regrets` under its old name."""

from gamesim.deprecated import moved

__getattr__ = moved(__name__, "gamesim.measure.regrets")
