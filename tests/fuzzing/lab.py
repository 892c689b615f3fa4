"""The lab: messages of a page, and requests with any path, query and headers."""

import asyncio
import atexit
import json
import mimetypes
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.types import Message, Scope

from gamesim.lab import server, web
from gamesim.lab.address import Address
from gamesim.lab.events import EVENTS
from gamesim.lab.session import Session
from gamesim.lab.workers import Workers
from tests.fuzzing import texts, trees
from tests.fuzzing.oracle import Refused, Wrong
from tests.fuzzing.scenarios import scenario_tree, words
from tests.fuzzing.values import Input, some

TOKEN = "the-token"
PORT = 8765
_MORE_COMMANDS = ("play", "speed", "pause", "seek", "toml", "drawn", "portrait", "cloud", "device")
_MORE_WORDS = (
    *("do", "begin", "game", "play", "speed", "pause", "seek", "toml", "drawn", "scenario", "beside", "rounds"),
    *("growth", "until", "event", "value", "read", "files", *EVENTS),
)
NAMES = ("", "pasted", "g.csv", "g.1.csv", "g.2.csv", "g.nfg", "g.gam", "g.png", "../../g.csv")
GAMES = (
    *("3,1\t0,0\n0,0\t1/2,3", ",a,b\nc,1,2\nd,3,4\n\n,a,b\nc,5,6\nd,7,8", '"3,1","0,0"\n"0,0","1,3"', "1;2\n3;4"),
    *('NFG 1 R "g" { "A" "B" } { 2 2 } 1 2 3 4 5 6 7 8', "2\n2 2\n1 2 3 4\n5 6 7 8", "", "\ufeff1e999,2", "\0,\0"),
)


