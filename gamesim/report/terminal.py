"""Print the summary of a run on the terminal, with tables that fit its width."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from gamesim.formatting import number, replicas
from gamesim.game import Game, Table
from gamesim.learner import PLAIN_REGRETS
from gamesim.measure.trend_words import in_words
from gamesim.report.summary import EQUILIBRIA, PLAYERS_SHOWN, PROFILE_NOTE, Intervals, RegretSummary, Summary
from gamesim.report.verdict import bound_in_words, draws_seen

LARGEST_PRINTED = 4  # actions per player of the games whose payoffs are printed with a run


def show(summary: Summary, console: Console, game: Game | None = None) -> None:
    """Print the tables and the verdict, with the payoffs of the game if it is given and small."""
    console.print()
    if summary.title:
        console.print(Text(summary.title, style="bold"))
    console.print(describe_run(summary), style="dim")
    if isinstance(game, Table) and len(game.players) == 2 and max(game.sizes) <= LARGEST_PRINTED:
        for heading, grid in payoff_grids(game):
            console.print(heading)
            console.print(grid)
    console.print()
    _print_players(summary, console)
    if len(summary.players) > PLAYERS_SHOWN:
        console.print(f"… and {len(summary.players) - PLAYERS_SHOWN:,} more players; see summary.json", style="dim")
    console.print(_players_note(summary), style="dim")
    if summary.strategies_left_out:
        console.print(f"Regrets of the strategies are left out: {summary.strategies_left_out}.", style="dim")
    _print_profiles(summary, console)
    if seers := summary.seers:
        console.print(Text(draws_seen(seers), style="bold"))
    console.print()
    _print_gaps(summary, console)
    for note in summary.notes:
        console.print(note, style="dim")
    if summary.intervals is not None:
        _print_intervals(summary, summary.intervals, console)
    if not summary.distance_left_out:
        console.print(
            "The gap is the largest gain per round from deviating; the distance is the total variation distance "
            "from play to "
            "the nearest equilibrium. A small gap does not imply a small distance.",
            style="dim",
        )
    console.print()
    console.print(_welfare(summary))
    console.print()
    console.print(Text(summary.verdict, style="bold"))


def payoff_grids(game: Table) -> Iterator[tuple[str, Grid]]:
    """Yield the payoffs of the first two players' actions, one table per action profile of the other players."""
    rows, columns = game.actions[0], game.actions[1] if len(game.actions) > 1 else ("payoff",)
    payoffs: Any = game.payoffs if len(game.players) > 1 else game.payoffs[..., None]
    for others in product(*map(range, game.sizes[2:])):
        chosen = [
            f"{who} plays {labels[a]}"
            for who, labels, a in zip(game.players[2:], game.actions[2:], others, strict=True)
        ]
        grid = Grid(*("", *columns), box=None, header_style="dim", padding=(0, 3, 0, 0))
        for a, label in enumerate(rows):
            cells = [", ".join(number(u) for u in payoffs[(slice(None), a, b, *others)]) for b in range(len(columns))]
            grid.add_row(label, *cells)
        yield "\n" + "; ".join(chosen) if chosen else "", grid


def describe_run(summary: Summary) -> str:
    """Return one line with the game, the numbers of players and rounds, the seed, the feedback and the payoff range."""
    low, high = (number(end, zero=0.0) for end in summary.payoff_range)  # given, not computed
    to = " to " if low.startswith("-") else "–"
    game = (
        "" if summary.game == summary.title else f"{summary.game} · "
    )  # a payoff table in a scenario is named by the title
    return (
        f"{game}{count(len(summary.players), 'player')} · {count(summary.rounds, 'round')} · {how_played(summary)} · "
        f"payoffs {low}{to}{high}"
    )


def how_played(summary: Summary) -> str:
    """Return the seed, the feedback and the replicas of a run, or that play was observed, in words."""
    found = "" if summary.replicas is None else f" · mean of {len(summary.replicas)} {replicas(summary.feedback)}"
    if summary.feedback == "observed":
        return f"observed play{found}"
    return f"seed {summary.seed} · {summary.feedback} feedback{found}"


def count(items: int, noun: str) -> str:
    """Return a number of items in words.

    >>> count(1, "round"), count(2000, "round")
    ('1 round', '2,000 rounds')
    """
    return f"{items:,} {noun}{'' if items == 1 else 's'}"


def _players_note(summary: Summary) -> str:
    """Explain the table of players."""
    proved = any(
        value is not None
        for one in summary.players[:PLAYERS_SHOWN]
        for part in one.drawn_and_mixed().values()
        for value in part.certificate.values()
    )
    also = (
        "; proved is the bound certified by this run for all deviations of the kind, and improper the largest of "
        "their regrets before projection, another bound"
        if proved
        else ""
    )
    if summary.feedback == "observed":
        return "Payoffs and regrets are per round."
    if summary.drawn:
        return (
            "Payoffs and regrets are per round: of the drawn actions, and of the strategies that they are drawn from; "
            f"≤ is a bound on that regret, in the sense stated{also}."
        )
    return f"Payoffs and regrets are per round; ≤ is the learner's worst-case bound{also}."


