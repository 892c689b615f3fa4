"""Exceptions for invalid input, and the hints in their messages."""

from collections.abc import Iterable

__all__ = ["InputError"]

LONGEST_MESSAGE = 4000  # characters


class InputError(ValueError):
    """Raised for invalid input; the message states what was expected and what was given.

    The command line prints the message and exits with code 2, before anything is written.

    >>> import gamesim
    >>> gamesim.simulate("chicken", "hegde", rounds=100)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: unknown learner 'hegde'; did you mean 'hedge'?
    """

    def __init__(self, message: str) -> None:
        super().__init__(readable(message))


def readable(message: str) -> str:
    """Escape control characters and shorten a very long message: no file may write codes to a terminal, or flood it.

    >>> print(readable("there is no file \x1b[31mred"))
    there is no file \\x1b[31mred
    """
    escaped = "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in message[: LONGEST_MESSAGE + 1]
    )
    return escaped if len(escaped) <= LONGEST_MESSAGE else escaped[: LONGEST_MESSAGE - 1] + "…"


LONGEST_LIST = 500  # characters of a list of names in a message


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt word: the closest known word, or all of them.

    >>> did_you_mean("hegde", ["hedge", "uniform"])
    "did you mean 'hedge'?"
    >>> did_you_mean("xyz", ["hedge", "uniform"])
    'choose from hedge, uniform'
    """
    import difflib

    known = list(known)
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    listed = ", ".join(known)
    return (
        f"choose from {listed}" if len(listed) <= LONGEST_LIST else f"choose from {len(known)} names, see gamesim list"
    )


def unknown(what: str, name: object, known: Iterable[str]) -> InputError:
    """Return the error for a name that does not exist, with a hint.

    >>> print(unknown("learner", "hegde", ["hedge", "uniform"]))
    unknown learner 'hegde'; did you mean 'hedge'?
    """
    return InputError(f"unknown {what} {name!r}; {did_you_mean(str(name), known)}")


def unknown_setting(owner: str, key: str, allowed: Iterable[str]) -> InputError:
    """Return the error for a setting that a learner, game or graph does not have, with a hint.

    >>> print(unknown_setting("el-farol", "playrs", ["players", "capacity"]))
    el-farol has no setting 'playrs'; did you mean 'players'?
    >>> print(unknown_setting("chicken", "players", []))
    chicken has no setting 'players'; it has no settings
    """
    known = list(allowed)
    hint = did_you_mean(key, known) if known else "it has no settings"
    return InputError(f"{owner} has no setting {key!r}; {hint}")
