"""The lab's web server: the page, a WebSocket for each page, and a guard in front of both.

It listens on this machine only. On another address, which takes an explicit flag, every request needs the random token
that the printed link carries. A page of another origin, or a request under another host's name, is refused always.
"""

import asyncio
import io
import json
import os
import re
import secrets
import socket
import sys
import tempfile
import threading
import time
import webbrowser
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from gamesim.errors import InputError
from gamesim.lab.choices import choices
from gamesim.lab.limits import MESSAGE, PAGES, refuse_beyond
from gamesim.lab.session import Run, Session, Workers
from gamesim.record import Record
from gamesim.report import summary as report
from gamesim.scenario import Scenario

HERE = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::")
COOKIE = "gamesim-lab"
REPORTS = 8  # reports and records that are asked for at once
TRY_AGAIN_LATER = 1013  # the WebSocket code of a server that is full
STATIC = Path(str(files("gamesim.lab"))) / "static"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"


@dataclass(frozen=True)
class Address:
    """Where the lab listens, and the token that its link carries when others can reach it."""

    host: str
    port: int
    token: str | None = None

    @property
    def link(self) -> str:
        """The address to open; a server on all addresses is found under its machine's name."""
        host = socket.gethostname() if self.host in EVERYWHERE else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @cached_property
    def _names(self) -> set[str]:
        own = {socket.gethostname().lower()} if self.token else set()
        return {"localhost", HERE, "::1", self.host.lower()} | own

    def is_meant(self, host: str) -> bool:
        """Whether a Host header, or the host of an Origin, means this server: no name that others can point at it."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if port != self.port:
            return False
        if self.token is not None:  # it may have many addresses; a name that was made to point here is none
            try:
                return bool(ip_address(name))
            except ValueError:
                pass
        return name in self._names


class Guard:
    """Lets through what comes from the lab's own page, and nothing else."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app, self._address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, self._with_headers(scope, send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refusal})
        else:
            await PlainTextResponse(refusal + "\n", status_code=403)(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._address.is_meant(headers.get("host", "")):
            return "the lab answers under its own address only"
        origin = headers.get("origin")
        if scope["type"] == "websocket" and origin is None:
            return "the lab talks to its own page only, and no origin came"
        if origin is not None and not (
            origin.startswith("http://") and self._address.is_meant(origin.removeprefix("http://"))
        ):
            return "the lab talks to its own page only, and another page came"
        if self._address.token is not None and not secrets.compare_digest(
            _token(scope, headers).encode(), self._address.token.encode()
        ):
            return "the lab needs the whole link, with its token, as it was printed where it was started"
        return None

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        policy = REPORT_POLICY if scope["path"].endswith("/report.html") else PAGE_POLICY
        extra = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-cache"),
        ]
        if self._address.token is not None:
            cookie = f"{COOKIE}={self._address.token}; HttpOnly; SameSite=Strict; Path=/"
            extra.append((b"set-cookie", cookie.encode()))

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        return with_headers


