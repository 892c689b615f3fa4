"""Aggregate: AdaHedge over an external-, an internal- and a swap-regret learner."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel, part
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.fixed_point import times
from gamesim.players._kernels.numeric import copy
from gamesim.players._kernels.reduction import SETTINGS as MATRIX_SETTINGS
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import expected_loss
from gamesim.players.adahedge import AdaHedge
from gamesim.players.blum_mansour import BlumMansour
from gamesim.players.stoltz_lugosi import StoltzLugosi

EXTERNAL = AdaHedge()
INTERNAL = StoltzLugosi()
SWAP = BlumMansour(rows="adahedge")


class Own(NamedTuple):
    """Matrix-learner state of the aggregate."""

    top: Vector  # the state of AdaHedge over the three learners
    shares: Vector  # its strategy
    suffered: Vector  # scratch: the loss of each of the three
    external: Vector  # the states of the three
    internal: Vector
    swap: Vector
    constant: Vector  # the strategy of the external-regret learner, every row of its matrix
    moved: Vector  # scratch


OWN = Layout(
    Own,
    "d internal swap",
    top="7",
    shares="3",
    suffered="3",
    external="2 * d + 1",
    internal="internal",
    swap="swap",
    constant="d",
    moved="d",
)
_own_view = OWN.view


class Settings(NamedTuple):
    """Kernel settings: addresses of the three learners, and the sizes of states and the settings of two of them."""

    play: int
    observe: int
    write_internal: int
    learn_internal: int
    write_swap: int
    learn_swap: int
    internal: int
    swap: int
    internal_size: int
    both: Vector  # the settings of the internal- and of the swap-regret learner


SETTINGS = Layout(
    Settings,
    "",
    play="int",
    observe="int",
    write_internal="int",
    learn_internal="int",
    write_swap="int",
    learn_swap="int",
    internal="int",
    swap="int",
    internal_size="int",
    both="rest",
)
_settings_view = SETTINGS.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    chosen = _settings_view(settings)
    d = int(np.sqrt(matrix.size))
    own = _own_view(reduction(state, d).own, d, chosen.internal, chosen.swap)
    first = part(chosen.both, 0, chosen.internal_size)
    second = part(chosen.both, chosen.internal_size, chosen.both.size)
    call_learner(chosen.play, first, own.external, own.constant)
    internal, swap = reduction(own.internal, d).matrix, reduction(own.swap, d).matrix
    call_learner(chosen.write_internal, first, own.internal, internal)
    call_learner(chosen.write_swap, second, own.swap, swap)
    call_learner(chosen.play, first, own.top, own.shares)
    for i in range(d):
        for j in range(d):
            k = i * d + j
            matrix[k] = own.shares[0] * own.constant[j] + own.shares[1] * internal[k] + own.shares[2] * swap[k]


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    chosen = _settings_view(settings)
    d = loss.size
    parts = reduction(state, d)
    own = _own_view(parts.own, d, chosen.internal, chosen.swap)
    first = part(chosen.both, 0, chosen.internal_size)
    second = part(chosen.both, chosen.internal_size, chosen.both.size)
    internal, swap = reduction(own.internal, d), reduction(own.swap, d)
    own.suffered[0] = expected_loss(own.constant, loss)
    times(parts.strategy, internal.matrix, own.moved)
    own.suffered[1] = expected_loss(own.moved, loss)
    times(parts.strategy, swap.matrix, own.moved)
    own.suffered[2] = expected_loss(own.moved, loss)
    copy(internal.strategy, parts.strategy)  # all three observe the gradient p ⊗ l of the strategy that is played
    copy(swap.strategy, parts.strategy)
    call_learner(chosen.observe, first, own.external, loss)
    call_learner(chosen.learn_internal, first, own.internal, loss)
    call_learner(chosen.learn_swap, second, own.swap, loss)
    call_learner(chosen.observe, first, own.top, own.suffered)


@dataclass(frozen=True)
class Aggregate(MatrixLearner):
    """Aggregate one learner each for external, internal and swap regret.

    Notes
    -----
    Three learners choose a stochastic matrix each: `adahedge` the constant one with its strategy in
    every row, `stoltz-lugosi` and `blum-mansour` with AdaHedge rows their own φ. AdaHedge over the
    three, with weights w, plays the fixed point of the mixture

        p = pφ,  φ = w_1 φ_1 + w_2 φ_2 + w_3 φ_3

    Each of the three observes the gradient p ⊗ l and has the loss <pφ_m, l>. The regret against any
    map is the regret of the mixture against learner m, at most 2 √(T ln 3) + 8/3 ln 3 + 4, plus that of
    learner m against the map. External, internal and swap regret thus have the bounds of the three
    learners at once, up to this term. For other maps nothing better than the bound on swap regret
    follows, which is what the learners that interpolate improve on.

    References
    ----------
    Lu, Sun and Zhang (2025), "Sparsity-based interpolation of external, internal and swap regret", 38th
    Conference on Learning Theory, section 3: the baseline that aggregates specialised algorithms.

    Examples
    --------
    >>> learner = Aggregate().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.071, 0.313, 0.616])
    """

    name = "aggregate"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        play, observe = (address(function, LEARNER_KERNEL) for function in EXTERNAL.kernels)
        internal, swap = (MATRIX_SETTINGS.parts(one.kernel_settings(actions)) for one in (INTERNAL, SWAP))
        _, inner, rows = self.own_dimensions(actions)
        return SETTINGS.pack(
            play=play,
            observe=observe,
            write_internal=internal.write,
            learn_internal=internal.learn,
            write_swap=swap.write,
            learn_swap=swap.learn,
            internal=inner,
            swap=rows,
            internal_size=internal.own.size,
            both=np.concatenate([internal.own, swap.own]),
        )

    def own_dimensions(self, actions: int) -> tuple[int, ...]:  # noqa: D102
        return actions, INTERNAL.first_state(actions).size, SWAP.first_state(actions).size

    def begin_own(self, own: Own) -> None:  # noqa: D102
        actions = own.constant.size
        own.top[:] = EXTERNAL.first_state(3)
        own.external[:] = EXTERNAL.first_state(actions)
        own.internal[:] = INTERNAL.first_state(actions)
        own.swap[:] = SWAP.first_state(actions)

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            rows = SWAP.guarantee()
            assert rows is not None  # BOUNDS has it
            return 2 * sqrt(rounds * log(3)) + 8 / 3 * log(3) + 4 + rows.bound(rounds, actions)

        return Guarantee("swap", "2 √(T ln 3) + 8/3 ln 3 + 4 + 2 √(d T ln d) + d (8/3 ln d + 4)", bound)
