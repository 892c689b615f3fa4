"""Tsallis-INF: the bandit learner that is best against adversaries and against chance."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from gamesim.players.exp3 import estimate
from gamesim.players.ftrl import inverse_power
from gamesim.players.regret_matching import recall, uniform_then

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee, Learner


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, losses = state[:d], state[d : 2 * d]
    estimate(strategy, loss, 0.0, losses)
    state[2 * d] += 1
    inverse_power(1 / np.sqrt(state[2 * d] + 1), losses, 2, strategy)


@dataclass(frozen=True)
class TsallisINF(Learner):
    """Follow the regularised leader on estimated losses, with the regulariser -4 Σ √p; no horizon.

    On losses mapped to [0, 1], with L the sum of the estimates l_i / p_i of what was played, round t plays
    p_i = 4 / (η (L_i - x))² with η = 2 / √t and the x < min L that makes the sum 1.

    Reference: Zimmert and Seldin (2021), "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits",
    Algorithm 1 with importance-weighted estimates, and Theorem 1.

    >>> learner = TsallisINF().start(actions=2)
    >>> learner.observe([1.0, float("nan")])
    >>> learner.play().round(3)
    array([0.159, 0.841])
    """

    name = "tsallis-inf"
    kernels = recall, _observe
    feedback = ("bandit",)

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return uniform_then(actions, actions + 1)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "8 √(d T) + 2", lambda T, d: 8 * sqrt(d * T) + 2, expected=True)
