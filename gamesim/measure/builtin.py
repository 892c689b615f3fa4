"""The built-in measures, each a function of a moment, in the order in which they are listed.

Regrets are totals over rounds and gaps are per round, both in payoff units. A gap's share is relative to the payoff
range, so that games with different stakes are comparable. A gap's slope is that of the run's curve, or NaN if no power
law fits it.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Vector
from gamesim.errors import InputError, unknown
from gamesim.game import Game, Table
from gamesim.learner import REGRET_KINDS, RegretKind, RegretOf
from gamesim.measure import regrets
from gamesim.measure.distance import distance
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, no_distance
from gamesim.measure.linear_programs import SECONDS
from gamesim.measure.moments import Moment, Moments
from gamesim.measure.observers import BUILT_IN
from gamesim.measure.registry import Value, measure
from gamesim.measure.rounding import gap_rounding
from gamesim.measure.trend import power
from gamesim.validation import strategy

PAYOFF, PAYOFF_PER_ROUND = "payoff units", "payoff units per round"
PROBABILITY = "probability"
TOTAL_VARIATION = "total variation"
FEW_ENTRIES = 2**14  # maximum entries of all players' matrices for keeping their indices

Deviations: TypeAlias = (
    Sequence[ArrayLike] | NDArray[np.float64]
)  # a stochastic matrix for all players, or one per player
OfMatrices: TypeAlias = Callable[[NDArray[np.float64]], Value]  # one number for each matrix Σ p ⊗ l of a stack


@measure("ce-gap", unit=PAYOFF_PER_ROUND, of="stack")
def ce_gap(moment: Moment | Moments) -> Value:
    """Return the CE gap: the largest swap regret per round, at least 0."""
    return _gap(moment, regrets.swap)


@measure("cce-gap", unit=PAYOFF_PER_ROUND, of="stack")
def cce_gap(moment: Moment | Moments) -> Value:
    """Return the CCE gap: the largest external regret per round, at least 0."""
    return _gap(moment, regrets.external)


@measure("nash-gap", unit=PAYOFF_PER_ROUND)
def nash_gap(moment: Moment) -> float:
    """Return the Nash gap: the largest gain per round by deviating from the average strategies."""
    return max(0.0, float(_gains(moment.game, moment.profile).max()))


@measure("ce-gap-share", unit="share of the payoff range", of="stack")
def ce_gap_share(moment: Moment | Moments) -> Value:
    """Return the CE gap as a share of the range of all players' payoffs."""
    return _share(moment.game, ce_gap(moment))


@measure("cce-gap-share", unit="share of the payoff range", of="stack")
def cce_gap_share(moment: Moment | Moments) -> Value:
    """Return the CCE gap as a share of the range of all players' payoffs."""
    return _share(moment.game, cce_gap(moment))


@measure("ce-gap-slope", unit="exponent of the rounds", of="path")
def ce_gap_slope(moments: Moments) -> float:
    """Return the exponent of the power law that the CE gap follows, or NaN if none fits."""
    return _slope(moments, ce_gap)


@measure("cce-gap-slope", unit="exponent of the rounds", of="path")
def cce_gap_slope(moments: Moments) -> float:
    """Return the exponent of the power law that the CCE gap follows, or NaN if none fits."""
    return _slope(moments, cce_gap)


@measure("ce-distance", unit=TOTAL_VARIATION, cheap=False)
def ce_distance(moment: Moment, always: bool = False, seconds: float = SECONDS) -> float:
    """Return the distance of the joint distribution to the set of CE."""
    return distance(moment.game, joint(moment), "ce", always=always, seconds=seconds)


@measure("cce-distance", unit=TOTAL_VARIATION, cheap=False)
def cce_distance(moment: Moment, always: bool = False, seconds: float = SECONDS) -> float:
    """Return the distance of the joint distribution to the set of CCE."""
    return distance(moment.game, joint(moment), "cce", always=always, seconds=seconds)


@measure("external-regret", unit=PAYOFF, per="player", reduce=np.max, of="stack")
def external_regret(moment: Moment | Moments, of: RegretOf = "play") -> NDArray[np.float64]:
    """Return each player's total regret against its best fixed action."""
    return _regret(moment, regrets.external, of)


@measure("internal-regret", unit=PAYOFF, per="player", reduce=np.max, of="stack")
def internal_regret(moment: Moment | Moments, of: RegretOf = "play") -> NDArray[np.float64]:
    """Return each player's total regret against the best replacement of one action by another."""
    return _regret(moment, regrets.internal, of)


@measure("swap-regret", unit=PAYOFF, per="player", reduce=np.max, of="stack")
def swap_regret(moment: Moment | Moments, of: RegretOf = "play") -> NDArray[np.float64]:
    """Return each player's total regret against the best replacement of every action."""
    return _regret(moment, regrets.swap, of)


