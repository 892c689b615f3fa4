"""Running the claims and writing the page: what `gamesim theorem` does."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gamesim.errors import InputError, did_you_mean
from gamesim.wavelet_theorem import cost, interpolation, order, play, quantile, rates
from gamesim.wavelet_theorem.findings import Section
from gamesim.wavelet_theorem.page import FOLDER, write_page
from gamesim.wavelet_theorem.points import Point, Results, Store, results, run

TOLD: tuple[Any, ...] = (interpolation, order, rates, quantile, play, cost)  # in the order of the page

Say = Callable[[str], object]


def work(point: Point) -> float:
    """About how long a point takes: to be run in this order, the cheap ones first."""
    return float(point.labels.get("d", 8) ** 2 * point.labels.get("T", 100))


def run_claims(store: Store, small: bool, workers: int, say: Say) -> None:
    """Run what is missing; what is timed comes last and runs alone."""
    wanted = sorted((point for claim in TOLD if claim is not cost for point in claim.points(small)), key=work)
    run(store, wanted, workers, _in_steps("points", say))
    run(store, cost.points(small), 1, _in_steps("timings", say))


def _in_steps(what: str, say: Say) -> Callable[[int, int], None]:
    """Return what says, at every twentieth of the way, how far it is."""
    told = -1

    def watch(done: int, of: int) -> None:
        nonlocal told
        if 20 * done // of > told:
            told = 20 * done // of
            say(f"{done:,} of {of:,} {what}")

    return watch


def tell(store: Store, small: bool, page: Path, command: str) -> list[tuple[Section, Results]]:
    """Write the page and its figures from what there is in the store."""
    figures = page.parent / FOLDER
    figures.mkdir(parents=True, exist_ok=True)
    for claim, found in _found(store, small):
        claim.draw(found, figures)
    sections = [(claim.section(found), found) for claim, found in _found(store, small)]
    page.write_text(write_page(sections, command), encoding="utf-8")
    return sections


def text(store: Store, small: bool, command: str) -> str:
    """Return the page alone, without drawing."""
    return write_page([(claim.section(found), found) for claim, found in _found(store, small)], command)


def _found(store: Store, small: bool) -> list[tuple[Any, Results]]:
    found = [(claim, results(store, claim.points(small))) for claim in TOLD]
    return [(claim, one) for claim, one in found if one.rows]


def theorem(folder: Path, small: bool, workers: int, again: Sequence[str], say: Say) -> Path:
    """Run the study and write its page into a folder; `again` names claims whose points run anew.

    The page stands in the folder itself, the store and the figures in a folder beside the page.
    """
    names = [claim.NAME for claim in TOLD]
    for name in again:
        if name not in names:
            raise InputError(f"there is no claim called {name!r}: {did_you_mean(name, names)}")
    if workers < 1:
        raise InputError(f"workers are at least 1, and {workers} came")
    page = folder / "theorem.md"
    store = Store(folder / FOLDER)
    try:
        for claim in TOLD:
            if claim.NAME in again:
                store.forget(claim.points(small))
        run_claims(store, small, workers, say)
        sections = tell(store, small, page, "gamesim theorem --small" if small else "gamesim theorem")
        findings = [finding for section, _ in sections for finding in section.findings]
        lost = sum(finding.loss for finding in findings)
        held, failed, undecided = (
            sum(finding.held is one and not finding.loss for finding in findings) for one in (True, False, None)
        )
        say(
            f"{lost} findings tell where the flagship loses; of the others {held} held, {failed} did not, and "
            f"{undecided} are not decided"
        )
    finally:
        store.close()
    return page
