"""Smooth fictitious play: the logit response to the average past play."""

from dataclasses import dataclass

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Learner
from gamesim.players._kernels.simplex import softmin
from gamesim.players.hedge import STATE, Hedge, view
from gamesim.validation import positive


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    rounds, losses = view(state, strategy.size)
    softmin(1 / (settings[0] * max(rounds[0], 1.0)), losses, strategy)


@dataclass(frozen=True)
class SmoothFictitiousPlay(Learner):
    """Play the logit response to the mean past losses.

    Parameters
    ----------
    temperature : float, default 0.1
        Temperature τ of the logit response, in units of loss. The lower it is, the closer the learner
        is to fictitious play.

    Notes
    -----
    With L the cumulative loss of each action after t rounds, the strategy is

        p ∝ exp(-L / (t · τ))

    the logit response to the others' average play. The rest points are logit equilibria, not Nash
    equilibria.

    The learner is Hedge with the rate 1 / (τ (t - 1)) in round t > 1. Since the rates decrease,
    external regret is at most

        ln d / (the last rate) + Σ rates / 2 ≤ τ T ln d + (2 + ln T) / (2 τ)

    For every fixed τ this is linear in T. Regret per round need not vanish, so the learner declares no
    guarantee.

    Started at a strategy p, the learner sets the mean losses to -τ ln p, as after one round.

    References
    ----------
    Fudenberg and Levine (1998), "The Theory of Learning in Games", section 4.4.

    Examples
    --------
    >>> learner = SmoothFictitiousPlay(temperature=0.5).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)
    array([0.119, 0.881])
    """

    temperature: float = 0.1

    name = "smooth-fictitious-play"
    kernels = _play, Hedge.kernels[1]  # the same state as Hedge: rounds and cumulative losses
    state_layout = STATE

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        with np.errstate(divide="ignore"):  # an action without mass never returns
            self.parts(state, strategy.size).losses[:] = -self.temperature * np.log(strategy)

    def __post_init__(self) -> None:
        positive("temperature", self.temperature)
