"""Regret matching⁺: regret matching that truncates regrets at 0."""

from dataclasses import dataclass
from math import sqrt

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import expected_loss, match, recall
from gamesim.players.regret_matching import STATE, view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, regrets = view(state, loss.size)
    suffered = expected_loss(strategy, loss)
    for i in range(loss.size):
        regrets[i] = max(regrets[i] + suffered - loss[i], 0.0)
    match(regrets, strategy)


@dataclass(frozen=True)
class RegretMatchingPlus(Learner):
    """Play actions in proportion to regrets truncated at 0 after every round.

    Notes
    -----
    After each round,

        Q ← [Q + <p, l> 1 - l]₊

    and the strategy is

        p ∝ Q

    It is uniform if no entry of Q exceeds 1e-10. Q is at least the regret, and |Q|² grows by at most
    4 d per round, which bounds external regret by 2 √(d T).

    Started at a strategy p, the learner sets Q = p, as after one round.

    References
    ----------
    Tammelin, Burch, Johanson and Bowling (2015), "Solving heads-up limit Texas hold'em", Lemmas 1-2.

    Examples
    --------
    >>> learner = RegretMatchingPlus().start(actions=2)
    >>> for loss in ([1.0, -1.0], [-1.0, 1.0]):
    ...     learner.observe(loss)
    >>> learner.play().round(3)  # regret matching would play both with equal probability
    array([0.667, 0.333])
    """

    name = "regret-matching-plus"
    kernels = recall, _observe
    state_layout = STATE

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = parts.regrets[:] = strategy

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee("external", "2 √(d T)", lambda T, d: 2 * sqrt(d * T))
