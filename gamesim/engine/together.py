"""Rounds of many replicas of one table game: the losses of all replicas in one pass over the table.

One replica reads the whole table for few operations, so it waits for memory. For a group of replicas the losses are a
product of matrices, which is limited by arithmetic. They are the same numbers, bit for bit, as `matrices` adds up terms
in the same order as the game's kernel. Everything else is the loop's work, replica after replica.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Vector, flat, inlined, kernel, lend, part, row_of_each
from gamesim.engine.loop import (
    ACTIONS,
    ACTIONS_END,
    EXPECTED,
    OBSERVER,
    PLAY,
    Setup,
    Track,
    observe,
    perceive,
    play,
    start,
    tally,
    watch,
)
from gamesim.engine.matrices import WIDTHS, Work, add_packed, contract_listed, count_nonzero, pack

GROUP = 24  # replicas, at most, a multiple of the height of a tile
TERMS = 128  # added at once, so that what a tile reads stays in the cache
FEWEST_REPLICAS, FEWEST_ACTIONS = 4, 128  # below, the products do not dominate
LARGEST_STATE = 2**15  # numbers of all replicas in a group, so that they stay in the cache between rounds


class Group(NamedTuple):
    """Hold the replicas that advance together, of which `first` is the first: they lie along the first axis."""

    first: int
    tracks: Track
    panels: Vector
    work: Work


def fits(setup: Setup) -> bool:
    """Return whether all learners and observers are compiled, and learners observe expected losses after a round."""
    in_python = (setup.plan[:, PLAY] == 0).any() or (setup.observers[:, OBSERVER] == 0).any()
    as_they_are = setup.feedback == EXPECTED and setup.plain == 1 and setup.informed == 0 and setup.alternating == 0
    return bool(as_they_are and not in_python)


def group_size(replicas: int, processors: int, sizes: Sequence[int], state: int) -> int:
    """Return how many replicas to advance together, given the length of one replica's state; 1 if it does not pay.

    >>> group_size(64, 2, [256, 256], 1024), group_size(20, 2, [256, 256], 1024), group_size(64, 2, [4, 4], 16)
    (24, 10, 1)
    """
    size = min(GROUP, -(-replicas // processors), LARGEST_STATE // max(state, 1))
    return size if size >= FEWEST_REPLICAS and len(sizes) == 2 and min(sizes) >= FEWEST_ACTIONS else 1


def in_panels(tables: Sequence[NDArray[np.float64]]) -> Vector:
    """Return tables cut into panels of columns as wide as a tile, each with its rows one after the other."""
    panels = []
    for table in tables:
        first = 0
        while first < table.shape[1]:
            width = next(one for one in WIDTHS if one <= table.shape[1] - first)
            panels.append(table[:, first : first + width].ravel())
            first += width
    return np.concatenate(panels)


@inlined
def _list_dense(setup: Setup, tracks: Track, player: int, round: int, work: Work) -> int:
    """Write the losses where the opponent plays few actions; list the other replicas, and return their number."""
    plan, row = setup.plan, round & setup.last_row
    mine, size = plan[player, ACTIONS], plan[player, ACTIONS_END] - plan[player, ACTIONS]
    theirs, count = plan[1 - player, ACTIONS], plan[1 - player, ACTIONS_END] - plan[1 - player, ACTIONS]
    table = part(setup.data, player * size * count, (player + 1) * size * count)
    dense = 0
    for replica in range(tracks.losses.shape[0]):
        source = replica * tracks.strategies[0].size + row * tracks.strategies.shape[2] + theirs
        target = replica * tracks.losses[0].size + row * tracks.losses.shape[2] + mine
        strategy, result = (
            part(flat(tracks.strategies), source, source + count),
            part(flat(tracks.losses), target, target + size),
        )
        if 2 * count_nonzero(strategy) < count:
            contract_listed(strategy, table, result, work.numbers)
            continue
        work.sources[dense], work.rows[dense] = source, target
        dense += 1
        for j in range(size):
            result[j] = 0.0
    return dense


@inlined
def _answer(setup: Setup, tracks: Track, player: int, round: int, panels: Vector, work: Work) -> None:
    """Write the losses of one of two players in all replicas."""
    plan = setup.plan
    size = plan[player, ACTIONS_END] - plan[player, ACTIONS]
    count = plan[1 - player, ACTIONS_END] - plan[1 - player, ACTIONS]
    dense, losses = _list_dense(setup, tracks, player, round, work), flat(tracks.losses)
    pack(flat(tracks.strategies), 1, count, dense, work)
    for before in range(0, count, TERMS):
        terms, packed = min(TERMS, count - before), part(work.numbers, before * dense, count * dense)
        j = 0
        while j < size:
            width = 8 if size - j >= 8 else 4 if size - j >= 4 else 1
            at = player * size * count + j * count + before * width
            add_packed(packed, dense, panels, at, width, terms, width, losses, work.rows, j)
            j += width


@kernel
def advance(setup: Setup, tracks: Track, first: int, rounds: int, panels: Vector, work: Work) -> None:
    """Run `rounds` rounds from round `first` on, of replicas that lie along the first axis of each array.

    The game has two players and a table, whose panels are given. All learners are compiled, observe the losses of each
    round as they are, and no learner is informed.
    """
    setup, tracks, work = lend(setup), lend(tracks), lend(work)
    noise = part(panels, 0, 0)
    for round in range(first, first + rounds):
        for replica in range(tracks.losses.shape[0]):
            track = row_of_each(tracks, replica)
            play(setup, track, round)
            start(setup, track, round)
        for player in range(2):
            _answer(setup, tracks, player, round, panels, work)
        for replica in range(tracks.losses.shape[0]):
            track = row_of_each(tracks, replica)
            if perceive(setup, track, round, noise):
                observe(setup, track, round)
            tally(setup, track, round)
            watch(setup, track, round)
