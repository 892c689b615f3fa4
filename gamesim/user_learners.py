"""User-defined learners: classes in Python, and compiled subclasses of `Learner` in a user's file.

A scenario names them as `mylearner.py:MyHedge`, see `gamesim.user_files`. A record keeps such a reference and the
settings: reading a record never needs the class, and only resuming it does.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gamesim import players, user_files
from gamesim.errors import InputError
from gamesim.formatting import shown
from gamesim.learner import Learner, RunningLearner

PASSED = ("actions", "random")  # arguments that a simulation passes to the constructor of a class in Python
SHOWN = 16  # digits of a hash in messages


@dataclass(frozen=True, repr=False)
class UserLearner:
    """A user-defined class and its settings; calling it with a number of actions returns a running learner."""

    learner_class: type[Any]
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __call__(self, actions: int, **given: Any) -> RunningLearner:  # noqa: D102
        running: RunningLearner = self.learner_class(actions=actions, **given, **self.settings)
        return running

    def __repr__(self) -> str:
        return _called(self.learner_class.__qualname__, self.settings)


@dataclass(frozen=True, repr=False)
class StoredLearner:
    """A learner in a record that was read, which needs a user-defined class: a reference and the settings."""

    reference: str
    settings: Mapping[str, Any] = field(hash=False)
    in_python: bool

    def __repr__(self) -> str:
        return _called(self.reference.rpartition(":")[2], self.settings)


def _called(name: str, settings: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key}={_shown(value)}" for key, value in settings.items())
    return name + (f"({given})" if given else "")


def _shown(value: Any) -> str:
    """Return a setting as it is displayed: a table of a learner as a call."""
    if isinstance(value, dict) and "learner" in value:
        settings = {key: one for key, one in value.items() if key != "learner"}
        return _called(user_files.shown(str(value["learner"])), settings)
    return repr(value)


def name_of(learner: Any) -> str:
    """Return the name of a learner, with the settings of a user-defined one."""
    if isinstance(learner, Learner):
        return learner.name
    return str(getattr(learner, "__qualname__", repr(learner)))


# From references to learners.


def class_of(reference: str) -> type[Any]:
    """Return the class that a reference names, or raise an InputError unless it is that of a learner."""
    found = user_files.named(reference)
    if isinstance(found, type) and issubclass(found, Learner):
        found.check_class()
    elif not is_python_class(found):
        raise InputError(
            f"{user_files.shown(reference)} is not a learner; expected a class with methods play() and observe(loss), "
            "or a subclass of Learner"
        )
    return found  # type: ignore[no-any-return]  # checked above


def learners_in(path: Path) -> list[str]:
    """Run a file that the user has allowed, and return references to the learners that it defines."""
    found = user_files.defined(user_files.allow_file(path))
    learners = [
        reference
        for reference, thing in found.items()
        if is_python_class(thing) or (isinstance(thing, type) and issubclass(thing, Learner))
    ]
    if not learners:
        raise InputError(f"{path} defines no learner: a class with play() and observe(loss), or a subclass of Learner")
    for reference in learners:
        class_of(reference)  # raises if it is incomplete
    return learners


def is_python_class(thing: object) -> bool:
    """Return whether something is a class with the two methods of a learner in Python."""
    return isinstance(thing, type) and all(callable(getattr(thing, method, None)) for method in ("play", "observe"))


def made(reference: str, settings: Mapping[str, Any]) -> "Learner | UserLearner":
    """Return the learner that a reference and its settings describe."""
    kind = class_of(reference)
    return kind(**settings) if issubclass(kind, Learner) else UserLearner(kind, dict(settings))


def running(factory: Any, actions: int, random: np.random.Generator) -> RunningLearner:
    """Return a running learner of a class or factory, with a generator of random numbers if it accepts one."""
    given = {"random": random} if accepts(factory, "random") else {}
    made: RunningLearner = factory(actions=actions, **given)
    return made


def accepts(function: Any, name: str) -> bool:
    """Return whether a function, class or `UserLearner` has a parameter of this name."""
    function = getattr(function, "learner_class", function)
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some classes written in C have no signature
        return False


def keeps_state(learner: Any) -> bool:
    """Return whether the state of a learner can be stored: `Learner` can, and so can classes with state and restore."""
    kind = getattr(learner, "learner_class", learner)
    return isinstance(learner, Learner) or all(callable(getattr(kind, name, None)) for name in ("state", "restore"))


# Between learners and manifests of records.


def described(learner: Any) -> dict[str, Any]:
    """Return the entry of a learner in the manifest of a record."""
    if isinstance(learner, StoredLearner):
        entry = {"learner": learner.reference, "settings": dict(learner.settings)}
        return entry | ({"python": True} if learner.in_python else {})
    if isinstance(learner, Learner):
        return {"learner": learner.reference, "settings": learner.settings()}
    kind = learner.learner_class if isinstance(learner, UserLearner) else learner
    settings = dict(learner.settings) if isinstance(learner, UserLearner) else {}
    return {"learner": user_files.reference_of(kind), "settings": settings, "python": True}


def from_entry(entry: Mapping[str, Any]) -> Learner | StoredLearner:
    """Return the learner of an entry in a manifest, without running code of the user."""
    if "learner" not in entry:  # of an earlier version
        return StoredLearner(str(entry["python"]), {}, in_python=True)
    name, settings = entry["learner"], entry["settings"]
    if not isinstance(name, str) or not isinstance(settings, dict):
        raise InputError(f"expected the name of a learner and a table of settings, got {shown([name, settings])}")
    if name in players.available() and not user_files.references(settings):
        return players.make(name, **settings)
    return StoredLearner(name, settings, in_python="python" in entry)


def restored(stored: Sequence[Any], learners: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the learners of a record, with classes from `learners` by name, or from files that were allowed.

    Raises an InputError if a class is missing, or its file is not the one of the record.
    """
    return tuple(
        _restored(one.reference, one.settings, learners) if isinstance(one, StoredLearner) else one for one in stored
    )


