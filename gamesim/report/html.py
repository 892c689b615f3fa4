"""The report of a run or a comparison as a single HTML file with embedded figures, without requests.

The page suits phones, projectors and paper, in light and dark mode. Figures keep a white background in dark mode,
because they are drawn for paper. User input (titles, names, labels, scenarios) is escaped, and the page's content
security policy forbids loading anything, and running anything but the script of the replay.
"""

import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from html import escape, unescape
from importlib.resources import files
from pathlib import Path

import numpy as np

from gamesim.equilibrium import Deviation, polytope
from gamesim.formatting import number, replicas
from gamesim.learner import PLAIN_REGRETS
from gamesim.measure.incentives import EquilibriumKind, no_distance
from gamesim.measure.trend_words import in_words
from gamesim.record import Record
from gamesim.report.replay import script_hash, views_css
from gamesim.report.summary import PLAYERS_SHOWN, PROFILE_NOTE, RegretSummary, Summary
from gamesim.report.terminal import how_played, interval_rows
from gamesim.report.verdict import bound_in_words, draws_seen

EQUILIBRIUM_HEADINGS: dict[EquilibriumKind, str] = {"ce": "correlated (CE)", "cce": "coarse correlated (CCE)"}
# Captions by file name.
CAPTIONS = {
    "cloud": "Each thin line is a run or a group, the thick line their median, and the bands contain half and 90 % "
    "of the runs. Runs that part end at different places, which means hide.",
    "gaps": "Gap: the largest gain per round that a player would obtain by deviating. Distance, if computed: the total "
    "variation from play to the nearest equilibrium. Both are for play up to each round.",
    "regrets": "How much more players would have earned in total by always playing one fixed action (external), by "
    "replacing one action with another (internal), or by any swap of their actions (swap regret).",
    "profile": "How much more each player would have earned in total by deviations that grow richer with k: at "
    "k = 1, one fixed action (solid) or one action replaced (dashed); at the largest k, any swap of actions.",
    "strategies": "The probabilities with which players play their actions, in the rounds that the record keeps.",
    "frequencies": "How often players played their actions, in moving windows of a tenth of the rounds.",
    "triangles": "The mixed strategies of players with three actions as paths: each corner is an action, "
    "and the closer the path is to a corner, the more likely is that action.",
    "phase-space": "The strategies of all players as one point, which moves from round to round. Arrows show where the "
    "learners would go from each point, shades how fast, and marks where they rest.",
    "tetrahedron": "All joint distributions of two players with two actions each: every corner is an action profile, "
    "the path is the joint distribution of play up to each round, and the regions are the sets of equilibria.",
    "payoff-space": "Mean payoffs per round of both players up to each round, with the feasible payoffs and those of "
    "the equilibria.",
    "joint": "The probability of each action profile, averaged over all rounds.",
    "nearest": "The probability of each action profile, averaged over all rounds, and the nearest correlated "
    "equilibrium.",
    "network": "The players and their neighbours, with each player's final strategy.",
    "ce-gaps": "The CE gap of each run up to each round: the largest gain per round from swapping actions.",
    "cce-gaps": "The CCE gap of each run up to each round: the largest gain per round from playing one fixed action.",
}
MOST_DEVIATIONS = 5  # listed per kind of equilibrium
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def content_security_policy() -> str:
    """Return the policy of a report, which runs the script of the replay and nothing else."""
    return f"{POLICY}; script-src {script_hash()}"


def report_html(
    record: Record,
    summary: Summary,
    figures: Sequence[Path],
    scenario: str,
    failed: Mapping[str, str] | None = None,
    replay: str = "",
) -> str:
    """Return the report of a run: its summary, its replay, its SVG figures and the scenario as TOML.

    `failed` holds the names of figures that could not be drawn, with the reasons; `replay` is HTML, see `replay_html`.
    """
    facts = (
        f"{summary.game} · {len(summary.players):,} player{'' if len(summary.players) == 1 else 's'} · "
        f"{summary.rounds:,} round{'' if summary.rounds == 1 else 's'} · {how_played(summary)}"
    )
    return _page(
        summary.title or summary.game,
        facts,
        summary.verdict,
        [
            ("Replay", replay),
            ("Largest regrets" if summary.varies else "How close play is to equilibrium", _gaps(summary)),
            ("Players", _players(summary)),
            ("Bounds along the regret profile", _profiles(summary)),
            ("Intervals", _intervals(summary)),
            ("Most profitable deviations", _deviations(record)),
            ("Figures", _figures(figures, failed)),
            ("Scenario", f"<pre tabindex=0>{escape(scenario.strip())}</pre>" if scenario.strip() else ""),
            ("Versions", _versions(summary))
            if summary.feedback == "observed"
            else ("Reproducing this run", _repeat(summary)),
        ],
    )


