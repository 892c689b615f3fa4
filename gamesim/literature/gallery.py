"""The gallery: run entries, and write a page with the figures and all numbers."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gamesim.figures.style import svg
from gamesim.formatting import number
from gamesim.literature.entry import DERIVED, OURS, Comparison, Entry, Result

HEAD = f"""\
# The literature, runnable

Published results on learning in games, each with what was published and what gamesim measures. `gamesim literature
NAME` measures one of them, `gamesim literature --all` measures all in full and writes this page, and `gamesim run
literature/NAME` runs a scenario on the subject of one.

Every number says where it comes from: a place in the publication; "{DERIVED}", if it follows from the claim and was
computed in this project; or "{OURS}", if the claim has no number ("converges", "stays away") and the limit is our
choice. Nothing marked "{DERIVED}" or "{OURS}" is a published number. Losses lie in [-1, 1] unless a note says
otherwise.

"""
TAIL = """\
## Not in the gallery

- Barman and Ligett (2015), "Finding any nontrivial coarse correlated equilibrium is hard": a theorem on the complexity
  of a decision problem, which no run can confirm or refute. What it is about, the gap between the best and the worst
  coarse correlated equilibrium, is in `moulin-vial-1978`.
- The auction of Braverman et al. (2018) that extracts a buyer's whole value, the optimistic algorithm of Hait et al.
  (2025) to the letter, and the adversary in Ito's proof (2020): their entries use constructions of our own, as their
  notes state.
"""


def run(
    chosen: Mapping[str, Entry], size: float, done: Callable[[Entry, Result], None] = lambda *_: None
) -> dict[str, Result]:
    """Measure entries, one after the other."""
    results = {}
    for name, one in chosen.items():
        results[name] = one.measure(size)
        done(one, results[name])
    return results


def write_gallery(folder: Path, chosen: Mapping[str, Entry], results: Mapping[str, Result]) -> Path:
    """Write the page of these entries and their figures into a folder; return the page."""
    pictures = folder / "images" / "literature"
    pictures.mkdir(parents=True, exist_ok=True)
    for name, result in results.items():
        (pictures / f"{name}.svg").write_text(svg(result.draw()), encoding="utf-8")
    page = folder / "literature.md"
    page.write_text(HEAD + _overview(results) + "".join(_sections(chosen, results)) + TAIL, encoding="utf-8")
    return page


def _overview(results: Mapping[str, Result]) -> str:
    verdicts = [result.verdict for result in results.values()]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(sorted(verdicts, key=len)))
    return f"{len(results)} entries: {counts}.\n\n"


def _mark(row: Comparison) -> str:
    return "" if row.agrees else " **(does not agree)**"


def _sections(chosen: Mapping[str, Entry], results: Mapping[str, Result]) -> Iterable[str]:
    for name, result in results.items():
        one = chosen[name]
        rows = [
            f"| {row.what} | {row.expected} | {row.source} | {number(row.measured)}{_mark(row)} |"
            for row in result.comparisons
        ]
        table = "\n".join(["| | expected | source | measured |", "|---|---|---|--:|", *rows])
        note = f"{result.note}\n\n" if result.note else ""
        yield (
            f"## {name}\n\n{one.claim} *{one.reference}.*\n\n![{one.claim}](images/literature/{name}.svg)\n\n"
            f"{table}\n\n{note}**{result.verdict.capitalize()}.** `gamesim run literature/{name}`\n\n"
        )
