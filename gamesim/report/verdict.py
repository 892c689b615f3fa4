"""What a run came to in words: what each gap does along it, and the one sentence that says what happened."""

from dataclasses import dataclass

from gamesim.formatting import number

SETTLED = ("zero", "falls")  # what gaps do that end, or will end, at an equilibrium


@dataclass(frozen=True)
class GapTrend:
    """A gap at the end of a run, and what it did: a word of `gamesim.measure.trend`, or "zero"."""

    gap: float
    word: str
    exponent: float | None
    lately: tuple[float, float]  # the least and the largest gap in the last decade of the rounds


def trend_in_words(trend: GapTrend, time: str = "rounds") -> str:
    """Say what a gap does: "falls like rounds^-0.44", "stays (rounds^-0.08)", "has no steady trend (0.1 to 0.3)".

    >>> trend_in_words(GapTrend(gap=0.01, word="falls", exponent=-0.5, lately=(0.01, 0.03)), time="T")
    'falls like T^-0.50'
    """
    if trend.word == "zero":
        return "is 0 up to rounding"
    if trend.word == "unknown":
        return "has no trend yet"
    least, largest = map(number, trend.lately)
    power = "" if trend.exponent is None else f"{time}^{round(trend.exponent, 2) + 0:.2f}"
    if trend.word == "stays":
        return f"stays ({power or f'{least} to {largest}'})"
    if trend.word == "unsteady":
        return f"has no steady trend ({least} to {largest})"
    return f"{trend.word} like {power}" if power else f"{trend.word} ({largest} to {least})"


def verdict(ce: GapTrend, cce: GapTrend, worst: str, rounds: int, replicas: int | None, *, stopped: bool) -> str:
    """Return the one sentence that says what happened; `worst` is the player with the largest swap regret."""
    ce_gap, cce_gap = number(ce.gap), number(cce.gap)
    if ce.word in SETTLED:
        seen = (
            f"is within {ce_gap} of a correlated equilibrium: no player gains more than that a round by changing "
            f"its actions in any way, and this gap {trend_in_words(ce)}"
        )
    elif cce.word in SETTLED and ce.word in ("stays", "grows"):
        seen = (
            f"is within {cce_gap} of a coarse correlated equilibrium but of no correlated one: {worst} would gain "
            f"{ce_gap} a round by swapping actions, and this gap {trend_in_words(ce)}, while the CCE gap "
            f"{trend_in_words(cce)}"
        )
    else:
        seen = (
            f"is within {ce_gap} of a correlated equilibrium and {cce_gap} of a coarse one: the CE gap "
            f"{trend_in_words(ce)}, the CCE gap {trend_in_words(cce)}"
        )
    after = f"{'Stopped after' if stopped else 'After'} {rounds:,} {'round' if rounds == 1 else 'rounds'}"
    copies = "" if replicas is None else f", on average over {replicas} replicas,"
    joined = "," if stopped and not copies else copies
    return f"{after}{joined} play {seen}."
