"""The strategies of the first round: a given opening, perturbed at random, or left to the learners."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gamesim import validation
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.learner import Learner
from gamesim.simulation.python_phases import PythonPhases


class FirstRound:
    """The first strategies: `opening` gives them, and `perturb` is the share of each that is drawn at random."""

    def __init__(
        self,
        game: Game,
        learners: Sequence[Any],
        opening: Sequence[ArrayLike | None] | None,
        perturb: Sequence[float] | float,
    ) -> None:
        count = len(game.players)
        self._game = game
        self._given = [None] * count if opening is None else list(opening)
        self._shares = [float(perturb)] * count if isinstance(perturb, int | float) else list(perturb)
        if len(self._given) != count or len(self._shares) != count:
            raise InputError(
                f"opening and perturb must have one entry for each of the {count} players, "
                f"got {len(self._given)} and {len(self._shares)}"
            )
        for share in self._shares:
            if not 0 <= share <= 1:
                raise InputError(f"perturb must lie in [0, 1], got {share}")
        for name, learner, given in zip(game.players, learners, self._given, strict=True):
            if given is not None and isinstance(learner, Learner):
                refuse_opening(learner, name)

    def strategies(
        self,
        learners: Sequence[Any],
        in_python: PythonPhases,
        placed: Sequence[Vector | None],
        random: np.random.Generator,
    ) -> Vector:
        """Return the players' first strategies, concatenated; NaN leaves the choice to the learner.

        `placed` are the strategies at which learners start, None for their own.
        """
        parts = []
        perturbed = any(self._shares)
        first_plays: dict[tuple[int, int], Vector] = {}  # thousands of players may share a learner
        for i, (size, given, share) in enumerate(zip(self._game.sizes, self._given, self._shares, strict=True)):
            if perturbed:  # drawn even if unused: one player's share does not affect the others' noise
                noise = random.dirichlet(np.ones(size))
            if given is None and share == 0:
                parts.append(np.full(size, np.nan))
                continue
            if given is not None:
                first = validation.strategy(given, size, self._game.players[i])
            elif (start := placed[i]) is not None:
                first = start
            elif i in in_python:
                first = in_python.play(i, 0)
            else:
                if (id(learners[i]), size) not in first_plays:
                    first_plays[id(learners[i]), size] = learners[i].start(size).play()
                first = first_plays[id(learners[i]), size]
            parts.append((1 - share) * first + share * noise if share else first)
        return np.concatenate(parts)


def refuse_opening(learner: Learner, player: str) -> None:
    """Raise an InputError if a learner chooses its strategy after the others', which replaces any opening."""
    if learner.informed:
        raise InputError(
            f"{player} cannot have an opening, because {learner.name} chooses its strategy after it has observed the "
            "other players: leave the opening out, or choose another learner"
        )
