"""The summary of a run: all measures of a record, also as JSON.

A gap is the largest gain from deviating; a distance is the total variation from play to the nearest equilibrium. The
verdict considers the trend of each gap, because gaps are rarely exactly 0 after finitely many rounds; see
`gamesim.measure.trend`.
"""

from collections.abc import Callable
from dataclasses import Field, dataclass, fields, replace
from functools import partial
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

from gamesim import equilibrium
from gamesim.equilibrium import DistanceBounds
from gamesim.formatting import number
from gamesim.game import Game
from gamesim.learner import PLAIN_REGRETS, Learner
from gamesim.measure import Measure, numbers
from gamesim.measure import distance as distances
from gamesim.measure.incentives import EquilibriumKind, no_distance
from gamesim.measure.trend import trend
from gamesim.record import Record
from gamesim.record_files import VERSIONS
from gamesim.report.verdict import GapTrend, verdict

EQUILIBRIA: dict[EquilibriumKind, str] = {"ce": "correlated equilibrium", "cce": "coarse correlated equilibrium"}
NO_GAP = 1e-9  # a gap up to this share of the payoff range counts as 0
PLAYERS_SHOWN = 16  # in a table; the others are in summary.json
SHOWN_ELSEWHERE = (  # measures with a separate key in a summary
    {f"{kind}-{what}" for kind in EQUILIBRIA for what in ("gap", "gap-slope", "distance")}
    | {f"{kind}-regret" for kind in PLAIN_REGRETS}
    | {"nash-gap", "welfare"}
)

Found = TypeVar("Found")


@dataclass(frozen=True)
class PlayerSummary:
    """One player: its mean payoff per round, its total regrets, and the guaranteed bounds on them.

    A certificate is the bound that the observed gradients certify for the best deviation in hindsight.
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
    lately: dict[str, tuple[float, float]]  # the smallest and the largest gap in the last decade of the rounds
    nash_gap: float
    distance: dict[str, float | None]
    distance_bounds: dict[str, tuple[float, float]] | None  # of the distances that were not solved in time
    distance_left_out: str | None
    welfare: float
    welfare_range: dict[str, tuple[float, float] | None]
    optimum: float | None
    payoff_range: tuple[float, float]
    measures: dict[str, float]  # all other measures that are a single number and cheap
    missing: dict[str, str] | None  # measures that failed, and why
    replicas: list[dict[str, Any]] | None
    versions: dict[str, str]
    verdict: str = ""

    def gap_trend(self, kind: str) -> GapTrend:
        """Return the trend of a gap, "ce" or "cce"; the trend of a gap that ends at 0 is "zero"."""
        low, high = self.payoff_range
        word = "zero" if self.gap[kind] <= NO_GAP * (high - low) else self.trend[kind]
        return GapTrend(self.gap[kind], word, self.slope[kind], self.lately[kind])

    def distance_in_words(self, kind: str, written: Callable[[float | None], str] = number) -> str:
        """Return a distance, "ce" or "cce", as a number, or its bounds if it was not solved."""
        if self.distance_bounds is not None and kind in self.distance_bounds:
            low, high = self.distance_bounds[kind]
            return f"between {written(low)} and {written(high)}"
        return written(self.distance[kind])

    @property
    def notes(self) -> list[str]:
        """Return sentences about what was not computed, and why."""
        notes = []
        if self.distance_left_out:
            notes.append(f"Distances and welfare ranges are not computed: {self.distance_left_out}.")
        if self.distance_bounds:
            notes.append(
                "A distance that was not solved in time lies between two certified bounds; in Python, "
                "record.distance_bounds has a time limit of your choice."
            )
        return [*notes, *(f"{name} is not computed: {why}." for name, why in (self.missing or {}).items())]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `gamesim run --json` prints, with null for NaN and infinity."""
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
        others = {"distance_bounds": self.distance_bounds, "replicas": self.replicas}
        return _finite_table(result | {key: value for key, value in others.items() if value is not None})

    def as_full_json(self) -> dict[str, Any]:
        """Return the object of summary.json: all measures."""
        everything = {field.name: getattr(self, field.name) for field in fields(self)}
        everything["players"] = [vars(one) for one in self.players]
        return _finite_table(
            self.as_json() | {key: everything[key] for key in everything if everything[key] is not None}
        )


def summarise(record: Record, *, title: str = "", distance: str = "auto", stopped: bool = False) -> Summary:
    """Measure a record; `distance` is "auto" (skipped if slow), "always" or "never"."""
    game = record.game
    left_out = why_left_out(game, record.replicas, distance)
    missing: dict[str, str] = {}
    bounds: dict[str, list[DistanceBounds] | None] = dict.fromkeys(EQUILIBRIA)
    welfare_ranges: dict[str, tuple[float, float] | None] = dict.fromkeys(EQUILIBRIA)
    if left_out is None:
        for kind in EQUILIBRIA:
            bounds[kind] = _tried(f"{kind}-distance", missing, partial(_bounds, record, kind))
            ends = partial(equilibrium.welfare_range, game, kind)
            welfare_ranges[kind] = _tried(f"{kind}-welfare-range", missing, ends)
    curve = record.curve
    trends = {kind: trend(curve.rounds, _mean(curve.gap(kind), record)) for kind in EQUILIBRIA}
    low, high = game.range
    summary = Summary(
        title=title,
        game=game.name,
        rounds=record.rounds,
        seed=record.seed,
        feedback=record.feedback,
        stopped=stopped,
        players=_players(record),
        gap={kind: float(_mean(record.gap(kind), record)) for kind in EQUILIBRIA},
        slope={kind: None if one.power is None else one.power.exponent for kind, one in trends.items()},
        trend={kind: one.word for kind, one in trends.items()},
        lately={kind: one.lately for kind, one in trends.items()},
        nash_gap=float(_mean(record.nash_gap(), record)),
        distance={kind: _distance(found) for kind, found in bounds.items()},
        distance_bounds=_unsolved(bounds) or None,
        distance_left_out=left_out,
        welfare=float(_mean(record.welfare, record)),
        welfare_range=welfare_ranges,
        optimum=equilibrium.optimum(game) if no_distance(game) is None else None,
        payoff_range=(float(low.min()), float(high.max())),
        measures=_other_measures(record, missing),
        missing=missing or None,
        replicas=None if record.single else [_replica(record[k], k, bounds) for k in range(record.replicas)],
        versions={name: version(name) for name in VERSIONS},
    )
    return _with_verdict(summary)


