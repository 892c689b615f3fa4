"""The simulations of one page, which sends commands and receives frames.

Three tasks serve a page: one obeys its commands, one takes its turns, and one sends equilibria. A turn plays rounds in
a worker thread (see `workers`) and then, if a frame is due, encodes it there. A command is obeyed at once, and its
answer is sent before further frames: a turn that waits for a thread is withdrawn. Frames are not queued. A frame is
encoded when the page has drawn all but the last two, and it shows the latest state: a slow page gets fewer frames, but
costs no memory and does not slow down other pages.

A page may go to any round. Rounds in the past are played again from the seed, which repeats the run exactly.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from inspect import signature
from math import inf
from time import monotonic, thread_time
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from starlette.websockets import WebSocket, WebSocketDisconnect

from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game
from gamesim.lab import pictures
from gamesim.lab.events import Watch
from gamesim.lab.inbox import Inbox, Incoming
from gamesim.lab.limits import asked_game, asked_scenario, read_game, read_message, simulated
from gamesim.lab.workers import Workers
from gamesim.learner import Learner
from gamesim.record import Record
from gamesim.report.summary import why_left_out
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation
from gamesim.user_learners import name_of
from gamesim.views import equilibria, frames

CATCH_UP = 0.25  # maximum backlog, in seconds of rounds
SLOWEST = 1000.0  # initial estimate of rounds per second, before any measurement
UNDRAWN = 2  # maximum number of frames sent but not yet drawn
FIRST = 30.0  # seconds in which a page must send its first command
POLICY = 1008  # WebSocket close code for a client that does not keep to the rules
FASTEST = 10**9  # maximum speed in rounds per second
GROWTH = 100.0  # maximum growth of the speed per round
ON_THE_WAY = 0.5  # seconds between two frames on the way to a distant round
SHORT = 2**14  # maximum length of a message that is parsed in the event loop; longer ones would block it
NO_SUCH_RUN = "no such run; its page was closed or has started another run"
FEW_CELLS = 256  # action profiles of a game whose scenario is written in the event loop

Result = TypeVar("Result")
log = logging.getLogger(__name__)


class Run:
    """One simulation and the data of it sent to the page.

    A turn changes and reads it in a worker thread. Between two turns, and only then, the event loop reads it.
    """

    def __init__(self, scenario: Scenario, shape: int) -> None:
        self.scenario = scenario
        self.game: Game = scenario.played_game
        self.simulation: Simulation = simulated(scenario)
        self.has_distances = why_left_out(self.game, 1, scenario.measure.distance) is None
        self.joint: tuple[int, NDArray[np.float64]] | None = None  # in the last frame, and the number of rounds
        self._feed = frames.Feed(shape)

    @property
    def left(self) -> int:
        """The number of remaining rounds."""
        return self.scenario.rounds - self.simulation.rounds

    def frame(self, speed: float, *, passing: bool = False) -> frames.Numbers:
        """Return this run's part of the next frame; its status is not known before the turn ends."""
        moments = self.simulation.moments() if self.simulation.rounds else None
        if moments is not None and (joint := moments[-1].joint) is not None:
            self.joint = self.simulation.rounds, joint
        return self._feed.frame(self.simulation, moments, speed, passing=passing and self.left > 0)

    def again(self) -> "Run":
        """Return this run before its first round."""
        return Run(self.scenario, self._feed.shape)

    def data(self) -> dict[str, Any]:
        """Return the description of a run sent before its first round."""
        return {
            "learners": [name_of(player) for player in self.simulation.learners],
            "guarantees": [_guarantee(player) for player in self.simulation.learners],
            "bounds": [
                frames.bounds(self.simulation, i, started, self.scenario.rounds) if self._is_usual(i) else None
                for i, started in enumerate(self._started())
            ],
        }

    def _is_usual(self, player: int) -> bool:
        """Return whether bounds hold: for a learner's own start, and losses observed after each round."""
        return self.scenario.player_parts[player].start is None and not self.simulation.protocol.data()

    def _started(self) -> list[bool]:
        """Return, for each player, whether its initial strategy is given or perturbed."""
        return [one.opening is not None or one.perturb > 0 for one in self.scenario.player_parts]


