"""The gallery: run entries, and write a page with the figures and all numbers."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gamesim.figures.style import write
from gamesim.formatting import number
from gamesim.literature.entry import Entry, Result

HEAD = """\
# The literature, runnable

Published results on learning in games, each with a number that was published, or that follows from the claim, and ours.
Where a claim has no number ("converges", "stays away"), the limit beside it is our choice, as the note states.
`gamesim literature --all` runs every entry in full and writes this page; `gamesim run literature/NAME` runs the
scenario of one entry.

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
    (folder / "literature").mkdir(parents=True, exist_ok=True)
    for name, result in results.items():
        write(result.draw(), folder / "literature" / name)
    page = folder / "literature.md"
    page.write_text(HEAD + _overview(chosen, results) + "".join(_sections(chosen, results)), encoding="utf-8")
    return page


def _overview(chosen: Mapping[str, Entry], results: Mapping[str, Result]) -> str:
    verdicts = [result.verdict for result in results.values()]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(sorted(verdicts, key=len)))
    return f"{len(results)} entries: {counts}.\n\n"


def _sections(chosen: Mapping[str, Entry], results: Mapping[str, Result]) -> Iterable[str]:
    for name, result in results.items():
        one = chosen[name]
        rows = [
            f"| {row.what} | {row.published} | {number(row.measured)} | {'yes' if row.agrees else '**no**'} |"
            for row in result.comparisons
        ]
        table = "\n".join(
            ["| | published, or derived from the claim | measured | agrees |", "|---|---|--:|---|", *rows]
        )
        note = f"{result.note}\n\n" if result.note else ""
        yield (
            f"## {name}\n\n{one.claim} *{one.reference}.*\n\n![{one.claim}](literature/{name}.svg)\n\n{table}\n\n"
            f"{note}**{result.verdict.capitalize()}.** `gamesim run literature/{name}`\n\n"
        )
