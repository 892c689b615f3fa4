"""What a run came to: the measures of a record in one place, as JSON, as a table, and as one plain sentence.

A gap says how much somebody gains by deviating; a distance says how much play would have to change. The verdict looks
at how the gaps fall along the run, because after finitely many rounds no gap is exactly 0: see `gamesim.measure.trend`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from gamesim import equilibrium
from gamesim.formatting import number
from gamesim.game import Game
from gamesim.learner import PLAIN_REGRETS, Learner
from gamesim.measure import numbers
from gamesim.measure.incentives import ENTRIES, EquilibriumKind, Incentives, no_distance, written_out
from gamesim.measure.trend import trend
from gamesim.record import Record
from gamesim.record_files import VERSIONS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

KINDS = PLAIN_REGRETS
SETS: dict[EquilibriumKind, str] = {"ce": "correlated equilibrium", "cce": "coarse correlated equilibrium"}
ROUNDING = 1e-9  # a gap up to this share of the payoff range counts as none
QUICK = 50_000  # entries of the linear programs, over all replicas, up to which they take seconds (measured)
SHOWN = 16  # players that the table shows
TOLD_ELSEWHERE = (  # measures that have a place of their own in a summary
    {f"{kind}-{what}" for kind in SETS for what in ("gap", "gap-slope", "distance")}
    | {f"{kind}-regret" for kind in KINDS}
    | {"nash-gap", "welfare"}
)


@dataclass(frozen=True)
class PlayerSummary:
    """One player: its average payoff a round, total regrets, and what its learner promises them to stay below.

    A certificate is the bound that the learner's own gradients prove after the fact, for the very deviation that the
    regret is measured against.
    """

    name: str
    learner: str
    settings: dict[str, Any]
    payoff: float
    regret: dict[str, float]
    bound: dict[str, float | None]
    certificate: dict[str, float | None]
    guarantee: str | None


@dataclass(frozen=True)
class Summary:
    """All measures of a run; with replicas, their means."""

    title: str
    game: str
    rounds: int
    seed: int
    feedback: str
    stopped: bool
    players: list[PlayerSummary]
    gap: dict[str, float]
    slope: dict[str, float | None]
    trend: dict[str, str]
    lately: dict[str, tuple[float, float]]  # the least and the largest gap in the last decade of the rounds
    nash_gap: float
    distance: dict[str, float | None]
    distance_left_out: str | None
    welfare: float
    welfare_range: dict[str, tuple[float, float] | None]
    optimum: float | None
    payoff_range: tuple[float, float]
    measures: dict[str, float]  # every other measure that is one number and cheap
    replicas: list[dict[str, Any]] | None
    versions: dict[str, str]
    verdict: str = ""

    def as_json(self) -> dict[str, Any]:
        """The object that `gamesim run --json` prints: no NaN and no infinity, but null."""
        result = {
            "rounds": self.rounds,
            "seed": self.seed,
            "players": [
                {"name": one.name, "learner": one.learner, "payoff": one.payoff, "regret": one.regret}
                for one in self.players
            ],
            "gap": self.gap,
            "distance": self.distance,
            "welfare": self.welfare,
        }
        return _finite_table(result | ({} if self.replicas is None else {"replicas": self.replicas}))

    def as_full_json(self) -> dict[str, Any]:
        """The object of summary.json: the same with everything else that was measured."""
        everything = {field.name: getattr(self, field.name) for field in fields(self)}
        everything["players"] = [vars(one) for one in self.players]
        return _finite_table(
            self.as_json() | {key: everything[key] for key in everything if everything[key] is not None}
        )


def summarise(record: Record, *, title: str = "", distance: str = "auto", stopped: bool = False) -> Summary:
    """Measure a record; `distance` is "auto" (left out where it would take long), "always" or "never"."""
    game = record.game
    left_out = why_left_out(game, record.replicas, distance)
    curve = record.curve
    trends = {kind: trend(curve.rounds, _mean(curve.gap(kind), record)) for kind in SETS}
    low, high = game.range
    summary = Summary(
        title=title,
        game=game.name,
        rounds=record.rounds,
        seed=record.seed,
        feedback=record.feedback,
        stopped=stopped,
        players=_players(record),
        gap={kind: float(_mean(record.gap(kind), record)) for kind in SETS},
        slope={kind: None if one.power is None else one.power.exponent for kind, one in trends.items()},
        trend={kind: one.word for kind, one in trends.items()},
        lately={kind: one.lately for kind, one in trends.items()},
        nash_gap=float(_mean(record.nash_gap(), record)),
        distance={kind: None if left_out else float(_mean(record.distance(kind), record)) for kind in SETS},
        distance_left_out=left_out,
        welfare=float(_mean(record.welfare, record)),
        welfare_range={kind: None if left_out else equilibrium.welfare_range(game, kind) for kind in SETS},
        optimum=equilibrium.optimum(game) if no_distance(game) is None else None,
        payoff_range=(float(low.min()), float(high.max())),
        measures=_other_measures(record),
        replicas=None if record.single else [_replica(one, left_out) for one in record],
        versions={name: version(name) for name in VERSIONS},
    )
    return _with_verdict(summary)


def why_left_out(game: Game, replicas: int, distance: str) -> str | None:
    """Say why distances and welfare ranges are left out, or None if they are measured."""
    if (without := no_distance(game)) is not None:
        return without
    if distance == "never":
        return "the scenario says never"
    work = Incentives(written_out(game), "ce").entries
    if work > ENTRIES:
        return f"the linear programs would have {work:,} entries, and {ENTRIES:,} is the limit"
    if distance == "auto" and work * replicas > QUICK:
        return f'their linear programs take long with {game.cells:,} cells (distance = "always" in [measure] waits)'
    return None


def _mean(values: Any, record: Record) -> Any:
    return values if record.single else np.mean(values, axis=0)


def _other_measures(record: Record) -> dict[str, float]:
    others = {name: one for name, one in numbers().items() if one.cheap and name not in TOLD_ELSEWHERE}
    return {
        name: float(np.mean([measure.number(run.measure(name)) for run in record])) for name, measure in others.items()
    }


def _players(record: Record) -> list[PlayerSummary]:
    payoffs = _mean(record.payoffs, record)
    regrets = {kind: _mean(record.regret(kind), record) for kind in KINDS}
    return [
        PlayerSummary(
            name=record.game.players[i],
            learner=player.name if isinstance(player, Learner) else str(player),
            settings={field.name: getattr(player, field.name) for field in fields(player) if _is_set(player, field)}
            if isinstance(player, Learner)
            else {},
            payoff=float(payoffs[i]),
            regret={kind: float(regrets[kind][i]) for kind in KINDS},
            bound={kind: record.bound(i, kind) for kind in KINDS},
            certificate=_certificates(record, i),
            guarantee=str(promise) if isinstance(player, Learner) and (promise := player.guarantee()) else None,
        )
        for i, player in enumerate(record.learners)
    ]


def _is_set(player: Learner, field: Any) -> bool:
    return bool(getattr(player, field.name) != field.default)


def _certificates(record: Record, i: int) -> dict[str, float | None]:
    """Return what is proved of each kind of regret; swap regret is the largest, so what bounds it bounds the others."""
    if not record.single or record.feedback != "expected":  # drawn actions are not the strategies that are proved about
        return dict.fromkeys(KINDS)
    proved = {kind: record.certificate(i, record.best_deviation(i, kind)) for kind in KINDS}
    swap = proved["swap"]
    return {kind: None if swap is None or one is None else min(one, swap) for kind, one in proved.items()}


def _replica(record: Record, left_out: str | None) -> dict[str, Any]:
    return {
        "seed": record.seed,
        "players": [
            {"payoff": float(payoff), "regret": {kind: float(record.regret(kind)[i]) for kind in KINDS}}
            for i, payoff in enumerate(record.payoffs)
        ],
        "gap": {kind: float(record.gap(kind)) for kind in SETS},
        "distance": {kind: None if left_out else float(record.distance(kind)) for kind in SETS},
        "welfare": float(record.welfare),
    }


def _finite_table(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table as JSON knows it: null for what is no number."""
    return {key: _finite(value) for key, value in table.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return _finite_table(value)
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


# The verdict.


def _trend(summary: Summary, kind: str) -> str:
    """Say in a word what a gap does; one that ends at zero does nothing else."""
    low, high = summary.payoff_range
    return "zero" if summary.gap[kind] <= ROUNDING * (high - low) else summary.trend[kind]


def trend_in_words(summary: Summary, kind: str, time: str = "rounds") -> str:
    """Say what a gap does: "falls like rounds^-0.44", "stays (rounds^-0.08)", "has no steady trend (0.1 to 0.3)"."""
    word, exponent = _trend(summary, kind), summary.slope[kind]
    if word == "zero":
        return "is 0 up to rounding"
    if word == "unknown":
        return "has no trend yet"
    least, largest = map(number, summary.lately[kind])
    power = "" if exponent is None else f"{time}^{round(exponent, 2) + 0:.2f}"
    if word == "stays":
        return f"stays ({power or f'{least} to {largest}'})"
    if word == "unsteady":
        return f"has no steady trend ({least} to {largest})"
    return f"{word} like {power}" if power else f"{word} ({largest} to {least})"


def _with_verdict(summary: Summary) -> Summary:
    """Return the summary with the one sentence that says what happened."""
    ce, cce = (_trend(summary, kind) for kind in SETS)
    settled = ("zero", "falls")
    gap = {kind: number(value) for kind, value in summary.gap.items()}
    worst = max(summary.players, key=lambda one: one.regret["swap"]).name
    if ce in settled:
        seen = (
            f"is within {gap['ce']} of a correlated equilibrium: no player gains more than that a round by changing "
            f"its actions in any way, and this gap {trend_in_words(summary, 'ce')}"
        )
    elif cce in settled and ce in ("stays", "grows"):
        seen = (
            f"is within {gap['cce']} of a coarse correlated equilibrium but of no correlated one: {worst} would gain "
            f"{gap['ce']} a round by swapping actions, and this gap {trend_in_words(summary, 'ce')}, while the CCE gap "
            f"{trend_in_words(summary, 'cce')}"
        )
    else:
        seen = (
            f"is within {gap['ce']} of a correlated equilibrium and {gap['cce']} of a coarse one: the CE gap "
            f"{trend_in_words(summary, 'ce')}, the CCE gap {trend_in_words(summary, 'cce')}"
        )
    rounds = "round" if summary.rounds == 1 else "rounds"
    after = f"{'Stopped after' if summary.stopped else 'After'} {summary.rounds:,} {rounds}"
    copies = "" if summary.replicas is None else f", on average over {len(summary.replicas)} replicas,"
    joined = "," if summary.stopped and not copies else copies
    return replace(summary, verdict=f"{after}{joined} play {seen}.")


# On the terminal.


def show(summary: Summary, console: "Console") -> None:
    """Print the tables and the verdict."""
    from rich.text import Text

    console.print()
    if summary.title:
        console.print(Text(summary.title, style="bold"))
    console.print(in_a_line(summary), style="dim")
    console.print()
    _print_players(summary, console)
    if len(summary.players) > SHOWN:
        console.print(f"… and {len(summary.players) - SHOWN:,} more players, in summary.json", style="dim")
    drawn = "" if summary.feedback == "expected" else ", up to the luck of the draws"
    proved = any(value is not None for one in summary.players[:SHOWN] for value in one.certificate.values())
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


def in_a_line(summary: Summary) -> str:
    """Say what was run: the game, how many players and rounds, the seed, the feedback, and what there is to gain."""
    replicas = "" if summary.replicas is None else f" · means of {len(summary.replicas)} replicas"
    low, high = summary.payoff_range
    game = "" if summary.game == summary.title else f"{summary.game} · "  # payoffs written out go by the title
    return (
        f"{game}{len(summary.players):,} players · {summary.rounds:,} rounds · seed {summary.seed} · "
        f"{summary.feedback} feedback{replicas} · payoffs {number(low)} to {number(high)}"
    )


def print_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence["str | Text"]], console: "Console") -> None:
    """Print a table with a heading and a side ("left" or "right") for each column.

    Where it is too wide, headings and text on the left are wrapped between words, and then columns go on below, each
    time beside the first: a number is never broken.
    """
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table as Grid

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


