"""The web server of the lab: static files, one WebSocket per page, and access checks for both.

By default the server listens on the loopback interface only. Listening on another address takes an explicit flag, and
every request then needs the random token in the printed link. Requests with a foreign origin or host are rejected.
"""

import asyncio
import gzip
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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from gamesim import blas, user_files
from gamesim.errors import InputError
from gamesim.lab.address import ALL, LOCAL, Address
from gamesim.lab.choices import choices
from gamesim.lab.connections import PassedConnection
from gamesim.lab.limits import PAGES, refuse_beyond
from gamesim.lab.processes import PASSES, Other, received
from gamesim.lab.session import NO_SUCH_RUN, Run, Session
from gamesim.lab.web import STATIC, Guard, configuration, listening
from gamesim.lab.workers import Workers, cores
from gamesim.record import Record
from gamesim.report import summary as report
from gamesim.report.replay import joined
from gamesim.report.run_folder import write_run
from gamesim.scenario import Scenario

REPORTS = 8  # maximum number of concurrent requests for reports and records
PROCESSES = 4  # maximum number that serve pages
FILES = 4  # maximum number of threads that read static files
SWITCH = 0.0005  # seconds for which a thread may keep the GIL: compilation and reports must not delay the event loop
TRY_AGAIN_LATER = 1013  # WebSocket close code for an overloaded server


