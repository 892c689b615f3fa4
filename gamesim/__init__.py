"""Simulate learning in games and measure its distance to correlated equilibrium.

>>> import gamesim
>>> record = gamesim.simulate("chicken", ["hedge", "regret-matching"], rounds=1000, seed=0)
>>> record.gap("cce") < 0.2
True
"""

import os.path
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gamesim import equilibrium as equilibrium
    from gamesim import games as games
    from gamesim import players as players
    from gamesim.errors import InputError as InputError
    from gamesim.flows import Flow as Flow
    from gamesim.flows import flow as flow
    from gamesim.game import Game as Game
    from gamesim.game import Table as Table
    from gamesim.learner import Guarantee as Guarantee
    from gamesim.learner import Learner as Learner
    from gamesim.observation import observed as observed
    from gamesim.portraits import Portrait as Portrait
    from gamesim.portraits import portrait as portrait
    from gamesim.record import Record as Record
    from gamesim.record import load as load
    from gamesim.scenario import Scenario as Scenario
    from gamesim.simulation import Simulation as Simulation
    from gamesim.simulation import face as face
    from gamesim.simulation import simulate as simulate

__version__ = "0.2.0.dev0"  # the only place: the build and the metadata of the installed package read it

# In a checkout the folders players, games and scenarios are next to this one; in an installed package, inside it.
if not os.path.isdir(os.path.join(os.path.dirname(__file__), "players")):
    __path__.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The module of each name. Names are imported on first use, so that `gamesim --help` loads no numerical library.
_HOME = {
    "InputError": "errors",
    "Flow": "flows",
    "flow": "flows",
    "Game": "game",
    "Table": "game",
    "Guarantee": "learner",
    "Learner": "learner",
    "observed": "observation",
    "Portrait": "portraits",
    "portrait": "portraits",
    "Record": "record",
    "load": "record",
    "Scenario": "scenario",
    "Simulation": "simulation",
    "face": "simulation",
    "simulate": "simulation",
}

__all__ = ["equilibrium", "games", "players", *_HOME]  # noqa: PLE0604  # they are strings


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"gamesim.{_HOME[name]}"), name)
    if name in __all__:
        return import_module(f"gamesim.{name}")
    if name == "Player":
        from gamesim.deprecated import warn

        warn("gamesim.Player", "gamesim.Learner")
        return __getattr__("Learner")
    raise AttributeError(f"module 'gamesim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
