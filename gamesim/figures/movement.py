"""Describe how strategies move, from the exact path length: a trajectory that keeps some rounds can hide orbits."""

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamesim.figures.style import number, rounds_of, short
from gamesim.record import Record

HARDLY = 0.01  # total variation that a strategy that hardly moves covers in all
PURE = 0.98  # probability of an action that counts as pure
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


def known(record: Record[float], player: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rounds whose strategies are known, and the strategies of a player in them.

    The trajectory keeps rounds at equal steps, in which an orbit looks like rest. The checkpoints, which include the
    last round, are at others.
    """
    rounds, played = record.trajectory
    at = record.curve.measure("last-strategies")
    ends = np.cumsum(record.game.sizes)
    at = at[:, ends[player] - record.game.sizes[player] : ends[player]]
    if np.isnan(at).any():  # a record of a version that did not keep them
        return rounds, played[player]
    every, first = np.unique(np.append(rounds, record.curve.rounds), return_index=True)
    return every, np.concatenate([played[player], at])[first]


def omitted(record: Record[float], players: Sequence[int]) -> str:
    """Return a note on the movement between the drawn rounds, or nothing if the lines show nearly all of it."""
    stride = int(np.diff(record.trajectory[0][:2]).sum())
    drawn = sum(float(np.abs(np.diff(known(record, i)[1], axis=0)).sum()) for i in players)
    path = float(np.asarray(record.measure("path-length"))[list(players)].sum())
    if not drawn < SHOWN * path:
        return ""
    share = f"The lines show {number(100 * drawn / path)}% of all movement; the rest is in between."
    return f"One round in {stride:,} is drawn, and the checkpoints. {share}"
