"""Validate the settings of games and learners against the signatures of their constructors."""

import inspect
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from gamesim import players, user_learners
from gamesim.errors import InputError, unknown, unknown_setting
from gamesim.formatting import shown
from gamesim.learner import Learner
from gamesim.scenario.mistakes import Mistake, Mistakes, key_of_setting


def checked_settings(
    name: str, make: Callable[..., Any], settings: Mapping[str, Any], given: str = ""
) -> dict[str, Any]:
    """Convert settings to the types in the signature of `make`, or raise all mistakes in their keys and types.

    The parameter `given` is passed by the simulation and is not a setting.
    """
    takes = {key: one for key, one in _parameters(make).items() if key != given}
    found: list[Mistake] = []
    checked = {}
    for key, value in settings.items():
        if key not in takes:
            found.append((key, str(unknown_setting(name, key, takes))))
            continue
        if isinstance(value, dict) and Learner in get_args(takes[key].annotation):
            try:
                checked[key] = _checked_learner(value)
            except Mistakes as mistakes:
                found += [(f"{key}.{at}" if at else key, why) for at, why in mistakes.found]
            continue
        try:  # as JSON: strict validation then accepts an array for a tuple, but converts nothing else silently
            kind = Any if takes[key].annotation is inspect.Parameter.empty else takes[key].annotation
            checked[key] = _adapter(kind).validate_json(json.dumps(value, default=str), strict=True)
        except ValidationError as error:
            wanted = dict.fromkeys(one["msg"].removeprefix("Input should be ") for one in error.errors())
            found.append((key, f"expected {' or '.join(wanted)}, got {shown(value)}"))
    for key, parameter in takes.items():
        if parameter.default is inspect.Parameter.empty and key not in settings:
            found.append((key, f"missing; {name} requires it"))
    if found:
        raise Mistakes(found)
    return checked


def _checked_learner(table: Mapping[str, Any]) -> Learner:
    """Return the learner that a table among the settings describes, or raise all mistakes in it."""
    known = players.available()
    name = table.get("learner")
    if name not in known:
        raise Mistakes([("learner", str(unknown("learner", str(name), known)) if name else "missing")])
    settings = {key: value for key, value in table.items() if key != "learner"}
    checked = checked_settings(name, known[name], settings)
    try:
        return known[name](**checked)
    except InputError as error:
        raise Mistakes([(key_of_setting("", error, settings), str(error))]) from None


def checked_user_settings(reference: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the settings of a user-defined learner to the types in the signature of its class."""
    kind = user_learners.loaded_class(reference)
    return checked_settings(kind.__name__, kind, settings, given="actions")


@cache
def _parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(make, eval_str=True).parameters


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    """Return the validator of a type; building one takes much longer than using it."""
    return TypeAdapter(annotation)
