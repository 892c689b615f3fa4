"""Tsallis-INF: a bandit learner that is optimal for both adversarial and stochastic losses."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.simplex import inverse_power, recall
from gamesim.players.exp3 import estimate
from gamesim.rates import RateSetting, parsed


class State(NamedTuple):
    """State of Tsallis-INF."""

    strategy: Vector
    losses: Vector  # the estimated cumulative loss of each action
    rounds: Vector


STATE = Layout(State, strategy="d", losses="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, losses, rounds = _view(state, d)
    estimate(strategy, loss, 0.0, losses)
    rounds[0] += 1
    rate = 1 / np.sqrt(rounds[0] + 1) if settings[0] == 0 else rate_at(settings[0], settings[1], rounds[0] + 1)
    inverse_power(rate, losses, 2, strategy)


@dataclass(frozen=True)
class TsallisINF(Learner):
    """Follow the 1/2-Tsallis-regularised leader on bandit feedback.

    Parameters
    ----------
    rate : float or str, optional
        Learning rate, in units of 1 / loss, or a schedule, see `gamesim.rates`.
        By default 1 / √t in round t.

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of action i is estimated as l_i / p_i if i is played and as 0
    otherwise. With L the sum of the estimates, the learner follows the regularised leader with the
    regulariser -4 Σ √p. Round t plays

        p_i = 4 / (η (L_i - x))²
        η = 2 rate_t

    with the x < min L for which the probabilities sum to 1. The factor 2 accounts for losses of range 2.
    For rates that do not increase, the expected external regret is at most

        4 (√d - 1) / rate_T + 2 √d Σ rate_t

    References
    ----------
    Zimmert and Seldin (2021), "Tsallis-INF: an optimal algorithm for stochastic and adversarial
    bandits", Algorithm 1 with importance-weighted estimates, and Theorem 1.

    Examples
    --------
    >>> learner = TsallisINF().start(actions=2)
    >>> learner.observe([1.0, float("nan")])
    >>> learner.play().round(3)
    array([0.159, 0.841])
    """

    rate: RateSetting = None

    name = "tsallis-inf"
    kernels = recall, _observe
    state_layout = STATE
    feedback = ("bandit",)

    def __post_init__(self) -> None:
        parsed("rate", self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.rate, lambda rounds: tuned_rate(*_bound(actions), rounds)))

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is not None:
            promise = rate_guarantee(
                self.rate, "4 (√d - 1) / {rate} + 2 √d {sum}", lambda T, d: _bound(d)[0], lambda d: _bound(d)[1]
            )
            return None if promise is None else replace(promise, expected=True)
        return Guarantee("external", "8 √(d T) + 2", lambda T, d: 8 * sqrt(d * T) + 2, expected=True)


def _bound(actions: int) -> tuple[float, float]:
    """Return the factors of 1 / rate_T and of Σ rate_t: range and local norms of the regulariser."""
    return 4 * (sqrt(actions) - 1), 2 * sqrt(actions)
