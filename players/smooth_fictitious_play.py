"""Smooth fictitious play: a noisy best response to the past on average."""

from dataclasses import dataclass

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
    """Play each action in proportion to exp(-its mean loss so far / temperature).

    With L the loss of each action in t rounds, p ∝ exp(-L / (t · temperature)): the logit answer to the others' play
    on average. Its rests are logit equilibria, not Nash equilibria.

    It is Hedge with the rate 1 / (τ (t - 1)) in round t > 1, τ the temperature. Since rates fall, external regret is at
    most ln d / (the last rate) + Σ rates / 2 ≤ τ T ln d + (2 + ln T) / (2 τ). This grows like T, however small τ is: it
    does not make regret a round go to 0, and nothing is declared.

    Reference: Fudenberg and Levine (1998), "The Theory of Learning in Games", section 4.4.

    >>> learner = SmoothFictitiousPlay(temperature=0.5).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)
    array([0.119, 0.881])
    """

    temperature: float = 0.1

    name = "smooth-fictitious-play"
    kernels = _play, Hedge.kernels[1]  # the same state as Hedge: rounds and losses so far
    state_layout = STATE

    def __post_init__(self) -> None:
        positive("temperature", self.temperature)
