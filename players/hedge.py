"""Hedge: exponential weights."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.simplex import softmin
from gamesim.rates import RateSetting, parsed


class State(NamedTuple):
    """State of Hedge."""

    weight: Vector  # the number of rounds observed
    losses: Vector  # the cumulative loss of each action


STATE = Layout(State, weight="1", losses="d")
view = STATE.view


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    weight, losses = view(state, strategy.size)
    if settings[0] == 0:  # anytime: the rate of round t; losses have range 2
        rate = np.sqrt(2 * np.log(strategy.size) / (weight[0] + 1))
    else:
        rate = rate_at(settings[0], settings[1], weight[0] + 1)
    softmin(rate, losses, strategy)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    weight, losses = view(state, loss.size)
    weight[0] += 1
    for i in range(loss.size):
        losses[i] += loss[i]


@dataclass(frozen=True)
class Hedge(Learner):
    """Play actions with probability proportional to exp(-rate · cumulative loss).

    Parameters
    ----------
    rate : float or str, optional
        Learning rate, in units of 1 / loss, or a schedule, see `gamesim.rates`.
        By default it decreases as 1 / √t and needs no horizon.

    Notes
    -----
    With L the cumulative loss of each action, the strategy is

        p ∝ exp(-rate · L)

    The default rate in round t is

        rate_t = sqrt(8 ln d / t) / 2

    where the division by 2 accounts for losses of range 2.

    Started at a strategy p, the learner sets L = -ln p / rate_1.

    References
    ----------
    Freund and Schapire (1997), "A decision-theoretic generalization of on-line learning", Theorem 2.

    Anytime rate and bound: Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games",
    Theorem 2.3.

    Examples
    --------
    >>> learner = Hedge(rate=1.0).start(actions=3)
    >>> learner.observe([1.0, 0.0, 0.0])
    >>> learner.play().round(3)
    array([0.155, 0.422, 0.422])
    """

    rate: RateSetting = None

    name = "hedge"
    kernels = _play, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        parsed("rate", self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.rate, lambda rounds: tuned_rate(log(actions), 0.5, rounds)))

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        settings = self.kernel_settings(strategy.size)
        rate = settings[0] or sqrt(2 * log(strategy.size))
        with np.errstate(divide="ignore"):  # an action without mass never returns
            self.parts(state, strategy.size).losses[:] = -np.log(strategy) / rate

    def limit(self) -> Regulariser:  # noqa: D102
        return "entropic"

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is None:
            return Guarantee(
                "external", "2(√(2 T ln d) + √(ln d / 8))", lambda T, d: 2 * (sqrt(2 * T * log(d)) + sqrt(log(d) / 8))
            )
        return rate_guarantee(self.rate, "ln d / {rate} + {sum} / 2", lambda T, d: log(d), lambda d: 0.5)
