"""From a matrix learner to a player: play the fixed point p = pφ, feed back the gradient g = p ⊗ l.

Let a matrix learner choose a stochastic matrix φ each round, and let the player play a fixed point p = pφ. Then, for
every stochastic matrix φ*, the player's regret against φ* is the matrix learner's regret against φ*:
<p, l> - <pφ*, l> = <pφ, l> - <pφ*, l> = <p ⊗ l, φ - φ*> (Gordon, Greenwald and Marks 2008, "No-regret learning in
convex games", ICML; before them Stoltz and Lugosi 2005 and Blum and Mansour 2007).

The contract. The state of such a player begins with the reduction's part, made by `first_reduction(default)`; the
matrix learner's own numbers follow. Its kernels, with n the number of states (rows of φ), are then of this shape:

    @kernel
    def _choose(settings, state, n):                 # φ and p for this round, if they are not yet there
        if unsettled(state):
            ... write φ, row by row, into matrix_part(state, n), reading own_part(state, n) ...
            settle(state, n)                         # the fixed point of φ into strategy_part(state, n)

    @kernel
    def _play(settings, state, strategy):
        _choose(settings, state, strategy.size)
        strategy[:] = strategy_part(state, strategy.size)

    @kernel
    def _observe(settings, state, loss):
        _choose(settings, state, loss.size)          # whoever observes without having asked for the strategy
        p = strategy_part(state, loss.size)
        ... advance own_part(state, n): row i of φ sees the loss p[i]·loss ...
        unsettle(state)                              # left out when φ stays as it is: φ and p are then used again

The parts are views into the state that own nothing: for kernels only. φ and p are computed at most once a round,
whoever asks first, so `play` may be called any number of times, and a state that is copied, saved or loaded goes on bit
for bit. A learner may as well settle at the end of `observe`: a first state has `default` as every row of φ and as p.
"""

import numpy as np

from gamesim.compiled import Vector, kernel, part, phase
from gamesim.players.fixed_point import fixed_point, scratch_size


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


@phase
def unsettled(state: Vector) -> bool:
    """Whether φ and its fixed point still have to be computed for this round."""
    return bool(state[0] == 0)


@phase
def unsettle(state: Vector) -> None:
    """Say that φ has to be computed again."""
    state[0] = 0.0


@phase
def hold(state: Vector) -> None:
    """Say that φ and its fixed point, as they are kept, hold for this round."""
    state[0] = 1.0


@phase
def strategy_part(state: Vector, states: int) -> Vector:
    """Return where the fixed point is kept."""
    view: Vector = part(state, 1, 1 + states)
    return view


@phase
def default_part(state: Vector, states: int) -> Vector:
    """Return where the default distribution is kept."""
    view: Vector = part(state, 1 + states, 1 + 2 * states)
    return view


@phase
def matrix_part(state: Vector, states: int) -> Vector:
    """Return where φ is kept, row by row."""
    view: Vector = part(state, 1 + 2 * states, 1 + 2 * states + states * states)
    return view


@phase
def _scratch_part(state: Vector, states: int) -> Vector:
    view: Vector = part(state, 1 + 2 * states + states * states, reduction_size(states))
    return view


@phase
def own_part(state: Vector, states: int) -> Vector:
    """Return the matrix learner's own numbers: all that follows the reduction's part."""
    view: Vector = part(state, reduction_size(states), state.size)
    return view


@phase
def settle(state: Vector, states: int) -> None:
    """Compute the fixed point of the φ that was just written."""
    fixed_point(
        matrix_part(state, states),
        default_part(state, states),
        strategy_part(state, states),
        _scratch_part(state, states),
    )
    hold(state)
