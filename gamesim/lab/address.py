"""The addresses at which browsers reach the server, as links and as a QR code."""

import io
import json
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

import segno

LOCAL = ("127.0.0.1", "localhost", "::1")
ALL = ("0.0.0.0", "::")  # all interfaces
FAR = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # addresses of documentation, which lead nowhere


@dataclass(frozen=True)
class Address:
    """The address of the server, and the token required if other machines can reach it."""

    host: str
    port: int
    token: str | None = None

    @cached_property
    def links(self) -> list[str]:
        """The URLs to open, the most reliable first; on all interfaces, IP addresses and the name of the machine."""
        hosts = [*own_addresses(self.host == "::"), socket.gethostname()] if self.host in ALL else [self.host]
        shown = [f"[{host}]" if ":" in host else host for host in hosts]
        return [f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "") for host in shown]

    @cached_property
    def _names(self) -> set[str]:
        own = {socket.gethostname().lower()} if self.token else set()
        return {*LOCAL, self.host.lower()} | own

    def is_meant(self, host: str) -> bool:
        """Whether a Host header, or the host of an Origin, names this server; guards against DNS rebinding."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if port != self.port:
            return False
        if self.token is not None:  # any IP address is accepted, but no foreign host name
            try:
                return bool(ip_address(name))
            except ValueError:
                pass
        return name in self._names

    def _code(self, lesson: str | None = None) -> segno.QRCode:
        state = "" if lesson is None else "#" + quote(json.dumps({"lesson": lesson}))
        return segno.make_qr(self.links[0] + state, error="m")

    def code_svg(self, lesson: str | None = None) -> bytes:
        """Return a QR code of the first link, as SVG; with a lesson, the page opens at it."""
        drawn = io.BytesIO()
        self._code(lesson).save(drawn, kind="svg", scale=4, border=3, light="#ffffff", xmldecl=False)
        return drawn.getvalue()

    def code_text(self, encoding: str) -> str:
        """Return a QR code of the first link in block characters, or nothing if the encoding has none."""
        drawn = io.StringIO()
        self._code().terminal(drawn, compact=True, border=2)
        try:
            drawn.getvalue().encode(encoding)
        except UnicodeEncodeError:
            return ""
        return drawn.getvalue()


def own_addresses(six: bool = False) -> list[str]:
    """Return the IP addresses of this machine, that of the default route first, with or without those of version 6."""
    found = []
    for family, far in FAR.items():
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))  # sends nothing: it only chooses an interface
            found.append(probe.getsockname()[0])
    with suppress(OSError):
        found += [str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None)]
    usable = [one for one in map(ip_address, found) if not (one.is_loopback or one.is_link_local or one.is_unspecified)]
    return list(dict.fromkeys(str(one) for one in usable if six or one.version == 4))
