"""What a measure is, and where all of them are known by name.

A measure is a function of a moment of a run, written once:

    @measure("largest-share", unit="probability")
    def largest_share(moment: Moment) -> float:
        "Return the largest share of the rounds that a player gave to one action."
        return float(moment.profile.max())

From then on `record.measure("largest-share")`, `record.curve.measure(...)`, `simulation.measure(...)`, the measures of
a study, its JSON schema and summary.json know it.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError, did_you_mean, unknown
from gamesim.measure.moments import Moments

Value: TypeAlias = float | NDArray[np.float64]
Per: TypeAlias = Literal["run", "player", "action", "cell"]
Of: TypeAlias = Literal["moment", "stack", "path"]
Function = TypeVar("Function", bound=Callable[..., Any])

_known: dict[str, "Measure"] = {}


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure as it is known: its `name`, its `unit`, what it has a number `per`, and the `function` behind it.

    The function is `of` a "moment"; of a "stack", which is a moment or Moments, whose entries come in one go; or of
    the "path" of Moments up to now. Where it has several numbers, `reduce` makes one of them for whoever needs one. It
    is `cheap` where it can be taken of every run unasked.

    >>> from gamesim.measure import available
    >>> gap = available()["ce-gap"]
    >>> gap.name, gap.per, gap.unit
    ('ce-gap', 'run', 'payoff units a round')
    """

    name: str
    unit: str
    per: Per
    function: Callable[..., Any]
    of: Of = "moment"
    reduce: Callable[[NDArray[np.float64]], float] | None = None
    cheap: bool = True

    @property
    def description(self) -> str:
        """The first line of the function's documentation.

        >>> from gamesim.measure import available
        >>> available()["ce-distance"].description
        'Return how far the joint is from the set of correlated equilibria.'
        """
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @cached_property
    def options(self) -> dict[str, bool]:
        """What the function takes beside the moment, and whether it has to be given.

        >>> from gamesim.measure import available
        >>> available()["quantile-regret"].options
        {'epsilon': True}
        """
        _, *others = inspect.signature(self.function).parameters.values()
        return {one.name: one.default is one.empty for one in others}

    @property
    def gives_a_number(self) -> bool:
        """Whether it makes one number of a run without being told anything: what a study can keep.

        >>> from gamesim.measure import available
        >>> [available()[name].gives_a_number for name in ("ce-gap", "swap-regret", "payoffs", "quantile-regret")]
        [True, True, False, False]
        """
        return (self.per == "run" or self.reduce is not None) and not any(self.options.values())

    def now(self, moments: Moments, **options: Any) -> Value:
        """Return the measure at the last of these moments, in the measure's own units; `options` are the function's.

        >>> import gamesim
        >>> from gamesim.measure import available
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> available()["welfare"].now(record.moments()) == record.welfare
        True
        """
        self._check(options)
        found = self.function(moments if self.of == "path" else moments[-1], **options)
        return float(found) if self.per == "run" else np.asarray(found)

    def along(self, moments: Moments, first: int = 0, **options: Any) -> NDArray[np.float64]:
        """Return the measure at each of these moments, in the measure's own units, from number `first` on.

        `options` are the function's.

        >>> import gamesim
        >>> from gamesim.measure import available
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> available()["welfare"].along(record.moments(), first=19).round(2).tolist()
        [3.55, 3.54]
        """
        self._check(options)
        if self.of == "path":
            return np.array([self.function(moments[: k + 1], **options) for k in range(first, len(moments))])
        chosen = moments[first:]
        if self.of == "stack" and chosen:
            return np.asarray(self.function(chosen, **options))
        return np.array([self.function(moment, **options) for moment in chosen])

    def number(self, value: Value) -> float:
        """Return one number for the `value` that was found of one run, in the measure's own units.

        >>> import gamesim
        >>> from gamesim.measure import available
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> regrets = record.measure("external-regret")
        >>> available()["external-regret"].number(regrets) == float(regrets.max())
        True
        """
        if self.per == "run":
            return float(value)
        if self.reduce is None:
            raise InputError(f"{self.name} has a number per {self.per}, not one number")
        return float(self.reduce(np.asarray(value)))

    def _check(self, options: dict[str, Any]) -> None:
        """Refuse options that the function does not take, and the lack of one that it needs."""
        for name in options:
            if name not in self.options:
                takes = did_you_mean(name, self.options) if self.options else "it takes none"
                raise InputError(f"{self.name} has no option {name!r}: {takes}")
        lacking = [name for name, needed in self.options.items() if needed and name not in options]
        if lacking:
            raise InputError(f"{self.name} needs {', '.join(f'{name}=...' for name in lacking)}")


def measure(
    name: str,
    *,
    unit: str,
    per: Per = "run",
    of: Of = "moment",
    reduce: Callable[[NDArray[np.float64]], float] | None = None,
    cheap: bool = True,
) -> Callable[[Function], Function]:
    """Make a function of a moment a measure that is known by its `name`, everywhere that measures are.

    The function returns a float, or an array with a number `per` "player", "action" or "cell" of the joint, in this
    `unit`; NaN where it is not defined. Further arguments are its options. It is `of` a Moment; of a "stack", a Moment
    or Moments with an entry for each, which makes curves fast; or of the "path" of all Moments so far. Several numbers
    can be made one by `reduce`. It is `cheap` unless it takes long in large games.

    >>> import gamesim
    >>> @measure("largest-share", unit="probability")
    ... def largest_share(moment):
    ...     return float(moment.profile.max())
    >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
    >>> round(record.measure("largest-share"), 3), record.curve.measure("largest-share")[-3:].round(3).tolist()
    (0.981, [0.969, 0.975, 0.981])
    """

    def register(function: Function) -> Function:
        before = _known.get(name)
        if before is not None and _place(before.function) != _place(function):  # a cell may be run again
            raise InputError(f"there is a measure called {name!r} already: choose another name")
        _known[name] = Measure(name, unit, per, function, of, reduce, cheap)
        return function

    return register


def _place(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__


def available() -> dict[str, Measure]:
    """Return every measure by its name.

    >>> "ce-gap" in available()
    True
    """
    return dict(_known)


def numbers() -> dict[str, Measure]:
    """Return the measures that make one number of a run without being told anything: what a study can keep.

    >>> list(numbers())[:3]
    ['ce-gap', 'cce-gap', 'nash-gap']
    """
    return {name: one for name, one in _known.items() if one.gives_a_number}


def find(name: str) -> Measure:
    """Return the measure of this name.

    >>> find("ce-gab")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: unknown measure 'ce-gab'; did you mean 'ce-gap'?
    """
    if name not in _known:
        raise unknown("measure", name, _known)
    return _known[name]
