"""Tsallis-INF: a bandit learner that is optimal for both adversarial and stochastic losses."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import inverse_power, recall
from gamesim.players.exp3 import estimate


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
    inverse_power(1 / np.sqrt(rounds[0] + 1), losses, 2, strategy)


@dataclass(frozen=True)
class TsallisINF(Learner):
    """Follow the 1/2-Tsallis-regularised leader on bandit feedback.

    Notes
    -----
    Losses are mapped to [0, 1]. The loss of action i is estimated as l_i / p_i if i is played and as 0
    otherwise. With L the sum of the estimates, the learner follows the regularised leader with the
    regulariser -4 Σ √p. Round t plays

        p_i = 4 / (η (L_i - x))²
        η = 2 / √t

    with the x < min L for which the probabilities sum to 1. No horizon is needed. The guarantee bounds
    the expected external regret.

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

    name = "tsallis-inf"
    kernels = recall, _observe
    state_layout = STATE
    feedback = ("bandit",)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "8 √(d T) + 2", lambda T, d: 8 * sqrt(d * T) + 2, expected=True)
