"""Compiled drivers that run a learner against random losses.

Both settings use the same adversary. Each round has a context i; the loss of action j is ±1 with mean `means[i, j]`.

In the *game*, the context is an action sampled from the strategy p of the learner, which observes the losses. The
regret against φ is Σ <p, l> - <pφ, l>. The adversary sees p, as the theorem allows.

*Alone*, contexts are drawn uniformly, row i of the matrix learner's φ is played, and the matrix learner observes
e_i ⊗ l in place of p ⊗ l. The regret is Σ <φ_i - φ*_i, l>, which the same theorem bounds. The fixed point, with which
the learner could avoid contexts, is not used.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import LEARNER_KERNEL, Integers, Vector, address, call_learner, kernel, part
from gamesim.learner import Learner
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.wavelet import own_view, project
from gamesim.players.wavelet import Wavelet

CHUNK = 2**20  # random numbers per batch

Matrix = NDArray[np.float64]


@kernel
def draw(strategy: Vector, point: float) -> int:
    """Return the action sampled by a uniform number in [0, 1)."""
    for i in range(strategy.size):
        point -= strategy[i]
        if point < 0:
            return i
    return int(np.argmax(strategy))


@kernel
def flip(means: Vector, points: Vector, loss: Vector) -> None:
    """Sample losses of ±1 with these means."""
    for j in range(loss.size):
        loss[j] = -1.0 if 2 * points[j] < 1 - means[j] else 1.0


@kernel
def add_outer(strategy: Vector, loss: Vector, matrix: Vector) -> None:
    """Add p ⊗ l to a matrix in row-major order."""
    d = loss.size
    for i in range(d):
        if strategy[i] > 0:
            row = part(matrix, i * d, i * d + d)
            for j in range(d):
                row[j] += strategy[i] * loss[j]


@kernel
def run_game(
    play: int,
    observe: int,
    settings: Vector,
    state: Vector,
    strategy: Vector,
    loss: Vector,
    means: Vector,
    contexts: Vector,
    points: Vector,
    suffered: Vector,
    expected: Vector,
) -> None:
    """Play a chunk of rounds in the game; add p ⊗ l to `suffered` and p ⊗ (mean of l) to `expected`."""
    d = strategy.size
    for t in range(contexts.size):
        call_learner(play, settings, state, strategy)
        i = draw(strategy, contexts[t])
        mean = part(means, i * d, i * d + d)
        flip(mean, part(points, t * d, t * d + d), loss)
        add_outer(strategy, loss, suffered)
        add_outer(strategy, mean, expected)
        call_learner(observe, settings, state, loss)


@kernel
def run_alone(
    play: int,
    observe: int,
    settings: Vector,
    state: Vector,
    strategy: Vector,
    loss: Vector,
    means: Vector,
    contexts: Vector,
    points: Vector,
    owner: Integers,
    improper: bool,
    suffered: Vector,
    expected: Vector,
) -> None:
    """Play a chunk of rounds with given contexts; add the sampled and the mean loss of row i of φ to entry i.

    `owner` gives the action of each row and column of φ; it is empty for a learner without a matrix, which ignores
    contexts. With `improper`, φ is projected first. After the d losses by context, `suffered` and `expected` hold
    Σ e_i ⊗ l and its mean.
    """
    d = strategy.size
    for t in range(contexts.size):
        call_learner(play, settings, state, strategy)
        i = int(contexts[t] * d)
        mean = part(means, i * d, i * d + d)
        flip(mean, part(points, t * d, t * d + d), loss)
        if owner.size == d:
            parts = reduction(state, d)
            own = parts.strategy
            at = 0
            for k in range(d):
                own[k] = owner[k] == i
                at = k if owner[k] == i else at
            row = part(parts.matrix, at * d, at * d + d)
            if improper:
                wavelet = own_view(parts.own, d)
                project(part(wavelet.improper, at * d, at * d + d), wavelet.sums[at], parts.default, row)
            for k in range(d):
                strategy[owner[k]] = row[k]
        for j in range(d):
            suffered[i] += strategy[j] * loss[j]
            expected[i] += strategy[j] * mean[j]
            suffered[d + i * d + j] += loss[j]
            expected[d + i * d + j] += mean[j]
        call_learner(observe, settings, state, loss)


@dataclass(frozen=True)
class Played:
    """The result of a run: counterfactual losses, sampled and in the mean, and the final state of the learner.

    `suffered[i, j]` is the total sampled loss in context (or of action) i had j been played, and `expected[i, j]` its
    mean. `own` holds both totals for the actual play.
    """

    suffered: Matrix
    expected: Matrix
    own: tuple[float, float]
    state: Vector

    def regret(self, phi: Matrix) -> float:
        """Return the regret against φ with the sampled losses, which the theorem bounds."""
        return self.own[0] - float((phi * self.suffered).sum())

    def mean_regret(self, phi: Matrix) -> float:
        """Return the regret against φ with every loss replaced by its mean: same expectation, less noise."""
        return self.own[1] - float((phi * self.expected).sum())


def play_game(player: Learner, means: Matrix, rounds: int, seed: list[int]) -> Played:
    """Run a learner in the game."""
    d = len(means)
    learner, play, observe = _start(player, d, rounds)
    suffered, expected = np.zeros(d * d), np.zeros(d * d)
    strategy, loss = np.zeros(d), np.zeros(d)
    for contexts, points in _chunks(d, rounds, seed):
        run_game(
            play, observe, *learner, strategy, loss, means.ravel(), contexts, points, suffered, expected
        )  # fmt: skip
    both = suffered.reshape(d, d), expected.reshape(d, d)
    return Played(*both, own=(float(np.trace(both[0])), float(np.trace(both[1]))), state=learner[1])


def play_alone(player: Learner, means: Matrix, rounds: int, seed: list[int]) -> Played:
    """Run a matrix learner alone, with uniform contexts, which a learner without a matrix ignores."""
    d = len(means)
    learner, play, observe = _start(player, d, rounds)
    owner, improper = _owner(player, d), isinstance(player, Wavelet)
    losses = suffered, expected = np.zeros(d + d * d), np.zeros(d + d * d)
    strategy, loss = np.zeros(d), np.zeros(d)
    for contexts, points in _chunks(d, rounds, seed):
        run_alone(
            play, observe, *learner, strategy, loss, means.ravel(), contexts, points, owner, improper, *losses
        )  # fmt: skip
    own = float(suffered[:d].sum()), float(expected[:d].sum())
    return Played(suffered[d:].reshape(d, d), expected[d:].reshape(d, d), own, learner[1])


def _start(player: Learner, actions: int, rounds: int) -> tuple[tuple[Vector, Vector], int, int]:
    tuned = player.with_horizon(rounds)
    play, observe = (address(function, LEARNER_KERNEL) for function in tuned.kernels)
    return (tuned.kernel_settings(actions), tuned.first_state(actions)), play, observe


def _owner(player: Learner, actions: int) -> Integers:
    """Return the action of each row of the learner's φ, or an empty array if it has none."""
    if not isinstance(player, MatrixLearner | Wavelet):
        return np.zeros(0, dtype=np.int64)
    owner = player._owners(actions) if isinstance(player, Wavelet) else np.arange(actions)
    if owner.size != actions:
        raise ValueError(f"the number of actions must be a power of two for one row per context, got {actions}")
    return owner


def _chunks(actions: int, rounds: int, seed: list[int]) -> Iterator[tuple[Vector, Vector]]:
    random = np.random.default_rng(seed)
    at_once = max(CHUNK // actions, 1)
    for first in range(0, rounds, at_once):
        count = min(at_once, rounds - first)
        yield random.random(count), random.random(count * actions)
