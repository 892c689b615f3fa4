"""The replicator dynamic in discrete time."""

from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players._kernels.rate import rate_at, scale_and_decay
from gamesim.players._kernels.simplex import expected_loss, recall, softmin
from gamesim.rates import RateSetting, parsed


class State(NamedTuple):
    """State of the replicator dynamic."""

    strategy: Vector
    losses: Vector  # -ln p up to a constant: probabilities far below the smallest number can still grow back
    rounds: Vector


STATE = Layout(State, strategy="d", losses="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, losses, rounds = _view(state, loss.size)
    rounds[0] += 1
    step = rate_at(settings[0], settings[1], rounds[0])
    suffered = expected_loss(strategy, loss)
    least = np.inf
    for i in range(loss.size):
        losses[i] -= np.log1p(step * (suffered - loss[i]))
        least = min(least, losses[i])
    for i in range(loss.size):
        losses[i] -= least
    softmin(1.0, losses, strategy)


@dataclass(frozen=True)
class Replicator(Learner):
    """Follow the replicator dynamic in discrete time.

    Parameters
    ----------
    step : float or str, default 0.01
        Length of an Euler step, in units of 1 / loss: positive and less than 1/2. Or a schedule, see `gamesim.rates`.

    Notes
    -----
    The replicator equation

        dp_i/ds = p_i (<p, l> - l_i)

    is followed in Euler steps:

        p_i ← p_i (1 + step · (<p, l> - l_i))

    with the logarithms of p, so that no probability is rounded to 0. In the limit of small rates, Hedge
    is the replicator dynamic. The probabilities keep their sum. With
    r_i = <p, l> - l_i, it follows for every action i that

        Π_t (1 + step · r_i) ≤ d

    For constant steps of at most 1/4, ln(1 + x) ≥ x - x² for x ≥ -1/2 gives the bound

        ln d / step + 4 step T

    Started at a strategy, the dynamic takes its first step from there.

    References
    ----------
    Taylor and Jonker (1978), "Evolutionarily stable strategies and game dynamics", equation 2.

    Bound, that of Prod: Cesa-Bianchi, Mansour and Stoltz (2007), "Improved second-order bounds for
    prediction with expert advice", Lemma 2.

    Examples
    --------
    >>> learner = Replicator(step=0.1).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)
    array([0.475, 0.525])
    """

    step: RateSetting = 0.01

    name = "replicator"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        step = parsed("step", self.step)
        if step.scale == 0:
            raise InputError(f"step must be a number or a schedule, got {self.step!r}")
        if step.scale >= 0.5 and not step.per_payoff:  # probabilities could become negative
            raise InputError(f"step must be positive and less than 1/2, got {self.step}")

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.step, lambda rounds: 0.0))

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = strategy
        with np.errstate(divide="ignore"):  # an action without mass never returns
            parts.losses[:] = -np.log(strategy)

    def limit(self) -> Regulariser:  # noqa: D102
        return "entropic"

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        step = self.step
        if isinstance(step, str) or step is None or step > 0.25:
            return None
        return Guarantee("external", "ln d / step + 4 step T", lambda T, d: log(d) / step + 4 * step * T)
