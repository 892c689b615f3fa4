"""A running lab for tests, and a client of its protocol."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from websockets.sync.client import ClientConnection, connect

from gamesim.lab import server, web
from gamesim.lab.address import Address
from gamesim.views import frames
from tests.chromium import wait

Numbers = dict[str, Any]


class Lab:
    """A running server: its address and its application."""

    def __init__(self, address: Address, application: Starlette) -> None:
        self.address, self.application = address, application

    @property
    def workers(self) -> Any:
        return self.application.state.workers

    @contextmanager
    def page(self) -> Iterator["Page"]:
        with self.connection(self.address.token) as connection:
            yield Page(connection)

    def connection(self, token: str | None) -> ClientConnection:
        headers = {"Cookie": f"gamesim-lab={token}"} if token else None
        live = f"ws://127.0.0.1:{self.address.port}/live"
        return connect(live, origin=self.origin, additional_headers=headers, max_size=None)

    @property
    def origin(self) -> Any:
        return f"http://127.0.0.1:{self.address.port}"


@contextmanager
def running_lab(token: str | None = None, **options: Any) -> Iterator[Lab]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address("127.0.0.1", listener.getsockname()[1], token)
        application = server.application(address, **options)
        served = uvicorn.Server(web.configuration(application))
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]})
        thread.start()
        wait(lambda: served.started, "the lab did not start", 30)
        try:
            yield Lab(address, application)
        finally:
            served.should_exit = True
            thread.join()


class Page:
    """A client that acts like a page: it sends messages, receives frames and acknowledges them."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.session = self.expect("hello")["session"]
        self.shape: dict[str, Any] = {}
        self.nearest: list[dict[str, Any] | None] = []
        self.sets: dict[str, Any] | None = None

    def send(self, do: str, **content: Any) -> None:
        self.connection.send(json.dumps({"do": do, **content}))

    def receive(self) -> Any:
        message = self.connection.recv(timeout=240)
        if isinstance(message, bytes):
            self.send("drawn")
            return np.frombuffer(message, dtype="<f4").astype(np.float64)
        content = json.loads(message)
        if content["is"] == "nearest" and content["shape"] == self.shape.get("shape"):
            self.nearest[content["run"]] = content
        elif content["is"] == "sets":
            self.sets = content
        return content

    def expect(self, kind: str) -> Any:
        """Return the next message of a kind; skip frames and other messages."""
        while isinstance(message := self.receive(), np.ndarray) or message["is"] != kind:
            pass
        return message

    def begin(self, scenario: Any, beside: Any = None) -> None:
        self.send("begin", scenario=scenario, beside=beside)
        self.shape = self.expect("shape")
        self.nearest, self.sets = [None] * len(self.shape["runs"]), None
        self.curves: list[list[Numbers]] = [[] for _ in self.shape["runs"]]
        self.paths: list[tuple[int, list[Any]]] = [(1, []) for _ in self.shape["runs"]]

    def states(self) -> list[Numbers]:
        """Return the states of the next frame, one per run, and store its rows, decoded as documented."""
        while not isinstance(numbers := self.receive(), np.ndarray) or numbers[0] != self.shape["shape"]:
            pass
        found = []
        actions = sum(map(len, self.shape["game"]["actions"]))
        for k in range(len(self.shape["runs"])):
            _, status, first, rows, stride, path_first, steps = (int(one) for one in numbers[:7])
            state, numbers = self._named(self.shape["fields"], numbers[7:])
            self.curves[k] = self.curves[k][:first]
            for _ in range(rows):
                row, numbers = self._named(self.shape["row_fields"], numbers)
                self.curves[k].append(row)
            kept = self.paths[k][1][:path_first] if stride == self.paths[k][0] else []
            taken, numbers = numbers[: steps * actions], numbers[steps * actions :]
            self.paths[k] = stride, [*kept, *taken.reshape(steps, actions)]
            found.append(state | {"status": status})
        assert numbers.size == 0
        return found

    @staticmethod
    def _named(fields: list[tuple[str, int]], numbers: Any) -> tuple[Numbers, Any]:
        result = {}
        for name, size in fields:
            part, numbers = numbers[:size], numbers[size:]
            paired = name in ("rounds", "gap_ce", "gap_cce", "gap_nash") and size == 2
            result[name] = part.sum() if paired else part
        return result, numbers

    def play_out(self) -> list[Numbers]:
        """Play to the last round at full speed and return the last states."""
        self.send("play", speed=None)
        while (states := self.states())[0]["status"] != frames.DONE:
            pass
        return states
