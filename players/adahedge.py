"""AdaHedge: Hedge with a learning rate tuned to past losses."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players._kernels.numeric import exponential, smallest, sum_of
from gamesim.players._kernels.simplex import NO_REGRET, recall, softmin, uniform_on_least

NEGLIGIBLE = 1e-150  # products of smaller numbers could be subnormal, hence slow


class State(NamedTuple):
    """State of AdaHedge."""

    strategy: Vector
    losses: Vector  # cumulative, minus that of the best action
    gaps: Vector  # Δ, the sum of the mixability gaps


STATE = Layout(State, strategy="d", losses="d", gaps="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, losses, gaps = _view(state, d)
    gap = gaps[0]
    rate = np.log(d) / gap if gap > NO_REGRET else np.inf
    least = smallest(loss)
    suffered = 0.0
    for i in range(d):
        strategy[i] = strategy[i] if strategy[i] > NEGLIGIBLE else 0.0
        suffered += strategy[i] * (loss[i] - least)
        losses[i] += loss[i] - least
    best = smallest(losses)
    mixed = best
    if rate < np.inf:
        for i in range(d):  # the strategy is no longer needed
            strategy[i] *= max(exponential(-rate * (loss[i] - least)), NEGLIGIBLE)
        mixed = -np.log(sum_of(strategy)) / rate
    gap += max(suffered - mixed, 0.0)
    gaps[0] = gap
    for i in range(d):
        losses[i] -= best
    if gap > NO_REGRET:
        softmin(np.log(d) / gap, losses, strategy)
    else:
        uniform_on_least(losses, NO_REGRET, strategy)


@dataclass(frozen=True)
class AdaHedge(Learner):
    """Play Hedge with a learning rate tuned to past losses.

    Notes
    -----
    With L the cumulative loss of each action, the strategy is

        p ∝ exp(-η L)

    The mixability gap of a round is

        δ = <p, l> + ln(Σ p exp(-η l)) / η

    With Δ the sum of the gaps so far, the learning rate is

        η = ln d / Δ

    While Δ = 0 (at most 1e-10, to absorb rounding), p is uniform on the actions of least cumulative
    loss. There is nothing to tune, and the strategies do not change if all losses are scaled or
    shifted, unless they become so small that Δ stays below 1e-10. Regret is small if losses vary
    little: with V = Σ Var_p(l) ≤ T, external regret is at most

        2 √(V ln d) + 8/3 ln d + 4

    References
    ----------
    De Rooij, van Erven, Grünwald and Koolen (2014), "Follow the leader if you can, hedge if you must",
    Theorem 6 with losses of range 2.

    Examples
    --------
    >>> learner = AdaHedge().start(actions=3)
    >>> learner.observe([1.0, 0.0, 0.0])
    >>> learner.play().round(3)
    array([0.018, 0.491, 0.491])
    """

    name = "adahedge"
    kernels = recall, _observe
    state_layout = STATE

    def limit(self) -> Regulariser:  # noqa: D102
        return "entropic"

    def guarantee(self) -> Guarantee:  # noqa: D102
        return Guarantee(
            "external", "2 √(T ln d) + 8/3 ln d + 4", lambda T, d: 2 * sqrt(T * log(d)) + 8 / 3 * log(d) + 4
        )