def _print_players(summary: Summary, console: "Console") -> None:
    from rich.text import Text

    columns = [("player", "left"), ("learner", "left"), *((name, "right") for name in ("payoff", *KINDS))]
    rows: list[list[str | Text]] = []
    for one in summary.players[:SHOWN]:
        learner = Text(one.learner)
        for key, value in one.settings.items():
            learner.append(f"\n{key} {_short(value)}", style="dim")
        cells = []
        for kind in KINDS:
            cell = Text(number(one.regret[kind] / summary.rounds))
            bound = one.bound[kind]
            cell.append("\nno bound" if bound is None else f"\n≤ {number(bound / summary.rounds)}", style="dim")
            if (proved := one.certificate[kind]) is not None:
                cell.append(f"\nproved {number(proved / summary.rounds)}", style="dim")
            cells.append(cell)
        rows.append([Text(one.name), learner, number(one.payoff), *cells])
    print_table(columns, rows, console)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 20 else text[:19] + "…"  # regret-matching-plus has 20


def _print_gaps(summary: Summary, console: "Console") -> None:
    columns = [("", "left"), ("gap", "right"), ("trend, over T rounds", "left"), ("distance", "right")]
    rows = [
        [name, number(summary.gap[kind]), trend_in_words(summary, kind, "T"), number(summary.distance[kind])]
        for kind, name in SETS.items()
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
