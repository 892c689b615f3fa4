"""Checks of what users give: each returns the value in the form that the code needs, or raises one InputError."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError


def positive(name: str, value: float | None) -> None:
    """Refuse a setting that is neither None nor a positive finite number.

    >>> positive("rate", -1.0)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: rate must be a positive number, and -1.0 came
    """
    if value is not None and not 0 < value < math.inf:
        raise InputError(f"{name} must be a positive number, and {value} came")


def at_least(name: str, value: float, least: float) -> None:
    """Refuse a setting below its least value, or not a finite number.

    >>> at_least("players", 1, 2)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: players must be at least 2, and 1 came
    """
    if not least <= value < math.inf:
        raise InputError(f"{name} must be at least {least}, and {value} came")


def whole_number(name: str, value: Any, least: int) -> int:
    """Return a count that a person gave, or say what is wrong with it.

    >>> whole_number("rounds", 0, least=1)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: rounds must be a whole number of at least 1, and 0 came
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, and {value!r} came")
    return int(value)


def whole_numbers(name: str, array: np.ndarray[Any, Any]) -> Integers:
    """Return an array of a file or record as whole numbers, or say that it is none."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must be whole numbers, and an array of {array.dtype} came")
    return np.ascontiguousarray(array, dtype=np.int64)


def strategy(given: ArrayLike, actions: int, player: str) -> Vector:
    """Return a strategy as an array: a probability for each action."""
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{player}'s strategy must be {actions} numbers, and {given!r} came") from None
    if vector.shape != (actions,) or not (vector >= 0).all() or abs(vector.sum() - 1) > 1e-9:
        raise InputError(
            f"{player}'s strategy must be {actions} numbers, none negative, that sum to 1, and {vector.tolist()} came"
        )
    return vector


def action_labels(players: Sequence[str], actions: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of actions, one non-empty tuple for each player."""
    if not players or len(players) != len(actions) or not all(len(labels) for labels in actions):
        raise InputError(f"{len(players)} players need as many lists of actions, none empty, and {len(actions)} came")
    return tuple(tuple(labels) for labels in actions)


def number_of_rounds(text: str) -> int:
    """Read a whole number as people write it on the command line: 5000, 1_000_000, 1e6.

    >>> number_of_rounds("1e6")
    1000000
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        if (value := float(text)).is_integer():
            return int(value)
    except ValueError:
        pass
    raise InputError(f"expected a whole number, and {text!r} came")


def seconds(text: str) -> float:
    """Read a positive number of seconds from the command line.

    >>> seconds("0.5")
    0.5
    """
    try:
        if 0 < (value := float(text)) < math.inf:
            return value
    except ValueError:
        pass
    raise InputError(f"expected a positive number of seconds, and {text!r} came")
