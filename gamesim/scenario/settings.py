"""Settings of games and learners, checked against the signature of what takes them."""

import inspect
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gamesim import user_learners
from gamesim.errors import did_you_mean
from gamesim.scenario.mistakes import Mistake, Mistakes, shown


def checked_settings(
    name: str, make: Callable[..., Any], settings: Mapping[str, Any], given: str = ""
) -> dict[str, Any]:
    """Return the settings as what `make` takes, or raise all mistakes in them: keys and types, from its signature.

    What is `given` by the simulation is no setting.
    """
    takes = {key: one for key, one in _parameters(make).items() if key != given}
    found: list[Mistake] = []
    checked = {}
    for key, value in settings.items():
        if key not in takes:
            has = did_you_mean(key, takes) if takes else "it has no settings"
            found.append((key, f"{name} has no setting {key!r}: {has}"))
            continue
        try:  # as JSON, in which an array may be a tuple and yet nothing is converted silently
            kind = Any if takes[key].annotation is inspect.Parameter.empty else takes[key].annotation
            checked[key] = _adapter(kind).validate_json(json.dumps(value, default=str), strict=True)
        except ValidationError as error:
            wanted = dict.fromkeys(one["msg"].removeprefix("Input should be ") for one in error.errors())
            found.append((key, f"expected {' or '.join(wanted)}, and {shown(value)} came"))
    for key, parameter in takes.items():
        if parameter.default is inspect.Parameter.empty and key not in settings:
            found.append((key, f"is missing: {name} needs it"))
    if found:
        raise Mistakes(found)
    return checked


def checked_user_settings(reference: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a learner of the user's own, checked against its class."""
    kind = user_learners.loaded_class(reference)
    return checked_settings(kind.__name__, kind, settings, given="actions")


@cache
def _parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(make, eval_str=True).parameters


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    """Return what checks values of a type; building it takes long beside the check itself."""
    return TypeAdapter(annotation)
