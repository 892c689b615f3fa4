"""Running the points of a study: what a worker does, in a process of its own or on a cluster.

A task is some points whose scenarios are given whole; what comes back is plain numbers. Points that differ only by
their seed run as replicas of one simulation, since replica r of seed s is the run of seed s + r, bit for bit.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import groupby
from math import isfinite
from time import perf_counter

from gamesim.errors import InputError
from gamesim.measure import find
from gamesim.record import Record
from gamesim.scenario import Scenario
from gamesim.simulation import Simulation

LARGEST_BATCH = 2**21  # numbers in the joints and regrets of all replicas together
LONGEST_ERROR = 500  # letters

DEFAULT_MEASURES = ("ce-gap", "cce-gap", "ce-gap-slope", "cce-gap-slope", "welfare")


@dataclass(frozen=True)
class Job:
    """A point as a worker gets it: its key in the store, its scenario without the seed, as JSON, and the seed."""

    key: str
    scenario: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What came of a point: its measures in the order they were asked for, or its error; and how long it took."""

    key: str
    values: tuple[float | None, ...] | None
    error: str | None
    seconds: float


class OtherVersionError(InputError):
    """A worker has another version of gamesim than the sweep."""


def run(jobs: Sequence[Job], measures: Sequence[str], needed: str) -> list[Outcome]:
    """Run these points and return an outcome for each; `needed` is the version that the sweep was started with."""
    here = version("gamesim")
    if here != needed:
        raise OtherVersionError(f"a worker has gamesim {here}, and this sweep runs {needed}: install the same on both")
    _one_blas_thread()
    return [outcome for series in _series(jobs) for outcome in _run_series(series, measures)]


def timed(job: Job, measures: Sequence[str], most: float) -> tuple[float, Outcome | None]:
    """Run a point for at most about so many seconds; return how long the whole takes or would, and what came of it."""
    began = perf_counter()
    scenario = Scenario.from_dict({**json.loads(job.scenario), "seed": job.seed})
    simulation = scenario.simulation()
    simulation.run(1)  # loads the kernels, which happens once and not for each point
    started = perf_counter()
    if scenario.rounds > 1:
        simulation.run(scenario.rounds - 1, progress=lambda _: perf_counter() - started > most)
    took = perf_counter() - began
    if simulation.rounds < scenario.rounds:
        return took * scenario.rounds / simulation.rounds, None
    outcome = run([job], measures, version("gamesim"))[0]
    return outcome.seconds, outcome


@cache
def _one_blas_thread() -> None:
    """Hold BLAS at one thread for as long as this process lives: workers are as many as there are processors."""
    import scipy.linalg.cython_blas  # noqa: F401  # what compiled kernels call: found only once it is loaded
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threadpool_limits(1)


def _series(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Cut the jobs into those of one scenario with seeds that follow each other."""
    numbered = enumerate(jobs)
    for _, series in groupby(numbered, key=lambda one: (one[1].scenario, one[1].seed - one[0])):
        yield [job for _, job in series]


def _run_series(series: list[Job], measures: Sequence[str]) -> list[Outcome]:
    began = perf_counter()
    try:
        scenario = Scenario.from_dict({**json.loads(series[0].scenario), "seed": series[0].seed})
        sizes = scenario.played_game.sizes
        numbers = scenario.played_game.cells + sum(size * size for size in sizes)
        most = max(1, LARGEST_BATCH // max(numbers, 1))
        outcomes = []
        for first in range(0, len(series), most):
            outcomes += _run_batch(scenario, series[first : first + most], measures)
    except Exception as error:
        if len(series) == 1:
            return [Outcome(series[0].key, None, _in_words(error), perf_counter() - began)]
        # Which of them it was shows when each runs alone.
        return [outcome for job in series for outcome in _run_series([job], measures)]
    return outcomes


def _run_batch(scenario: Scenario, jobs: list[Job], measures: Sequence[str]) -> list[Outcome]:
    began = perf_counter()
    batch = scenario.model_copy(update={"seed": jobs[0].seed, "replicas": len(jobs)})
    record = _simulated(batch.simulation(), scenario.rounds)
    values = [tuple(_measured(one, name) for name in measures) for one in record]
    each = (perf_counter() - began) / len(jobs)
    return [Outcome(job.key, found, None, each) for job, found in zip(jobs, values, strict=True)]


def _simulated(simulation: Simulation, rounds: int) -> Record:
    return simulation.run(rounds, threads=0)


def _measured(record: Record, name: str) -> float | None:
    """Return a measure of one run as a number, or None where it is not defined."""
    value = find(name).number(record.measure(name))
    return value if isfinite(value) else None


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())
    said = text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"
    return said if len(said) <= LONGEST_ERROR else said[: LONGEST_ERROR - 1] + "…"
