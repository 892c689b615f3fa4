"""The pages of a class in Chromium: students and a teacher, a reload and a restart in mid-round, and playing alone."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import PROGRAM, Page, wait
from tests.classroom_server import Class, running_class

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
PICTURES = os.environ.get("GAMESIM_PICTURES")  # a folder to which the screens are written, to be looked at


@pytest.fixture(scope="module")
def browsers() -> Iterator[list[Page]]:
    """Three browsers, because a student is known by what a browser stores."""
    pages = [Page() for _ in range(3)]
    yield pages
    for page in pages:
        page.close()


def take(page: Page, name: str, *, full: bool = False) -> None:
    if PICTURES:
        page.picture(Path(PICTURES) / f"{name}.png", full=full)


def press(page: Page, words: str) -> None:
    button = f"[...document.querySelectorAll('button')].find((one) => one.textContent === {words!r})"
    page.until(f"!!{button}")  # a page that has just reconnected draws its buttons again
    page.run(f"{button}.click()")


def touch(page: Page, selector: str) -> None:
    x, y = page.run(
        f"(() => {{ const {{ x, y, width, height }} = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [x + width / 2, y + height / 2]; })()"
    )
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def shows(page: Page, words: str) -> Any:
    return page.until(f"document.body.innerText.includes({words!r})")


def fits(page: Page) -> Any:
    return page.run("document.documentElement.scrollWidth <= innerWidth")


def join(page: Page, room: Class, name: str, width: int = 390) -> None:
    page.resize(width, 844)
    page.open(f"{room.origin}/?token={room.session.code}")
    page.run("localStorage.clear()")
    page.open(f"{room.origin}/?token={room.session.code}")
    page.until("!!document.querySelector('input[name=name]')")
    page.type("input[name=name]", name)
    press(page, "Join")
    shows(page, "You are in")
    assert fits(page)


def open_teacher(page: Page, room: Class) -> None:
    page.resize(1366, 768)
    page.open("about:blank")
    page.open(f"{room.origin}/teach#{room.teacher}")
    shows(page, "Waiting for the first student")


def choose(page: Page, round: int, action: int) -> None:
    shows(page, f"Round {round} of")
    page.until("document.querySelectorAll('.choices button:not(:disabled)').length > 1")
    page.run(f"document.querySelectorAll('.choices button')[{action}].click()")


# What a student must not do, by a part of the reason for which it is refused.
FORBIDDEN: dict[str, dict[str, Any]] = {
    "chosen already": {"do": "move", "round": 1, "action": 0},
    "this round is over": {"do": "move", "round": 2, "action": 0},
    "may not do that": {"do": "command", "command": "reveal"},
    "joined already": {"do": "teach", "secret": "guess"},
    "join the room": {"do": "act"},
}
# Attempts in the name of the page, on another connection with its secret.
ATTEMPTS = """async (messages) => {
  const socket = new WebSocket(`ws://${location.host}/live`);
  const answers = [];
  const answered = () => new Promise((done) => (socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.is !== "state") done(message);
  }));
  await new Promise((done) => (socket.onopen = done));
  const send = async (text) => (socket.send(text), await answered());
  await send(JSON.stringify({ do: "back", secret: localStorage.getItem(`gamesim-class-${location.host}`) }));
  for (const one of messages) answers.push(await send(JSON.stringify(one)));
  socket.close();
  return answers;
}"""


def choose_device(teacher: Page, room: Class) -> None:
    """Choose distributions in the lab's view, with a mistake, and set the time per round."""
    press(teacher, "Choose a device")
    teacher.until("document.querySelectorAll('.device-editor input').length === 4")
    teacher.type(".device-editor input", "2")
    assert teacher.run("document.querySelector('.device-editor input').hasAttribute('aria-invalid')")
    teacher.choose(".device-editor select", "uniform")
    shows(teacher, "not a correlated equilibrium. It is used")
    take(teacher, "teacher-device", full=True)
    press(teacher, "Recommend from this one")
    wait(lambda: room.session.room.device == (0.25,) * 4, "the device was not set", 20)
    teacher.choose(".device-editor select", "vertex 1")
    press(teacher, "Recommend from this one")
    wait(lambda: room.session.room.device != (0.25,) * 4, "the device was not set", 20)
    press(teacher, "Hide the device")
    set_seconds(teacher, room)


def _has_seconds(room: Class, seconds: float) -> bool:
    return room.session.room.seconds == seconds


