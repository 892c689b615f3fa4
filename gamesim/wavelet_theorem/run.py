"""Run the claims and write the page and its appendix, as `gamesim theorem` does."""

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
from gamesim.wavelet_theorem.claims import CLAIMS, Claim
from gamesim.wavelet_theorem.page import APPENDIX, FOLDER, appendix_text, page_text
from gamesim.wavelet_theorem.points import Point
from gamesim.wavelet_theorem.presentation import unmarked

FILE = "points.sqlite"
DESCRIPTION = Description("theorem", "The wavelet theorem, tested")
STEPS = 20  # number of progress reports

Say = Callable[[str], object]


def theorem(folder: Path, small: bool, workers: int, again: Sequence[str], say: Say) -> Path:
    """Run the study and write its page into a folder; `again` names claims to run again.

    The page and its appendix are written to the folder itself, the store and the figures to a subfolder.
    """
    names = [claim.NAME for claim in CLAIMS]
    for name in again:
        if name not in names:
            raise unknown("claim", name, names)
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    with Store(folder / FOLDER / FILE, write=True) as store:
        store.forget(point.key for claim in CLAIMS if claim.NAME in again for point in claim.points(small))
        run_claims(store, small, workers, say)
        return write(store, small, folder, say)


# Running.


def work(point: Point) -> float:
    """Estimate the relative cost of a point; expensive points run first, so that no worker is left alone with them."""
    return float(point.labels.get("d", 8) ** 2 * point.labels.get("T", 100))


def run_claims(store: Store, small: bool, workers: int, say: Say) -> None:
    """Run the missing points."""
    points = sorted((point for claim in CLAIMS for point in claim.points(small)), key=work, reverse=True)
    store.register(points, DESCRIPTION)
    missing = {job.key: job for job in store.todo()}
    jobs = [missing[point.key] for point in points if point.key in missing]
    _run_jobs(store, jobs, workers, _in_steps(len(points) - len(jobs), len(points), say))


def _run_jobs(store: Store, jobs: Sequence[Job], workers: int, watch: Watch) -> None:
    sweep(store, jobs, claims.run, local(workers, preload=claims), watch)
    failed = list(store.rows("failed"))
    if failed:
        first = failed[0]
        raise InputError(
            f"{len(failed):,} points failed; run the same command to retry. The first is {first.labels} with "
            f"seed {first.seed}: {first.error}"
        )


def _in_steps(done: int, total: int, say: Say) -> Watch:
    """Return a callback that reports progress in `STEPS` steps."""
    reached = -1

    def watch(outcomes: Sequence[Outcome]) -> None:
        nonlocal done, reached
        done += len(outcomes)
        if outcomes and STEPS * done // total > reached:
            reached = STEPS * done // total
            say(f"{done:,} of {total:,} points")

    return watch


# Writing.


def write(store: Store, small: bool, folder: Path, say: Say = lambda _: None) -> Path:
    """Write the page, its appendix and its figures from the points in the store."""
    figures = folder / FOLDER
    figures.mkdir(parents=True, exist_ok=True)
    found = results_of(store, small)
    for claim, results in found:
        claim.draw(results, figures)
        say(f"{claim.NAME}: the claim {'held' if claim.holds(results) else 'did not hold'}")
    page, appendix = texts(found, small)
    (folder / APPENDIX).write_text(unmarked(appendix), encoding="utf-8")
    path = folder / "theorem.md"
    path.write_text(unmarked(page), encoding="utf-8")
    return path


def texts(found: Sequence[tuple[Claim, Results]], small: bool) -> tuple[str, str]:
    """Return the page and its appendix, with generated numbers marked."""
    command = "gamesim theorem --small" if small else "gamesim theorem"
    return page_text(found, command), appendix_text(found, command)


def results_of(store: Store, small: bool) -> list[tuple[Claim, Results]]:
    """Return every claim with its points, in the order of the claim; points that have not run have no measures."""
    rows = {row.key: row for row in store.rows()}
    return [(claim, of_claim(claim, small, rows)) for claim in CLAIMS]


def of_claim(claim: Claim, small: bool, rows: Mapping[str, Row]) -> Results:
    """Return the results of a claim, given the rows of a store by key."""
    points = claim.points(small)
    missing = {point.key: Row(point.key, point.labels, point.seed, "todo", {}, None, None) for point in points}
    return Results(Description(claim.NAME), [rows.get(key, row) for key, row in missing.items()])