@measure("quantile-regret", unit=PAYOFF, per="player")
def quantile_regret(moment: Moment, epsilon: float, of: RegretOf = "play") -> Vector:
    """Return each player's total regret against the ⌈epsilon · d⌉-th best of its d actions."""
    return np.array([regrets.quantile(matrix, epsilon) for matrix in moment.matrices_of(of)]) * moment.game.scale


@measure("phi-regret", unit=PAYOFF, per="player")
def phi_regret(moment: Moment, phi: Deviations, of: RegretOf = "play") -> Vector:
    """Return each player's total regret against the deviation phi, one matrix for all players or one each."""
    matrices = moment.matrices_of(of)
    maps = [phi] * len(matrices) if np.ndim(phi[0]) == 1 else phi
    if len(maps) != len(matrices):
        raise InputError(f"phi must be one matrix, or one for each of {len(matrices)} players, got {len(maps)}")
    found = [regrets.against(matrix, one) for matrix, one in zip(matrices, maps, strict=True)]
    return np.array(found) * moment.game.scale


@measure("payoffs", unit=PAYOFF_PER_ROUND, per="player", of="stack")
def payoffs(moment: Moment | Moments) -> NDArray[np.float64]:
    """Return each player's average payoff per round."""
    losses = _of_each_player(moment.game, moment.counterfactuals(), _traces) / np.asarray(moment.rounds)[..., None]
    found: NDArray[np.float64] = moment.game.middle - moment.game.scale * losses
    return found


@measure("welfare", unit=PAYOFF_PER_ROUND)
def welfare(moment: Moment) -> float:
    """Return the sum of all players' average payoffs per round."""
    return float(payoffs(moment).sum(axis=-1))


@measure("average-strategies", unit=PROBABILITY, per="action")
def average_strategies(moment: Moment) -> Vector:
    """Return all players' average strategies, concatenated."""
    return moment.profile


@measure("last-nash-gap", unit=PAYOFF)
def last_nash_gap(moment: Moment) -> float:
    """Return the Nash gap of the last round: the largest gain by deviating from its strategies."""
    return max(0.0, float(_gains(moment.game, moment.sums.last).max()))


@measure("last-duality-gap", unit=PAYOFF)
def last_duality_gap(moment: Moment) -> float:
    """Return the sum of all players' gains by deviating from the strategies of the last round."""
    return max(0.0, float(_gains(moment.game, moment.sums.last).sum()))


@measure("duality-gap", unit=PAYOFF_PER_ROUND)
def duality_gap(moment: Moment) -> float:
    """Return the sum of all players' gains per round by deviating from the average strategies."""
    return max(0.0, float(_gains(moment.game, moment.profile).sum()))


@measure("last-kl", unit="nats")
def last_kl(moment: Moment, profile: Sequence[ArrayLike]) -> float:
    """Return the divergence Σ KL(profile, strategies of the last round) of a given profile."""
    return _divergence(moment, profile)


@measure("last-kl-to-equilibrium", unit="nats", cheap=False)
def last_kl_to_equilibrium(moment: Moment) -> float:
    """Return the divergence from the last strategies of the Nash equilibrium for which it is smallest."""
    return min(_divergence(moment, profile) for profile in _equilibria(moment.game))


@measure("dynamic-regret", unit=PAYOFF, per="player", reduce=np.max, observer=BUILT_IN["dynamic-regret"])
def dynamic_regret(moment: Moment) -> Vector:
    """Return each player's total regret against the best action of every round; needs the observer of this name."""
    return moment.observed("dynamic-regret") * moment.game.scale


@measure("alternating-regret", unit=PAYOFF, per="player", reduce=np.max, observer=BUILT_IN["alternating-regret"])
def alternating_regret(moment: Moment) -> Vector:
    """Return each player's regret with every loss shared by two rounds' strategies; needs the observer of this name."""
    totals = moment.observed("alternating-regret")[: len(moment.game.sizes)]
    best: Vector = np.array([matrix.sum(axis=0).min() for matrix in moment.matrices])
    return np.asarray((totals - best) * moment.game.scale)


@measure("price-of-anarchy", unit="ratio")
def price_of_anarchy(moment: Moment) -> float:
    """Return the largest welfare of any action profile divided by the welfare of play; NaN if not positive."""
    if not isinstance(moment.game, Table):
        raise InputError(f"price-of-anarchy needs a payoff table, which {moment.game.name} does not have")
    best, found = float(moment.game.payoffs.sum(axis=0).max()), welfare(moment)
    return best / found if best > 0 and found > 0 else float("nan")


@measure("last-strategies", unit=PROBABILITY, per="action")
def last_strategies(moment: Moment) -> Vector:
    """Return all players' strategies of the last round, concatenated."""
    return moment.sums.last


@measure("path-length", unit="L1 distance", per="player", reduce=np.max)
def path_length(moment: Moment) -> Vector:
    """Return how far each player's strategy moved in all: Σ |p_t - p_{t-1}|_1 over all rounds."""
    return moment.sums.path


