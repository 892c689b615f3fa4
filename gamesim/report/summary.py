"""The summary of a run: all measures of a record, also as JSON.

A gap is the largest gain from deviating; a distance is the total variation from play to the nearest equilibrium. The
verdict considers the trend of each gap, because gaps are rarely exactly 0 after finitely many rounds; see
`gamesim.measure.trend`. Replicas need not agree, so each has its own trend.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

from gamesim import equilibrium, user_files
from gamesim.equilibrium import DistanceBounds
from gamesim.errors import InputError
from gamesim.formatting import number, replicas
from gamesim.game import Game
from gamesim.learner import DRAWN, PLAIN_REGRETS, Learner, RegretOf
from gamesim.measure import Measure, find, numbers
from gamesim.measure import distance as distances
from gamesim.measure.bounds import Holds, seen_by
from gamesim.measure.endings import sentence
from gamesim.measure.incentives import EquilibriumKind, no_distance
from gamesim.measure.rounding import gap_rounding
from gamesim.measure.trend import Trend, trend
from gamesim.record import Record
from gamesim.record_files import VERSIONS
from gamesim.report.verdict import verdict
from gamesim.user_learners import name_of

EQUILIBRIA: dict[EquilibriumKind, str] = {"ce": "correlated equilibrium", "cce": "coarse correlated equilibrium"}
FAMILIES = {  # of the deviations of a regret profile
    "together": "d − k + 1 or more actions replaced by one",
    "alone": "k or fewer actions replaced",
}
PROFILE_NOTE = (
    "The regret profile per round, of the strategies, with the same bounds: from external regret (k = 1, first family) "
    "and internal regret (k = 1, second family) to swap regret (k = d, both). summary.json has every k."
)
K_SHOWN = 5  # in a table; the others are in summary.json
MIXED = "mixed"  # the trend of replicas that do not agree
PLAYERS_SHOWN = 16  # in a table; the others are in summary.json
SHOWN_ELSEWHERE = (  # measures with a separate key in a summary
    {f"{kind}-{what}" for kind in EQUILIBRIA for what in ("gap", "gap-slope", "distance")}
    | {f"{kind}-regret" for kind in PLAIN_REGRETS}
    | {"nash-gap", "welfare"}
)

Found = TypeVar("Found")


@dataclass(frozen=True)
class ProfileSummary:
    """Total regrets of one player against one family of deviations for k = 1, ..., d, with their bounds."""

    regret: list[float]
    bound: list[float] | None
    certificate: list[float]
    exact_certificate: list[float]

    def lines(self, k: int, rounds: int) -> list[str]:
        """Return the regret per round and its bounds at k, as a table shows them."""
        at = k - 1
        bound = None if self.bound is None else self.bound[at]
        return _lines(self.regret[at], bound, self.certificate[at], self.exact_certificate[at], rounds)


@dataclass(frozen=True)
class RegretSummary:
    """Total regrets of one player, the bounds that are proved for them, and in what sense these hold.

    A certificate is the bound that the observed gradients certify for all deviations of a kind, from the bounds of the
    scalar learners or, if exact, from what these lost.
    """

    regret: dict[str, float]
    bound: dict[str, float | None]
    bound_holds: Holds | None
    certificate: dict[str, float | None]
    exact_certificate: dict[str, float | None]
    profile: dict[str, ProfileSummary] | None  # by family, of players with certificates

    def lines(self, kind: str, rounds: int) -> list[str]:
        """Return the regret per round of a kind and its bounds, as a table shows them."""
        proved, improper = self.certificate[kind], self.exact_certificate[kind]
        return _lines(self.regret[kind], self.bound[kind], proved, improper, rounds)


@dataclass(frozen=True)
class PlayerSummary(RegretSummary):
    """One player: its mean payoff per round, its regrets, and those of its strategies if actions are drawn."""

    name: str
    learner: str
    settings: dict[str, Any]
    payoff: float
    guarantee: str | None
    strategies: RegretSummary | None
    seen_by: list[str]  # opponents that saw the draws before they played

    def drawn_and_mixed(self) -> dict[str, RegretSummary]:
        """Return the regrets of the draws, and of the strategies if they are in the record."""
        return {"draws": self} | ({} if self.strategies is None else {"strategies": self.strategies})


def _lines(regret: float, bound: float | None, proved: float | None, improper: float | None, rounds: int) -> list[str]:
    lines = [number(regret / rounds), "no bound" if bound is None else f"≤ {number(bound / rounds)}"]
    return lines + [
        f"{word} {number(value / rounds)}"
        for word, value in (("proved", proved), ("improper", improper))
        if value is not None
    ]


@dataclass(frozen=True)
class Intervals:
    """Bootstrap intervals per round, of each player or of all together, by measure; and what was resampled."""

    level: float
    resampled: str
    by_measure: dict[str, list[tuple[float, float, float]]]  # estimate, low and high


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
    trends: dict[str, tuple[Trend, ...]]  # of each gap, one per replica
    nash_gap: float | None  # None if the game varies over the rounds
    distance: dict[str, float | None]
    distance_bounds: dict[str, tuple[float, float]] | None  # of the distances that were not solved in time
    distance_left_out: str | None
    strategies_left_out: str | None  # why the regrets of the strategies are missing
    welfare: float
    welfare_range: dict[str, tuple[float, float] | None]
    optimum: float | None
    payoff_range: tuple[float, float]
    measures: dict[str, float]  # all other measures that are a single number and cheap
    missing: dict[str, str] | None  # measures that failed, and why
    replicas: list[dict[str, Any]] | None
    versions: dict[str, str]
    varies: bool  # whether the game varies over the rounds, so that play is an equilibrium of no single game
    verdict: str = ""
    intervals: Intervals | None = None

    @property
    def trend(self) -> dict[str, str]:
        """The word for the trend of each gap, or "mixed" if replicas do not agree."""
        words = {kind: {one.word for one in trends} for kind, trends in self.trends.items()}
        return {kind: found.pop() if len(found) == 1 else MIXED for kind, found in words.items()}

    @property
    def slope(self) -> dict[str, float | None]:
        """The exponent of the power law that each gap follows: the mean over replicas, or None if not all have one."""
        return {kind: _mean_exponent(trends) for kind, trends in self.trends.items()}

    @property
    def lately(self) -> dict[str, tuple[float, float]]:
        """The smallest and the largest gap of any replica, at the checkpoints that its trend describes."""
        return {
            kind: (min(one.least for one in trends), max(one.largest for one in trends))
            for kind, trends in self.trends.items()
        }

    def gap_name(self, kind: EquilibriumKind) -> str:
        """Return the equilibrium that a gap refers to, or the regret if the game varies."""
        regret = {"ce": "largest swap regret", "cce": "largest external regret"}
        return regret[kind] if self.varies else EQUILIBRIA[kind]

    def gap_in_digits(self, kind: str) -> str:
        """Return a gap as tables print it: 0 only if it is 0 up to rounding."""
        return "0" if self.trend[kind] == "zero" else number(self.gap[kind], zero=0.0)

    def profiles(self) -> tuple[list[int], list[tuple[str, str, ProfileSummary]]]:
        """Return some k, and the profiles of the players shown that have certificates and more than two actions.

        Each comes with the name of the player and that of the family. With two actions, the profile consists of
        external, internal and swap regret.
        """
        found = [
            (one.name, FAMILIES[family], profile)
            for one in self.players[:PLAYERS_SHOWN]
            for part in one.drawn_and_mixed().values()
            for family, profile in (part.profile or {}).items()
            if len(profile.regret) > 2
        ]
        most = max((len(profile.regret) for _, _, profile in found), default=1)
        return sorted({round(k) for k in np.geomspace(1, most, K_SHOWN)}), found

    @property
    def drawn(self) -> bool:
        """Whether actions are drawn, so that regrets of play and of the strategies differ."""
        return self.feedback in DRAWN

    @property
    def seers(self) -> dict[str, str]:
        """The players that saw the others' draws before they played, with their learners."""
        seen = {name for one in self.players for name in one.seen_by}
        return {one.name: one.learner for one in self.players if one.name in seen}

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
        everything = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "trends"}
        everything["players"] = [asdict(one) for one in self.players]
        everything["intervals"] = None if self.intervals is None else asdict(self.intervals)
        everything |= {"trend": self.trend, "slope": self.slope, "lately": self.lately}
        return _finite_table(
            self.as_json() | {key: everything[key] for key in everything if everything[key] is not None}
        )


