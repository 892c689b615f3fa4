"""Optimistic gradient descent: gradient descent that predicts the last loss to recur."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.simplex import project, recall
from gamesim.players.gradient import LARGEST_RATE
from gamesim.rates import RateSetting, parsed


class State(NamedTuple):
    """State of optimistic gradient descent."""

    strategy: Vector
    anchor: Vector  # the point of gradient descent, without the prediction
    point: Vector  # scratch: a point before its projection
    rounds: Vector


STATE = Layout(State, strategy="d", anchor="d", point="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, anchor, point, rounds = _view(state, d)
    rounds[0] += 1
    if settings[0] == 0:
        now, following = 0.5 / np.sqrt(d * rounds[0]), 0.5 / np.sqrt(d * (rounds[0] + 1))
    else:
        now = rate_at(settings[0], settings[1], rounds[0])
        following = rate_at(settings[0], settings[1], rounds[0] + 1)
    for i in range(d):
        point[i] = anchor[i] - now * loss[i]
    project(point, anchor)
    for i in range(d):
        point[i] = anchor[i] - following * loss[i]
    project(point, strategy)


@dataclass(frozen=True)
class OptimisticGradient(Learner):
    """Run gradient descent with the last loss as a prediction of the next one.

    Parameters
    ----------
    rate : float or str, optional
        Step size, in units of probability / loss, or a schedule, see `gamesim.rates`.
        By default 1 / (2 √(d t)) in round t.

    Notes
    -----
    With Π the Euclidean projection onto the simplex and l the last loss, the updates are

        q ← Π(q - rate_t · l)
        p = Π(q - rate_{t+1} · l)

    Two strategies are at most √2 apart, so external regret is at most

        1 / rate_T + Σ rate_t |l_t - l_{t-1}|² / 2,   |l_t - l_{t-1}|² ≤ 4 d

    In zero-sum games, strategies converge at a linear rate if the step size is at most 1 / (8 σ), with
    σ the largest singular value of the matrix of losses. With entropy in place of the Euclidean
    distance, the learner is `optimistic-hedge` with a constant rate.

    Started at a strategy, the learner takes its first step from there.

    References
    ----------
    Rakhlin and Sridharan (2013), "Online learning with predictable sequences", section 2.

    Convergence: Wei, Lee, Zhang and Luo (2021), "Linear last-iterate convergence in constrained
    saddle-point optimization", Theorem 8.

    Examples
    --------
    >>> learner = OptimisticGradient(rate=0.1).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)  # gradient descent: 0.45, 0.55
    array([0.4, 0.6])
    """

    rate: RateSetting = None

    name = "optimistic-gradient"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        parsed("rate", self.rate, most=LARGEST_RATE)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.rate, lambda rounds: tuned_rate(1.0, 2 * actions, rounds)))

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        uniform = np.full(actions, 1 / actions)
        return STATE.pack(actions, strategy=uniform, anchor=uniform)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = parts.anchor[:] = strategy

    def limit(self) -> Regulariser:  # noqa: D102
        return "euclidean"

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is None:
            return Guarantee("external", "4 √(d T)", lambda T, d: 4 * sqrt(d * T))
        return rate_guarantee(self.rate, "1 / {rate} + 2 d {sum}", lambda T, d: 1.0, lambda d: 2.0 * d)
