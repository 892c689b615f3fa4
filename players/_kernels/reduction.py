"""From a matrix learner to a player: play the fixed point p = pφ, feed back the gradient g = p ⊗ l.

Let a matrix learner choose a stochastic matrix φ each round, and let the player play a fixed point p = pφ. Then, for
every stochastic matrix φ*, the player's regret against φ* is the matrix learner's regret against φ*:
<p, l> - <pφ*, l> = <pφ, l> - <pφ*, l> = <p ⊗ l, φ - φ*> (Gordon, Greenwald and Marks 2008, "No-regret learning in
convex games", ICML; before them Stoltz and Lugosi 2005 and Blum and Mansour 2007).

A matrix learner is a `MatrixLearner` with two kernels of its own, `write`, which writes φ, and `learn`, in which row i
of φ sees the loss p_i · l; the rest is here. φ and p are computed at most once a round, whoever asks first, so `play`
may be called any number of times, and a state that is copied, saved or loaded goes on bit for bit.

The wavelet learner, whose φ stays as it is in many rounds, has kernels of its own for play and observe: it settles at
the end of `observe`, and only when φ changed.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, inlined, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Kernel, Learner
from gamesim.players._kernels.fixed_point import SCRATCH, fixed_point
from gamesim.players._kernels.numeric import copy


class Reduction(NamedTuple):
    """The state of a player who plays fixed points; `own` is the matrix learner's part of it."""

    settled: Vector  # 1 where φ and its fixed point are those of this round
    strategy: Vector  # the fixed point
    default: Vector  # decides among the fixed points of a reducible φ
    matrix: Vector  # φ, row by row
    scratch: Vector
    own: Vector


REDUCTION = Layout(Reduction, settled="1", strategy="d", default="d", matrix="d * d", scratch=SCRATCH, own="rest")
reduction = REDUCTION.view


class Settings(NamedTuple):
    """The addresses of the matrix learner's kernels, and what they read."""

    write: int
    learn: int
    own: Vector


SETTINGS = Layout(Settings, "", write="int", learn="int", own="rest")
_settings_view = SETTINGS.view


def first_reduction(default: Vector, own: Vector) -> Vector:
    """Return a first state with `default` as every row of φ and as its fixed point, and the matrix learner's part."""
    states = default.size
    return REDUCTION.pack(states, strategy=default, default=default, matrix=np.tile(default, states), own=own)


@inlined
def settle(state: Vector, states: int) -> None:
    """Compute the fixed point of the φ that was just written."""
    settled, strategy, default, matrix, scratch, _ = reduction(state, states)
    fixed_point(matrix, default, strategy, scratch)
    settled[0] = 1.0


@kernel
def _choose(settings: Vector, state: Vector, states: int) -> None:
    """Have φ written and find its fixed point, if that is not yet done."""
    parts = reduction(state, states)
    if parts.settled[0] == 0:
        chosen = _settings_view(settings)
        call_learner(chosen.write, chosen.own, state, parts.matrix)
        settle(state, states)


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    _choose(settings, state, strategy.size)
    copy(strategy, reduction(state, strategy.size).strategy)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    _choose(settings, state, loss.size)  # for whoever observes without having asked for the strategy
    chosen = _settings_view(settings)
    call_learner(chosen.learn, chosen.own, state, loss)
    reduction(state, loss.size).settled[0] = 0.0


@dataclass(frozen=True)
class MatrixLearner(Learner):
    """The contract of a matrix learner: a player whose two kernels write φ and learn from a loss.

    `write(settings, state, matrix)` writes φ, row by row, from the part `own` of its state, `reduction(state, d)`;
    `learn(settings, state, loss)` advances that part, given the fixed point in the part `strategy`. `own_layout` names
    what is in `own`.
    """

    kernels = _play, _observe
    state_layout = REDUCTION
    matrix_kernels: ClassVar[tuple[Kernel, Kernel]]
    own_layout: ClassVar[Layout[Any]]

    def own_dimensions(self, actions: int) -> tuple[int, ...]:
        """Return the dimensions of `own_layout`: by default the number of actions."""
        return (actions,)

    def begin_own(self, own: Any) -> None:
        """Fill in what of its own part, given by name, is not 0 before the first round: by default nothing."""

    def first_state(self, actions: int) -> Vector:
        dimensions = self.own_dimensions(actions)
        own = self.own_layout.zeros(*dimensions)
        self.begin_own(self.own_layout.parts(own, *dimensions))
        return first_reduction(np.full(actions, 1 / actions), own)

    def matrix_settings(self, actions: int) -> Vector:
        """Return the numbers that the matrix learner's kernels read: by default none."""
        return np.zeros(0)

    def kernel_settings(self, actions: int) -> Vector:
        write, learn = (address(function, LEARNER_KERNEL) for function in self.matrix_kernels)
        return SETTINGS.pack(write=write, learn=learn, own=self.matrix_settings(actions))
