"""Estimate the time of a sweep and the size of its store from a timed sample of its points."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from gamesim import blas
from gamesim.errors import InputError
from gamesim.study import worker
from gamesim.study.jobs import Job


@dataclass(frozen=True)
class Estimate:
    """The estimated time of a sweep and size of its store, from `sampled` timed points."""

    points: int
    sampled: int
    seconds: float
    bytes: int


def estimate(
    jobs: Sequence[Job], points: int, seeds: int, measures: Sequence[str], workers: int, budget: float = 5.0
) -> Estimate:
    """Time some of the points, spread over the study, for about `budget` seconds in total."""
    blas.use_one_thread()
    times: list[float] = []
    sizes: list[int] = []
    spent = 0.0
    for job in jobs:
        if times and spent > budget:
            break
        try:
            seconds = _timed(job, measures, most=max(0.2, (budget - spent) / 4))
        except InputError:  # the sweep reports points that fail
            continue
        times.append(seconds)
        spent += min(seconds, budget)
        # A rough estimate of a row and its index; points that differ only in their seeds share a text.
        sizes.append(2 * len(job.text) // seeds + 40 * len(measures) + 150)
    if not times:
        return Estimate(points, 0, 0.0, 0)
    mean = sum(times) / len(times)
    return Estimate(points, len(times), mean * points / workers, sum(sizes) // len(sizes) * points)


def _timed(job: Job, measures: Sequence[str], most: float) -> float:
    """Run a point for at most about `most` seconds; return the time that the whole point takes, or would take."""
    began = perf_counter()
    scenario = worker.scenario_of(job)
    simulation = scenario.simulation()
    simulation.run(1)  # loads the kernels, which happens only once, not for every point
    started = perf_counter()
    if scenario.rounds > 1:
        simulation.run(scenario.rounds - 1, progress=lambda _: perf_counter() - started > most)
    took = perf_counter() - began
    if simulation.rounds < scenario.rounds:
        return took * scenario.rounds / simulation.rounds
    return worker.run([job], measures)[0].seconds
