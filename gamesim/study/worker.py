"""Running the scenarios of a study: what a worker does, in a process of its own or on a cluster.

A job's text is its scenario, whole but for the seed; what comes back is plain numbers. Points that differ only by
their seed run as replicas of one simulation, since replica r of seed s is the run of seed s + r, bit for bit.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from time import perf_counter

from gamesim.measure.trend import power
from gamesim.record import Record
from gamesim.scenario import Scenario
from gamesim.study.jobs import Job, Outcome, failure, finite

LARGEST_BATCH = 2**21  # numbers in the joints and regrets of all replicas together

Measure = Callable[[Record], float | None]


def _regret(kind: str) -> Measure:
    return lambda record: float(record.regret(kind).max())


def _slope(kind: str) -> Measure:
    def slope(record: Record) -> float | None:
        curve = record.curve
        found = power(curve.rounds, curve.gap(kind))
        return None if found is None else found.exponent

    return slope


def _share(kind: str) -> Measure:
    def share(record: Record) -> float:
        low, high = record.game.range
        width = float(high.max() - low.min())
        return float(record.gap(kind)) / width if width else 0.0

    return share


# What may be kept of a point: a number, or nothing where it is not defined. Regrets are the largest of any player's, in
# total; a gap's share is of the range of payoffs, so that games of different stakes compare; a gap's slope is that of
# the run's own curve, as in the verdict, and nothing where no power law fits it.
MEASURES: dict[str, Measure] = {
    "ce-gap": lambda record: float(record.gap("ce")),
    "cce-gap": lambda record: float(record.gap("cce")),
    "nash-gap": lambda record: float(record.nash_gap()),
    "ce-gap-share": _share("ce"),
    "cce-gap-share": _share("cce"),
    "ce-gap-slope": _slope("ce"),
    "cce-gap-slope": _slope("cce"),
    "ce-distance": lambda record: float(record.distance("ce")),
    "cce-distance": lambda record: float(record.distance("cce")),
    "external-regret": _regret("external"),
    "internal-regret": _regret("internal"),
    "swap-regret": _regret("swap"),
    "welfare": lambda record: float(record.welfare),
}
DEFAULT_MEASURES = ("ce-gap", "cce-gap", "ce-gap-slope", "cce-gap-slope", "welfare")


def run(jobs: Sequence[Job], measures: Sequence[str]) -> list[Outcome]:
    """Run these points and return an outcome for each."""
    return [outcome for series in _series(jobs) for outcome in _run_series(series, measures)]


def kind(job: Job) -> str:
    """Return what points that take about the same time have in common: everything but digits in the game's settings."""
    head, _, rest = job.text.partition('"game":')
    return head + rest.rpartition('"rounds":')[2] + str(len(rest))


def scenario_of(job: Job) -> Scenario:
    """Return the scenario that a job runs."""
    return Scenario.from_dict({**json.loads(job.text), "seed": job.seed})


def _series(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Cut the jobs into those of one scenario with seeds that follow each other."""
    numbered = enumerate(jobs)
    for _, series in groupby(numbered, key=lambda one: (one[1].text, one[1].seed - one[0])):
        yield [job for _, job in series]


def _run_series(series: list[Job], measures: Sequence[str]) -> list[Outcome]:
    began = perf_counter()
    try:
        scenario = scenario_of(series[0])
        sizes = scenario.played_game.sizes
        numbers = scenario.played_game.cells + sum(size * size for size in sizes)
        most = max(1, LARGEST_BATCH // max(numbers, 1))
        outcomes = []
        for first in range(0, len(series), most):
            outcomes += _run_batch(scenario, series[first : first + most], measures)
    except Exception as error:
        if len(series) == 1:
            return [failure(series[0].key, error, perf_counter() - began)]
        # Which of them it was shows when each runs alone.
        return [outcome for job in series for outcome in _run_series([job], measures)]
    return outcomes


def _run_batch(scenario: Scenario, jobs: list[Job], measures: Sequence[str]) -> list[Outcome]:
    began = perf_counter()
    batch = scenario.model_copy(update={"seed": jobs[0].seed, "replicas": len(jobs)})
    record = batch.simulation().run(scenario.rounds, threads=0)
    measured = [{name: finite(MEASURES[name](one)) for name in measures} for one in record]
    each = (perf_counter() - began) / len(jobs)
    return [Outcome(job.key, found, None, each) for job, found in zip(jobs, measured, strict=True)]
