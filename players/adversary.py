"""An adversary: best response to this very round."""

from dataclasses import dataclass
from typing import ClassVar

from gamesim.learner import Learner
from gamesim.players.best_response import BestResponse


@dataclass(frozen=True)
class Adversary(Learner):
    """Play the action that is best against the strategies that the others are playing now.

    It is told this round's loss l before it plays, and its strategy is uniform on {i : l_i ≤ min l + 1e-12}. In a
    zero-sum game nothing can hurt a learner more in one round. Alone, outside a game, it is best response.

    Reference: Cesa-Bianchi and Lugosi (2006), "Prediction, Learning, and Games", section 7.3: the opponent who sees the
    mixed strategy, not the draw. No guarantee as a learner.

    >>> learner = Adversary().start(actions=3)
    >>> learner.observe([1.0, -0.5, -0.5])  # what it is told before it plays
    >>> learner.play()
    array([0. , 0.5, 0.5])
    """

    name = "adversary"
    kernels = BestResponse.kernels
    state_layout = BestResponse.state_layout
    informed: ClassVar[bool] = True
