"""Fictitious play: best response to the average past play."""

from dataclasses import dataclass

from gamesim.engine.compiled import Vector, kernel
from gamesim.learner import Learner
from gamesim.players._kernels.simplex import TIED, uniform_on_least
from gamesim.players.hedge import STATE, Hedge, view


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    rounds, losses = view(state, strategy.size)
    uniform_on_least(losses, TIED * rounds[0], strategy)


@dataclass(frozen=True)
class FictitiousPlay(Learner):
    """Play the action with the least cumulative loss (follow the leader).

    Notes
    -----
    With L the cumulative loss of each action after t rounds, the strategy is uniform on

        {i : L_i / t ≤ min L / t + 1e-12}

    and on all actions in the first round. Fictitious play declares no guarantee.

    References
    ----------
    Brown (1951), "Iterative solution of games by fictitious play".

    Robinson (1951), for convergence in zero-sum games.

    Shapley (1964), "Some topics in two-person games", section 5, for a game where it cycles forever.

    Examples
    --------
    >>> learner = FictitiousPlay().start(actions=3)
    >>> learner.observe([1.0, 0.0, 0.0])
    >>> learner.observe([-1.0, 0.5, 0.0])
    >>> learner.play()
    array([0.5, 0. , 0.5])
    """

    name = "fictitious-play"
    kernels = _play, Hedge.kernels[1]  # the same state as Hedge: rounds and cumulative losses
    state_layout = STATE
