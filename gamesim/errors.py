"""What went wrong with something a person gave us, in one clear message."""

import difflib
from collections.abc import Iterable

__all__ = ["InputError"]


class InputError(ValueError):
    """A mistake in what a person gave: what came, what was expected, what to do.

    The command line prints the message and ends with exit code 2; nothing has been written by then.

    >>> import gamesim
    >>> gamesim.simulate("chicken", "hegde", rounds=100)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: unknown learner 'hegde'; did you mean 'hedge'?
    """


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt word, or the words there are.

    >>> did_you_mean("hegde", ["hedge", "uniform"])
    "did you mean 'hedge'?"
    >>> did_you_mean("xyz", ["hedge", "uniform"])
    'choose from hedge, uniform'
    """
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(known)}"


def unknown(what: str, name: object, known: Iterable[str]) -> InputError:
    """Return the error for a name that does not exist, with a hint.

    >>> print(unknown("learner", "hegde", ["hedge", "uniform"]))
    unknown learner 'hegde'; did you mean 'hedge'?
    """
    return InputError(f"unknown {what} {name!r}; {did_you_mean(str(name), known)}")
