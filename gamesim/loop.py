"""The one compiled loop: play, answer, observe, tally, round after round, for any game and any mix of learners.

A round is microseconds of work, so nothing here allocates and nothing calls Python. Learners and the game are called by
address. The phases of a round are functions of their own, because a learner written in Python plays in between them:
the numbers are then the same, only slower.

Sums over rounds are taken in blocks that start at multiples of BLOCK, whatever pieces the rounds are run in, so that no
bit of a record depends on where a run was cut.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.compiled import Integers, Vector, call_game, call_learner, kernel

BLOCK = 8
EXPECTED, SAMPLED, BANDIT = 0, 1, 2

# Columns of the plan, which has a row for each player.
PLAY, OBSERVE = 0, 1  # addresses; 0 for a learner written in Python
SETTINGS, SETTINGS_END, STATE, STATE_END, ACTIONS, ACTIONS_END = 2, 3, 4, 5, 6, 7
INFORMED = 8


class Setup(NamedTuple):
    """What is the same in every round and every replica."""

    plan: NDArray[np.int64]
    settings: Vector
    game: int
    integers: Integers
    data: Vector
    feedback: int


class Track(NamedTuple):
    """One replica: what the rounds read and write. Arrays over actions hold all players' actions side by side."""

    state: Vector
    scratch: Vector
    starts: Vector  # the first round's strategies where they are given, NaN where the learner's own count
    strategies: NDArray[np.float64]  # of the current block: a row a round
    losses: NDArray[np.float64]
    drawn: Integers  # the actions drawn in this round
    profile: Vector  # what the game answers: the strategies, or the drawn actions as strategies
    seen: Vector
    average: Vector  # Σ strategies (or counts of drawn actions)
    counterfactuals: Vector  # Σ p ⊗ l, player after player: what the mass of action i would have lost at action j
    joint: Vector  # Σ of the product of strategies (or counts of drawn profiles); empty if it would not fit
    left: NDArray[np.float64]  # the joint's rows: products of strategies of the first half of the players
    right: NDArray[np.float64]  # and its columns: of the second half
    trajectory: NDArray[np.float64]
    stride: Integers  # the trajectory keeps every stride-th round


@kernel
def play(setup: Setup, track: Track, round: int) -> None:
    """Let every compiled learner that is not informed write its strategy."""
    strategies = track.strategies[round % BLOCK]
    for player in range(setup.plan.shape[0]):
        row = setup.plan[player]
        if row[PLAY] != 0 and row[INFORMED] == 0:
            call_learner(
                row[PLAY],
                setup.settings[row[SETTINGS] : row[SETTINGS_END]],
                track.state[row[STATE] : row[STATE_END]],
                strategies[row[ACTIONS] : row[ACTIONS_END]],
            )


