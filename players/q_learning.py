"""Q-learning: the logit response to discounted losses."""

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
    """State of Q-learning."""

    strategy: Vector
    losses: Vector  # -Q, the discounted mean loss of each action
    rounds: Vector


STATE = Layout(State, strategy="d", losses="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, losses, rounds = _view(state, loss.size)
    rounds[0] += 1
    rate, temperature = rate_at(settings[0], settings[1], rounds[0]), settings[2]
    for i in range(loss.size):
        losses[i] += rate * (loss[i] - losses[i])
    softmin(1 / temperature, losses, strategy)


@dataclass(frozen=True)
class QLearning(Learner):
    """Play the logit response to exponentially discounted losses.

    Parameters
    ----------
    rate : float or str, default 0.1
        Weight of the last loss, at most 1, or a schedule, see `gamesim.rates`.
    temperature : float, default 0.1
        Temperature τ of the logit response, in units of loss.

    Notes
    -----
    With Q the value of each action, the updates are

        Q ← (1 - rate) Q - rate · l
        p ∝ exp(Q / τ)

    for all actions, since all losses are observed. In the limit of small rates, this is the replicator
    dynamic with a force of size τ towards the uniform strategy,

        dp_i/ds = p_i (<p, l> - l_i - τ (ln p_i - <p, ln p>)) / τ

    Its rest points are logit equilibria. With rate 1, it is the logit response to the last round.
    Regret per round need not vanish, so the learner declares no guarantee.

    Started at a strategy p, the learner sets Q = τ ln p.

    References
    ----------
    Tuyls, Verbeeck and Lenaerts (2003), "A selection-mutation model for Q-learning in multi-agent
    systems", section 4.

    Leslie and Collins (2005), "Individual Q-learning in normal form games".

    Examples
    --------
    >>> learner = QLearning(rate=0.5, temperature=0.5).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)
    array([0.269, 0.731])
    """

    rate: RateSetting = 0.1
    temperature: float = 0.1

    name = "q-learning"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        rate = parsed("rate", self.rate)
        if not 0 < rate.scale <= 1 or rate.per_payoff:
            raise InputError(f"rate must be positive and at most 1, or a schedule of such rates, got {self.rate!r}")
        positive("temperature", self.temperature)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([*scale_and_decay(self.rate, lambda rounds: 0.0), self.temperature])

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        if strategy.min() == 0:
            raise InputError(f"q-learning plays every action, so a start must have no zeros, got {strategy}")
        parts = self.parts(state, strategy.size)
        parts.strategy[:], parts.losses[:] = strategy, -self.temperature * np.log(strategy)