def _restored(reference: str, stored: Mapping[str, Any], learners: Mapping[str, Any]) -> Any:
    settings = {key: _setting(value, learners) for key, value in stored.items()}
    if reference in players.available():
        return players.make(reference, **settings)
    kind = _found(reference, learners)
    if isinstance(kind, type) and issubclass(kind, Learner):
        return players.configured(kind, settings)
    return UserLearner(kind, settings) if settings else kind


def _setting(value: Any, learners: Mapping[str, Any]) -> Any:
    """Return a setting, with a table that describes a learner replaced by the learner."""
    if not isinstance(value, dict) or "learner" not in value:
        return value
    return _restored(str(value["learner"]), {key: one for key, one in value.items() if key != "learner"}, learners)


def _found(reference: str, learners: Mapping[str, Any]) -> Any:
    """Return the class of a stored reference."""
    name = reference.rpartition(":")[2]
    if name not in learners:
        if user_files.has_run(reference):
            return class_of(reference)
        raise InputError(
            f"this run has the user-defined learner {user_files.shown(reference)}: to resume it, pass its class with "
            f"learners={{{name!r}: ...}}, or allow its file with --allow-local-code; the SHA-256 of the file must be "
            f"{_hash(reference)}"
        )
    here = user_files.reference_of(learners[name])
    if _hash(reference) != _hash(here):
        raise InputError(
            f"{user_files.shown(reference)} has changed since the run: the SHA-256 of its file was "
            f"{_hash(reference)}, got {_hash(here)}; restore the file, or start the run again"
        )
    return learners[name]


def _hash(reference: str) -> str:
    sha256 = user_files.Reference.parse(reference).sha256 if user_files.is_reference(reference) else None
    return f"{sha256[:SHOWN]}…" if sha256 else "unknown"


# Failures.


def as_input_error(player: str, learner: object, when: str, error: Exception) -> InputError:
    """Return the InputError for an exception in a Python learner, with the player, the time and the line of the file.

    `learner` is the class or factory of the learner. `when` is a phrase such as "in round 7".
    """
    made_by = learner.learner_class if isinstance(learner, UserLearner) else learner
    name = getattr(made_by, "__name__", type(made_by).__name__)
    return user_files.failure(f"{player}'s learner {name}", when, error)
