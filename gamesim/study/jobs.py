"""What a sweep hands to its workers and what it gets back: a job for each point, and an outcome for each job."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from math import isfinite

from gamesim.errors import InputError

LONGEST_ERROR = 500  # letters

Measures = dict[str, float | None]  # by name; None where one is not defined


@dataclass(frozen=True)
class Job:
    """A point as a worker gets it: its key in the store, the text that says what to run, and the seed."""

    key: str
    text: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What came of a point: its measures, or its error; and how long it took."""

    key: str
    measures: Measures | None
    error: str | None
    seconds: float


Run = Callable[[Sequence[Job]], list[Outcome]]  # runs some points in a worker, so it has to be picklable


class OtherVersionError(InputError):
    """A worker has another version of gamesim than the sweep."""


def run_task(run: Run, jobs: Sequence[Job], needed: str) -> list[Outcome]:
    """Run some points in a worker; `needed` is the version that the sweep was started with."""
    here = version("gamesim")
    if here != needed:
        raise OtherVersionError(f"a worker has gamesim {here}, and this sweep runs {needed}: install the same on both")
    use_one_blas_thread()
    return run(jobs)


def failure(key: str, error: Exception, seconds: float) -> Outcome:
    """Return the outcome of a point that raised this error."""
    text = " ".join(str(error).split())
    message = text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"
    shortened = message if len(message) <= LONGEST_ERROR else message[: LONGEST_ERROR - 1] + "…"
    return Outcome(key, None, shortened, seconds)


def finite(value: float | None) -> float | None:
    """Return a number, or None for what is none."""
    return value if value is not None and isfinite(value) else None


@cache
def use_one_blas_thread() -> None:
    """Hold BLAS at one thread for as long as this process lives: workers are as many as there are processors."""
    import scipy.linalg.cython_blas  # noqa: F401  # what compiled kernels call: found only once it is loaded
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threadpool_limits(1)
