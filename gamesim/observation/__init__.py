"""Play that was observed, not simulated: its files, its record, intervals, and learners in the players' seats."""

from gamesim.observation.bootstrap import Interval as Interval
from gamesim.observation.bootstrap import intervals as intervals
from gamesim.observation.draws import drawn as drawn
from gamesim.observation.plays import Plays as Plays
from gamesim.observation.plays import read as read
from gamesim.observation.plays import write as write
from gamesim.observation.recording import observed as observed
from gamesim.observation.seats import payoffs_in_seat as payoffs_in_seat

__all__ = ["Interval", "Plays", "drawn", "intervals", "observed", "payoffs_in_seat", "read", "write"]
