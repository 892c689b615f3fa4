"""The web server of a class: the pages of students and of the teacher, and one WebSocket per page.

Students join with the code of the room and a name, and get a secret that their browser keeps. The teacher's link has
another secret. Only hashes of secrets are stored. Messages are limited in length and rate, and every refusal has a
reason.
"""

import asyncio
import csv
import io
import json
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from gamesim import blas
from gamesim.classroom.log import Event, Log
from gamesim.classroom.room import MOST_STUDENTS, Room, Settings
from gamesim.classroom.session import SHOW, Session
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.lab.address import ALL, LOCAL, Address
from gamesim.lab.web import STATIC as LAB_STATIC
from gamesim.lab.web import Guard, configuration, listening

STATIC = Path(__file__).parent / "static"
PAGES = MOST_STUDENTS + 50
DOES = ("join", "back", "teach", "command", "move")
LONGEST_MESSAGE = 2000  # characters: a device with many cells
RATE, BURST = 5.0, 20.0  # messages of a page per second, and at once
PRIVATE = ("joined", "moved")  # events that change nothing on the pages of other students
WRONG_CODES = 1.0  # seconds that a page waits after a wrong code or secret
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013  # WebSocket close codes


class Allowance:
    """How many messages may be sent now; it grows with time."""

    def __init__(self) -> None:
        self._left, self._last = BURST, time.monotonic()

    def spend(self) -> bool:
        """Take one message off; return False if there are too many."""
        now = time.monotonic()
        self._left = max(min(BURST, self._left + RATE * (now - self._last)) - 1, -1.0)
        self._last = now
        return self._left >= 0


class Page:
    """A connected page: a student's, the teacher's, or one that has not joined."""

    def __init__(self, socket: WebSocket, session: Session, address: Address, allowances: dict[int, Allowance]) -> None:
        self._socket, self._session, self._address = socket, session, address
        self._changed = asyncio.Event()
        self._student: int | None = None
        self._teacher = False
        self._allowances, self._allowance = allowances, Allowance()

    def changed(self, events: Sequence[Event]) -> None:
        """Take note that these events have changed the state."""
        if self._teacher or any(one["event"] not in PRIVATE or one.get("student") == self._student for one in events):
            self._changed.set()

    async def serve(self) -> None:
        """Answer messages and send what changes, until the page disconnects."""
        self._session.watchers.add(self)
        showing = asyncio.create_task(self._show())
        try:
            while True:
                text = await self._socket.receive_text()
                if not self._allowance.spend():
                    await self._socket.close(POLICY_VIOLATION, "too many messages; wait a few seconds")
                    return
                await self._answer(text)
        except (WebSocketDisconnect, RuntimeError, KeyError):  # RuntimeError and KeyError: closed, or not text
            pass
        finally:
            self._session.watchers.discard(self)
            showing.cancel()

    async def _answer(self, text: str) -> None:
        message: Any = None
        try:
            message = _parsed(text)
            answer = await self._do(message)
        except InputError as error:
            about = message["do"] if message is not None and message["do"] in DOES else ""
            answer = {"is": "refused", "about": about, "why": str(error)}
        await self._socket.send_json(answer)

    async def _do(self, message: dict[str, Any]) -> dict[str, Any]:
        do, session = message["do"], self._session
        if do in ("join", "back", "teach"):
            return await self._enter(do, message)
        if self._teacher and do == "command":
            await session.command(message.get("command"), message.get("value"))
            return {"is": "done", "command": message.get("command")}
        if self._student is not None and do == "move":
            await session.move(self._student, message.get("round"), message.get("action"))
            return {"is": "accepted", "round": message.get("round"), "action": message.get("action")}
        raise InputError("this page may not do that; join the room first")

    async def _enter(self, do: str, message: dict[str, Any]) -> dict[str, Any]:
        """Find out who is at the page; a wrong code or secret costs time."""
        session, kept = self._session, dict[str, Any]()
        if self._teacher or self._student is not None:
            raise InputError("this page has joined already")
        try:
            if do == "teach":
                if not session.is_teacher(message.get("secret")):
                    raise InputError("this is not a link of the teacher; open the one that gamesim printed")
                self._teacher = True
                self._changed.set()
                return {"is": "teacher", "links": self._address.links, "picture": self._address.code_svg().decode()}
            if do == "back":
                self._student = session.student_of(message.get("secret"))
                if self._student is None:
                    raise InputError("you are not in this room; join it with the code")
            else:
                self._student, kept["secret"] = await session.join(message.get("code"), message.get("name"))
        except InputError:
            await asyncio.sleep(WRONG_CODES)
            raise
        # A student who reconnects has no new allowance.
        self._allowance = self._allowances.setdefault(self._student, self._allowance)
        self._changed.set()
        return {"is": "joined", **kept, "seat": session.seat_of(self._student)}

    async def _show(self) -> None:
        """Send the state whenever it has changed; to the teacher with measures, and not too often."""
        shown: Any = None  # what measures depend on
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await self._changed.wait()
                self._changed.clear()
                session = self._session
                if self._student is not None:
                    state = {"is": "state", **session.seen_by(self._student)}
                    await session.on_disk()
                    await self._socket.send_json(state)
                elif self._teacher:
                    state = {"is": "state", **session.seen_by_teacher()}
                    await session.on_disk()
                    await self._socket.send_json(state)
                    await asyncio.sleep(SHOW)  # the pages of students come before measures
                    if shown is None:
                        game = await asyncio.to_thread(_of_game, session.room.game)
                        await self._socket.send_json({"is": "game", **game})
                    if shown != (now := (len(session.room.played), session.room.device)):
                        shown, room = now, session.room.copy()
                        await session.on_disk()
                        measured = await asyncio.to_thread(_measured, room)
                        await self._socket.send_json({"is": "measured", "measured": measured})


