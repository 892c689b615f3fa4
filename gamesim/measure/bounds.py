"""Bounds on regrets: what a guarantee proves of a learner's strategies, and of the actions drawn from them.

A guarantee bounds the regret of the strategies p_t, for every sequence of losses l_t (`Guarantee`). If actions
a_t ~ p_t are drawn, the regret of the draws is another quantity. For a deviation φ, a map of actions, they differ by::

    Σ_t D_t(φ),  D_t(φ) = l_t(a_t) - l_t(φ(a_t)) - Σ_a p_t(a) (l_t(a) - l_t(φ(a)))

If l_t does not depend on a_t, the mean of D_t(φ) given the past and l_t is 0. Given these, D_t(φ) takes values in an
interval of length c, so by the inequality of Azuma and Hoeffding::

    P(Σ_t D_t(φ) ≥ x) ≤ exp(-2 x² / (c² T))

A union bound over N deviations shows that with probability at least 1 - δ, for all of them at once::

    Σ_t D_t(φ) ≤ c √(T ln(N / δ) / 2)

Each kind of regret has its constants, for losses in [-1, 1] and d actions:

- external: c = 2 and N = 1. Where φ is constant, l_t(φ(a)) cancels, and D_t = l_t(a_t) - Σ_a p_t(a) l_t(a) is the same
  for all of them.
- internal: c = 2 and N = d (d - 1). Only one action i changes, so the gain is l_t(i) - l_t(j) or 0.
- swap: c = 4 and N = d^d. The gain of a map lies in [-2, 2].

The maximum over φ of a sum is at most the sum of the maxima, so the bound on the regret of the strategies plus this
excess bounds the regret of the draws with probability at least 1 - δ, at a given round. It also bounds the mean over
independent replicas with at least this probability.

An opponent that sees the draws before it plays makes l_t depend on a_t. Then nothing is proved of the draws, nor in
expectation. A bound on the strategies that holds for every sequence of losses is not affected.
"""

from collections.abc import Sequence
from math import log, sqrt
from typing import Any, Literal, TypeAlias

from gamesim.errors import InputError, unknown
from gamesim.learner import REGRETS_OF, Guarantee, Learner, PlainRegret, RecordedFeedback, RegretOf

DELTA = 0.01  # the probability with which the regret of the draws may exceed its bound

Holds: TypeAlias = Literal["surely", "in expectation", "with high probability"]
HOLDS_IN_WORDS: dict[Holds, str] = {  # with the default delta
    "surely": "surely",
    "in expectation": "in expectation",
    "with high probability": f"with probability {1 - DELTA}",
}


def draw_excess(kind: PlainRegret, rounds: int, actions: int, delta: float) -> float:
    """Return how far the regret of draws exceeds that of the strategies, up to probability `delta`, in units of loss.

    >>> [round(draw_excess(kind, 10_000, 3, 0.01)) for kind in ("external", "internal", "swap")]
    [303, 358, 795]
    """
    if not 0 < delta < 1:
        raise InputError(f"delta must lie strictly between 0 and 1, got {delta}")
    if actions == 1:
        return 0.0
    length, log_count = {
        "external": (2, 0.0),
        "internal": (2, log(actions * (actions - 1))),
        "swap": (4, actions * log(actions)),
    }[kind]
    return length * sqrt(rounds * (log_count - log(delta)) / 2)


def seen_by(learners: Sequence[Any], player: int) -> list[int]:
    """Return the opponents of a player that see its draws before they play, as indices."""
    return [i for i, one in enumerate(learners) if i != player and isinstance(one, Learner) and one.sees_draws]


def bound_holds(learners: Sequence[Any], player: int, feedback: RecordedFeedback, of: RegretOf) -> Holds | None:
    """Return in what sense a player's guarantee bounds its regret, of play or of the strategies; None if it does not.

    >>> from gamesim import players
    >>> learners = [players.make("hedge"), players.make("clairvoyant")]
    >>> bound_holds(learners, 0, "sampled", "play"), bound_holds(learners, 0, "sampled", "strategies")
    (None, 'surely')
    """
    if of not in REGRETS_OF:
        raise unknown("regret of", of, REGRETS_OF)
    promise = _guarantee(learners[player])
    seen = bool(seen_by(learners, player))
    if promise is None:
        return None
    if promise.expected:
        return None if seen else "in expectation"
    if of == "strategies" or feedback == "expected":
        return "surely"
    return None if seen else "with high probability"


def bound(
    learners: Sequence[Any],
    player: int,
    kind: PlainRegret,
    rounds: int,
    actions: int,
    *,
    started: bool,
    feedback: RecordedFeedback,
    of: RegretOf = "play",
    delta: float = DELTA,
) -> float | None:
    """Return the bound on a player's total regret in units of loss, or None if nothing is proved."""
    promise, holds = _guarantee(learners[player]), bound_holds(learners, player, feedback, of)
    if promise is None or holds is None:
        return None
    losses = promise.bound_on(kind, rounds, actions, started)
    if losses is None or holds != "with high probability":
        return losses
    return losses + draw_excess(kind, rounds, actions, delta)


def _guarantee(learner: Any) -> Guarantee | None:
    return learner.guarantee() if isinstance(learner, Learner) else None
