"""The simulations of one page: it sends commands and receives up to 30 frames per second.

Rounds run in worker threads, in short slices so that pages share the workers fairly. The compiled loop releases the
GIL, so the server stays responsive. A new frame is sent only once the page has drawn all but the last two: a slow page
gets fewer frames, but costs no memory and does not slow down other pages.
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
SLICE = FRAME  # seconds of rounds per slice, while no other page is waiting
CATCH_UP = 0.25  # maximum backlog, in seconds of rounds
SLOWEST = 1000.0  # initial estimate of rounds per second, before any measurement
UNDRAWN = 2  # maximum number of frames sent but not yet drawn
WAITING = 64  # maximum number of queued messages
NEAREST = 0.3  # seconds between two computations of the nearest equilibrium
FASTEST = 10**9  # maximum speed in rounds per second
MOST_STEP = 10**6
OUTLINED = 144  # maximum number of action profiles for outlining the equilibrium payoffs
DIRECTIONS = 32  # number of directions sampled for the outline

Result = TypeVar("Result")
log = logging.getLogger(__name__)


@dataclass
class Workers:
    """Threads shared by all pages: several for rounds, one for linear programs, one for records and reports."""

    rounds: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(cores() + 1, "lab-rounds"))
    slow: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "lab-slow"))
    reports: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "lab-reports"))
    sessions: dict[str, "Session"] = field(default_factory=dict)
    asked_reports: int = 0

    def slice_seconds(self) -> float:
        """Return the length of a slice in seconds, such that the pages that are playing share the cores."""
        playing = sum(session.playing for session in self.sessions.values())
        return SLICE / max(1.0, playing / cores())

    def close(self) -> None:
        """Stop the threads after their current task."""
        for pool in (self.rounds, self.slow, self.reports):
            pool.shutdown(wait=False, cancel_futures=True)


def cores() -> int:
    """Return the number of processor cores."""
    return cpu_count() or 1


class Run:
    """One simulation and the data of it sent to the page."""

    def __init__(self, scenario: Scenario, shape: int) -> None:
        self.scenario = scenario
        self.game: Game = scenario.played_game
        self.simulation: Simulation = scenario.simulation()
        self.feed = frames.Feed(self.game, shape)
        self.record: Record | None = None

    @property
    def left(self) -> int:
        """The number of remaining rounds."""
        return self.scenario.rounds - self.simulation.rounds

    def data(self) -> dict[str, Any]:
        """Return the description of a run sent before its first round."""
        return {
            "learners": [player.name for player in self.simulation.learners],
            "guarantees": [str(player.guarantee() or "no guarantee") for player in self.simulation.learners],
            "bounds": [
                frames.bounds(self.simulation, i, started, self.scenario.rounds)
                for i, started in enumerate(self._started())
            ],
        }

    def _started(self) -> list[bool]:
        """Return, for each player, whether its initial strategy is given or perturbed."""
        return [one.opening is not None or one.perturb > 0 for one in self.scenario.player_parts]


class Session:
    """A page and its simulations: one, or two side by side with the same game and seed."""

    def __init__(self, socket: WebSocket, workers: Workers) -> None:
        self.id = secrets.token_urlsafe(16)
        self.runs: list[Run] = []
        self.playing = False
        self._socket, self._workers = socket, workers
        self._messages: asyncio.Queue[str | bytes | None] = asyncio.Queue(WAITING)
        self._shape = 0
        self._speed: float | None = None  # rounds per second; None means as fast as possible
        self._pace, self._owed, self._measured_speed = SLOWEST, 0.0, 0.0  # rounds per second
        self._last = self._last_frame = monotonic()
        self._undrawn, self._changed = 0, False
        self._news = asyncio.Event()

    async def serve(self) -> None:
        """Serve one client until it disconnects."""
        reader, sender = asyncio.create_task(self._read()), asyncio.create_task(self._send_equilibria())
        try:
            await self._send("hello", session=self.id)
            while True:
                while (message := await self._next_message()) is not _NOTHING:
                    if message is None:
                        return
                    await self._handle(message)
                if self.playing:  # encode the frame of the last slice while the next one runs
                    await asyncio.gather(self._show(), self._advance())
                else:
                    await self._show()
        except (WebSocketDisconnect, RuntimeError):  # the client disconnected during a send
            if reader.done() or self._socket.client_state.name != "CONNECTED":
                return
            raise
        finally:
            self.playing = False
            for task in (reader, sender):
                task.cancel()
            await asyncio.gather(reader, sender, return_exceptions=True)

    # Messages.

    async def _read(self) -> None:
        """Queue incoming messages; a full queue applies back-pressure to the client."""
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
        """Wait for the next message; return _NOTHING when rounds or a frame are due first."""
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
        """Return the seconds until rounds or a frame are due; None means wait for a message."""
        now = monotonic()
        to_frame = self._last_frame + FRAME - now if self._changed and self._undrawn < UNDRAWN else None
        if not self.playing:
            return to_frame
        if self._speed is None:
            return 0.0
        to_round = max((1 - self._owed) / self._speed - (now - self._last), FRAME / 2)
        return to_round if to_frame is None else min(to_round, to_frame)

    async def _send(self, kind: str, **content: Any) -> None:
        await self._socket.send_json({"is": kind, **content})

    async def _handle(self, text: str | bytes) -> None:
        """Execute the command in a message; if it is invalid, report the error and change nothing."""
        do = ""
        try:
            if isinstance(text, bytes):
                raise InputError(f"a message must be JSON text, got {len(text):,} bytes of binary data")
            message = read_message(text)
            do = message.pop("do")
            if do not in _COMMANDS:
                raise InputError(f"unknown command {do[:40]!r}; {did_you_mean(do[:40], _COMMANDS)}")
            await _COMMANDS[do](self, **_known(do, message))
        except (InputError, ArithmeticError) as error:
            await self._send("error", about=do, message=str(error))
        except (MemoryError, RecursionError) as error:
            why = "is nested too deeply" if isinstance(error, RecursionError) else "does not fit into memory"
            await self._send("error", about=do, message=f"the request {why}; use a smaller game")
        except (WebSocketDisconnect, RuntimeError):
            raise
        except Exception:
            log.exception("a command of a page failed")
            await self._send("error", about=do, message="internal error; see the terminal that runs the lab")

    async def _work(self, do: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._workers.rounds, do)

    async def _game(self, game: Any = None) -> None:
        """Send a game to the page without playing it."""
        made = await self._work(lambda: asked_game(game))
        await self._send("game", asked=game, game=game_data(made))

    async def _begin(self, scenario: Any = None, beside: Any = None) -> None:
        """Replace the simulations by new ones, before their first round."""
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
        await self._send(
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
            raise InputError(
                f"speed must be positive and at most {FASTEST:,} rounds per second, or null, got {speed!r:.60}"
            )
        self._speed = speed

    async def _stop(self) -> None:
        self.playing, self._changed = False, True

    async def _step(self, rounds: Any = 1) -> None:
        self._require_runs()
        if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MOST_STEP:
            raise InputError(f"rounds must be an integer from 1 to {MOST_STEP:,}, got {rounds!r:.60}")
        self.playing = False
        await self._run_rounds(min(rounds, *(run.left for run in self.runs)))

    async def _toml(self) -> None:
        """Send the scenarios of the runs as TOML."""
        self._require_runs()
        await self._send("toml", texts=[run.scenario.to_toml() for run in self.runs])

    async def _drawn(self) -> None:
        self._undrawn = max(0, self._undrawn - 1)

    def _require_runs(self) -> None:
        if not self.runs:
            raise InputError('no simulation yet; send {"do": "begin", "scenario": …} first')

    # Rounds.

    async def _advance(self) -> None:
        """Run the rounds that are due, up to one slice."""
        now = monotonic()
        to_frame = max(self._last_frame + FRAME - now, FRAME / 8)  # end the slice when the next frame is due
        wanted = max(1, int(self._pace * min(to_frame, self._workers.slice_seconds())))
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
                await self._send("error", about="play", message=str(error))
            self._owed -= rounds

    async def _run_rounds(self, rounds: int) -> None:
        """Advance every run by `rounds` rounds, and update the speed estimate."""
        if rounds >= 1:
            began = monotonic()

            def run(one: Run) -> Record:
                return one.simulation.run(rounds, threads=0)  # already in a worker thread

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
        """Send a frame if the state has changed and the page has drawn the previous frames."""
        now = monotonic()
        if not self.runs or not self._changed or self._undrawn >= UNDRAWN or now < self._last_frame + FRAME:
            return
        self._last_frame, self._changed = now, False
        speed = self._measured_speed if self._speed is None else self._speed
        shown = [(run.feed, run.record, self._status(run)) for run in self.runs]
        parts = await self._work(lambda: [feed.frame(record, status, speed) for feed, record, status in shown])
        self._undrawn += 1
        await self._socket.send_bytes(np.concatenate(parts).astype("<f4").tobytes())

    def _status(self, run: Run) -> int:
        if run.record is not None and run.record.rounds == run.scenario.rounds:
            return frames.DONE
        return frames.PLAYING if self.playing else frames.PAUSED

    # Linear programs.

    async def _slowly(self, do: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._workers.slow, do)

    async def _send_equilibria(self) -> None:
        """Send the equilibrium sets of every new game, and regularly the distances of play from them."""
        sent = 0
        while True:
            await self._news.wait()
            self._news.clear()
            shape, runs = self._shape, self.runs
            if runs and why_left_out(runs[0].game, 1, runs[0].scenario.measure.distance) is None:
                try:
                    if sent != shape:
                        sent = shape
                        await self._send_sets(runs[0].game, shape)
                    for number, run in enumerate(runs):
                        await self._send_nearest(run.record, number, shape)
                except ArithmeticError:
                    log.exception("a linear program could not be solved")  # continue with the next one
            await asyncio.sleep(NEAREST)

    async def _send_sets(self, game: Game, shape: int) -> None:
        """Send the CE and CCE polytopes of a small game: their vertices and the payoffs in them."""
        if game.cells <= OUTLINED:
            sets = await self._slowly(lambda: {kind: _set(game, kind) for kind in ("ce", "cce")})
            await self._send("sets", shape=shape, **sets)

    async def _send_nearest(self, record: Record | None, number: int, shape: int) -> None:
        """Send the distances of the joint distribution of a run from the equilibria, and the nearest CE."""
        if record is not None and shape == self._shape:
            found = await self._slowly(partial(_nearest, record))
            await self._send("nearest", shape=shape, run=number, rounds=record.rounds, **found)


def _set(game: Game, kind: EquilibriumKind) -> dict[str, Any]:
    """Return the vertices of an equilibrium set if the game is 2×2, and its payoff outline for two players."""
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
    """Return the distances to the CE and CCE, and the nearest CE in total variation."""
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
    """Return the arguments of a command; reject unknown keys."""
    takes = list(signature(_COMMANDS[do]).parameters)[1:]
    for key in content:
        if key not in takes:
            raise InputError(f"{do} takes {' and '.join(takes) or 'no arguments'}, got {key[:40]!r}")
    return content