# Measures are imported on first use, because they load SciPy, and pages are served before.


def _of_game(game: Game) -> dict[str, Any]:
    from gamesim.classroom import projector

    return projector.of_game(game)


def _measured(room: Room) -> dict[str, Any] | None:
    from gamesim.classroom import projector

    return projector.of_play(room)


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > LONGEST_MESSAGE:
        raise InputError(f"a message must have at most {LONGEST_MESSAGE} characters")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("a message must be valid JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise InputError('a message must be an object with a key "do"')
    return message


def application(
    session: Session,
    address: Address,
    opened: Callable[[], None] | None = None,
    stop: Callable[[], None] = lambda: None,
) -> Starlette:
    """Return the class as an ASGI application; it calls `opened` once it is serving, and `stop` if the log fails."""
    allowances: dict[int, Allowance] = {}

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(session.keep_log()), asyncio.create_task(session.keep_time())]
        tasks[0].add_done_callback(lambda _: stop())
        if opened is not None:
            asyncio.get_running_loop().call_later(0.1, opened)
        tasks.append(asyncio.create_task(asyncio.to_thread(_prepare, session)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        if len(session.watchers) >= PAGES:
            await socket.close(TRY_AGAIN_LATER, "too many pages are open")
            return
        await Page(socket, session, address, allowances).serve()

    async def student(_: Request) -> Response:
        return FileResponse(STATIC / "student.html")

    async def teacher(_: Request) -> Response:
        return FileResponse(STATIC / "teacher.html")

    async def exported(request: Request) -> Response:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not session.is_teacher(given):
            return PlainTextResponse("only the teacher can export the session\n", status_code=403)
        if not session.room.played:
            return PlainTextResponse("no round has been played yet\n", status_code=404)
        if request.path_params["what"] == "plays.csv":
            return Response(plays_csv(session.room), media_type="text/csv; charset=utf-8")
        page = await asyncio.to_thread(report, session.room)
        return Response(page, media_type="text/html")

    return Starlette(
        routes=[
            Route("/", student),
            Route("/teach", teacher),
            Route("/export/{what}", exported),
            WebSocketRoute("/live", live),
            Mount("/lab", StaticFiles(directory=LAB_STATIC)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, address=address, token=False)],
        lifespan=lifespan,
    )


def _prepare(session: Session) -> None:
    """Compile the learner and import what measures need, while students join."""
    blas.use_one_thread()
    game = session.room.game
    running = session.room.learner.start(game.sizes[0])
    running.play()
    running.observe(np.zeros(game.sizes[0]))
    session.room.payoffs_of([0] * len(game.players))
    _of_game(game)


def plays_csv(room: Room) -> str:
    """Return what was played as a CSV file that `gamesim measure --pool` reads, with names, and who chose."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    device = any(one.advice is not None for one in room.played)
    writer.writerow(
        ["group", "round", "player", "action", *(["recommendation"] if device else []), "student", "chosen_by"]
    )
    for k, one in enumerate(room.played):
        for (group, role), seat in np.ndenumerate(one.groups):
            labels = room.game.actions[role]
            action = labels[one.actions[group, role]]
            advice = [] if not device else [""] if one.advice is None else [labels[one.advice[group, role]]]
            name = room.students[seat].name if seat >= 0 else ""
            chosen = "learner" if one.by_learner[group, role] else "student"
            writer.writerow([group + 1, k + 1, room.game.players[role], action, *advice, _as_text(name), chosen])
    return text.getvalue()


def _as_text(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@") else name


def report(room: Room) -> str:
    """Return the report of what was played, all groups together."""
    from gamesim.classroom import results
    from gamesim.figures import drawn_figures, svg
    from gamesim.report.html import report_html
    from gamesim.report.summary import summarise

    record = results.record_of(room)
    assert record is not None
    with tempfile.TemporaryDirectory() as folder:
        paths, failed = [], dict[str, str]()
        for name, figure in drawn_figures(record, failed):
            paths.append(Path(folder) / f"{name}.svg")
            paths[-1].write_text(svg(figure), encoding="utf-8")
        return report_html(record, summarise(record, title=f"Class: {room.game.name}"), paths, "", failed)


def serve(
    game: Game, settings: Settings, log: Path, port: int, *, allow_network: bool, browser: bool, alone: bool = False
) -> None:
    """Serve a class until Ctrl-C; or, alone, a single student who needs no teacher."""
    host = ALL[0] if allow_network else LOCAL[0]
    kept = Log(log)
    try:
        with listening(host, port) as listener:
            session = Session(game, settings, kept, alone=alone)
            address = Address(host, listener.getsockname()[1], session.code)
            home = f"http://{LOCAL[0]}:{address.port}"
            link = f"{home}/?token={session.code}&name=You" if alone else f"{home}/teach#{session.new_teacher()}"

            def opened() -> None:
                print(f"{'Play at' if alone else 'Teacher:'} {link}  (press Ctrl-C to stop)")
                if not alone:
                    print(f"Students: {address.links[0].partition('?')[0]}  code {session.code}")
                    print(address.code_text(sys.stdout.encoding))
                print(f"Everything that is played is written to {log}", flush=True)
                if browser:
                    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()

            def stop() -> None:
                server.should_exit = True

            with suppress(KeyboardInterrupt):
                app = application(session, address, opened, stop)
                server = uvicorn.Server(configuration(app, LONGEST_MESSAGE))
                server.run(sockets=[listener])
            if session.failure:
                raise InputError(session.failure)
    finally:
        kept.close()
