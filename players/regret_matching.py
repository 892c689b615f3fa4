"""Regret matching: play in proportion to positive regret."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import expected_loss, match, recall


class State(NamedTuple):
    """State of regret matching."""

    strategy: Vector
    regrets: Vector  # R


STATE = Layout(State, strategy="d", regrets="d")
view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, regrets = view(state, loss.size)
    suffered = expected_loss(strategy, loss)
    for i in range(loss.size):
        regrets[i] += suffered - loss[i]
    match(regrets, strategy)


@dataclass(frozen=True)
class RegretMatching(Learner):
    """Play actions in proportion to their positive cumulative regrets.

    Notes
    -----
    With the cumulative regret for each action

        R = Σ (<p, l> 1 - l)

    the strategy is

        p ∝ [R]₊

    and uniform if no regret exceeds 1e-10. With r the regret of a round, <[R]₊, r> = 0, so that |[R]₊|²
    grows by at most |r|² ≤ 4 d per round, which bounds external regret by 2 √(d T).

    Started at a strategy p, the learner sets the regrets to p, as after one round.

    References
    ----------
    Hart and Mas-Colell (2000), "A simple adaptive procedure leading to correlated equilibrium",
    Theorem B.

    Bound: Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games", Corollary 2.1 with p = 2.

    Examples
    --------
    >>> learner = RegretMatching().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.5])
    >>> learner.play().round(3)
    array([0. , 0.2, 0.8])
    """

    name = "regret-matching"
    kernels = recall, _observe
    state_layout = STATE

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = parts.regrets[:] = strategy

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "2 √(d T)", lambda T, d: 2 * sqrt(d * T))
