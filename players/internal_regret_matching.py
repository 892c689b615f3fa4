"""Internal regret matching: move mass between actions in proportion to internal regret."""

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
    """Matrix-learner state of internal regret matching."""

    losses: Vector  # for each pair (j, k): the extra loss of k in place of j, -R_jk


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
        matrix[j * d + j] = max(1 - leaving, 0.0)  # the diagonal regret is 0, hence so was this entry


@kernel
def add_pair_losses(strategy: Vector, loss: Vector, losses: Vector) -> None:
    """Add for every pair the extra loss of playing k in place of j: p_j (l_k - l_j)."""
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
    """Play the stationary distribution of the positive internal regrets.

    Notes
    -----
    The regret for not having played k in place of j is

        R_jk = Σ p_j (l_j - l_k)

    Regrets of at most 1e-10 count as 0. The strategy is the fixed point p = pφ of the matrix with the
    off-diagonal entries

        φ_jk = [R_jk]₊ / μ

    where μ is large enough for φ to be stochastic; p does not depend on μ. Then

        Σ [R_jk]₊ p_j (l_j - l_k) = 0

    so that Σ [R_jk]₊² grows by at most 4 (d - 1) per round, which bounds internal regret. By
    Cauchy-Schwarz, swap regret satisfies

        Σ_j max_k [R_jk]₊ ≤ √(d Σ [R_jk]₊²)

    It is at most √d times the bound on internal regret, not d times, as would follow from that bound
    alone.

    Started at a strategy p, the learner sets R_jk = p_k, for which p is the fixed point.

    References
    ----------
    Hart and Mas-Colell (2000), "A simple adaptive procedure leading to correlated equilibrium", in the
    form with the fixed point: section 4 and proof of Theorem A.

    Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games", section 4.4.

    Examples
    --------
    >>> learner = InternalRegretMatching().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0., 0., 1.])
    """

    name = "internal-regret-matching"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        d = strategy.size
        losses = self.own_layout.parts(self.parts(state, d).own, d).losses.reshape(d, d)
        losses[:] = -strategy
        np.fill_diagonal(losses, 0.0)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("internal", "2 √((d - 1) T)", lambda T, d: 2 * sqrt((d - 1) * T))
