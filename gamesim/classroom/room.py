"""The rules of a room: what each event changes, and which commands are allowed when.

A command checks that it is allowed and returns the event that it causes. `apply` changes the state, and is the only
method that does. So a room that applies all events of a log is the room that wrote them.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamesim import players
from gamesim.classroom import devices
from gamesim.classroom.log import Event
from gamesim.classroom.seats import LEARNER, Matching, groups, role_of
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.learner import CompiledLearner, Learner

Phase: TypeAlias = Literal["lobby", "open", "closed", "ended"]

MOST_STUDENTS = 300
LONGEST_NAME = 24  # characters
LONGEST_ROUND = 3600.0  # seconds
GRACE = 0.1  # seconds after the end of a round in which a move that was sent in time still counts


@dataclass(frozen=True)
class Settings:
    """What a teacher chose for a session."""

    matching: Matching
    rounds: int
    seconds: float  # per round; 0 if the teacher closes rounds
    learner: str  # in seats without a student, and for students who do not move
    seed: int
    role: int = 0  # of the first student
    device: tuple[float, ...] = ()  # probabilities of action profiles from which recommendations are drawn; () if none


@dataclass
class Student:
    """A student in the room: the name, the hash of the secret, and what was earned."""

    name: str
    secret: str  # SHA-256 of what the student's browser keeps
    score: float = 0.0
    # Σ over rounds of the payoff of every action (columns), by the action played (rows), and how often each was played.
    payoffs: NDArray[np.float64] | None = None
    counts: NDArray[np.float64] | None = None

    @property
    def rounds(self) -> int:
        """The number of rounds in which the student chose."""
        return 0 if self.counts is None else int(self.counts.sum())


@dataclass
class Seat:
    """A seat in a group: a learner that observes what the seat's player could observe."""

    learner: CompiledLearner
    payoffs: NDArray[np.float64]  # Σ over rounds of the payoff of every action (columns), by the action played (rows)
    strategies: NDArray[np.float64]  # Σ over rounds of the learner's strategy
    earned: float = 0.0  # expected payoff of the learner against the same moves of the others
    rounds: int = 0


@dataclass(frozen=True, eq=False)
class Round:
    """A round that was played: arrays with one row per group and one column per player of the game."""

    groups: NDArray[np.int32]  # the student in each seat, or -1
    actions: NDArray[np.int32]
    by_learner: NDArray[np.bool_]  # whether a learner chose the action
    payoffs: NDArray[np.float64]  # of the actions played
    advice: NDArray[np.int32] | None  # recommended actions

    def group_of(self, student: int, role: int) -> int | None:
        """Return the group in which a student with this role played, or None."""
        found = np.flatnonzero(self.groups[:, role] == student)
        return int(found[0]) if len(found) else None


