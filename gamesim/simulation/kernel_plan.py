"""The data that the compiled loop reads: the addresses of the kernels, and all settings and states, concatenated."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from gamesim.engine import loop
from gamesim.engine.compiled import GAME_KERNEL, LEARNER_KERNEL, Vector, address
from gamesim.game import Game
from gamesim.learner import Feedback, Learner

FEEDBACK: dict[Feedback, int] = {"expected": loop.EXPECTED, "sampled": loop.SAMPLED, "bandit": loop.BANDIT}


class Compiled(NamedTuple):
    """The setup of the loop, the players' first states, concatenated, and the length of the game's scratch array."""

    setup: loop.Setup
    first_state: Vector
    scratch: int


def compiled(game: Game, learners: Sequence[Any], feedback: Feedback) -> Compiled:
    """Concatenate the players' settings and states, and look up the addresses of the kernels."""
    plan = np.zeros((len(learners), loop.COLUMNS), dtype=np.int64)
    settings: list[Vector] = []
    states: list[Vector] = []
    ends = accumulate(game.sizes)
    for row, learner, actions, end in zip(plan, learners, game.sizes, ends, strict=True):
        row[loop.ACTIONS : loop.ACTIONS_END + 1] = end - actions, end
        if isinstance(learner, Learner):
            settings.append(learner.kernel_settings(actions))
            states.append(learner.first_state(actions))
            row[loop.PLAY] = address(learner.kernels[0], LEARNER_KERNEL)
            row[loop.OBSERVE] = address(learner.kernels[1], LEARNER_KERNEL)
            if learner.informed:
                row[loop.INFORMED] = loop.SEES_DRAWS if learner.sees_draws else loop.SEES_STRATEGIES
        else:  # written in Python: runs between the phases of the loop
            settings.append(np.zeros(0))
            states.append(np.zeros(0))
    for parts, at in ((settings, loop.SETTINGS), (states, loop.STATE)):
        part_ends = list(accumulate(map(len, parts)))
        plan[:, at], plan[:, at + 1] = [0, *part_ends[:-1]], part_ends
    integers, data, scratch = game.kernel_arrays()
    game_kernel = address(type(game).kernel, GAME_KERNEL)
    setup = loop.Setup(plan, np.concatenate(settings), game_kernel, integers, data, FEEDBACK[feedback])
    return Compiled(setup, np.concatenate(states), scratch)
