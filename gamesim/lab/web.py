"""What the servers of pages share: who may connect, which headers answers have, and how connections are configured."""

import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gamesim.errors import InputError
from gamesim.lab import connections
from gamesim.lab.address import Address
from gamesim.report.html import content_security_policy

COOKIE = "gamesim-lab"
STATIC = Path(str(files("gamesim.lab"))) / "static"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Guard:
    """ASGI middleware that accepts requests from pages of this server only, by default with the token of its link."""

    def __init__(self, app: ASGIApp, address: Address, token: bool = True) -> None:
        self._app, self._address = app, address
        self._token = address.token if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle or reject a request."""
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
            return "unknown host; open the link that gamesim printed"
        origin = headers.get("origin")
        if scope["type"] == "websocket" and origin is None:
            return "the Origin header is missing; only the page of this server may connect"
        if origin is not None and not (
            origin.startswith("http://") and self._address.is_meant(origin.removeprefix("http://"))
        ):
            return "foreign origin; only the page of this server may connect"
        if self._token is not None and not secrets.compare_digest(
            _token(scope, headers).encode(), self._token.encode()
        ):
            return "the token is missing or wrong; open the full link that gamesim printed"
        return None

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        report = scope["path"].endswith("/report.html")
        policy = f"{content_security_policy()}; frame-ancestors 'none'" if report else PAGE_POLICY
        extra = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-cache"),
        ]
        if self._token is not None:
            cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
            extra.append((b"set-cookie", cookie.encode()))

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        return with_headers


def _token(scope: Scope, headers: dict[str, str]) -> str:
    """Return the token of a request, from its query string or its cookie."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    if given:
        return str(given[0])
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return str(cookies[COOKIE].value) if COOKIE in cookies else ""


def configuration(pages: Starlette, longest: int = connections.MESSAGE) -> uvicorn.Config:
    """Return the server configuration: only errors are printed, no compression, no waiting for open pages at shutdown.

    A message of a page has at most `longest` characters.
    """
    return uvicorn.Config(
        pages,
        log_level="error",  # a warning is printed for each connection that is not HTTP
        loop="asyncio",
        http=connections.HttpConnection,
        h11_max_incomplete_event_size=connections.HEADER_BYTES,
        ws=connections.WebSocketConnection,
        ws_max_size=2 * longest,
        ws_ping_interval=connections.PING,
        ws_ping_timeout=connections.PONG,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        server_header=False,
    )


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address, or raise an InputError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(f"cannot listen on {host}:{port} ({error.strerror}); choose another --port") from None
    return listener
