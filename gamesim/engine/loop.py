"""The compiled loop over rounds (play, answer, observe, tally), for any game and any learners.

A round takes microseconds, so the loop neither allocates nor calls Python. It calls the kernels of the learners and of
the game by address. Each phase of a round is a separate function, because learners written in Python run between the
phases. The results are the same, only slower.

Sums over rounds are accumulated in blocks that start at multiples of BLOCK, so that a record does not depend on how a
run was split, bit for bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import (
    Integers,
    Vector,
    call_game,
    call_learner,
    call_observer,
    inlined,
    kernel,
    part,
    row_part,
)
from gamesim.engine.sums import Sums
from gamesim.engine.trajectory import Kept, keep

BLOCK = 8
EXPECTED, SAMPLED, BANDIT = 0, 1, 2

# Columns of the plan, which has one row per player.
PLAY, OBSERVE = 0, 1  # addresses; 0 for a learner written in Python
SETTINGS, SETTINGS_END, STATE, STATE_END, ACTIONS, ACTIONS_END = 2, 3, 4, 5, 6, 7
INFORMED = 8  # what the learner observes of a round before it plays: 0, or one of the following
SEES_STRATEGIES, SEES_DRAWS = 1, 2
FEEDBACK = 9
DRAWN = 10  # where in all states the learner wants the action that was drawn for it, or -1
COLUMNS = 11

# Columns of the table of observers: an address, and the part of all observers' totals.
OBSERVER, TOTAL, TOTAL_END = 0, 1, 2


class Setup(NamedTuple):
    """Hold what is the same in every round and every replica."""

    plan: NDArray[np.int64]
    settings: Vector
    game: int
    integers: Integers
    data: Vector
    feedback: int  # of all players; if they differ, one under which actions are drawn
    differs: int  # 1 if some players observe expected losses although actions are drawn
    alternating: int  # 1 if players move one after the other
    delay: int  # in rounds
    timed: int  # 1 if the game reads the round from the first entry of its scratch array
    observers: NDArray[np.int64]


class Track(NamedTuple):
    """Hold the arrays of one replica. Arrays over actions concatenate the actions of all players."""

    state: Vector
    scratch: Vector
    starts: Vector  # the given strategies of the first round, NaN for the learner's own
    strategies: NDArray[np.float64]  # of the current block, one row per round
    losses: NDArray[np.float64]
    drawn: Integers  # the actions drawn in this round
    profile: Vector  # the drawn actions as strategies
    seen: Vector
    pending: NDArray[np.float64]  # losses that are not observed yet, one row per round of delay
    sums: Sums
    left: NDArray[np.float64]  # rows of the joint distribution: products of strategies of the first half of the players
    right: NDArray[np.float64]  # and its columns, for the second half
    kept: Kept  # the trajectory


@inlined
def _call(setup: Setup, track: Track, player: int, which: int, vector: Vector) -> None:
    """Call a player's kernel with its part of the settings, the state and a vector over all actions."""
    plan = setup.plan
    call_learner(
        plan[player, which],
        part(setup.settings, plan[player, SETTINGS], plan[player, SETTINGS_END]),
        part(track.state, plan[player, STATE], plan[player, STATE_END]),
        part(vector, plan[player, ACTIONS], plan[player, ACTIONS_END]),
    )


@inlined
def play(setup: Setup, track: Track, round: int) -> None:
    """Write the strategies of all compiled learners that are not informed."""
    for player in range(setup.plan.shape[0]):
        if setup.plan[player, PLAY] != 0 and setup.plan[player, INFORMED] == 0:
            _call(setup, track, player, PLAY, track.strategies[round % BLOCK])


@inlined
def _evaluate(setup: Setup, track: Track, round: int, profile: Vector, losses: Vector) -> None:
    """Write the losses of all actions against a profile."""
    if setup.timed == 1:
        track.scratch[0] = round
    call_game(setup.game, setup.integers, setup.data, track.scratch, profile, losses)


