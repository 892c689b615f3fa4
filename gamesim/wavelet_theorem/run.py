"""Run the claims and write the page, as `gamesim theorem` does."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gamesim.errors import InputError, unknown
from gamesim.study.description import Description
from gamesim.study.jobs import Job, Outcome
from gamesim.study.pools import local
from gamesim.study.results import Results
from gamesim.study.store import Row, Store
from gamesim.study.sweep import Watch, sweep
from gamesim.wavelet_theorem import claims
from gamesim.wavelet_theorem.claims import CLAIMS, TIMED, Claim
from gamesim.wavelet_theorem.findings import Section
from gamesim.wavelet_theorem.page import FOLDER, page_text
from gamesim.wavelet_theorem.points import Point

FILE = "points.sqlite"
DESCRIPTION = Description("theorem", "The theorem, tested")
STEPS = 20  # number of progress reports

Say = Callable[[str], object]


def theorem(folder: Path, small: bool, workers: int, again: Sequence[str], say: Say) -> Path:
    """Run the study and write its page into a folder; `again` names claims to run again.

    The page is written to the folder itself, the store and the figures to a subfolder.
    """
    names = [claim.NAME for claim in CLAIMS]
    for name in again:
        if name not in names:
            raise unknown("claim", name, names)
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    page = folder / "theorem.md"
    with Store(folder / FOLDER / FILE, write=True) as store:
        store.forget(point.key for claim in CLAIMS if claim.NAME in again for point in claim.points(small))
        run_claims(store, small, workers, say)
        sections = write_page_and_figures(
            store, small, page, "gamesim theorem --small" if small else "gamesim theorem"
        )  # fmt: skip
    say(summary(sections))
    return page


# Running.


def work(point: Point) -> float:
    """Estimate the relative cost of a point; cheap points run first."""
    return float(point.labels.get("d", 8) ** 2 * point.labels.get("T", 100))


def run_claims(store: Store, small: bool, workers: int, say: Say) -> None:
    """Run the missing points; timed points run last, one at a time."""
    untimed = sorted((point for claim in CLAIMS if claim is not TIMED for point in claim.points(small)), key=work)
    timed = TIMED.points(small)
    store.register([*untimed, *timed], DESCRIPTION)
    missing = {job.key: job for job in store.todo()}
    for points, at_once, what in ((untimed, workers, "points"), (timed, 1, "timings")):
        jobs = [missing[point.key] for point in points if point.key in missing]
        _run_jobs(store, jobs, at_once, _in_steps(what, len(points) - len(jobs), len(points), say))


def _run_jobs(store: Store, jobs: Sequence[Job], workers: int, watch: Watch) -> None:
    sweep(store, jobs, claims.run, local(workers, preload=claims), watch)
    failed = list(store.rows("failed"))
    if failed:
        first = failed[0]
        raise InputError(
            f"{len(failed):,} points failed; run the same command to retry. The first is {first.labels} with "
            f"seed {first.seed}: {first.error}"
        )


def _in_steps(what: str, done: int, total: int, say: Say) -> Watch:
    """Return a callback that reports progress in `STEPS` steps."""
    reached = -1

    def watch(outcomes: Sequence[Outcome]) -> None:
        nonlocal done, reached
        done += len(outcomes)
        if outcomes and STEPS * done // total > reached:
            reached = STEPS * done // total
            say(f"{done:,} of {total:,} {what}")

    return watch


# Writing.


def write_page_and_figures(store: Store, small: bool, page: Path, command: str) -> list[tuple[Section, Results]]:
    """Write the page and its figures from the points in the store."""
    figures = page.parent / FOLDER
    figures.mkdir(parents=True, exist_ok=True)
    found = _found(store, small)
    for claim, results in found:
        claim.draw(results, figures)
    sections = [(claim.section(results), results) for claim, results in found]
    page.write_text(page_text(sections, command), encoding="utf-8")
    return sections


def text(store: Store, small: bool, command: str) -> str:
    """Return the text of the page without drawing figures."""
    return page_text([(claim.section(results), results) for claim, results in _found(store, small)], command)


def _found(store: Store, small: bool) -> list[tuple[Claim, Results]]:
    """Return the claims with finished points, and all their points in the order of the claim."""
    rows = {row.key: row for row in store.rows()}
    found = [(claim, results_of(claim, small, rows)) for claim in CLAIMS]
    return [(claim, results) for claim, results in found if results.done]


def results_of(claim: Claim, small: bool, rows: Mapping[str, Row]) -> Results:
    """Return the results of a claim, given the rows of a store by key."""
    points = claim.points(small)
    missing = {point.key: Row(point.key, point.labels, point.seed, "todo", {}, None, None) for point in points}
    return Results(Description(claim.NAME), [rows.get(key, row) for key, row in missing.items()])


def summary(sections: Sequence[tuple[Section, Results]]) -> str:
    """Count the findings of each kind."""
    findings = [finding for section, _ in sections for finding in section.findings]
    lost = sum(finding.loss for finding in findings)
    held, failed, undecided = (
        sum(finding.held is one and not finding.loss for finding in findings) for one in (True, False, None)
    )
    return (
        f"{lost} findings where the wavelet learners lose; of the others, {held} held, {failed} did not hold, and "
        f"{undecided} are inconclusive"
    )