def _guarantee(learner: Any) -> str:
    return str((isinstance(learner, Learner) and learner.guarantee()) or "no guarantee")


class Session:
    """A page and its simulations: one, or two side by side with the same game and seed."""

    def __init__(self, socket: WebSocket, workers: Workers) -> None:
        self.id = f"{workers.number}.{secrets.token_urlsafe(16)}"
        self.runs: list[Run] = []
        self._playing = False
        self._socket, self._workers = socket, workers
        self._inbox = Inbox(socket)
        self._shape = 0
        self._speed: float | None = None  # rounds per second; None means as fast as possible
        self._growth = 0.0  # of the speed, per round
        self._target: int | None = None  # the round that the page goes to
        self._watch: Watch | None = None  # for an event that pauses play
        self._pace, self._owed, self._measured_speed = SLOWEST, 0.0, 0.0  # rounds per second
        self._last = self._last_frame = monotonic()
        self._undrawn, self._changed, self._urgent = 0, False, False
        self._turn: Future[Turn] | None = None  # waits for a thread or runs there
        self._records: list[tuple[Run, asyncio.Future[Record]]] = []  # to be made between two turns
        self._pictures: set[asyncio.Task[None]] = set()  # being computed for views
        self._wake, self._news = asyncio.Event(), asyncio.Event()

    @property
    def playing(self) -> bool:
        """Whether the page plays rounds until it is paused."""
        return self._playing

    @playing.setter
    def playing(self, playing: bool) -> None:
        self._workers.playing += playing - self._playing
        self._playing = playing

    async def serve(self) -> None:
        """Serve one client until it disconnects."""
        work = (self._inbox.fill, self._obey, self._take_turns, self._send_equilibria)
        tasks = [asyncio.create_task(one()) for one in work]
        try:
            await self._send("hello", session=self.id)
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except (WebSocketDisconnect, RuntimeError):  # the client disconnected during a send
            if not self._inbox.closed and self._socket.client_state.name == "CONNECTED":
                raise
        finally:
            self.playing = False
            tasks += self._pictures
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for _, asked in self._records:
                if not asked.done():
                    asked.set_exception(InputError(NO_SUCH_RUN))

    async def record(self, run: Run) -> Record:
        """Return the record of a run so far."""
        asked: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._records.append((run, asked))
        self._wake.set()
        return await asked

    # Commands.

    async def _obey(self) -> None:
        """Execute the commands of the page, in order."""
        try:
            message = await asyncio.wait_for(self._inbox.next(), FIRST)
        except TimeoutError:
            late = f"a page must send its first command within {FIRST:g} seconds"
            await self._send("error", about="open", message=late)
            await self._socket.close(POLICY, late)
            return
        while message is not None:
            await self._handle(message)
            message = await self._inbox.next()

    async def _send(self, kind: str, **content: Any) -> None:
        await self._socket.send_text(_text(kind, **content))

    async def _handle(self, message: Incoming) -> None:
        """Execute the command in a message; if it is invalid, report the error and change nothing."""
        do = ""
        try:
            if isinstance(message, InputError):
                raise message
            if isinstance(message, bytes):
                raise InputError(f"a message must be JSON text, got {len(message):,} bytes of binary data")
            content = read_message(message) if len(message) <= SHORT else await self._build(read_message, message)
            do = content.pop("do")
            if do not in _COMMANDS:
                raise InputError(f"unknown command {do[:40]!r}; {did_you_mean(do[:40], _COMMANDS)}")
            await _COMMANDS[do](self, **_known(do, content))
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

    async def _build(self, do: Callable[..., Result], *arguments: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._workers.builds, do, *arguments)

    async def _game(self, game: Any = None) -> None:
        """Send a game to the page without playing it."""
        await self._socket.send_text(
            await self._build(lambda: _text("game", asked=game, game=frames.game_data(asked_game(game))))
        )

    async def _read(self, files: Any = None) -> None:
        """Send the game in files of the page, without playing it."""

        def read() -> str:
            game = frames.game_data(read_game(files))
            return _text("game", asked={key: game[key] for key in ("payoffs", "players", "actions")}, game=game)

        await self._socket.send_text(await self._build(read))

    async def _begin(self, scenario: Any = None, beside: Any = None) -> None:
        """Replace the simulations by new ones, before their first round."""
        shape = self._shape + 1

        def make() -> tuple[list[Run], str]:
            wanted = [asked_scenario(scenario)]
            if beside is not None:
                wanted.append(asked_scenario({**scenario, "players": beside}))
            runs = [Run(one, shape) for one in wanted]
            return runs, _shape_text(runs, shape)

        runs, text = await self._build(make)
        await self._socket.send_text(text)  # before any frame of these runs
        self.runs, self._shape, self.playing, self._target = runs, shape, False, None
        self._pace, self._measured_speed = SLOWEST, 0.0
        self._hurry()
        self._news.set()

    async def _play(self, speed: Any = None, growth: Any = 0, until: Any = None) -> None:
        """Play until the page pauses, the run ends, or an event happens."""
        self._require_runs()
        watch = Watch.asked(until)
        await self._set_speed(speed, growth)
        self.playing, self._watch, self._owed, self._last = True, watch, 1.0, monotonic()
        self._hurry()

    async def _set_speed(self, speed: Any = None, growth: Any = 0) -> None:
        """Play this many rounds per second, and `growth` more for every round played."""
        if speed is not None and not (_is_real(speed) and 0 < speed <= FASTEST):
            raise InputError(
                f"speed must be positive and at most {FASTEST:,} rounds per second, or null, got {speed!r:.60}"
            )
        if not (_is_real(growth) and 0 <= growth <= GROWTH):
            raise InputError(f"growth must be a number from 0 to {GROWTH:g}, got {growth!r:.60}")
        self._speed, self._growth = speed, growth
        self._wake.set()

    async def _stop(self) -> None:
        self.playing, self._target = False, None
        self._hurry()

    async def _seek(self, round: Any = None) -> None:
        """Go to a round, in the past or the future, as fast as possible."""
        self._require_runs()
        last = self.runs[0].scenario.rounds
        if isinstance(round, bool) or not isinstance(round, int) or not 0 <= round <= last:
            raise InputError(f"round must be an integer from 0 to {last:,}, got {round!r:.60}")
        await self._send("seek", shape=self._shape, round=round)
        self.playing, self._target = False, round
        self._hurry()

    async def _toml(self) -> None:
        """Send the scenarios of the runs as TOML."""
        self._require_runs()
        scenarios = [run.scenario for run in self.runs]
        small = self.runs[0].game.cells <= FEW_CELLS
        await self._socket.send_text(_toml_text(scenarios) if small else await self._build(_toml_text, scenarios))

    async def _portrait(self) -> None:
        self._picture("portrait")

    async def _cloud(self) -> None:
        self._picture("cloud")

    async def _device(self) -> None:
        self._picture("device")

    def _picture(self, kind: str) -> None:
        """Compute what a view needs beside the commands, which it must not delay, and send it."""
        self._require_runs()
        task = asyncio.create_task(self._send_picture(kind, self.runs, self._shape))
        self._pictures.add(task)
        task.add_done_callback(self._pictures.discard)

    async def _send_picture(self, kind: str, runs: list[Run], shape: int) -> None:
        loop = asyncio.get_running_loop()
        for k, run in enumerate(runs):
            make = partial(pictures.message, kind, run.scenario, run.simulation, shape, k)
            try:
                text = await loop.run_in_executor(self._workers.programs, make)
            except Exception:
                log.exception("a picture of a page failed")
                text = _text(kind, shape=shape, run=k, why="internal error; see the terminal that runs the lab")
            if shape != self._shape or self._inbox.closed:
                return
            await self._socket.send_text(text)

    async def _drawn(self) -> None:
        self._undrawn = max(0, self._undrawn - 1)
        self._wake.set()

    def _require_runs(self) -> None:
        if not self.runs:
            raise InputError('no simulation yet; send {"do": "begin", "scenario": …} first')

    def _hurry(self) -> None:
        """Take the next turn at once, ahead of other pages, because a command waits for its frame."""
        self._changed = self._urgent = True
        if self._turn is not None:
            self._turn.cancel()  # has no effect once it runs
        self._wake.set()

    # Turns.

    async def _take_turns(self) -> None:
        """Play rounds and send frames whenever they are due."""
        loop = asyncio.get_running_loop()
        while True:
            self._wake.clear()
            self._make_records()
            pause = self._pause()
            if pause is not None and pause <= 0:
                await self._take_turn()
            else:
                timer = loop.call_later(pause, self._wake.set) if pause is not None else None
                await self._wake.wait()
                if timer is not None:
                    timer.cancel()

    def _make_records(self) -> None:
        for run, asked in self._records:
            if asked.done():  # the client has disconnected
                continue
            try:
                asked.set_result(run.simulation.record())
            except Exception as error:
                asked.set_exception(error)
        self._records.clear()

    def _pause(self) -> float | None:
        """Return the seconds until rounds or a frame are due; None means that neither is."""
        if self._urgent or self._target is not None or (self.playing and self._speed is None):
            return 0.0
        now, interval = monotonic(), self._workers.frame_interval()
        due = []
        if self._changed and self._undrawn < UNDRAWN:
            due.append(self._last_frame + interval - now)
        if self.playing and self._speed is not None:  # no more than one turn per frame
            due.append(self._last + max((1 - self._owed) / self._rate(), interval) - now)
        return min(due, default=None)

    async def _take_turn(self) -> None:
        """Play the rounds that are due, up to one slice, and send a frame if one is due."""
        now, urgent, interval = monotonic(), self._urgent, self._workers.frame_interval()
        self._urgent = False
        if self._target is not None and not await self._rewind(self._target):
            return
        due = self._last_frame + (interval if self._target is None else ON_THE_WAY)
        frame = None
        if self._target is not None or not urgent:  # a command that plays no rounds is answered without any
            if rounds := self._rounds_due(now, interval):
                soon = due if self._target is not None else due - interval / 2  # else the event loop would encode it
                turn = await self._play_rounds(rounds, urgent, soon)
                if turn is None:
                    return
                frame = turn.frame
            urgent = self._arrived(urgent)
        if frame is None and self._changed and self._undrawn < UNDRAWN and (urgent or due <= monotonic()):
            frame = _encoded(self.runs, self._rate())
        if frame is not None:
            self._changed, self._last_frame = False, now
            await self._show(frame)

    async def _rewind(self, target: int) -> bool:
        """Replace the runs by new ones if the target is in the past; return False if others have taken their place."""
        runs = self.runs
        if runs[0].simulation.rounds > target:
            fresh = await self._build(lambda: [run.again() for run in runs])
            if runs is not self.runs:
                return False
            self.runs = fresh
        return True

    def _arrived(self, urgent: bool) -> bool:
        """Return whether the frame after a turn is urgent: at the target, and for a command, but not on the way."""
        if self._target is None:
            return urgent
        if self.runs[0].simulation.rounds == self._target:
            self._target, self._last, self._changed = None, monotonic(), True  # the last frame may be from the way
        return self._target is None

    def _rounds_due(self, now: float, interval: float) -> int:
        """Return the number of rounds to play now, up to one slice; rest if none are left."""
        rounds = min(max(1, int(self._pace * self._workers.slice_seconds())), *(run.left for run in self.runs))
        before, self._last = self._last, now
        if self._target is not None:
            return min(rounds, self._target - self.runs[0].simulation.rounds)
        if not rounds:
            self.playing = False
        if not self.playing:
            return 0
        if self._speed is not None:
            backlog = max(1.0, self._rate() * max(CATCH_UP, 2 * interval))
            self._owed = min(self._owed + self._rate() * (now - before), backlog)
            rounds = min(rounds, int(self._owed))
            self._owed -= rounds
        return rounds

    def _rate(self) -> float:
        """Return the speed now, in rounds per second."""
        if self._speed is None:
            return self._measured_speed
        return min(FASTEST, self._speed + self._growth * self.runs[0].simulation.rounds)

    async def _play_rounds(self, rounds: int, urgent: bool, due: float) -> "Turn | None":
        """Take a turn in a thread; return None if it is withdrawn for a command, fails, or is no longer shown."""
        runs, watch = self.runs, self._watch if self._target is None else None
        threads = self._workers.commands if urgent else self._workers.turns
        due = due if self._undrawn < UNDRAWN else inf
        self._turn = threads.submit(_advance, runs, rounds, watch, due, self._rate)
        waiting = asyncio.wrap_future(self._turn)
        try:
            await asyncio.wait([waiting])
        finally:
            self._turn.cancel()
        if waiting.cancelled():
            return None
        error = waiting.exception()
        if runs is not self.runs:
            return None
        if isinstance(error, InputError | ArithmeticError):
            await self._stop()
            await self._send("error", about="play", message=str(error))
            return None
        turn = waiting.result()
        self._account(turn.seconds, turn.rounds)
        if watch is not None and watch.found and watch is self._watch:
            self.playing, self._watch, self._urgent = False, None, True
            await self._send("paused", shape=self._shape, event=watch.event, round=runs[0].simulation.rounds)
        return turn

    def _account(self, seconds: float, rounds: int) -> None:
        """Update the estimates of the speed."""
        self._changed = True
        self._pace = min(max(rounds / max(seconds, 1e-9), self._pace / 2), self._pace * 8)
        if self.playing and self._speed is None:
            elapsed = max(monotonic() - self._last, 1e-9)
            self._measured_speed += 0.2 * (rounds / elapsed - self._measured_speed)

    async def _show(self, frame: "Frame") -> None:
        """Send a frame."""
        self._workers.frames.spend(frame.seconds)
        status = frames.SEEKING if self._target is not None else frames.PLAYING if self.playing else frames.PAUSED
        for run, part in zip(self.runs, frame.parts, strict=True):
            part[frames.STATUS] = status if run.left else frames.DONE
        self._undrawn += 1
        self._news.set()
        await self._socket.send_bytes(b"".join(part.astype("<f4", copy=False).tobytes() for part in frame.parts))

    # Equilibria.

    async def _send_equilibria(self) -> None:
        """Send the equilibrium sets of every new game, and regularly the distances of play from them."""
        sent = 0
        while True:
            await self._news.wait()
            self._news.clear()
            shape, runs = self._shape, self.runs
            if self._undrawn >= UNDRAWN:
                self._news.set()  # the page is not looking; try again later
            elif runs[0].has_distances:
                try:
                    if sent != shape:
                        sent = shape
                        await self._send_solved(partial(_sets_text, runs[0].game, shape))
                    for number, run in enumerate(runs):
                        if shape == self._shape:
                            seconds = await self._send_solved(partial(_nearest_text, run, number, shape))
                            self._workers.nearest.spend(seconds)
                except ArithmeticError:
                    log.exception("a linear program could not be solved")  # continue with the next one
            await asyncio.sleep(self._workers.nearest_interval())

    async def _send_solved(self, do: Callable[[], str]) -> float:
        """Send a message whose numbers come from linear programs, if it is not empty; return the seconds it took."""

        def timed() -> tuple[str, float]:
            began = thread_time()
            return do(), thread_time() - began

        text, seconds = await asyncio.get_running_loop().run_in_executor(self._workers.programs, timed)
        if text:
            await self._socket.send_text(text)
        return seconds


