"""Write the page, a short paper, and its appendix of tables. All their numbers come from the store."""

from collections.abc import Sequence

import numpy as np

from gamesim.study.results import Results
from gamesim.wavelet_theorem.claims import Claim
from gamesim.wavelet_theorem.comparisons import BELOW, LEVEL, LOST, NOISE, TIED, WON, count
from gamesim.wavelet_theorem.instances import OPTIMISTIC, PAPER, RIVALS
from gamesim.wavelet_theorem.interpolation import GAP
from gamesim.wavelet_theorem.presentation import listed, said, table

FOLDER = "theorem"  # for the figures, next to the page
APPENDIX = "theorem-tables.md"
Found = Sequence[tuple[Claim, Results]]


def page_text(found: Found, command: str) -> str:
    """Return the page in Markdown, with generated numbers marked."""
    lines = ["# The wavelet theorem, tested", "", "## Abstract", "", _abstract(found), "", "## Setting", ""]
    lines += [*_setting(found), "", "## Where it loses", "", *_losses(found), ""]
    for at, (claim, results) in enumerate(found, start=1):
        verdict = "Criterion met" if claim.holds(results) else "Criterion not met"
        lines += [f"## Claim {at}. {claim.TITLE}", ""]
        lines += [f"**{verdict}:** *{claim.CRITERION}.* {claim.paragraph(results)}", ""]
        lines += [f"![{claim.TITLE}]({FOLDER}/{claim.NAME}.svg)", "", f"*Figure {at}. {claim.CAPTION}*", ""]
    return "\n".join([*lines, "## Limits", "", _limits(), "", f"All tables are in the [appendix]({APPENDIX}). "
        f"`{command}` runs missing points and regenerates this page, its numbers and its figures.",
        ""])  # fmt: skip


def _abstract(found: Found) -> str:
    counts = count([one for claim, results in found for one in claim.compared(results)])
    findings = "; ".join(f"({at}) {claim.finding(results)}" for at, (claim, results) in enumerate(found, start=1))
    numbered = list(enumerate(found, start=1))
    worse = [str(at) for at, (claim, results) in numbered if (one := count(claim.compared(results)))[LOST] > one[WON]]
    held = [str(at) for at, (claim, results) in numbered if claim.holds(results)]
    return (
        "Lu, Sun and Zhang (2025) bound the regret of one learner against all maps φ of actions to actions at once, by "
        "the sparsity of φ. We test five claims about their learner and our variants by simulation. Our flagship, "
        f"`{OPTIMISTIC}`, is no universal winner: of {said(sum(counts.values()))} paired comparisons with rivals it "
        f"loses {said(counts[LOST])}, wins {said(counts[WON])} and ties {said(counts[TIED])}; {said(counts[BELOW])} "
        f"are below noise. Claims in which it loses more often than it wins: {listed(worse)}. We find that {findings}. "
        f"By criteria fixed before the run, claims {listed(held)} held."
    )


def _setting(found: Found) -> tuple[str, ...]:
    seeds = [len(results.values(OPTIMISTIC, **row.labels)) for _, results in found for row in results.done[-1:]]
    return (
        "In each round a learner plays p ∈ Δ(d) and observes losses l ∈ [−1, 1]^d. Its regret against a stochastic "
        "matrix φ is Σ (⟨p, l⟩ − ⟨pφ, l⟩). Its external regret is the maximum over constant φ, internal over φ that "
        "move one action, swap over all φ. Let unif(φ) be the size of the largest group of equal rows and self(φ) the "
        "number of actions i with φ(i) = i. Theorem 1 bounds regret by c √(k (T + d)) (log d)^(3/2) for all φ, with "
        f"k = min{{d − unif(φ) + 1, d − self(φ)}}. The paper's learner, `{PAPER}`, predicts φ in a basis of Haar "
        "wavelets along its rows, so the order of actions matters: equal rows cost least if adjacent. "
        "`wavelet-continuous` is our variant with a finer clock; our flagship adds the last gradient as a hint whose "
        "cost is limited. Rivals: Blum–Mansour (BM) with predictive RM⁺, optimistic log-barrier and AdaHedge rows; "
        "anytime `prior-hedge`; comparator-adaptive BM, which knows T; `aggregate`, the paper's baseline; "
        "`subsequence-regret` (Noarov et al. 2023).",
        "",
        "Most of them learn a matrix Q and play p = pQ. Claims 1 and 3 test Q alone: a context i is drawn uniformly, "
        "row i of Q is played, and φ\\*(i) is better than all other actions by "
        f"{GAP} on average.",
        "",
        f"Every cell has {said(min(seeds))} seeds, unless nothing is random. All learners face the same random "
        "numbers, so differences are paired by seed, with Student's t test and Holm's correction at level "
        f"{LEVEL:g} within each claim; without significance, they tie. Comparisons with both mean regrets below "
        f"{NOISE:g}, what one round can cost a player, are below noise and do not count. Intervals have level 95 %.",
    )


