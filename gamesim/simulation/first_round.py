"""The strategies of the first round: given, perturbed at random, or the learners' own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gamesim import validation
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.simulation.python_learners import PythonLearners


class FirstRound:
    """Compute first strategies from `start` (given strategies) and `perturb` (the random share)."""

    def __init__(self, game: Game, start: Sequence[ArrayLike | None] | None, perturb: Sequence[float] | float) -> None:
        count = len(game.players)
        self._game = game
        self._given = [None] * count if start is None else list(start)
        self._shares = [float(perturb)] * count if isinstance(perturb, int | float) else list(perturb)
        if len(self._given) != count or len(self._shares) != count:
            raise InputError(f"start and perturb need an entry for each of the {count} players")
        for share in self._shares:
            if not 0 <= share <= 1:
                raise InputError(f"perturb is a share of the first strategy, within [0, 1], and {share} came")

    def strategies(self, learners: Sequence[Any], in_python: PythonLearners, random: np.random.Generator) -> Vector:
        """Return all players' first strategies, concatenated; NaN means the learner's own."""
        parts = []
        for i, (size, given, share) in enumerate(zip(self._game.sizes, self._given, self._shares, strict=True)):
            noise = random.dirichlet(
                np.ones(size)
            )  # drawn even if unused, so that one player's share does not affect the others
            if given is None and share == 0:
                parts.append(np.full(size, np.nan))
                continue
            if given is not None:
                first = validation.strategy(given, size, self._game.players[i])
            elif i in in_python:
                first = in_python.play(i, 0)
            else:
                first = learners[i].start(size).play()
            parts.append((1 - share) * first + share * noise)
        return np.concatenate(parts)
