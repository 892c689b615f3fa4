"""Magnetic mirror descent: mirror descent with entropy, drawn to a magnet."""

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
from gamesim.validation import MOST_ROUNDS, at_least, whole_number


class State(NamedTuple):
    """State of magnetic mirror descent."""

    strategy: Vector
    losses: Vector  # -ln p up to a constant
    magnet: Vector  # -ln ρ up to a constant
    rounds: Vector


STATE = Layout(State, strategy="d", losses="d", magnet="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, losses, magnet, rounds = _view(state, loss.size)
    rounds[0] += 1
    rate = rate_at(settings[0], settings[1], rounds[0])
    pull, period = rate * settings[2], settings[3]
    least = np.inf
    for i in range(loss.size):
        pulled = pull * magnet[i] if pull > 0 else 0.0
        losses[i] = (losses[i] + pulled + rate * loss[i]) / (1 + pull)
        least = min(least, losses[i])
    for i in range(loss.size):
        losses[i] -= least
    softmin(1.0, losses, strategy)
    if period > 0 and rounds[0] % period == 0:
        for i in range(loss.size):
            magnet[i] = losses[i]


@dataclass(frozen=True)
class MagneticMirrorDescent(Learner):
    """Run mirror descent with entropy, drawn to a magnet.

    Parameters
    ----------
    rate : float or str, default 0.1
        Step size η, in units of 1 / loss, or a schedule, see `gamesim.rates`.
    temperature : float, default 0.05
        Strength α of the magnet, in units of loss.
    period : int, default 0
        Number of rounds after which the magnet moves to the current strategy; 0 leaves it where it is.

    Notes
    -----
    With the magnet ρ, uniform or the start, the update is

        p ← argmin <l, p> + α KL(p, ρ) + KL(p, p_t) / η

    which is

        p ∝ (p_t · ρ^(ηα) · exp(-η l))^(1 / (1 + ηα))

    In zero-sum games with a fixed magnet and small η, the strategies converge at a linear rate to the
    equilibrium of the game with α KL(p, ρ) added to the losses. With a magnet that moves only after
    they have converged, they approach a Nash equilibrium; with a period of few rounds, they need not
    converge. The learner declares no guarantee: with a fixed magnet, regret can be linear in T.

    Started at a strategy, the learner takes its first step from there, with the magnet there.

    References
    ----------
    Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown and Kroer (2023), "A unified approach
    to reinforcement learning, quantal response equilibria, and two-player zero-sum games", Theorem 3.4.

    Examples
    --------
    >>> learner = MagneticMirrorDescent(rate=1.0, temperature=1.0).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)  # half of the step of mirror descent
    array([0.378, 0.622])
    """

    rate: RateSetting = 0.1
    temperature: float = 0.05
    period: int = 0

    name = "magnetic-mirror-descent"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        if parsed("rate", self.rate).scale == 0:
            raise InputError(f"rate must be a number or a schedule, got {self.rate!r}")
        at_least("temperature", self.temperature, 0)
        whole_number("period", self.period, least=0, most=MOST_ROUNDS)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([*scale_and_decay(self.rate, lambda rounds: 0.0), self.temperature, self.period])

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = strategy
        with np.errstate(divide="ignore"):  # an action without mass never returns
            parts.losses[:] = parts.magnet[:] = -np.log(strategy)
