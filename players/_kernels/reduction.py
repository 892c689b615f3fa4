"""From a matrix learner to a player: play the fixed point p = pφ, feed back the gradient g = p ⊗ l.

Let a matrix learner choose a stochastic matrix φ each round, and let the player play a fixed point p = pφ. Then, for
every stochastic matrix φ*, the player's regret against φ* is the matrix learner's regret against φ*:
<p, l> - <pφ*, l> = <pφ, l> - <pφ*, l> = <p ⊗ l, φ - φ*> (Gordon, Greenwald and Marks 2008, "No-regret learning in
convex games", ICML; before them Stoltz and Lugosi 2005 and Blum and Mansour 2007).

A matrix learner is a `MatrixLearner` with two kernels of its own, `write`, which writes φ, and `learn`, in which row i
of φ sees the loss p_i · l; the rest is here. Its state begins with the reduction's part, `first_reduction(default)`;
its own numbers follow. The parts are views into the state that own nothing: for kernels only. φ and p are computed at
most once a round, whoever asks first, so `play` may be called any number of times, and a state that is copied, saved or
loaded goes on bit for bit. A first state has `default` as every row of φ and as p, unless its first number is set to 0.

The wavelet learner, whose φ stays as it is in many rounds, has kernels of its own for play and observe: it settles at
the end of `observe`, and only when φ changed.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from gamesim.players._kernels.fixed_point import fixed_point, scratch_size
from gamesim.players._kernels.numeric import copy

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, inlined, kernel, part
from gamesim.learner import Kernel, Learner


@kernel
def reduction_size(states: int) -> int:
    """How many numbers of the state belong to the reduction."""
    return 1 + 2 * states + states * states + scratch_size(states)


def first_reduction(default: Vector) -> Vector:
    """Return the reduction's part of a first state, with `default` as every row of φ and as its fixed point.

    `default` also decides among the fixed points of a reducible φ.
    """
    states = default.size
    first = np.zeros(reduction_size(states))
    first[1 : 1 + (2 + states) * states] = np.tile(default, 2 + states)
    return first


@inlined
def unsettled(state: Vector) -> bool:
    """Whether φ and its fixed point still have to be computed for this round."""
    return bool(state[0] == 0)


@inlined
def unsettle(state: Vector) -> None:
    """Say that φ has to be computed again."""
    state[0] = 0.0


@inlined
def strategy_part(state: Vector, states: int) -> Vector:
    """Return where the fixed point is kept."""
    view: Vector = part(state, 1, 1 + states)
    return view


@inlined
def default_part(state: Vector, states: int) -> Vector:
    """Return where the default distribution is kept."""
    view: Vector = part(state, 1 + states, 1 + 2 * states)
    return view


@inlined
def matrix_part(state: Vector, states: int) -> Vector:
    """Return where φ is kept, row by row."""
    view: Vector = part(state, 1 + 2 * states, 1 + 2 * states + states * states)
    return view


@inlined
def _scratch_part(state: Vector, states: int) -> Vector:
    view: Vector = part(state, 1 + 2 * states + states * states, reduction_size(states))
    return view


@inlined
def own_part(state: Vector, states: int) -> Vector:
    """Return the matrix learner's own numbers: all that follows the reduction's part."""
    view: Vector = part(state, reduction_size(states), state.size)
    return view


@inlined
def settle(state: Vector, states: int) -> None:
    """Compute the fixed point of the φ that was just written."""
    fixed_point(
        matrix_part(state, states),
        default_part(state, states),
        strategy_part(state, states),
        _scratch_part(state, states),
    )
    state[0] = 1.0


@kernel
def _choose(settings: Vector, state: Vector, states: int) -> None:
    """Have φ written and find its fixed point, if that is not yet done."""
    if unsettled(state):
        begin = 1 + 2 * states
        end = begin + states * states
        call_learner(int(settings[0]), settings, 2, settings.size, state, 0, state.size, state, begin, end)
        settle(state, states)


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    _choose(settings, state, strategy.size)
    copy(strategy, strategy_part(state, strategy.size))


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    _choose(settings, state, loss.size)  # for whoever observes without having asked for the strategy
    call_learner(int(settings[1]), settings, 2, settings.size, state, 0, state.size, loss, 0, loss.size)
    unsettle(state)


@dataclass(frozen=True)
class MatrixLearner(Learner):
    """The contract of a matrix learner: a player whose two kernels write φ and learn from a loss.

    `write(settings, state, matrix)` writes φ, row by row, from `own_part(state, d)`; `learn(settings, state, loss)`
    advances that part, given the fixed point in `strategy_part(state, d)`.
    """

    kernels = _play, _observe
    matrix_kernels: ClassVar[tuple[Kernel, Kernel]]

    def matrix_settings(self, actions: int) -> Vector:
        """Return the numbers that the matrix learner's kernels read: by default none."""
        return np.zeros(0)

    def kernel_settings(self, actions: int) -> Vector:
        addresses = [address(function, LEARNER_KERNEL) for function in self.matrix_kernels]
        return np.concatenate([addresses, self.matrix_settings(actions)])
