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

from gamesim.engine.compiled import Integers, Vector, call_game, call_learner, inlined, kernel, part, row_part
from gamesim.engine.sums import Sums

BLOCK = 8
EXPECTED, SAMPLED, BANDIT = 0, 1, 2

# Columns of the plan, which has one row per player.
PLAY, OBSERVE = 0, 1  # addresses; 0 for a learner written in Python
SETTINGS, SETTINGS_END, STATE, STATE_END, ACTIONS, ACTIONS_END = 2, 3, 4, 5, 6, 7
INFORMED = 8
COLUMNS = 9


class Setup(NamedTuple):
    """Hold what is the same in every round and every replica."""

    plan: NDArray[np.int64]
    settings: Vector
    game: int
    integers: Integers
    data: Vector
    feedback: int


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
    sums: Sums
    left: NDArray[np.float64]  # rows of the joint distribution: products of strategies of the first half of the players
    right: NDArray[np.float64]  # and its columns, for the second half
    trajectory: NDArray[np.float64]
    stride: Integers  # the trajectory keeps every stride-th round


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
    call_game(setup.game, setup.integers, setup.data, track.scratch, profile, track.losses[round % BLOCK])


@kernel
def _inform(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Let the informed learners observe their losses and play, and compute the losses again."""
    for player in range(setup.plan.shape[0]):
        if setup.plan[player, INFORMED] != 0:
            _call(setup, track, player, OBSERVE, track.losses[round % BLOCK])
            _call(setup, track, player, PLAY, track.strategies[round % BLOCK])
    _ask(setup, track, round, uniforms)


@inlined
def answer(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Compute the losses of this round; informed learners observe theirs first and then play."""
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
    _ask(setup, track, round, uniforms)
    if informed > 0:
        _inform(setup, track, round, uniforms)


@inlined
def observe(setup: Setup, track: Track, round: int) -> None:
    """Pass each learner the losses of its actions, or under bandit feedback of the drawn action only."""
    losses = track.losses[round % BLOCK]
    for i in range(losses.size):
        track.seen[i] = losses[i] if setup.feedback != BANDIT or track.profile[i] == 1.0 else np.nan
    for player in range(setup.plan.shape[0]):
        if setup.plan[player, OBSERVE] != 0 and setup.plan[player, INFORMED] == 0:
            _call(setup, track, player, OBSERVE, track.seen)


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
    """Add the first rows of the current block to the sums; sampled feedback needs no such step."""
    if setup.feedback != EXPECTED:
        return
    strategies, losses, plan = track.strategies, track.losses, setup.plan
    average, counterfactuals, joint = sums.average, sums.counterfactuals, sums.joint
    for t in range(rows):
        for i in range(average.size):
            average[i] += strategies[t, i]
    at = 0
    for player in range(plan.shape[0]):
        first, size = plan[player, ACTIONS], plan[player, ACTIONS_END] - plan[player, ACTIONS]
        _add_outer(strategies, first, losses, first, rows, counterfactuals, at, size, size)
        at += size * size
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
    if setup.feedback == EXPECTED:
        rows = round % BLOCK + 1
        if rows == BLOCK:
            add_block(setup, track, rows, track.sums)
    else:
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

    capacity = track.trajectory.shape[0]
    if round == capacity * track.stride[0]:  # full: keep every other round from now on
        for k in range(capacity // 2):
            for i in range(track.sums.average.size):
                track.trajectory[k, i] = track.trajectory[2 * k, i]
        track.stride[0] *= 2
    if round % track.stride[0] == 0:
        for i in range(track.sums.average.size):
            track.trajectory[round // track.stride[0], i] = track.strategies[round % BLOCK, i]


@kernel
def advance(setup: Setup, track: Track, first: int, rounds: int, uniforms: NDArray[np.float64]) -> None:
    """Run `rounds` rounds from round `first` on; with sampled feedback `uniforms` has one row per round."""
    for round in range(first, first + rounds):
        row = uniforms[(round - first) % uniforms.shape[0]]
        play(setup, track, round)
        answer(setup, track, round, row)
        observe(setup, track, round)
        tally(setup, track, round)
