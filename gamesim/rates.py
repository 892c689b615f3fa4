"""Learning rates as settings: a number, a schedule such as "0.5/sqrt(t)", or "tuned" to the horizon.

A rate multiplies losses, which are rescaled to [-1, 1]. A rate that ends with "per payoff" multiplies payoffs, as in
papers that do not rescale them; a simulation converts it, since it knows the game.
"""

import math
import re
from typing import NamedTuple, TypeAlias

from gamesim.errors import InputError
from gamesim.formatting import shown

RateSetting: TypeAlias = float | str | None  # None is the learner's default

PER_PAYOFF = "per payoff"
TUNED = "tuned"
SMALLEST, LARGEST, STEEPEST = 1e-100, 1e100, 10
FORMS = 'a positive number, "c/sqrt(t)", "c*t^-a", one of these followed by "per payoff", or "tuned"'

_NUMBER = r"(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_SCHEDULE = re.compile(rf"{_NUMBER}\s*(/\s*sqrt\(t\)|/\s*t|[*·]?\s*t\^-\s*{_NUMBER})?\s*({PER_PAYOFF})?")
_TUNED_TO = re.compile(rf"{TUNED} to (\d+)")


class Rate(NamedTuple):
    """A parsed rate: scale · t^-decay in round t; the scale is 0 if the learner chooses, by default or tuned."""

    scale: float
    decay: float
    per_payoff: bool
    horizon: int | None  # the number of rounds that a tuned rate is tuned to


def parsed(name: str, given: RateSetting, most: float = LARGEST) -> Rate:
    """Parse a rate of at most `most`, or raise an InputError that names the setting.

    >>> parsed("rate", "0.5/sqrt(t)")
    Rate(scale=0.5, decay=0.5, per_payoff=False, horizon=None)
    >>> parsed("rate", "2*t^-0.25 per payoff")
    Rate(scale=2.0, decay=0.25, per_payoff=True, horizon=None)
    >>> parsed("rate", -1.0)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: rate must be positive, got -1.0
    """
    if given is None or given == TUNED:
        return Rate(0.0, 0.0, False, None)
    if not isinstance(given, str):
        return Rate(_within(name, given, most), 0.0, False, None)
    if tuned := _TUNED_TO.fullmatch(given):
        return Rate(0.0, 0.0, False, int(tuned[1]))
    form = _SCHEDULE.fullmatch(given.strip())
    if form is None or (form[2] is None and form[4] is None) or not 0 < float(form[1]) < math.inf:
        raise InputError(f"{name} must be {FORMS}, got {given!r}")
    scale = _within(name, float(form[1]), most)
    decay = 0.0 if form[2] is None else float(form[3]) if form[3] else 0.5 if "sqrt" in form[2] else 1.0
    if decay > STEEPEST:
        raise InputError(f"{name} must decrease as t^-{STEEPEST} or more slowly, got {given!r}")
    return Rate(scale, decay, form[4] is not None, None)


def _within(name: str, value: float, most: float) -> float:
    """Return a positive number within the limits, or raise an InputError."""
    if not value > 0:
        raise InputError(f"{name} must be positive, got {shown(value)}")
    if value == math.inf:
        raise InputError(f"{name} must be finite, got {value}")
    if not SMALLEST <= value <= most:
        limit = f"at most {most:g}" if value > most else f"at least {SMALLEST:g}"
        raise InputError(f"{name} must be {limit}, got {shown(value)}")
    return float(value)


def tuned_to(given: object, rounds: int) -> object:
    """Return a setting with "tuned" completed by the number of rounds, and any other setting unchanged.

    >>> tuned_to("tuned", 1000), tuned_to(0.5, 1000)
    ('tuned to 1000', 0.5)
    """
    return f"{TUNED} to {rounds}" if given == TUNED else given


def in_losses(given: object, scale: float) -> object:
    """Return a setting with a rate per payoff converted to one per loss, and any other setting unchanged.

    A loss of 1 is a payoff of `scale`.

    >>> in_losses("0.5/sqrt(t) per payoff", 3.0), in_losses("0.1 per payoff", 3.0), in_losses("hedge", 3.0)
    ('1.5*t^-0.5', 0.30000000000000004, 'hedge')
    """
    if not isinstance(given, str) or not given.endswith(PER_PAYOFF):
        return given
    rate = parsed("rate", given)
    return f"{rate.scale * scale!r}*t^-{rate.decay!r}" if rate.decay else rate.scale * scale
