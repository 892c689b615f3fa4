"""The engine of a sweep: it hands a study's points to an executor, and writes down what comes back.

It speaks `concurrent.futures` only: on one machine a pool of processes, on a cluster the executor of dask.distributed.
Short points travel together, so that handing them over costs little; a task that is lost with its worker is handed out
again, and a point that keeps taking its worker with it is written down as failed. What a point is, and what runs it, is
the study's own affair.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from importlib.metadata import version

from gamesim.errors import InputError
from gamesim.study.jobs import Job, Outcome, Run, run_task
from gamesim.study.pools import Open, Pool
from gamesim.study.store import Store

TASK_SECONDS = 0.5  # that the points of one task take together, about
TASK_POINTS = 64  # at most: what comes back fits into a pipe at once, so no kill can cut it in two
LOST_TOGETHER, LOST_ALONE = 3, 3  # times that a task is lost before its points run alone, and then fail
REOPENED = 50  # times in a row that a pool is opened again before the sweep gives up

Task = tuple[Job, ...]
Watch = Callable[[Sequence[Outcome]], object]
Kind = Callable[[Job], str]  # what jobs that take about the same time have in common


def sweep(
    store: Store,
    jobs: Iterable[Job],
    run: Run,
    open_pool: Open,
    watch: Watch = lambda _: None,
    kind: Kind = lambda job: job.text,
) -> None:
    """Run these points of a store; `watch` sees outcomes once they are written, several times a second."""
    _Sweep(store, jobs, run, open_pool, watch, kind).run()


class _Sweep:
    """One sweep: the tasks to come, those in flight, and those that were lost with a worker."""

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
        self._seconds: dict[str, float] = {}  # of a point, by its kind
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
        future = pool.executor.submit(run_task, self._run, task, self._version)
        self._flying[future] = task

    def _new_task(self) -> Task:
        """Return the next points, as many as take about the time of a task; the first of its kind goes alone."""
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
            kind = self._kind(job)
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
            error = f"its worker died with it {losses} times: it may need more memory than there is"
            self._write([Outcome(task[0].key, None, error, 0.0)])

    def _write(self, outcomes: Sequence[Outcome]) -> None:
        self._store.finish(outcomes)
        self._watch(outcomes)
