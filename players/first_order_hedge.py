"""First-order Hedge: a rate that decreases with the size of the losses, not with the rounds."""

from dataclasses import dataclass
from math import log, sqrt

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players.hedge import STATE, Hedge, view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    weight, losses = view(state, loss.size)
    largest = 0.0
    for i in range(loss.size):
        largest = max(largest, abs(loss[i]))
        losses[i] += loss[i]
    weight[0] += largest


@dataclass(frozen=True)
class FirstOrderHedge(Learner):
    """Play Hedge with a rate that decreases with the size of past losses.

    Notes
    -----
    With L the cumulative loss of each action and Λ = Σ max |l| over the past rounds, the strategy is

        p ∝ exp(-η L)
        η = sqrt(2 ln d / (1 + Λ))

    Hedge has the number of rounds in place of Λ. As a row of Blum and Mansour's learner, it observes
    p_i · l, so that Λ ≤ Σ p_i, with equality for losses of ±1. External regret is at most

        ln d / η + Σ η |l|∞² / 2 ≤ 3 √((1 + Λ) ln d / 2)

    Started at a strategy p, the learner sets L = -ln p / η.

    References
    ----------
    Auer, Cesa-Bianchi and Gentile (2002), "Adaptive and self-confident on-line learning algorithms",
    Theorem 2.2, for such rates.

    As a row learner: Blum and Mansour (2007), "From external to internal regret", section 4.

    Examples
    --------
    >>> learner = FirstOrderHedge().start(actions=2)
    >>> learner.observe([0.5, 0.0])
    >>> learner.play().round(3)
    array([0.382, 0.618])
    """

    name = "first-order-hedge"
    kernels = Hedge.kernels[0], _observe  # as Hedge plays, with the sum of sizes for the number of rounds
    state_layout = STATE

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return Hedge().kernel_settings(actions)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        Hedge().start_at(state, strategy)

    def limit(self) -> Regulariser:  # noqa: D102
        return "entropic"

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "3 √((1 + T) ln d / 2)", lambda T, d: 3 * sqrt((1 + T) * log(d) / 2))