def _print_players(summary: Summary, console: Console) -> None:
    regret_of = [("regret of", "left")] if summary.drawn else []
    regrets = [(kind, "right") for kind in PLAIN_REGRETS]
    columns = [("player", "left"), ("learner", "left"), ("payoff", "right"), *regret_of, *regrets]
    rows: list[list[str | Text]] = []
    for one in summary.players[:PLAYERS_SHOWN]:
        learner = Text(one.learner)
        for key, value in one.settings.items():
            learner.append(f"\n{key} {_short(value)}", style="dim")
        facts: list[str | Text] = [Text(one.name), learner, number(one.payoff)]
        if not summary.drawn:
            bounds = summary.feedback != "observed"
            rows.append([*facts, *_regret_cells(one, summary.rounds, bounds)])
            continue
        for of, part in one.drawn_and_mixed().items():
            words = bound_in_words(part.bound_holds, one.seen_by if one.guarantee else [])
            whose = Text(of).append(f"\n{words}" if words else "", style="dim")
            rows.append([*facts, whose, *_regret_cells(part, summary.rounds)])
            facts = ["", "", ""]
    print_table(columns, rows, console)


def _regret_cells(part: RegretSummary, rounds: int, bounds: bool = True) -> list[Text]:
    """Return one cell per kind of regret: the regret per round and its bounds."""
    return [_cell(part.lines(kind, rounds)[: None if bounds else 1]) for kind in PLAIN_REGRETS]


def _cell(lines: Sequence[str]) -> Text:
    return Text(lines[0]).append("".join(f"\n{line}" for line in lines[1:]), style="dim")


def _print_profiles(summary: Summary, console: Console) -> None:
    """Print the regret profiles of the players with certificates."""
    ks, profiles = summary.profiles()
    if not profiles:
        return
    columns = [("player", "left"), ("deviations", "left"), *((f"k = {k}", "right") for k in ks)]
    rows: list[list[str | Text]] = []
    for name, family, profile in profiles:
        inside = [_cell(profile.lines(k, summary.rounds)) if k <= len(profile.regret) else Text("–") for k in ks]
        rows.append([Text(name), Text(family), *inside])
    console.print()
    print_table(columns, rows, console)
    console.print(PROFILE_NOTE, style="dim")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 20 else text[:19] + "…"  # regret-matching-plus has 20


def _print_gaps(summary: Summary, console: Console) -> None:
    columns = [("", "left"), ("gap", "right"), ("trend in T", "left"), ("distance", "right")]
    rows = []
    for kind in EQUILIBRIA:
        gap, trend = summary.gap_in_digits(kind), in_words(summary.trends[kind], of=replicas(summary.feedback))
        rows.append([summary.gap_name(kind), gap, trend, summary.distance_in_words(kind)])
    print_table(columns, [*rows, ["Nash gap of the average strategies", number(summary.nash_gap), "", ""]], console)


def _print_intervals(summary: Summary, intervals: Intervals, console: Console) -> None:
    columns = [(f"{100 * intervals.level:g} % interval", "left"), ("of", "left"), ("estimate", "right")]
    rows = interval_rows(summary, intervals)
    print_table([*columns, ("from", "right"), ("to", "right")], rows, console)
    console.print(f"Per round; bootstrap over {intervals.resampled}.", style="dim")


def interval_rows(summary: Summary, intervals: Intervals) -> list[list[str]]:
    """Return the rows of the table of intervals: measure, player, estimate, and both ends."""
    rows = []
    for name, found in intervals.by_measure.items():
        of = [""] if len(found) == 1 and len(summary.players) > 1 else [one.name for one in summary.players]
        for who, numbers in zip(of[:PLAYERS_SHOWN], found, strict=False):
            rows.append([name.replace("-", " "), who, *map(number, numbers)])
    return rows


def _welfare(summary: Summary) -> str:
    parts = [f"total payoff per round {number(summary.welfare)}"]
    for kind, ends in summary.welfare_range.items():
        if ends is not None:
            parts.append(f"in {kind.upper()} {number(ends[0])} to {number(ends[1])}")
    if summary.optimum is not None:
        parts.append(f"maximum possible {number(summary.optimum)}")
    return " · ".join(parts)


def print_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str | Text]], console: Console) -> None:
    """Print a table with a heading and an alignment ("left" or "right") for each column.

    If the table is too wide, headings and left-aligned text wrap between words; columns that still do not fit continue
    below, next to the first column. Numbers never wrap.
    """
    whole, least = [], []
    for k, (heading, side) in enumerate(columns):
        lines = [line for row in rows for line in str(row[k]).split("\n")]
        words = [*heading.split(), *(lines if side == "right" else " ".join(lines).split())]
        whole.append(max(map(cell_len, [heading, *lines])))
        least.append(max(map(cell_len, words), default=0))
    gap = 2 if sum(whole) + 2 * (len(whole) - 1) <= console.width else 1
    for part, chosen in enumerate(in_parts(least, gap, console.width)):
        if part:
            console.print()
        widths = [least[k] for k in chosen]
        room = console.width - sum(widths) - gap * (len(widths) - 1)
        for i, k in enumerate(chosen):
            more = max(0, min(room, whole[k] - least[k]))
            widths[i] += more
            room -= more
        printed = Grid(box=SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False, padding=(0, gap - 1, 0, 0))
        printed.width = sum(widths) + gap * (len(widths) - 1)  # even if a single column is wider than the terminal
        for k, width in zip(chosen, widths, strict=True):
            heading, side = columns[k]
            printed.add_column(heading, justify="right" if side == "right" else "left", width=width)
        for row in rows:
            printed.add_row(*(row[k] for k in chosen))
        console.print(printed, crop=False)


def in_parts(widths: Sequence[int], gap: int, width: int) -> list[list[int]]:
    """Split columns into groups that fit a width; each group begins with the first column.

    >>> in_parts([5, 8, 8, 9], gap=1, width=24)
    [[0, 1, 2], [0, 3]]
    """
    chosen: list[list[int]] = []
    left = 0
    for k in range(1, len(widths)):
        if not chosen or widths[k] + gap > left:
            chosen.append([0])
            left = width - widths[0]
        chosen[-1].append(k)
        left -= widths[k] + gap
    return chosen
