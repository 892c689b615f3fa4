"""The replicator dynamic in discrete time."""

from dataclasses import dataclass
from math import log
from typing import NamedTuple

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import expected_loss, recall

EXTINCT = 1e-290  # lower bound on probabilities: an action that is rounded to 0 could never return


class State(NamedTuple):
    """State of the replicator dynamic."""

    strategy: Vector


STATE = Layout(State, strategy="d")
_view = STATE.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    step, strategy = settings[0], _view(state, loss.size).strategy
    suffered = expected_loss(strategy, loss)
    total = 0.0
    for i in range(loss.size):
        strategy[i] = max(strategy[i] * (1 + step * (suffered - loss[i])), EXTINCT)
        total += strategy[i]
    for i in range(loss.size):
        strategy[i] /= total


@dataclass(frozen=True)
class Replicator(Learner):
    """Follow the replicator dynamic in discrete time.

    Parameters
    ----------
    step : float, default 0.01
        Length of an Euler step, in units of 1 / loss: positive and at most 1/4.

    Notes
    -----
    The replicator equation

        dp_i/ds = p_i (<p, l> - l_i)

    is followed in Euler steps:

        p_i ← p_i (1 + step · (<p, l> - l_i))

    In the limit of small rates, Hedge is the replicator dynamic. The probabilities keep their sum. With
    r_i = <p, l> - l_i, it follows for every action i that

        Π_t (1 + step · r_i) ≤ d

    and ln(1 + x) ≥ x - x² for x ≥ -1/2 gives the bound

        ln d / step + 4 step T

    References
    ----------
    Taylor and Jonker (1978), "Evolutionarily stable strategies and game dynamics", equation 2.

    Bound, that of Prod: Cesa-Bianchi, Mansour and Stoltz (2007), "Improved second-order bounds for
    prediction with expert advice", Lemma 2.

    Examples
    --------
    >>> learner = Replicator(step=0.1).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)
    array([0.475, 0.525])
    """

    step: float = 0.01

    name = "replicator"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        if not 0 < self.step <= 0.25:
            raise InputError(f"step must be positive and at most 1/4, got {self.step}")

    def guarantee(self) -> Guarantee:  # noqa: D102
        step = self.step
        return Guarantee("external", "ln d / step + 4 step T", lambda T, d: log(d) / step + 4 * step * T)
