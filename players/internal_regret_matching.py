"""Internal regret matching: move mass from action to action in proportion to the regret for not having done so."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import NO_REGRET


class Own(NamedTuple):
    """What internal regret matching keeps."""

    losses: Vector  # for each pair of actions: what would have been lost by the second in place of the first


OWN = Layout(Own, losses="d * d")
_own_view = OWN.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    d = int(np.sqrt(matrix.size))
    losses = _own_view(reduction(state, d).own, d).losses
    largest = 0.0
    for j in range(d):
        total = 0.0
        for k in range(j * d, j * d + d):
            matrix[k] = -losses[k] if -losses[k] > NO_REGRET else 0.0
            total += matrix[k]
        largest = max(largest, total)
    for j in range(d):
        leaving = 0.0
        for k in range(j * d, j * d + d):
            matrix[k] = matrix[k] / largest if largest > 0 else 0.0
            leaving += matrix[k]
        matrix[j * d + j] = max(1 - leaving, 0.0)  # the regret for moving from j to j is 0, and so was its entry


@kernel
def add_pair_losses(strategy: Vector, loss: Vector, losses: Vector) -> None:
    """Add, for every pair, what would have been lost by playing k in place of j: p_j (l_k - l_j)."""
    d = loss.size
    for j in range(d):
        for k in range(d):
            losses[j * d + k] += strategy[j] * (loss[k] - loss[j])


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    parts = reduction(state, loss.size)
    add_pair_losses(parts.strategy, loss, _own_view(parts.own, loss.size).losses)


@dataclass(frozen=True)
class InternalRegretMatching(MatrixLearner):
    """Leave each action for others in proportion to the regret for not having played them instead.

    With R_jk = Σ p_j (l_j - l_k) the regret for not having played k in place of j, φ_jk = [R_jk]₊ / μ off the diagonal,
    with μ large enough, and p = pφ, which no μ changes. Then Σ [R_jk]₊ p_j (l_j - l_k) = 0, and Σ [R_jk]₊² grows by at
    most 4 (d - 1) in a round. Swap regret Σ_j max_k [R_jk]₊ ≤ √(d Σ [R_jk]₊²), by Cauchy-Schwarz: at most √d times the
    bound on internal regret, and not d times, as would follow from that alone.

    Reference: Hart and Mas-Colell (2000), "A simple adaptive procedure leading to correlated equilibrium", in its
    form with the fixed point: section 4 and proof of Theorem A; Cesa-Bianchi and Lugosi (2006), section 4.4.

    >>> learner = InternalRegretMatching().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0., 0., 1.])
    """

    name = "internal-regret-matching"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("internal", "2 √((d - 1) T)", lambda T, d: 2 * sqrt((d - 1) * T))