def _token(scope: Scope, headers: dict[str, str]) -> str:
    """Return the token of a request: in its address, or in the cookie that the page was given."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    if given:
        return str(given[0])
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return str(cookies[COOKIE].value) if COOKIE in cookies else ""


def application(address: Address, first: Scenario | None = None, opened: Callable[[], None] | None = None) -> Starlette:
    """Return the lab as an ASGI application; `opened` is called once it serves."""
    offered = json.dumps(choices(first), ensure_ascii=False).encode()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.workers = Workers()
        if opened is not None:
            asyncio.get_running_loop().call_later(0.1, opened)
        try:
            yield
        finally:
            app.state.workers.close()

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def offer(_: Request) -> Response:
        return Response(offered, media_type="application/json")

    return Starlette(
        routes=[
            Route("/", page),
            Route("/choices.json", offer),
            Route("/runs/{session}/{run:int}/record.zip", _record),
            Route("/runs/{session}/{run:int}/report.html", _report),
            WebSocketRoute("/live", _live),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, address=address)],
        exception_handlers={InputError: _explain},
        lifespan=lifespan,
    )


async def _live(socket: WebSocket) -> None:
    """Serve one page; when too many are open, say so."""
    workers: Workers = socket.app.state.workers
    await socket.accept()
    if len(workers.sessions) >= PAGES:
        full = f"the lab shows at most {PAGES} pages at once: close one"
        await socket.send_json({"is": "error", "about": "open", "message": full})
        await socket.close(TRY_AGAIN_LATER, full)
        return
    session = Session(socket, workers)
    workers.sessions[session.id] = session
    try:
        await session.serve()
    finally:
        del workers.sessions[session.id]


async def _explain(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{error}\n", status_code=404)


def _asked(request: Request) -> tuple[Scenario, Record]:
    session = request.app.state.workers.sessions.get(request.path_params["session"])
    number = request.path_params["run"]
    if session is None or not 0 <= number < len(session.runs):
        raise InputError("there is no such run: its page has been closed or has begun another")
    run: Run = session.runs[number]
    if run.record is None:
        raise InputError("no round has been played yet: press play, then ask again")
    return run.scenario, run.record


async def _slowly(request: Request, do: Callable[[Scenario, Record], bytes]) -> bytes:
    workers: Workers = request.app.state.workers
    if workers.asked_reports >= REPORTS:
        raise InputError("too many reports and records are being made: ask again in a moment")
    workers.asked_reports += 1
    try:
        return await asyncio.get_running_loop().run_in_executor(workers.reports, do, *_asked(request))
    finally:
        workers.asked_reports -= 1


async def _record(request: Request) -> Response:
    """Give the run folder of a run so far, as a zip file."""
    _, record = _asked(request)
    name = re.sub(r"[^A-Za-z0-9-]+", "-", record.game.name).strip("-") or "run"
    headers = {"content-disposition": f'attachment; filename="{name}-{record.seed}.zip"'}
    return Response(await _slowly(request, _zipped), media_type="application/zip", headers=headers)


async def _report(request: Request) -> Response:
    """Give the report of a run so far."""
    return Response(await _slowly(request, _reported), media_type="text/html")


def _summary(scenario: Scenario, record: Record) -> report.Summary:
    stopped = record.rounds < scenario.rounds
    title = scenario.title or record.game.name
    return report.summarise(record, title=title, distance=scenario.measure.distance, stopped=stopped)


def _zipped(scenario: Scenario, record: Record) -> bytes:
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = Path(temporary)
        scenario.write_parts(folder)
        text = json.dumps(_summary(scenario, record).as_full_json(), allow_nan=False, ensure_ascii=False, indent=1)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
        (folder / "record").mkdir()
        record.write_parts(folder / "record")
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


def _reported(scenario: Scenario, record: Record) -> bytes:
    from gamesim.figures import figure_functions, svg
    from gamesim.report.html import report_html

    with tempfile.TemporaryDirectory() as temporary:
        paths = []
        for name, draw in figure_functions().items():
            if (figure := draw(record)) is not None:
                paths.append(Path(temporary) / f"{name}.svg")
                paths[-1].write_text(svg(figure), encoding="utf-8")
        return report_html(record, _summary(scenario, record), paths, scenario.to_toml()).encode()


def serve(first: Scenario | None, host: str, port: int, *, allow_network: bool, browser: bool) -> None:
    """Serve the lab until Ctrl-C."""
    if first is not None:
        first = first.model_copy(update={"replicas": None})
        refuse_beyond(first)
    local = host in (HERE, "localhost", "::1")
    if not local and not allow_network:
        raise InputError(
            f"{host} can be reached by others: give --allow-network too if you mean it, or leave --host out"
        )
    if not 0 <= port <= 65535:
        raise InputError(f"port must be a number from 0 to 65535, and {port} came")
    with _listening(host, port) as listener:
        address = Address(host, listener.getsockname()[1], None if local else secrets.token_urlsafe(24))

        def opened() -> None:
            print(f"The lab is at {address.link}  (Ctrl-C ends it)", flush=True)
            if not local:
                print(
                    "Warning: everyone who can reach this machine and has this link can use the lab. "
                    "The link's token is new each time; the connection is not encrypted.",
                    file=sys.stderr,
                    flush=True,
                )
            if browser:
                threading.Thread(target=webbrowser.open, args=(address.link,), daemon=True).start()

        server = uvicorn.Server(configuration(application(address, first, opened)))
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    _leave()


def configuration(lab: Starlette) -> uvicorn.Config:
    """Return how the lab is served: quietly, without compressing numbers, and without waiting for pages at the end."""
    return uvicorn.Config(
        lab,
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=4 * MESSAGE,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        server_header=False,
    )


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(f"{host}:{port} cannot be listened on ({error.strerror}): choose another --port") from None
    return listener


def _leave(patience: float = 0.5) -> None:
    """End now, even if a worker is still compiling or solving: it keeps nothing that could be lost."""
    deadline = time.monotonic() + patience
    while any(thread.name.startswith("lab-") for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        time.sleep(0.01)
