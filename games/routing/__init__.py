"""Atomic routing games: players choose routes, and roads slow down with their load."""

from gamesim.games.routing.factories import routing as routing
from gamesim.games.routing.game import Routing as Routing
