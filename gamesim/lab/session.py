"""One open page: it says what to simulate and how fast, and is sent what happens, at most 30 times a second.

Rounds run in worker threads, in pieces so short that many pages share the workers fairly; the compiled loop lets go of
Python's lock, so the server answers meanwhile. A frame is made only when the page has drawn all but the last one or
two: what a slow page costs is its own frames, never memory, and never another page's time.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from os import cpu_count
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from starlette.websockets import WebSocket, WebSocketDisconnect

from gamesim import equilibrium
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game
from gamesim.lab import frames
from gamesim.lab.choices import game_data
from gamesim.lab.limits import asked_game, asked_scenario, read_message
from gamesim.measure.incentives import EquilibriumKind
from gamesim.record import Record
from gamesim.report.summary import why_left_out
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation

FRAME = 1 / 30  # seconds between two frames
PIECE = FRAME  # seconds of rounds in one piece, while no other page waits
CATCH_UP = 0.25  # seconds of rounds that a slow moment may owe
SLOWEST = 1000.0  # rounds a second that a simulation is thought to manage before it was seen
UNDRAWN = 2  # frames that a page may have been sent and not drawn
WAITING = 64  # messages of a page that wait to be obeyed
NEAREST = 0.3  # seconds between two looks for the nearest equilibrium
FASTEST = 10**9  # rounds a second that a page may ask for
MOST_STEP = 10**6
OUTLINED = 144  # cells up to which what the equilibria pay is outlined
DIRECTIONS = 32  # in which the outline is sought

Result = TypeVar("Result")
log = logging.getLogger(__name__)


@dataclass
class Workers:
    """The threads that all pages share: some for rounds, one for linear programs, one for records and reports."""

    rounds: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(cores() + 1, "lab-rounds"))
    slow: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "lab-slow"))
    reports: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "lab-reports"))
    sessions: dict[str, "Session"] = field(default_factory=dict)
    asked_reports: int = 0

    def piece(self) -> float:
        """Return for how long a page may run rounds at a time, so that all that play get their turn."""
        playing = sum(session.playing for session in self.sessions.values())
        return PIECE / max(1.0, playing / cores())

    def close(self) -> None:
        """End the threads, as soon as they have done what they are at."""
        for pool in (self.rounds, self.slow, self.reports):
            pool.shutdown(wait=False, cancel_futures=True)


def cores() -> int:
    """Return how many threads of rounds can run at once."""
    return cpu_count() or 1


class Run:
    """One simulation, and what the page has been shown of it."""

    def __init__(self, scenario: Scenario, shape: int) -> None:
        self.scenario = scenario
        self.game: Game = scenario.played_game
        self.simulation: Simulation = scenario.simulation()
        self.film = frames.Film(self.game, shape)
        self.record: Record | None = None

    @property
    def left(self) -> int:
        """How many rounds are still to play."""
        return self.scenario.rounds - self.simulation.rounds

    def data(self) -> dict[str, Any]:
        """Return what the page is told of a run before its first round."""
        chosen = zip(self.simulation.learners, self.game.sizes, self.game.scale, self._started(), strict=True)
        return {
            "learners": [player.name for player in self.simulation.learners],
            "guarantees": [str(player.guarantee() or "guarantees nothing") for player in self.simulation.learners],
            "bounds": [
                frames.bounds(player, size, scale, started, self.scenario.rounds)
                for player, size, scale, started in chosen
            ],
        }

    def _started(self) -> list[bool]:
        """Which players' first strategies are given or perturbed."""
        return [one.start is not None or one.perturb > 0 for one in self.scenario.player_parts]


