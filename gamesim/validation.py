"""Validate user input: each function returns the value in the type that the code needs, or raises an InputError."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.formatting import shown

LARGEST_NUMBER = 1e100  # limit on the numbers in settings, so that payoffs and their products stay finite
SMALLEST_NUMBER = 1e-100  # limit on those that are not 0, so that differences can be divided by
LARGEST_INTEGER = 2**53  # limit on the integers in settings: floats represent all integers up to here
STRATEGY_SUM = 1e-6  # limit on the difference of a strategy's sum from 1
MOST_ENTRIES = 100_000  # limit on the length of the lists in settings
MOST_CHECKPOINTS = 1000  # per power of ten of the rounds of a run
MOST_ROUNDS = 10**15  # limit on the rounds of a run: they are counted in 64-bit integers and in floats


def positive(name: str, value: float | None, most: float = LARGEST_NUMBER) -> None:
    """Raise an InputError unless a setting is None or a positive number from 1e-100 to `most`.

    >>> positive("rate", -1.0)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: rate must be positive, got -1.0
    >>> positive("horizon", 10**18, most=MOST_ROUNDS)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: horizon must be at most 1e+15, got 1000000000000000000
    """
    if value is None:
        return
    if not value > 0:
        raise InputError(f"{name} must be positive, got {shown(value)}")
    if value == math.inf:
        raise InputError(f"{name} must be finite, got {value}")
    if value > most:
        raise InputError(f"{name} must be at most {most:g}, got {shown(value)}")
    if value < SMALLEST_NUMBER:
        raise InputError(f"{name} must be at least {SMALLEST_NUMBER:g}, got {shown(value)}")


def at_least(name: str, value: float, least: float) -> None:
    """Raise an InputError unless a setting is a finite number of at least `least`.

    >>> at_least("players", 1, 2)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: players must be at least 2, got 1
    """
    if not least <= value < math.inf:
        raise InputError(f"{name} must be {'finite' if value == math.inf else f'at least {least}'}, got {shown(value)}")


def few_entries(name: str, value: object) -> list[object]:
    """Return all entries of a setting, also of nested lists; raise an InputError if there are more than 100,000.

    >>> few_entries("trips", [["s", "t", 3]])
    ['s', 't', 3]
    """
    lists: list[Sequence[object]] = [[value]]
    found: list[object] = []
    for one in lists:  # grows by nested lists
        if len(lists) + len(found) + len(one) > MOST_ENTRIES:
            raise InputError(f"{name} must have at most {MOST_ENTRIES:,} entries, got more")
        for entry in one:
            if isinstance(entry, list | tuple):
                lists.append(entry)
            else:
                found.append(entry)
    return found


def representable(name: str, value: object) -> None:
    """Raise an InputError if a setting has numbers that no computation should start with.

    Integers are limited to ±2^53, other numbers to 0 and 1e-100 to 1e100 in absolute value. Whatever is neither a
    number nor a list of numbers is left to other checks.

    >>> representable("base", 0.5), representable("joys", [2.0, 0])
    (None, None)
    >>> representable("base", 1e300)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: base must be 0 or from 1e-100 to 1e+100 in absolute value, got 1e+300
    >>> representable("capacity", 10**18)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: capacity must be at most 2^53 in absolute value, got 1000000000000000000
    """
    for entry in few_entries(name, value):
        if isinstance(entry, int) and abs(entry) > LARGEST_INTEGER:
            raise InputError(f"{name} must be at most 2^53 in absolute value, got {shown(entry)}")
        if isinstance(entry, float):
            _in_range(name, entry)


def _in_range(name: str, value: float) -> None:
    if not math.isfinite(value):
        raise InputError(f"{name} must be finite, got {value}")
    if value and not SMALLEST_NUMBER <= abs(value) <= LARGEST_NUMBER:
        limits = f"from {SMALLEST_NUMBER:g} to {LARGEST_NUMBER:g}"
        raise InputError(f"{name} must be 0 or {limits} in absolute value, got {value}")


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a count as an int, or raise an InputError if it is not an integer from `least` to `most`.

    >>> whole_number("rounds", 0, least=1)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: rounds must be an integer of at least 1, got 0
    >>> whole_number("checkpoints", 10**9, least=1, most=1000)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: checkpoints must be at most 1,000, got 1000000000
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}, got {shown(value)}")
    if most is not None and value > most:
        raise InputError(f"{name} must be at most {most:,}, got {shown(value)}")
    return int(value)


def whole_numbers(name: str, array: np.ndarray[Any, Any]) -> Integers:
    """Return an array from a file or record as 64-bit integers, or raise an InputError if it has another type."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must be an array of integers, got an array of {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.int64)


def strategy(given: ArrayLike, actions: int, player: str) -> Vector:
    """Return a mixed strategy as an array with one probability per action.

    Probabilities whose sum differs from 1 by at most 1e-6, as in single precision, are divided by their sum. They are
    unchanged, bit for bit, if the sum is 1 up to rounding in double precision.

    >>> strategy(np.float32([0.1, 0.9]), 2, "Row").sum()
    np.float64(1.0)
    """
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{player}'s strategy must be {actions} numbers, got {shown(given)}") from None
    total = vector.sum() if vector.shape == (actions,) else np.nan
    if not (vector >= 0).all() or not abs(total - 1) <= STRATEGY_SUM:
        raise InputError(
            f"{player}'s strategy must be {actions} non-negative numbers that sum to 1, got {shown(vector.tolist())}"
        )
    return vector if abs(total - 1) <= actions * np.finfo(np.float64).eps else vector / total


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
