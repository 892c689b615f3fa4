"""Aggregative games: payoffs depend on the player's action and on a sum over the others, so no table is built."""

from gamesim.games.aggregative.factories import braess_crowd as braess_crowd
from gamesim.games.aggregative.factories import el_farol_crowd as el_farol_crowd
from gamesim.games.aggregative.factories import guess_two_thirds_crowd as guess_two_thirds_crowd
from gamesim.games.aggregative.factories import minority_crowd as minority_crowd
from gamesim.games.aggregative.factories import pigou_crowd as pigou_crowd
from gamesim.games.aggregative.game import Aggregative as Aggregative
