"""Uniform play: the same probability for every action."""

from dataclasses import dataclass

from gamesim.engine.compiled import Vector
from gamesim.learner import Learner
from gamesim.players.fixed import Fixed


@dataclass(frozen=True)
class Uniform(Learner):
    """Play every action with the same probability, whatever happens.

    Notes
    -----
    The strategy is p_i = 1 / d. Uniform play declares no guarantee. It is the baseline that a learner
    has to beat.

    Examples
    --------
    >>> Uniform().start(actions=4).play()
    array([0.25, 0.25, 0.25, 0.25])
    """

    name = "uniform"
    kernels = Fixed.kernels
    state_layout = Fixed.state_layout
    feedback = Fixed.feedback

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return Fixed().kernel_settings(actions)
