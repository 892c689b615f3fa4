"""Exp3-IX: Exp3 with implicit exploration, by slightly underestimating losses."""

from dataclasses import dataclass
from math import log, sqrt

from gamesim.engine.compiled import Vector
from gamesim.learner import Guarantee, Learner
from gamesim.players.exp3 import SETTINGS, STATE, Exp3
from gamesim.validation import MOST_ROUNDS, positive


@dataclass(frozen=True)
class Exp3IX(Learner):
    """Play Exp3 with implicit exploration: loss estimates biased towards 0.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the learning rate is tuned to. A simulation sets it if it is not given.

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of the played action i is estimated as

        l_i / (p_i + rate / 2)

    With L the sum of the estimates, the strategy is

        p ∝ exp(-rate · L)
        rate = sqrt(2 ln d / (d T))

    In the mean over p, the estimates are too low by at most rate d / 2. The expected external regret
    is therefore at most

        ln d / rate + rate d T

    Unlike that of Exp3, the regret is also small with high probability.

    References
    ----------
    Neu (2015), "Explore no more: improved high-probability regret bounds for non-stochastic bandits",
    equation 3 and Theorem 1.

    Examples
    --------
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
        positive("horizon", self.horizon, most=MOST_ROUNDS)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        rate = sqrt(2 * log(actions) / (actions * self.required_horizon()))
        return SETTINGS.pack(rate=rate, bias=rate / 2)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee(
            "external", "3 √(2 d T ln d)", lambda T, d: 3 * sqrt(2 * d * T * log(d)), expected=True
        ).tuned_to(self.horizon)
