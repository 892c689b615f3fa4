"""The engine of a sweep: it submits the points of a study to an executor and stores the outcomes.

It only needs the interface of `concurrent.futures`: a pool of processes on one machine, the executor of
dask.distributed on a cluster. Short points are submitted together to save overhead. A task that is lost with its worker
is submitted again, and a point that repeatedly crashes its worker is stored as failed. The engine does not depend on
what a point is or what runs it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from importlib.metadata import version

from gamesim.errors import InputError
from gamesim.interrupts import Stop
from gamesim.study.jobs import Job, Outcome, Run, run_task
from gamesim.study.pools import Open, Pool
from gamesim.study.store import Store

TASK_SECONDS = 0.5  # approximate time of one task
TASK_POINTS = 64  # maximum per task: the outcomes fit into a pipe's buffer, so a kill cannot truncate them
LOST_TOGETHER, LOST_ALONE = 3, 3  # losses of a task before its points run alone, and then before they fail
REOPENED = 50  # consecutive times that a pool is reopened before the sweep gives up

Task = tuple[Job, ...]
Watch = Callable[[Sequence[Outcome]], object]
Kind = Callable[[Job], str]  # returns the same text for jobs that take about the same time


def sweep(
    store: Store,
    jobs: Iterable[Job],
    run: Run,
    open_pool: Open,
    watch: Watch = lambda _: None,
    kind: Kind = lambda job: job.text,
) -> None:
    """Run these points of a store; `watch` is called several times per second with the outcomes just written."""
    _Sweep(store, jobs, run, open_pool, watch, kind).run()


class _Sweep:
    """A sweep: the pending tasks, those in flight, and those that were lost with a worker."""

    def __init__(
        self, store: Store, jobs: Iterable[Job], run: Run, open_pool: Open, watch: Watch, kind: Kind
    ) -> None:  # fmt: skip
        self._store, self._run, self._open_pool, self._watch, self._kind = store, run, open_pool, watch, kind
        self._jobs = iter(jobs)
        self._next = next(self._jobs, None)
        self._again: deque[Task] = deque()
        self._alone: deque[Task] = deque()
        self._losses: dict[Task, int] = {}
        self._flying: dict[Future[list[Outcome]], Task] = {}
        self._seconds: dict[str, float] = {}  # per point, by kind
        self._version = version("gamesim")
        self._reopenings = 0  # of the pool since the last outcome

    def run(self) -> None:
        if self._next is None:
            return
        with Stop() as stop:
            pool = self._open_pool()
            stop.at_once = False  # from here on, Ctrl-C waits until no worker is being started and no outcome stored
            try:
                while not stop.wished:
                    try:
                        self._submit(pool)
                        if not self._flying:
                            return
                        done, _ = wait(self._flying, timeout=0.25, return_when=FIRST_COMPLETED)
                        broken = [self._take(future, pool) for future in done]
                        if not done:
                            self._watch(())
                    except (BrokenExecutor, EOFError, ConnectionError):  # the last two if the fork server died
                        broken = [True]
                    if any(broken):
                        pool = self._reopened(pool)
                raise KeyboardInterrupt
            finally:
                pool.close()

    def _reopened(self, pool: Pool) -> Pool:
        """Collect the remaining outcomes of a broken pool, and return a new one."""
        done, lost = wait(self._flying, timeout=10)
        for future in done:
            self._take(future, pool)
        for future in lost:
            self._lose(self._flying.pop(future))
        pool.close()
        self._reopenings += 1
        if self._reopenings > REOPENED:
            raise InputError(
                "the workers keep dying; finished points are kept: find out what kills them, "
                "and run the same command again"
            )
        return self._open_pool()

    def _submit(self, pool: Pool) -> None:
        while len(self._flying) < 2 * pool.width:
            if self._again:
                task = self._again[0]
            elif self._next is not None:
                task = self._new_task()
                self._again.append(task)  # until it is submitted
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
        future = pool.executor.submit(run_task, self._run, task, self._version)
        self._flying[future] = task

    def _new_task(self) -> Task:
        """Return the next points, as many as take about TASK_SECONDS; the first point of a kind runs alone."""
        task: list[Job] = []
        seconds = 0.0
        while self._next is not None and len(task) < TASK_POINTS:
            each = self._seconds.get(self._kind(self._next), TASK_SECONDS)
            if task and seconds + each > TASK_SECONDS:
                break
            task.append(self._next)
            seconds += each
            self._next = next(self._jobs, None)
        return tuple(task)

    def _take(self, future: Future[list[Outcome]], pool: Pool) -> bool:
        """Store the outcomes of a task, or reschedule it if it was lost; return whether the pool is broken."""
        task = self._flying.pop(future)
        try:
            outcomes = future.result()
        except pool.lost as error:
            self._lose(task)
            return isinstance(error, BrokenExecutor)
        except (ImportError, AttributeError) as error:
            raise InputError(f"a worker cannot run gamesim ({error}); install gamesim {self._version} there") from None
        except CancelledError:
            raise InputError(
                "lost the connection to the cluster; finished points are kept: run the same command again"
            ) from None
        self._losses.pop(task, None)
        self._reopenings = 0
        for job, outcome in zip(task, outcomes, strict=True):
            kind = self._kind(job)
            self._seconds[kind] = max(outcome.seconds, 0.7 * self._seconds.get(kind, outcome.seconds))
        self._write(outcomes)
        return False

    def _lose(self, task: Task) -> None:
        """Reschedule a lost task; after repeated losses, run its points one by one, with no other task in flight."""
        losses = self._losses.pop(task, 0) + 1
        if losses < LOST_TOGETHER or (len(task) == 1 and losses < LOST_TOGETHER + LOST_ALONE):
            self._losses[task] = losses
            (self._again if losses < LOST_TOGETHER else self._alone).append(task)
        elif len(task) > 1:
            for job in task:
                self._losses[job,] = LOST_TOGETHER
                self._alone.append((job,))
        else:
            error = f"its worker died {losses} times; it may need more memory than is available"
            self._write([Outcome(task[0].key, None, error, 0.0)])

    def _write(self, outcomes: Sequence[Outcome]) -> None:
        self._store.finish(outcomes)
        self._watch(outcomes)
