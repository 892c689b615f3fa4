"""The adversary: best response to the current round."""

from dataclasses import dataclass
from typing import ClassVar

from gamesim.learner import Learner
from gamesim.players.best_response import BestResponse


@dataclass(frozen=True)
class Adversary(Learner):
    """Best-respond to the other players' strategies of the current round.

    Notes
    -----
    Before it plays, the adversary observes the loss l of each of its actions in expectation over the
    other players' strategies of the current round, whatever the feedback. Its strategy is uniform on

        {i : l_i ≤ min l + 1e-12}

    If actions are drawn, they are drawn afterwards: the adversary does not see them, so the guarantees
    of the other learners hold against it. `clairvoyant` is the variant that sees them. At most one
    player of a game may be informed in this way.

    In a zero-sum game, this is the worst opponent that a learner can face in a single round. Without
    a game, the adversary is the same as best response. It declares no guarantee.

    References
    ----------
    Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games", section 7.3: the opponent
    observes the mixed strategy, not the drawn action.

    Examples
    --------
    >>> learner = Adversary().start(actions=3)
    >>> learner.observe([1.0, -0.5, -0.5])  # in a game, observed before playing
    >>> learner.play()
    array([0. , 0.5, 0.5])
    """

    name = "adversary"
    kernels = BestResponse.kernels
    state_layout = BestResponse.state_layout
    feedback = ("expected", "sampled", "bandit")
    informed: ClassVar[bool] = True
