"""Blum and Mansour's learner on estimated losses: swap regret with bandit feedback."""

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel, part
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import softmin
from gamesim.rates import RateSetting, parsed
from gamesim.validation import MOST_ROUNDS, positive


class Own(NamedTuple):
    """Matrix-learner state of bandit Blum-Mansour."""

    losses: Vector  # for each row i: the estimated cumulative loss of each action, weighted by p_i
    rounds: Vector


OWN = Layout(Own, losses="d * d", rounds="1")
_own_view = OWN.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    d = int(np.sqrt(matrix.size))
    losses, rounds = _own_view(reduction(state, d).own, d)
    rate = rate_at(settings[0], settings[1], rounds[0] + 1)
    for i in range(d):
        softmin(rate, part(losses, i * d, i * d + d), part(matrix, i * d, i * d + d))


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    parts = reduction(state, d)
    p, (losses, rounds) = parts.strategy, _own_view(parts.own, d)
    rounds[0] += 1
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
        Number of rounds T that the default rate is tuned to. A simulation sets it if it is not given.
    rate : float or str, optional
        Learning rate, in units of 1 / loss, or a schedule, see `gamesim.rates`. By default sqrt(ln d / (2 T)).

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of action j is estimated as l_j / p_j if j is played and as 0
    otherwise, which is unbiased. The i-th row of φ is Hedge on p_i times the estimates,

        φ_ij ∝ exp(-2 rate · Σ p_i l̂_j)

    where the factor 2 accounts for losses of range 2. The strategy is the fixed point p = pφ. The
    variance of the estimates adds, in expectation, at most

        rate · Σ_i p_i² Σ_j φ_ij / p_j ≤ rate · Σ_j (pφ)_j / p_j = rate d

    per round. For rates that do not increase, the expected regret against any fixed map is therefore at
    most, for losses in [-1, 1],

        d ln d / rate_T + 2 d Σ rate_t

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
    rate: RateSetting = None

    name = "bandit-blum-mansour"
    matrix_kernels = _write, _learn
    own_layout = OWN
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)
        parsed("rate", self.rate)

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        scale, decay = scale_and_decay(self.rate, lambda rounds: tuned_rate(log(actions), 2.0, rounds))
        if self.rate is None:
            scale = sqrt(2 * log(actions) / self.required_horizon()) / 2
        return np.array([2 * scale, decay])

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is not None:
            promise = rate_guarantee(
                self.rate, "d ln d / {rate} + 2 d {sum}", lambda T, d: d * log(d), lambda d: 2.0 * d
            )
            return None if promise is None else replace(promise, regret="swap", expected=True)
        return Guarantee("swap", "2 d √(2 T ln d)", lambda T, d: 2 * d * sqrt(2 * T * log(d)), expected=True).tuned_to(
            self.horizon
        )
