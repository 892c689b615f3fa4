"""Mistakes in a scenario: each names the key it is found at, and one message reports them all."""

from collections.abc import Mapping, Sequence
from typing import Any

from gamesim.errors import InputError
from gamesim.formatting import shortened

Mistake = tuple[str, str]  # the key, and what is wrong with it


class Mistakes(ValueError):
    """Several mistakes below one key, so that a validator can report them all."""

    def __init__(self, found: list[Mistake]) -> None:
        super().__init__("; ".join(f"{key}: {what}" for key, what in found))
        self.found = found


def message(source: str, mistakes: list[Mistake]) -> str:
    """Return the error message for these mistakes: a single line for one, or a list for several."""
    if len(mistakes) == 1:
        return f"{source}: {mistakes[0][0]}: {mistakes[0][1]}"
    return f"{source} has {len(mistakes)} errors:" + "".join(f"\n  {key}: {what}" for key, what in mistakes)


def key_at(location: Sequence[str | int]) -> str:
    """Return the location of a value as a key that counts from 1: players[2].settings."""
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{shortened(part)}" for part in location)
    return text.removeprefix(".")


def key_of_setting(key: str, error: InputError, settings: Mapping[str, Any]) -> str:
    """Return the key of the setting that a message starts with, or that of the table of settings."""
    word = str(error).split()[0].split("[")[0]
    return f"{key}.{word}".removeprefix(".") if word in settings else key
