"""Deprecated: `gamesim.learner` under its old name."""

from gamesim.deprecated import moved

__getattr__ = moved(__name__, "gamesim.learner", {"Player": "Learner", "Learner": "RunningLearner"})
