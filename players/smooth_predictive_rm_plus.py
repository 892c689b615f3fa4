"""Smooth predictive regret matching⁺: regrets are kept away from the corner of the cone."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, inlined, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.simplex import expected_loss, project, recall
from gamesim.rates import RateSetting, parsed


class State(NamedTuple):
    """State of smooth predictive regret matching⁺ and of extragradient regret matching⁺."""

    strategy: Vector
    regrets: Vector  # Q, with a sum of at least 1
    lifted: Vector  # the vector that the strategy is proportional to
    point: Vector  # scratch: a vector before its projection
    rounds: Vector


STATE = Layout(State, strategy="d", regrets="d", lifted="d", point="d", rounds="1")
view = STATE.view


@inlined
def chop(point: Vector, result: Vector) -> None:
    """Write the nearest vector with nonnegative entries that sum to at least 1."""
    total = 0.0
    for i in range(point.size):
        result[i] = max(point[i], 0.0)
        total += result[i]
    if total < 1.0:
        project(point, result)


@inlined
def step(start: Vector, rate: float, suffered: float, loss: Vector, point: Vector, result: Vector) -> None:
    """Write the projection of start + rate · (suffered - loss)."""
    for i in range(loss.size):
        point[i] = start[i] + rate * (suffered - loss[i])
    chop(point, result)


@inlined
def normalise(lifted: Vector, strategy: Vector) -> None:
    """Write the strategy proportional to a vector with a sum of at least 1."""
    total = 0.0
    for i in range(lifted.size):
        total += lifted[i]
    for i in range(lifted.size):
        strategy[i] = lifted[i] / total


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, regrets, lifted, point, rounds = view(state, loss.size)
    rounds[0] += 1
    rate = rate_at(settings[0], settings[1], rounds[0])
    suffered = expected_loss(strategy, loss)
    step(regrets, rate, suffered, loss, point, regrets)
    step(regrets, rate, suffered, loss, point, lifted)
    normalise(lifted, strategy)


def first_state(actions: int) -> Vector:
    """Return the first state: uniform, with regrets that sum to 1."""
    uniform = np.full(actions, 1 / actions)
    return STATE.pack(actions, strategy=uniform, regrets=uniform, lifted=uniform)


@dataclass(frozen=True)
class SmoothPredictiveRegretMatchingPlus(Learner):
    """Play predictive regret matching⁺ on regrets that sum to at least 1.

    Parameters
    ----------
    rate : float or str, default "tuned"
        Step size, in units of 1 / loss, or a schedule, see `gamesim.rates`. Fast convergence in games
        is proved for constants such as 0.1.

    Notes
    -----
    With the regret of a round for each action

        r = <p, l> 1 - l

    and Π the projection onto the nonnegative vectors that sum to at least 1,

        Q ← Π(Q + rate · r)
        p ∝ Π(Q + rate · r)

    Predictive regret matching⁺ projects onto all nonnegative vectors, where a short Q lets p jump from
    round to round. Since <p, r> = 0, external regret is the regret of predictive mirror descent against
    the unit vectors, at most

        1 / (2 rate) + rate Σ |r_t - r_{t-1}|² / 2,   |r_t - r_{t-1}|² ≤ 16 d

    for a constant rate.

    Started at a strategy p, the learner sets Q = p.

    References
    ----------
    Farina, Grand-Clément, Kroer, Lee and Luo (2023), "Regret matching⁺: (in)stability and fast
    convergence in games", section 4 (smooth predictive RM⁺).

    Examples
    --------
    >>> learner = SmoothPredictiveRegretMatchingPlus(rate=0.1).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)
    array([0.4, 0.6])
    """

    rate: RateSetting = "tuned"

    name = "smooth-predictive-rm-plus"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        parsed("rate", self.rate or "")

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.rate, lambda rounds: tuned_rate(0.5, 8 * actions, rounds)))

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return first_state(actions)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = parts.regrets[:] = parts.lifted[:] = strategy

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if parsed("rate", self.rate).decay:  # the set of regrets is not bounded, so rates must not decrease
            return None
        return rate_guarantee(self.rate, "1 / (2 {rate}) + 8 d {sum}", lambda T, d: 0.5, lambda d: 8.0 * d)
