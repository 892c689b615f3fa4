"""State how close play is to equilibrium in one sentence, and in what sense bounds hold."""

import re
from collections.abc import Mapping, Sequence

from gamesim.formatting import number
from gamesim.measure.bounds import HOLDS_IN_WORDS, Holds
from gamesim.measure.trend import Trend
from gamesim.measure.trend_words import in_words

SETTLED = ("zero", "falls")  # trends of a gap that is 0 or falls at a rate that no-regret learners guarantee
PERSISTS = ("stays", "grows", "levels off")

# What play is in a run, or in some of its replicas, in the order in which they are listed.
EXACT, CORRELATED, COARSE, OPEN = range(4)


def verdict(
    ce: Sequence[Trend],
    cce: Sequence[Trend],
    worst: str,
    rounds: int,
    *,
    stopped: bool,
    varies: bool = False,
    of: str = "replicas",
) -> str:
    """Return one sentence on how close play is to equilibrium, or on regrets if the game varies over the rounds.

    `ce` and `cce` have one trend per replica; `of` is what replicas are called. `worst` is the player with the largest
    swap regret of a single run.
    """
    after = f"{rounds:,} {'round' if rounds == 1 else 'rounds'}"
    after = f"Stopped after {after}:" if stopped else f"After {after},"
    pairs = list(zip(ce, cce, strict=True))
    if varies:
        return f"{after} in a game that varies, {_of_regrets(ce, cce)}."
    if len(pairs) == 1:
        return f"{after} play is {_of_one(*pairs[0], worst)}."
    groups = {kind: [pair for pair in pairs if _kind(*pair) == kind] for kind in (EXACT, CORRELATED, COARSE, OPEN)}
    found = [(len(group), _of_group(kind, group)) for kind, group in groups.items() if group]
    if len(found) == 1:
        return f"{after} in each of {len(pairs)} {of} {found[0][1]}."
    (count, first), *others = found
    listed = [f"in {count} of {len(pairs)} {of} {first}", *(f"in {n} {words}" for n, words in others)]
    return f"{after} {'; '.join(listed)}."


def _of_regrets(ce: Sequence[Trend], cce: Sequence[Trend]) -> str:
    """State the largest regrets: play is an equilibrium of no single game."""
    many = "" if len(ce) == 1 else f" in any of {len(ce)} replicas"
    swap, external = (f" more than {number(_worst(one).end, zero=0.0)} per round" for one in (ce, cce))
    return (
        f"no player would have gained{swap} by swapping actions{many}, or{external} by playing one fixed action: the "
        f"largest swap regret per round {in_words(ce, since=True)}, and the largest external regret "
        f"{in_words(cce, since=True)}"
    )


def _kind(ce: Trend, cce: Trend) -> int:
    """Return which statement the trends of one run support."""
    if ce.word in SETTLED:
        return EXACT if ce.word == "zero" else CORRELATED
    return COARSE if cce.word in SETTLED and ce.word in PERSISTS else OPEN


def _of_one(ce: Trend, cce: Trend, worst: str) -> str:
    kind = _kind(ce, cce)
    if kind == EXACT:
        return "a correlated equilibrium up to rounding: no player would have gained by swapping actions"
    gap, trend = number(ce.end, zero=0.0), in_words([ce], since=True)
    if kind == CORRELATED:
        return (
            f"{_approximate(ce, 'correlated')}: no player would have gained more than this per round by swapping "
            f"actions, and this gap {trend}"
        )
    if kind == COARSE:
        also = "" if cce.word == "zero" else f", while the CCE gap {in_words([cce], since=True)}"
        return (
            f"{_approximate(cce, 'coarse correlated')}, but only {_approximate(ce, 'correlated')}: {worst} would have "
            f"gained {gap} per round by swapping actions, and this gap {trend}{also}"
        )
    return (
        f"{_approximate(ce, 'correlated')} and {_approximate(cce, 'coarse correlated')}: the CE gap {trend}, and the "
        f"CCE gap {in_words([cce], since=True)}"
    )


def _of_group(kind: int, pairs: Sequence[tuple[Trend, Trend]]) -> str:
    """Describe replicas of one kind: what is true of each of them."""
    ce, cce = zip(*pairs, strict=True)
    if kind == EXACT:
        return "play is a correlated equilibrium up to rounding"
    if kind == CORRELATED:
        return f"play is {_approximate(_worst(ce), 'correlated')}, and the CE gap falls"
    gap = f"the CE gap is {_range(ce)} and {_together(ce)}"
    if kind == COARSE:
        return f"play is {_approximate(_worst(cce), 'coarse correlated')}, but {gap}"
    return f"{gap}, and the CCE gap is {_range(cce)} and {_together(cce)}"


def _worst(trends: Sequence[Trend]) -> Trend:
    return max(trends, key=lambda one: one.end)


def _range(trends: Sequence[Trend]) -> str:
    least, largest = (number(choose(one.end for one in trends), zero=0.0) for choose in (min, max))
    return least if least == largest else f"{least} to {largest}"


def _together(trends: Sequence[Trend]) -> str:
    """Describe what all of these replicas do, without counting them again if they agree."""
    return in_words(trends).removesuffix(" in each replica").replace(f" of {len(trends)} replicas", "")


def _approximate(trend: Trend, kind: str) -> str:
    """Name the equilibrium that a gap makes of play.

    >>> _approximate(Trend("falls", 100, 0.03, 0.0163, 0.0163, 0.03), "correlated")
    'a 0.0163-approximate correlated equilibrium'
    """
    if trend.word == "zero":
        return f"a {kind} equilibrium up to rounding"
    gap = number(trend.end, zero=0.0)
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
