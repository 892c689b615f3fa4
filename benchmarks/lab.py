"""Load test of the lab: many pages that play at once and send commands, against a real server process.

    python benchmarks/lab.py [--pages 1 16 64] [--seconds 20] [--speed 1000] [--largest]
    python benchmarks/lab.py --browser [FOLDER ...] [--seconds 20]

Page k plays the k-th lesson (they repeat) with seed k, without end, at `--speed` rounds per second or as fast as
possible; with `--largest`, two runs side by side of the largest games that the lab accepts. It decodes every frame,
reports it as drawn, and sends a command about once per second: pause and play, step, rewind, restart, download the
scenario, preview a game. The time until its answer is the latency. The server is that of a class, with one process per
core. Clients share the machine with it; the CPU time of both is printed.

The benchmark fails if, with at most 64 pages, the server needs more than 400 MB, a page gets fewer than 5 frames per
second or plays no rounds, or the 99th percentile of the latency exceeds 0.5 s. Linux only, because memory and CPU time
come from /proc.

With `--browser`, Chromium opens the page, alternately of this checkout and of those in other folders, and plays chicken
as fast as possible: the medians of the time to the first paint, of the time until the page can play, and of the frames
drawn per second, for views that both have.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, process_time
from typing import Any
from urllib.parse import quote

import numpy as np
from rich.console import Console
from rich.table import Table as Printed
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

PAUSED, PLAYING = 0, 1
HEADER = 7
REWOUND = 100  # the round that a page goes back to
PAGES, MEMORY, FRAMES, LATENCY = 64, 400.0, 5.0, 0.5  # pages, MB, frames per second, seconds
SETTLE = 2.0  # seconds before the measurement
PATIENCE = 600.0  # seconds to wait for an answer before the benchmark fails; the server may have to compile first
LARGEST: list[dict[str, Any]] = [
    {"game": {"name": "uniform", "settings": {"actions": 64}}, "players": [{"learner": "hedge"}] * 2},
    {"game": {"name": "el-farol", "settings": {"players": 12}}, "players": [{"learner": "regret-matching"}] * 12},
]
COLUMNS = [
    *("pages", "opened s", "frames/s min", "median", "Mrounds/s", "command p50 ms", "p99", "max", "commands"),
    *("server CPU %", "client CPU %", "memory MB", "load average"),
]

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 3  # visits of each page
SHOWN = {
    "scenario": {"rounds": 10**9, "game": {"name": "chicken"}, "players": [{"learner": "hedge", "perturb": 0.5}] * 2},
    "speed": 61,  # as fast as possible
    "views": ["strategies", "tetrahedron", "regrets", "payoffs"],
}
COUNT = (  # counts the frames that the page reports as drawn
    "(() => { const { send } = WebSocket.prototype; window.drawn = 0; WebSocket.prototype.send = function (text) {"
    ' if (text.includes("drawn")) drawn += 1; send.call(this, text); }; })()'
)

Frame = list[tuple[int, float]]  # the status and the number of rounds of each run


class Page:
    """A client that acts like the page in a browser, and counts."""

    def __init__(self, connection: ClientConnection, scenario: dict[str, Any], seed: int, chosen: "Chosen") -> None:
        self.connection, self.speed = connection, chosen.speed
        self.scenario = {**scenario, "seed": seed, "rounds": 10**9}
        self.beside = self.scenario["players"] if chosen.largest else None
        self.random = random.Random(seed)
        self.shape: dict[str, Any] = {}
        self.status, self.rounds, self.frames, self.played = PAUSED, 0.0, 0, 0.0
        self.latencies: list[float] = []
        self._expected: tuple[Callable[[Any], bool], asyncio.Future[None]] | None = None
        self.receiver = asyncio.create_task(self._receive())

    async def _receive(self) -> None:
        """Decode all messages; report frames as drawn."""
        async for message in self.connection:
            if isinstance(message, bytes):
                await self.connection.send('{"do": "drawn"}')
                content: Any = self._decode(np.frombuffer(message, "<f4"))
                if content:
                    self.frames += 1
                    before = self.rounds
                    (self.status, self.rounds), *_ = content
                    self.played += max(0.0, self.rounds - before) * len(content)
            else:
                content = json.loads(message)
                if content["is"] == "error":
                    raise RuntimeError(content["message"])
                if content["is"] == "shape":
                    self.shape = content
            if self._expected is not None and self._expected[0](content):
                self._expected[1].set_result(None)
                self._expected = None

    def _decode(self, numbers: Any) -> Frame:
        """Return the statuses and rounds in a frame, or nothing if it belongs to an earlier shape."""
        if numbers[0] != self.shape.get("shape"):
            return []
        state, row = (sum(size for _, size in self.shape[name]) for name in ("fields", "row_fields"))
        actions = sum(map(len, self.shape["game"]["actions"]))
        found = []
        for _ in self.shape["runs"]:
            _, status, _, rows, _, _, steps = (int(one) for one in numbers[:HEADER])
            found.append((status, float(numbers[HEADER]) + float(numbers[HEADER + 1])))
            numbers = numbers[HEADER + state + rows * row + steps * actions :]
        if numbers.size:
            raise RuntimeError(f"a frame has {numbers.size} numbers too many")
        return found

    async def ask(self, answer: Callable[[Any], bool], **command: Any) -> None:
        """Send a command and store the time until a message that answers it."""
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._expected = answer, answered
        began = monotonic()
        await self.connection.send(json.dumps(command))
        await asyncio.wait([answered, self.receiver], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            await asyncio.wait_for(self.receiver, 0)  # raises what went wrong
            raise RuntimeError(f"the server closed the connection before it answered {command}")
        self.latencies.append(monotonic() - began)

    async def begin(self) -> None:
        await self.ask(_is("shape"), do="begin", scenario=self.scenario, beside=self.beside)

    async def play(self) -> None:
        await self.ask(_shows(PLAYING), do="play", speed=self.speed)

    async def pause(self) -> None:
        await self.ask(_shows(PAUSED), do="pause")

    async def step(self) -> None:
        await self.pause()
        after = int(self.rounds) + 1
        await self.ask(_shows(PAUSED, after), do="seek", round=after)
        await self.play()

    async def rewind(self) -> None:
        await self.ask(_shows(PAUSED), do="seek", round=REWOUND)
        await self.play()

    async def restart(self) -> None:
        await self.begin()
        await self.play()

    async def toggle(self) -> None:
        await self.pause()
        await self.play()

    async def save(self) -> None:
        await self.ask(_is("toml"), do="toml")

    async def preview(self) -> None:
        await self.ask(_is("game"), do="game", game=self.scenario["game"])

    async def use(self, until: float) -> None:
        """Send a random command about once per second."""
        while True:
            wait = self.random.uniform(0.5, 1.5)
            if monotonic() + wait > until:
                return
            await asyncio.sleep(wait)
            await self.random.choice([self.toggle, self.step, self.rewind, self.restart, self.save, self.preview])()


def _is(kind: str) -> Callable[[Any], bool]:
    return lambda content: isinstance(content, dict) and content["is"] == kind


def _shows(status: int, rounds: float = 0) -> Callable[[Any], bool]:
    def shows(content: Any) -> bool:
        return isinstance(content, list) and bool(content) and content[0][0] == status and content[0][1] >= rounds

    return shows


@dataclass
class Chosen:
    """The options of the benchmark."""

    pages: list[int]
    seconds: float
    speed: float | None
    largest: bool
    browser: list[Path] | None


@dataclass
class Server:
    """A lab in a separate process, of this checkout or of the one in a folder."""

    folder: Path = ROOT
    network: bool = False  # whether it uses several processes, as for a class
    process: "subprocess.Popen[str]" = field(init=False)
    address: str = field(init=False)

    def __enter__(self) -> "Server":
        command = [sys.executable, "-m", "gamesim", "lab", "--no-browser", "--port", "0", "--host", "127.0.0.1"]
        command += ["--allow-network"] if self.network else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[5].rstrip("/")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def choices(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.address}/choices.json") as answer:
            found: dict[str, Any] = json.loads(answer.read())
        return found

    def processes(self) -> list[Path]:
        """Return the folders in /proc of the server's processes."""
        first = Path(f"/proc/{self.process.pid}")
        others = (first / f"task/{self.process.pid}/children").read_text().split()
        return [first, *(Path(f"/proc/{number}") for number in others)]

    def cpu_seconds(self) -> float:
        times = [(one / "stat").read_text().rpartition(")")[2].split()[11:13] for one in self.processes()]
        return sum(int(time) for both in times for time in both) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Return the memory in use; pages that processes share are counted once."""
        found = [(one / "smaps_rollup").read_text().partition("Pss:")[2].split()[0] for one in self.processes()]
        return sum(map(int, found)) * 1024 / 1e6


@dataclass
class Result:
    """What one number of pages costs."""

    opened: float  # seconds until all pages play
    rates: list[float]  # frames per second of each page
    rounds: float  # per second, of all pages
    latencies: list[float]
    server_cpu: float  # cores
    client_cpu: float
    memory: float  # MB

    def row(self) -> list[str]:
        p50, p99, most = np.quantile(self.latencies, [0.5, 0.99, 1.0]) * 1000
        return [
            *(f"{len(self.rates)}", f"{self.opened:.1f}", f"{min(self.rates):.1f}", f"{np.median(self.rates):.1f}"),
            *(f"{self.rounds / 1e6:.2f}", f"{p50:.0f}", f"{p99:.0f}", f"{most:.0f}", f"{len(self.latencies)}"),
            *(f"{100 * self.server_cpu:.0f}", f"{100 * self.client_cpu:.0f}", f"{self.memory:.0f}"),
            f"{os.getloadavg()[0]:.1f}",
        ]

    @property
    def meets_targets(self) -> bool:
        late = float(np.quantile(self.latencies, 0.99))
        return len(self.rates) > PAGES or (self.memory <= MEMORY and min(self.rates) >= FRAMES and late <= LATENCY)


async def measure(server: Server, count: int, chosen: Chosen) -> Result:
    """Open pages, let all of them play and send commands, and measure."""
    async with AsyncExitStack() as stack:
        began = monotonic()
        pages = await open_pages(stack, server, count, chosen)
        await asyncio.gather(*(page.restart() for page in pages))
        opened = monotonic() - began
        await asyncio.sleep(SETTLE)
        for page in pages:
            page.frames, page.played, page.latencies = 0, 0.0, []
        began, server_cpu, client_cpu = monotonic(), server.cpu_seconds(), process_time()
        await asyncio.gather(*(page.use(began + chosen.seconds) for page in pages))
        took = monotonic() - began
        for page in pages:
            page.receiver.cancel()
            if not page.played:
                raise RuntimeError("a page has played no rounds")
        return Result(
            opened=opened,
            rates=[page.frames / took for page in pages],
            rounds=sum(page.played for page in pages) / took,
            latencies=[latency for page in pages for latency in page.latencies],
            server_cpu=(server.cpu_seconds() - server_cpu) / took,
            client_cpu=(process_time() - client_cpu) / took,
            memory=server.megabytes(),
        )


async def open_pages(stack: AsyncExitStack, server: Server, count: int, chosen: Chosen) -> list[Page]:
    scenarios = LARGEST if chosen.largest else [lesson["scenario"] for lesson in server.choices()["lessons"]]
    live, origin = server.address.replace("http", "ws", 1) + "/live", Origin(server.address)
    pages = []
    for k in range(count):
        connection = await stack.enter_async_context(connect(live, origin=origin, max_size=None, compression=None))
        pages.append(Page(connection, scenarios[k % len(scenarios)], k, chosen))
    return pages


def visit(server: Server, seconds: float) -> tuple[float, float, float]:
    """Return the seconds to the first paint, until the page can play, and the frames drawn per second."""
    from tests.chromium import Page as Browser

    browser = Browser()
    try:
        browser.resize(1366, 768)
        for _ in range(2):  # at the first visit, the server may have to compile
            browser.open("about:blank")
            browser.open(f"{server.address}/#{quote(json.dumps(SHOWN))}")
            began = browser.until("document.querySelector('#play')?.disabled === false && performance.now()", PATIENCE)
            browser.run(f"{COUNT}, document.querySelector('#play').click()")
            browser.until("drawn > 1", PATIENCE)
        paint = browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        count = f"new Promise((end) => {{ drawn = 0; setTimeout(() => end(drawn), {1000 * seconds}); }})"
        return paint / 1000, began / 1000, browser.run(count) / seconds
    finally:
        browser.close()


def measure_browser(folders: list[Path], seconds: float) -> Printed:
    """Open the pages of several checkouts in turn, and return the medians."""
    sys.path.insert(0, str(ROOT))
    folders = [ROOT, *folders]
    found: dict[Path, list[tuple[float, float, float]]] = {folder: [] for folder in folders}
    for _ in range(REPEATS):
        for folder in folders:
            with Server(folder) as server:
                found[folder].append(visit(server, seconds))
    printed = Printed("page of", "first paint s", "can play after s", "frames drawn/s")
    for folder in folders:
        paint, ready, frames = np.median(found[folder], axis=0)
        printed.add_row(folder.name, f"{paint:.2f}", f"{ready:.2f}", f"{frames:.1f}")
    return printed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--speed", type=float, help="rounds per second (default: as fast as possible)")
    parser.add_argument("--largest", action="store_true", help="two runs of the largest games on every page")
    parser.add_argument("--browser", type=Path, nargs="*", metavar="FOLDER", help="measure the page in Chromium")
    chosen = Chosen(**vars(parser.parse_args()))
    if chosen.browser is not None:
        Console(width=160).print(measure_browser([folder.resolve() for folder in chosen.browser], chosen.seconds))
        return 0
    printed = Printed(*COLUMNS)
    failed = False
    for count in chosen.pages:
        with Server(network=True) as server:
            result = asyncio.run(measure(server, count, chosen))
        printed.add_row(*result.row())
        failed |= not result.meets_targets
    Console(width=160).print(printed)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
