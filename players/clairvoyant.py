"""The clairvoyant: best response to the drawn actions of the current round."""

from dataclasses import dataclass
from typing import ClassVar

from gamesim.learner import Learner
from gamesim.players.best_response import BestResponse


@dataclass(frozen=True)
class Clairvoyant(Learner):
    """Best-respond to the other players' drawn actions of the current round.

    Notes
    -----
    Before it plays, the clairvoyant observes the loss l of each of its actions against the other
    players' drawn actions of the current round. Its strategy is uniform on

        {i : l_i ≤ min l + 1e-12}

    It plays out of turn. Bounds on the regret of drawn actions are proved for losses that are chosen
    before the draw, so none holds against this opponent: in matching pennies it wins every round, and
    the regret of every learner's draws is linear. Reports state this in place of the bounds. For a
    learner that observes the loss of every action, the bound on the regret of its strategies still
    holds, because it holds for every sequence of losses. The clairvoyant declares no guarantee.

    References
    ----------
    Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games", section 4.1: the opponents of
    randomised forecasters may see the past draws, not that of the current round.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "clairvoyant"], rounds=100, feedback="sampled")
    >>> record.payoffs.tolist()
    [-1.0, 1.0]
    """

    name = "clairvoyant"
    kernels = BestResponse.kernels
    state_layout = BestResponse.state_layout
    feedback = ("sampled", "bandit")
    informed: ClassVar[bool] = True
    sees_draws: ClassVar[bool] = True
