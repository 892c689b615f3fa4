"""The messages between a sweep and its workers: one job per point, and one outcome per job."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from math import isfinite

from gamesim import blas
from gamesim.errors import InputError

LONGEST_ERROR = 500  # characters

Measures = dict[str, float | None]  # by name; None if undefined


@dataclass(frozen=True)
class Job:
    """A point for a worker to run: its key in the store, the scenario as text, and the seed."""

    key: str
    text: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """The result of a point: its measures or its error, and the time it took."""

    key: str
    measures: Measures | None
    error: str | None
    seconds: float


Run = Callable[[Sequence[Job]], list[Outcome]]  # runs points in a worker; must be picklable


class OtherVersionError(InputError):
    """Raised if a worker has another version of gamesim than the sweep."""


@cache
def version_here() -> str:
    """Return the version of gamesim in this process; looking it up takes longer than a short point."""
    return version("gamesim")


def run_task(run: Run, jobs: Sequence[Job], needed: str) -> list[Outcome]:
    """Run some points in a worker; `needed` is the version of gamesim that the sweep uses."""
    here = version_here()
    if here != needed:
        raise OtherVersionError(
            f"workers must have gamesim {needed}, the version of this sweep, but a worker has gamesim {here}; "
            f"install the same version on both"
        )
    blas.use_one_thread()
    return run(jobs)


def failure(key: str, error: Exception, seconds: float) -> Outcome:
    """Return the outcome of a point that raised an exception."""
    text = " ".join(str(error).split())
    message = text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"
    shortened = message if len(message) <= LONGEST_ERROR else message[: LONGEST_ERROR - 1] + "…"
    return Outcome(key, None, shortened, seconds)


def finite(value: float | None) -> float | None:
    """Return a finite number unchanged, and None for anything else."""
    return value if value is not None and isfinite(value) else None
