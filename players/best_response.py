"""Best response to the last round."""

from dataclasses import dataclass

import numpy as np
from gamesim.players._kernels.numeric import copy

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Learner

ROUNDING = 1e-12  # losses this close to the least count as tied: rounding must not choose among equal actions


@kernel
def uniform_on_least(losses: Vector, tolerance: float, strategy: Vector) -> None:
    """Write the uniform strategy on the actions whose loss is within the tolerance of the least."""
    least = losses[0]
    for i in range(strategy.size):
        least = min(least, losses[i])
    leaders = 0
    for i in range(strategy.size):
        leaders += losses[i] <= least + tolerance
    for i in range(strategy.size):
        strategy[i] = 1 / leaders if losses[i] <= least + tolerance else 0.0


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    uniform_on_least(state, ROUNDING, strategy)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    copy(state, loss)


@dataclass(frozen=True)
class BestResponse(Learner):
    """Play the action that was best against the last round's strategies.

    With l the last loss, the strategy is uniform on {i : l_i ≤ min l + 1e-12}, and on all actions in the first round.

    Reference: Cournot (1838), "Recherches sur les principes mathématiques de la théorie des richesses", chapter 7.
    No guarantee: against losses that alternate, every round is lost.

    >>> learner = BestResponse().start(actions=3)
    >>> learner.observe([1.0, -0.5, -0.5])
    >>> learner.play()
    array([0. , 0.5, 0.5])
    """

    name = "best-response"
    kernels = _play, _observe

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return np.zeros(actions)
