"""The loop over rounds for several threads, which share the players of one simulation.

Each thread plays, answers, observes and tallies for its own players. What it computes for a player does not depend on
the other threads' progress within a round, so results are the same bytes for any number of threads. Threads wait for
each other once per round, after all have played, and between the stages of the game's kernel.

This loop is for games whose kernel has stages (see `Game.stages`), too many players for a joint distribution, and
compiled learners that observe expected losses as they are.
"""

import sys
from collections.abc import Sequence

import numpy as np

from gamesim.engine.compiled import (
    Integers,
    Vector,
    add_for_all_threads,
    call_stage,
    inlined,
    kernel,
    pause,
    placed,
    read_from_all_threads,
)
from gamesim.engine.loop import (
    ACTIONS,
    ACTIONS_END,
    DRAWN,
    EXPECTED,
    OBSERVE,
    PLAY,
    Setup,
    Track,
    add_block_of,
    call_player,
    row_of,
)
from gamesim.engine.sums import lengths
from gamesim.engine.trajectory import keep

PLAYERS_PER_THREAD = 512  # at least: with fewer, threads spend their time waiting for each other
GROUP = 128  # players whose rounds are played in one go
SPINS = 2**14  # before a waiting thread sleeps: some 50 µs
SLEEP = 50  # microseconds


def can_share(setup: Setup, sizes: Sequence[int]) -> bool:
    """Return whether threads can share the players of a simulation, and there are enough for two."""
    plain = setup.plain and setup.feedback == EXPECTED and not (setup.alternating or setup.informed)
    apart = not setup.observers.size and not lengths(sizes, drawn=False, tabled=False)["joint"]
    drawn = (setup.plan[:, DRAWN] >= 0).any()
    return bool(plain and apart and not drawn and len(sizes) >= 2 * PLAYERS_PER_THREAD and sys.platform != "win32")


def most_threads(setup: Setup) -> int:
    """Return how many threads can share the players of a simulation."""
    return max(1, len(setup.plan) // PLAYERS_PER_THREAD) if setup.stages.size else 1


@inlined
def _wait_for_all(arrivals: Integers, target: int) -> None:
    """Wait until all threads have arrived `target` times in all."""
    add_for_all_threads(arrivals, 1)
    spins = 0
    while read_from_all_threads(arrivals) < target:
        spins += 1
        if spins > SPINS:
            pause(SLEEP)


@inlined
def _play(setup: Setup, track: Track, round: int, player: int, end_player: int) -> None:
    strategies = row_of(setup, track.strategies, round)
    for one in range(player, end_player):
        call_player(setup, track, one, PLAY, strategies)


@inlined
def _open(setup: Setup, track: Track, player: int, end_player: int) -> None:
    """Replace the strategies of the first round that are given."""
    for i in range(setup.plan[player, ACTIONS], setup.plan[end_player - 1, ACTIONS_END]):
        if not np.isnan(track.starts[i]):
            track.strategies[0, i] = track.starts[i]


@inlined
def _tally(setup: Setup, track: Track, round: int, player: int, end_player: int) -> None:
    """Add a block that ends with this round to the sums of some players."""
    last = setup.last_row
    if round & last == last:
        add_block_of(setup, track, round - last, last + 1, player, end_player)
        for i in range(setup.plan[player, ACTIONS], setup.plan[end_player - 1, ACTIONS_END]):
            track.strategies[last + 1, i] = track.strategies[last, i]


@kernel
def advance_players(
    setup: Setup, track: Track, first: int, rounds: int, thread: int, threads: int, scratch: Vector, arrivals: Integers
) -> None:
    """Run `rounds` rounds from round `first` on, for the share of the players that belongs to a thread.

    All threads must run at the same time. `scratch` is the thread's own; `arrivals` is shared, and 0 at first. Players
    observe and play the next round group by group, while their arrays are in the processor's cache.
    """
    setup, track = placed(setup), placed(track)
    plan, stages = setup.plan, setup.stages
    player, end_player = plan.shape[0] * thread // threads, plan.shape[0] * (thread + 1) // threads
    _play(setup, track, first, player, end_player)
    if first == 0:
        _open(setup, track, player, end_player)
    target = 0
    for round in range(first, first + rounds):
        strategies, losses = row_of(setup, track.strategies, round), row_of(setup, track.losses, round)
        for k in range(stages.size):
            target += threads
            _wait_for_all(arrivals, target)
            step = GROUP if k == stages.size - 1 else end_player - player
            for one in range(player, end_player, step):
                end = min(one + step, end_player)
                call_stage(stages[k], one, end, setup.integers, setup.data, track.scratch, scratch, strategies, losses)
                if k == stages.size - 1:
                    for each in range(one, end):
                        call_player(setup, track, each, OBSERVE, losses)
                    _tally(setup, track, round, one, end)
                    if round + 1 < first + rounds:
                        _play(setup, track, round + 1, one, end)
        if thread == 0:  # the others may already have played the next round, in the next row
            keep(track.kept, round, strategies)