@measure("joint", unit=PROBABILITY, per="cell")
def joint(moment: Moment) -> NDArray[np.float64]:
    """Return the joint distribution of play, one axis per player."""
    found = moment.joint
    if found is None:
        raise InputError(no_distance(moment.game) or "this record holds no joint distribution")
    return found


# Names and options of measures.


def gap_name(kind: EquilibriumKind) -> str:
    """Return the name of the measure for a kind of gap."""
    if kind not in EQUILIBRIUM_KINDS:
        raise unknown("gap", kind, EQUILIBRIUM_KINDS)
    return f"{kind}-gap"


def regret_options(kind: RegretKind, of: RegretOf, epsilon: float | None, phi: Deviations | None) -> dict[str, Any]:
    """Return the options of the measure for a kind of regret, or raise an InputError if they do not fit."""
    if kind not in REGRET_KINDS:
        raise unknown("regret", kind, REGRET_KINDS)
    if (kind == "quantile") != (epsilon is not None) or (kind == "phi") != (phi is not None):
        raise InputError("quantile regret needs epsilon=..., phi regret needs phi=..., and other regrets take neither")
    given = {"of": of, "epsilon": epsilon, "phi": phi}
    return {name: value for name, value in given.items() if value is not None}


# Internals.


def _gains(game: Game, profile: Vector) -> Vector:
    """Return what each player gains by a best response to a profile of strategies, concatenated."""
    ends = np.cumsum(game.sizes)[:-1]
    losses, played = np.split(game.expected_losses(profile), ends), np.split(profile, ends)
    gains = [strategy @ loss - loss.min() for strategy, loss in zip(played, losses, strict=True)]
    return np.array(gains) * game.scale


def _divergence(moment: Moment, profile: Sequence[ArrayLike]) -> float:
    """Return Σ KL(profile, last strategies) over players, in nats; infinite if an action has vanished."""
    game, total = moment.game, 0.0
    if len(profile) != len(game.players):
        raise InputError(f"profile must have one strategy for each of {len(game.players)} players, got {len(profile)}")
    last = np.split(moment.sums.last, np.cumsum(game.sizes)[:-1])
    for given, played, size, name in zip(profile, last, game.sizes, game.players, strict=True):
        target = strategy(given, size, name)
        support = target > 0
        with np.errstate(divide="ignore"):
            total += float((target[support] * (np.log(target[support]) - np.log(played[support]))).sum())
    return total


@lru_cache(maxsize=8)  # the measure is computed at every checkpoint
def _equilibria(game: Game) -> tuple[tuple[Vector, Vector], ...]:
    """Return the Nash equilibria of a two-player game."""
    from gamesim.games.nash import nash_equilibria

    found = nash_equilibria(game)
    if not found.profiles:
        raise InputError(f"{game.name}: {found.note}; give an equilibrium to last-kl with profile=...")
    return found.profiles


def _of_each_player(game: Game, total: Vector, of_matrices: OfMatrices) -> NDArray[np.float64]:
    """Apply a function to every player's matrix, batched by size: there may be thousands of players."""
    by_size = _kept_matrices_by_size if total.shape[-1] <= FEW_ENTRIES else _matrices_by_size
    result = np.zeros((*total.shape[:-1], len(game.sizes)))
    for who, entries in by_size(game.sizes):
        result[..., who] = of_matrices(total[..., entries])
    return result


def _matrices_by_size(sizes: tuple[int, ...]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return, for each number of actions, the players that have it and the indices of the entries of their matrices."""
    each = np.array(sizes)
    starts = np.cumsum(each**2) - each**2
    found = []
    for size in sorted(set(sizes)):
        who = np.flatnonzero(each == size)
        found.append((who, starts[who, None, None] + np.arange(size * size).reshape(size, size)))
    return found


# In small games, finding the entries takes longer than the measure itself.
_kept_matrices_by_size = lru_cache(maxsize=32)(_matrices_by_size)


def _regret(moment: Moment | Moments, of_matrices: OfMatrices, of: RegretOf = "play") -> NDArray[np.float64]:
    return _of_each_player(moment.game, moment.counterfactuals(of), of_matrices) * moment.game.scale


def _gap(moment: Moment | Moments, of_matrices: OfMatrices) -> NDArray[np.float64]:
    """Return the largest regret per round, for all moments at once."""
    gap: NDArray[np.float64] = np.maximum(0.0, _regret(moment, of_matrices).max(axis=-1) / moment.rounds)
    return gap


def _share(game: Game, gap: Value) -> Value:
    low, high = game.range
    width = float(high.max() - low.min())
    return gap / width if width else 0.0 * gap


def _slope(moments: Moments, gap: Callable[[Moments], Value]) -> float:
    rounding = gap_rounding(moments.game, int(moments.rounds[-1]))
    found = power(moments.rounds, np.asarray(gap(moments)), rounding)
    return float("nan") if found is None else found.exponent


def _traces(stack: NDArray[np.float64]) -> NDArray[np.float64]:
    traces: NDArray[np.float64] = np.trace(stack, axis1=-2, axis2=-1)
    return traces
