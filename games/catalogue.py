"""Find games in modules and make them from checked settings.

A game is a function that returns a `Game`; its arguments are the settings. A list of games names only the modules to
search; everything else is derived from the functions there.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Any, TypeVar, get_type_hints

from gamesim.errors import InputError, unknown, unknown_setting
from gamesim.formatting import shown
from gamesim.game import Game
from gamesim.validation import few_entries

Kind = TypeVar("Kind", bound=Game)


def factories(kind: type[Kind], modules: Iterable[ModuleType]) -> dict[str, Callable[..., Kind]]:
    """Return the public functions of modules that return this kind of game, by name.

    >>> from gamesim.game import Table
    >>> from gamesim.games import dilemmas
    >>> factories(Table, [dilemmas])["chicken"]().payoffs[0]
    array([[6., 2.],
           [7., 0.]])
    """
    found: dict[str, Callable[..., Kind]] = {}
    for module in modules:
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_"):
                returned = get_type_hints(thing).get("return")
                if isinstance(returned, type) and issubclass(returned, kind):
                    found[name.replace("_", "-")] = thing
    return dict(sorted(found.items()))


def make(known: Mapping[str, Callable[..., Kind]], name: str, settings: Mapping[str, Any], what: str = "game") -> Kind:
    """Return a known game by name; raise InputError for an unknown name or a wrong setting.

    >>> from gamesim.games import dilemmas
    >>> make(factories(Game, [dilemmas]), "hawk-dove", {"prize": 3.0})
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: hawk-dove has no setting 'prize'; choose from value, cost
    """
    from pydantic import ValidationError

    if name not in known:
        raise unknown(what, name, known)
    refuse_unknown_settings(name, settings, takes(known[name]))
    for key, value in settings.items():
        few_entries(key, value)  # before pydantic, which reports every wrong entry of a long list
    try:
        made: Kind = _checked(known[name])(**settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{name}: {where}: {first['msg']}, got {shown(first['input'])}") from None
    return made


def takes(factory: Callable[..., object]) -> list[str]:
    """Return the names of a function's settings.

    >>> from gamesim.games.dilemmas import hawk_dove
    >>> takes(hawk_dove)
    ['value', 'cost']
    """
    return list(inspect.signature(factory).parameters)


def refuse_unknown_settings(name: str, settings: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise InputError for a setting that `name` does not have.

    >>> refuse_unknown_settings("el-farol", ["playrs"], ["players", "capacity"])
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: el-farol has no setting 'playrs'; did you mean 'players'?
    """
    allowed = list(allowed)
    for key in settings:
        if key not in allowed:
            raise unknown_setting(name, key, allowed)


@cache
def _checked(factory: Callable[..., Game]) -> Callable[..., Any]:
    """Return the function with strict type checks, cached because building them is slow."""
    from pydantic import ConfigDict, validate_call

    return validate_call(config=ConfigDict(strict=True))(factory)