@kernel
def _ask(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Put the profile to the game: the strategies themselves, or actions drawn from them."""
    strategies = track.strategies[round % BLOCK]
    if setup.feedback == EXPECTED:
        track.profile[:] = strategies
    else:
        track.profile[:] = 0.0
        for player in range(setup.plan.shape[0]):
            first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
            action, mass = first, strategies[first]
            while mass <= uniforms[player] and action < end - 1:
                action += 1
                mass += strategies[action]
            while strategies[action] == 0.0 and action > first:
                action -= 1  # rounding may leave the uniform beyond the last action that is played
            track.profile[action] = 1.0
            track.drawn[player] = action - first
    call_game(setup.game, setup.integers, setup.data, track.scratch, track.profile, track.losses[round % BLOCK])


@kernel
def answer(setup: Setup, track: Track, round: int, uniforms: Vector) -> None:
    """Fill in the losses of this round; informed players see theirs first and then play."""
    strategies, losses = track.strategies[round % BLOCK], track.losses[round % BLOCK]
    if round == 0:
        for i in range(strategies.size):
            if not np.isnan(track.starts[i]):
                strategies[i] = track.starts[i]
    informed = 0
    for player in range(setup.plan.shape[0]):
        informed += setup.plan[player, INFORMED]
    if informed > 0:
        for player in range(setup.plan.shape[0]):  # the others' losses do not count yet, so any strategy will do
            row = setup.plan[player]
            if row[INFORMED] != 0:
                strategies[row[ACTIONS] : row[ACTIONS_END]] = 1.0 / (row[ACTIONS_END] - row[ACTIONS])
        _ask(setup, track, round, uniforms)
        for player in range(setup.plan.shape[0]):
            row = setup.plan[player]
            if row[INFORMED] != 0:
                settings = setup.settings[row[SETTINGS] : row[SETTINGS_END]]
                state = track.state[row[STATE] : row[STATE_END]]
                call_learner(row[OBSERVE], settings, state, losses[row[ACTIONS] : row[ACTIONS_END]])
                call_learner(row[PLAY], settings, state, strategies[row[ACTIONS] : row[ACTIONS_END]])
    _ask(setup, track, round, uniforms)


@kernel
def observe(setup: Setup, track: Track, round: int) -> None:
    """Tell every learner the loss of each of its actions, or under bandit feedback of the drawn one only."""
    losses = track.losses[round % BLOCK]
    for i in range(losses.size):
        track.seen[i] = losses[i] if setup.feedback != BANDIT or track.profile[i] == 1.0 else np.nan
    for player in range(setup.plan.shape[0]):
        row = setup.plan[player]
        if row[OBSERVE] != 0 and row[INFORMED] == 0:
            call_learner(
                row[OBSERVE],
                setup.settings[row[SETTINGS] : row[SETTINGS_END]],
                track.state[row[STATE] : row[STATE_END]],
                track.seen[row[ACTIONS] : row[ACTIONS_END]],
            )


@kernel
def _add_outer(
    left: NDArray[np.float64],
    first: int,
    right: NDArray[np.float64],
    second: int,
    width: int,
    rows: int,
    total: Vector,
) -> None:
    """Add Σ_t left[t, first:] ⊗ right[t, second:] to a matrix with rows of this width, all rounds of a block at once."""
    for i in range(total.size // width):
        target = total[i * width : (i + 1) * width]
        if rows == BLOCK:
            a, b, c, d = left[0, first + i], left[1, first + i], left[2, first + i], left[3, first + i]
            e, f, g, h = left[4, first + i], left[5, first + i], left[6, first + i], left[7, first + i]
            if a + b + c + d + e + f + g + h == 0.0:
                continue
            for j in range(width):
                k = second + j
                target[j] += (
                    (a * right[0, k] + b * right[1, k]) + (c * right[2, k] + d * right[3, k])
                ) + ((e * right[4, k] + f * right[5, k]) + (g * right[6, k] + h * right[7, k]))
        else:
            for t in range(rows):
                weight = left[t, first + i]
                for j in range(width):
                    target[j] += weight * right[t, second + j]


@kernel
def _multiply_out(strategies: Vector, plan: NDArray[np.int64], first: int, end: int, product: Vector) -> None:
    """Write the probabilities of all action profiles of the players first..end-1, the last one's action fastest."""
    product[0] = 1.0
    length = 1
    for player in range(first, end):
        at, size = plan[player, ACTIONS], plan[player, ACTIONS_END] - plan[player, ACTIONS]
        for k in range(length - 1, -1, -1):  # from the back, so that nothing is overwritten before it is read
            weight = product[k]
            for action in range(size):
                product[k * size + action] = weight * strategies[at + action]
        length *= size


@kernel
def add_block(setup: Setup, track: Track, rows: int, average: Vector, counterfactuals: Vector, joint: Vector) -> None:
    """Add the first rows of the current block to these sums (under sampled feedback they are up to date already)."""
    if setup.feedback != EXPECTED:
        return
    for t in range(rows):
        for i in range(average.size):
            average[i] += track.strategies[t, i]
    at = 0
    for player in range(setup.plan.shape[0]):
        first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
        size = end - first
        total = counterfactuals[at : at + size * size]
        _add_outer(track.strategies, first, track.losses, first, size, rows, total)
        at += size * size
    if joint.size > 0:
        half = setup.plan.shape[0] // 2
        for t in range(rows):
            _multiply_out(track.strategies[t], setup.plan, 0, half, track.left[t])
            _multiply_out(track.strategies[t], setup.plan, half, setup.plan.shape[0], track.right[t])
        _add_outer(track.left, 0, track.right, 0, track.right.shape[1], rows, joint)


@kernel
def tally(setup: Setup, track: Track, round: int) -> None:
    """Enter the round into the sums and the trajectory."""
    if setup.feedback == EXPECTED:
        if round % BLOCK == BLOCK - 1:
            add_block(setup, track, BLOCK, track.average, track.counterfactuals, track.joint)
    else:
        losses = track.losses[round % BLOCK]
        at, cell = 0, 0
        for player in range(setup.plan.shape[0]):
            first, end = setup.plan[player, ACTIONS], setup.plan[player, ACTIONS_END]
            size, action = end - first, track.drawn[player]
            track.average[first + action] += 1.0
            for j in range(size):
                track.counterfactuals[at + action * size + j] += losses[first + j]
            at += size * size
            cell = cell * size + action
        if track.joint.size > 0:
            track.joint[cell] += 1.0

    capacity = track.trajectory.shape[0]
    if round == capacity * track.stride[0]:  # full: keep every other round from here on
        for k in range(capacity // 2):
            track.trajectory[k] = track.trajectory[2 * k]
        track.stride[0] *= 2
    if round % track.stride[0] == 0:
        track.trajectory[round // track.stride[0]] = track.strategies[round % BLOCK]


@kernel
def advance(setup: Setup, track: Track, first: int, rounds: int, uniforms: NDArray[np.float64]) -> None:
    """Run this many rounds from round `first` on; `uniforms` has a row a round under sampled feedback."""
    for round in range(first, first + rounds):
        row = uniforms[(round - first) % uniforms.shape[0]]
        play(setup, track, round)
        answer(setup, track, round, row)
        observe(setup, track, round)
        tally(setup, track, round)