def comparison_html(title: str, summaries: Mapping[str, Summary], figures: Sequence[Path], note: str = "") -> str:
    """Return the report that compares several runs, by label; `note` follows the verdict."""
    least = min(one.gap["ce"] for one in summaries.values())
    best = [label for label, one in summaries.items() if one.gap["ce"] == least or one.trend["ce"] == "zero"]
    rows = [
        [
            escape(label),
            f"{one.rounds:,}",
            one.gap_in_digits("ce"),
            _slope(one.slope["ce"]),
            one.gap_in_digits("cce"),
            _slope(one.slope["cce"]),
            one.distance_in_words("ce"),
            one.distance_in_words("cce"),
            number(one.welfare),
        ]
        for label, one in summaries.items()
    ]
    headings = ["run", "rounds", "CE gap", "trend", "CCE gap", "trend", "CE distance", "CCE distance", "total payoff"]
    who = " and ".join(filter(None, [", ".join(best[:-1]), best[-1]]))
    mean = "mean " if any(one.replicas is not None for one in summaries.values()) else ""
    ends = "ends" if len(best) == 1 else "end"
    verdict = f"{who} {ends} with the smallest {mean}CE gap, {summaries[best[0]].gap_in_digits('ce')}."
    first = next(iter(summaries.values()))
    return _page(
        title,
        f"{len(summaries)} runs",
        f"{verdict} {note}".rstrip(),
        [
            ("Runs", _table(headings, rows)),
            *[(f"{label}: verdict", f"<p>{_raised(one.verdict)}</p>") for label, one in summaries.items()],
            ("Figures", _figures(figures)),
            ("Versions", _versions(first)),
        ],
    )