def set_seconds(teacher: Page, room: Class) -> None:
    for typed, seconds in (("120", 120), ("", 0)):
        teacher.type("input.seconds", typed)
        wait(partial(_has_seconds, room, seconds), "the seconds were not set", 20)


def attempt_what_is_forbidden(page: Page) -> None:
    answers = page.run(f"({ATTEMPTS})({json.dumps(list(FORBIDDEN.values()))})")
    for why, answer in zip(FORBIDDEN, answers, strict=True):
        assert answer["is"] == "refused" and why in answer["why"], answer


def test_two_students_and_a_teacher(browsers: list[Page], tmp_path: Path) -> None:
    """A whole session, with a student who reloads in mid-round and a server that is started again."""
    teacher, ada, bob = browsers
    log = tmp_path / "room.sqlite"
    device = (0.0, 0.5, 0.5, 0.0)
    with ExitStack() as stack:
        room = stack.enter_context(running_class(log, rounds=3, device=device))
        port = room.address.port
        open_teacher(teacher, room)
        assert room.teacher not in teacher.run("location.href")  # the link is not on the projector
        for page, name in ((ada, "Ada <b>bold</b>"), (bob, "Bob")):
            join(page, room, name)
        shows(teacher, "Ada <b>bold</b>")
        take(teacher, "teacher-lobby")
        choose_device(teacher, room)
        room.session.room.device = device  # always different recommendations
        press(teacher, "Start")
        shows(ada, "You are advised to play")
        take(ada, "student-advice")
        advice = [page.run("document.querySelector('.advice strong').textContent") for page in (ada, bob)]
        assert sorted(advice) == ["chicken out", "dare"]
        choose(ada, 1, 1)
        shows(ada, "Your choice counts")
        attempt_what_is_forbidden(ada)
        assert room.session.room.moves == {0: 1}
        ada.open(f"{room.origin}/?token={room.session.code}")  # a reload
        shows(ada, "Your choice counts")
        assert ada.run("document.querySelectorAll('.choices button[aria-pressed=true]').length") == 1
        assert not bob.run("document.body.innerText.includes('Ada')")  # nobody's moves or names before the end
    shows(bob, "The connection was lost")
    with running_class(log, rounds=3, device=device, port=port) as room:
        shows(ada, "Your choice counts")  # the pages reconnect, and nothing is lost
        choose(bob, 1, 0)
        shows(ada, "This round paid")
        take(ada, "student-closed")
        shows(teacher, "Round 1 of 3 is over")
        press(teacher, "Next round")
        choose(ada, 2, 0)
        shows(teacher, "1 of 2 have chosen")
        press(teacher, "Close round")  # Bob sleeps
        shows(bob, "You did not choose in time")
        press(teacher, "Reveal results")
        shows(ada, "swap regret")
        take(ada, "student-results", full=True)
        assert fits(ada)
        shows(teacher, "Were recommendations followed?")
        for width, height in ((1366, 768), (1920, 1080)):
            teacher.resize(width, height)
            assert fits(teacher)
            take(teacher, f"teacher-{width}", full=True)
        press(teacher, "End")
        shows(bob, "The session has ended")
    assert all("WebSocket" in one for page in browsers for one in page.errors)  # of the server that was stopped


def test_a_student_plays_alone(browsers: list[Page], tmp_path: Path) -> None:
    """By keyboard, mouse and touch, without a teacher; at the end there are the regrets of both, and the replay."""
    _, page, _ = browsers
    with running_class(
        tmp_path / "play.sqlite", matching="learner", rounds=3, learner="hedge", alone=True, role=1
    ) as room:
        page.resize(390, 844)
        page.open(room.origin)
        page.run("localStorage.clear()")
        page.open(f"{room.origin}/?token={room.session.code}&name=You")
        for round in (1, 2, 3):
            shows(page, f"Round {round} of 3")
            page.until("document.querySelectorAll('.choices button:not(:disabled)').length > 1")
            if round == 1:
                page.key("2")
            elif round == 2:
                page.click(".choices button:nth-child(2)")
            else:
                touch(page, ".choices button:nth-child(2)")
        shows(page, "The session has ended")
        shows(page, "Row (hedge)")
        shows(page, "Round by round")
        take(page, "alone-results", full=True)
        assert fits(page)
    assert [one.actions[0][1] for one in room.session.room.played] == [1, 1, 1]
