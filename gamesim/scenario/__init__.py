"""Scenario files: a game, its learners and what to measure, as data that never executes code."""

from gamesim.scenario.files import find as find
from gamesim.scenario.files import read as read
from gamesim.scenario.files import shipped as shipped
from gamesim.scenario.model import Scenario as Scenario

__all__ = ["Scenario", "find", "read", "shipped"]
