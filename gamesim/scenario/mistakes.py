"""Mistakes in a scenario: each names the key it is found at, and one message reports them all."""

from collections.abc import Mapping, Sequence
from typing import Any

from gamesim.errors import InputError
from gamesim.formatting import shortened

Mistake = tuple[str, str]  # the key, and what is wrong with it
MOST_MISTAKES = 100  # that are put into words


class Mistakes(ValueError):
    """Several mistakes below one key, so that a validator can report them all."""

    def __init__(self, found: list[Mistake]) -> None:
        super().__init__("; ".join(f"{key}: {what}" for key, what in found))
        self.found = found


def message(source: str, mistakes: list[Mistake]) -> str:
    """Return the error message for these mistakes: a single line for one, or a list for several."""
    if len(mistakes) == 1:
        return f"{source}: {mistakes[0][0]}: {mistakes[0][1]}"
    return heading(source, len(mistakes)) + "".join(f"\n  {key}: {what}" for key, what in mistakes)


def heading(source: str, count: int) -> str:
    """Return the first line of a list of mistakes, of which at most about `MOST_MISTAKES` are found.

    >>> heading("mine.toml", 2), heading("mine.toml", 100)
    ('mine.toml has 2 errors:', 'mine.toml has 100 errors or more:')
    """
    return f"{source} has {count} errors{' or more' if count >= MOST_MISTAKES else ''}:"


def key_at(location: Sequence[str | int]) -> str:
    """Return the location of a value as a key that counts from 1: players[2].settings."""
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{shortened(part)}" for part in location)
    return text.removeprefix(".")


def key_of_setting(key: str, error: InputError, settings: Mapping[str, Any]) -> str:
    """Return the key of the setting that a message starts with, or that of the table of settings."""
    word = str(error).split()[0].split("[")[0]
    return f"{key}.{word}".removeprefix(".") if word in settings else key