class Frame(NamedTuple):
    """A frame, and the processor time that it took."""

    parts: list[frames.Numbers]  # one per run
    seconds: float


class Turn(NamedTuple):
    """What a turn has done: the processor time of its rounds, their number, and a frame if one was due."""

    seconds: float
    rounds: int
    frame: Frame | None


def _advance(runs: list[Run], rounds: int, watch: Watch | None, due: float, speed: Callable[[], float]) -> Turn:
    """Play rounds of all runs, up to an event; then encode a frame if one is due."""
    began, played = thread_time(), 0
    simulations = [run.simulation for run in runs]
    if watch is not None:
        watch.look(simulations)
    while played < rounds and not (watch is not None and watch.found):
        stretch = rounds - played if watch is None else min(rounds - played, watch.stretch(simulations[0].rounds))
        for simulation in simulations:
            simulation.advance(stretch)
        played += stretch
        if watch is not None:
            watch.look(simulations)
    seconds, passing = thread_time() - began, watch is None or not watch.found
    return Turn(seconds, played, _encoded(runs, speed(), passing=passing) if due <= monotonic() else None)


def _encoded(runs: list[Run], speed: float, *, passing: bool = False) -> Frame:
    """Return a frame with the latest state; `passing` if others are sure to follow."""
    began = thread_time()
    return Frame([run.frame(speed, passing=passing) for run in runs], thread_time() - began)


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(kind: str, **content: Any) -> str:
    """Return a message to the page, as JSON."""
    return json.dumps({"is": kind, **content}, separators=(",", ":"), ensure_ascii=False)


