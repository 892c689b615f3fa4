"""Stable predictive regret matching⁺: restarted when all regrets are small."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import expected_loss, match, recall
from gamesim.players.predictive_rm_plus import STATE, view
from gamesim.validation import positive


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d, floor = loss.size, settings[0]
    strategy, regrets, predicted = view(state, d)
    suffered = expected_loss(strategy, loss)
    largest = 0.0
    for i in range(d):
        regrets[i] = max(regrets[i] + suffered - loss[i], 0.0)
        largest = max(largest, regrets[i])
    for i in range(d):
        regrets[i] = floor if largest <= floor else regrets[i]
        predicted[i] = regrets[i] + suffered - loss[i]
    match(predicted, strategy)


@dataclass(frozen=True)
class StablePredictiveRegretMatchingPlus(Learner):
    """Play predictive regret matching⁺, restarted when all regrets are small.

    Parameters
    ----------
    floor : float, default 1.0
        The size R of the regrets after a restart, in units of loss.

    Notes
    -----
    With r = <p, l> 1 - l the regret of a round for each action, the update is that of predictive regret
    matching⁺,

        Q ← [Q + r]₊,   p ∝ [Q + r]₊

    and Q is set to R for all actions if no entry exceeds R, since p can jump from round to round while
    Q is short. A restart only increases Q, and |Q|² is then d R², so that external regret is at most

        √(d R² + Σ |r_t - r_{t-1}|²) ≤ √(d (R² + 16 T))

    Started at a strategy p, the learner sets Q in proportion to p, with R as its largest entry.

    References
    ----------
    Farina, Grand-Clément, Kroer, Lee and Luo (2023), "Regret matching⁺: (in)stability and fast
    convergence in games", section 4 (stable predictive RM⁺).

    Examples
    --------
    >>> learner = StablePredictiveRegretMatchingPlus().start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)  # predictive regret matching⁺ would play 0, 1
    array([0., 1.])
    """

    floor: float = 1.0

    name = "stable-predictive-rm-plus"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        positive("floor", self.floor)

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return STATE.pack(actions, strategy=1 / actions, regrets=self.floor, predicted=self.floor)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = strategy
        parts.regrets[:] = parts.predicted[:] = strategy * (self.floor / np.max(strategy))

    def guarantee(self) -> Guarantee:  # noqa: D102
        floor = self.floor
        return Guarantee("external", "√(d (R² + 16 T))", lambda T, d: sqrt(d * (floor**2 + 16 * T)))
