"""Best response to the previous round."""

from dataclasses import dataclass
from typing import NamedTuple

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Learner
from gamesim.players._kernels.numeric import copy
from gamesim.players._kernels.simplex import TIED, uniform_on_least


class State(NamedTuple):
    """State of best response."""

    losses: Vector  # of the previous round


STATE = Layout(State, losses="d")
_view = STATE.view


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    uniform_on_least(_view(state, strategy.size).losses, TIED, strategy)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    copy(_view(state, loss.size).losses, loss)


@dataclass(frozen=True)
class BestResponse(Learner):
    """Best-respond to the other players' strategies of the previous round.

    Notes
    -----
    With l the loss of the previous round, the strategy is uniform on

        {i : l_i ≤ min l + 1e-12}

    and on all actions in the first round. Best response declares no guarantee: if losses alternate,
    it can suffer the maximum loss in every round.

    References
    ----------
    Cournot (1838), "Recherches sur les principes mathématiques de la théorie des richesses", chapter 7.

    Examples
    --------
    >>> learner = BestResponse().start(actions=3)
    >>> learner.observe([1.0, -0.5, -0.5])
    >>> learner.play()
    array([0. , 0.5, 0.5])
    """

    name = "best-response"
    kernels = _play, _observe
    state_layout = STATE