def summarise(
    record: Record, *, title: str = "", distance: str = "auto", stopped: bool = False, measures: Sequence[str] = ()
) -> Summary:
    """Measure a record, with further `measures`; `distance` is "auto" (skipped if slow), "always" or "never"."""
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
    players, strategies_left_out = _players(record)
    trends = {kind: _trends(record, kind) for kind in EQUILIBRIA}
    low, high = game.range
    summary = Summary(
        title=title,
        game=game.name,
        rounds=record.rounds,
        seed=record.seed,
        feedback=record.feedback,
        stopped=stopped,
        players=players,
        gap={kind: float(_mean(record.gap(kind), record)) for kind in EQUILIBRIA},
        trends={str(kind): found for kind, found in trends.items()},
        nash_gap=None if game.timed else float(_mean(record.nash_gap(), record)),
        varies=game.timed,
        distance={kind: _distance(found) for kind, found in bounds.items()},
        distance_bounds=_unsolved(bounds) or None,
        distance_left_out=left_out,
        strategies_left_out=strategies_left_out,
        welfare=float(_mean(record.welfare, record)),
        welfare_range=welfare_ranges,
        optimum=equilibrium.optimum(game) if no_distance(game) is None else None,
        payoff_range=(float(low.min()), float(high.max())),
        measures=_other_measures(record, measures, missing),
        missing=missing or None,
        replicas=None
        if record.single
        else [
            _replica(record[k], k, bounds, {kind: trends[kind][k] for kind in trends}) for k in range(record.replicas)
        ],
        versions={name: version(name) for name in VERSIONS},
    )
    return _with_verdict(
        summary,
        "" if record.single or game.timed or record.feedback == "observed" else sentence(record.endings(), game.name),
    )


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


