"""The messages of a page that wait to be handled: bounded in number, in size and in rate."""

import asyncio
from collections import deque
from time import monotonic

from starlette.websockets import WebSocket

from gamesim.errors import InputError
from gamesim.lab.connections import MESSAGE
from gamesim.lab.limits import BURST, RATE, WAITING

Incoming = str | bytes | InputError  # an error takes the place of the messages that it is about


class Inbox:
    """Read messages ahead, so that a disconnection is noticed while a command runs."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._waiting: deque[Incoming] = deque()
        self._characters = 0
        self._changed = asyncio.Event()
        self._tokens, self._last, self._slowed = float(BURST), monotonic(), False
        self.closed = False

    async def fill(self) -> None:
        """Read messages until the client disconnects; stop reading while too many wait."""
        try:
            while (message := await self._socket.receive())["type"] != "websocket.disconnect":
                text = message.get("text")
                await self._put(text if text is not None else message.get("bytes") or b"")
                await self._slow_down()
        finally:
            self.close()

    def close(self) -> None:
        """End the session: the client has disconnected."""
        self.closed = True
        self._changed.set()

    async def next(self) -> Incoming | None:
        """Return the next message, or None if the client has disconnected."""
        while not self._waiting and not self.closed:
            await self._change()
        if self.closed:
            return None
        message = self._waiting.popleft()
        self._characters -= _length(message)
        self._changed.set()
        return message

    async def _put(self, message: Incoming) -> None:
        while self._waiting and (len(self._waiting) >= WAITING or self._characters + _length(message) > MESSAGE):
            await self._change()
        self._waiting.append(message)
        self._characters += _length(message)
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def _slow_down(self) -> None:
        """Read at most RATE messages per second, after a burst of BURST; report this once."""
        now = monotonic()
        self._tokens = min(BURST, self._tokens + RATE * (now - self._last)) - 1
        self._last = now
        if self._tokens >= 0:
            self._slowed = self._slowed and self._tokens < BURST / 2
            return
        if not self._slowed:
            self._slowed = True
            await self._put(InputError(f"a page may send at most {RATE} messages per second; further ones wait"))
        await asyncio.sleep(-self._tokens / RATE)


def _length(message: Incoming) -> int:
    return 0 if isinstance(message, InputError) else len(message)
