"""The page: what held, what did not, and where the flagship loses, first; every number comes from the store."""

from collections.abc import Sequence

from gamesim.theorem.findings import Section
from gamesim.theorem.points import Results

FOLDER = "theorem"  # of the figures, beside the page
ANY = "any"


def write_page(sections: Sequence[tuple[Section, Results]], command: str) -> str:
    """Return the page, in Markdown."""
    wanted = sum(results.wanted for _, results in sections)
    finished = sum(len(results.rows) for _, results in sections)
    minutes = sum(results.seconds for _, results in sections) / 60
    missing = (
        "" if finished == wanted else f" **{wanted - finished:,} points are still missing**: run the command again."
    )
    lines = [
        "# The theorem, tested",
        "",
        "Lu, Sun and Zhang, *Sparsity-based interpolation of external, internal and swap regret*, prove what one "
        "learner can do against every action modification rule φ at once. Here it is measured, beside its rivals: "
        "`wavelet` is the paper's algorithm, `wavelet-continuous` is ours, with another clock. `blum-mansour` has "
        "first-order Hedge rows, `blum-mansour adahedge` AdaHedge rows.",
        "",
        f"This page is written by `{command}` from the store of its runs: no number, table or figure is put in by "
        f"hand. It rests on {finished:,} of {wanted:,} points, which took {minutes:.0f} minutes of running time in "
        f"all.{missing} Intervals are of 95 %, by Student's t over seeds. All learners meet the same random numbers, "
        "so differences are taken seed by seed; two learners are *told apart* when the interval of the difference "
        "leaves out 0. Of twenty such intervals of learners that are equal, one is expected to leave out 0 all the "
        "same: single cells count for little, and how many cells agree counts for more.",
        "",
        "## Where the flagship loses",
        "",
        *_list(sections, loss=True, held=ANY),
        "## What did not hold",
        "",
        *_list(sections, loss=False, held=False),
        "## What the numbers do not decide",
        "",
        *_list(sections, loss=False, held=None),
        "## What held",
        "",
        *_list(sections, loss=False, held=True),
    ]
    for section, results in sections:
        lines += [f"## {section.title}", "", section.question, ""]
        if len(results.rows) < results.wanted:
            lines += [f"{len(results.rows):,} of {results.wanted:,} points are there; what is missing shows as –.", ""]
        for name in section.figures:
            lines += [f"![{section.title}]({FOLDER}/{name}.svg)", ""]
        for one in section.tables:
            lines += [one, ""]
    lines += [
        "## How to repeat it",
        "",
        f"`{command}` runs what is not yet in its store, and a run that was killed goes on where it was; `--small` is "
        "the version that the tests run. Claims are in `gamesim/theorem/`, one a file: `points` says what is run with "
        "which seeds, `measure` runs one point, `section` writes what stands here.",
        "",
    ]
    return "\n".join(lines)


def _list(sections: Sequence[tuple[Section, Results]], loss: bool, held: bool | str | None) -> list[str]:
    found = [
        f"- *{section.title}.* {finding.text}"
        for section, _ in sections
        for finding in section.findings
        if finding.loss == loss and held in (ANY, finding.held)
    ]
    return [*(found or ["Nothing."]), ""]
