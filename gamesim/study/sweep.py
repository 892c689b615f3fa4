"""The engine of a sweep: it hands a study's points to an executor, and writes down what comes back.

It speaks `concurrent.futures` only: on one machine a pool of processes, on a cluster the executor of dask.distributed.
Short points travel together, so that handing them over costs little; a task that is lost with its worker is handed out
again, and a point that keeps taking its worker with it is written down as failed.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any

from gamesim.errors import InputError
from gamesim.study import worker
from gamesim.study.store import Store
from gamesim.study.worker import Job, Outcome

TASK_SECONDS = 0.5  # that the points of one task take together, about
TASK_POINTS = 64  # at most: what comes back fits into a pipe at once, so no kill can cut it in two
LOST_TOGETHER, LOST_ALONE = 3, 3  # times that a task is lost before its points run alone, and then fail
REOPENED = 50  # times in a row that a pool is opened again before the sweep gives up
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"), "1")

Task = tuple[Job, ...]


@dataclass
class Pool:
    """An executor, how many tasks it works on at once, and what its futures raise when a worker is lost."""

    executor: Executor
    width: int
    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)
    close: Callable[[], object] = field(default=lambda: None)


Open = Callable[[], Pool]
Watch = Callable[[Sequence[Outcome]], object]


def sweep(store: Store, measures: Sequence[str], open_pool: Open, watch: Watch = lambda _: None) -> None:
    """Run every point that the store has to do; `watch` sees outcomes once they are written, several times a second."""
    _Sweep(store, measures, open_pool, watch).run()


class _Sweep:
    """One sweep: the tasks to come, those in flight, and those that were lost with a worker."""

    def __init__(self, store: Store, measures: Sequence[str], open_pool: Open, watch: Watch) -> None:
        self._store, self._measures, self._open_pool, self._watch = store, list(measures), open_pool, watch
        self._jobs = store.todo()
        self._next = next(self._jobs, None)
        self._again: deque[Task] = deque()
        self._alone: deque[Task] = deque()
        self._losses: dict[Task, int] = {}
        self._flying: dict[Future[list[Outcome]], Task] = {}
        self._seconds: dict[str, float] = {}  # of a point, by its scenario's kind
        self._version = version("gamesim")
        self._reopenings = 0  # of the pool since anything came back

    def run(self) -> None:
        if self._next is None:
            return
        pool = self._open_pool()
        try:
            while True:
                try:
                    self._submit(pool)
                    if not self._flying:
                        return
                    done, _ = wait(self._flying, timeout=0.25, return_when=FIRST_COMPLETED)
                    broken = [self._take(future, pool) for future in done]
                    if not done:
                        self._watch(())
                except (BrokenExecutor, EOFError, ConnectionError):  # the last two where what starts workers was lost
                    broken = [True]
                if any(broken):
                    pool = self._reopened(pool)
        finally:
            pool.close()

    def _reopened(self, pool: Pool) -> Pool:
        """Take what there still is of a broken pool, and return a new one."""
        done, lost = wait(self._flying, timeout=10)
        for future in done:
            self._take(future, pool)
        for future in lost:
            self._lose(self._flying.pop(future))
        pool.close()
        self._reopenings += 1
        if self._reopenings > REOPENED:
            raise InputError("no worker stays alive: what was finished is kept; look for what ends them, then go on")
        return self._open_pool()

    def _submit(self, pool: Pool) -> None:
        while len(self._flying) < 2 * pool.width:
            if self._again:
                task = self._again[0]
            elif self._next is not None:
                task = self._new_task()
                self._again.append(task)  # until it is handed over
            elif self._alone and not self._flying:
                task = self._alone[0]
                self._fly(pool, task)
                self._alone.popleft()
                return
            else:
                return
            self._fly(pool, task)
            self._again.popleft()

    def _fly(self, pool: Pool, task: Task) -> None:
        future = pool.executor.submit(worker.run, task, self._measures, self._version)
        self._flying[future] = task

    def _new_task(self) -> Task:
        """Return the next points, as many as take about the time of a task; the first of its kind goes alone."""
        task: list[Job] = []
        seconds = 0.0
        while self._next is not None and len(task) < TASK_POINTS:
            each = self._seconds.get(_kind(self._next), TASK_SECONDS)
            if task and seconds + each > TASK_SECONDS:
                break
            task.append(self._next)
            seconds += each
            self._next = next(self._jobs, None)
        return tuple(task)

    def _take(self, future: Future[list[Outcome]], pool: Pool) -> bool:
        """Write down what came of a task, or put it back if it was lost; say whether the pool is broken."""
        task = self._flying.pop(future)
        try:
            outcomes = future.result()
        except pool.lost as error:
            self._lose(task)
            return isinstance(error, BrokenExecutor)
        except (ImportError, AttributeError) as error:
            raise InputError(f"a worker cannot run gamesim ({error}): install gamesim {self._version} there") from None
        except CancelledError:
            raise InputError("the cluster is gone: what was finished is kept, so run the same command again") from None
        self._losses.pop(task, None)
        self._reopenings = 0
        for job, outcome in zip(task, outcomes, strict=True):
            kind = _kind(job)
            self._seconds[kind] = max(outcome.seconds, 0.7 * self._seconds.get(kind, outcome.seconds))
        self._write(outcomes)
        return False

    def _lose(self, task: Task) -> None:
        """Have a lost task run again; if that has happened often, its points one by one, with nothing beside them."""
        losses = self._losses.pop(task, 0) + 1
        if losses < LOST_TOGETHER or (len(task) == 1 and losses < LOST_TOGETHER + LOST_ALONE):
            self._losses[task] = losses
            (self._again if losses < LOST_TOGETHER else self._alone).append(task)
        elif len(task) > 1:
            for job in task:
                self._losses[job,] = LOST_TOGETHER
                self._alone.append((job,))
        else:
            said = f"its worker died with it {losses} times: it may need more memory than there is"
            self._write([Outcome(task[0].key, None, said, 0.0)])

    def _write(self, outcomes: Sequence[Outcome]) -> None:
        self._store.finish(outcomes, self._measures)
        self._watch(outcomes)


def _kind(job: Job) -> str:
    """Return what points that take about the same time have in common: everything but digits in the game's settings."""
    head, _, rest = job.scenario.partition('"game":')
    return head + rest.rpartition('"rounds":')[2] + str(len(rest))


