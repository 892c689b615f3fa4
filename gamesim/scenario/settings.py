"""Validate the settings of games and learners against the signatures of their constructors."""

import inspect
import json
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from gamesim import players, user_files, user_learners
from gamesim.errors import InputError, unknown, unknown_setting
from gamesim.formatting import shown
from gamesim.learner import Learner
from gamesim.scenario.mistakes import Mistake, Mistakes, key_of_setting
from gamesim.user_learners import UserLearner


def checked_settings(
    name: str, make: Callable[..., Any], settings: Mapping[str, Any], given: Collection[str] = ()
) -> dict[str, Any]:
    """Convert settings to the types in the signature of `make`, or raise all mistakes in their keys and types.

    The parameters in `given` are passed by the simulation and are not settings.
    """
    takes = {key: one for key, one in parameters(make).items() if key not in given}
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
    name = table.get("learner")
    if not isinstance(name, str):
        raise Mistakes([("learner", "missing" if name is None else f"expected a name, got {shown(name)}")])
    settings = {key: value for key, value in table.items() if key != "learner"}
    try:
        made = made_learner(name, settings)
    except InputError as error:
        raise Mistakes([("learner", str(error))]) from None
    if not isinstance(made, Learner):
        raise Mistakes([("learner", f"a learner among the settings must be compiled, got {user_files.shown(name)}")])
    return made


def made_learner(name: str, settings: Mapping[str, Any]) -> Learner | UserLearner:
    """Return the learner with this name or reference, or raise all mistakes in its settings."""
    own = user_files.is_reference(name)
    if not own and name not in players.available():
        raise unknown("learner", name, players.available())
    kind = user_learners.class_of(name) if own else players.available()[name]
    if not issubclass(kind, Learner):
        return UserLearner(kind, checked_settings(kind.__name__, kind, settings, given=user_learners.PASSED))
    checked = checked_settings(kind.name, kind, settings)
    try:
        return kind(**checked)
    except InputError as error:
        raise Mistakes([(key_of_setting("", error, settings), str(error))]) from None
    except Exception as error:
        if not own:
            raise
        raise Mistakes([("", str(user_files.failure(kind.__name__, "when it was created", error)))]) from error


@cache
def parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the named parameters of a constructor, with their types."""
    several = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    found = inspect.signature(make, eval_str=True).parameters
    return {name: one for name, one in found.items() if one.kind not in several}


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    """Return the validator of a type; building one takes much longer than using it."""
    return TypeAdapter(annotation)
