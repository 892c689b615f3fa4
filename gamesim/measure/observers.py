"""Observers: user-defined sums, to which every round of a run adds.

An observer is a function that changes its total in every round::

    @observer(size=2)
    def switches(total, round, strategies, losses):
        ...

In Python it costs some microseconds per round. As a kernel (`gamesim.engine.compiled.kernel`), it is called by the
compiled loop and costs as much as it does. Totals are stored at every checkpoint, saved and resumed like all sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gamesim import user_files
from gamesim.engine.compiled import Vector, kernel, part
from gamesim.engine.sums import lengths
from gamesim.errors import InputError, unknown
from gamesim.game import Game

__all__ = ["Observer", "observer"]

ObserverFunction: TypeAlias = Callable[[Vector, int, Vector, Vector], None]
MOST_NUMBERS = 2**24  # of an observer's total


@dataclass(frozen=True)
class Observer:
    """Describe a sum to which every round adds.

    Parameters
    ----------
    name : str
        The name under which the total is found, see `Moment.observed`.
    function : callable
        A function ``function(total, round, strategies, losses)`` that changes the total in place, in every round.
        Rounds count from 0; strategies and losses are concatenated over players, and losses are in [-1, 1].
    first : callable
        A function that returns the total before the first round, given the game.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim.measure.observers import observer
    >>> @observer(size=1)
    ... def largest_loss(total, round, strategies, losses):
    ...     total[0] = max(total[0], losses.max())
    >>> record = gamesim.simulate("prisoners-dilemma", "hedge", rounds=20, observers=[largest_loss])
    >>> record.observed("largest_loss").round(2).tolist()
    [0.9]
    """

    name: str
    function: ObserverFunction
    first: Callable[[Game], Vector]

    @property
    def is_compiled(self) -> bool:
        """Return whether the function is a kernel.

        Examples
        --------
        >>> BUILT_IN["dynamic-regret"].is_compiled
        True
        """
        return hasattr(self.function, "py_func")


def observer(
    *, size: int | Callable[[Game], int] = 1, name: str | None = None
) -> Callable[[ObserverFunction], Observer]:
    """Turn a function into an observer, as a decorator.

    Parameters
    ----------
    size : int or callable, default 1
        The number of entries of the total, or a function that returns it for a game. They start at 0.
    name : str, optional
        The name of the total. By default that of the function.

    Returns
    -------
    callable
        A decorator that returns an `Observer`.

    Raises
    ------
    InputError
        If the size is not positive or too large.

    Examples
    --------
    >>> from gamesim.engine.compiled import kernel
    >>> @observer(size=1)
    ... @kernel
    ... def rounds_counted(total, round, strategies, losses):
    ...     total[0] += 1
    >>> rounds_counted.name, rounds_counted.is_compiled
    ('rounds_counted', True)
    """

    def first(game: Game) -> Vector:
        length = size(game) if callable(size) else size
        if not 1 <= length <= MOST_NUMBERS:
            raise InputError(f"the size of an observer must lie in [1, {MOST_NUMBERS:,}], got {length}")
        return np.zeros(length)

    return lambda function: Observer(name or function.__name__, function, first)


def chosen(observers: Sequence[Any]) -> list[Observer]:
    """Return observers, those given by name looked up among the built-in ones."""
    found = [find(one) if isinstance(one, str) else one for one in observers]
    for one in found:
        if not isinstance(one, Observer):
            raise InputError(f"an observer must be a name or a function decorated with @observer, got {one!r}")
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise InputError(f"the names of observers must differ, got {', '.join(names)}")
    return found


def find(name: str) -> Observer:
    """Return the built-in observer with this name, or that of a reference to a file that was allowed."""
    if not user_files.is_reference(name):
        if name not in BUILT_IN:
            raise unknown("observer", name, BUILT_IN)
        return BUILT_IN[name]
    found = user_files.named(name)
    if not isinstance(found, Observer):
        raise InputError(f"{user_files.shown(name)} is not an observer; expected a function decorated with @observer")
    return found


# The built-in observers. Their totals begin with a header, because a kernel knows the totals only: the number of
# players, the number of actions of each, and a parameter.


def _headed(numbers: Callable[[Game], int], parameter: float = 0.0) -> Callable[[Game], Vector]:
    def first(game: Game) -> Vector:
        header = [len(game.sizes), *game.sizes, parameter]
        return np.concatenate([header, np.zeros(numbers(game))])

    return first


def body(total: Vector) -> Vector:
    """Return the part of built-in totals after the header.

    >>> body(np.array([2.0, 3.0, 4.0, 1.0, 7.0, 8.0])).tolist()
    [7.0, 8.0]
    """
    return total[..., int(total[..., 0].flat[0]) + 2 :]


@kernel
def _dynamic_regret(total: Vector, round: int, strategies: Vector, losses: Vector) -> None:
    """Add for each player the loss of the strategy minus that of the best action of the round."""
    players, first = int(total[0]), 0
    for player in range(players):
        size = int(total[1 + player])
        suffered, least = 0.0, np.inf
        for i in range(first, first + size):
            suffered += strategies[i] * losses[i]
            least = min(least, losses[i])
        total[2 + players + player] += suffered - least
        first += size


@kernel
def _alternating_regret(total: Vector, round: int, strategies: Vector, losses: Vector) -> None:
    """Add for each player half the loss of this round under this and under the next strategy."""
    players, first = int(total[0]), 0
    sums = 2 + players
    before = sums + players  # the losses of the previous round
    for player in range(players):
        for i in range(first, first + int(total[1 + player])):
            total[sums + player] += 0.5 * strategies[i] * (losses[i] + total[before + i])
            total[before + i] = losses[i]
        first += int(total[1 + player])


@kernel
def _weighted(total: Vector, round: int, strategies: Vector, losses: Vector) -> None:
    """Add the round with the weight t^k to the sum of weights and to the sums of which measures are computed."""
    players = int(total[0])
    at = 2 + players
    weight = (round + 1.0) ** total[1 + players]
    total[at] += weight
    averages = part(total, at + 1, at + 1 + strategies.size)
    at, first = at + 1 + strategies.size, 0
    for i in range(strategies.size):
        averages[i] += weight * strategies[i]
    for player in range(players):
        size = int(total[1 + player])
        for i in range(size):
            mass = weight * strategies[first + i]
            for j in range(size):
                total[at + i * size + j] += mass * losses[first + j]
        at, first = at + size * size, first + size
    for cell in range(total.size - at):
        rest, mass, end = cell, weight, strategies.size
        for player in range(players - 1, -1, -1):
            size = int(total[1 + player])
            mass *= strategies[end - size + rest % size]
            rest, end = rest // size, end - size
        total[at + cell] += mass


def _weighted_numbers(game: Game) -> int:
    held = lengths(game.sizes, drawn=False, tabled=False)
    return 1 + held["average"] + held["counterfactuals"] + held["joint"]


BUILT_IN = {
    one.name: one
    for one in (
        Observer("dynamic-regret", _dynamic_regret, _headed(lambda game: len(game.sizes))),
        Observer("alternating-regret", _alternating_regret, _headed(lambda game: len(game.sizes) + sum(game.sizes))),
        Observer("linear-weights", _weighted, _headed(_weighted_numbers, 1.0)),
        Observer("quadratic-weights", _weighted, _headed(_weighted_numbers, 2.0)),
    )
}
