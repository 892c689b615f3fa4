"""Online gradient descent with projection onto the simplex."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.simplex import project, recall
from gamesim.rates import RateSetting, parsed

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
    rate = 1 / np.sqrt(2 * d * rounds[0]) if settings[0] == 0 else rate_at(settings[0], settings[1], rounds[0])
    for i in range(d):
        point[i] = strategy[i] - rate * loss[i]
    project(point, strategy)


@dataclass(frozen=True)
class Gradient(Learner):
    """Run online gradient descent with projection onto the simplex.

    Parameters
    ----------
    rate : float or str, optional
        Step size, in units of probability / loss, at most 1e6, or a schedule, see `gamesim.rates`.
        By default 1 / sqrt(2 d t) in round t.

    Notes
    -----
    With Π the Euclidean projection onto the simplex, the update is

        p ← Π(p - rate · l)

    The default step size in round t is

        rate_t = 1 / sqrt(2 d t)

    Two strategies are at most √2 apart and loss vectors have norm at most √d, so external regret is at
    most

        2 / (2 rate_T) + Σ rate_t d / 2

    Started at a strategy, the learner takes its first step from there.

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

    rate: RateSetting = None

    name = "gradient"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        parsed("rate", self.rate, most=LARGEST_RATE)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.rate, lambda rounds: tuned_rate(1.0, actions / 2, rounds)))

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        self.parts(state, strategy.size).strategy[:] = strategy

    def limit(self) -> Regulariser:  # noqa: D102
        return "euclidean"

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is None:
            return Guarantee("external", "3 √(d T / 2)", lambda T, d: 3 * sqrt(d * T / 2))
        return rate_guarantee(self.rate, "1 / {rate} + d {sum} / 2", lambda T, d: 1.0, lambda d: d / 2)