def _losses(found: Found) -> list[str]:
    compared = {claim.NAME: claim.compared(results) for claim, results in found}
    everyone = [one for comparisons in compared.values() for one in comparisons]
    names = list(dict.fromkeys([*RIVALS, *(one.rival for one in everyone)]))
    rows = []
    for some in [*([rival] for rival in RIVALS), [name for name in names if name not in RIVALS]]:
        counts = [count([one for one in each if one.rival in some]) for each in compared.values()]
        cells = (f"{said(one[LOST])}–{said(one[WON])}" if sum(one.values()) else "·" for one in counts)
        rows.append([", ".join(some), *cells])
    easiest = max(names, key=lambda name: count(everyone, name)[WON])
    others = count([one for one in everyone if one.rival != easiest])
    beaten = [name for name in names if count(everyone, name)[LOST] > count(everyone, name)[WON]]
    lost = [one for one in everyone if one.verdict == LOST]
    median = float(np.nanmedian([one.ratio for one in lost])) if lost else float("nan")
    text = (
        f"Rivals that beat `{OPTIMISTIC}` more often than they lose to it: {listed(beaten)}. Without {easiest}, "
        f"against which it wins most often, it loses {said(others[LOST])} and wins {said(others[WON])}."
    )
    if lost:
        worst = max(lost, key=lambda one: one.difference.value)
        where = ", ".join(
            f"{value}" if isinstance(value, str) else f"{k} = {value:,}" for k, value in worst.cell.items()
        )
        text += (
            f" Where it loses, its regret is {said(median)} times the rival's in the median. The largest difference is "
            f"{said(worst.own)} against {said(worst.other)} of {worst.rival} ({where})."
        )
    title = f"Comparisons of `{OPTIMISTIC}` by claim, lost–won (· not compared)"
    return [text, "", table(title, ["rival", *(f"{at} {name}" for at, name in enumerate(compared, start=1))], rows)]


def _limits() -> str:
    return (
        "No finite set of instances confirms an upper bound, and these are ours. A pilot on other seeds chose gaps and "
        "grids. Sizes were reduced for lack of computing time, before the full run, so powers of k, d and T are fits "
        "over three values. `subsequence-regret`, whose matrix is defined only up to scaling, runs only in full games. "
        "The "
        "adaptive adversary is not optimal: it gets stuck against some learners. The lower-bound construction forces "
        "√(dT), not the √(dT ln d) of Ito (2020)."
    )


def appendix_text(found: Found, command: str) -> str:
    """Return the appendix in Markdown, with generated numbers marked."""
    finished = sum(len(results.done) for _, results in found)
    wanted = sum(len(results.rows) for _, results in found)
    minutes = sum(results.seconds for _, results in found) / 60
    lines = [
        "# Tables of the wavelet theorem, tested",
        "",
        f"`{command}` generates these tables and [the page](theorem.md) from {said(finished)} of {said(wanted)} points "
        f"({said(max(minutes, 1))} minutes of computing). A point is one instance with one seed, on which all learners "
        "run. Means have 95 % intervals over seeds; smaller is better.",
        "",
    ]
    for at, (claim, results) in enumerate(found, start=1):
        lines += [f"## Claim {at}. {claim.TITLE}", ""]
        for one in claim.tables(results):
            lines += [one, ""]
        counts = {rival: count(claim.compared(results), rival) for rival in _rivals(claim, results)}
        rows = [[rival, *(said(one[what]) for what in (LOST, WON, TIED, BELOW))] for rival, one in counts.items()]
        lines += [table(f"Comparisons of `{OPTIMISTIC}` with each rival", ["", LOST, WON, TIED, BELOW], rows), ""]
    return "\n".join(lines)


def _rivals(claim: Claim, results: Results) -> list[str]:
    return list(dict.fromkeys(one.rival for one in claim.compared(results)))
