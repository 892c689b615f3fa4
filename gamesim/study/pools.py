"""Worker pools for a sweep: processes on this machine, or a dask cluster."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from types import ModuleType
from typing import Any, TypeVar

from gamesim import blas
from gamesim.errors import InputError
from gamesim.study import end_with_parent, worker

Result = TypeVar("Result")


@dataclass
class Pool:
    """An executor, the number of tasks it runs at once, and the exceptions its futures raise if a worker is lost."""

    executor: Executor
    width: int
    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)
    close: Callable[[], object] = field(default=lambda: None)


Open = Callable[[], Pool]


def local(workers: int, preload: ModuleType = worker) -> Open:
    """Return a function that opens a pool of processes on this machine, with the module `preload` imported in each.

    Processes are used rather than threads for two reasons. The kernels release the GIL, but building and measuring
    simulations, which dominate a short point, hold it. And a point that crashes ends only its own worker.
    benchmarks/sweeps.py times both.
    """

    def open_pool() -> Pool:
        variables = dict(blas.ONE_THREAD)  # read when a worker, or the fork server, imports NumPy
        context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
        if hasattr(context, "set_forkserver_preload"):  # imported once, so a dead worker is replaced quickly
            context.set_forkserver_preload([end_with_parent.__name__, preload.__name__])
            variables[end_with_parent.PARENT] = str(os.getpid())
        end, kept = context.Pipe(duplex=False)
        environment = _environment(variables)
        environment.__enter__()
        executor = _Workers(workers, mp_context=context, initializer=_begin_worker, initargs=(end,))

        def close() -> None:
            kept.close()  # makes the workers exit, even in the middle of a task
            executor.shutdown(wait=True, cancel_futures=True)
            end.close()
            environment.__exit__(None, None, None)

        return Pool(executor, workers, close=close)

    return open_pool


class _Workers(ProcessPoolExecutor):
    """Processes that ignore Ctrl-C from their first moment, because they inherit that it is blocked."""

    def submit(self, call: Callable[..., Result], /, *given: Any, **named: Any) -> "Future[Result]":
        if not hasattr(signal, "pthread_sigmask"):  # Windows
            return super().submit(call, *given, **named)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(call, *given, **named)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def cluster(address: str) -> Open:
    """Return a function that connects to the scheduler of a running dask cluster and checks its workers."""

    def open_pool() -> Pool:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise InputError(
                "a cluster requires dask.distributed; install it with: pip install 'gamesim[cluster]'"
            ) from None
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
    """Raise an InputError if the cluster has no workers, or one without this version of gamesim."""
    if not client.nthreads():
        try:
            client.wait_for_workers(1, timeout=10)
        except TimeoutError:
            raise InputError("the cluster has no workers; start some with `dask worker ADDRESS`") from None
    mine = version("gamesim")
    found = client.run(_worker_version, on_error="return")
    for place, answer in sorted(found.items()):
        if isinstance(answer, BaseException):
            raise InputError(f"worker {place} cannot run gamesim ({answer}); install gamesim {mine} there")
        if answer != mine:
            raise InputError(f"worker {place} must have gamesim {mine}, got {answer}; install the same version on both")


def _worker_version() -> str:
    return version("gamesim")


def _begin_worker(end: Connection) -> None:
    """Ignore Ctrl-C, which the coordinator handles, and exit as soon as the coordinator does, for any reason."""
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
