"""The reduction from learning strategies to learning stochastic matrices.

In every round, a matrix learner chooses a stochastic matrix φ, plays a fixed point p = pφ and observes the gradient
p ⊗ l. For every stochastic matrix φ*, the regret of the strategies p equals the regret of the matrices φ:

    <p, l> - <pφ*, l> = <pφ, l> - <pφ*, l> = <p ⊗ l, φ - φ*>

(Gordon, Greenwald and Marks 2008, "No-regret learning in convex games", ICML; before them Stoltz and Lugosi 2005 and
Blum and Mansour 2007.) `MatrixLearner` is the contract of such a learner.

The wavelet learner, whose φ does not change in many rounds, has its own play and observe kernels: it computes the fixed
point at the end of `observe`, and only if φ changed.
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
    """State of a learner that plays fixed points; `own` is the part of the matrix learner."""

    settled: Vector  # 1 if φ and its fixed point are those of the current round
    strategy: Vector  # the fixed point
    default: Vector  # selects one of the fixed points of a reducible φ
    matrix: Vector  # φ, row by row; the wavelet learner writes it only if its fixed point needs it
    scratch: Vector
    own: Vector


REDUCTION = Layout(
    Reduction, settled="1", strategy="d", default="d", matrix="d * d", scratch=SCRATCH, own="rest", aligned=True
)
reduction = REDUCTION.view


class Settings(NamedTuple):
    """Kernel settings: the addresses of the matrix learner's kernels, and their settings."""

    write: int
    learn: int
    own: Vector


SETTINGS = Layout(Settings, "", write="int", learn="int", own="rest")
_settings_view = SETTINGS.view


def first_reduction(default: Vector, own: Vector) -> Vector:
    """Return a first state with `default` as every row of φ and as its fixed point, and `own` as the rest."""
    states = default.size
    return REDUCTION.pack(states, strategy=default, default=default, matrix=np.tile(default, states), own=own)


@inlined
def settle(state: Vector, states: int) -> None:
    """Compute the fixed point of φ and mark the state as settled."""
    settled, strategy, default, matrix, scratch, _ = reduction(state, states)
    fixed_point(matrix, default, strategy, scratch)
    settled[0] = 1.0


@kernel
def _choose(settings: Vector, state: Vector, states: int) -> None:
    """Write φ and compute its fixed point, unless this has been done in the current round."""
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
    _choose(settings, state, loss.size)  # in case observe is called without play
    chosen = _settings_view(settings)
    call_learner(chosen.learn, chosen.own, state, loss)
    reduction(state, loss.size).settled[0] = 0.0


@dataclass(frozen=True)
class MatrixLearner(Learner):
    """Choose a stochastic matrix φ and play its fixed point p = pφ (base class).

    A subclass defines two kernels and the layout of the state that they share. This class computes the fixed point and
    provides `play` and `observe`. φ and p are computed once per round, by whichever of the two is called first, so
    `play` may be called any number of times, and a copied, saved or loaded state continues bit for bit.

    Attributes
    ----------
    matrix_kernels : tuple of two kernels
        `write(settings, state, matrix)` writes φ into `matrix`, row by row (d² numbers), from the learner's own state.
        `learn(settings, state, loss)` updates the own state after a round. In both, `settings` are the
        `matrix_settings`, and `reduction(state, d)` returns the named parts of the state, of which `own` is the
        learner's own state. In `learn`, `strategy` is the fixed point p that was played: the loss of row i of φ is
        `strategy[i] * loss`.
    own_layout : Layout
        Names and shapes of the parts of `own`. Kernels access them as `view(reduction(state, d).own, d)`, with `view`
        a module-level name for `own_layout.view`.

    Notes
    -----
    Override `own_dimensions` if the layout depends on more than the number of actions, `begin_own` if the own state
    does not start at 0, and `matrix_settings` if the kernels read settings. `StoltzLugosi` is a short example.
    """

    kernels = _play, _observe
    state_layout = REDUCTION
    matrix_kernels: ClassVar[tuple[Kernel, Kernel]]
    own_layout: ClassVar[Layout[Any]]

    def own_dimensions(self, actions: int) -> tuple[int, ...]:
        """Return the dimensions of `own_layout`; by default the number of actions."""
        return (actions,)

    def begin_own(self, own: Any) -> None:
        """Set the parts of the own state that are not 0 before the first round; by default none."""

    def first_state(self, actions: int) -> Vector:
        dimensions = self.own_dimensions(actions)
        own = self.own_layout.zeros(*dimensions)
        self.begin_own(self.own_layout.parts(own, *dimensions))
        return first_reduction(np.full(actions, 1 / actions), own)

    def matrix_settings(self, actions: int) -> Vector:
        """Return the settings that the matrix kernels read, as numbers; by default none."""
        return np.zeros(0)

    def kernel_settings(self, actions: int) -> Vector:
        write, learn = (address(function, LEARNER_KERNEL) for function in self.matrix_kernels)
        return SETTINGS.pack(write=write, learn=learn, own=self.matrix_settings(actions))
