"""Discounted regret matching: regret matching that forgets."""

from dataclasses import dataclass
from typing import NamedTuple

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Learner
from gamesim.players._kernels.simplex import expected_loss, match, recall
from gamesim.validation import at_least


class State(NamedTuple):
    """State of discounted regret matching."""

    strategy: Vector
    regrets: Vector  # R
    rounds: Vector


STATE = Layout(State, strategy="d", regrets="d", rounds="1")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, regrets, rounds = _view(state, loss.size)
    rounds[0] += 1
    suffered = expected_loss(strategy, loss)
    gained, lost = rounds[0] ** settings[0], rounds[0] ** settings[1]
    for i in range(loss.size):
        regret = regrets[i] + suffered - loss[i]
        regrets[i] = regret * (gained / (gained + 1) if regret > 0 else lost / (lost + 1))
    match(regrets, strategy)


@dataclass(frozen=True)
class DiscountedRegretMatching(Learner):
    """Play actions in proportion to discounted positive regrets.

    Parameters
    ----------
    positive : float, default 1.5
        Exponent α of the discount of positive regrets; the larger, the less is forgotten.
    negative : float, default 0.0
        Exponent β of the discount of negative regrets.

    Notes
    -----
    With r = <p, l> 1 - l, the update after round t is

        R ← (R + r) · t^α / (t^α + 1) where positive, and · t^β / (t^β + 1) where negative

    and the strategy is

        p ∝ [R]₊

    It is uniform if no regret exceeds 1e-10. With β = 0, negative regrets are halved in every round.
    The bound in the literature is on the regret of averages with increasing weights, so the learner
    declares no guarantee. The measures with linear or quadratic weights are the averages that go with
    it.

    Started at a strategy p, the learner sets the regrets to p, as after one round.

    References
    ----------
    Brown and Sandholm (2019), "Solving imperfect-information games via discounted regret
    minimization", section 4.

    Examples
    --------
    >>> learner = DiscountedRegretMatching().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.  , 0.25, 0.75])
    """

    positive: float = 1.5
    negative: float = 0.0

    name = "discounted-regret-matching"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        at_least("positive", self.positive, 0)
        at_least("negative", self.negative, 0)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = parts.regrets[:] = strategy
