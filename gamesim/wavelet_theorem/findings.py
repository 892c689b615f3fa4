"""Report results: sentences that depend on the numbers, tables with intervals, and figures in one style."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from gamesim.figures.style import COLOURS, DASHES, MARKERS, number
from gamesim.study.results import Results
from gamesim.study.statistics import ROUNDING, Mean, slope
from gamesim.wavelet_theorem.points import Labels

LINE_COLOURS = (*COLOURS, "#6A3D9A")  # nine learners
LINE_MARKERS = f"{MARKERS}X"


@dataclass(frozen=True)
class Finding:
    """A sentence that states a result, and its place on the page.

    `held` is whether the claim held, or None if the data are inconclusive; `loss` marks results where the wavelet
    learner does worse than a rival; `under` is the opening shared with other findings, listed together below it.
    """

    text: str
    held: bool | None
    loss: bool = False
    under: str = ""


@dataclass(frozen=True)
class Section:
    """The results of one claim: findings, tables, names of figures, and a summary table for the top of the page."""

    title: str
    question: str
    findings: list[Finding]
    tables: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    summary: str = ""


def mean_text(found: Mean | None) -> str:
    """Format a mean with its interval."""
    if found is None:
        return "–"
    if abs(found.value) < ROUNDING and np.nan_to_num(found.half) < ROUNDING:
        return "0"
    return (
        number(found.value) if np.isnan(found.half) else f"{number(found.value)} ± {number(float(f'{found.half:.2g}'))}"
    )


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return f"**{title}**\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def direction(difference: Mean | None) -> int:
    """Return the sign of a difference if its interval excludes 0, otherwise 0."""
    if difference is None or np.isnan(difference.half) or abs(difference.value) <= difference.half:
        return 0
    return 1 if difference.value > 0 else -1


def direction_from(found: Mean, fixed: float) -> int:
    """Return the sign of `found - fixed` if the interval of the mean excludes `fixed`, otherwise 0."""
    return direction(Mean(found.value - fixed, found.half, found.count))


COMPARED = {-1: "less than", 0: "not significantly different from", 1: "more than"}  # for what `direction` returns


def rival_finding(text: str, apart: int, under: str = "") -> Finding:
    """Return a finding for a comparison with a rival, given the `direction` of the difference."""
    return Finding(text, held=None if apart == 0 else apart < 0, loss=apart > 0, under=under)


def titled(measure: str) -> str:
    """Return the name of a measure with CE and CCE in capitals."""
    return re.sub(r"^c?ce\b", lambda found: found[0].upper(), measure)


def exponents(
    results: Results, measure: str, along: str, values: Sequence[float], labels: Labels
) -> dict[int, float]:  # fmt: skip
    """Return the log-log slopes of a measure along a label, by seed."""
    by_value = [results.values(measure, **{**labels, along: value}) for value in values]
    seeds = set.intersection(*(set(found) for found in by_value)) if by_value else set()
    fitted = {seed: slope(values, [found[seed] for found in by_value]) for seed in sorted(seeds)}
    return {seed: one.value for seed, one in fitted.items() if one is not None}


def compare(
    results: Results,
    cells: Sequence[Labels],
    flagship: str,
    rivals: Sequence[str],
    where: str,
    measure: str = "regret",
) -> list[Finding]:
    """Report in how many cells a learner does significantly worse or better than each rival, or neither.

    For each rival, quote the cell with the largest ratio of the difference to its interval.
    """
    name = titled(measure)
    begin = {
        sign: f"{where}: the {name} of `{flagship}` is {word} than that of"
        for sign, word in ((1, "larger"), (-1, "smaller"))
    }
    begin[0] = f"{where}: in no cell is the {name} of `{flagship}` significantly different from that of"
    findings = []
    for rival in rivals:
        pairs = [({**cell, "learner": flagship}, {**cell, "learner": rival}) for cell in cells]
        known = [(*pair, found) for pair in pairs if (found := results.difference(measure, *pair)) is not None]
        for sign in (1, -1):
            picked = [one for one in known if direction(one[2]) == sign]
            if picked:
                own, other, difference = max(picked, key=lambda one: abs(one[2].value) / max(one[2].half, ROUNDING))
                text = (
                    f"`{rival}` in {len(picked)} of {len(known)} cells; at {describe(own)}: "
                    f"{mean_text(results.mean(measure, **own))} versus {mean_text(results.mean(measure, **other))}, "
                    f"difference {mean_text(difference)}"
                )
                findings.append(rival_finding(text, sign, begin[sign]))
        if known and not any(direction(found) for _, _, found in known):
            widest = max((found for _, _, found in known), key=lambda found: abs(found.value))
            text = f"`{rival}` ({len(known)} cells, largest difference {mean_text(widest)})"
            findings.append(rival_finding(text, 0, begin[0]))
    return findings


def describe(cell: Labels) -> str:
    """Format labels for a sentence."""
    hidden = ("setting", "learner", "part", "along", "T")
    return ", ".join(f"{key} = {value}" for key, value in cell.items() if key not in hidden)


def draw_line(
    panel: Axes, x: Sequence[float], found: Sequence[Mean | None], index: int, label: str, above: float = 0.0
) -> None:
    """Draw the means that lie above a value, with their intervals; a learner looks the same in all figures."""
    kept = [(a, one) for a, one in zip(x, found, strict=True) if one is not None and one.value > above]
    if not kept:
        return
    values = np.array([one.value for _, one in kept])
    halves = np.nan_to_num([one.half for _, one in kept])
    lower = np.minimum(halves, 0.9 * values) if above == 0 else halves  # a logarithmic axis has no place for 0
    panel.errorbar(
        [a for a, _ in kept],
        values,
        yerr=[lower, halves],
        color=LINE_COLOURS[index % len(LINE_COLOURS)],
        linestyle=DASHES[index % len(DASHES)],
        marker=LINE_MARKERS[index % len(LINE_MARKERS)],
        capsize=2,
        elinewidth=0.8,
        label=label,
    )


def log_axes(panel: Axes, axes: str = "xy", ticks: Sequence[float] = ()) -> None:
    """Make axes logarithmic, with ticks at powers of ten, or at `ticks` on the x axis."""
    for name in axes:
        axis, scale = (panel.xaxis, panel.set_xscale) if name == "x" else (panel.yaxis, panel.set_yscale)
        scale("log")
        axis.set_major_locator(LogLocator(numticks=6))
        axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    if ticks:
        panel.xaxis.set_major_locator(FixedLocator(ticks))
        panel.xaxis.set_minor_locator(NullLocator())
