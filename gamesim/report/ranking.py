"""Report a comparison of learners in order of rank: as JSON, as a folder and as a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from gamesim import figures, sealed
from gamesim.formatting import two_digits
from gamesim.learner import PLAIN_REGRETS
from gamesim.report.compare import Contender, Outcome
from gamesim.report.html import comparison_html
from gamesim.report.run_folder import REPORT_FILE, SUMMARY_FILE
from gamesim.report.summary import EQUILIBRIA
from gamesim.report.terminal import describe_run, print_table


def as_timed_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the object that `gamesim compare --json` prints: that of `as_json`, with microseconds per round."""
    summary = as_json(outcomes)
    for entry, outcome in zip(summary["learners"], outcomes, strict=True):
        entry["microseconds"] = 1e6 * outcome.seconds
    return summary


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the summary that a folder keeps: one entry per learner, in order of rank.

    `hardly_moved` lists the learners that stayed close to their initial strategies. Running times are left out, so that
    the same comparison gives the same bytes.
    """
    return {
        "learners": [outcome.as_json() for outcome in outcomes],
        "hardly_moved": [outcome.contender.label for outcome in outcomes if outcome.hardly_moved],
    }


def write(outcomes: Sequence[Outcome], title: str, folder: Path) -> None:
    """Write a comparison into an existing folder: summary, figures, report and each scenario as run."""
    drawn: list[Path] = []
    records = {("(hardly moved) " if one.hardly_moved else "") + one.contender.label: one.record for one in outcomes}
    for kind in EQUILIBRIA:
        drawn += figures.write(figures.compare(records, kind), folder / f"{kind}-gaps")
    summaries = {outcome.contender.label: outcome.summary for outcome in outcomes}
    page = comparison_html(title, summaries, drawn, _note(outcomes))
    (folder / REPORT_FILE).write_text(page, encoding="utf-8")
    for rank, outcome in enumerate(outcomes, start=1):
        place = folder / f"{rank}-{outcome.contender.learner.rpartition(':')[2]}"
        place.mkdir()
        outcome.scenario.write_parts(place)
    scenarios = [path.relative_to(folder).as_posix() for path in folder.glob("*/*")]
    sealed.write(folder / SUMMARY_FILE, as_json(outcomes), scenarios)


def show(outcomes: Sequence[Outcome], against: Contender | None, console: Console) -> None:
    """Print the learners as a table in order of rank."""
    columns = ("CE gap", "CCE gap", "CE distance", "external", "internal", "swap", "µs")
    rows = []
    for outcome in outcomes:
        summary = outcome.summary
        counted = summary.players[:1] if against is not None else summary.players
        worst = [max(one.regret[kind] for one in counted) / summary.rounds for kind in PLAIN_REGRETS]
        gaps = [two_digits(summary.gap[kind]) for kind in ("ce", "cce")]
        moved = summary.distance_in_words("ce", two_digits)
        cost = 1e6 * outcome.seconds
        label = outcome.contender.label.replace(":", ": ")  # so that a long label wraps between its settings
        rows.append([label, *gaps, moved, *map(two_digits, worst), two_digits(cost)])
    console.print(describe_run(outcomes[0].summary), style="dim")
    console.print()
    print_table([("learner", "left"), *((name, "right") for name in columns)], rows, console)
    if note := _note(outcomes):
        console.print(note)
    whose = f"first player against {against.label}" if against is not None else "largest over the players"
    console.print(
        f"Ranked by CE gap. Regrets are per round, in payoff units ({whose}). CE distance is the total variation "
        "from play to the nearest correlated equilibrium; µs is the CPU time per round of all players together.",
        style="dim",
    )


def _note(outcomes: Sequence[Outcome]) -> str:
    """Name the learners that hardly moved, whose rank is not the result of learning."""
    still = [outcome.contender.label for outcome in outcomes if outcome.hardly_moved]
    if not still:
        return ""
    who = " and ".join(filter(None, [", ".join(still[:-1]), still[-1]]))
    whose = "its" if len(still) == 1 else "their"
    return f"{who} stayed close to {whose} initial strategies; a small gap is then not the result of learning."
