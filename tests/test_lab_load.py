"""The lab under load and with clients that misbehave: bounded memory, fair turns, commands first, deadlines."""

import base64
import http.client
import json
import os
import socket
import struct
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from gamesim.errors import InputError
from gamesim.lab import connections, limits, session, workers
from gamesim.scenario import Scenario
from gamesim.views.frames import DONE, PAUSED, PLAYING, SEEKING
from tests.chromium import wait
from tests.lab_server import Lab, running_lab

pytestmark = pytest.mark.slow

ENDLESS: dict[str, Any] = {"rounds": 10**9, "game": {"name": "shapley"}, "players": [{"learner": "hedge"}] * 2}
LARGE: dict[str, Any] = {
    "rounds": 10**9,
    "game": {"name": "uniform", "settings": {"actions": 64}},
    "players": [{"learner": "hedge"}] * 2,
    "measure": {"checkpoints": 1000},
}
SHORT = 0.4  # seconds, in place of the deadlines


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with running_lab() as running:
        yield running


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Yield a lab whose deadlines are short."""
    for name in ("REQUEST", "STALLED", "PING", "PONG"):
        monkeypatch.setattr(connections, name, SHORT)
    monkeypatch.setattr(session, "FIRST", 3 * SHORT)
    with running_lab() as running:
        yield running


def only_session(lab: Lab) -> Any:
    """Return the session of the only page, once it has begun a run."""
    wait(lambda: any(one.runs for one in lab.workers.sessions.values()), "no run has begun", 30)
    (found,) = lab.workers.sessions.values()
    return found


class RawClient:
    """A WebSocket client that does only what the test makes it do: it neither reads nor answers pings by itself."""

    def __init__(self, lab: Lab) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(30)
        self.socket.connect(("127.0.0.1", lab.address.port))
        self.socket.sendall(
            f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{lab.address.port}\r\nOrigin: {lab.origin}\r\n"
            f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode()
        )
        header = b""
        while not header.endswith(b"\r\n\r\n"):
            header += self._exactly(1)

    def send(self, do: str, **content: Any) -> None:
        self.socket.sendall(self.encoded(json.dumps({"do": do, **content}).encode()))

    @staticmethod
    def encoded(payload: bytes, opcode: int = 1) -> bytes:
        """Return a masked frame; its mask is zero."""
        size = len(payload)
        if size < 126:
            length = bytes([128 | size])
        else:
            length = bytes([128 | 126]) + struct.pack("!H", size) if size < 2**16 else b"\xff" + struct.pack("!Q", size)
        return bytes([128 | opcode]) + length + bytes(4) + payload

    def receive(self) -> str | bytes:
        """Return the next message; skip pings."""
        while True:
            opcode, size = self._exactly(2)
            if size == 126:
                (size,) = struct.unpack("!H", self._exactly(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self._exactly(8))
            payload = self._exactly(size)
            if opcode & 15 in (1, 2):
                return payload.decode() if opcode & 15 == 1 else payload

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self.socket.recv(count - len(parts))
            if not part:
                raise EOFError("the server closed the connection")
            parts += part
        return bytes(parts)


def closes(client: socket.socket) -> float:
    """Return the seconds until the server closes a connection; what it sends is not read."""
    began = time.monotonic()
    while time.monotonic() - began < 30:
        state = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        if state != 1:  # no longer established
            return time.monotonic() - began
        time.sleep(0.02)
    raise AssertionError("the server did not close the connection")


# Commands and frames.


def test_commands_are_answered_ahead_of_frames_to_a_client_that_does_not_read(lab: Lab) -> None:
    client = RawClient(lab)
    with closing(client.socket):
        client.send("begin", scenario=ENDLESS)
        client.send("play")
        served = only_session(lab)
        wait(lambda: served.runs[0].simulation.rounds > 1000, "no rounds are played", 60)
        before = served.runs[0].simulation.rounds
        wait(lambda: served.runs[0].simulation.rounds > 2 * before, "rounds wait for frames", 60)
        client.send("pause")
        wait(lambda: not served.playing, "a command waits for frames", 10)
        client.send("toml")
        received: list[Any] = []
        while not received or isinstance(received[-1], bytes) or json.loads(received[-1])["is"] != "toml":
            received.append(client.receive())
    assert sum(isinstance(one, bytes) for one in received) <= session.UNDRAWN


def test_a_slow_client_gets_the_newest_state_and_no_old_frames(lab: Lab) -> None:
    with lab.page() as page:
        page.begin(ENDLESS)
        page.send("play")
        served = only_session(lab)
        wait(lambda: served.runs[0].simulation.rounds > 10_000, "no rounds are played", 60)
        frames = 0
        page.send("pause")
        while True:
            states = page.states()
            frames += 1
            if states[0]["status"] == PAUSED and states[0]["rounds"] > 0:
                break
        assert states[0]["rounds"] == served.runs[0].simulation.rounds
        assert frames <= 2 * session.UNDRAWN + 1


def test_a_page_goes_to_any_round_whatever_it_was_doing(lab: Lab) -> None:
    with lab.page() as page:
        page.begin(ENDLESS)
        served = only_session(lab)
        for target in (7, 200_000, 11, 0, 3):
            page.send("play")
            while page.states()[0]["status"] != PLAYING:
                pass
            page.send("seek", round=100_000)  # which the next one replaces
            page.send("seek", round=target)
            assert [page.expect("seek")["round"] for _ in range(2)] == [100_000, target]
            while (state := page.states()[0])["status"] == SEEKING or state["rounds"] != target:
                pass
            assert served.runs[0].simulation.rounds == target and not served.playing


def test_play_continues_from_the_round_that_a_page_goes_to(lab: Lab) -> None:
    with lab.page() as page:
        page.begin({**ENDLESS, "rounds": 5000})
        page.play_out()
        page.send("seek", round=40)
        page.send("play", speed=None)
        seen: list[Any] = []
        while not seen or seen[-1]["status"] != DONE:
            seen.append(page.states()[0])
        assert 40 in [state["rounds"] for state in seen]
        simulation = Scenario.from_dict({**ENDLESS, "rounds": 5000}).simulation()
        assert seen[-1]["gap_ce"] == pytest.approx(simulation.run(5000).gap("ce"), rel=1e-12)


def test_the_way_to_a_distant_round_is_cut_into_turns_and_can_be_left(lab: Lab) -> None:
    heavy = {**LARGE, "game": {"name": "el-farol", "settings": {"players": 12}}, "players": [{"learner": "hedge"}] * 12}
    with lab.page() as page:
        page.begin(heavy)
        page.send("seek", round=10**6)
        while not 0 < page.states()[0]["rounds"] < 10**6:
            pass
        page.send("pause")
        page.send("toml")
        page.expect("toml")
        wait(lambda: only_session(lab)._target is None, "the page is still on its way", 10)
        assert only_session(lab).runs[0].left > 0


def test_play_accelerates(lab: Lab) -> None:
    with lab.page() as page:
        page.begin(ENDLESS)
        page.send("play", speed=20, growth=2)
        states = [page.states()[0]]
        while states[-1]["rounds"] < 1000:
            states.append(page.states()[0])
    for state in states:
        if state["status"] == PLAYING and state["rounds"]:
            assert state["speed"][0] == pytest.approx(20 + 2 * state["rounds"], rel=1e-6)


@pytest.mark.parametrize("until", [{"event": "round", "value": 777}, {"event": "cce-gap", "value": 0.02}])
def test_play_pauses_at_an_event_and_can_continue(lab: Lab, until: dict[str, Any]) -> None:
    with lab.page() as page:
        page.begin(ENDLESS)
        page.send("play", until=until)
        paused = page.expect("paused")
        while (state := page.states()[0])["status"] != PAUSED or state["rounds"] != paused["round"]:
            pass
        assert state["rounds"] == 777 or state["gap_cce"] < 0.02
        page.send("play", until=until)  # the event is in the past
        while page.states()[0]["rounds"] < 2 * paused["round"]:
            pass


@pytest.mark.parametrize("command", [{"do": "play"}, {"do": "play", "speed": 50}, {"do": "seek", "round": 100}])
def test_a_finished_run_rests_whatever_the_page_asks(command: dict[str, Any], lab: Lab) -> None:
    with lab.page() as page, lab.page() as other:
        page.begin({**ENDLESS, "rounds": 100})
        page.send("play")
        while page.states()[0]["status"] != DONE:
            pass
        page.send(**command)
        state = page.states()[0]
        assert (state["status"], state["rounds"]) == (DONE, 100)
        other.begin(ENDLESS)  # which a turn that never ends would delay for ever
        served = lab.workers.sessions[page.session]
        wait(lambda: not served.playing and served._target is None, "the run does not rest", 10)


def test_a_record_that_fails_or_whose_page_closes_is_answered(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> None:
        raise InputError("no state was returned")

    with lab.page() as page:
        page.begin(ENDLESS)
        page.send("seek", round=1)
        while page.states()[0]["rounds"] < 1:
            pass
        run = lab.workers.sessions[page.session].runs[0]
        with monkeypatch.context() as patch:
            patch.setattr(type(run.simulation), "record", fail)
            assert get(lab, f"/runs/{page.session}/0/record.zip") == (404, b"no state was returned\n")
        page.send("seek", round=2)
        while page.states()[0]["rounds"] < 2:
            pass
        monkeypatch.setattr(session.Session, "_make_records", lambda _: None)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(get, lab, f"/runs/{page.session}/0/record.zip")
            wait(lambda: bool(lab.workers.sessions[page.session]._records), "no record was asked for", 10)
            page.connection.close()
            assert answer.result(30) == (404, b"no such run; its page was closed or has started another run\n")


def get(lab: Lab, path: str) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", lab.address.port, timeout=60)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_a_speed_set_while_playing_as_fast_as_possible_applies_at_once(lab: Lab) -> None:
    with lab.page() as page:
        page.begin(ENDLESS)
        page.send("play", speed=None)
        while page.states()[0]["rounds"] < 50_000:
            pass
        page.send("speed", speed=500)
        first = page.states()[0]["rounds"]
        while (later := page.states()[0])["rounds"] < first + 50 or later["speed"] != 500:
            pass


# Fair shares.


def test_pages_get_turns_in_rotation(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []
    play_rounds = session.Session._play_rounds

    async def counted(served: session.Session, *arguments: Any) -> session.Turn | None:
        turns.append(served.id)
        return await play_rounds(served, *arguments)

    with ExitStack() as stack:
        pages = [stack.enter_context(lab.page()) for _ in range(8)]
        for number, page in enumerate(pages):
            page.begin(LARGE if number % 2 else ENDLESS)
        for page in pages:
            page.send("play")
        served = list(lab.workers.sessions.values())
        wait(lambda: all(one.playing and one.runs[0].simulation.rounds > 100 for one in served), "not all play", 60)
        monkeypatch.setattr(session.Session, "_play_rounds", counted)
        wait(lambda: len(turns) > 400, "no turns are taken", 60)
        monkeypatch.undo()
    counts = [turns.count(page.session) for page in pages]
    assert min(counts) > 0.5 * max(counts), counts


def test_intervals_grow_with_the_number_of_pages() -> None:
    shared = workers.Workers()
    shared.frames.cost = 0.001
    few = shared.frame_interval()
    shared.playing = 64
    assert few == workers.FRAME
    assert shared.frame_interval() == pytest.approx(64 * 0.001 / workers.FRAMES_SHARE)
    assert 64 * shared.slice_seconds() <= shared.frame_interval()
    shared.close()


# Memory.


def test_checkpoints_of_a_run_fit_into_their_limit() -> None:
    simulation = limits.simulated(limits.asked_scenario(LARGE))
    simulation.advance(20_000)
    kept = simulation.record().arrays
    size = sum(part.nbytes for name, part in kept.items() if name.startswith("checkpoint_"))
    assert len(kept["checkpoints"]) >= 4
    assert size <= limits.CHECKPOINT_BYTES
    small = limits.simulated(limits.asked_scenario({**ENDLESS, "measure": {"checkpoints": 1000}}))
    small.advance(10_000)
    assert len(small.checkpoint_rounds) <= 4 * limits.CHECKPOINTS + 1


def test_a_page_takes_little_memory_even_if_it_plays_two_of_the_largest_games(lab: Lab) -> None:
    tracemalloc.start()
    try:
        with ExitStack() as stack:
            pages = [stack.enter_context(lab.page()) for _ in range(6)]
            before, _ = tracemalloc.get_traced_memory()
            for page in pages:
                page.begin(LARGE, LARGE["players"])
                page.send("play")
            served = list(lab.workers.sessions.values())
            wait(
                lambda: all(one.runs and one.runs[0].simulation.rounds > 3000 for one in served),
                "no rounds are played",
                120,
            )
            tracemalloc.reset_peak()
            for page in pages:
                page.states()
            _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (peak - before) / len(pages) < 8e6


def test_waiting_messages_are_bounded(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session.Session, "_handle", lambda *_: wait_forever())
    with lab.page() as page:
        (served,) = lab.workers.sessions.values()
        padding = "x" * (connections.MESSAGE // 4)
        for _ in range(8):
            page.connection.send(padding)
        wait(lambda: served._inbox._characters > connections.MESSAGE - len(padding), "the messages were not read", 30)
        assert get(lab, "/")[0] == 200  # the server has had its turn again, and reads no further
        assert served._inbox._characters <= connections.MESSAGE


async def wait_forever() -> None:
    import asyncio

    await asyncio.Event().wait()


# Limits.


def test_too_many_messages_per_second_are_slowed_down_and_reported(lab: Lab) -> None:
    with lab.page() as page:
        for _ in range(2 * limits.BURST):
            page.send("drawn")
        assert page.expect("error")["message"] == (
            f"a page may send at most {limits.RATE} messages per second; further ones wait"
        )
        page.begin(ENDLESS)  # the connection is still open
        page.send("toml")
        assert page.expect("toml")["texts"]


def test_a_message_that_is_too_large_closes_the_connection(lab: Lab) -> None:
    with lab.page() as page, pytest.raises(ConnectionClosed) as closed:  # while the message is sent, or after
        page.connection.send("x" * (2 * connections.MESSAGE + 1))
        page.receive()
    # What the server does not read resets the connection, at times before its reason is received.
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    with lab.page() as page:
        page.send("toml")
        assert page.receive()


def test_a_distance_that_takes_long_is_rejected(lab: Lab) -> None:
    with lab.page() as page:
        page.send("begin", scenario={**LARGE, "measure": {"distance": "always"}})
        message = page.expect("error")["message"]
    assert message == (
        'measure.distance must be "auto" or "never" in the lab: linear programs over 4,096 cells are slow; '
        "use gamesim run instead"
    )


def test_too_many_connections_get_an_error(impatient: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 2)
    with impatient.page(), socket.create_connection(("127.0.0.1", impatient.address.port)):
        extra = http.client.HTTPConnection("127.0.0.1", impatient.address.port, timeout=10)
        with closing(extra):
            extra.request("GET", "/")
            answer = extra.getresponse()
            assert answer.status == 503
            assert b"too many open connections" in answer.read()


def test_a_header_that_is_too_large_is_rejected(impatient: Lab) -> None:
    with socket.create_connection(("127.0.0.1", impatient.address.port), timeout=10) as client:
        client.sendall(b"GET / HTTP/1.1\r\nX-Padding: " + (connections.HEADER_BYTES + 1) * b"x")
        assert client.recv(100).startswith(b"HTTP/1.1 400")


# Clients that keep the server waiting.


def test_a_client_that_sends_nothing_is_disconnected(impatient: Lab) -> None:
    with socket.create_connection(("127.0.0.1", impatient.address.port)) as client:
        assert closes(client) >= SHORT / 2


def test_a_client_that_sends_its_request_byte_by_byte_is_disconnected(impatient: Lab) -> None:
    with socket.create_connection(("127.0.0.1", impatient.address.port)) as client, pytest.raises(OSError):
        for byte in b"GET / HTTP/1.1\r\nX-Padding: " + 500 * b"x":
            client.send(bytes([byte]))
            time.sleep(0.05)


def test_a_client_that_does_not_read_an_answer_is_disconnected(impatient: Lab) -> None:
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", impatient.address.port))
        host = f"127.0.0.1:{impatient.address.port}"
        client.sendall(f"GET /choices.json HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        closes(client)


def test_a_page_that_sends_no_command_is_disconnected(impatient: Lab) -> None:
    with impatient.page() as page:
        assert "first command within" in page.expect("error")["message"]
        with pytest.raises(ConnectionClosed) as closed:
            page.receive()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == session.POLICY


@pytest.mark.parametrize("dribble", [False, True], ids=["silent", "byte by byte"])
def test_a_page_that_does_not_answer_pings_is_disconnected(impatient: Lab, dribble: bool) -> None:
    client = RawClient(impatient)
    with closing(client.socket):
        client.send("begin", scenario=ENDLESS)
        client.send("play")
        wait(lambda: impatient.workers.sessions, "no session", 10)
        began = time.monotonic()
        rest = iter(RawClient.encoded(json.dumps({"do": "toml"}).encode().ljust(1000)))
        while impatient.workers.sessions:
            assert time.monotonic() - began < 20
            if dribble:
                try:
                    client.socket.send(bytes([next(rest)]))
                except OSError:
                    break
            time.sleep(0.05)
    wait(lambda: not impatient.workers.sessions, "the session is still open", 10)


def test_a_page_that_stops_reading_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALLED", SHORT)
    table = {"payoffs": np.random.default_rng(0).random((2, 64, 64)).tolist()}
    with running_lab() as running:
        client = RawClient(running)
        with closing(client.socket):
            wait(lambda: running.workers.sessions, "no session", 10)
            try:
                for _ in range(200):  # answers of 150 kB each, none of which is read
                    client.send("game", game=table)
            except OSError:
                pass
            wait(lambda: not running.workers.sessions, "the session is still open", 30)
