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
from typing import Any, NamedTuple, ParamSpec, TypeVar

from gamesim.errors import InputError
from gamesim.formatting import amount, memory, shown
from gamesim.game import MOST_TABLE_PLAYERS
from gamesim.validation import representable, whole_number

MOST_PAYOFFS = 2**24  # of a game: 128 MiB, which building and playing it multiply several times
MOST_ACTIONS = 2**12  # of a player: regrets are computed from a matrix with this many rows and columns
STEPS_PER_PAYOFF = 32  # with the limit on payoffs, this limits the arithmetic: a few seconds at most
STEPS_PER_CALL = 2**10  # steps of arithmetic that take as long as a call on a small array

Settings = ParamSpec("Settings")
Made = TypeVar("Made")

_declared: dict[Callable[..., object], Callable[[Mapping[str, Any]], Iterable["Need"]]] = {}
_most_payoffs = ContextVar("most_payoffs", default=MOST_PAYOFFS)


class Need(NamedTuple):
    """What building a game takes: in words, as an amount, and the largest amount allowed."""

    words: str  # with the place of the {amount} and, if it is one of numbers, of their {memory}
    amount: int
    most: int


def _nothing() -> Iterable[Need]:
    return ()


def limited(
    needs: Callable[..., Iterable[Need]] = _nothing,
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
        defaults = {key: one.default for key, one in inspect.signature(make).parameters.items()}
        sizing = [key for key in inspect.signature(needs).parameters if key in defaults]

        @wraps(make)
        def checked(*args: Settings.args, **kwargs: Settings.kwargs) -> Made:
            settings = {**defaults, **dict(zip(defaults, args, strict=False)), **kwargs}
            of_size = {key: settings[key] for key in sizing}
            changed = {key: one for key, one in of_size.items() if one != defaults[key]}
            refuse_beyond(name, changed or of_size, needs(**of_size))
            for key, value in settings.items():
                if key == "seed":
                    whole_number(key, value, least=0)
                else:
                    representable(key, value)
            return make(*args, **kwargs)

        _declared[checked] = lambda settings: needs(**{key: settings.get(key, defaults[key]) for key in sizing})
        return checked

    return decorate


def needs_of(make: Callable[..., object], settings: Mapping[str, Any]) -> list[Need]:
    """Return what a game declares to need with these settings, without building it.

    >>> from gamesim.games.dilemmas import pure_coordination
    >>> [need.amount for need in needs_of(pure_coordination, {"actions": 5})]  # as for `table`
    [2, 50, 5, 4096]
    """
    return list(_declared[make](settings))


def refuse_beyond(name: str, settings: Mapping[str, object], needs: Iterable[Need], reduce: Iterable[str] = ()) -> None:
    """Raise an InputError for the first need beyond its limit.

    The message describes the game or graph by its name and these settings, and names the settings to reduce, which are
    the same by default.

    >>> refuse_beyond("el-farol", {"players": 20}, [Need("{amount} chairs", 20, 12)])
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: el-farol with players = 20 needs 20 chairs; at most 12 are allowed; reduce players
    """
    for need in needs:
        if need.amount > need.most:
            given = ", ".join(f"{key} = {shown(value)}" for key, value in settings.items())
            what = need.words.format(amount=amount(need.amount), memory=memory(8 * need.amount))
            advice = f"reduce {' or '.join(reduce or settings)}"
            raise InputError(f"{name} with {given} needs {what}; at most {need.most:,} are allowed; {advice}")


def table(players: int, actions: int | Sequence[int], loops: int = 1) -> Iterator[Need]:
    """Yield what a payoff table needs whose rule loops `loops` times over the choices of all players.

    Counts that are not positive are left to other checks.

    >>> [need.amount for need in table(3, 10)]  # players, payoffs, actions of one player, steps
    [3, 3000, 10, 9216]
    """
    players = max(players, 0)
    yield Need("a table for {amount} players", players, MOST_TABLE_PLAYERS)
    sizes = [max(actions, 0)] * players if isinstance(actions, int) else [max(size, 0) for size in actions]
    profiles = prod(sizes[:MOST_TABLE_PLAYERS])
    yield payoffs(players * profiles)
    yield actions_of_one(max(sizes, default=0))
    yield arithmetic(players * players * loops * max(profiles, STEPS_PER_CALL))


def payoffs(total: int) -> Need:
    """Return the need for payoffs, within the limit of the context."""
    return Need("a table of {amount} payoffs ({memory})", total, _most_payoffs.get())


def actions_of_one(total: int) -> Need:
    """Return the need for actions of one player."""
    return Need("{amount} actions of one player", total, MOST_ACTIONS)


def arithmetic(steps: int) -> Need:
    """Return the need for time: elementary steps on whole arrays, of about a nanosecond each."""
    return Need("{amount} steps of arithmetic", steps, STEPS_PER_PAYOFF * _most_payoffs.get())


@contextmanager
def payoffs_within(most: int) -> Iterator[None]:
    """Limit the payoffs of a game further within this context.

    For callers that build games on behalf of users.

    >>> with payoffs_within(2**20):
    ...     refuse_beyond("zero-sum", {"actions": 1000}, table(2, 1000))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: zero-sum with actions = 1000 needs a table of 2,000,000 payoffs (15.3 MiB); at most ...
    """
    before = _most_payoffs.set(most)
    try:
        yield
    finally:
        _most_payoffs.reset(before)
