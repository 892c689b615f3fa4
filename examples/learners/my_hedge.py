"""A compiled learner in a user's file: exponential weights at a constant rate."""

from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner


class State(NamedTuple):
    losses: Vector  # the total loss of each action


STATE = Layout(State, losses="d")
view = STATE.view


@kernel
def play(settings: Vector, state: Vector, strategy: Vector) -> None:
    losses = view(state, strategy.size).losses
    least, mass = losses.min(), 0.0
    for i in range(strategy.size):
        strategy[i] = np.exp(-settings[0] * (losses[i] - least))
        mass += strategy[i]
    for i in range(strategy.size):
        strategy[i] /= mass


@kernel
def observe(settings: Vector, state: Vector, loss: Vector) -> None:
    losses = view(state, loss.size).losses
    for i in range(loss.size):
        losses[i] += loss[i]


@dataclass(frozen=True)
class MyHedge(Learner):
    """Play exponential weights at a constant rate."""

    rate: float = 0.1

    kernels = play, observe
    state_layout = STATE

    def guarantee(self) -> Guarantee:
        rate = self.rate
        return Guarantee("external", "ln d / rate + rate T / 2", lambda T, d: log(d) / rate + rate * T / 2)
