"""Limits on games, checked before anything is built.

A game declares with `limited` what its settings make it need. Settings beyond a limit are refused with one message,
which names the settings, what they need and the limit::

    @limited(lambda players, top: table(players, top + 1))
    def bertrand(players: int = 2, top: int = 6, cost: float = 1.0) -> Table:
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from math import prod
from typing import NamedTuple, ParamSpec, TypeVar

from gamesim.errors import InputError
from gamesim.formatting import amount, memory, shown
from gamesim.game import MOST_TABLE_PLAYERS
from gamesim.validation import representable, whole_number

MOST_PAYOFFS = 2**24  # of a game: 128 MiB, which building and playing it multiply several times
MOST_ACTIONS = 2**12  # of a player: regrets are computed from a matrix with this many rows and columns
STEPS_PER_PAYOFF = 32  # with the limit on payoffs, this limits the arithmetic: a few seconds at most

Settings = ParamSpec("Settings")
Made = TypeVar("Made")

_most_payoffs = ContextVar("most_payoffs", default=MOST_PAYOFFS)


class Need(NamedTuple):
    """What building a game takes: in words, as an amount, and the largest amount allowed."""

    what: str
    amount: int
    most: int


def limited(
    needs: Callable[..., Iterable[Need]] | None = None,
) -> Callable[[Callable[Settings, Made]], Callable[Settings, Made]]:
    """Return a decorator that checks the settings of a game before it is built.

    All numbers in the settings must be representable, and a seed must not be negative. The parameters that `needs`
    shares with the game are the settings that determine its size; it returns what they need.

    >>> @limited(lambda pie: table(2, pie + 1))
    ... def divide_the_cake(pie: int = 5) -> str:
    ...     return "built"
    >>> divide_the_cake(pie=10)
    'built'
    >>> divide_the_cake(pie=10**9)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: divide-the-cake with pie = 1000000000 needs a table of 2.0e+18 payoffs (13.9 EiB); ...
    """

    def decorate(make: Callable[Settings, Made]) -> Callable[Settings, Made]:
        name = make.__name__.replace("_", "-")
        signature = inspect.signature(make)
        sizing = [key for key in inspect.signature(needs).parameters if key in signature.parameters] if needs else []

        @wraps(make)
        def checked(*args: Settings.args, **kwargs: Settings.kwargs) -> Made:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            settings = bound.arguments
            if needs is not None:
                of_size = {key: settings[key] for key in sizing}
                changed = {key: one for key, one in of_size.items() if one != signature.parameters[key].default}
                refuse_beyond(described(name, changed or of_size), changed or of_size, needs(**of_size))
            for key, value in settings.items():
                if key == "seed":
                    whole_number(key, value, least=0)
                else:
                    representable(key, value)
            return make(*args, **kwargs)

        return checked

    return decorate


def described(name: str, settings: Mapping[str, object]) -> str:
    """Return the name of a game or graph with the settings that matter.

    >>> described("el-farol", {"players": 20, "capacity": 5})
    'el-farol with players = 20 and capacity = 5'
    """
    return f"{name} with {' and '.join(f'{key} = {shown(value)}' for key, value in settings.items())}"


def refuse_beyond(who: str, reduce: Iterable[str], needs: Iterable[Need]) -> None:
    """Raise an InputError for the first need beyond its limit, with the settings to reduce.

    >>> refuse_beyond("el-farol with players = 20", ["players"], [Need("20 chairs", 20, 12)])
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: el-farol with players = 20 needs 20 chairs; at most 12 are allowed; reduce players
    """
    for need in needs:
        if need.amount > need.most:
            allowed = f"at most {need.most:,} are allowed"
            raise InputError(f"{who} needs {need.what}; {allowed}; reduce {' or '.join(reduce)}")


def table(players: int, actions: int | Sequence[int], steps: int = 1) -> Iterator[Need]:
    """Yield what a payoff table needs, with `steps` steps of arithmetic per payoff and player.

    Counts that are not positive are left to other checks.

    >>> [need.amount for need in table(3, 10)]  # players, payoffs, actions of one player, steps
    [3, 3000, 10, 9000]
    """
    players = max(players, 0)
    yield Need(f"a table for {amount(players)} players", players, MOST_TABLE_PLAYERS)
    sizes = [max(actions, 0)] * players if isinstance(actions, int) else [max(size, 0) for size in actions]
    yield payoffs(players * prod(sizes[:MOST_TABLE_PLAYERS]))
    largest = max(sizes, default=0)
    yield Need(f"{amount(largest)} actions of one player", largest, MOST_ACTIONS)
    yield arithmetic(players * prod(sizes) * players * steps)


def payoffs(total: int) -> Need:
    """Return the need for payoffs, within the limit of the context.

    >>> payoffs(1000).what
    'a table of 1,000 payoffs (7.81 KiB)'
    """
    return Need(f"a table of {amount(total)} payoffs ({memory(8 * total)})", total, _most_payoffs.get())


def arithmetic(steps: int) -> Need:
    """Return the need for time: elementary steps on whole arrays, of about a nanosecond each.

    >>> arithmetic(1000).what
    '1,000 steps of arithmetic'
    """
    return Need(f"{amount(steps)} steps of arithmetic", steps, STEPS_PER_PAYOFF * _most_payoffs.get())


@contextmanager
def payoffs_within(most: int) -> Iterator[None]:
    """Limit the payoffs of a game further within this context.

    For callers that build games on behalf of users.

    >>> with payoffs_within(2**20):
    ...     refuse_beyond("a game", ["actions"], table(2, 1000))
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: a game needs a table of 2,000,000 payoffs (15.3 MiB); at most 1,048,576 are allowed; \
reduce actions
    """
    before = _most_payoffs.set(most)
    try:
        yield
    finally:
        _most_payoffs.reset(before)