def _trends(record: Record, kind: EquilibriumKind) -> tuple[Trend, ...]:
    """Return the trend of a gap in each replica."""
    rounding = gap_rounding(record.game, record.rounds)
    return tuple(trend(one.curve.rounds, one.curve.gap(kind), rounding) for one in record)


def _exponent(trend: Trend) -> float | None:
    return None if trend.power is None else trend.power.exponent


def _mean_exponent(trends: tuple[Trend, ...]) -> float | None:
    exponents = [exponent for one in trends if (exponent := _exponent(one)) is not None]
    return float(np.mean(exponents)) if len(exponents) == len(trends) else None


def _other_measures(record: Record, asked: Sequence[str], missing: dict[str, str]) -> dict[str, float]:
    """Return further measures that are a single number: the cheap ones that apply to this run, and those asked for."""
    others = {name: one for name, one in numbers().items() if one.cheap and name not in SHOWN_ELSEWHERE}
    found = {name: _tried(name, missing, partial(_if_it_applies, record, one)) for name, one in others.items()}
    for name in asked:
        shown = user_files.shown(name)
        found[shown] = _tried(shown, missing, partial(_mean_number, record, find(name)))
    return {name: value for name, value in found.items() if value is not None}


def _if_it_applies(record: Record, measure: Measure) -> float | None:
    try:
        return _mean_number(record, measure)
    except InputError:  # it needs an observer or a payoff table
        return None


def _mean_number(record: Record, measure: Measure) -> float:
    return float(np.mean([measure.number(measure.now(run.moments())) for run in record]))


def _players(record: Record) -> tuple[list[PlayerSummary], str | None]:
    """Return the players, and why the regrets of their strategies are missing."""
    payoffs = _mean(record.payoffs, record)
    of_play = _regrets(record, "play")
    of_strategies: Sequence[RegretSummary | None] = [None] * len(of_play)
    left_out = None
    if record.feedback in DRAWN:
        try:
            of_strategies = _regrets(record, "strategies")
        except InputError as error:  # a record of an earlier version
            left_out = str(error)
    players = [
        PlayerSummary(
            **vars(of_play[i]),
            name=record.game.players[i],
            learner=name_of(player),
            settings=_settings(player) if isinstance(player, Learner) else {},
            payoff=float(payoffs[i]),
            guarantee=str(promise) if isinstance(player, Learner) and (promise := player.guarantee()) else None,
            strategies=of_strategies[i],
            seen_by=[record.game.players[one] for one in seen_by(record.learners, i)],
        )
        for i, player in enumerate(record.learners)
    ]
    return players, left_out


