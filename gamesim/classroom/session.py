"""A session of a class on a server: the room, its log, the clock, and the pages that watch.

Commands are applied in order, and written to the log in batches, one after the other. A command is acknowledged, and
what it changed is shown, when its batch is on disk.
"""

import asyncio
import hashlib
import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Protocol

from gamesim.classroom import views
from gamesim.classroom.log import Event, Log
from gamesim.classroom.room import GRACE, Room, Settings
from gamesim.errors import InputError
from gamesim.game import Game

LETTERS = "ACDEFGHJKLMNPQRTUVWXY"  # of codes: none looks like another or like a digit
CODE = 5
TICK = 0.02  # seconds between two looks at the clock
SHOW = 0.2  # seconds between two updates of the teacher's page
REST_ALONE = 1.5  # likewise, without a teacher
REST = 4.0  # seconds between rounds, if they follow by themselves


class Watcher(Protocol):
    """A page that is connected."""

    def changed(self, events: Sequence[Event]) -> None:
        """Take note that these events have changed the state."""


def hashed(secret: str) -> str:
    """Return the hash of a secret, which is all that a log has of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Session:
    """Run a room: apply commands, write them to the log, and keep the time."""

    def __init__(
        self, game: Game, settings: Settings, log: Log, *, alone: bool = False, now: Callable[[], float] = time.time
    ) -> None:
        self.room, self._log, self.now = Room(game, settings), log, now
        self.code, self._teachers = "", set[str]()
        self._alone = alone  # without a teacher: rounds follow one another, and the session ends after the last
        self.automatic = alone
        self.watchers = set[Watcher]()
        self._waiting: list[tuple[Event, asyncio.Future[None]]] = []
        self._last: asyncio.Future[None] | None = None  # done when all that was applied is on disk
        self._wake = asyncio.Event()
        self.failure = ""  # why the log cannot be written
        self._resting: float | None = None  # when the next round opens by itself
        for event in log:
            self._apply(event)
        if not self.code:
            self._keep(
                {"event": "created", "code": "".join(secrets.choice(LETTERS) for _ in range(CODE))} | asdict(settings)
            )
        room = self.room
        if room.phase == "open" and room.deadline and room.paused is None:  # an interrupted round gets its time again
            self._keep({"event": "resumed", "deadline": self.now() + room.seconds})

    @property
    def settings(self) -> Settings:
        """The settings of the session."""
        return self.room.settings

    def _keep(self, event: Event) -> None:
        """Write an event and apply it, before pages are served."""
        self._log.append(event)
        self._apply(event)

    def _apply(self, event: Event) -> None:
        if event["event"] == "created":
            kept: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value for key, value in event.items()
            }
            self.code = kept.pop("code")
            del kept["event"]
            if kept != asdict(self.settings):
                differ = [key for key, value in asdict(self.settings).items() if kept.get(key) != value]
                raise InputError(
                    f"{self._log.path} is a session with other settings ({', '.join(differ)}); continue it with the "
                    "same ones, or start a new one with another --log"
                )
        elif event["event"] == "teacher":
            self._teachers.add(event["secret"])
        else:
            self.room.apply(event)

    def new_teacher(self) -> str:
        """Return a new secret of the teacher."""
        secret = secrets.token_urlsafe(18)
        self._keep({"event": "teacher", "secret": hashed(secret)})
        return secret

    def is_teacher(self, secret: Any) -> bool:
        """Whether this is a secret of the teacher."""
        return isinstance(secret, str) and hashed(secret) in self._teachers

    async def do(self, command: Callable[[], Event]) -> None:
        """Apply the event that a command of the room returns; return when it is on disk.

        Once the log has failed, this is the reason for every refusal, whatever the room would say.
        """
        if self.failure:
            raise InputError(self.failure)
        event = command()
        self._apply(event)
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((event, done))
        self._last = done
        self._wake.set()
        await done

    async def on_disk(self) -> None:
        """Return when everything that was applied is on disk: pages must not show what a kill could undo."""
        while self._last is not None and not self._last.done():
            await asyncio.wait([self._last])
        if self.failure:
            raise RuntimeError(self.failure)

    async def join(self, code: Any, name: Any) -> tuple[int, str]:
        """Let a student in; return the index and the secret."""
        if not isinstance(code, str) or code.strip().upper() != self.code:
            raise InputError("there is no room with this code; check the teacher's screen")
        if not isinstance(name, str):
            raise InputError("a name must be text")
        secret = secrets.token_urlsafe(18)
        await self.do(lambda: self.room.join(name, hashed(secret)))
        student = self.room.student_of(hashed(secret))
        assert student is not None
        return student, secret

    def student_of(self, secret: Any) -> int | None:
        """Return the index of the student with this secret."""
        return self.room.student_of(hashed(secret)) if isinstance(secret, str) else None

    async def move(self, student: int, round: Any, action: Any) -> None:
        """Make a move of a student."""
        await self.do(lambda: self.room.move(student, round, action, self.now()))

    async def command(self, name: Any, value: Any = None) -> None:
        """Carry out a command of the teacher."""
        room = self.room
        if name == "automatic":
            self.automatic = bool(value)
            self._show([{"event": "automatic"}])
            return
        commands: dict[str, Callable[[], Event]] = {
            "open": lambda: room.open_round(self.now()),
            "pause": lambda: room.pause(self.now()),
            "resume": lambda: room.resume(self.now()),
            "close": room.close_round,
            "reveal": room.reveal,
            "end": room.end,
            "seconds": lambda: room.set_seconds(value),
            "device": lambda: room.set_device(value),
        }
        if not isinstance(name, str) or name not in commands:
            raise InputError(f"unknown command {name!r}")
        await self.do(commands[name])

    async def keep_log(self) -> None:
        """Write what waits to the log, batch by batch, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            if not batch:
                continue
            try:
                await asyncio.to_thread(self._log.append, *(event for event, _ in batch))
            except sqlite3.Error as error:
                # From now on everything is refused: what was applied last is not in the log.
                self.failure = f"the log cannot be written: {error}; free disk space, then start the same command again"
                for _, done in (*batch, *self._waiting):
                    if not done.done():
                        done.set_exception(InputError(self.failure))
                return
            for _, done in batch:
                if not done.done():
                    done.set_result(None)
            self._show([event for event, _ in batch])

    async def keep_time(self) -> None:
        """Close rounds whose time is up or in which all have moved, until cancelled."""
        while True:
            await asyncio.sleep(TICK)
            room, now = self.room, self.now()
            if room.phase == "open" and room.paused is None:
                late = room.deadline and now > room.deadline + GRACE
                if late or room.is_complete:
                    await self.do(room.close_round)
                    self._resting = now + (REST_ALONE if self._alone else REST)
            elif self._alone and room.phase == "lobby" and room.students:
                await self.do(partial(room.open_round, now))
            elif room.phase == "closed" and self.automatic and now > (self._resting or 0.0):
                if room.round < self.settings.rounds:
                    await self.do(partial(room.open_round, now))
                else:
                    self.automatic = False
                    if self._alone:
                        await self.do(room.end)

    def _show(self, events: Sequence[Event]) -> None:
        for one in tuple(self.watchers):
            one.changed(events)

    def seen_by_teacher(self) -> dict[str, Any]:
        """Return what the teacher's page shows."""
        return views.of_teacher(self.room, self.now()) | {"code": self.code, "automatic": self.automatic}

    def seat_of(self, student: int) -> dict[str, Any]:
        """Return what a student's page shows of the seat."""
        return views.of_seat(self.room, student)

    def seen_by(self, student: int) -> dict[str, Any]:
        """Return what a student's page shows."""
        return views.of_student(self.room, student, self.now())