# Where the points run.


def local(workers: int) -> Open:
    """Return what opens a pool of processes on this machine.

    Processes and not threads: the kernels let go of Python's lock, but building simulations and measuring them, most of
    the work of a short point, hold it; and a point that crashes takes only its worker along. benchmarks/sweeps.py
    prints both, to be compared on a quiet machine.
    """

    def open_pool() -> Pool:
        context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
        if hasattr(context, "set_forkserver_preload"):
            context.set_forkserver_preload(["gamesim.point"])  # imported once; a worker that died is back at once
        end, kept = context.Pipe(duplex=False)
        environment = _environment(ONE_THREAD)  # read when a worker, or what it is a fork of, imports NumPy
        environment.__enter__()
        executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=(end,))

        def close() -> None:
            kept.close()  # tells the workers to end, whatever they do
            executor.shutdown(wait=True, cancel_futures=True)
            end.close()
            environment.__exit__(None, None, None)

        return Pool(executor, workers, close=close)

    return open_pool


def cluster(address: str) -> Open:
    """Return what connects to the scheduler of a running dask cluster, after checking its workers."""

    def open_pool() -> Pool:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise InputError("a cluster needs dask.distributed: pip install 'gamesim[cluster]'") from None
        try:
            client = distributed.Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(f"no dask scheduler answers at {address} ({error or type(error).__name__})") from None
        try:
            _check_workers(client)
            threads = sum(client.nthreads().values())
        except BaseException:
            client.close()
            raise
        return Pool(client.get_executor(pure=False), threads, lost=(distributed.KilledWorker,), close=client.close)

    return open_pool


def _check_workers(client: Any) -> None:
    """Refuse a cluster without workers, or with one that lacks the package or has another version of it."""
    if not client.nthreads():
        try:
            client.wait_for_workers(1, timeout=10)
        except TimeoutError:
            raise InputError("the cluster has no workers: start some with `dask worker ADDRESS`") from None
    mine = version("gamesim")
    found = client.run(_worker_version, on_error="return")
    for place, answer in sorted(found.items()):
        if isinstance(answer, BaseException):
            raise InputError(f"worker {place} cannot run gamesim ({answer}): install gamesim {mine} there")
        if answer != mine:
            raise InputError(f"worker {place} has gamesim {answer}, and this is {mine}: install the same on both")


def _worker_version() -> str:
    return version("gamesim")


def _begin_worker(end: Connection) -> None:
    """Leave Ctrl-C to the coordinator, and end as soon as it ends, however that happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    ends: list[Any] = [end] if parent is None else [end, parent.sentinel]

    def end_with_it() -> None:
        wait_for(ends)
        os._exit(1)

    threading.Thread(target=end_with_it, daemon=True).start()


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# Before the sweep.


@dataclass(frozen=True)
class Estimate:
    """What a sweep is expected to take: from a timed sample of its points."""

    points: int
    sampled: int
    seconds: float
    bytes: int


def estimate(jobs: Sequence[Job], points: int, measures: Sequence[str], workers: int, budget: float = 5.0) -> Estimate:
    """Time some of the points, spread over the study, for about `budget` seconds in all."""
    times: list[float] = []
    sizes: list[int] = []
    spent = 0.0
    for job in jobs:
        if times and spent > budget:
            break
        try:
            seconds, _ = worker.timed(job, measures, most=max(0.2, (budget - spent) / 4))
        except InputError:  # a point that fails, which the sweep will tell
            continue
        times.append(seconds)
        spent += min(seconds, budget)
        sizes.append(2 * len(job.scenario) + 40 * len(measures) + 250)  # a rough guess at a row and its index
    if not times:
        return Estimate(points, 0, 0.0, 0)
    mean = sum(times) / len(times)
    return Estimate(points, len(times), mean * points / workers, sum(sizes) // len(sizes) * points)
