"""The server of a class: a session through the protocol, everything forbidden, restarts, and exports."""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

import gamesim
import gamesim.scenario
from gamesim.classroom import results, server
from gamesim.classroom.log import Log
from gamesim.classroom.room import Room, Settings
from gamesim.cli.main import main
from tests.chromium import wait
from tests.classroom_server import Client, running_class

pytestmark = pytest.mark.slow


def fetched(origin: Any, path: Any, secret: Any = None) -> Any:
    request = urllib.request.Request(origin + path, headers={"authorization": f"Bearer {secret}"} if secret else {})
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


@pytest.fixture
def room(tmp_path: Any) -> Any:
    with running_class(tmp_path / "room.sqlite") as running:
        yield running


def test_a_session_and_its_export(room: Any, tmp_path: Any) -> None:
    with room.client() as teacher, room.client() as ada, room.client() as bob:
        assert teacher.ask(do="teach", secret=room.teacher)["is"] == "teacher"
        for page, name in ((ada, "Ada"), (bob, "=Bob")):
            assert page.ask(do="join", code=room.session.code.lower(), name=name)["is"] == "joined"
        for round, moves in enumerate([(0, 1), (1, 1), (1, 0)], 1):
            assert teacher.ask(do="command", command="open")["is"] == "done"
            for page, action in zip((ada, bob), moves, strict=True):
                page.until(round=round, phase="open")
                assert page.ask(do="move", round=round, action=action)["is"] == "accepted"
            state = ada.until(round=round, phase="closed")
            assert state["results"] is None
        assert state["last"]["others"] == [["Column", "chicken out"]] and state["score"] == 9
        assert teacher.ask(do="command", command="reveal")["is"] == "done"
        assert ada.until(revealed=True)["results"]["swap"] == pytest.approx(1 / 3)
        seen = teacher.until(revealed=True)
        while len((seen.get("measured") or {"choices": []})["choices"]) < 3:
            teacher._received()
        assert seen["measured"]["state"]["joint"] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])
    text = fetched(room.origin, "/export/plays.csv", room.teacher)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 6 and rows[1]["student"] == "'=Bob" and rows[0]["chosen_by"] == "student"
    (tmp_path / "plays.csv").write_text(text)
    again: Any
    record: Any
    again, record = gamesim.observed("chicken", tmp_path / "plays.csv", pool=True), results.record_of(room.session.room)
    assert (again.joint == record.joint).all() and (again.regret("swap") == record.regret("swap")).all()
    for path in ("/export/plays.csv", "/export/report.html"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            fetched(room.origin, path, "guess")


def test_forty_students_play_as_one_population(tmp_path: Any, capsys: Any) -> None:
    """El Farol without a payoff table: forty students and, in the other seats, learners that draw actions."""
    settings = "settings = { players = 43, capacity = 25 }"
    (tmp_path / "bar.toml").write_text(
        f'rounds = 2\n[game]\nname = "el-farol-crowd"\n{settings}\n[everyone]\nlearner = "hedge"\n'
    )
    game = gamesim.scenario.read(tmp_path / "bar.toml").played_game
    with running_class(tmp_path / "room.sqlite", game, matching="population") as room, ExitStack() as pages:
        teacher, *students = (pages.enter_context(room.client()) for _ in range(41))
        teacher.ask(do="teach", secret=room.teacher)
        for k, one in enumerate(students):
            assert one.ask(do="join", code=room.session.code, name=f"Student {k}")["is"] == "joined"
        for round in (1, 2):
            assert teacher.ask(do="command", command="open")["is"] == "done"
            for k, one in enumerate(students):
                one.until(round=round, phase="open")
                assert one.ask(do="move", round=round, action=int(k < 10 * round))["is"] == "accepted"
            states = [one.until(round=round, phase="closed") for one in students]
            actions = room.session.room.played[-1].actions[0]
            pays = 1 if sum(actions) <= 25 else -1
            assert [one["last"]["payoff"] for one in states] == pytest.approx(np.array(actions[:40]) * pays)
            assert dict(states[0]["last"]["counts"])["go"] == sum(actions)
        teacher.ask(do="command", command="reveal")
        assert students[0].until(revealed=True)["results"]["rounds"] == 2
        measured = teacher.until(revealed=True)["measured"]
        text = fetched(room.origin, "/export/plays.csv", room.teacher)
        assert "el-farol-crowd" in fetched(room.origin, "/export/report.html", room.teacher)
        record: Any = results.record_of(room.session.room)
    assert measured["state"]["joint"] is None and len(measured["state"]["average"]) == 2 * 43
    assert measured["state"]["gap_ce"] == pytest.approx(float(record.gap("ce")))
    (tmp_path / "plays.csv").write_text(text)
    assert (gamesim.observed(game, tmp_path / "plays.csv").regret("swap") == record.regret("swap")).all()
    command = ["measure", str(tmp_path / "plays.csv"), "--game", str(tmp_path / "bar.toml"), "--pool"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    assert "el-farol-crowd" in capsys.readouterr().out


def test_students_cannot_do_what_is_forbidden(room: Any) -> None:
    """Each attempt is refused with a reason, and changes nothing."""
    with room.client() as teacher, room.client() as ada, room.client() as bob, room.client() as stranger:
        teacher.ask(do="teach", secret=room.teacher)
        for page, name in ((ada, "Ada"), (bob, "Bob")):
            page.ask(do="join", code=room.session.code, name=name)
        teacher.ask(do="command", command="open")
        ada.until(phase="open")
        assert ada.ask(do="move", round=1, action=1)["is"] == "accepted"
        attempts: list[tuple[Any, dict[str, Any], str]] = [
            (ada, {"do": "move", "round": 1, "action": 0}, "already"),
            (ada, {"do": "move", "round": 1, "action": 0, "student": 1}, "already"),  # not for others
            (bob, {"do": "move", "round": 0, "action": 0}, "over"),
            (bob, {"do": "move", "round": 1, "action": 9}, "unknown action"),
            (bob, {"do": "command", "command": "close"}, "may not"),
            (bob, {"do": "teach", "secret": "x"}, "joined already"),
            (stranger, {"do": "move", "round": 1, "action": 0}, "may not"),
            (stranger, {"do": "teach", "secret": "guess"}, "not a link"),
            (stranger, {"do": "back", "secret": "guess"}, "not in this room"),
            (stranger, {"do": "join", "code": "WRONG", "name": "Eve"}, "no room"),
            (stranger, {"do": "join", "code": room.session.code, "name": "ada"}, "taken"),
            (stranger, {"do": "join", "code": room.session.code, "name": ["x"]}, "text"),
        ]
        for page, message, why in attempts:
            answer = page.ask(**message)
            assert answer["is"] == "refused" and why in answer["why"], message
        shown = json.dumps(bob.until(phase="open"))
        assert '"moved": null' in shown and "secret" not in shown  # Ada's move is not on Bob's page
        with pytest.raises(TimeoutError):
            bob.connection.recv(timeout=0.3)  # not even that she has moved
        assert room.session.room.moves == {0: 1}
        assert bob.ask(do="move", round=1, action=0, student=0)["is"] == "accepted"  # a move is always one's own
        bob.until(phase="closed")
        assert room.session.room.played[0].actions.tolist() == [[1, 0]]
        late = bob.ask(do="move", round=1, action=1)
        assert late["is"] == "refused" and "over" in late["why"]


def test_a_page_that_floods_is_disconnected(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is a student who floods, reconnects and floods again."""
    monkeypatch.setattr(server, "RATE", 0.0)  # a slow disconnection earns no new allowance
    with room.client() as page:
        secret = page.ask(do="join", code=room.session.code, name="Ada")["secret"]
        with pytest.raises(ConnectionClosed, match="too many"):
            for _ in range(60):
                page.connection.send("{}")
            while True:
                page.connection.recv(timeout=20)
    with room.client() as page, pytest.raises(ConnectionClosed, match="too many"):
        page.ask(do="back", secret=secret)
        for _ in range(10):
            page.connection.send("{}")
        for _ in range(30):
            page.connection.recv(timeout=20)


def test_the_log_has_names_moves_and_times_and_nothing_else(room: Any) -> None:
    with room.client() as teacher, room.client() as ada:
        teacher.ask(do="teach", secret=room.teacher)
        ada.ask(do="join", code=room.session.code, name="Ada")
        teacher.ask(do="command", command="open")
        ada.until(phase="open")
        ada.ask(do="move", round=1, action=0)
        ada.until(phase="closed")
        teacher.ask(do="command", command="end")
    kept = {one["event"]: set(one) - {"event"} for one in room.session._log}
    assert kept.pop("created") >= {"code", "matching", "rounds", "seconds", "learner", "seed"}
    assert kept == {
        "teacher": {"secret"},  # hashes of secrets
        "joined": {"name", "secret"},
        "opened": {"round", "deadline", "students"},
        "moved": {"student", "round", "action"},
        "closed": {"round", "actions", "by_learner"},
        "ended": set(),
    }


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"do": 1}', "[" * 400, "x" * 501, '{"do": "join"}', '{"do": "\\ud800"}']
)
def test_strange_messages_are_refused(room: Any, text: Any) -> None:
    with room.client() as page:
        page.connection.send(text)
        assert page.answer()["is"] == "refused"


def test_foreign_origins_and_hosts_are_refused(room: Any) -> None:
    with (
        pytest.raises(Exception, match="403"),
        connect(f"ws://127.0.0.1:{room.address.port}/live", origin=Origin("http://evil")),
    ):
        pass
    request = urllib.request.Request(room.origin, headers={"host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request)


def test_a_move_that_cannot_be_written_is_not_acknowledged(room: Any, monkeypatch: Any) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with room.client() as teacher, room.client() as ada:
        teacher.ask(do="teach", secret=room.teacher)
        ada.ask(do="join", code=room.session.code, name="Ada")
        teacher.ask(do="command", command="open")
        ada.until(phase="open")
        monkeypatch.setattr(room.session._log, "append", full)
        for answer in (ada.ask(do="move", round=1, action=0), teacher.ask(do="command", command="close")):
            assert answer["is"] == "refused" and "disk is full; free disk space" in answer["why"]
        assert ada.state["moved"] is None


def test_a_student_comes_back_to_the_seat(room: Any) -> None:
    with room.client() as ada:
        secret = ada.ask(do="join", code=room.session.code, name="Ada")["secret"]
    with room.client() as again:
        assert again.ask(do="back", secret=secret)["seat"]["name"] == "Ada"
    assert len(room.session.room.students) == 1
    assert secret not in room.session._log.path.read_bytes().decode("latin-1")


def test_rounds_end_when_time_is_up_and_absent_students_are_replaced(tmp_path: Any) -> None:
    with running_class(tmp_path / "room.sqlite", seconds=0.6) as room, room.client() as teacher, room.client() as ada:
        teacher.ask(do="teach", secret=room.teacher)
        ada.ask(do="join", code=room.session.code, name="Ada")
        teacher.ask(do="command", command="automatic", value=False)
        teacher.ask(do="command", command="open")
        assert ada.until(phase="closed")["last"]["absent"]
        answer = ada.ask(do="move", round=1, action=0)
        assert answer["is"] == "refused" and "over" in answer["why"]


def start(log: Any, port: Any = 0) -> Any:
    command = [
        sys.executable,
        "-m",
        "gamesim",
        "class",
        "chicken",
        "--log",
        str(log),
        "--no-browser",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(
        [*command, "--rounds", "100000", "--learner", "uniform"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    text = ""
    while "is written to" not in text:
        line = process.stdout.readline()
        assert line, f"the class ended: {text}"
        text += line
    found = re.search(r"(http://127.0.0.1:(\d+))/teach#(\S+)", text)
    code = re.search(r"code (\w+)", text)
    assert found and code
    return process, found[1], int(found[2]), found[3], code[1]


class Player:
    """A student or the teacher, played by a thread until the connection breaks or the rounds are over.

    A move is acknowledged if the server has accepted it, or if a page that reconnects shows it.
    """

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.secret = name, ""
        self.random = np.random.default_rng(seed)
        self.acknowledged = dict[int, int]()  # actions by round

    def play(self, origin: str, code: str, teacher: str, rounds: int) -> None:
        with suppress(ConnectionClosed, OSError), connect(f"ws{origin[4:]}/live", origin=Origin(origin)) as connection:
            self._play(Client(connection), code, teacher, rounds)

    def _play(self, page: Client, code: str, teacher: str, rounds: int) -> None:
        if self.name == "teacher":
            assert page.ask(do="teach", secret=teacher)["is"] == "teacher"
            while page.state.get("round", 0) < rounds or page.state["phase"] == "open":
                if page.state.get("phase") in ("lobby", "closed") and len(page.state["students"]) == 2:
                    page.ask(do="command", command="open")
                page._received()
            return
        if self.secret:
            joined = page.ask(do="back", secret=self.secret)
        else:
            joined = page.ask(do="join", code=code, name=self.name)
            self.secret = joined["secret"]
        actions = joined["seat"]["actions"]
        while page.until(seated=True)["round"] < rounds or page.state["phase"] == "open":
            state = page.state
            if (last := state["last"]) is not None and not last["absent"]:
                self.acknowledged.setdefault(last["round"], actions.index(last["mine"]))
            if state["phase"] == "open" and state["moved"] is not None:
                self.acknowledged[state["round"]] = state["moved"]
            elif state["phase"] == "open":
                action = int(self.random.integers(2))
                if page.ask(do="move", round=state["round"], action=action)["is"] == "accepted":
                    self.acknowledged[state["round"]] = action
            page._received()


KILLS = int(os.environ.get("GAMESIM_KILLS", "2"))


def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Any) -> None:
    """Two students play through kills at random moments; the log has each acknowledged move once, and no other."""
    log, random = tmp_path / "room.sqlite", np.random.default_rng(1)
    players = [Player(name, seed) for seed, name in enumerate(("teacher", "Ada", "Bob"))]
    rounds = 0

    def counted(beyond: int = -1) -> int:
        found = sum(len(one.acknowledged) for one in players)
        return found if found > beyond else 0

    for kill in range(KILLS + 1):
        process, origin, _, teacher, code = start(log)
        rounds, before = rounds + (1000 if kill < KILLS else 3), counted()
        given = (origin, code, teacher, rounds)
        threads = [threading.Thread(target=one.play, args=given) for one in players]
        for thread in threads:
            thread.start()
        if kill < KILLS:
            wait(partial(counted, before), "no move was acknowledged", 60)
            time.sleep(random.random())
            process.kill()
        for thread in threads:
            thread.join()
        process.kill()
        process.wait()
        process.stdout.close()
        rounds = max(players[1].acknowledged, default=0)
    kept = Log(log)
    events = list(kept)
    kept.close()
    moved = [(one["student"], one["round"], one["action"]) for one in events if one["event"] == "moved"]
    names = [one["name"] for one in events if one["event"] == "joined"]
    assert sorted(names) == ["Ada", "Bob"]
    acknowledged = {(names.index(one.name), *move) for one in players[1:] for move in one.acknowledged.items()}
    assert len(moved) == len(set(moved)) and set(moved) == acknowledged
    again = Room(gamesim.games.make("chicken"), Settings("groups", 100000, 0.0, "uniform", 0))
    for event in events:
        if event["event"] not in ("created", "teacher"):
            again.apply(event)
    assert len(again.students) == 2 and len(again.played) > KILLS
    print(f"{KILLS} kills, {len(moved)} moves in {len(again.played)} rounds: the log has each acknowledged move once")


def test_static_files_are_complete() -> None:
    folder = Path(gamesim.__file__).parent / "classroom" / "static"
    assert {one.name for one in folder.iterdir()} >= {
        "student.html",
        "student.js",
        "teacher.html",
        "teacher.js",
        "class.css",
    }
