"""Games on graphs: payoffs depend on neighbours only, so no table is built."""

from gamesim.games.networks.contract import NetworkGame as NetworkGame
from gamesim.games.networks.factories import local_public_goods as local_public_goods
from gamesim.games.networks.factories import network_coordination as network_coordination
from gamesim.games.networks.factories import polymatrix as polymatrix
from gamesim.games.networks.polymatrix_game import Polymatrix as Polymatrix
from gamesim.games.networks.public_goods_game import LocalPublicGoods as LocalPublicGoods
