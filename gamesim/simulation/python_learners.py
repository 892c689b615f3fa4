"""Learners written in Python: the compiled loop stops for them twice per round."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim import user_learners, validation
from gamesim.engine import loop
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.learner import Learner, RunningLearner


class PythonLearners:
    """Run the learners of one replica that are written in Python, if any."""

    def __init__(self, game: Game, learners: Sequence[Any]) -> None:
        self._game, self._learners = game, learners
        ends = list(accumulate(game.sizes))
        self._parts = [slice(end - size, end) for end, size in zip(ends, game.sizes, strict=True)]
        self._running = {i: self._made(i) for i, one in enumerate(learners) if not isinstance(one, Learner)}

    def __bool__(self) -> bool:
        return bool(self._running)

    def __contains__(self, player: int) -> bool:
        return player in self._running

    def play(self, player: int, round: int) -> Vector:
        """Return the strategy of a player in a round, counted from 0."""
        try:
            strategy = self._running[player].play()
        except Exception as error:
            raise self._failure(player, f"in round {round + 1:,}", error) from error
        return validation.strategy(strategy, self._game.sizes[player], self._game.players[player])

    def observe(self, player: int, round: int, loss: Vector) -> None:
        """Pass the losses of a round, counted from 0, to a player."""
        try:
            self._running[player].observe(loss)
        except Exception as error:
            raise self._failure(player, f"in round {round + 1:,}", error) from error

    def advance(
        self, setup: loop.Setup, track: loop.Track, first: int, rounds: int, uniforms: NDArray[np.float64]
    ) -> None:
        """Run the phases of the compiled loop one by one, with the Python learners in between."""
        for round in range(first, first + rounds):
            loop.play(setup, track, round)
            for i in self._running:
                track.strategies[round % loop.BLOCK, self._parts[i]] = self.play(i, round)
            loop.answer(setup, track, round, uniforms[(round - first) % len(uniforms)])
            loop.observe(setup, track, round)
            for i in self._running:
                self.observe(i, round, track.seen[self._parts[i]].copy())
            loop.tally(setup, track, round)

    def _made(self, player: int) -> RunningLearner:
        try:
            made: RunningLearner = self._learners[player](actions=self._game.sizes[player])
        except Exception as error:
            raise self._failure(player, "when it was made", error) from error
        return made

    def _failure(self, player: int, when: str, error: Exception) -> InputError:
        return user_learners.as_input_error(self._game.players[player], self._learners[player], when, error)
