"""Exp3-IX: Exp3 with implicit exploration, by slightly underestimating losses."""

from dataclasses import dataclass, replace
from math import log, sqrt

from gamesim.engine.compiled import Vector
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.rate import rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players.exp3 import SETTINGS, STATE, Exp3, horizon_rate
from gamesim.rates import RateSetting, parsed
from gamesim.validation import MOST_ROUNDS, positive


@dataclass(frozen=True)
class Exp3IX(Learner):
    """Play Exp3 with implicit exploration: loss estimates biased towards 0.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the default rate is tuned to. A simulation sets it if it is not given.
    rate : float or str, optional
        Learning rate, in units of 1 / loss, or a schedule, see `gamesim.rates`.
        By default sqrt(ln d / (2 d T)).

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of the played action i is estimated as

        l_i / (p_i + rate)

    With L the sum of the estimates, the strategy is

        p ∝ exp(-2 rate · L)

    where the factor 2 accounts for losses of range 2. In the mean over p, the estimates are too low by
    at most rate d. For rates that do not increase, the expected external regret is therefore at most

        ln d / rate_T + 4 d Σ rate_t

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
    rate: RateSetting = None

    name = "exp3-ix"
    kernels = Exp3.kernels
    state_layout = STATE
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)
        parsed("rate", self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        scale, decay = scale_and_decay(self.rate, lambda rounds: tuned_rate(log(actions), 4 * actions, rounds))
        if self.rate is None:
            scale = horizon_rate(actions, self.required_horizon())
        return SETTINGS.pack(scale=2 * scale, decay=decay, bias=0.5)

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is not None:
            promise = rate_guarantee(self.rate, "ln d / {rate} + 4 d {sum}", lambda T, d: log(d), lambda d: 4.0 * d)
            return None if promise is None else replace(promise, expected=True)
        return Guarantee(
            "external", "3 √(2 d T ln d)", lambda T, d: 3 * sqrt(2 * d * T * log(d)), expected=True
        ).tuned_to(self.horizon)
