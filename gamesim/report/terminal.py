"""A run's summary on the terminal, and tables that fit into it."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from gamesim.formatting import number
from gamesim.learner import PLAIN_REGRETS
from gamesim.report.summary import EQUILIBRIA, PLAYERS_SHOWN, Summary
from gamesim.report.verdict import trend_in_words


def show(summary: Summary, console: Console) -> None:
    """Print the tables and the verdict."""
    console.print()
    if summary.title:
        console.print(Text(summary.title, style="bold"))
    console.print(run_in_a_line(summary), style="dim")
    console.print()
    _print_players(summary, console)
    if len(summary.players) > PLAYERS_SHOWN:
        console.print(f"… and {len(summary.players) - PLAYERS_SHOWN:,} more players, in summary.json", style="dim")
    drawn = "" if summary.feedback == "expected" else ", up to the luck of the draws"
    proved = any(value is not None for one in summary.players[:PLAYERS_SHOWN] for value in one.certificate.values())
    also = "; proved is what its gradients in this run prove" if proved else ""
    console.print(f"Payoffs and regrets are a round; ≤ is what the learner promises{drawn}{also}.", style="dim")
    console.print()
    _print_gaps(summary, console)
    if summary.distance_left_out:
        console.print(f"Distances and welfare ranges are left out: {summary.distance_left_out}.", style="dim")
    else:
        console.print(
            "The gap is what somebody gains a round by deviating, the distance the share of play that would have to "
            "change. A distance can be large where the gap is small: trust the gap first.",
            style="dim",
        )
    console.print()
    console.print(_welfare(summary))
    console.print()
    console.print(Text(summary.verdict, style="bold"))


def run_in_a_line(summary: Summary) -> str:
    """Say what was run: the game, how many players and rounds, the seed, the feedback, and what there is to gain."""
    replicas = "" if summary.replicas is None else f" · means of {len(summary.replicas)} replicas"
    low, high = summary.payoff_range
    game = "" if summary.game == summary.title else f"{summary.game} · "  # payoffs written out go by the title
    return (
        f"{game}{len(summary.players):,} players · {summary.rounds:,} rounds · seed {summary.seed} · "
        f"{summary.feedback} feedback{replicas} · payoffs {number(low)} to {number(high)}"
    )


def _print_players(summary: Summary, console: Console) -> None:
    columns = [("player", "left"), ("learner", "left"), *((name, "right") for name in ("payoff", *PLAIN_REGRETS))]
    rows: list[list[str | Text]] = []
    for one in summary.players[:PLAYERS_SHOWN]:
        learner = Text(one.learner)
        for key, value in one.settings.items():
            learner.append(f"\n{key} {_short(value)}", style="dim")
        cells = []
        for kind in PLAIN_REGRETS:
            cell = Text(number(one.regret[kind] / summary.rounds))
            bound = one.bound[kind]
            cell.append("\nno bound" if bound is None else f"\n≤ {number(bound / summary.rounds)}", style="dim")
            if (proved := one.certificate[kind]) is not None:
                cell.append(f"\nproved {number(proved / summary.rounds)}", style="dim")
            cells.append(cell)
        rows.append([Text(one.name), learner, number(one.payoff), *cells])
    print_table(columns, rows, console)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 20 else text[:19] + "…"  # regret-matching-plus has 20


def _print_gaps(summary: Summary, console: Console) -> None:
    columns = [("", "left"), ("gap", "right"), ("trend, over T rounds", "left"), ("distance", "right")]
    rows = [
        [name, number(summary.gap[kind]), trend_in_words(summary.gap_trend(kind), "T"), number(summary.distance[kind])]
        for kind, name in EQUILIBRIA.items()
    ]
    print_table(columns, [*rows, ["Nash, by the averages", number(summary.nash_gap), "", ""]], console)


def _welfare(summary: Summary) -> str:
    parts = [f"total payoff {number(summary.welfare)} a round"]
    for kind, ends in summary.welfare_range.items():
        if ends is not None:
            parts.append(f"{kind.upper()} pay {number(ends[0])} to {number(ends[1])}")
    if summary.optimum is not None:
        parts.append(f"the most there is {number(summary.optimum)}")
    return " · ".join(parts)


def print_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str | Text]], console: Console) -> None:
    """Print a table with a heading and a side ("left" or "right") for each column.

    Where it is too wide, headings and text on the left are wrapped between words, and then columns go on below, each
    time beside the first: a number is never broken.
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
        printed.width = sum(widths) + gap * (len(widths) - 1)  # also where a single column is wider than the terminal
        for k, width in zip(chosen, widths, strict=True):
            heading, side = columns[k]
            printed.add_column(heading, justify="right" if side == "right" else "left", width=width)
        for row in rows:
            printed.add_row(*(row[k] for k in chosen))
        console.print(printed, crop=False)


def in_parts(widths: Sequence[int], gap: int, width: int) -> list[list[int]]:
    """Return which columns stand beside each other, each time with the first, so that they fit into a width.

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
