"""The threads that all pages of a process share, and how the pages share them.

A page takes turns. A turn plays rounds for a slice of time, and encodes a frame if one is due. Turns have a thread of
their own, and a page has at most one turn in the queue, so the pages are served in rotation. There is one such thread
per process: the compiled loop releases the GIL, but a frame does not, and with several threads the event loop would
wait for all of them after every message that it sends. More cores are used by further processes (see `processes`).
Slices and the intervals between frames grow with the number of pages, such that frames use a fixed share of one core.
Commands do not wait for the turns of other pages: they have separate threads, as do those kinds of work that may take
seconds.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from gamesim.lab.limits import PAGES
from gamesim.lab.processes import PAGE, Other

if TYPE_CHECKING:
    from gamesim.lab.session import Session

FRAME = 1 / 30  # seconds between two frames of a page, if there are few pages
NEAREST = 0.3  # seconds between two computations of the nearest equilibrium, if there are few pages
ROUNDS_SHARE = 0.2  # of one core, for the rounds of pages that play as fast as possible
FRAMES_SHARE = 0.5  # of one core
NEAREST_SHARE = 0.08  # of one core
SHORTEST_SLICE = 0.001  # seconds; shorter slices would be mostly overhead
SMOOTHING = 0.05  # weight of the latest cost in the mean


@cache
def cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads(count: int, name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, f"lab-{name}")


@dataclass
class Allotment:
    """How often a page gets one kind of work, such that all pages together use at most a share of one core."""

    shortest: float  # seconds between two for the same page, if there are few pages
    share: float
    cost: float = 0.0  # mean of one, in seconds

    def spend(self, seconds: float) -> None:
        """Account for one piece of work."""
        self.cost += SMOOTHING * (seconds - self.cost)

    def interval(self, pages: int) -> float:
        """Return the seconds between two for the same page, for this number of pages.

        >>> Allotment(shortest=0.1, share=0.5, cost=0.01).interval(pages=2)
        0.1
        >>> Allotment(shortest=0.1, share=0.5, cost=0.01).interval(pages=50)
        1.0
        """
        return max(self.shortest, pages * self.cost / self.share)


@dataclass
class Workers:
    """The threads and open pages of this process, what each page is allotted, and the further processes."""

    turns: ThreadPoolExecutor = field(default_factory=lambda: _threads(1, "turns"))
    commands: ThreadPoolExecutor = field(default_factory=lambda: _threads(2, "commands"))
    builds: ThreadPoolExecutor = field(default_factory=lambda: _threads(2, "builds"))  # one may be compiling
    programs: ThreadPoolExecutor = field(default_factory=lambda: _threads(1, "programs"))
    reports: ThreadPoolExecutor = field(default_factory=lambda: _threads(1, "reports"))
    number: int = 0  # of this process
    others: list[Other] = field(default_factory=list)
    sessions: dict[str, "Session"] = field(default_factory=dict)
    playing: int = 0  # number of pages
    asked_reports: int = 0
    frames: Allotment = field(default_factory=lambda: Allotment(FRAME, FRAMES_SHARE))
    nearest: Allotment = field(default_factory=lambda: Allotment(NEAREST, NEAREST_SHARE))

    def pages(self) -> int:
        """Return the number of open pages, of all processes."""
        return len(self.sessions) + sum(other.pages or 0 for other in self.others)

    def pass_on(self, transport: Any, data: bytes) -> bool:
        """Pass a connection of a page to the process with the fewest; return False if that is this process."""
        ready = [other for other in self.others if other.pages is not None]
        if not ready or not data.startswith(PAGE) or self.pages() >= PAGES:
            return False
        least = min(ready, key=lambda other: other.pages or 0)
        return (least.pages or 0) <= len(self.sessions) and least.take(transport.get_extra_info("socket"), data)

    def frame_interval(self) -> float:
        """Return the seconds between two frames of a page."""
        return self.frames.interval(self.playing)

    def nearest_interval(self) -> float:
        """Return the seconds between two computations of the nearest equilibrium of a page."""
        return self.nearest.interval(self.playing)

    def slice_seconds(self) -> float:
        """Return the length of a turn's rounds, such that every page has a turn per frame."""
        each = ROUNDS_SHARE * self.frame_interval() / max(1, self.playing)
        return min(FRAME, max(SHORTEST_SLICE, each))

    def close(self) -> None:
        """Stop the threads after their current task, and the further processes."""
        for pool in (self.turns, self.commands, self.builds, self.programs, self.reports):
            pool.shutdown(wait=False, cancel_futures=True)
        for other in self.others:
            other.leave()
        for other in self.others:
            other.end()
