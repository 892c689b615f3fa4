"""Connections to the server: how many, and how long each may keep the server waiting.

A client that connects and sends nothing, sends its request byte by byte, does not read the answer, or disappears
without closing the connection is disconnected after the times below. Times are in seconds.
"""

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

CONNECTIONS = 512  # maximum number of open connections; a browser opens several to load the page
HEADER_BYTES = 2**14  # maximum size of an incomplete header of a request
REQUEST = 10.0  # until a request is complete, from the connection or from the previous answer
REFUSED = 1.0  # for the client to read why its connection is refused
ANSWER = 120.0  # until the answer to a request is written; reports take a while
STALLED = 20.0  # during which the client of a WebSocket takes too little of what is sent to it
MESSAGE = 2**20  # maximum length of a message in characters, and of all messages of a page that wait
PING, PONG = 10.0, 20.0  # between two pings of a WebSocket, and until the answer to one
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n"
    b"the lab has too many open connections; close a page, or try again later\n"
)


class Deadline:
    """Reset a connection unless the deadline is moved in time."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def set(self, transport: asyncio.Transport, seconds: float) -> None:
        """Reset the connection after these seconds, and not at an earlier deadline."""
        self.clear()
        self._timer = asyncio.get_running_loop().call_later(seconds, _reset, transport)

    def clear(self) -> None:
        """Drop the deadline."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _reset(transport: asyncio.Transport) -> None:
    """Close a connection at once, and discard what the client has not read, in the system's buffers, too."""
    if not transport.is_closing() or transport.get_write_buffer_size():
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class HttpConnection(H11Protocol):
    """HTTP with deadlines for requests and answers, for a limited number of connections."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline, self._refused, self._is_new = Deadline(), False, True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse a connection beyond the limit; otherwise start to wait for a request."""
        self._refused = len(self.connections) >= CONNECTIONS
        super().connection_made(transport)
        self._deadline.set(transport, REFUSED if self._refused else REQUEST)
        if self._refused:
            transport.write(FULL)
            transport.write_eof()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; when the request is complete, start to wait for the answer."""
        if self._refused:
            return
        is_new, self._is_new = self._is_new, False
        if is_new and (pass_on := self.app_state.get("pass_on")) and pass_on(self.transport, data):
            self._deadline.clear()
            self.transport.abort()  # closes it in this process only
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._wait()

    def on_response_complete(self) -> None:
        """Start to wait for the next request."""
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete
        self._deadline.set(self.transport, ANSWER if answering else REQUEST)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Leave the connection to the WebSocket protocol."""
        self._deadline.clear()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._deadline.clear()
        super().connection_lost(exc)


class PassedConnection(HttpConnection):
    """A connection from which another process has read some data."""

    def __init__(self, data: bytes, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._data = data

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start with the data read so far."""
        super().connection_made(transport)
        self.data_received(self._data)


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket that is reset if its client does not read, does not answer pings, or does not close."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline = Deadline()

    def pause_writing(self) -> None:
        """Give the client time to read what is in the buffer."""
        super().pause_writing()
        self._deadline.set(self.transport, STALLED)

    def resume_writing(self) -> None:
        """Continue: the client has read most of the buffer."""
        super().resume_writing()
        self._deadline.clear()

    def keepalive_timeout(self) -> None:
        """Reset the connection: closing it would wait until the client has read the buffer."""
        super().keepalive_timeout()
        _reset(self.transport)

    async def run_asgi(self) -> None:
        """Serve the page, and give the client time to close the connection."""
        await super().run_asgi()
        self._deadline.set(self.transport, STALLED)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._deadline.clear()
        super().connection_lost(exc)
