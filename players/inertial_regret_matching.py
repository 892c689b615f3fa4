"""Hart and Mas-Colell's procedure: keep the last action unless another would have done better."""

from dataclasses import dataclass
from typing import NamedTuple

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Learner
from gamesim.players._kernels.simplex import recall
from gamesim.validation import at_least


class State(NamedTuple):
    """State of inertial regret matching."""

    strategy: Vector
    drawn: Vector  # the action that was drawn in this round, written by the loop
    rounds: Vector
    gains: Vector  # for each pair (j, k): Σ over the rounds in which j was drawn of l_j - l_k


STATE = Layout(State, strategy="d", drawn="1", rounds="1", gains="d * d")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, drawn, rounds, gains = _view(state, d)
    rounds[0] += 1
    last = int(drawn[0])
    largest = settings[0] * 2 * max(d - 1, 1) * rounds[0]  # μ times the rounds: gains here are sums, not means
    leaving = 0.0
    for k in range(d):
        gains[last * d + k] += loss[last] - loss[k]
        strategy[k] = max(gains[last * d + k], 0.0) / largest
        leaving += strategy[k]
    strategy[last] = max(1 - leaving, 0.0)


@dataclass(frozen=True)
class InertialRegretMatching(Learner):
    """Keep the last action, and switch in proportion to the regret for it.

    Parameters
    ----------
    inertia : float, default 2.0
        Factor, at least 1, by which μ exceeds the smallest value for which the probabilities of switching
        sum to at most 1.

    Notes
    -----
    This is the original procedure, for drawn actions (sampled feedback). If the last action was j, and
    R_jk is the average over all rounds of what k would have gained in the rounds in which j was drawn,
    the next action is

        k ≠ j with probability [R_jk]₊ / μ,  and j otherwise
        μ = 2 · inertia · (d - 1),  since losses differ by at most 2

    Unlike `internal-regret-matching`, it computes no fixed point; play has inertia. If all players use
    it, the empirical distribution of play converges almost surely to the set of correlated equilibria.
    Regret vanishes asymptotically, without a bound at finite times, so the learner declares no
    guarantee.

    References
    ----------
    Hart and Mas-Colell (2000), "A simple adaptive procedure leading to correlated equilibrium",
    equations 2.1-2.3 and the main theorem.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.simulate("chicken", "inertial-regret-matching", rounds=20_000, feedback="sampled")
    >>> record.gap("ce") < 0.1
    True
    """

    inertia: float = 2.0

    name = "inertial-regret-matching"
    kernels = recall, _observe
    state_layout = STATE
    feedback = ("sampled",)

    def __post_init__(self) -> None:
        at_least("inertia", self.inertia, 1)
