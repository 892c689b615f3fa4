"""Exp3: Hedge on estimated losses, when only the played action's loss is seen."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from gamesim.players.hedge import softmin
from gamesim.players.regret_matching import recall, uniform_then

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee, Learner
from gamesim.validation import positive


@kernel
def estimate(strategy: Vector, loss: Vector, bias: float, losses: Vector) -> None:
    """Add to the losses the estimate l / (p + bias) for the one action that was played, with l mapped to [0, 1]."""
    for i in range(loss.size):
        if not np.isnan(loss[i]):
            losses[i] += (loss[i] + 1) / (2 * (strategy[i] + bias))


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    rate, bias = settings[0], settings[1]
    strategy, losses = state[: loss.size], state[loss.size :]
    estimate(strategy, loss, bias, losses)
    softmin(rate, losses, strategy)


@dataclass(frozen=True)
class Exp3(Learner):
    """Play as Hedge on losses that are estimated from the one that was seen.

    On losses mapped to [0, 1], the loss of action i is estimated as l_i / p_i if i was played and 0 otherwise, which is
    right on average; with L the sum of the estimates, p ∝ exp(-rate · L), rate = sqrt(2 ln d / (d T)), T = `horizon`.

    Reference: Auer, Cesa-Bianchi, Freund and Schapire (2002), "The nonstochastic multiarmed bandit problem", section 3;
    the form and the bound: Bubeck and Cesa-Bianchi (2012), "Regret analysis of stochastic and nonstochastic
    multi-armed bandit problems", Theorem 3.1.

    >>> learner = Exp3(horizon=100).start(actions=2)
    >>> learner.observe([1.0, float("nan")])
    >>> learner.play().round(3)
    array([0.458, 0.542])
    """

    horizon: int | None = None

    name = "exp3"
    kernels = recall, _observe
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        positive("horizon", self.horizon)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([sqrt(2 * log(actions) / (actions * self.required_horizon())), 0.0])

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return uniform_then(actions, actions)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee(
            "external", "2 √(2 d T ln d)", lambda T, d: 2 * sqrt(2 * d * T * log(d)), expected=True
        ).tuned_to(self.horizon)
