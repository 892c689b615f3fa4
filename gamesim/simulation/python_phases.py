"""Run learners and observers written in Python in one replica; the compiled loop stops for them."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim import user_files, user_learners, validation
from gamesim.engine import loop
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.learner import Learner, RunningLearner
from gamesim.measure.observers import Observer
from gamesim.record_checks import restore_generator


class PythonPhases:
    """The running learners and the observers that are written in Python, possibly none.

    A learner whose constructor accepts `random` gets its own generator of random numbers, and one whose `observe`
    accepts `drawn` gets the action that was drawn for it. One with `state()`, which returns an array of numbers, and
    `restore(state)` can be resumed.
    """

    def __init__(
        self,
        game: Game,
        learners: Sequence[Any],
        observers: Sequence[Observer],
        setup: loop.Setup,
        seed: np.random.SeedSequence,
    ) -> None:
        self._game, self._learners, self._setup = game, learners, setup
        ends = list(accumulate(game.sizes))
        self._parts = [slice(end - size, end) for end, size in zip(ends, game.sizes, strict=True)]
        in_python = [i for i, one in enumerate(learners) if not isinstance(one, Learner)]
        seeds = seed.spawn(len(learners)) if in_python else []
        self._random = [np.random.Generator(np.random.PCG64(one)) for one in seeds]
        self._running = {i: self._made(i) for i in in_python}
        self._want_draw = {i for i, one in self._running.items() if user_learners.accepts(one.observe, "drawn")}
        self._observers = [
            (one, slice(*table[loop.TOTAL : loop.TOTAL_END + 1]))
            for one, table in zip(observers, setup.observers, strict=True)
            if not one.is_compiled
        ]

    def __bool__(self) -> bool:
        return bool(self._running or self._observers)

    @property
    def players(self) -> list[int]:
        """The players whose learners are written in Python."""
        return list(self._running)

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

    def states(self) -> dict[int, NDArray[np.float64]]:
        """Return the state of each learner that can be resumed."""
        found = {}
        for player in filter(self._keeps_state, self._running):
            try:
                state = self._running[player].state()  # type: ignore[attr-defined]  # it keeps its state
                found[player] = np.array(state, dtype=np.float64)
            except Exception as error:
                raise self._failure(player, "when its state was stored", error) from error
        return found

    def random_states(self) -> dict[str, Any]:
        """Return the state of the generator of each learner, as data."""
        return {str(player): self._random[player].bit_generator.state for player in self._running}

    def restore(self, states: dict[int, NDArray[np.float64]], random_states: dict[str, Any]) -> None:
        """Let the learners continue from stored states."""
        for player, state in states.items():
            restore_generator(self._random[player], random_states.get(str(player)))
            try:
                self._running[player].restore(state.copy())  # type: ignore[attr-defined]  # it keeps its state
            except Exception as error:
                raise self._failure(player, "when its state was restored", error) from error

    def _keeps_state(self, player: int) -> bool:
        return user_learners.keeps_state(type(self._running[player]))

    def play(self, player: int, round: int) -> Vector:
        """Return the strategy of a player in a round (counted from 0)."""
        try:
            strategy = self._running[player].play()
        except Exception as error:
            raise self._failure(player, f"in round {round + 1:,}", error) from error
        return validation.strategy(strategy, self._game.sizes[player], self._game.players[player])

    def observe(self, player: int, round: int, track: loop.Track) -> None:
        """Pass a player's losses in a round (counted from 0) to its learner."""
        loss = track.seen[self._parts[player]].copy()
        given = {"drawn": int(track.drawn[player]) if self._setup.feedback != loop.EXPECTED else None}
        try:
            self._running[player].observe(loss, **(given if player in self._want_draw else {}))
        except Exception as error:
            raise self._failure(player, f"in round {round + 1:,}", error) from error

    def advance(
        self,
        track: loop.Track,
        first: int,
        rounds: int,
        uniforms: NDArray[np.float64],
        noise: NDArray[np.float64],
    ) -> None:
        """Run the compiled loop round by round, like `loop.advance`, with the learners and observers in between."""
        no_copies = track.sums.rows(0)
        for round in range(first, first + rounds):
            at = round - first
            if self._running:
                self._play_round(track, round, uniforms[at % len(uniforms)], noise[at % len(noise)])
            else:
                end = np.array([round + 1])
                loop.advance(self._setup, track, round, end, uniforms[at:][:1], noise[at:][:1], no_copies)
            for one, part in self._observers:
                self._watch(one, track.sums.observed[part], round, track)

    def _play_round(self, track: loop.Track, round: int, uniforms: Vector, noise: Vector) -> None:
        """Run the phases of one round, with the learners in between."""
        setup = self._setup
        loop.play(setup, track, round)
        for i in self._running:
            track.strategies[round & setup.last_row, self._parts[i]] = self.play(i, round)
        loop.answer(setup, track, round, uniforms)
        if setup.alternating:
            for i in range(len(self._parts)):
                loop.move(setup, track, round, i)
                if i in self._running:
                    self.observe(i, round, track)
                    track.profile[self._parts[i]] = self.play(i, round)
        elif loop.perceive(setup, track, round, noise):
            loop.observe(setup, track, round)
            for i in self._running:
                self.observe(i, round, track)
        loop.tally(setup, track, round)
        loop.watch(setup, track, round)

    def _watch(self, one: Observer, total: Vector, round: int, track: loop.Track) -> None:
        row = round & self._setup.last_row
        try:
            one.function(total, round, track.strategies[row], track.losses[row])
        except Exception as error:
            raise user_files.failure(f"the observer {one.name}", f"in round {round + 1:,}", error) from error

    def _made(self, player: int) -> RunningLearner:
        try:
            return user_learners.running(self._learners[player], self._game.sizes[player], self._random[player])
        except Exception as error:
            raise self._failure(player, "when it was created", error) from error

    def _failure(self, player: int, when: str, error: Exception) -> InputError:
        return user_learners.as_input_error(self._game.players[player], self._learners[player], when, error)