class Client:
    """The socket of a page: it checks that what is sent is text or numbers that a page can read."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    async def send_text(self, text: str) -> None:
        text.encode()
        content = json.loads(text, parse_constant=_no_json)
        if content["is"] == "error":
            self.errors.append(content["message"])

    async def send_bytes(self, data: bytes) -> None:
        if len(data) % 4:
            raise Wrong(f"expected a frame of 32-bit numbers, got {len(data)} bytes")


def _no_json(constant: str) -> NoReturn:
    raise Wrong(f"a browser cannot parse {constant} in JSON")


class Here(Executor):
    """Runs what is submitted at once, in this thread."""

    def submit(self, do: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(do(*arguments, **options))
        except Exception as error:
            done.set_exception(error)
        return done


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop


def prepare() -> None:
    """Start the labs, and load what they load for their first response."""
    page = {
        "lab": b"token",
        "type": b"http",
        "method": b"GET",
        "target": b"/?token=the-token",
        "host": b"127.0.0.1:8765",
    }
    for lab in (b"token", b"local"):
        use_request({**page, "lab": lab, "origin": b"", "cookie": b"", "range": b""}, Path())
    mimetypes.init()


# Messages.


def make_messages(random: Random) -> Input:
    """Return the messages of a page, one file each; most of them mutated."""
    sent = [_message(random) for _ in range(some(random, (1, 1, 2, 3)))]
    return {f"{k}.json": data for k, data in enumerate(sent)}


def _message(random: Random) -> bytes:
    tree = _tree(random)
    if random.random() < 0.1:
        return json.dumps(tree).encode()
    known = (*words(), *_MORE_WORDS)
    if random.random() < 0.65:
        return json.dumps(
            trees.mutated(random, tree, known, [_tree(random)]), ensure_ascii=random.random() < 0.5
        ).encode("utf-8", "surrogatepass")
    return texts.mutated(random, json.dumps(tree), known, [json.dumps(_tree(random))])


def _tree(random: Random) -> dict[str, Any]:
    do = some(random, (*["begin"] * 4, *["game"] * 2, *["read"] * 2, *_MORE_COMMANDS))
    if do == "game":
        return {"do": do, "game": scenario_tree(random)["game"]}
    if do == "read":
        return {"do": do, "files": [[some(random, NAMES), some(random, GAMES)] for _ in range(random.randint(1, 2))]}
    if do == "begin":
        scenario = scenario_tree(random)
        beside = {"beside": scenario.get("players")} if random.random() < 0.3 else {}
        return {"do": do, "scenario": scenario, **beside}
    if do == "seek":
        return {"do": do, "round": random.randint(0, 9)}
    if do in ("play", "speed"):
        until = {"until": _until(random)} if do == "play" and random.random() < 0.5 else {}
        return {"do": do, "speed": some(random, (None, 1, 0.5, 1000)), "growth": some(random, (0, 0.77, 5)), **until}
    return {"do": do}


def _until(random: Random) -> dict[str, Any]:
    event = some(random, tuple(EVENTS))
    return {"event": event, "value": some(random, (0, 0.01, 3, 1e9))} if EVENTS[event] else {"event": event}


def use_messages(given: Input, folder: Path) -> None:
    """Send the messages to a session, with a frame after each; the last error counts as the refusal."""
    here: Any = Here()
    client: Any = Client()
    session = Session(client, Workers(turns=here, commands=here, builds=here, programs=here, reports=here))
    _loop().run_until_complete(_send(session, [given[name] for name in sorted(given)]))
    if any("memory" in message.partition(";")[0] for message in client.errors):
        raise MemoryError(client.errors)
    if client.errors:
        raise Refused(client.errors[-1])


async def _send(session: Session, messages: Sequence[bytes]) -> None:
    for data in messages:
        try:
            text: str | bytes = data.decode()
        except UnicodeDecodeError:
            text = data
        await session._handle(text)
        if session.runs:
            session._undrawn = 0
            await session._take_turn()


# Requests.


@cache
def _applications() -> dict[bool, Starlette]:
    """Return the lab without and with a token."""
    found = {}
    for token in (None, TOKEN):
        found[token is not None] = server.application(Address("127.0.0.1", PORT, token))
        found[token is not None].state.workers = Workers()
    return found


_PATHS = (
    *("/", "/choices.json", "/runs/abc/0/record.zip", "/runs/abc/1/report.html", "/live"),
    *("/lab.js", "/static/main.js", "/static/", "/code.svg"),
)
_PATH_WORDS = (
    *("..", "/", "//", "%2e%2e", "%2f", "%00", "\\", "..%2f..%2fserver.py", "static", "runs", "%ff", "%"),
    *("?", "#", "."),
)
_QUERIES = (
    "",
    "token=the-token",
    "token=",
    "token=wrong",
    "token=a&token=the-token",
    "a=b;token=x",
    "%74oken=x",
    "lesson=chicken",
)
_HOSTS = ("127.0.0.1:8765", "localhost:8765", "[::1]:8765", "evil.example:8765", "127.0.0.1", "127.0.0.1:8765@evil", "")
_ORIGINS = (
    *("", "", "", "", "http://127.0.0.1:8765", "http://127.0.0.1:8765", "http://evil.example", "null"),
    *("https://127.0.0.1:8765", "http://[::1"),
)
_RANGES = ("", "", "", "bytes=0-", "bytes=5-1", "bytes=0-0,5-9", "bytes=99999999999999999999-", "x=1")
_COOKIES = ("", "", "gamesim-lab=the-token", "gamesim-lab=x", "gamesim-lab", 'a="b; gamesim-lab=the-token', "=;;=")


def make_request(random: Random) -> Input:
    """Return a request: the kind of the lab, the method, target, and headers."""
    with_token = random.random() < 0.5
    query = some(random, _QUERIES if random.random() < 0.5 else _QUERIES[1:2]) if with_token else ""
    target = some(random, _PATHS) + (f"?{query}" if query else "")
    parts = {
        "lab": "token" if with_token else "local",
        "type": some(random, ("http", "http", "http", "websocket")),
        "method": some(random, ("GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "get", "\0")),
        "target": target,
        "host": some(random, _HOSTS[:3] if random.random() < 0.8 else _HOSTS),
        "origin": some(random, _ORIGINS),
        "cookie": some(random, _COOKIES),
        "range": some(random, _RANGES),
    }
    for _ in range(int(random.expovariate(1.0))):
        key = some(random, ("target", "target", "target", "host", "origin", "cookie", "range"))
        parts[key] = texts.mutated(random, parts[key], _PATH_WORDS, _PATHS).decode("latin-1")
    return {key: value.encode("latin-1", "replace") for key, value in parts.items()}


def use_request(given: Input, folder: Path) -> None:
    """Send a request to the lab as its web server would, and check status and permission."""
    scope = _scope(given)
    sent: list[Message] = []
    with_token = given["lab"] == b"token"
    _loop().run_until_complete(asyncio.wait_for(_request(_applications()[with_token], scope, sent), 5))
    if scope["type"] == "websocket":
        if (
            sent[0]["type"] == "websocket.accept"
            and with_token
            and TOKEN.encode() not in given["target"] + given["cookie"]
        ):
            raise Wrong("a page without the token is accepted")
        raise Refused("closed") if sent[0]["type"] == "websocket.close" else Refused("accepted, and disconnected")
    status = sent[0]["status"]
    if status >= 500:
        raise Wrong(f"the response has status {status}: {sent!r:.500}")
    if with_token and status < 400 and not _has_token(given):
        raise Wrong(f"a request without the token gets {status}")
    if status >= 300:
        raise Refused(f"status {status}")


def _has_token(given: Input) -> bool:
    return TOKEN.encode() in unquote_to_bytes(given["target"]) + given["cookie"]


def _scope(given: Input) -> Scope:
    path, _, query = given["target"].partition(b"?")
    headers = [
        (name, given[name.decode()]) for name in (b"host", b"origin", b"cookie", b"range") if given[name.decode()]
    ]
    return {
        "type": given["type"].decode(),
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": given["method"].decode("latin-1"),
        "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", PORT),
        "subprotocols": [],
        "state": {},
    }


async def _request(application: Starlette, scope: Scope, sent: list[Message]) -> None:
    first: Message = {"type": "websocket.connect"}
    if scope["type"] == "http":
        first = {"type": "http.request", "body": b""}
    messages = iter([first])

    async def receive() -> Message:
        await asyncio.sleep(0)
        return next(messages, {"type": f"{scope['type']}.disconnect", "code": 1000})

    async def send(message: Message) -> None:
        sent.append(message)

    await application(scope, receive, send)


def readable() -> tuple[str, ...]:
    """Return the only folder whose files a request may read."""
    return (str(web.STATIC),)