def application(
    address: Address,
    first: Scenario | None = None,
    opened: Callable[[], None] | None = None,
    own: Sequence[str] = (),
    processes: int = 1,
) -> Starlette:
    """Return the lab as an ASGI application; it calls `opened` once it is serving, and also offers own learners."""
    offer_all = choices(first, own)
    lessons = {lesson["name"] for lesson in offer_all["lessons"]}
    offered = json.dumps(offer_all | {"links": address.links if address.token else []}, ensure_ascii=False)
    script = joined("main.js")  # one request instead of one per module, which would delay the page

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        with _working(app, Workers()) as workers:
            to_thread.current_default_thread_limiter().total_tokens = FILES
            files = user_files.contents(own)
            workers.others += [Other(work, number, address, files) for number in range(1, processes)]
            opening = asyncio.create_task(_open(workers.others, opened))
            yield {"pass_on": workers.pass_on}
            opening.cancel()

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def code(request: Request) -> Response:
        lesson = request.query_params.get("lesson")
        if not address.token or (lesson is not None and lesson not in lessons):
            raise InputError("no such code; only a lab that other machines can reach has one, for every lesson")
        drawn = await to_thread.run_sync(address.code_svg, lesson)
        return Response(drawn, media_type="image/svg+xml")

    routes = [
        Route("/", page),
        Route("/lab.js", _packed(script, "text/javascript")),
        Route("/choices.json", _packed(offered, "application/json")),
        Route("/code.svg", code),
        *PLAYED,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return _guarded(address, routes, lifespan)


def _packed(text: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers with a text, compressed once for all browsers."""
    plain = text.encode()
    packed = gzip.compress(plain)
    headers = {"content-encoding": "gzip", "vary": "accept-encoding"}

    async def answer(request: Request) -> Response:
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(packed, headers=headers, media_type=kind)
        return Response(plain, media_type=kind)

    return answer


async def _open(others: Sequence[Other], opened: Callable[[], None] | None) -> None:
    """Report that the lab is open, once all its processes are."""
    await asyncio.sleep(0.1)
    for other in others:
        await other.started.wait()
    if opened is not None:
        opened()


def work(channel: socket.socket, number: int, address: Address, files: Sequence[tuple[str, bytes]]) -> None:
    """Serve the pages that the first process passes on, until it ends; `files` are those of user-defined learners."""
    for name, source in files:
        user_files.run(name, source)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with _working(app, Workers(number=number)):
            yield

    config = configuration(_guarded(address, PLAYED, lifespan))
    server = uvicorn.Server(config)
    state = server.server_state

    def end() -> None:
        server.should_exit = True

    async def serve_pages() -> None:
        protocol = partial(PassedConnection, config=config, server_state=state, app_state={})
        async with received(channel, protocol, lambda: len(state.connections) if server.started else None, end):
            await server.serve(sockets=[])

    asyncio.run(serve_pages())
    _leave()


def _guarded(address: Address, routes: Sequence[BaseRoute], lifespan: Any) -> Starlette:
    middleware = [Middleware(Guard, address=address)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers={InputError: _explain}, lifespan=lifespan)


@contextmanager
def _working(app: Starlette, workers: Workers) -> Iterator[Workers]:
    """Prepare this process for playing, and stop its threads and the further processes at the end."""
    blas.use_one_thread()
    app.state.workers = workers
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        yield workers
    finally:
        sys.setswitchinterval(interval)
        workers.close()


async def _live(socket: WebSocket) -> None:
    """Serve one page, or close the connection if too many pages are open."""
    workers: Workers = socket.app.state.workers
    await socket.accept()
    if workers.pages() >= PAGES:
        full = f"the lab supports at most {PAGES} pages at once; close one"
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


def _asked(request: Request) -> tuple[Session, Run]:
    session = request.app.state.workers.sessions.get(request.path_params["session"])
    runs: dict[str, Run] = {} if session is None else {str(number): run for number, run in enumerate(session.runs)}
    if session is None or (run := runs.get(request.path_params["run"])) is None:
        raise InputError(NO_SUCH_RUN)
    if run.simulation.rounds == 0:
        raise InputError("no rounds played yet; press Play first")
    return session, run


def _other(request: Request) -> Other | None:
    """Return the process of a session, unless it is this one."""
    workers: Workers = request.app.state.workers
    number = request.path_params["session"].partition(".")[0]
    return next((other for other in workers.others if str(other.number) == number), None)


async def _slowly(request: Request, do: Callable[[Scenario, Record], bytes]) -> bytes:
    workers: Workers = request.app.state.workers
    if workers.asked_reports >= REPORTS:
        raise InputError("too many reports and records are being prepared; try again later")
    session, run = _asked(request)
    workers.asked_reports += 1
    try:
        record = await session.record(run)
        return await asyncio.get_running_loop().run_in_executor(workers.reports, do, run.scenario, record)
    finally:
        workers.asked_reports -= 1


async def _record(request: Request) -> Response:
    """Return the run folder of a run so far, as a zip file."""
    if (other := _other(request)) is not None:
        return await other.fetch(request)
    _, run = _asked(request)
    name = re.sub(r"[^A-Za-z0-9-]+", "-", run.game.name).strip("-") or "run"
    headers = {"content-disposition": f'attachment; filename="{name}-{run.scenario.seed}.zip"'}
    return Response(await _slowly(request, _zipped), media_type="application/zip", headers=headers)


async def _report(request: Request) -> Response:
    """Return the report of a run so far."""
    if (other := _other(request)) is not None:
        return await other.fetch(request)
    return Response(await _slowly(request, _reported), media_type="text/html")


PLAYED: list[BaseRoute] = [
    Route("/runs/{session}/{run}/record.zip", _record),
    Route("/runs/{session}/{run}/report.html", _report),
    WebSocketRoute("/live", _live),
]


def _summary(scenario: Scenario, record: Record) -> report.Summary:
    stopped = record.rounds < scenario.rounds
    title = scenario.title or record.game.name
    asked = scenario.measure
    return report.summarise(record, title=title, distance=asked.distance, stopped=stopped, measures=asked.measures)


def _zipped(scenario: Scenario, record: Record) -> bytes:
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = Path(temporary)
        write_run(folder, scenario, record, _summary(scenario, record))
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


def _reported(scenario: Scenario, record: Record) -> bytes:
    from gamesim.figures import drawn_figures, svg
    from gamesim.report.html import report_html
    from gamesim.report.replay import replay_html

    with tempfile.TemporaryDirectory() as temporary:
        paths = []
        failed: dict[str, str] = {}
        for name, figure in drawn_figures(record, failed):
            paths.append(Path(temporary) / f"{name}.svg")
            paths[-1].write_text(svg(figure), encoding="utf-8")
        summary = _summary(scenario, record)
        replay = replay_html(record, summary.distance_left_out)
        return report_html(record, summary, paths, scenario.to_toml(), failed, replay).encode()


def serve(
    first: Scenario | None, host: str | None, port: int, *, allow_network: bool, browser: bool, own: Sequence[str] = ()
) -> None:
    """Serve the lab until Ctrl-C; `own` are references to user-defined learners.

    Without a host, other machines can reach the lab if and only if the network is allowed.
    """
    if first is not None:
        first = first.model_copy(update={"replicas": None})
        refuse_beyond(first)
    host = host or (ALL[0] if allow_network else LOCAL[0])
    local = host in LOCAL
    if not local and not allow_network:
        raise InputError(f"other machines can reach {host}; add --allow-network to permit this, or omit --host")
    if not 0 <= port <= 65535:
        raise InputError(f"port must be an integer from 0 to 65535, got {port}")
    with listening(host, port) as listener:
        address = Address(host, listener.getsockname()[1], None if local else secrets.token_urlsafe(24))

        def opened() -> None:
            print(f"The lab is running at {address.links[0]}  (press Ctrl-C to stop)", flush=True)
            if not local:
                for link in address.links[1:]:
                    print(f"                   or {link}")
                print(address.code_text(sys.stdout.encoding), flush=True)
                print(
                    "Warning: anyone who can reach this machine and has this link can use the lab. "
                    "The token changes at every start. The connection is not encrypted.",
                    file=sys.stderr,
                    flush=True,
                )
            if browser:
                threading.Thread(target=webbrowser.open, args=(address.links[0],), daemon=True).start()

        processes = min(cores(), PROCESSES) if allow_network and PASSES else 1
        server = uvicorn.Server(configuration(application(address, first, opened, own, processes)))
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    _leave()


def _leave(patience: float = 0.5) -> None:
    """Exit the process even if a worker is still compiling or solving; workers hold no unsaved data."""
    deadline = time.monotonic() + patience
    while any(thread.name.startswith("lab-") for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        time.sleep(0.01)
