"""Describe how strategies move, from the exact path length: a trajectory that keeps some rounds can hide orbits."""

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamesim.figures.style import number, rounds_of, short
from gamesim.record import Record

HARDLY = 0.01  # total variation that a strategy that hardly moves covers in all
PURE = 0.98  # probability of an action that counts as pure
COLUMNS = 1024  # of an image, at most
SHOWN = 0.9  # least share of all movement in the drawn lines that needs no note


def movement(record: Record[float], players: Sequence[int]) -> str:
    """Return a sentence on how far the strategies of some players move in the later half of a run."""
    game = f"in {short(record.game.name, 40)}"
    at = int(np.searchsorted(record.curve.rounds, record.rounds / 2, side="right")) - 1
    path = record.curve.measure("path-length")[:, list(players)] / 2  # in total variation
    late = float(np.max(path[-1] - path[at])) if at >= 0 else np.nan
    if np.isnan(late):  # a single round, or a record of a version that did not count
        return f"The strategies {game} over {rounds_of(record.rounds)}"
    first = int(record.curve.rounds[at])
    if late > HARDLY:
        mean = late / (record.rounds - first)
        return f"Strategies {game} move by up to {number(late)} in all after round {first:,} ({number(mean)} per round)"
    ends = " and end near pure actions" if min(float(record.last[i].max()) for i in players) >= PURE else ""
    rounding = sys.float_info.epsilon * record.rounds * max(record.game.sizes)
    if late <= rounding:
        since = "" if path[-1].max() <= rounding else f" after round {first:,}"
        return f"Strategies {game} do not move{since} (up to rounding){ends}"
    return f"Strategies {game} hardly move after round {first:,} (by at most {number(late, zero=0.0)} in all){ends}"


def known(record: Record[float]) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
    """Return the rounds whose strategies are known, and each player's strategies in them.

    They are those of the trajectory, which may keep none, and the checkpoints, which include the last round.
    """
    rounds, played = record.trajectory
    at = record.curve.measure("last-strategies")
    if np.isnan(at).any():  # a record of a version that did not keep them
        return rounds, played
    every, first = np.unique(np.append(rounds, record.curve.rounds), return_index=True)
    parts = np.split(at, np.cumsum(record.game.sizes)[:-1], axis=1)
    return every, [np.concatenate(both)[first] for both in zip(played, parts, strict=True)]


def at_equal_steps(record: Record[float]) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
    """Return rounds at equal steps, as an image needs them, and the latest strategies that are known in each."""
    rounds, played = known(record)
    steps = np.unique(np.linspace(rounds[0], rounds[-1], min(COLUMNS, rounds[-1])).astype(np.int64))
    latest = np.searchsorted(rounds, steps, side="right") - 1
    return steps, [strategies[latest] for strategies in played]


def omitted(record: Record[float], players: Sequence[int]) -> str:
    """Return a note on the movement between the drawn rounds, or nothing if the lines show nearly all of it."""
    rounds, played = known(record)
    drawn = sum(float(np.abs(np.diff(played[i], axis=0)).sum()) for i in players)
    path = float(record.curve.measure("path-length")[-1, list(players)].sum())
    if not drawn < SHOWN * path:
        return ""
    share = f"The lines show {number(100 * drawn / path)}% of all movement; the rest is in between."
    return f"{len(rounds):,} of {record.rounds:,} rounds are drawn. {share}"
