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
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from gamesim.classroom import results, views
from gamesim.classroom.log import Log
from gamesim.classroom.room import MOST_STUDENTS, Room, Settings
from gamesim.classroom.session import SHOW, Session
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.lab.address import ALL, LOCAL, Address
from gamesim.lab.server import STATIC as LAB_STATIC
from gamesim.lab.server import Guard, configuration, listening
from gamesim.study.jobs import use_one_blas_thread

STATIC = Path(__file__).parent / "static"
PAGES = MOST_STUDENTS + 50
DOES = ("join", "back", "teach", "command", "move")
LONGEST_MESSAGE = 500  # characters
RATE, BURST = 5.0, 20.0  # messages of a page per second, and at once
WRONG_CODES = 1.0  # seconds that a page waits after a wrong code or secret
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013  # WebSocket close codes


class Page:
    """A connected page: a student's, the teacher's, or one that has not joined."""

    def __init__(self, socket: WebSocket, session: Session) -> None:
        self._socket, self._session = socket, session
        self._changed = asyncio.Event()
        self._student: int | None = None
        self._teacher = False
        self._allowance, self._last = BURST, time.monotonic()

    def changed(self) -> None:
        """Take note that the state has changed."""
        self._changed.set()

    async def serve(self) -> None:
        """Answer messages and send what changes, until the page disconnects."""
        self._session.watchers.add(self)
        showing = asyncio.create_task(self._show())
        try:
            while True:
                text = await self._socket.receive_text()
                if not self._within_rate():
                    await self._socket.close(POLICY_VIOLATION, "too many messages; reload the page")
                    return
                await self._answer(text)
        except (WebSocketDisconnect, RuntimeError, KeyError):  # RuntimeError and KeyError: closed, or not text
            pass
        finally:
            self._session.watchers.discard(self)
            showing.cancel()

    def _within_rate(self) -> bool:
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + RATE * (now - self._last)) - 1
        self._last = now
        return self._allowance >= 0

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
            return {"is": "done"}
        if self._student is not None and do == "move":
            await session.move(self._student, message.get("round"), message.get("action"))
            return {"is": "accepted", "round": message.get("round"), "action": message.get("action")}
        raise InputError("this page may not do that; join the room first")

    async def _enter(self, do: str, message: dict[str, Any]) -> dict[str, Any]:
        """Find out who is at the page; a wrong code or secret costs time."""
        session = self._session
        if self._teacher or self._student is not None:
            raise InputError("this page has joined already")
        try:
            if do == "teach":
                if not session.is_teacher(message.get("secret")):
                    raise InputError("this is not a link of the teacher; open the one that gamesim printed")
                self._teacher = True
                self.changed()
                return {"is": "teacher"}
            if do == "back":
                self._student = session.student_of(message.get("secret"))
                if self._student is None:
                    raise InputError("you are not in this room; join it with the code")
                self.changed()
                return {"is": "joined"}
            self._student, secret = await session.join(message.get("code"), message.get("name"))
        except InputError:
            await asyncio.sleep(WRONG_CODES)
            raise
        self.changed()
        return {"is": "joined", "secret": secret}

    async def _show(self) -> None:
        """Send the state whenever it has changed; to the teacher with measures, and not too often."""
        measured_after = -1
        measures: Any = None
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await self._changed.wait()
                self._changed.clear()
                session = self._session
                if self._student is not None:
                    await self._socket.send_json({"is": "state", **session.seen_by(self._student)})
                elif self._teacher:
                    if len(session.room.played) != measured_after:
                        measured_after = len(session.room.played)
                        measures = await asyncio.to_thread(views.measured, session.room)
                    await self._socket.send_json({"is": "state", **session.seen_by_teacher(), "measured": measures})
                    await asyncio.sleep(SHOW)


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


def application(session: Session, address: Address, opened: Callable[[], None] | None = None) -> Starlette:
    """Return the class as an ASGI application; it calls `opened` once it is serving."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        use_one_blas_thread()
        tasks = [asyncio.create_task(session.keep_log()), asyncio.create_task(session.keep_time())]
        if opened is not None:
            asyncio.get_running_loop().call_later(0.1, opened)
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
        await Page(socket, session).serve()

    async def student(_: Request) -> Response:
        return FileResponse(STATIC / "student.html")

    async def teacher(_: Request) -> Response:
        return FileResponse(STATIC / "teacher.html")

    async def code(_: Request) -> Response:
        return Response(address.code_svg(), media_type="image/svg+xml")

    async def links(_: Request) -> Response:
        return Response(json.dumps(address.links), media_type="application/json")

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
            Route("/code.svg", code),
            Route("/links.json", links),
            Route("/export/{what}", exported),
            WebSocketRoute("/live", live),
            Mount("/lab", StaticFiles(directory=LAB_STATIC)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, address=address, token=False)],
        lifespan=lifespan,
    )


def plays_csv(room: Room) -> str:
    """Return what was played as a CSV file that `gamesim measure --pool` reads, with names, and who chose."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    device = bool(room.settings.device)
    writer.writerow(
        ["group", "round", "player", "action", *(["recommendation"] if device else []), "student", "chosen_by"]
    )
    for k, one in enumerate(room.played):
        for group, (seats, actions, by_learner) in enumerate(zip(one.groups, one.actions, one.by_learner, strict=True)):
            for role, (seat, action) in enumerate(zip(seats, actions, strict=True)):
                labels = room.game.actions[role]
                advice = [labels[one.advice[group][role]]] if device and one.advice is not None else []
                name = room.students[seat].name if seat >= 0 else ""
                chosen = "learner" if by_learner[role] else "student"
                writer.writerow(
                    [group + 1, k + 1, room.game.players[role], labels[action], *advice, _as_text(name), chosen]
                )
    return text.getvalue()


def _as_text(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@") else name


def report(room: Room) -> str:
    """Return the report of what was played, all groups together."""
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

            with suppress(KeyboardInterrupt):
                uvicorn.Server(configuration(application(session, address, opened))).run(sockets=[listener])
    finally:
        kept.close()
