"""Deprecated: `gamesim.engine.compiled` under its old name."""

from gamesim.deprecated import moved

__getattr__ = moved(__name__, "gamesim.engine.compiled", {"phase": "inlined"})
