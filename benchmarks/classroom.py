"""Load of a class: many simulated students on this machine, over real WebSockets.

    python benchmarks/classroom.py [students rounds seconds]   # 150 students, 200 rounds of 0.5 s, by default

All students choose at random moments of each round, some late. It prints, for each round, how long after its end it
was closed on every page, how long moves took to be acknowledged, and the server's memory by round.
"""

import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed


def memory(process: int) -> float:
    """Return the resident memory of a process in MB."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def processor_time(process: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


class Student:
    """A page that joins, and chooses at a random moment of every round."""

    def __init__(self, name: str, origin: str, code: str, seconds: float) -> None:
        self.name, self.origin, self.code, self.seconds = name, origin, code, seconds
        self.closed: dict[int, float] = {}
        self.taken: list[float] = []

    async def play(self, rounds: int) -> None:
        async with connect(self.origin.replace("http", "ws") + "/live", origin=self.origin) as page:  # type: ignore[arg-type]
            await page.send(json.dumps({"do": "join", "code": self.code, "name": self.name}))
            moving: set[asyncio.Task[None]] = set()
            seen, sent = 0, dict[int, float]()
            async for text in page:
                state: dict[str, Any] = json.loads(text)
                if state["is"] == "accepted":
                    self.taken.append(time.perf_counter() - sent[state["round"]])
                if state["is"] != "state":
                    continue
                if state["phase"] == "open" and state["round"] > seen:
                    seen = state["round"]
                    moving.add(asyncio.create_task(self._move(page, seen, sent)))
                if state["phase"] == "closed" and state["round"] not in self.closed:
                    self.closed[state["round"]] = time.time()
                    if state["round"] == rounds:
                        return

    async def _move(self, page: ClientConnection, round: int, sent: dict[int, float]) -> None:
        await asyncio.sleep(random.uniform(0, 1.1) * self.seconds)  # one in ten is late
        sent[round] = time.perf_counter()
        with suppress(ConnectionClosed):  # late in the last round
            await page.send(json.dumps({"do": "move", "round": round, "action": random.randrange(2)}))


async def teach(origin: str, secret: str, rounds: int, students: list[Student], ends: dict[int, float]) -> None:
    """Open every round when the previous one is closed on all pages."""
    async with connect(origin.replace("http", "ws") + "/live", origin=origin, max_size=None) as page:  # type: ignore[arg-type]
        await page.send(json.dumps({"do": "teach", "secret": secret}))
        round = 0
        async for text in page:
            state = json.loads(text)
            if state["is"] != "state":
                continue
            if round == 0 and len(state["students"]) == len(students):
                round = 1
                await page.send(json.dumps({"do": "command", "command": "open"}))
            elif state["phase"] == "open" and state["round"] == round:
                ends.setdefault(round, time.time() + state["left"])
            elif state["phase"] == "closed" and state["round"] == round:
                if round == rounds:
                    return
                round += 1
                await page.send(json.dumps({"do": "command", "command": "open"}))


async def run(count: int, rounds: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "gamesim", "class", "chicken", "--no-browser", "--port", "0"]
        options = ["--log", f"{folder}/room.sqlite", "--rounds", str(rounds), "--seconds", str(seconds)]
        server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        try:
            await measured(server, count, rounds, seconds)
        finally:
            server.kill()
            server.wait()


async def measured(server: "subprocess.Popen[str]", count: int, rounds: int, seconds: float) -> None:
    """Play all rounds and print what was measured."""
    text = ""
    while "is written to" not in text:
        text += server.stdout.readline()  # type: ignore[union-attr]
    link, code = re.search(r"(http://\S+)/teach#(\S+)", text), re.search(r"code (\w+)", text)
    assert link and code
    students = [Student(f"Student {k}", link[1], code[1], seconds) for k in range(count)]
    ends: dict[int, float] = {}
    used: list[float] = []

    async def watch() -> None:
        while True:
            used.append(memory(server.pid))
            await asyncio.sleep(1)

    watching, began = asyncio.create_task(watch()), processor_time(server.pid)
    await asyncio.gather(teach(link[1], link[2], rounds, students, ends), *(one.play(rounds) for one in students))
    watching.cancel()
    lags = [max(one.closed[k] for one in students) - ends[k] for k in ends]
    taken = sorted(value for one in students for value in one.taken)
    print(f"{count} students, {rounds} rounds of {seconds:g} s")
    print(
        f"closed on every page after the end of a round: median {statistics.median(lags):.2f} s, most {max(lags):.2f} s"
    )
    middle, slow = (1000 * taken[int(share * (len(taken) - 1))] for share in (0.5, 0.99))
    print(f"moves acknowledged: median {middle:.0f} ms, 99 % {slow:.0f} ms")
    third = len(used) // 3 or 1
    print(f"memory of the server: {used[third]:.0f} MB after a third, {used[-1]:.0f} MB at the end")
    print(f"processor time of the server: {processor_time(server.pid) - began:.1f} s")


if __name__ == "__main__":
    given = sys.argv[1:]
    asyncio.run(
        run(int(given[0]) if given else 150, int(given[1]) if given else 200, float(given[2]) if given else 0.5)
    )