class Room:
    """The state of a session of a class, which plays `game` with these settings."""

    def __init__(self, game: Game, settings: Settings) -> None:
        self.game = game
        self.settings = settings
        self.learner: Learner = players.from_text(settings.learner).with_horizon(settings.rounds)
        self.seconds = settings.seconds
        self.device = settings.device
        self.device_since = 0  # the last round before this device
        self.phase: Phase = "lobby"
        self.paused: float | None = None  # seconds left when the round was paused
        self.revealed = False
        self.round = 0
        self.deadline = 0.0  # of the open round, in seconds since the epoch
        self.students: list[Student] = []
        self.groups: list[list[int]] = []
        self._places: dict[int, tuple[int, int]] = {}  # group and role of each student in the open round
        self.advice: list[list[int]] | None = None
        self.moves: dict[int, int] = {}  # of the open round, by student
        self.played: list[Round] = []
        self.seats: dict[tuple[int, int], Seat] = {}  # by group and role
        self.taken: set[tuple[int, int]] = set()  # seats in which a student has played

    def copy(self) -> Room:
        """Return a copy for another thread, which rounds that are played meanwhile do not change."""
        found = copy(self)
        found.played, found.seats, found.taken = self.played.copy(), self.seats.copy(), self.taken.copy()
        return found

    # Commands of students.

    def join(self, name: str, secret: str) -> Event:
        """Return the event of a student who joins."""
        text = " ".join("".join(one for one in unicodedata.normalize("NFC", name) if one.isprintable()).split())
        if not 1 <= len(text) <= LONGEST_NAME:
            raise InputError(f"a name must have 1 to {LONGEST_NAME} characters, got {len(text)}")
        if any(one.name.casefold() == text.casefold() for one in self.students):
            raise InputError(f"the name {text} is taken; choose another")
        if len(self.students) >= self.most_students:
            raise InputError(f"the room is full: it has {self.most_students} seats")
        if self.phase == "ended":
            raise InputError("the session has ended")
        if self.settings.matching == "population" and self.phase != "lobby":
            raise InputError("the class plays one game together, which has begun; join the next session")
        return {"event": "joined", "name": text, "secret": secret}

    @property
    def most_students(self) -> int:
        """The number of students who can join."""
        return len(self.game.players) if self.settings.matching == "population" else MOST_STUDENTS

    def student_of(self, secret: str) -> int | None:
        """Return the index of the student with this hash of a secret."""
        found = [k for k, one in enumerate(self.students) if hmac.compare_digest(one.secret, secret)]
        return found[0] if found else None

    def move(self, student: int, round: Any, action: Any, now: float) -> Event:
        """Return the event of a student's move, or raise an InputError: in time, once, and an action of the game."""
        if self.phase != "open" or round != self.round:
            raise InputError("this round is over; your move does not count")
        if self.paused is not None:
            raise InputError("the round is paused")
        if self.deadline and now > self.deadline + GRACE:
            raise InputError("time is up; your move does not count")
        if student in self.moves:
            raise InputError("you have chosen already in this round")
        place = self.place_of(student)
        if place is None:
            raise InputError("you play from the next round on")
        if not isinstance(action, int) or isinstance(action, bool) or not 0 <= action < self.game.sizes[place[1]]:
            raise InputError("unknown action")
        return {"event": "moved", "student": student, "round": self.round, "action": action}

    def place_of(self, student: int) -> tuple[int, int] | None:
        """Return the group and the role of a student in this round."""
        return self._places.get(student)

    # Commands of the teacher.

    def open_round(self, now: float) -> Event:
        """Return the event that opens the next round."""
        if self.phase in ("open", "ended"):
            raise InputError("the round is open" if self.phase == "open" else "the session has ended")
        if not self.students:
            raise InputError("nobody has joined yet")
        if self.round >= self.settings.rounds:
            raise InputError(f"all {self.settings.rounds} rounds have been played; end the session")
        deadline = now + self.seconds if self.seconds else 0.0
        return {"event": "opened", "round": self.round + 1, "deadline": deadline, "students": len(self.students)}

    def pause(self, now: float) -> Event:
        """Return the event that stops the clock of the open round."""
        self._need_open()
        if self.paused is not None:
            raise InputError("the round is paused")
        return {"event": "paused", "left": max(self.deadline - now, 0.0) if self.deadline else 0.0}

    def resume(self, now: float) -> Event:
        """Return the event that starts the clock again."""
        if self.paused is None:
            raise InputError("the round is not paused")
        return {"event": "resumed", "deadline": now + self.paused if self.deadline else 0.0}

    def set_seconds(self, seconds: Any) -> Event:
        """Return the event that sets the time per round, from the next round on; 0 means no limit."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= LONGEST_ROUND:
            raise InputError(f"seconds must be a number from 0 (no limit) to {LONGEST_ROUND:g}, got {seconds!r:.40}")
        return {"event": "timed", "seconds": float(seconds)}

    def set_device(self, cells: Any) -> Event:
        """Return the event that sets the device of the next rounds: a probability per action profile, or none."""
        return {"event": "advised", "device": list(devices.checked(self.game, cells)) if cells else []}

    def close_round(self) -> Event:
        """Return the event that closes the round: actions of all seats, those of learners and absent students drawn."""
        self._need_open()
        actions, by_learner = [], []
        for group, seats in enumerate(self.groups):
            chosen = [self.moves.get(one, LEARNER) for one in seats]
            by_learner.append([one == LEARNER for one in chosen])
            actions.append([self._drawn(group, role) if one == LEARNER else one for role, one in enumerate(chosen)])
        return {"event": "closed", "round": self.round, "actions": actions, "by_learner": by_learner}

    def _need_open(self) -> None:
        if self.phase != "open":
            raise InputError("no round is open")

    def reveal(self) -> Event:
        """Return the event that shows the results to all students."""
        return {"event": "revealed"}

    def end(self) -> Event:
        """Return the event that ends the session; an open round does not count."""
        if self.phase == "ended":
            raise InputError("the session has ended")
        return {"event": "ended"}

    @property
    def is_complete(self) -> bool:
        """Whether every student in the open round has moved."""
        return all(one == LEARNER or one in self.moves for seats in self.groups for one in seats)

    # Events.

    def apply(self, event: Event) -> None:
        """Change the state as an event says."""
        getattr(self, f"_{event['event']}")(event)

    def _joined(self, event: Event) -> None:
        self.students.append(Student(event["name"], event["secret"]))

    def _opened(self, event: Event) -> None:
        self.round, self.deadline, self.phase, self.paused = event["round"], event["deadline"], "open", None
        settings, count = self.settings, len(self.game.players)
        self.groups = groups(settings.matching, event["students"], count, self.round, settings.seed, settings.role)
        self._places = {
            student: (group, role)
            for group, seats in enumerate(self.groups)
            for role, student in enumerate(seats)
            if student != LEARNER
        }
        self.taken.update(self._places.values())
        self.moves = {}
        self.advice = [self._recommended(group) for group in range(len(self.groups))] if self.device else None

    def _recommended(self, group: int) -> list[int]:
        """Return the recommendations of a group, drawn from the device."""
        random = np.random.default_rng([self.settings.seed, self.round, 2, group])
        cell = random.choice(len(self.device), p=self.device)
        return [int(one) for one in np.unravel_index(cell, self.game.sizes)]

    def _moved(self, event: Event) -> None:
        self.moves[event["student"]] = event["action"]

    def _paused(self, event: Event) -> None:
        self.paused = event["left"]

    def _resumed(self, event: Event) -> None:
        self.paused, self.deadline = None, event["deadline"]

    def _timed(self, event: Event) -> None:
        self.seconds = event["seconds"]

    def _advised(self, event: Event) -> None:
        self.device, self.device_since = tuple(event["device"]), self.round

    def _closed(self, event: Event) -> None:
        self.phase, self.paused = "closed", None
        earned = np.zeros((len(self.groups), len(self.game.players)))
        for group, actions in enumerate(event["actions"]):
            for role, payoffs in enumerate(self.payoffs_of(actions)):
                earned[group, role] = payoffs[actions[role]]
                self._learn(group, role, actions[role], payoffs)
                student = self.groups[group][role]
                if student != LEARNER and not event["by_learner"][group][role]:
                    self._score(self.students[student], role, actions[role], payoffs)
        groups, actions = (np.array(one, dtype=np.int32) for one in (self.groups, event["actions"]))
        advice = None if self.advice is None else np.array(self.advice, dtype=np.int32)
        self.played.append(Round(groups, actions, np.array(event["by_learner"]), earned, advice))

    def _revealed(self, _: Event) -> None:
        self.revealed = True

    def _ended(self, _: Event) -> None:
        self.phase, self.paused = "ended", None

    # Payoffs and learners.

    def payoffs_of(self, actions: Iterable[int]) -> list[NDArray[np.float64]]:
        """Return, for each player, the payoff of each of its actions against the others' actions."""
        game = self.game
        pure = np.concatenate([np.eye(size)[one] for size, one in zip(game.sizes, actions, strict=True)])
        losses = np.split(game.expected_losses(pure), np.cumsum(game.sizes)[:-1])
        return [middle - scale * loss for middle, scale, loss in zip(game.middle, game.scale, losses, strict=True)]

    def _seat(self, group: int, role: int) -> Seat:
        if (group, role) not in self.seats:
            scaled = self.learner.with_payoff_scale(float(self.game.scale[role]))
            size = self.game.sizes[role]
            self.seats[group, role] = Seat(scaled.start(size), np.zeros((size, size)), np.zeros(size))
        return self.seats[group, role]

    def _drawn(self, group: int, role: int) -> int:
        """Return the action that the learner of a seat plays in this round; the same after a restart."""
        random = np.random.default_rng([self.settings.seed, self.round, 3, group, role])
        strategy = np.maximum(self._seat(group, role).learner.play(), 0)
        return int(random.choice(len(strategy), p=strategy / strategy.sum()))

    def role_of(self, student: int) -> int:
        """Return the player of the game whose role a student has."""
        return role_of(student, len(self.game.players), self.settings.role)

    def _learn(self, group: int, role: int, action: int, payoffs: NDArray[np.float64]) -> None:
        """Let the learner of a seat observe what happened."""
        seat, scale = self._seat(group, role), self.game.scale[role]
        seat.payoffs[action] += payoffs
        strategy = seat.learner.play()
        seat.strategies += strategy
        seat.earned += float(strategy @ payoffs)
        seat.rounds += 1
        losses = (self.game.middle[role] - payoffs) / scale if scale > 0 else np.zeros_like(payoffs)
        seat.learner.observe(np.clip(losses, -1, 1))

    def _score(self, student: Student, role: int, action: int, payoffs: NDArray[np.float64]) -> None:
        size = self.game.sizes[role]
        if student.payoffs is None or student.counts is None or len(student.counts) != size:
            student.payoffs, student.counts = np.zeros((size, size)), np.zeros(size)
        student.payoffs[action] += payoffs
        student.counts[action] += 1
        student.score += float(payoffs[action])