def _regrets(record: Record, of: RegretOf) -> list[RegretSummary]:
    """Return the regrets of all players, of play or of the strategies."""
    regrets = {kind: _mean(record.regret(kind, of=of), record) for kind in PLAIN_REGRETS}
    certified = of == "strategies" or record.feedback not in DRAWN  # draws are not certified
    profiles = [_profile(record, i) if certified else None for i in range(len(record.learners))]
    return [
        RegretSummary(
            regret={kind: float(regrets[kind][i]) for kind in PLAIN_REGRETS},
            bound={kind: record.bound(i, kind, of=of) for kind in PLAIN_REGRETS},
            bound_holds=record.bound_holds(i, of=of),
            certificate=_certificates(profile, "certificate"),
            exact_certificate=_certificates(profile, "exact_certificate"),
            profile=profile,
        )
        for i, profile in enumerate(profiles)
    ]


def _settings(learner: Learner) -> dict[str, Any]:
    """Return the settings that differ from the defaults, as data."""
    data = user_files.replaced(learner.settings(), user_files.shown)
    return {one.name: data[one.name] for one in fields(learner) if getattr(learner, one.name) != one.default}


def _profile(record: Record, i: int) -> dict[str, ProfileSummary] | None:
    """Return the regret profile of a player's strategies with the bounds on it, or None without certificates."""
    certificate, exact = (record.profile_certificate(i, exact=exact) for exact in (False, True))
    if certificate is None or exact is None:
        return None
    regret, bound = record.profile(i, of="strategies"), record.profile_bound(i)
    return {
        family: ProfileSummary(
            regret=_mean(regret[at], record).tolist(),
            bound=None if bound is None else bound[at].tolist(),
            certificate=_mean(certificate[at], record).tolist(),
            exact_certificate=_mean(exact[at], record).tolist(),
        )
        for at, family in enumerate(FAMILIES)
    }


def _certificates(profile: dict[str, ProfileSummary] | None, which: str) -> dict[str, float | None]:
    """Return the certificate of each kind of regret: the ends of the profile."""
    if profile is None:
        return dict.fromkeys(PLAIN_REGRETS)
    together, alone = (getattr(profile[family], which) for family in FAMILIES)
    return {"external": together[0], "internal": alone[0], "swap": min(together[-1], alone[-1])}


def _replicas(
    record: Record,
    bounds: dict[str, list[DistanceBounds] | None],
    trends: dict[EquilibriumKind, tuple[Trend, ...]],
) -> list[dict[str, Any]]:
    return [_replica(one, k, bounds, {kind: trends[kind][k] for kind in trends}) for k, one in enumerate(record)]


def _replica(
    record: Record,
    replica: int,
    bounds: dict[str, list[DistanceBounds] | None],
    trends: dict[EquilibriumKind, Trend],
) -> dict[str, Any]:
    return {
        "seed": record.seed,
        "players": [
            {"payoff": float(payoff), "regret": {kind: float(record.regret(kind)[i]) for kind in PLAIN_REGRETS}}
            for i, payoff in enumerate(record.payoffs)
        ],
        "gap": {kind: float(record.gap(kind)) for kind in EQUILIBRIA},
        "trend": {kind: one.word for kind, one in trends.items()},
        "slope": {kind: _exponent(one) for kind, one in trends.items()},
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


def _with_verdict(summary: Summary, ended: str = "") -> Summary:
    """Return the summary with its verdict, and of replicas, how many ended where."""
    words = verdict(
        summary.trends["ce"],
        summary.trends["cce"],
        worst=max(summary.players, key=lambda one: one.regret["swap"]).name,
        rounds=summary.rounds,
        stopped=summary.stopped,
        varies=summary.varies,
        of=replicas(summary.feedback),
    )
    return replace(summary, verdict=f"{words} {ended}." if ended else words)