class Session:
    """A page and its simulations: one, or two of the same game and seed side by side."""

    def __init__(self, socket: WebSocket, workers: Workers) -> None:
        self.id = secrets.token_urlsafe(16)
        self.runs: list[Run] = []
        self.playing = False
        self._socket, self._workers = socket, workers
        self._messages: asyncio.Queue[str | bytes | None] = asyncio.Queue(WAITING)
        self._shape = 0
        self._speed: float | None = None  # rounds a second; None is as fast as possible
        self._pace, self._owed, self._measured_speed = SLOWEST, 0.0, 0.0  # rounds a second that workers manage
        self._last = self._last_frame = monotonic()
        self._undrawn, self._changed = 0, False
        self._news = asyncio.Event()

    async def serve(self) -> None:
        """Obey the page until it goes away."""
        reader, looker = asyncio.create_task(self._read()), asyncio.create_task(self._look())
        try:
            await self._say("hello", session=self.id)
            while True:
                while (message := await self._next_message()) is not _NOTHING:
                    if message is None:
                        return
                    await self._obey(message)
                if self.playing:  # the frame of the last piece is made while the next one runs
                    await asyncio.gather(self._show(), self._advance())
                else:
                    await self._show()
        except (WebSocketDisconnect, RuntimeError):  # the page went away while something was being sent to it
            if reader.done() or self._socket.client_state.name != "CONNECTED":
                return
            raise
        finally:
            self.playing = False
            for task in (reader, looker):
                task.cancel()
            await asyncio.gather(reader, looker, return_exceptions=True)

    # Messages.

    async def _read(self) -> None:
        """Take in what the page says; while too much of it waits, the page waits too."""
        try:
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                text = message.get("text")
                await self._messages.put(text if text is not None else message.get("bytes") or b"")
        finally:
            while self._messages.full():
                self._messages.get_nowait()
            self._messages.put_nowait(None)

    async def _next_message(self) -> Any:
        """Return the next message, or _NOTHING when it is time for rounds or a frame; wait if there is neither."""
        if not self._messages.empty():
            return self._messages.get_nowait()
        pause = self._pause()
        if pause is not None and pause <= 0:
            return _NOTHING
        try:
            return await asyncio.wait_for(self._messages.get(), pause)
        except TimeoutError:
            return _NOTHING

    def _pause(self) -> float | None:
        """Return for how long nothing is to be done, unless a message comes; None is for ever."""
        now = monotonic()
        to_frame = self._last_frame + FRAME - now if self._changed and self._undrawn < UNDRAWN else None
        if not self.playing:
            return to_frame
        if self._speed is None:
            return 0.0
        to_round = max((1 - self._owed) / self._speed - (now - self._last), FRAME / 2)
        return to_round if to_frame is None else min(to_round, to_frame)

    async def _say(self, kind: str, **content: Any) -> None:
        await self._socket.send_json({"is": kind, **content})

    async def _obey(self, text: str | bytes) -> None:
        """Do what a message says; what is wrong with it is told to the page, and nothing has changed then."""
        do = ""
        try:
            if isinstance(text, bytes):
                raise InputError(f"a message is JSON text, and {len(text):,} bytes came")
            message = read_message(text)
            do = message.pop("do")
            if do not in _COMMANDS:
                raise InputError(f"there is no message {do[:40]!r}: {did_you_mean(do[:40], _COMMANDS)}")
            await _COMMANDS[do](self, **_known(do, message))
        except (InputError, ArithmeticError) as error:
            await self._say("error", about=do, message=str(error))
        except (MemoryError, RecursionError) as error:
            why = "is nested too deeply" if isinstance(error, RecursionError) else "does not fit into memory"
            await self._say("error", about=do, message=f"this {why}: take a smaller game")
        except (WebSocketDisconnect, RuntimeError):
            raise
        except Exception:
            log.exception("a message of a page could not be obeyed")
            await self._say("error", about=do, message="the lab could not do this; its terminal says why")

    async def _work(self, do: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._workers.rounds, do)

    async def _game(self, game: Any = None) -> None:
        """Tell the page a game, without playing it."""
        made = await self._work(lambda: asked_game(game))
        await self._say("game", asked=game, game=game_data(made))

    async def _begin(self, scenario: Any = None, beside: Any = None) -> None:
        """Put new simulations in the place of the old ones, before their first round."""
        shape = self._shape + 1

        def make() -> list[Run]:
            wanted = [asked_scenario(scenario)]
            if beside is not None:
                wanted.append(asked_scenario({**scenario, "players": beside}))
            return [Run(one, shape) for one in wanted]

        runs = await self._work(make)
        self.runs, self._shape, self.playing = runs, shape, False
        self._pace, self._measured_speed = SLOWEST, 0.0
        game = runs[0].game
        await self._say(
            "shape",
            shape=shape,
            rounds=runs[0].scenario.rounds,
            game=game_data(game),
            fields=frames.fields(game),
            row_fields=frames.row_fields(game),
            runs=[run.data() for run in runs],
            no_distance=why_left_out(game, len(runs), runs[0].scenario.measure.distance),
        )
        self._changed = True
        self._news.set()

    async def _play(self, speed: Any = None) -> None:
        self._require_runs()
        await self._set_speed(speed)
        self.playing, self._owed, self._last, self._changed = True, 1.0, monotonic(), True

    async def _set_speed(self, speed: Any = None) -> None:
        if speed is not None and (
            isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= FASTEST
        ):
            raise InputError(f"speed is a number of rounds a second up to {FASTEST:,}, or null, and {speed!r:.60} came")
        self._speed = speed

    async def _stop(self) -> None:
        self.playing, self._changed = False, True

    async def _step(self, rounds: Any = 1) -> None:
        self._require_runs()
        if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MOST_STEP:
            raise InputError(f"rounds must be a whole number from 1 to {MOST_STEP:,}, and {rounds!r:.60} came")
        self.playing = False
        await self._run_rounds(min(rounds, *(run.left for run in self.runs)))

    async def _toml(self) -> None:
        """Give the scenarios of the runs as files."""
        self._require_runs()
        await self._say("toml", texts=[run.scenario.to_toml() for run in self.runs])

    async def _drawn(self) -> None:
        self._undrawn = max(0, self._undrawn - 1)

    def _require_runs(self) -> None:
        if not self.runs:
            raise InputError('there is no simulation yet: send {"do": "begin", "scenario": …} first')

    # Rounds.

    async def _advance(self) -> None:
        """Run the rounds that are due, at most as many as a piece holds."""
        now = monotonic()
        to_frame = max(self._last_frame + FRAME - now, FRAME / 8)  # a piece that ends when a frame is due
        wanted = max(1, int(self._pace * min(to_frame, self._workers.piece())))
        if self._speed is not None:
            self._owed = min(self._owed + self._speed * (now - self._last), max(1.0, self._speed * CATCH_UP))
            wanted = min(wanted, int(self._owed))
        self._last = now
        rounds = min(wanted, *(run.left for run in self.runs))
        if rounds >= 1:
            try:
                await self._run_rounds(rounds)
            except (InputError, ArithmeticError) as error:
                await self._stop()
                await self._say("error", about="play", message=str(error))
            self._owed -= rounds

    async def _run_rounds(self, rounds: int) -> None:
        """Run so many rounds of every run, and learn how many fit into a piece."""
        if rounds >= 1:
            began = monotonic()

            def run(one: Run) -> Record:
                return one.simulation.run(rounds, threads=0)  # a worker is a thread already

            records = await asyncio.gather(*(self._work(partial(run, one)) for one in self.runs))
            for one, record in zip(self.runs, records, strict=True):
                one.record = record
            took = max(monotonic() - began, 1e-9)
            self._pace = min(max(rounds / took, self._pace / 2), self._pace * 2)
            self._changed = True
            self._news.set()
        if not all(run.left for run in self.runs):
            self.playing = False
        elif self.playing and self._speed is None:
            self._measured_speed += 0.2 * (rounds / max(monotonic() - self._last, 1e-9) - self._measured_speed)

    # Frames.

    async def _show(self) -> None:
        """Send a frame if there is news and the page has drawn the last ones."""
        now = monotonic()
        if not self.runs or not self._changed or self._undrawn >= UNDRAWN or now < self._last_frame + FRAME:
            return
        self._last_frame, self._changed = now, False
        speed = self._measured_speed if self._speed is None else self._speed
        shown = [(run.film, run.record, self._status(run)) for run in self.runs]
        parts = await self._work(lambda: [film.frame(record, status, speed) for film, record, status in shown])
        self._undrawn += 1
        await self._socket.send_bytes(np.concatenate(parts).astype("<f4").tobytes())

    def _status(self, run: Run) -> int:
        if run.record is not None and run.record.rounds == run.scenario.rounds:
            return frames.DONE
        return frames.PLAYING if self.playing else frames.PAUSED

    # What takes long.

    async def _slowly(self, do: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._workers.slow, do)

    async def _look(self) -> None:
        """Tell the page the sets of equilibria of a new game, and now and then how far play is from them."""
        told = 0
        while True:
            await self._news.wait()
            self._news.clear()
            shape, runs = self._shape, self.runs
            if runs and why_left_out(runs[0].game, 1, runs[0].scenario.measure.distance) is None:
                try:
                    if told != shape:
                        told = shape
                        await self._tell_sets(runs[0].game, shape)
                    for number, run in enumerate(runs):
                        await self._tell_nearest(run.record, number, shape)
                except ArithmeticError:
                    log.exception("a linear program was not solved")  # the next one may be
            await asyncio.sleep(NEAREST)

    async def _tell_sets(self, game: Game, shape: int) -> None:
        """Tell the page the CE and the CCE of a small game: their corners, and what they pay."""
        if game.cells <= OUTLINED:
            sets = await self._slowly(lambda: {kind: _set(game, kind) for kind in ("ce", "cce")})
            await self._say("sets", shape=shape, **sets)

    async def _tell_nearest(self, record: Record | None, number: int, shape: int) -> None:
        """Tell the page how far the joint of one run is from the equilibria, and the nearest CE."""
        if record is not None and shape == self._shape:
            found = await self._slowly(partial(_nearest, record))
            await self._say("nearest", shape=shape, run=number, rounds=record.rounds, **found)


