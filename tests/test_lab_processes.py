"""A lab of several processes: pages spread over them, downloads reach them, and none outlives the first."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gamesim.lab.limits import PAGES
from gamesim.user_learners import learners_in
from tests.chromium import wait
from tests.lab_server import Lab, running_lab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="connections cannot be passed on; the lab has one process"),
]

TOKEN = "open-sesame"
SCENARIO: dict[str, Any] = {"rounds": 1000, "game": {"name": "chicken"}, "players": [{"learner": "hedge"}] * 2}
SERVE = (  # two processes, whatever the machine has
    "from gamesim.lab import server; server.cores = lambda: 2\n"
    "if __name__ == '__main__': server.serve(None, '127.0.0.1', 0, allow_network=True, browser=False)"
)


LEARNER = """
class Stubborn:
    def __init__(self, actions):
        self.strategy = [1.0] + [0.0] * (actions - 1)

    def play(self):
        return self.strategy

    def observe(self, loss):
        pass
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    (tmp_path / "own.py").write_text(LEARNER)
    with running_lab(TOKEN, processes=2, own=learners_in(tmp_path / "own.py")) as running:
        wait(lambda: running.workers.others[0].pages is not None, "the second process does not start", 120)
        yield running


def get(lab: Lab, path: str) -> tuple[int, dict[str, str], bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", lab.address.port, timeout=120)) as connection:
        connection.request("GET", f"{path}?token={TOKEN}")
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def test_pages_spread_over_processes_which_play_and_answer_alike(lab: Lab) -> None:
    last = set()
    with ExitStack() as stack:
        pages = [stack.enter_context(lab.page()) for _ in range(4)]
        assert sorted(page.session.partition(".")[0] for page in pages) == ["0", "0", "1", "1"]
        for page in pages:
            page.begin({**SCENARIO, "players": [{"learner": "hedge", "perturb": 0.5}] * 2})
            page.send("seek", round=1000)
            while (state := page.states()[0])["rounds"] < 1000:
                pass
            last.add((state["gap_cce"], *state["strategy"]))
            status, headers, body = get(lab, f"/runs/{page.session}/0/record.zip")
            assert (status, headers["content-type"], body[:2]) == (200, "application/zip", b"PK")
            assert headers["content-disposition"] == 'attachment; filename="chicken-0.zip"'
            assert get(lab, f"/runs/{page.session}/1/record.zip")[0] == 404
    assert len(last) == 1
    assert get(lab, "/runs/1.unknown/0/report.html")[0] == 404
    wait(lambda: lab.workers.pages() == 0, "closed pages are counted", 10)


def test_every_process_plays_the_learners_of_allowed_files(lab: Lab, tmp_path: Path) -> None:
    (reference,) = learners_in(tmp_path / "own.py")
    with lab.page() as first, lab.page() as second:
        assert first.session[0] != second.session[0]
        for page in (first, second):
            page.begin({**SCENARIO, "players": [{"learner": reference}] * 2})
            page.send("seek", round=5)
            while (state := page.states()[0])["rounds"] < 5:
                pass
            assert list(state["strategy"]) == [1, 0, 1, 0]


def test_a_process_that_ends_costs_its_pages_and_nothing_else(lab: Lab) -> None:
    (other,) = lab.workers.others
    with lab.page() as first, lab.page() as second:
        here, there = sorted([first, second], key=lambda page: str(page.session))
        other._process.kill()
        with pytest.raises(ConnectionClosed):
            there.receive()
        wait(lambda: other.pages is None, "its end is not noticed", 10)
        status, _, body = get(lab, f"/runs/{there.session}/0/report.html")
        assert (status, body) == (404, b"the process that played this run has ended; start the run again\n")
        with lab.page() as again:
            assert again.session.startswith("0.")
            for page in (again, here):
                page.begin(SCENARIO)
                page.send("seek", round=3)
                while page.states()[0]["rounds"] < 3:
                    pass
    wait(lambda: not Path(f"/proc/{other._process.pid}").exists(), "it is left as a zombie", 10)


def test_every_process_asks_for_the_token_and_the_limit_of_pages_holds_for_all(lab: Lab) -> None:
    for _ in range(4):
        with pytest.raises((InvalidStatus, ConnectionClosed)), lab.connection("wrong") as connection:
            connection.recv()
    wait(lambda: lab.workers.pages() == 0, "refused connections are counted as pages", 10)
    lab.workers.others[0].pages = PAGES  # as if they were open
    with lab.connection(TOKEN) as connection:
        assert f"at most {PAGES} pages" in str(connection.recv())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_first(how: signal.Signals) -> None:
    command, pipe = [sys.executable, "-c", SERVE], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("The lab is running at http://127.0.0.1:")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert ["spawn_main" in Path(f"/proc/{one}/cmdline").read_text() for one in children].count(True) == 1
        send = os.killpg if how is signal.SIGINT else os.kill  # the terminal interrupts all processes
        send(process.pid, how)
        process.wait(20)
        wait(lambda: not any(Path(f"/proc/{one}").exists() for one in children), "a process is left", 20)
        assert process.stderr.read() == ""
