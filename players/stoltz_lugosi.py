"""Stoltz and Lugosi's learner: Hedge over pairs of actions."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from gamesim.players._kernels.reduction import MatrixLearner, first_reduction, own_part, strategy_part
from gamesim.players.hedge import softmin
from gamesim.players.internal_regret_matching import add_pair_losses

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    d = int(np.sqrt(matrix.size))
    if d == 1:  # no pairs: φ stays as it began
        return
    own = own_part(state, d)
    rate = np.sqrt(2 * np.log(d * (d - 1.0)) / (own[d * d] + 1))
    softmin(rate, own[: d * d], matrix)
    for i in range(d):
        leaving = 0.0
        for j in range(d):
            leaving += matrix[i * d + j]
        matrix[i * d + i] = max(1 - leaving, 0.0)


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    own = own_part(state, d)
    add_pair_losses(strategy_part(state, d), loss, own)
    own[d * d] += 1


@dataclass(frozen=True)
class StoltzLugosi(MatrixLearner):
    """Play the strategy that Hedge over all ways to replace one action by another leaves as it is.

    For each pair i ≠ j an expert plays the strategy with i's mass moved to j. Hedge over these d (d - 1) experts, with
    its own anytime rate, has the weights w; p is the strategy that their mixture gives back: p = pφ with φ_ij = w_ij
    off the diagonal. The regret against an expert is the internal regret for its pair.

    Reference: Stoltz and Lugosi (2005), "Internal regret in on-line portfolio selection", section 3; the bound is
    Hedge's with d (d - 1) experts.

    >>> learner = StoltzLugosi().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.144, 0.352, 0.503])
    """

    name = "stoltz-lugosi"
    matrix_kernels = _write, _learn

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        losses = np.where(np.eye(actions) == 1, np.inf, 0.0)  # to stay is no pair
        return np.concatenate([first_reduction(np.full(actions, 1 / actions)), losses.ravel(), [0.0]])

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            pairs = log(max(actions * (actions - 1), 1))
            return 2 * (sqrt(2 * rounds * pairs) + sqrt(pairs / 8))

        return Guarantee("internal", "2 (√(2 T ln N) + √(ln N / 8)), N = d (d - 1)", bound)