def why_left_out(game: Game, replicas: int, distance: str) -> str | None:
    """Return why distances and welfare ranges are not computed, or None if they are."""
    if (without := no_distance(game)) is not None:
        return without
    if distance == "never":
        return 'the scenario sets distance = "never"'
    return distances.why_left_out(game, replicas, always=distance == "always")


def _tried(name: str, missing: dict[str, str], measured: Callable[[], Found]) -> Found | None:
    """Return a measure, or None if it fails, which is noted: the run is not lost."""
    try:
        return measured()
    except Exception as error:  # also an error in a user-defined measure
        missing[name] = str(error) or type(error).__name__
        return None


def _bounds(record: Record, kind: EquilibriumKind) -> list[DistanceBounds]:
    """Return the bounds on the distance of each replica."""
    return [replica.distance_bounds(kind, always=True) for replica in record]


def _distance(bounds: list[DistanceBounds] | None) -> float | None:
    """Return the mean distance over replicas, or None if it is unknown."""
    return None if bounds is None else _known(float(np.mean([one.distance for one in bounds])))


def _unsolved(bounds: dict[str, list[DistanceBounds] | None]) -> dict[str, tuple[float, float]]:
    """Return the mean bounds of the distances that were not solved."""
    return {
        kind: (float(np.mean([one.lower for one in found])), float(np.mean([one.upper for one in found])))
        for kind, found in bounds.items()
        if found is not None and not all(one.solved for one in found)
    }


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _mean(values: Any, record: Record) -> Any:
    return values if record.single else np.mean(values, axis=0)


def _other_measures(record: Record, missing: dict[str, str]) -> dict[str, float]:
    others = {name: one for name, one in numbers().items() if one.cheap and name not in SHOWN_ELSEWHERE}
    found = {name: _tried(name, missing, partial(_mean_number, record, one)) for name, one in others.items()}
    return {name: value for name, value in found.items() if value is not None}


def _mean_number(record: Record, measure: Measure) -> float:
    return float(np.mean([measure.number(run.measure(measure.name)) for run in record]))


def _players(record: Record) -> list[PlayerSummary]:
    payoffs = _mean(record.payoffs, record)
    regrets = {kind: _mean(record.regret(kind), record) for kind in PLAIN_REGRETS}
    return [
        PlayerSummary(
            name=record.game.players[i],
            learner=player.name if isinstance(player, Learner) else str(player),
            settings={field.name: getattr(player, field.name) for field in fields(player) if _is_set(player, field)}
            if isinstance(player, Learner)
            else {},
            payoff=float(payoffs[i]),
            regret={kind: float(regrets[kind][i]) for kind in PLAIN_REGRETS},
            bound={kind: record.bound(i, kind) for kind in PLAIN_REGRETS},
            certificate=_certificates(record, i),
            guarantee=str(promise) if isinstance(player, Learner) and (promise := player.guarantee()) else None,
        )
        for i, player in enumerate(record.learners)
    ]


def _is_set(player: Learner, field: Field[Any]) -> bool:
    return bool(getattr(player, field.name) != field.default)


def _certificates(record: Record, i: int) -> dict[str, float | None]:
    """Return the certificate of each kind of regret; a bound on swap regret also bounds the others."""
    if not record.single or record.feedback != "expected":  # certificates hold for strategies, not for sampled actions
        return dict.fromkeys(PLAIN_REGRETS)
    proved = {kind: record.certificate(i, record.best_deviation(i, kind)) for kind in PLAIN_REGRETS}
    swap = proved["swap"]
    return {kind: None if swap is None or one is None else min(one, swap) for kind, one in proved.items()}


def _replica(record: Record, replica: int, bounds: dict[str, list[DistanceBounds] | None]) -> dict[str, Any]:
    return {
        "seed": record.seed,
        "players": [
            {"payoff": float(payoff), "regret": {kind: float(record.regret(kind)[i]) for kind in PLAIN_REGRETS}}
            for i, payoff in enumerate(record.payoffs)
        ],
        "gap": {kind: float(record.gap(kind)) for kind in EQUILIBRIA},
        "distance": {kind: found and _known(found[replica].distance) for kind, found in bounds.items()},
        "welfare": float(record.welfare),
    }


def _finite_table(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with None for NaN and infinity, which JSON lacks."""
    return {key: _finite(value) for key, value in table.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return _finite_table(value)
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _with_verdict(summary: Summary) -> Summary:
    """Return the summary with its verdict."""
    sentence = verdict(
        summary.gap_trend("ce"),
        summary.gap_trend("cce"),
        worst=max(summary.players, key=lambda one: one.regret["swap"]).name,
        rounds=summary.rounds,
        replicas=None if summary.replicas is None else len(summary.replicas),
        stopped=summary.stopped,
    )
    return replace(summary, verdict=sentence)
