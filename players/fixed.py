"""A fixed strategy, without learning."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.formatting import shown
from gamesim.learner import Learner
from gamesim.players._kernels.numeric import copy


class State(NamedTuple):
    """The empty state of a fixed strategy."""

    nothing: Vector


STATE = Layout(State, nothing="0")


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    copy(strategy, settings)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    pass


@dataclass(frozen=True)
class Fixed(Learner):
    """Play the same given strategy in every round.

    Parameters
    ----------
    strategy : tuple of float, optional
        One probability per action, summing to 1. By default the uniform strategy.

    Notes
    -----
    A fixed strategy declares no guarantee.

    Examples
    --------
    >>> Fixed(strategy=(0.25, 0.75)).start(actions=2).play()
    array([0.25, 0.75])
    """

    strategy: tuple[float, ...] = ()

    name = "fixed"
    kernels = _play, _observe
    state_layout = STATE
    feedback = ("expected", "sampled", "bandit")

    def __post_init__(self) -> None:
        if self.strategy and not (min(self.strategy) >= 0 and abs(sum(self.strategy) - 1) <= 1e-9):
            raise InputError(f"strategy must be non-negative and sum to 1, got {shown(self.strategy)}")

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        if len(self.strategy) not in (0, actions):
            raise InputError(
                f"strategy must have one probability for each of the {actions} actions, "
                f"got {len(self.strategy)}: {shown(self.strategy)}"
            )
        return np.array(self.strategy or [1 / actions] * actions, dtype=np.float64)
