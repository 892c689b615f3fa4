"""The compiled loop over rounds (play, answer, observe, tally), for any game and any learners.

A round takes microseconds, so the loop neither allocates nor calls Python. It calls the kernels of the learners and of
the game by address. Each phase of a round is a separate function, because learners written in Python run between the
phases. The results are the same, only slower.

Sums over rounds are accumulated in blocks that start at multiples of the block's length, so that a record does not
depend on how a run was split, bit for bit.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import (
    Integers,
    Vector,
    call_game,
    call_learner,
    call_observer,
    call_phase,
    call_product,
    flat,
    inlined,
    kernel,
    part,
    phase,
    phase_address,
    placed,
    row_part,
)
from gamesim.engine.matrices import Work, product_address
from gamesim.engine.sums import Sums
from gamesim.engine.trajectory import Kept, keep

BLOCK = 64  # rounds; a power of two. Larger blocks update large sums less often, but take more memory
SMALL_BLOCK = 8  # with thousands of actions in all
MANY_ACTIONS = 4096
EXPECTED, SAMPLED, BANDIT = 0, 1, 2

# Columns of the plan, which has one row per player.
PLAY, OBSERVE = 0, 1  # addresses; 0 for a learner written in Python
SETTINGS, SETTINGS_END, STATE, STATE_END, ACTIONS, ACTIONS_END = 2, 3, 4, 5, 6, 7
INFORMED = 8  # what the learner observes of a round before it plays: 0, or one of the following
SEES_STRATEGIES, SEES_DRAWS = 1, 2
FEEDBACK = 9
DRAWN = 10  # where in all states the learner wants the action that was drawn for it, or -1
MATRIX = 11  # where the player's matrix begins in the counterfactual sums
COLUMNS = 12

# Columns of the table of observers: an address, and the part of all observers' totals.
OBSERVER, TOTAL, TOTAL_END = 0, 1, 2


# Phases of a round that only some simulations need, or only once per block: compiled when a simulation needs them. The
# last is the kernel that adds products.
INFORM, DRAW, PERCEIVE, TAKE_TURNS, ADD_DRAWS, ADD_BLOCK, PRODUCT, PHASES = range(8)


def block_length(sizes: Sequence[int]) -> int:
    """Return the number of rounds in a block, a power of two, for these numbers of actions."""
    return BLOCK if sum(sizes) <= MANY_ACTIONS else SMALL_BLOCK


class Setup(NamedTuple):
    """Hold what is the same in every round and every replica."""

    plan: NDArray[np.int64]
    settings: Vector
    game: int
    stages: Integers  # addresses of the stages of the game's kernel, for several threads
    integers: Integers
    data: Vector
    feedback: int  # of all players; if they differ, one under which actions are drawn
    differs: int  # 1 if some players observe expected losses although actions are drawn
    alternating: int  # 1 if players move one after the other
    delay: int  # in rounds
    timed: int  # 1 if the game reads the round from the first entry of its scratch array
    plain: int  # 1 if learners observe the losses of each round as they are
    informed: int  # 1 if a learner observes its losses before it plays
    last_row: int  # of a block, whose length is a power of two: round & last_row is the row of a round
    observers: NDArray[np.int64]
    phases: Integers  # addresses, 0 for those that are not needed


class Track(NamedTuple):
    """Hold the arrays of one replica. Arrays over actions concatenate the actions of all players."""

    state: Vector
    scratch: Vector
    starts: Vector  # the given strategies of the first round, NaN for the learner's own
    strategies: NDArray[np.float64]  # of the current block, one row per round, and of the round before it
    losses: NDArray[np.float64]
    drawn: Integers  # the actions drawn in this round
    profile: Vector  # the drawn actions as strategies
    seen: Vector
    pending: NDArray[np.float64]  # losses that are not observed yet, one row per round of delay
    sums: Sums
    left: NDArray[np.float64]  # rows of the joint distribution: products of strategies of the first half of the players
    right: NDArray[np.float64]  # and its columns, for the second half
    work: Work
    kept: Kept  # the trajectory


@inlined
def call_player(setup: Setup, track: Track, player: int, which: int, vector: Vector) -> None:
    """Call a player's kernel with its part of the settings, the state and a vector over all actions."""
    plan = setup.plan
    call_learner(
        plan[player, which],
        part(setup.settings, plan[player, SETTINGS], plan[player, SETTINGS_END]),
        part(track.state, plan[player, STATE], plan[player, STATE_END]),
        part(vector, plan[player, ACTIONS], plan[player, ACTIONS_END]),
    )


