"""Rounds of many replicas of one table game: the losses of all replicas in one pass over the table.

One replica reads the whole table for few operations, so it waits for memory. For a group of replicas the losses are a
product of matrices, which is limited by arithmetic. They are the same numbers, bit for bit, as `matrices` adds up terms
in the same order as the game's kernel. Everything else is the loop's work, replica after replica.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector, flat, inlined, kernel, lend, part, placed, row_of_each
from gamesim.engine.layout import LINE, aligned
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
from gamesim.engine.matrices import (
    PARTS,
    Work,
    add_packed,
    contract_in_parts,
    contract_listed,
    count_nonzero,
    pack,
    tile_width,
)

GROUP = 24  # replicas, at most, a multiple of the height of a tile
FEWEST_REPLICAS, FEWEST_ACTIONS = 4, 128  # below, the products do not dominate
LARGEST_STATE = 2**15  # numbers of all replicas in a group, so that they stay in the cache between rounds


class Group(NamedTuple):
    """Hold the replicas that advance together, of which `first` is the first: they lie along the first axis."""

    first: int
    tracks: Track
    panels: Vector
    opposite: bool  # whether the players' losses are opposite, so that those of the first are added up in parts
    work: Work
    products: Vector  # the losses of one player in all replicas,
    rows: Integers  # and where those of each replica begin
    parts: Vector  # of the losses of one replica

    @classmethod
    def of(cls, first: int, tracks: Track, panels: Vector, opposite: bool, sizes: Sequence[int]) -> "Group":
        """Return the group of these replicas, with arrays to work with."""
        count = len(tracks.state)
        work, parts = Work.allocated(max(sizes), count), np.zeros(PARTS * sizes[0])
        pitch = max(sizes) + LINE  # not a power of two
        products, rows = aligned(count * pitch), np.arange(count) * pitch
        return cls(first, tracks, panels, opposite, work, products, rows, parts)


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


def in_panels(tables: Sequence[NDArray[np.float64]], opposite: bool) -> Vector:
    """Return tables cut into panels of columns as wide as a tile, each with its rows one after the other.

    If losses are opposite, the rows of the first table are in the order of the parts in which they are added up.
    """
    panels = []
    first_table = np.concatenate([tables[0][k::PARTS] for k in range(PARTS)]) if opposite else tables[0]
    for table in (first_table, *tables[1:]):
        first = 0
        while first < table.shape[1]:
            width = tile_width(table.shape[1] - first)
            panels.append(table[:, first : first + width].ravel())
            first += width
    return np.concatenate(panels, out=aligned(sum(one.size for one in panels)))


@inlined
def _list_dense(setup: Setup, tracks: Track, player: int, round: int, in_parts: bool, work: Work, parts: Vector) -> int:
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
        if 4 * count_nonzero(strategy) < count:
            if in_parts:
                contract_in_parts(strategy, table, result, work.numbers, parts)
            else:
                contract_listed(strategy, table, result, work.numbers)
            continue
        work.sources[dense], work.rows[dense] = source, target
        dense += 1
    return dense


@inlined
def _write_products(
    panels: Vector,
    at: int,
    count: int,
    size: int,
    dense: int,
    many: int,
    losses: Vector,
    work: Work,
    products: Vector,
    rows: Integers,
) -> None:
    """Write the packed strategies times the table that begins at panels[at], added up in this many parts, 1 or `PARTS`.

    The losses of different replicas would evict each other from the cache, so `products` are copied there at the end.
    """
    for i in range(products.size):
        products[i] = 0.0
    j = 0
    while j < size:
        width, panel = tile_width(size - j), at + j * count
        for k in range(many):
            terms, pitch = (count - k + many - 1) // many, many * dense
            add_packed(work.numbers, k * dense, pitch, dense, panels, panel, width, terms, width, products, rows, j, 1)
            panel += terms * width
        j += width
    for i in range(dense):
        result, source = part(losses, work.rows[i], work.rows[i] + size), part(products, rows[i], rows[i] + size)
        for k in range(size):
            result[k] = source[k]


@inlined
def _answer(
    setup: Setup,
    tracks: Track,
    player: int,
    round: int,
    panels: Vector,
    in_parts: bool,
    work: Work,
    products: Vector,
    rows: Integers,
    parts: Vector,
) -> None:
    """Write the losses of one of two players in all replicas."""
    plan = setup.plan
    size = plan[player, ACTIONS_END] - plan[player, ACTIONS]
    count = plan[1 - player, ACTIONS_END] - plan[1 - player, ACTIONS]
    dense, losses = _list_dense(setup, tracks, player, round, in_parts, work, parts), flat(tracks.losses)
    pack(flat(tracks.strategies), 1, count, dense, work)
    many = PARTS if in_parts else 1
    _write_products(panels, player * size * count, count, size, dense, many, losses, work, products, rows)


@kernel
def advance(
    setup: Setup,
    tracks: Track,
    first: int,
    rounds: int,
    panels: Vector,
    opposite: bool,
    work: Work,
    products: Vector,
    rows: Integers,
    parts: Vector,
) -> None:
    """Run `rounds` rounds from round `first` on, of replicas that lie along the first axis of each array.

    The game has two players and a table, whose panels are given. All learners are compiled, observe the losses of each
    round as they are, and no learner is informed.
    """
    setup, tracks, work = placed(setup), lend(tracks), lend(work)
    noise = part(panels, 0, 0)
    for round in range(first, first + rounds):
        for replica in range(tracks.losses.shape[0]):
            track = placed(row_of_each(tracks, replica))
            play(setup, track, round)
            start(setup, track, round)
        for player in range(2):
            _answer(setup, tracks, player, round, panels, opposite and player == 0, work, products, rows, parts)
        for replica in range(tracks.losses.shape[0]):
            track = placed(row_of_each(tracks, replica))
            if perceive(setup, track, round, noise):
                observe(setup, track, round)
            tally(setup, track, round)
            watch(setup, track, round)
