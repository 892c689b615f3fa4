"""Deprecated: `gamesim.games.io.interop` under its old name."""

from gamesim.deprecated import moved

__getattr__ = moved(__name__, "gamesim.games.io.interop")
