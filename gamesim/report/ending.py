"""State where play ended: the strategies of the last round and the most frequent action profile."""

from collections import Counter
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from gamesim.formatting import number, replicas
from gamesim.game import Game
from gamesim.record import Record

ACTIONS_NAMED = 4  # most actions of a strategy, players and profiles that are named in a sentence
SETTLED = 0.9  # a replica is counted at an action profile that it plays with at least this probability


def mixture(strategy: NDArray[np.float64], labels: Sequence[str]) -> str:
    """Return a mixed strategy in words, with the most probable actions first.

    >>> mixture(np.array([0.25, 0.0, 0.75]), ["left", "centre", "right"]), mixture(np.array([0.0, 1.0]), ["up", "down"])
    ('right (0.75), left (0.25)', 'down')
    """
    order = [int(a) for a in np.argsort(-strategy, kind="stable") if strategy[a] > 0]
    if strategy[order[0]] == 1:
        return labels[order[0]]
    shown = [a for a in order[:ACTIONS_NAMED] if strategy[a] >= 5e-4 or a == order[0]]
    named = [f"{labels[a]} ({_probability(strategy[a])})" for a in shown]
    left = order[len(shown) :]
    others = f"{len(left)} other{'' if len(left) == 1 else 's'} ({number(strategy[left].sum())})"
    return ", ".join(named + ([others] if strategy[left].sum() >= 5e-4 else []))


def ending(record: Record) -> str:
    """Return one or two sentences on where play ended, or nothing before the first round."""
    if record.rounds == 0:
        return ""
    game, after = record.game, f"In round {record.rounds:,}"
    if not record.single:
        return f"{after}, {_of_replicas(record)}."
    if len(game.players) > ACTIONS_NAMED:
        settled = sum(bool(strategy.max() >= SETTLED) for strategy in record.last)
        return (
            f"{after}, {settled:,} of {len(game.players):,} players play an action with probability {SETTLED} or more."
        )
    plays = [
        f"{who} plays {mixture(strategy, labels)}"
        for who, strategy, labels in zip(game.players, record.last, game.actions, strict=True)
    ]
    return f"{after}, {'; '.join(plays)}.{_most_frequent(record)}"


def _of_replicas(record: Record) -> str:
    """Count the replicas at each action profile in the last round."""
    counts: Counter[str] = Counter()
    for run in record:
        if prod(float(strategy.max()) for strategy in run.last) >= SETTLED:
            counts[_profile(record.game, [int(strategy.argmax()) for strategy in run.last])] += 1
    total, of = record.replicas, replicas(record.feedback)
    named = [f"{count} of {total} {of} play {profile}" for profile, count in counts.most_common(ACTIONS_NAMED)]
    if others := sum(counts.values()) - sum(count for _, count in counts.most_common(ACTIONS_NAMED)):
        named.append(f"{others} another action profile")
    listed = [f"{'; '.join(named)}, with probability {SETTLED} or more"] if named else []
    if mixing := total - sum(counts.values()):
        listed.append(f"in {mixing} of {total} {of} every action profile has a probability below {SETTLED}")
    return "; ".join(listed)


def _most_frequent(record: Record) -> str:
    """Name the action profile with the largest probability over all rounds, unless others have the same."""
    joint = record.joint
    if joint is None or joint.size < 2:
        return ""
    second, most = np.partition(joint.ravel(), -2)[-2:]
    if most - second < 1e-6:
        return ""
    profile = _profile(record.game, np.unravel_index(int(joint.argmax()), joint.shape))
    return f" Over all rounds, {profile} is the most frequent action profile ({_probability(most)} of play)."


def _profile(game: Game, actions: Sequence[int | np.intp]) -> str:
    if len(actions) > ACTIONS_NAMED:
        return "one action profile"
    return "(" + ", ".join(labels[a] for labels, a in zip(game.actions, actions, strict=True)) + ")"


def _probability(value: float) -> str:
    """Format a probability; a value below 1 is not rounded to 1."""
    return "> 0.999" if 0.9995 < value < 1 else number(value)
