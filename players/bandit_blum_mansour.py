"""Blum and Mansour's learner on estimated losses: swap regret with bandit feedback."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel, part
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import softmin
from gamesim.validation import MOST_ROUNDS, positive


class Own(NamedTuple):
    """Matrix-learner state of bandit Blum-Mansour."""

    losses: Vector  # for each row i: the estimated cumulative loss of each action, weighted by p_i


OWN = Layout(Own, losses="d * d")
_own_view = OWN.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    d = int(np.sqrt(matrix.size))
    losses = _own_view(reduction(state, d).own, d).losses
    for i in range(d):
        softmin(settings[0], part(losses, i * d, i * d + d), part(matrix, i * d, i * d + d))


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    parts = reduction(state, d)
    p, losses = parts.strategy, _own_view(parts.own, d).losses
    for j in range(d):
        if not np.isnan(loss[j]):
            estimate = (loss[j] + 1) / (2 * p[j])
            for i in range(d):
                losses[i * d + j] += p[i] * estimate


@dataclass(frozen=True)
class BanditBlumMansour(MatrixLearner):
    """Minimise swap regret on importance-weighted loss estimates (bandit feedback).

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the learning rate is tuned to. A simulation sets it if it is not given.

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of action j is estimated as l_j / p_j if j is played and as 0
    otherwise, which is unbiased. The i-th row of φ is Hedge on p_i times the estimates,

        φ_ij ∝ exp(-rate · Σ p_i l̂_j)
        rate = sqrt(2 ln d / T)

    and the strategy is the fixed point p = pφ. The variance of the estimates adds, in expectation, at
    most

        rate / 2 · Σ_i p_i² Σ_j φ_ij / p_j ≤ rate / 2 · Σ_j (pφ)_j / p_j = rate d / 2

    per round. The expected regret against any fixed map is therefore at most, for losses in [-1, 1],

        2 (d ln d / rate + rate d T / 2) = 2 d √(2 T ln d)

    References
    ----------
    Ito (2020), "A tight lower bound and efficient reduction for swap regret", NeurIPS, for rates of this
    order.

    Blum and Mansour (2007), "From external to internal regret", section 5, for the bandit setting.

    Examples
    --------
    >>> learner = BanditBlumMansour(horizon=100).start(actions=2)
    >>> learner.observe([1.0, float("nan")])
    >>> learner.play().round(3)
    array([0.471, 0.529])
    """

    horizon: int | None = None

    name = "bandit-blum-mansour"
    matrix_kernels = _write, _learn
    own_layout = OWN
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([sqrt(2 * log(actions) / self.required_horizon())])

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("swap", "2 d √(2 T ln d)", lambda T, d: 2 * d * sqrt(2 * T * log(d)), expected=True).tuned_to(
            self.horizon
        )
