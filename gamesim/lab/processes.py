"""Further processes that serve pages, because the interpreter of one process uses a single core.

If other machines can reach the lab, it has one process per core. The first process listens. It passes a new connection
that asks for a page, with the data read so far, to the process with the fewest connections, which serves the page from
then on: messages take no detour. A further process has the same application, but no listener. All downloads are asked
for at the first process, which fetches them from the process of the page, over a connection that it passes on likewise.

A process that ends closes its connections; its pages report this and connect again, to another process. The further
processes end with the first one, even if it is killed.
"""

import asyncio
import logging
import signal
import socket
import struct
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gamesim.errors import InputError

PASSES = sys.platform != "win32"  # whether connections can be passed on
PAGE = b"GET /live"  # the request of a page's connection begins with it
LONGEST = 2**16  # bytes that are passed on with a connection
REPORT = 0.1  # seconds between two looks at the number of connections
REAP = 1.0  # seconds until a process that has closed its end is gone
PATIENCE = 2.0  # seconds that a process may take to end
ENDED = "the process that played this run has ended; start the run again"

_LENGTH = struct.Struct("<I")
log = logging.getLogger(__name__)


class Other:
    """A further process, as the first one sees it."""

    def __init__(self, work: Callable[..., None], number: int, *arguments: Any) -> None:
        self.number = number
        self.pages: int | None = None  # the number of its connections; None unless it takes any
        self.started = asyncio.Event()
        self._channel, far = socket.socketpair()
        self._channel.setblocking(False)
        self._process = get_context("spawn").Process(target=work, args=(far, number, *arguments), daemon=True)
        with far, _without_interrupts():
            self._process.start()
        asyncio.get_running_loop().add_reader(self._channel, self._hear)

    def _hear(self) -> None:
        """Read the latest number of connections; the process has ended if there is nothing to read."""
        try:
            said = self._channel.recv(LONGEST)
        except OSError:
            said = b""
        if said:
            self.pages = said[-1]
            self.started.set()
        else:
            log.warning("process %d of the lab has ended; its %d pages connect again", self.number, self.pages or 0)
            self.leave()
            asyncio.get_running_loop().call_later(REAP, self._process.join, 0)

    def leave(self) -> None:
        """Pass on no more connections, which makes the process end."""
        if self._channel.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._channel)
            self._channel.close()
        self.pages = None
        self.started.set()  # nobody is to wait for it

    def take(self, connection: Any, data: bytes) -> bool:
        """Pass on a connection and the data read from it; return whether the process has got it."""
        if self.pages is None or len(data) > LONGEST:
            return False
        message = _LENGTH.pack(len(data)) + data
        try:
            complete = socket.send_fds(self._channel, [message], [connection.fileno()]) == len(message)
        except BlockingIOError:
            return False
        except OSError:
            complete = False
        if complete:
            self.pages += 1
        else:
            self.leave()
        return complete

    async def fetch(self, request: Request) -> Response:
        """Return the answer of the process to a request."""
        query = request.scope["query_string"]
        target = request.scope["raw_path"] + (b"?" + query if query else b"")
        kept = [name + b": " + value for name, value in request.headers.raw if name != b"connection"]
        lines = [b"GET " + target + b" HTTP/1.1", *kept, b"connection: close", b"", b""]
        near, far = socket.socketpair()
        with far:
            if not self.take(far, b"\r\n".join(lines)):
                near.close()
                raise InputError(ENDED)
        reader, writer = await asyncio.open_connection(sock=near)
        try:
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        if not head:
            raise InputError(ENDED)
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        kind, file = headers["content-type"], headers.get("content-disposition")
        return Response(body, int(first.split()[1]), {"content-disposition": file} if file else None, media_type=kind)

    def end(self) -> None:
        """End the process, after a moment in which it may end by itself."""
        self._process.join(PATIENCE)
        self._process.kill()
        self._process.join()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that never see Ctrl-C: they inherit that it is blocked, and end with the first process."""
    resource_tracker.ensure_running()  # otherwise it would be started now, and unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@asynccontextmanager
async def received(
    channel: socket.socket,
    protocol: Callable[[bytes], asyncio.Protocol],
    count: Callable[[], int | None],
    end: Callable[[], None],
) -> AsyncIterator[None]:
    """Serve the connections that the first process passes on, and report their number; end with the first process.

    `protocol` is called with the data read from a connection so far. `count` returns None before the server is ready.
    """
    loop = asyncio.get_running_loop()
    tasks = set()
    said: int | None = None

    def receive() -> None:
        nonlocal said
        try:
            length, passed, *_ = socket.recv_fds(channel, _LENGTH.size, 1, socket.MSG_WAITALL)
            data = channel.recv(_LENGTH.unpack(length)[0], socket.MSG_WAITALL) if length else b""
        except OSError:  # it was killed
            data = b""
        if not data:
            loop.remove_reader(channel)
            end()
            return
        said = None  # the first process has counted the connection, which may be closed before the next look
        connection = socket.socket(fileno=passed[0])
        task = loop.create_task(loop.connect_accepted_socket(lambda: protocol(data), connection))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def report() -> None:
        nonlocal said
        while True:
            if (now := count()) != said and now is not None:
                with suppress(OSError):  # the first process has ended, which `receive` notices
                    channel.send(bytes([min(now, 255)]))
                said = now
            await asyncio.sleep(REPORT)

    loop.add_reader(channel, receive)
    reporting = loop.create_task(report())
    try:
        yield
    finally:
        reporting.cancel()
        loop.remove_reader(channel)
