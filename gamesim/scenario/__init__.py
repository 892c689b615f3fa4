"""Scenario files: a game, its learners and what to measure, as data that never executes code."""

from gamesim.scenario.model import Scenario as Scenario
from gamesim.scenario.model import find as find
from gamesim.scenario.model import read as read
from gamesim.scenario.model import shipped as shipped

__all__ = ["Scenario", "find", "read", "shipped"]
