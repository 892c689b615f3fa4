"""The first round of a run: strategies that are given, or drawn at random in part, instead of the learners' own."""

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
    """How each player begins: `start` has first strategies, `perturb` the share of them that is drawn at random."""

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
        """Return all players' first strategies side by side, NaN where the learner's own counts."""
        parts = []
        for i, (size, given, share) in enumerate(zip(self._game.sizes, self._given, self._shares, strict=True)):
            noise = random.dirichlet(np.ones(size))  # also where it is not used: one player's share moves no other's
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