@inlined
def row_of(setup: Setup, rows: NDArray[np.float64], round: int) -> Vector:
    """Return the row of a round in the current block."""
    row: Vector = row_part(rows, round & setup.last_row, 0, rows.shape[1])
    return row


@inlined
def play(setup: Setup, track: Track, round: int) -> None:
    """Write the strategies of all compiled learners that are not informed."""
    strategies = row_of(setup, track.strategies, round)
    for player in range(setup.plan.shape[0]):
        if setup.plan[player, PLAY] != 0 and setup.plan[player, INFORMED] == 0:
            call_player(setup, track, player, PLAY, strategies)


@inlined
def _evaluate(setup: Setup, track: Track, round: int, profile: Vector, losses: Vector) -> None:
    """Write the losses of all actions against a profile."""
    if setup.timed == 1:
        track.scratch[0] = round
    call_game(setup.game, setup.integers, setup.data, track.scratch, profile, losses)


@phase
def _draw(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Draw the players' actions from their strategies."""
    profile = row_of(setup, track.strategies, round)
    for i in range(profile.size):
        track.profile[i] = 0.0
    for player in range(setup.plan.shape[0]):
        first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
        action, mass = first, profile[first]
        while mass <= uniforms[player] and action < end - 1:
            action += 1
            mass += profile[action]
        while profile[action] == 0.0 and action > first:
            action -= 1  # rounding may put the uniform beyond the last action in the support
        track.profile[action] = 1.0
        track.drawn[player] = action - first


@inlined
def _ask(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Compute the losses against the strategies, or against actions drawn from them."""
    strategies, losses = row_of(setup, track.strategies, round), row_of(setup, track.losses, round)
    if setup.feedback == EXPECTED:
        _evaluate(setup, track, round, strategies, losses)
    else:
        call_phase(setup.phases[DRAW], setup, track, round, uniforms)
        _evaluate(setup, track, round, track.profile, losses)


@phase
def _inform(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Let the informed learner observe its losses against the strategies, or the drawn actions, and play."""
    strategies, losses = row_of(setup, track.strategies, round), row_of(setup, track.losses, round)
    for player in range(setup.plan.shape[0]):
        sees = setup.plan[player, INFORMED]
        if sees != 0:
            first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
            for i in range(first, end):  # its losses do not depend on its own strategy, so any will do at first
                strategies[i] = 1.0 / (end - first)
            if sees == SEES_DRAWS:
                _ask(setup, track, round, uniforms)
            else:
                _evaluate(setup, track, round, strategies, losses)
            call_player(setup, track, player, OBSERVE, losses)
            call_player(setup, track, player, PLAY, strategies)


@inlined
def start(setup: Setup, track: Track, round: int) -> None:
    """Write the given strategies of the first round."""
    if round == 0:
        strategies = row_of(setup, track.strategies, round)
        for i in range(strategies.size):
            if not np.isnan(track.starts[i]):
                strategies[i] = track.starts[i]


@inlined
def answer(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Compute the losses of this round; an informed learner observes its losses first and then plays."""
    start(setup, track, round)
    if setup.informed == 1:
        call_phase(setup.phases[INFORM], setup, track, round, uniforms)
    _ask(setup, track, round, uniforms)


@phase
def _perceive_otherwise(setup: Setup, track: Track, round: int, noise: Vector) -> None:
    """Write what the learners observe if this is not the losses of the round as they are."""
    losses = row_of(setup, track.losses, round)
    if setup.differs == 0:
        for i in range(losses.size):
            track.seen[i] = losses[i] if setup.feedback != BANDIT or track.profile[i] == 1.0 else np.nan
    else:
        _perceive_differently(setup, track, round)
    for i in range(noise.size):
        track.seen[i] += noise[i]
    if setup.delay > 0:
        row = round % setup.delay
        for i in range(losses.size):
            track.seen[i], track.pending[row, i] = track.pending[row, i], track.seen[i]


@inlined
def _perceive_differently(setup: Setup, track: Track, round: int) -> None:
    """Write what learners with different feedback observe."""
    losses = row_of(setup, track.losses, round)
    _evaluate(setup, track, round, row_of(setup, track.strategies, round), track.seen)
    for player in range(setup.plan.shape[0]):
        feedback = setup.plan[player, FEEDBACK]
        for i in range(setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]):
            if feedback != EXPECTED:
                track.seen[i] = losses[i] if feedback == SAMPLED or track.profile[i] == 1.0 else np.nan


@inlined
def perceive(setup: Setup, track: Track, round: int, noise: Vector) -> bool:
    """Prepare what the learners observe of this round, or of an earlier one; return whether they observe anything."""
    for player in range(setup.plan.shape[0]):
        if setup.plan[player, DRAWN] >= 0:
            track.state[setup.plan[player, DRAWN]] = track.drawn[player]
    if setup.plain == 0:
        call_phase(setup.phases[PERCEIVE], setup, track, round, noise)
    return round >= setup.delay


@inlined
def seen(setup: Setup, track: Track, round: int) -> Vector:
    """Return what the learners observe, after `perceive`."""
    return row_of(setup, track.losses, round) if setup.plain == 1 else part(track.seen, 0, track.seen.size)


@inlined
def observe(setup: Setup, track: Track, round: int) -> None:
    """Pass each learner what it observes."""
    losses = seen(setup, track, round)
    for player in range(setup.plan.shape[0]):
        if setup.plan[player, OBSERVE] != 0 and setup.plan[player, INFORMED] == 0:
            call_player(setup, track, player, OBSERVE, losses)


@inlined
def move(setup: Setup, track: Track, round: int, player: int) -> None:
    """Let one player observe the losses against the current strategies in `profile`, and play its next one there."""
    if player == 0:
        strategies = row_of(setup, track.strategies, round)
        for i in range(track.profile.size):
            track.profile[i] = strategies[i]
    _evaluate(setup, track, round, track.profile, track.seen)
    if setup.plan[player, OBSERVE] != 0:
        call_player(setup, track, player, OBSERVE, track.seen)
        call_player(setup, track, player, PLAY, track.profile)


@phase
def _take_turns(setup: Setup, track: Track, round: int, players: int) -> None:
    """Let all players move, one after the other."""
    for player in range(players):
        move(setup, track, round, player)


@inlined
def _multiply_out(
    strategies: NDArray[np.float64],
    first: int,
    rows: int,
    plan: NDArray[np.int64],
    player: int,
    end: int,
    product: NDArray[np.float64],
) -> None:
    """Write the probabilities of all action profiles of the players player..end-1, the last player fastest."""
    for t in range(rows):
        product[t, 0] = 1.0
        length = 1
        for one in range(player, end):
            at, size = plan[one, ACTIONS], plan[one, ACTIONS_END] - plan[one, ACTIONS]
            for k in range(length - 1, -1, -1):  # backwards, so that nothing is overwritten before it is read
                weight = product[t, k]
                for action in range(size):
                    product[t, k * size + action] = weight * strategies[first + t, at + action]
            length *= size


@inlined
def _add_joint(setup: Setup, track: Track, rows: int) -> None:
    """Add the products of the strategies in the first rows of the block to the joint distribution."""
    plan, strategies, joint, product = setup.plan, track.strategies, track.sums.joint, setup.phases[PRODUCT]
    players = plan.shape[0]
    if players == 2:
        height, width = plan[0, ACTIONS_END], plan[1, ACTIONS_END] - plan[1, ACTIONS]
        entries, actions = flat(strategies), strategies.shape[1]
        call_product(product, entries, 0, actions, entries, height, actions, rows, joint, 0, height, width, track.work)
        return
    left, right = track.left, track.right
    for first in range(0, rows, left.shape[0]):
        count = min(rows - first, left.shape[0])
        _multiply_out(strategies, first, count, plan, 0, players // 2, left)
        _multiply_out(strategies, first, count, plan, players // 2, players, right)
        height, width = left.shape[1], right.shape[1]
        call_product(product, flat(left), 0, height, flat(right), 0, width, count, joint, 0, height, width, track.work)


@inlined
def _distance(one: Vector, other: Vector) -> float:
    """Return the sum of absolute differences, with eight independent accumulators."""
    a = b = c = d = e = f = g = h = 0.0
    whole = one.size & ~7
    for i in range(0, whole, 8):
        a += abs(one[i] - other[i])
        b += abs(one[i + 1] - other[i + 1])
        c += abs(one[i + 2] - other[i + 2])
        d += abs(one[i + 3] - other[i + 3])
        e += abs(one[i + 4] - other[i + 4])
        f += abs(one[i + 5] - other[i + 5])
        g += abs(one[i + 6] - other[i + 6])
        h += abs(one[i + 7] - other[i + 7])
    for i in range(whole, one.size):
        a += abs(one[i] - other[i])
    return ((a + e) + (b + f)) + ((c + g) + (d + h))


@inlined
def _add_steps(
    setup: Setup, track: Track, first: int, rows: int, path: Vector, first_player: int, end_player: int
) -> None:
    """Add the distances between the strategies of consecutive rounds; the last row is the round before the block."""
    for player in range(first_player, end_player):
        start, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
        for t in range(1 if first == 0 else 0, rows):
            now = row_part(track.strategies, t, start, end)
            before = row_part(track.strategies, t - 1 if t > 0 else setup.last_row + 1, start, end)
            path[player] += _distance(now, before)


@inlined
def add_block_of(setup: Setup, track: Track, first: int, rows: int, player: int, end_player: int) -> None:
    """Add the first rows of the block that begins with round `first` to the sums of strategies of some players."""
    strategies, plan, sums = track.strategies, setup.plan, track.sums
    matrices = sums.counterfactuals if setup.feedback == EXPECTED else sums.strategy_counterfactuals
    if matrices.size > 0:
        product, mine, losses = setup.phases[PRODUCT], flat(strategies), flat(track.losses)
        actions, work = strategies.shape[1], track.work
        for one in range(player, end_player):
            start, size, to = plan[one, ACTIONS], plan[one, ACTIONS_END] - plan[one, ACTIONS], plan[one, MATRIX]
            call_product(product, mine, start, actions, losses, start, actions, rows, matrices, to, size, size, work)
    _add_steps(setup, track, first, rows, sums.path, player, end_player)
    if setup.feedback == EXPECTED:
        start, end = plan[player, ACTIONS], plan[end_player - 1, ACTIONS_END]
        for t in range(rows):
            row = row_part(strategies, t, 0, strategies.shape[1])
            for i in range(start, end):
                sums.average[i] += row[i]


@phase
def _add_block(setup: Setup, track: Track, first: int, rows: int) -> None:
    """Add the first rows of the block that begins with round `first` to the sums of strategies.

    These are all sums, unless actions are drawn.
    """
    add_block_of(setup, track, first, rows, 0, setup.plan.shape[0])
    if setup.feedback == EXPECTED and track.sums.joint.size > 0:
        _add_joint(setup, track, rows)


@phase
def _add_draws(setup: Setup, track: Track, round: int, losses: Vector) -> None:
    """Add the drawn actions of this round to the sums."""
    at, cell = 0, 0
    for player in range(setup.plan.shape[0]):
        first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
        size, action = end - first, track.drawn[player]
        track.sums.average[first + action] += 1.0
        if track.sums.counterfactuals.size > 0:
            for j in range(size):
                track.sums.counterfactuals[at + action * size + j] += losses[first + j]
        at += size * size
        cell = cell * size + action
    if track.sums.joint.size > 0:
        track.sums.joint[cell] += 1.0


@inlined
def tally(setup: Setup, track: Track, round: int) -> None:
    """Add the round to the sums and the trajectory."""
    strategies = row_of(setup, track.strategies, round)
    keep(track.kept, round, strategies)
    if setup.feedback != EXPECTED:
        call_phase(setup.phases[ADD_DRAWS], setup, track, round, row_of(setup, track.losses, round))
    if round & setup.last_row == setup.last_row:
        call_phase(setup.phases[ADD_BLOCK], setup, track, round - setup.last_row, setup.last_row + 1)
        for i in range(strategies.size):
            track.strategies[setup.last_row + 1, i] = strategies[i]


@inlined
def watch(setup: Setup, track: Track, round: int) -> None:
    """Let the compiled observers add this round to their totals."""
    table = setup.observers
    for k in range(table.shape[0]):
        if table[k, OBSERVER] != 0:
            total = part(track.sums.observed, table[k, TOTAL], table[k, TOTAL_END])
            strategies, losses = row_of(setup, track.strategies, round), row_of(setup, track.losses, round)
            call_observer(table[k, OBSERVER], total, round, strategies, losses)


@inlined
def _copy_sums(setup: Setup, track: Track, rounds: int, kept: Sums, row: int) -> None:
    """Write the sums after `rounds` rounds, with the incomplete block, into a row of each array of `kept`."""
    sums, incomplete = track.sums, rounds & setup.last_row
    last = row_of(setup, track.strategies, rounds - 1)
    for i in range(last.size):
        sums.last[i] = last[i]
    for k in range(len(sums)):
        for i in range(sums[k].size):
            kept[k][row, i] = sums[k][i]
    if incomplete > 0:  # the block is added to the sums themselves, which then change places with the copy
        call_phase(setup.phases[ADD_BLOCK], setup, track, rounds - incomplete, incomplete)
        for k in range(len(sums)):
            for i in range(sums[k].size):
                sums[k][i], kept[k][row, i] = kept[k][row, i], sums[k][i]


@kernel
def advance(
    setup: Setup,
    track: Track,
    first: int,
    ends: Integers,
    uniforms: NDArray[np.float64],
    noise: NDArray[np.float64],
    kept: Sums,
) -> None:
    """Play from round `first` up to each of the rounds `ends` in turn; row k of `kept` gets the sums after the k-th.

    If actions are drawn, `uniforms` has one row per round, and `noise` has one if losses are noisy. The arrays of
    `kept` may have fewer rows than there are ends, possibly none.
    """
    setup, track = placed(setup), placed(track)
    begin = first
    for k in range(ends.size):
        for round in range(begin, ends[k]):
            row = row_part(uniforms, (round - first) % uniforms.shape[0], 0, uniforms.shape[1])
            play(setup, track, round)
            answer(setup, track, round, row)
            if setup.alternating == 1:
                call_phase(setup.phases[TAKE_TURNS], setup, track, round, setup.plan.shape[0])
            elif perceive(setup, track, round, row_part(noise, (round - first) % noise.shape[0], 0, noise.shape[1])):
                observe(setup, track, round)
            tally(setup, track, round)
            watch(setup, track, round)
        begin = ends[k]
        if k < kept.average.shape[0]:
            _copy_sums(setup, track, begin, kept, k)


def prepare_phases(setup: Setup, track: Track) -> None:
    """Write the addresses of the phases that the simulation needs, which are compiled if need be."""
    draws, numbers = setup.feedback != EXPECTED, np.zeros(0)
    needed: dict[int, tuple[Callable[..., None], Vector | int, bool]] = {
        INFORM: (_inform, numbers, setup.informed == 1),
        DRAW: (_draw, numbers, draws),
        PERCEIVE: (_perceive_otherwise, numbers, setup.plain == 0),
        TAKE_TURNS: (_take_turns, 0, setup.alternating == 1),
        ADD_DRAWS: (_add_draws, numbers, draws),
        ADD_BLOCK: (_add_block, 0, True),
    }
    widths = setup.plan[:, ACTIONS_END] - setup.plan[:, ACTIONS]
    setup.phases[PRODUCT] = product_address(max(*widths, track.left.shape[1], track.right.shape[1]))
    for number, (function, given, wanted) in needed.items():
        if wanted:
            setup.phases[number] = phase_address(function, setup, track, given)
