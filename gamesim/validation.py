"""Validate user input: each function returns the value in the type that the code needs, or raises an InputError."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError


def positive(name: str, value: float | None) -> None:
    """Raise an InputError unless a setting is None or a positive finite number.

    >>> positive("rate", -1.0)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: rate must be positive, got -1.0
    """
    if value is not None and not 0 < value < math.inf:
        raise InputError(f"{name} must be {'finite' if value == math.inf else 'positive'}, got {value}")


def at_least(name: str, value: float, least: float) -> None:
    """Raise an InputError unless a setting is a finite number of at least `least`.

    >>> at_least("players", 1, 2)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: players must be at least 2, got 1
    """
    if not least <= value < math.inf:
        raise InputError(f"{name} must be {'finite' if value == math.inf else f'at least {least}'}, got {value}")


def whole_number(name: str, value: Any, least: int) -> int:
    """Return a count as an int, or raise an InputError if it is not an integer of at least `least`.

    >>> whole_number("rounds", 0, least=1)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: rounds must be an integer of at least 1, got 0
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def whole_numbers(name: str, array: np.ndarray[Any, Any]) -> Integers:
    """Return an array from a file or record as 64-bit integers, or raise an InputError if it has another type."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must be an array of integers, got an array of {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.int64)


def strategy(given: ArrayLike, actions: int, player: str) -> Vector:
    """Return a mixed strategy as an array with one probability per action."""
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{player}'s strategy must be {actions} numbers, got {given!r}") from None
    if vector.shape != (actions,) or not (vector >= 0).all() or abs(vector.sum() - 1) > 1e-9:
        raise InputError(
            f"{player}'s strategy must be {actions} non-negative numbers that sum to 1, got {vector.tolist()}"
        )
    return vector


def action_labels(players: Sequence[str], actions: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of the actions, one non-empty tuple per player."""
    if not players or len(players) != len(actions) or not all(len(labels) for labels in actions):
        sizes = [len(labels) for labels in actions]
        raise InputError(
            f"actions must have one non-empty list of labels for each of the {len(players)} players, "
            f"got lists of lengths {sizes}"
        )
    return tuple(tuple(labels) for labels in actions)


def number_of_rounds(text: str) -> int:
    """Parse an integer from the command line, in any of the forms 5000, 1_000_000 and 1e6.

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
    raise InputError(f"expected an integer, got {text!r}")


def seconds(text: str) -> float:
    """Parse a positive number of seconds from the command line.

    >>> seconds("0.5")
    0.5
    """
    try:
        if 0 < (value := float(text)) < math.inf:
            return value
    except ValueError:
        pass
    raise InputError(f"expected a positive number of seconds, got {text!r}")
