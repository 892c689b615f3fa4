"""Online gradient descent with projection onto the simplex."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import project, recall
from gamesim.validation import positive

LARGEST_RATE = 1e6  # projecting a point further away would lose the digits of the probabilities


class State(NamedTuple):
    """State of online gradient descent."""

    strategy: Vector
    point: Vector  # scratch: the point after the step, before the projection
    rounds: Vector


STATE = Layout(State, strategy="d", point="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, point, rounds = _view(state, d)
    rounds[0] += 1
    rate = settings[0]
    if rate == 0:
        rate = 1 / np.sqrt(2 * d * rounds[0])
    for i in range(d):
        point[i] = strategy[i] - rate * loss[i]
    project(point, strategy)


@dataclass(frozen=True)
class Gradient(Learner):
    """Run online gradient descent with projection onto the simplex.

    Parameters
    ----------
    rate : float, optional
        Step size, in units of probability / loss, at most 1e6. By default 1 / sqrt(2 d t) in round t.

    Notes
    -----
    With Π the Euclidean projection onto the simplex, the update is

        p ← Π(p - rate · l)

    The default step size in round t is

        rate_t = 1 / sqrt(2 d t)

    Two strategies are at most √2 apart and loss vectors have norm at most √d, so external regret is at
    most

        2 / (2 rate_T) + Σ rate_t d / 2

    References
    ----------
    Zinkevich (2003), "Online convex programming and generalized infinitesimal gradient ascent",
    Theorem 1.

    Examples
    --------
    >>> learner = Gradient(rate=0.5).start(actions=3)
    >>> learner.observe([1.0, 0.0, 0.0])
    >>> learner.play().round(3)
    array([0. , 0.5, 0.5])
    """

    rate: float | None = None

    name = "gradient"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        positive("rate", self.rate, most=LARGEST_RATE)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array([self.rate or 0.0])

    def guarantee(self) -> Guarantee:  # noqa: D102
        rate = self.rate
        if rate is None:
            return Guarantee("external", "3 √(d T / 2)", lambda T, d: 3 * sqrt(d * T / 2))
        return Guarantee("external", "1 / rate + rate d T / 2", lambda T, d: 1 / rate + rate * d * T / 2)
