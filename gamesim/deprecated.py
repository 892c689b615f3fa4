"""Deprecated names of version 0.1: they work until version 0.3, with a DeprecationWarning."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def warn(old: str, new: str) -> None:
    """Issue a DeprecationWarning that points at the caller's caller."""
    warnings.warn(f"{old} is deprecated; use {new} instead", DeprecationWarning, stacklevel=3)


class Renamed:
    """A method or property that is available under its old name.

    >>> class Clock:
    ...     def seconds(self):
    ...         return 60
    ...
    ...     time = Renamed("seconds")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Clock().time(), str(caught[0].message)
    (60, 'Clock.time is deprecated; use Clock.seconds instead')
    """

    def __init__(self, new: str) -> None:
        self._new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self._old = name

    def __get__(self, instance: object, owner: type) -> Any:
        warn(f"{owner.__name__}.{self._old}", f"{owner.__name__}.{self._new}")
        return getattr(owner if instance is None else instance, self._new)


def moved(old: str, new: str, renamed: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module `old` whose names have moved to the module `new`, some of them renamed."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        now = (renamed or {}).get(name, name)
        value = getattr(import_module(new), now)
        warn(f"{old}.{name}", f"{new}.{now}")
        return value

    return find
