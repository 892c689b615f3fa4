"""The registry of measures.

A measure is a function of a moment of a run::

    @measure("largest-share", unit="probability")
    def largest_share(moment: Moment) -> float:
        "Return the largest share of the rounds that a player gave to one action."
        return float(moment.profile.max())

It is then available by name in `Record.measure`, `Curve.measure` and `Simulation.measure`, in studies and their JSON
schema, and in summary.json.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamesim import user_files
from gamesim.errors import InputError, did_you_mean, unknown
from gamesim.measure.moments import Moments
from gamesim.measure.observers import Observer

Value: TypeAlias = float | NDArray[np.float64]
Per: TypeAlias = Literal["run", "player", "action", "cell", "any"]
Of: TypeAlias = Literal["moment", "stack", "path"]
MomentFunction: TypeAlias = Callable[..., Any]  # of a moment
Function = TypeVar("Function", bound=Callable[..., Any])

_known: dict[str, "Measure"] = {}


@dataclass(frozen=True, eq=False)
class Measure:
    """Describe a registered measure and evaluate it.

    Parameters
    ----------
    name : str
        The name of the measure.
    unit : str
        The unit of its values.
    per : {"run", "player", "action", "cell", "any"}
        Whether it has one number per run, or one per player, action or action profile; "any" if it is not known.
    function : callable
        The function that computes it.
    of : {"moment", "stack", "path"}, default "moment"
        What the function takes: a `Moment`; a `Moment` or `Moments`, with one entry for each; or the `Moments` up to
        now.
    reduce : callable, optional
        A function that reduces several numbers to one, for studies.
    cheap : bool, default True
        Whether it is fast enough to be computed for every run by default.
    observer : Observer, optional
        The observer without which the measure is undefined. Studies and scenarios that ask for the measure add it.

    Examples
    --------
    >>> from gamesim.measure import available
    >>> gap = available()["ce-gap"]
    >>> gap.name, gap.per, gap.unit
    ('ce-gap', 'run', 'payoff units per round')
    """

    name: str
    unit: str
    per: Per
    function: Callable[..., Any]
    of: Of = "moment"
    reduce: Callable[[NDArray[np.float64]], float] | None = None
    cheap: bool = True
    observer: Observer | None = None

    @property
    def description(self) -> str:
        """Return the first line of the function's docstring.

        Examples
        --------
        >>> from gamesim.measure import available
        >>> available()["ce-distance"].description
        'Return the distance of the joint distribution to the set of CE.'
        """
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @cached_property
    def options(self) -> dict[str, bool]:
        """Return the options of the function, and whether each is required.

        Examples
        --------
        >>> from gamesim.measure import available
        >>> available()["quantile-regret"].options
        {'epsilon': True, 'of': False}
        """
        _, *others = inspect.signature(self.function).parameters.values()
        return {one.name: one.default is one.empty for one in others}

    @property
    def gives_a_number(self) -> bool:
        """Return whether the measure gives one number per run without options.

        Studies can use such measures.

        Examples
        --------
        >>> from gamesim.measure import available
        >>> [available()[name].gives_a_number for name in ("ce-gap", "swap-regret", "payoffs", "quantile-regret")]
        [True, True, False, False]
        """
        return (self.per == "run" or self.reduce is not None) and not any(self.options.values())

    def now(self, moments: Moments, **options: Any) -> Value:
        """Return the measure at the last of these moments.

        Parameters
        ----------
        moments : Moments
            The moments of a run.
        **options
            The options of the measure.

        Returns
        -------
        float or ndarray
            The value in the measure's unit.

        Raises
        ------
        InputError
            If an option is unknown or missing.

        Examples
        --------
        >>> import gamesim
        >>> from gamesim.measure import available
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> available()["welfare"].now(record.moments()) == record.welfare
        True
        """
        self._check(options)
        found = self.function(moments if self.of == "path" else moments[-1], **options)
        single = self.per == "run" or (self.per == "any" and np.ndim(found) == 0)
        return float(found) if single else np.asarray(found)

    def along(self, moments: Moments, first: int = 0, **options: Any) -> NDArray[np.float64]:
        """Return the measure at each of these moments.

        Parameters
        ----------
        moments : Moments
            The moments of a run.
        first : int, default 0
            The index of the first moment to return.
        **options
            The options of the measure.

        Returns
        -------
        ndarray of float
            The values in the measure's unit, one entry or row per moment.

        Raises
        ------
        InputError
            If an option is unknown or missing.

        Examples
        --------
        >>> import gamesim
        >>> from gamesim.measure import available
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> available()["welfare"].along(record.moments(), first=19).round(2).tolist()
        [3.55, 3.54]
        """
        self._check(options)
        if self.of == "path":
            return np.array([self.function(moments[: k + 1], **options) for k in range(first, len(moments))])
        chosen = moments[first:] if first else moments  # which keeps what it has computed
        if self.of == "stack" and chosen:
            return np.asarray(self.function(chosen, **options))
        return np.array([self.function(moment, **options) for moment in chosen])

    def number(self, value: Value) -> float:
        """Reduce the value of one run to a single number.

        Parameters
        ----------
        value : float or ndarray
            The value of the measure for one run.

        Returns
        -------
        float
            The number, in the measure's unit.

        Raises
        ------
        InputError
            If the measure has several numbers and no `reduce`.

        Examples
        --------
        >>> import gamesim
        >>> from gamesim.measure import available
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> regrets = record.measure("external-regret")
        >>> available()["external-regret"].number(regrets) == float(regrets.max())
        True
        """
        if self.per == "run":
            return float(value)
        if self.per == "any" and self.reduce is None:
            return _one_number(self.name, value)
        if self.reduce is None:
            raise InputError(f"{self.name} has one number per {self.per} and cannot be reduced to one")
        return float(self.reduce(np.asarray(value)))

    def _check(self, options: dict[str, Any]) -> None:
        """Refuse unknown options and the lack of a required one."""
        for name in options:
            if name not in self.options:
                hint = did_you_mean(name, self.options) if self.options else f"{self.name} has no options"
                raise InputError(f"unknown option {name!r} of {self.name}; {hint}")
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
    observer: Observer | None = None,
) -> Callable[[Function], Function]:
    """Register a function as a measure, as a decorator.

    The function returns a float or an array; NaN means undefined. Its arguments after the first are the options of the
    measure.

    Parameters
    ----------
    name : str
        The name of the measure.
    unit : str
        The unit of its values.
    per : {"run", "player", "action", "cell"}, default "run"
        Whether the function returns one number per run, or one per player, action or action profile.
    of : {"moment", "stack", "path"}, default "moment"
        What the function takes: a `Moment`; a `Moment` or `Moments`, with one entry for each, which makes curves fast;
        or the `Moments` up to now.
    reduce : callable, optional
        A function that reduces several numbers to one, for studies.
    cheap : bool, default True
        Whether the function is fast even in large games.
    observer : Observer, optional
        The observer without which the measure is undefined.

    Returns
    -------
    callable
        A decorator that registers the function and returns it unchanged.

    Raises
    ------
    InputError
        If another function is registered under this name.

    Examples
    --------
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
        if before is not None and _place(before.function) != _place(function):  # a notebook cell may be run again
            raise InputError(f"a measure named {name!r} already exists: choose another name")
        _known[name] = Measure(name, unit, per, function, of, reduce, cheap, observer)
        return function

    return register


