"""Exp3-IX: Exp3 that explores by estimating losses a little too low."""

from dataclasses import dataclass
from math import log, sqrt

from gamesim.engine.compiled import Vector
from gamesim.learner import Guarantee, Learner
from gamesim.players.exp3 import SETTINGS, STATE, Exp3
from gamesim.validation import positive


@dataclass(frozen=True)
class Exp3IX(Learner):
    """Play as Exp3, with losses estimated as l_i / (p_i + rate / 2): too low, but never very large.

    On losses mapped to [0, 1], with L the sum of the estimates l_i / (p_i + rate / 2) of what was played,
    p ∝ exp(-rate · L), rate = sqrt(2 ln d / (d T)) and T = `horizon`. The estimates are too low by at most rate d / 2
    in the mean over p, so that the expected regret is at most ln d / rate + rate d T; unlike Exp3's, the regret is also
    small with high probability.

    Reference: Neu (2015), "Explore no more: improved high-probability regret bounds for non-stochastic bandits",
    equation 3 and Theorem 1.

    >>> learner = Exp3IX(horizon=100).start(actions=2)
    >>> learner.observe([1.0, float("nan")])
    >>> learner.play().round(3)
    array([0.462, 0.538])
    """

    horizon: int | None = None

    name = "exp3-ix"
    kernels = Exp3.kernels
    state_layout = STATE
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        positive("horizon", self.horizon)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        rate = sqrt(2 * log(actions) / (actions * self.required_horizon()))
        return SETTINGS.pack(rate=rate, bias=rate / 2)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee(
            "external", "3 √(2 d T ln d)", lambda T, d: 3 * sqrt(2 * d * T * log(d)), expected=True
        ).tuned_to(self.horizon)
