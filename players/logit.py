"""The logit dynamic: part of the players switch to the logit response."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.learner import Learner
from gamesim.players._kernels.rate import rate_at, scale_and_decay
from gamesim.players._kernels.simplex import recall, softmin
from gamesim.rates import RateSetting, parsed
from gamesim.validation import positive


class State(NamedTuple):
    """State of the logit dynamic."""

    strategy: Vector
    response: Vector  # scratch: the logit response to the last round
    rounds: Vector


STATE = Layout(State, strategy="d", response="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, response, rounds = _view(state, loss.size)
    rounds[0] += 1
    step, temperature = rate_at(settings[0], settings[1], rounds[0]), settings[2]
    softmin(1 / temperature, loss, response)
    for i in range(loss.size):
        strategy[i] += step * (response[i] - strategy[i])


@dataclass(frozen=True)
class Logit(Learner):
    """Follow the logit dynamic in discrete time.

    Parameters
    ----------
    step : float or str, default 0.01
        Share of the mass that moves in a round, at most 1, or a schedule, see `gamesim.rates`.
    temperature : float, default 0.1
        Temperature τ of the logit response, in units of loss.

    Notes
    -----
    The logit dynamic

        dp/ds = σ(-l / τ) - p,   σ(x) ∝ exp(x)

    is followed in Euler steps. Its rest points are logit equilibria. As τ goes to 0, it becomes the
    best-response dynamic. Regret per round need not vanish, so the learner declares no guarantee.

    Started at a strategy, the dynamic takes its first step from there.

    References
    ----------
    Fudenberg and Levine (1998), "The Theory of Learning in Games", section 4.2.

    Sandholm (2010), "Population Games and Evolutionary Dynamics", section 6.2.

    Examples
    --------
    >>> learner = Logit(step=0.5, temperature=1.0).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)
    array([0.384, 0.616])
    """

    step: RateSetting = 0.01
    temperature: float = 0.1

    name = "logit"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        step = parsed("step", self.step)
        if not 0 < step.scale <= 1 or step.per_payoff:
            raise InputError(f"step must be positive and at most 1, or a schedule of such steps, got {self.step!r}")
        positive("temperature", self.temperature)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([*scale_and_decay(self.step, lambda rounds: 0.0), self.temperature])

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        self.parts(state, strategy.size).strategy[:] = strategy