def _shape_text(runs: list[Run], shape: int) -> str:
    """Return the message that announces new runs and the layout of their frames."""
    game, scenario = runs[0].game, runs[0].scenario
    return _text(
        "shape",
        shape=shape,
        rounds=scenario.rounds,
        game=frames.game_data(game),
        fields=frames.fields(game),
        row_fields=frames.row_fields(game),
        runs=[run.data() for run in runs],
        no_distance=why_left_out(game, len(runs), scenario.measure.distance),
    )


def _toml_text(scenarios: list[Scenario]) -> str:
    """Return the message with scenarios as TOML."""
    return _text("toml", texts=[scenario.to_toml() for scenario in scenarios])


def _sets_text(game: Game, shape: int) -> str:
    """Return the message with the equilibrium sets of a game, or nothing if it is too large."""
    found = equilibria.sets(game)
    return _text("sets", shape=shape, **found) if found is not None else ""


def _nearest_text(run: Run, number: int, shape: int) -> str:
    """Return the message with the distances of play from the equilibria, or nothing before the first round."""
    if run.joint is None:
        return ""
    rounds, joint = run.joint
    return _text("nearest", shape=shape, run=number, rounds=rounds, **equilibria.nearest(run.game, joint))


_COMMANDS: dict[str, Callable[..., Any]] = {
    "game": Session._game,
    "read": Session._read,
    "begin": Session._begin,
    "play": Session._play,
    "speed": Session._set_speed,
    "pause": Session._stop,
    "seek": Session._seek,
    "toml": Session._toml,
    "portrait": Session._portrait,
    "cloud": Session._cloud,
    "device": Session._device,
    "drawn": Session._drawn,
}


def _known(do: str, content: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command; reject unknown keys."""
    takes = list(signature(_COMMANDS[do]).parameters)[1:] if content else []
    for key in content:
        if key not in takes:
            raise InputError(f"{do} takes {' and '.join(takes) or 'no arguments'}, got {key[:40]!r}")
    return content
