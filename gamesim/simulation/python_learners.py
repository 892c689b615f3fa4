"""Run learners written in Python in one replica; the compiled loop stops for them twice per round."""

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
    """The running learners that are written in Python, possibly none."""

    def __init__(self, game: Game, learners: Sequence[Any]) -> None:
        self._game, self._learners = game, learners
        ends = list(accumulate(game.sizes))
        self._parts = [slice(end - size, end) for end, size in zip(ends, game.sizes, strict=True)]
        self._running = {i: self._made(i) for i, one in enumerate(learners) if not isinstance(one, Learner)}

    def __bool__(self) -> bool:
        return bool(self._running)

    def __contains__(self, player: int) -> bool:
        return player in self._running

    def start_at(self, player: int, strategy: Vector) -> None:
        """Let a player's learner start at a strategy, if its class defines `start_at(strategy)`."""
        running = self._running[player]
        if not hasattr(running, "start_at"):
            raise InputError(
                f"{self._game.players[player]}'s learner {type(running).__name__} cannot start at a given strategy, "
                "because it has no method start_at(strategy)"
            )
        try:
            running.start_at(strategy.copy())
        except Exception as error:
            raise self._failure(player, "when it was given its start", error) from error

    def play(self, player: int, round: int) -> Vector:
        """Return the strategy of a player in a round (counted from 0)."""
        try:
            strategy = self._running[player].play()
        except Exception as error:
            raise self._failure(player, f"in round {round + 1:,}", error) from error
        return validation.strategy(strategy, self._game.sizes[player], self._game.players[player])

    def observe(self, player: int, round: int, loss: Vector) -> None:
        """Pass a player's losses in a round (counted from 0) to its learner."""
        try:
            self._running[player].observe(loss)
        except Exception as error:
            raise self._failure(player, f"in round {round + 1:,}", error) from error

    def advance(
        self, setup: loop.Setup, track: loop.Track, first: int, rounds: int, uniforms: NDArray[np.float64]
    ) -> None:
        """Run the phases of the compiled loop one by one, like `loop.advance`, with these learners in between."""
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
            raise self._failure(player, "when it was created", error) from error
        return made

    def _failure(self, player: int, when: str, error: Exception) -> InputError:
        return user_learners.as_input_error(self._game.players[player], self._learners[player], when, error)
