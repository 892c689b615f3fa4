"""Atomic routing: players choose ways through a road graph, and roads slow down with their load."""

from gamesim.games.routing.factories import routing as routing
from gamesim.games.routing.game import Routing as Routing
