"""Regret matching⁺: regret matching that forgets negative regret."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from gamesim.compiled import Vector, kernel
from gamesim.player import Guarantee, Player
from gamesim.players.regret_matching import RegretMatching, expected_loss, match


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    regrets, played = state[: loss.size], state[loss.size :]
    match(regrets, played)
    suffered = expected_loss(played, loss)
    for i in range(loss.size):
        regrets[i] = max(regrets[i] + suffered - loss[i], 0.0)


@dataclass(frozen=True)
class RegretMatchingPlus(Player):
    """Play in proportion to regret that is set back to 0 whenever it would become negative.

    With Q ← [Q + <p, l> 1 - l]₊ after each round, the strategy is p ∝ Q, and uniform where Q = 0. Q is at least the
    regret, and |Q|² grows by at most 4 d in a round.

    Reference: Tammelin, Burch, Johanson and Bowling (2015), "Solving heads-up limit Texas hold'em", Lemmas 1-2.

    >>> learner = RegretMatchingPlus().start(actions=2)
    >>> for loss in ([1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0]):
    ...     learner.observe(loss)
    >>> learner.play().round(3)  # regret matching would still play the second action alone
    array([1., 0.])
    """

    name = "regret-matching-plus"
    kernels = RegretMatching.kernels[0], _observe

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return np.zeros(2 * actions)

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "2 √(d T)", lambda T, d: 2 * sqrt(d * T))
