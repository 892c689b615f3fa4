"""Predictive regret matching⁺: regret matching⁺ that predicts the last regret to recur."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import expected_loss, match, recall


class State(NamedTuple):
    """State of predictive regret matching⁺."""

    strategy: Vector
    regrets: Vector  # Q
    predicted: Vector  # Q + r, before taking the positive part


STATE = Layout(State, strategy="d", regrets="d", predicted="d")
view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, regrets, predicted = view(state, d)
    suffered = expected_loss(strategy, loss)
    for i in range(d):
        regret = suffered - loss[i]
        regrets[i] = max(regrets[i] + regret, 0.0)
        predicted[i] = regrets[i] + regret
    match(predicted, strategy)


@dataclass(frozen=True)
class PredictiveRegretMatchingPlus(Learner):
    """Play regret matching⁺ with the last regret as a prediction of the next.

    Notes
    -----
    With the regret of a round for each action

        r = <p, l> 1 - l

    and Q ← [Q + r]₊ as in regret matching⁺, the strategy is

        p ∝ [Q + r]₊

    and uniform if no entry of Q + r exceeds 1e-10. Seen as predictive mirror descent on the regrets,
    |Q|² grows by at most |r_t - r_{t-1}|² per round. External regret is therefore at most

        √(Σ |r_t - r_{t-1}|²) ≤ √(16 d T)

    and small if play settles.

    Started at a strategy p, the learner sets Q = p and r = 0, as after one round.

    References
    ----------
    Farina, Kroer and Sandholm (2021), "Faster game solving via predictive Blackwell approachability",
    Algorithm 3 (predictive regret matching⁺) and Theorem 3.

    Examples
    --------
    >>> learner = PredictiveRegretMatchingPlus().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.observe([1.0, 0.0, 0.5])
    >>> learner.play().round(3)  # regret matching⁺ would play 0.548, 0.452
    array([0.   , 0.731, 0.269])
    """

    name = "predictive-rm-plus"
    kernels = recall, _observe
    state_layout = STATE

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = parts.regrets[:] = parts.predicted[:] = strategy

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "4 √(d T)", lambda T, d: 4 * sqrt(d * T))
