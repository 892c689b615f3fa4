"""Describe a run in words: the trend of each gap, and a verdict in one sentence."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gamesim.formatting import number
from gamesim.measure.bounds import HOLDS_IN_WORDS, Holds

SETTLED = ("zero", "falls")  # trends of a gap that is 0 or vanishes in the limit


@dataclass(frozen=True)
class GapTrend:
    """The gap at the end of a run and its trend: a word of `gamesim.measure.trend`, or "zero"."""

    gap: float
    word: str
    exponent: float | None
    lately: tuple[float, float]  # the smallest and the largest gap in the last decade of the rounds


def trend_in_words(trend: GapTrend) -> str:
    """Describe a trend over T rounds, such as "falls like T^-0.44" or "has not decayed (T^-0.08)".

    >>> trend_in_words(GapTrend(gap=0.01, word="falls", exponent=-0.5, lately=(0.01, 0.03)))
    'falls like T^-0.50'
    """
    if trend.word == "zero":
        return "is 0 up to rounding"
    if trend.word == "unknown":
        return "has no trend yet"
    least, largest = map(number, trend.lately)
    power = "" if trend.exponent is None else f"T^{round(trend.exponent, 2) + 0:.2f}"
    if trend.word == "stays":
        return f"has not decayed ({power or f'{least} to {largest}'})"
    if trend.word == "unsteady":
        return f"has no steady trend ({least} to {largest})"
    return f"{trend.word} like {power}" if power else f"{trend.word} ({largest} to {least})"


def verdict(ce: GapTrend, cce: GapTrend, worst: str, rounds: int, replicas: int | None, *, stopped: bool) -> str:
    """Return one sentence on how close play is to equilibrium.

    `worst` is the player with the largest swap regret. The gap of several replicas is the mean of their gaps, which
    may belong to different players, so no player is named then.
    """
    who = worst if replicas is None else "the player with the most to gain"
    if ce.word == "zero":
        found = "a correlated equilibrium up to rounding: no player would have gained by swapping actions"
    elif ce.word in SETTLED:
        found = (
            f"{_approximate(ce, 'correlated')}: no player would have gained more than this per round by "
            f"swapping actions, "
            f"and this gap {trend_in_words(ce)}"
        )
    elif cce.word in SETTLED and ce.word in ("stays", "grows"):
        also = "" if cce.word == "zero" else f", while the CCE gap {trend_in_words(cce)}"
        found = (
            f"{_approximate(cce, 'coarse correlated')}, but only {_approximate(ce, 'correlated')}: {who} would "
            f"have gained "
            f"{number(ce.gap)} per round by swapping actions, and this gap {trend_in_words(ce)}{also}"
        )
    else:
        found = (
            f"{_approximate(ce, 'correlated')} and {_approximate(cce, 'coarse correlated')}: the CE gap "
            f"{trend_in_words(ce)}, and the CCE gap {trend_in_words(cce)}"
        )
    after = f"{rounds:,} {'round' if rounds == 1 else 'rounds'}"
    after = f"Stopped after {after}:" if stopped else f"After {after},"
    copies = "" if replicas is None else f" on average over {replicas} {'replica' if replicas == 1 else 'replicas'},"
    return f"{after}{copies} play is {found}."


def _approximate(trend: GapTrend, kind: str) -> str:
    """Name the equilibrium that a gap makes of play.

    >>> _approximate(GapTrend(gap=0.0163, word="falls", exponent=-0.5, lately=(0.01, 0.03)), "correlated")
    'a 0.0163-approximate correlated equilibrium'
    """
    if trend.word == "zero":
        return f"a {kind} equilibrium up to rounding"
    gap = number(trend.gap)
    article = "an" if re.match(r"8|1[18](?![0-9])", gap) else "a"  # eight, eleven and eighteen begin with a vowel
    return f"{article} {gap}-approximate {kind} equilibrium"


def bound_in_words(holds: Holds | None, seen_by: Sequence[str]) -> str:
    """Describe in what sense a bound holds, or that opponents who saw the draws voided it.

    >>> bound_in_words("with high probability", seen_by=[])
    '≤ with probability 0.99'
    >>> bound_in_words(None, seen_by=["Column"])
    'void: seen by Column'
    """
    if holds is not None:
        return f"≤ {HOLDS_IN_WORDS[holds]}"
    return f"void: seen by {', '.join(seen_by)}" if seen_by else ""


def draws_seen(learners: Mapping[str, str]) -> str:
    """State what an opponent who saw the draws voids, given the learner of each such player.

    >>> draws_seen({"Column": "clairvoyant"}).partition(".")[0]
    'Column (clairvoyant) saw the drawn actions before it played'
    """
    who = " and ".join(f"{name} ({learner})" for name, learner in learners.items())
    return (
        f"{who} saw the drawn actions before it played. Bounds on the regret of draws, and bounds in expectation, are "
        "proved for losses that are chosen before the draw: they do not apply to this run."
    )