def _place(function: Callable[..., Any]) -> tuple[str, str]:
    """Return the module and name of a function; a user's file that was edited and run again is the same module."""
    return function.__module__.partition("@")[0], function.__qualname__


def available() -> dict[str, Measure]:
    """Return all registered measures by name.

    Returns
    -------
    dict of str to Measure
        The measures.

    Examples
    --------
    >>> "ce-gap" in available()
    True
    """
    return dict(_known)


def numbers() -> dict[str, Measure]:
    """Return the measures that give one number per run without options.

    Studies can use these measures.

    Returns
    -------
    dict of str to Measure
        The measures by name.

    Examples
    --------
    >>> list(numbers())[:3]
    ['ce-gap', 'cce-gap', 'nash-gap']
    """
    return {name: one for name, one in _known.items() if one.gives_a_number}


def find(measure: str | MomentFunction) -> Measure:
    """Return the measure with this name, or of this function.

    Parameters
    ----------
    measure : str or callable
        The name, a function of a `Moment`, or the reference of one in a file that was allowed, see
        `gamesim.user_files`. An observer with one number is a measure, too.

    Returns
    -------
    Measure
        The measure.

    Raises
    ------
    InputError
        If there is no such measure.

    Examples
    --------
    >>> find("ce-gab")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: unknown measure 'ce-gab'; did you mean 'ce-gap'?
    """
    if isinstance(measure, str) and user_files.is_reference(measure):
        return _user_defined(user_files.shown(measure), user_files.named(measure))
    if callable(measure):
        return Measure(getattr(measure, "__name__", "measure"), "", "any", measure)
    if measure not in _known:
        raise unknown("measure", measure, _known)
    return _known[measure]


def _user_defined(name: str, thing: Any) -> Measure:
    """Return the measure of a function or an observer in a user's file."""
    if isinstance(thing, Observer):
        return Measure(name, "", "any", lambda moment: moment.observed(thing.name), observer=thing)
    if not callable(thing) or isinstance(thing, type):
        raise InputError(f"{name} is not a measure; expected a function of a Moment, or an observer")

    @wraps(thing)
    def measured(moment: Any, **options: Any) -> Any:
        try:
            return thing(moment, **options)
        except InputError:
            raise
        except Exception as error:
            raise user_files.failure(f"the measure {name}", f"after {moment.rounds:,} rounds", error) from error

    registered = [one for one in _known.values() if one.function is thing]
    if registered:
        return replace(registered[0], name=name, function=measured)
    return Measure(name, "", "any", measured)


def _one_number(name: str, value: Any) -> float:
    if np.size(value) != 1 or np.asarray(value).dtype.kind not in "biuf":
        raise InputError(f"{name} must return one number per run, got {value!r:.60}")
    return float(np.ravel(value)[0])
