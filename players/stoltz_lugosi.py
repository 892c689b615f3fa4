"""Stoltz and Lugosi's learner: Hedge over pairs of actions."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import softmin
from gamesim.players.internal_regret_matching import add_pair_losses


class Own(NamedTuple):
    """Matrix-learner state of Stoltz and Lugosi's learner."""

    losses: Vector  # for each pair (i, j): the extra loss of j in place of i
    rounds: Vector


OWN = Layout(Own, losses="d * d", rounds="1")
_own_view = OWN.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    d = int(np.sqrt(matrix.size))
    if d == 1:  # no pairs: φ keeps its first value
        return
    losses, rounds = _own_view(reduction(state, d).own, d)
    rate = np.sqrt(2 * np.log(d * (d - 1.0)) / (rounds[0] + 1))
    softmin(rate, losses, matrix)
    for i in range(d):
        leaving = 0.0
        for j in range(d):
            leaving += matrix[i * d + j]
        matrix[i * d + i] = max(1 - leaving, 0.0)


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    parts = reduction(state, d)
    losses, rounds = _own_view(parts.own, d)
    add_pair_losses(parts.strategy, loss, losses)
    rounds[0] += 1


@dataclass(frozen=True)
class StoltzLugosi(MatrixLearner):
    """Minimise internal regret by running Hedge over pairs of actions.

    Notes
    -----
    For each pair i ≠ j, an expert plays the learner's strategy with the mass of i moved to j. Hedge
    over these d (d - 1) experts, with its anytime rate, assigns the weights w. The strategy is the one
    that the mixture of the experts reproduces, the fixed point

        p = pφ,  φ_ij = w_ij for i ≠ j

    The regret against an expert is the internal regret for its pair. The bound is therefore that of
    Hedge with d (d - 1) experts.

    References
    ----------
    Stoltz and Lugosi (2005), "Internal regret in on-line portfolio selection", section 3.

    Examples
    --------
    >>> learner = StoltzLugosi().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.144, 0.352, 0.503])
    """

    name = "stoltz-lugosi"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def begin_own(self, own: Own) -> None:  # noqa: D102
        own.losses[:: round(own.losses.size**0.5) + 1] = np.inf  # the diagonal is not a pair

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            pairs = log(max(actions * (actions - 1), 1))
            return 2 * (sqrt(2 * rounds * pairs) + sqrt(pairs / 8))

        return Guarantee("internal", "2 (√(2 T ln N) + √(ln N / 8)), N = d (d - 1)", bound)
