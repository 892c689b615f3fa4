"""Describe trends in words: of one run, or of each of several replicas, which need not agree.

The words describe checkpoints, from the round that `since` names. They say nothing about later rounds.
"""

from collections.abc import Sequence

from gamesim.formatting import number
from gamesim.measure.trend import Trend

# What a gap does in each of several replicas, in the order in which they are listed.
WORDS = {
    "zero": "is 0 up to rounding",
    "falls": "falls",
    "falls slowly": "falls slowly",
    "levels off": "falls towards a floor",
    "stays": "neither falls nor grows",
    "grows": "grows",
    "unsteady": "has no steady trend",
    "unknown": "has no trend yet",
}


def in_words(trends: Sequence[Trend], *, since: bool = False, of: str = "replicas") -> str:
    """Describe the trend of a run over T rounds, or those of several replicas, which are called `of`.

    With `since`, the words name the first round.

    >>> from gamesim.measure.trend import Power
    >>> fast = Trend("falls", 100, 0.1, 0.01, 0.01, 0.1, Power("falls", -0.5, 1.0, 100, 10_000))
    >>> flat = Trend("stays", 1000, 0.12, 0.13, 0.12, 0.13)
    >>> in_words([fast]), in_words([flat], since=True)
    ('falls like T^-0.50', 'stays between 0.12 and 0.13 at the checkpoints from round 1,000 on')
    >>> in_words([fast, flat, fast])
    'falls in 2 of 3 replicas and neither falls nor grows in 1'
    >>> in_words([fast, fast])
    'falls in each replica'
    """
    if len(trends) == 1:
        return _of_one(trends[0], since)
    words = [one.word for one in trends]
    counts = {word: words.count(word) for word in WORDS if word in words}
    (first, count), *others = counts.items()
    if not others:
        return f"{WORDS[first]} in each {of.removesuffix('s')}"
    listed = [f"{WORDS[first]} in {count} of {len(trends)} {of}", *(f"{WORDS[w]} in {n}" for w, n in others)]
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


def exponent_in_words(exponent: float) -> str:
    """Return a power of T.

    >>> exponent_in_words(-0.5), exponent_in_words(-0.001)
    ('T^-0.50', 'T^0.00')
    """
    return f"T^{round(exponent, 2) + 0:.2f}"  # + 0 avoids -0.00


def _of_one(trend: Trend, since: bool) -> str:
    begin, end, least, largest, floor = (
        number(value, zero=0.0) for value in (trend.begin, trend.end, trend.least, trend.largest, trend.floor)
    )
    at = f" at the checkpoints from round {trend.first:,} on" if since else ""
    match trend.word:
        case "stays":
            if least == largest:
                return f"stays at {least}{at}"
            return f"stays between {least} and {largest}{at}" if since else f"stays ({least} to {largest})"
        case "unsteady":
            return f"has no steady trend ({least} to {largest}{at})"
        case "levels off":
            return f"falls{at}, but a floor near {floor} fits better than a power law"
        case "falls" if trend.power is None:
            return f"falls from {begin}{f' at round {trend.first:,}' if since else ''} to {end}"
    return WORDS[trend.word] + ("" if trend.power is None else f" like {exponent_in_words(trend.power.exponent)}{at}")
