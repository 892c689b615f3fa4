"""Where the points of a sweep run: in processes on this machine, or on a dask cluster."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from types import ModuleType
from typing import Any

from gamesim.errors import InputError
from gamesim.study import worker

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


@dataclass
class Pool:
    """An executor, how many tasks it works on at once, and what its futures raise when a worker is lost."""

    executor: Executor
    width: int
    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)
    close: Callable[[], object] = field(default=lambda: None)


Open = Callable[[], Pool]


def local(workers: int, preload: ModuleType = worker) -> Open:
    """Return what opens a pool of processes on this machine; all of them start with the module `preload` imported.

    Processes and not threads: the kernels let go of Python's lock, but building simulations and measuring them, most of
    the work of a short point, hold it; and a point that crashes takes only its worker along. benchmarks/sweeps.py
    prints both, to be compared on a quiet machine.
    """

    def open_pool() -> Pool:
        context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
        if hasattr(context, "set_forkserver_preload"):
            context.set_forkserver_preload([preload.__name__])  # imported once; a worker that died is back at once
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
