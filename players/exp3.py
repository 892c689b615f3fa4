"""Exp3: Hedge on estimated losses, for bandit feedback."""

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.simplex import recall, softmin
from gamesim.rates import RateSetting, parsed
from gamesim.validation import MOST_ROUNDS, positive


class State(NamedTuple):
    """State of Exp3."""

    strategy: Vector
    losses: Vector  # the estimated cumulative loss of each action
    rounds: Vector


STATE = Layout(State, strategy="d", losses="d", rounds="1")
_view = STATE.view


class Settings(NamedTuple):
    """Kernel settings of Exp3 and Exp3-IX."""

    scale: float  # losses are mapped to [0, 1], so that their rate is scale · t^-decay = 2 rate
    decay: float
    bias: float  # times this rate, added to the probability that an observed loss is divided by


SETTINGS = Layout(Settings, "", scale="float", decay="float", bias="float")
_settings_view = SETTINGS.view


@kernel
def estimate(strategy: Vector, loss: Vector, bias: float, losses: Vector) -> None:
    """Add the estimate l / (p + bias) of the played action's loss, with l mapped to [0, 1]."""
    for i in range(loss.size):
        if not np.isnan(loss[i]):
            losses[i] += (loss[i] + 1) / (2 * (strategy[i] + bias))


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    scale, decay, bias = _settings_view(settings)
    strategy, losses, rounds = _view(state, loss.size)
    rounds[0] += 1
    estimate(strategy, loss, bias * rate_at(scale, decay, rounds[0]), losses)
    softmin(rate_at(scale, decay, rounds[0] + 1), losses, strategy)


def horizon_rate(actions: int, rounds: int) -> float:
    """Return the default rate of Exp3 and Exp3-IX, in units of 1 / loss."""
    return sqrt(2 * log(actions) / (actions * rounds)) / 2


@dataclass(frozen=True)
class Exp3(Learner):
    """Play Hedge on importance-weighted loss estimates (bandit feedback).

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the default rate is tuned to. A simulation sets it if it is not given.
    rate : float or str, optional
        Learning rate, in units of 1 / loss, or a schedule, see `gamesim.rates`.
        By default sqrt(ln d / (2 d T)).

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of action i is estimated as l_i / p_i if i is played and as 0
    otherwise, which is unbiased. With L the sum of the estimates, the strategy is

        p ∝ exp(-2 rate · L)

    where the factor 2 accounts for losses of range 2. For rates that do not increase, the expected
    external regret is at most

        ln d / rate_T + 2 d Σ rate_t

    References
    ----------
    Auer, Cesa-Bianchi, Freund and Schapire (2002), "The nonstochastic multiarmed bandit problem",
    section 3.

    Form and bound: Bubeck and Cesa-Bianchi (2012), "Regret analysis of stochastic and nonstochastic
    multi-armed bandit problems", Theorem 3.1.

    Examples
    --------
    >>> learner = Exp3(horizon=100).start(actions=2)
    >>> learner.observe([1.0, float("nan")])
    >>> learner.play().round(3)
    array([0.458, 0.542])
    """

    horizon: int | None = None
    rate: RateSetting = None

    name = "exp3"
    kernels = recall, _observe
    state_layout = STATE
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)
        parsed("rate", self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        scale, decay = scale_and_decay(self.rate, lambda rounds: tuned_rate(log(actions), 2 * actions, rounds))
        if self.rate is None:
            scale = horizon_rate(actions, self.required_horizon())
        return SETTINGS.pack(scale=2 * scale, decay=decay, bias=0.0)

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is not None:
            promise = rate_guarantee(self.rate, "ln d / {rate} + 2 d {sum}", lambda T, d: log(d), lambda d: 2.0 * d)
            return None if promise is None else replace(promise, expected=True)
        return Guarantee(
            "external", "2 √(2 d T ln d)", lambda T, d: 2 * sqrt(2 * d * T * log(d)), expected=True
        ).tuned_to(self.horizon)