def _set(game: Game, kind: EquilibriumKind) -> dict[str, Any]:
    """Return the corners of a set where it can be drawn, and the outline of what it pays two players."""
    equilibria = equilibrium.polytope(game, kind)
    found: dict[str, Any] = {}
    if game.sizes == (2, 2):
        found["vertices"] = equilibria.vertices().reshape(-1, 4).tolist()
    if len(game.players) == 2:
        turns = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
        weights = np.column_stack([np.cos(turns), np.sin(turns)]) / np.where(game.scale > 0, game.scale, 1)
        found["payoffs"] = [equilibria.payoffs(equilibria.optimum(weight)).tolist() for weight in weights]
    return found


def _nearest(record: Record) -> dict[str, Any]:
    """Return both distances, and the CE that is nearest in total variation."""
    equilibria = {kind: equilibrium.polytope(record.game, kind) for kind in ("ce", "cce")}
    joint = record.joint
    if joint is None:
        return {}
    nearest = equilibria["ce"].nearest(joint)
    distance = float(np.abs(nearest - joint).sum() / 2)
    return {"distance": {"ce": distance, "cce": equilibria["cce"].distance(joint)}, "joint": nearest.ravel().tolist()}


_NOTHING = object()
_COMMANDS: dict[str, Callable[..., Any]] = {
    "game": Session._game,
    "begin": Session._begin,
    "play": Session._play,
    "speed": Session._set_speed,
    "pause": Session._stop,
    "step": Session._step,
    "toml": Session._toml,
    "drawn": Session._drawn,
}


def _known(do: str, content: dict[str, Any]) -> dict[str, Any]:
    """Return what a message holds besides its word, or refuse keys that the word does not take."""
    takes = list(signature(_COMMANDS[do]).parameters)[1:]
    for key in content:
        if key not in takes:
            raise InputError(f"{do} takes {' and '.join(takes) or 'nothing else'}, and {key[:40]!r} came")
    return content
