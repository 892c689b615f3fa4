"""A running class for tests, and clients of its protocol."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from gamesim import games
from gamesim.classroom.log import Log
from gamesim.classroom.room import Settings
from gamesim.classroom.server import application
from gamesim.classroom.session import Session
from gamesim.game import Game
from gamesim.lab.address import Address
from gamesim.lab.web import configuration
from tests.chromium import wait


class Class:
    """A running server: its session, its address and a secret of the teacher."""

    def __init__(self, session: Session, address: Address, teacher: str) -> None:
        self.session, self.address, self.teacher = session, address, teacher
        self.origin = f"http://127.0.0.1:{address.port}"

    @contextmanager
    def client(self) -> Iterator["Client"]:
        with connect(
            f"ws://127.0.0.1:{self.address.port}/live", origin=Origin(self.origin), max_size=None
        ) as connection:
            yield Client(connection)


class Client:
    """A page: it sends messages and keeps what it received last of the state, the game and the measures."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection, self.state = connection, dict[str, Any]()

    def ask(self, **message: Any) -> dict[str, Any]:
        """Send a message and return the answer."""
        self.connection.send(json.dumps(message))
        return self.answer()

    def answer(self) -> dict[str, Any]:
        while (found := self._received())["is"] in ("state", "game", "measured"):
            pass
        return found

    def _received(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.connection.recv(timeout=30))
        if found["is"] in ("state", "game", "measured"):
            self.state |= found
        return found

    def until(self, **wanted: Any) -> dict[str, Any]:
        """Wait for a state with these values."""
        while any(self.state.get(key) != value for key, value in wanted.items()):
            self._received()
        return self.state


@contextmanager
def running_class(
    log: Path, game: str | Game = "chicken", port: int = 0, alone: bool = False, **settings: Any
) -> Iterator[Class]:
    chosen: Any = {"matching": "groups", "rounds": 10, "seconds": 0.0, "learner": "uniform", "seed": 0} | settings
    kept = Log(log)
    with socket.create_server(("127.0.0.1", port)) as listener:
        session = Session(games.make(game) if isinstance(game, str) else game, Settings(**chosen), kept, alone=alone)
        address = Address("127.0.0.1", listener.getsockname()[1], session.code)
        web = uvicorn.Server(configuration(application(session, address)))
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listener]})
        thread.start()
        wait(lambda: web.started, "the class did not start", 30)
        try:
            yield Class(session, address, session.new_teacher())
        finally:
            web.should_exit = True
            thread.join()
            kept.close()
