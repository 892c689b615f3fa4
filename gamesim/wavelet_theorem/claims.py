"""The claims of the study, one module per claim, and the function that runs their points in a worker."""

import json
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Protocol

from gamesim.study.jobs import Job, Outcome, failure, finite
from gamesim.study.results import Results
from gamesim.wavelet_theorem import interpolation, order, quantile, rates, self_play
from gamesim.wavelet_theorem.comparisons import Comparison
from gamesim.wavelet_theorem.points import Labels, Point, Values


class Claim(Protocol):
    """The interface of a claim module."""

    NAME: str
    TITLE: str
    CRITERION: str  # fixed before the full run
    CAPTION: str

    def points(self, small: bool) -> list[Point]:
        """Return the points of the full or the small version."""

    def measure(self, labels: Labels, seed: int) -> Values:
        """Run all learners of one point."""

    def compared(self, results: Results) -> list[Comparison]:
        """Compare the flagship with its rivals, cell by cell."""

    def holds(self, results: Results) -> bool:
        """Return whether the criterion is met."""

    def finding(self, results: Results) -> str:
        """Summarise the claim in a clause, with generated numbers marked."""

    def paragraph(self, results: Results) -> str:
        """State what was found, with generated numbers marked."""

    def tables(self, results: Results) -> list[str]:
        """Return the tables of the appendix."""

    def draw(self, results: Results, folder: Path) -> None:
        """Draw the figure into a folder."""


CLAIMS: tuple[Claim, ...] = (interpolation, rates, order, quantile, self_play)  # in the order of the page


def run(jobs: Sequence[Job]) -> list[Outcome]:
    """Run points and return one outcome per point."""
    return [_run(job) for job in jobs]


def _run(job: Job) -> Outcome:
    began = perf_counter()
    try:
        name, labels = json.loads(job.text)
        (claim,) = (one for one in CLAIMS if name == one.NAME)
        measured = claim.measure(labels, job.seed)
    except Exception as error:
        return failure(job.key, error, perf_counter() - began)
    return Outcome(
        job.key, {name: finite(value) for name, value in measured.items()}, None, perf_counter() - began
    )  # fmt: skip