def _page(title: str, facts: str, verdict: str, sections: Iterable[tuple[str, str]]) -> str:
    body = "\n".join(f"<section>\n<h2>{escape(head)}</h2>\n{inside}\n</section>" for head, inside in sections if inside)
    style = files("gamesim.report").joinpath("report.css").read_text(encoding="utf-8")
    if "<script" in body:
        style, policy = views_css() + style, content_security_policy()
    else:
        policy = POLICY
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="facts">{escape(facts)}</p>
</header>
<main>
<p class="verdict">{_raised(verdict)}</p>
{body}
</main>
</body>
</html>
"""


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], words: Container[int] = (0,)) -> str:
    """Return a table of HTML cells; the columns `words` are text, the others numbers."""
    side = ["" if k in words else ' class="n"' for k in range(len(headings))]
    head = "".join(f'<th scope="col"{side[k]}>{escape(text)}</th>' for k, text in enumerate(headings))
    lines = ["<tr>" + "".join(f"<td{side[k]}>{cell}</td>" for k, cell in enumerate(row)) + "</tr>" for row in rows]
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody>\n</table>"
    return f'<div class="wide" tabindex="0">\n{table}\n</div>'


def _slope(slope: float | None) -> str:
    return "–" if slope is None else f"T<sup>{round(slope, 2) + 0:.2f}</sup>".replace("-", "−")


def _trend(summary: Summary, kind: str) -> str:
    return _raised(in_words(summary.trends[kind], of=replicas(summary.feedback)))


def _raised(words: str) -> str:
    """Escape a text and raise its powers of T and of 10."""
    raised = r"\b(T|10)\^(-?[0-9.,]*[0-9])"
    return re.sub(raised, lambda one: f"{one[1]}<sup>{one[2].replace('-', '−')}</sup>", escape(words))


def _gaps(summary: Summary) -> str:
    rows = []
    for kind, equilibrium in EQUILIBRIUM_HEADINGS.items():
        name = summary.gap_name(kind) if summary.varies else equilibrium
        distance = summary.distance_in_words(kind)
        rows.append([escape(name), summary.gap_in_digits(kind), _trend(summary, kind), distance])
    rows.append(["Nash gap of the average strategies", number(summary.nash_gap), "–", "–"])
    notes = [
        "The gap is the largest gain per round from deviating, in payoff units; the distance is the total "
        "variation distance "
        "from play to the nearest equilibrium. A small gap does not imply a small distance."
    ]
    notes += summary.notes
    welfare = [f"The total payoff is {number(summary.welfare)} per round."]
    for which, ends in summary.welfare_range.items():
        if ends is not None:
            welfare.append(f"{which.upper()} payoffs range from {number(ends[0])} to {number(ends[1])}.")
    if summary.optimum is not None:
        welfare.append(f"The maximum possible is {number(summary.optimum)}.")
    table = _table(["equilibrium", "gap", "trend", "distance"], rows)
    return f"{table}\n<p>{escape(' '.join(welfare))}</p>\n" + "\n".join(_note(note) for note in notes)


def _note(text: str) -> str:
    return f'<p class="note">{_raised(text)}</p>'


def _players(summary: Summary) -> str:
    rows = []
    for one in summary.players[:PLAYERS_SHOWN]:
        settings = ", ".join(f"{key} = {value}" for key, value in one.settings.items())
        learner = escape(one.learner) + (f"<br><small>{escape(settings)}</small>" if settings else "")
        facts = [escape(one.name), learner, number(one.payoff)]
        if not summary.drawn:
            rows.append([*facts, *_regret_cells(one, summary.rounds)])
            continue
        for of, part in one.drawn_and_mixed().items():
            words = bound_in_words(part.bound_holds, one.seen_by if one.guarantee else [])
            whose = of + (f"<br><small>{escape(words)}</small>" if words else "")
            rows.append([*facts, whose, *_regret_cells(part, summary.rounds)])
            facts = ["", "", ""]
    regret_of = ["regret of"] if summary.drawn else []
    table = _table(
        ["player", "learner", "payoff", *regret_of, *PLAIN_REGRETS], rows, words=(0, 1, 3) if summary.drawn else (0, 1)
    )
    warning = f"<p><strong>{escape(draws_seen(seers))}</strong></p>\n" if (seers := summary.seers) else ""
    return f"{table}\n{warning}" + "\n".join(_note(note) for note in _notes_on_players(summary))


def _regret_cells(part: RegretSummary, rounds: int) -> list[str]:
    """Return one cell per kind of regret: the regret per round and its bounds."""
    return [_cell(part.lines(kind, rounds)) for kind in PLAIN_REGRETS]


def _cell(lines: Sequence[str]) -> str:
    return lines[0] + "".join(f"<br><small>{line}</small>" for line in lines[1:])


def _profiles(summary: Summary) -> str:
    """Return the regret profiles of the players with certificates."""
    ks, profiles = summary.profiles()
    if not profiles:
        return ""
    rows = [
        [escape(name), escape(family)]
        + [_cell(profile.lines(k, summary.rounds)) if k <= len(profile.regret) else "–" for k in ks]
        for name, family, profile in profiles
    ]
    table = _table(["player", "deviations", *(f"k = {k}" for k in ks)], rows, words=(0, 1))
    return f"{table}\n{_note(PROFILE_NOTE)}"


def _notes_on_players(summary: Summary) -> Iterator[str]:
    proves = any(
        value is not None
        for one in summary.players[:PLAYERS_SHOWN]
        for part in one.drawn_and_mixed().values()
        for value in part.certificate.values()
    )
    also = (
        "; proved is the bound that the gradients of this run certify for all deviations of the kind, and improper the "
        "largest regret of the learner's matrices before they are projected, another bound"
        if proves
        else ""
    )
    if summary.drawn:
        yield (
            "Payoffs and regrets (external, internal, swap) are per round, in payoff units: of the drawn actions, and "
            f"of the strategies that they are drawn from. ≤ is a bound on that regret, in the sense stated{also}."
        )
    else:
        yield (
            "Payoffs and regrets (external, internal, swap) are per round, in payoff units; ≤ is the learner's "
            f"guarantee{also}."
        )
    if summary.strategies_left_out:
        yield f"Regrets of the strategies are left out: {summary.strategies_left_out}."
    if (more := len(summary.players) - PLAYERS_SHOWN) > 0:
        yield f"For {more:,} more players, see summary.json."


def _intervals(summary: Summary) -> str:
    if (found := summary.intervals) is None:
        return ""
    rows = [[escape(cell) for cell in row] for row in interval_rows(summary, found)]
    note = f"{100 * found.level:g} % bootstrap intervals per round, over {found.resampled}."
    return _table(["measure", "player", "estimate", "from", "to"], rows, words=(0, 1)) + _note(note)


def _deviations(record: Record) -> str:
    """List the most profitable deviations from the joint distribution, or explain why they are not listed."""
    if record.joint is None or no_distance(record.game) is not None:
        return _note(
            f"Deviations are not listed: {no_distance(record.game) or 'the record has no joint distribution'}."
        )
    joint = record.joint if record.single else record.joint.mean(axis=0)
    found = [
        one for kind in EQUILIBRIUM_HEADINGS for one in polytope(record.game, kind).deviations(joint, MOST_DEVIATIONS)
    ]
    low, high = record.game.range
    size = float(max(np.abs(low).max(), np.abs(high).max()))
    zero = sys.float_info.epsilon * size * (record.rounds + record.game.cells)  # rounding of the sums over cells
    rows = [_deviation(one) for one in found if one.gain > zero]
    mean = (
        "" if record.single else f" from the mean joint distribution of {record.replicas} {replicas(record.feedback)}"
    )
    if not rows:
        return f"<p>Up to rounding, no player gains by any deviation{mean}.</p>"
    listed = _table(["player", "instead of", "play", "gain per round"], rows, words=(0, 1, 2))
    return f"{listed}\n{_note(f'Gains by deviating{mean}.')}" if mean else listed


def _deviation(one: Deviation) -> list[str]:
    replaced = "<em>any action</em>" if one.recommended is None else escape(one.recommended)
    return [escape(one.player), replaced, escape(one.to), number(one.gain, zero=0.0)]


def _figures(paths: Sequence[Path], failed: Mapping[str, str] | None = None) -> str:
    cards = [_card(path) for path in paths if path.suffix == ".svg"]
    shown = '<div class="pictures">\n' + "\n".join(cards) + "\n</div>" if cards else ""
    return shown + "".join("\n" + _note(f"{one}.") for one in missing_figures(failed or {}))


def missing_figures(failed: Mapping[str, str]) -> list[str]:
    """Return why figures are missing, in words.

    >>> missing_figures({"nearest": "a linear program was not solved"})
    ['The figure nearest is not drawn: a linear program was not solved']
    """
    return [f"The figure {name} is not drawn: {why}" for name, why in failed.items()]


def _card(path: Path) -> str:
    """Return a figure for embedding: without a prolog, as wide as its container, with unique ids."""
    text = path.read_text(encoding="utf-8")
    title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    words = unescape(title[1]) if title else path.stem
    text = text[text.index("<svg") :]
    for part in (r"<!--.*?-->", r"<metadata>.*?</metadata>", r"<title>.*?</title>", r"<style.*?</style>"):
        text = re.sub(part, "", text, flags=re.DOTALL)
    own = re.sub(r"[^a-z0-9]+", "-", path.stem.lower())
    for reference in (' id="', 'href="#', "url(#"):
        text = text.replace(reference, f"{reference}{own}-")
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)
    text = re.sub(r"\n\s*", "\n", text).strip()
    caption = CAPTIONS.get(path.stem)
    below = f"\n<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure tabindex="0">\n{text}{below}\n</figure>'


def _repeat(summary: Summary) -> str:
    part = f" of the first {summary.rounds:,} rounds, after which this run was stopped," if summary.stopped else ""
    steps = (
        f"<p>Save the scenario above as <code>scenario.toml</code>, beside the files that it names, and run "
        f"<code>gamesim run scenario.toml --seed {summary.seed}</code>. With the same versions, on the same kind of "
        f"processor, the results{part} are bit-for-bit identical.</p>"
    )
    return steps + _versions(summary)


def _versions(summary: Summary) -> str:
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(version)}</dd>" for name, version in summary.versions.items())
    seed = "" if summary.feedback == "observed" else f"<dt>seed</dt><dd>{summary.seed}</dd>"
    return f"<dl>{items}{seed}</dl>"
