"""Events at which play pauses.

An event is looked for after every round up to 1000, and then after those of three significant digits. So the round at
which play pauses is exact up to one percent, and the same however the rounds are divided into turns. The event must not
have been there when play began: otherwise play could not continue.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gamesim.errors import InputError, did_you_mean
from gamesim.simulation import Simulation

EVENTS = {"round": True, "ce-gap": True, "cce-gap": True, "boundary": True, "cycle": False}  # whether it has a value
LARGEST = 10**15
DISTINCT = 3  # action profiles of a cycle, at least: noise makes play alternate between two


@dataclass
class Watch:
    """Looks for an event in all runs of a page.

    "round" is the round `value`; "ce-gap" and "cce-gap" are gaps that fall below `value`, in payoff units; "boundary"
    is a strategy that leaves the interior of its simplex: a probability that falls below `value`. "cycle" is the first
    return to an action profile that play had left; a profile consists of the most likely action of each player.
    """

    event: str
    value: float = 0.0
    found: bool = False
    _before: list[bool] = field(default_factory=list)
    _visited: list[list[tuple[int, ...]]] = field(default_factory=list)

    @classmethod
    def asked(cls, raw: Any) -> "Watch | None":
        """Return what looks for the event in a message, or None if it names none."""
        if raw is None:
            return None
        event = raw.get("event") if isinstance(raw, Mapping) else raw
        if not isinstance(raw, Mapping) or not isinstance(event, str) or event not in EVENTS:
            raise InputError(f"until must be null or have an event; {did_you_mean(str(event)[:40], EVENTS)}")
        expected = {"event", "value"} if EVENTS[event] else {"event"}
        if set(raw) != expected:
            given = ", ".join(map(str, raw))[:80]
            raise InputError(f"until: {event} takes {' and '.join(sorted(expected))}, got {given}")
        value = raw.get("value", 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
            raise InputError(f"until.value must be a number from 0 to {LARGEST:,}, got {value!r:.60}")
        return cls(event, float(value))

    def stretch(self, rounds: int) -> int:
        """Return the number of rounds to play before the next look."""
        if self.event == "round":
            return int(self.value) - rounds if self.value > rounds else LARGEST
        return _step(rounds) - rounds % _step(rounds)

    def look(self, simulations: Sequence[Simulation]) -> None:
        """Look at all runs, and note whether the event has happened in one of them since the first look."""
        rounds = simulations[0].rounds
        if (self._before or self._visited) and self.event != "round" and rounds % _step(rounds):
            return
        if self.event == "cycle":
            self._visited = self._visited or [[] for _ in simulations]
            for simulation, visited in zip(simulations, self._visited, strict=True):
                self.found |= self._returns(simulation, visited)
            return
        holds = [self._holds(one) for one in simulations]
        self.found |= any(now and not then for now, then in zip(holds, self._before, strict=False))
        self._before = holds

    def _holds(self, simulation: Simulation) -> bool:
        if simulation.rounds == 0:
            return self.event == "boundary"  # a strategy leaves the interior only if it has been there
        if self.event == "round":
            return simulation.rounds >= self.value
        if self.event == "boundary":
            return bool(simulation.strategies().min() < self.value)
        return bool(simulation.measure(self.event) < self.value)

    def _returns(self, simulation: Simulation, visited: list[tuple[int, ...]]) -> bool:
        """Note the profile of most likely actions, unless two are equally likely; return whether it closes a cycle."""
        if simulation.rounds == 0:
            return False
        profile = []
        for strategy in np.split(simulation.strategies(), np.cumsum(simulation.game.sizes)[:-1]):
            most = strategy == strategy.max()
            if most.sum() > 1:
                return False
            profile.append(int(most.argmax()))
        now = tuple(profile)
        if visited and now == visited[-1]:
            return False
        closes = now in visited and len(set(visited[visited.index(now) :])) >= DISTINCT
        visited.append(now)
        return closes


def _step(rounds: int) -> int:
    """Return the distance of the looks after a round.

    >>> [_step(rounds) for rounds in (1, 999, 1000, 99_999)]
    [1, 1, 10, 100]
    """
    return int(10 ** max(0, len(str(rounds)) - 3))