@inlined
def _ask(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Compute the losses against the strategies, or against actions drawn from them."""
    profile = track.strategies[round % BLOCK]
    if setup.feedback != EXPECTED:
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
        profile = track.profile
    _evaluate(setup, track, round, profile, track.losses[round % BLOCK])


@kernel
def _inform(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Let the informed learner observe its losses against the strategies, or the drawn actions, and play."""
    for player in range(setup.plan.shape[0]):
        sees = setup.plan[player, INFORMED]
        if sees != 0:
            if sees == SEES_DRAWS:
                _ask(setup, track, round, uniforms)
            else:
                _evaluate(setup, track, round, track.strategies[round % BLOCK], track.losses[round % BLOCK])
            _call(setup, track, player, OBSERVE, track.losses[round % BLOCK])
            _call(setup, track, player, PLAY, track.strategies[round % BLOCK])


@inlined
def answer(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Compute the losses of this round; an informed learner observes its losses first and then plays."""
    strategies = track.strategies[round % BLOCK]
    if round == 0:
        for i in range(strategies.size):
            if not np.isnan(track.starts[i]):
                strategies[i] = track.starts[i]
    informed = 0
    for player in range(setup.plan.shape[0]):
        informed += setup.plan[player, INFORMED]
        if setup.plan[player, INFORMED] != 0:  # its losses do not depend on its own strategy, so any will do at first
            first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
            for i in range(first, end):
                strategies[i] = 1.0 / (end - first)
    if informed > 0:
        _inform(setup, track, round, uniforms)
    _ask(setup, track, round, uniforms)


@inlined
def perceive(setup: Setup, track: Track, round: int, noise: Vector) -> bool:
    """Write what the learners observe of this round, or of an earlier one; return whether they observe anything."""
    plan, losses = setup.plan, track.losses[round % BLOCK]
    if setup.differs == 0:
        for i in range(losses.size):
            track.seen[i] = losses[i] if setup.feedback != BANDIT or track.profile[i] == 1.0 else np.nan
    else:
        _perceive_differently(setup, track, round)
    for i in range(noise.size):
        track.seen[i] += noise[i]
    for player in range(plan.shape[0]):
        if plan[player, DRAWN] >= 0:
            track.state[plan[player, DRAWN]] = track.drawn[player]
    if setup.delay > 0:
        row = round % setup.delay
        for i in range(losses.size):
            track.seen[i], track.pending[row, i] = track.pending[row, i], track.seen[i]
    return round >= setup.delay


@kernel
def _perceive_differently(setup: Setup, track: Track, round: int) -> None:
    """Write what learners with different feedback observe."""
    losses = track.losses[round % BLOCK]
    _evaluate(setup, track, round, track.strategies[round % BLOCK], track.seen)
    for player in range(setup.plan.shape[0]):
        feedback = setup.plan[player, FEEDBACK]
        for i in range(setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]):
            if feedback != EXPECTED:
                track.seen[i] = losses[i] if feedback == SAMPLED or track.profile[i] == 1.0 else np.nan


@inlined
def observe(setup: Setup, track: Track) -> None:
    """Pass each learner what `perceive` wrote."""
    for player in range(setup.plan.shape[0]):
        if setup.plan[player, OBSERVE] != 0 and setup.plan[player, INFORMED] == 0:
            _call(setup, track, player, OBSERVE, track.seen)


@inlined
def move(setup: Setup, track: Track, round: int, player: int) -> None:
    """Let one player observe the losses against the current strategies in `profile`, and play its next one there."""
    if player == 0:
        for i in range(track.profile.size):
            track.profile[i] = track.strategies[round % BLOCK, i]
    _evaluate(setup, track, round, track.profile, track.seen)
    if setup.plan[player, OBSERVE] != 0:
        _call(setup, track, player, OBSERVE, track.seen)
        _call(setup, track, player, PLAY, track.profile)


@kernel
def _move_in_turn(setup: Setup, track: Track, round: int) -> None:
    for player in range(setup.plan.shape[0]):
        move(setup, track, round, player)


@inlined
def _add_outer(
    left: NDArray[np.float64],
    first: int,
    right: NDArray[np.float64],
    second: int,
    rows: int,
    total: Vector,
    at: int,
    height: int,
    width: int,
) -> None:
    """Add Σ_t left[t, first:] ⊗ right[t, second:] to the matrix at total[at:], a full block at once."""
    end = second + width
    r0, r1 = row_part(right, 0, second, end), row_part(right, 1, second, end)
    r2, r3 = row_part(right, 2, second, end), row_part(right, 3, second, end)
    r4, r5 = row_part(right, 4, second, end), row_part(right, 5, second, end)
    r6, r7 = row_part(right, 6, second, end), row_part(right, 7, second, end)
    for i in range(height):
        target = part(total, at + i * width, at + (i + 1) * width)
        if rows == BLOCK:
            a, b, c, d = left[0, first + i], left[1, first + i], left[2, first + i], left[3, first + i]
            e, f, g, h = left[4, first + i], left[5, first + i], left[6, first + i], left[7, first + i]
            if a + b + c + d + e + f + g + h != 0.0:
                for j in range(width):
                    target[j] += ((a * r0[j] + b * r1[j]) + (c * r2[j] + d * r3[j])) + (
                        (e * r4[j] + f * r5[j]) + (g * r6[j] + h * r7[j])
                    )
        else:
            for t in range(rows):
                weight = left[t, first + i]
                for j in range(width):
                    target[j] += weight * right[t, second + j]


@inlined
def _multiply_out(
    strategies: NDArray[np.float64],
    rows: int,
    plan: NDArray[np.int64],
    first: int,
    end: int,
    product: NDArray[np.float64],
) -> None:
    """Write the probabilities of all action profiles of the players first..end-1, the last player fastest."""
    for t in range(rows):
        product[t, 0] = 1.0
        length = 1
        for player in range(first, end):
            at, size = plan[player, ACTIONS], plan[player, ACTIONS_END] - plan[player, ACTIONS]
            for k in range(length - 1, -1, -1):  # backwards, so that nothing is overwritten before it is read
                weight = product[t, k]
                for action in range(size):
                    product[t, k * size + action] = weight * strategies[t, at + action]
            length *= size


@kernel
def add_block(setup: Setup, track: Track, rows: int, sums: Sums) -> None:
    """Add the first rows of the current block to the sums of strategies: to all sums, unless actions are drawn."""
    strategies, losses, plan = track.strategies, track.losses, setup.plan
    average, joint = sums.average, sums.joint
    counterfactuals = sums.counterfactuals if setup.feedback == EXPECTED else sums.strategy_counterfactuals
    at = 0
    for player in range(plan.shape[0]):
        first, size = plan[player, ACTIONS], plan[player, ACTIONS_END] - plan[player, ACTIONS]
        _add_outer(strategies, first, losses, first, rows, counterfactuals, at, size, size)
        at += size * size
    if setup.feedback != EXPECTED:
        return
    for t in range(rows):
        for i in range(average.size):
            average[i] += strategies[t, i]
    if joint.size > 0:
        players = plan.shape[0]
        _multiply_out(strategies, rows, plan, 0, players // 2, track.left)
        _multiply_out(strategies, rows, plan, players // 2, players, track.right)
        _add_outer(track.left, 0, track.right, 0, rows, joint, 0, track.left.shape[1], track.right.shape[1])


@inlined
def _add_steps(setup: Setup, track: Track, round: int) -> None:
    """Add the distance between the strategies of this round and of the previous one, which is still in the block."""
    now, before = track.strategies[round % BLOCK], track.strategies[(round - 1) % BLOCK]
    for player in range(setup.plan.shape[0]):
        step = 0.0
        for i in range(setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]):
            step += abs(now[i] - before[i])
        track.sums.path[player] += step


@inlined
def tally(setup: Setup, track: Track, round: int) -> None:
    """Add the round to the sums and the trajectory."""
    if round > 0:
        _add_steps(setup, track, round)
    rows = round % BLOCK + 1
    if rows == BLOCK:
        add_block(setup, track, rows, track.sums)
    if setup.feedback != EXPECTED:
        at, cell = 0, 0
        for player in range(setup.plan.shape[0]):
            first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
            size, action = end - first, track.drawn[player]
            track.sums.average[first + action] += 1.0
            for j in range(size):
                track.sums.counterfactuals[at + action * size + j] += track.losses[round % BLOCK, first + j]
            at += size * size
            cell = cell * size + action
        if track.sums.joint.size > 0:
            track.sums.joint[cell] += 1.0
    keep(track.kept, round, track.strategies[round % BLOCK])


@inlined
def watch(setup: Setup, track: Track, round: int) -> None:
    """Let the compiled observers add this round to their totals."""
    table = setup.observers
    for k in range(table.shape[0]):
        if table[k, OBSERVER] != 0:
            total = part(track.sums.observed, table[k, TOTAL], table[k, TOTAL_END])
            call_observer(
                table[k, OBSERVER], total, round, track.strategies[round % BLOCK], track.losses[round % BLOCK]
            )


@kernel
def advance(
    setup: Setup,
    track: Track,
    first: int,
    rounds: int,
    uniforms: NDArray[np.float64],
    noise: NDArray[np.float64],
) -> None:
    """Run `rounds` rounds from round `first` on.

    If actions are drawn, `uniforms` has one row per round, and `noise` has one if losses are noisy.
    """
    for round in range(first, first + rounds):
        row = uniforms[(round - first) % uniforms.shape[0]]
        play(setup, track, round)
        answer(setup, track, round, row)
        if setup.alternating == 1:
            _move_in_turn(setup, track, round)
        elif perceive(setup, track, round, noise[(round - first) % noise.shape[0]]):
            observe(setup, track)
        tally(setup, track, round)
        watch(setup, track, round)
