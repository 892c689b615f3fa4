"""Run the scenarios of a study in a worker, which is a separate process or part of a cluster.

The text of a job is its scenario without the seed; the outcome is plain numbers. Points with consecutive seeds run as
replicas of one simulation, because replica r of seed s is bit for bit the run with seed s + r.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from time import perf_counter
from typing import Any

from gamesim import user_files
from gamesim.measure import find
from gamesim.measure.moments import Moments
from gamesim.scenario import Scenario
from gamesim.study.jobs import Job, Outcome, failure, finite

LARGEST_BATCH = 2**21  # numbers in the joint distributions and regrets of all replicas together

DEFAULT_MEASURES = ("ce-gap", "cce-gap", "ce-gap-slope", "cce-gap-slope", "welfare")


def run(jobs: Sequence[Job], measures: Sequence[str], files: Sequence[tuple[str, bytes]] = ()) -> list[Outcome]:
    """Run these points and return one outcome per point.

    `files` are the names and contents of the Python files that the scenarios name, which the user has allowed.
    """
    for name, source in files:
        user_files.run(name, source)
    return [outcome for series in _series(jobs) for outcome in _run_series(series, measures)]


def kind(job: Job) -> str:
    """Return a key that is equal for points of similar duration: those that differ only in digits of the game."""
    head, _, rest = job.text.partition('"game":')
    return head + rest.rpartition('"rounds":')[2] + str(len(rest))


def scenario_of(job: Job) -> Scenario:
    """Return the scenario of a job."""
    return Scenario.from_dict({**json.loads(job.text), "seed": job.seed})


def _series(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Split the jobs into runs of the same scenario with consecutive seeds."""
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
        # Run each point alone to find out which of them fails.
        return [outcome for job in series for outcome in _run_series([job], measures)]
    return outcomes


def _run_batch(scenario: Scenario, jobs: list[Job], measures: Sequence[str]) -> list[Outcome]:
    began = perf_counter()
    without = scenario.measure.model_copy(update={"trajectory": "none"})  # no measure reads it
    batch = scenario.model_copy(update={"seed": jobs[0].seed, "replicas": len(jobs), "measure": without})
    simulation = batch.simulation()
    simulation.advance(scenario.rounds)
    always = scenario.measure.distance == "always"
    measured = [
        {user_files.shown(name): _measured(moments, name, always=always) for name in measures}
        for moments in map(simulation.moments, range(len(jobs)))
    ]
    each = (perf_counter() - began) / len(jobs)
    return [Outcome(job.key, found, None, each) for job, found in zip(jobs, measured, strict=True)]


def _measured(moments: Moments, name: str, *, always: bool) -> float | None:
    """Return a measure of one run as a number, or None if it is undefined; `always` also if it may be slow."""
    measure = find(name)
    options: dict[str, Any] = {"always": always} if "always" in measure.options else {}
    return finite(measure.number(measure.now(moments, **options)))
