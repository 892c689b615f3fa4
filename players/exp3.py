"""Exp3: Hedge on estimated losses, for bandit feedback."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import recall, softmin
from gamesim.validation import MOST_ROUNDS, positive


class State(NamedTuple):
    """State of Exp3."""

    strategy: Vector
    losses: Vector  # the estimated cumulative loss of each action


STATE = Layout(State, strategy="d", losses="d")
_view = STATE.view


class Settings(NamedTuple):
    """Kernel settings of Exp3 and Exp3-IX."""

    rate: float
    bias: float  # added to the probability that an observed loss is divided by


SETTINGS = Layout(Settings, "", rate="float", bias="float")
settings_view = SETTINGS.view


@kernel
def estimate(strategy: Vector, loss: Vector, bias: float, losses: Vector) -> None:
    """Add the estimate l / (p + bias) of the played action's loss, with l mapped to [0, 1]."""
    for i in range(loss.size):
        if not np.isnan(loss[i]):
            losses[i] += (loss[i] + 1) / (2 * (strategy[i] + bias))


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    rate, bias = settings_view(settings)
    strategy, losses = _view(state, loss.size)
    estimate(strategy, loss, bias, losses)
    softmin(rate, losses, strategy)


@dataclass(frozen=True)
class Exp3(Learner):
    """Play Hedge on importance-weighted loss estimates (bandit feedback).

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the learning rate is tuned to. A simulation sets it if it is not given.

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of action i is estimated as l_i / p_i if i is played and as 0
    otherwise, which is unbiased. With L the sum of the estimates, the strategy is

        p ∝ exp(-rate · L)
        rate = sqrt(2 ln d / (d T))

    The guarantee bounds the expected external regret.

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

    name = "exp3"
    kernels = recall, _observe
    state_layout = STATE
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return SETTINGS.pack(rate=sqrt(2 * log(actions) / (actions * self.required_horizon())), bias=0.0)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee(
            "external", "2 √(2 d T ln d)", lambda T, d: 2 * sqrt(2 * d * T * log(d)), expected=True
        ).tuned_to(self.horizon)
