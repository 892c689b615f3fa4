"""The built-in measures, each a function of a moment, in the order in which they are listed.

Regrets are totals over rounds and gaps are per round, both in payoff units. A gap's share is relative to the payoff
range, so that games with different stakes are comparable. A gap's slope is that of the run's curve, or NaN if no power
law fits it.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Vector
from gamesim.errors import InputError, unknown
from gamesim.game import Game
from gamesim.learner import REGRET_KINDS, RegretKind
from gamesim.measure import regrets
from gamesim.measure.distance import distance
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, no_distance
from gamesim.measure.moments import Moment, Moments
from gamesim.measure.registry import Value, measure
from gamesim.measure.trend import power

PAYOFF, PAYOFF_PER_ROUND = "payoff units", "payoff units per round"
PROBABILITY = "probability"
TOTAL_VARIATION = "total variation"

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
    game, ends = moment.game, np.cumsum(moment.game.sizes)[:-1]
    losses = np.split(game.expected_losses(moment.profile), ends)
    played = np.split(moment.profile, ends)
    gains = [strategy @ loss - loss.min() for strategy, loss in zip(played, losses, strict=True)]
    return max(0.0, float((np.array(gains) * game.scale).max()))


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
def ce_distance(moment: Moment) -> float:
    """Return the distance of the joint distribution to the set of CE."""
    return distance(moment.game, joint(moment), "ce")


@measure("cce-distance", unit=TOTAL_VARIATION, cheap=False)
def cce_distance(moment: Moment) -> float:
    """Return the distance of the joint distribution to the set of CCE."""
    return distance(moment.game, joint(moment), "cce")


@measure("external-regret", unit=PAYOFF, per="player", reduce=np.max)
def external_regret(moment: Moment) -> Vector:
    """Return each player's total regret against its best fixed action."""
    return _regret(moment, regrets.external)


@measure("internal-regret", unit=PAYOFF, per="player", reduce=np.max)
def internal_regret(moment: Moment) -> Vector:
    """Return each player's total regret against the best replacement of one action by another."""
    return _regret(moment, regrets.internal)


@measure("swap-regret", unit=PAYOFF, per="player", reduce=np.max)
def swap_regret(moment: Moment) -> Vector:
    """Return each player's total regret against the best replacement of every action."""
    return _regret(moment, regrets.swap)


@measure("quantile-regret", unit=PAYOFF, per="player")
def quantile_regret(moment: Moment, epsilon: float) -> Vector:
    """Return each player's total regret against the ⌈epsilon · d⌉-th best of its d actions."""
    return np.array([regrets.quantile(matrix, epsilon) for matrix in moment.matrices]) * moment.game.scale


@measure("phi-regret", unit=PAYOFF, per="player")
def phi_regret(moment: Moment, phi: Deviations) -> Vector:
    """Return each player's total regret against the deviation phi, one matrix for all players or one each."""
    matrices = moment.matrices
    maps = [phi] * len(matrices) if np.ndim(phi[0]) == 1 else phi
    if len(maps) != len(matrices):
        raise InputError(f"phi must be one matrix, or one for each of {len(matrices)} players, got {len(maps)}")
    found = [regrets.against(matrix, one) for matrix, one in zip(matrices, maps, strict=True)]
    return np.array(found) * moment.game.scale


@measure("payoffs", unit=PAYOFF_PER_ROUND, per="player")
def payoffs(moment: Moment) -> Vector:
    """Return each player's average payoff per round."""
    losses = _of_each_player(moment.game, moment.sums.counterfactuals, _traces) / moment.rounds
    return moment.game.middle - moment.game.scale * losses


@measure("welfare", unit=PAYOFF_PER_ROUND)
def welfare(moment: Moment) -> float:
    """Return the sum of all players' average payoffs per round."""
    return float(payoffs(moment).sum(axis=-1))


@measure("average-strategies", unit=PROBABILITY, per="action")
def average_strategies(moment: Moment) -> Vector:
    """Return all players' average strategies, concatenated."""
    return moment.profile


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


def regret_options(kind: RegretKind, epsilon: float | None, phi: Deviations | None) -> dict[str, Any]:
    """Return the options of the measure for a kind of regret, or raise an InputError if they do not fit."""
    if kind not in REGRET_KINDS:
        raise unknown("regret", kind, REGRET_KINDS)
    if (kind == "quantile") != (epsilon is not None) or (kind == "phi") != (phi is not None):
        raise InputError("quantile regret needs epsilon=..., phi regret needs phi=..., and other regrets take neither")
    return {name: value for name, value in (("epsilon", epsilon), ("phi", phi)) if value is not None}


# Internals.


def _of_each_player(game: Game, counterfactuals: Vector, of_matrices: OfMatrices) -> NDArray[np.float64]:
    """Apply a function to every player's matrix, batched by size: there may be thousands of players."""
    sizes = np.array(game.sizes)
    starts = np.cumsum(sizes**2) - sizes**2
    result = np.zeros((*counterfactuals.shape[:-1], len(sizes)))
    for size in sorted(set(game.sizes)):
        who = np.flatnonzero(sizes == size)
        entries = starts[who, None] + np.arange(size * size)
        result[..., who] = of_matrices(counterfactuals[..., entries].reshape(*result.shape[:-1], len(who), size, size))
    return result


def _regret(moment: Moment | Moments, of_matrices: OfMatrices) -> NDArray[np.float64]:
    return _of_each_player(moment.game, moment.sums.counterfactuals, of_matrices) * moment.game.scale


def _gap(moment: Moment | Moments, of_matrices: OfMatrices) -> NDArray[np.float64]:
    """Return the largest regret per round, for all moments at once."""
    gap: NDArray[np.float64] = np.maximum(0.0, _regret(moment, of_matrices).max(axis=-1) / moment.rounds)
    return gap


def _share(game: Game, gap: Value) -> Value:
    low, high = game.range
    width = float(high.max() - low.min())
    return gap / width if width else 0.0 * gap


def _slope(moments: Moments, gap: Callable[[Moments], Value]) -> float:
    found = power(moments.rounds, np.asarray(gap(moments)))
    return float("nan") if found is None else found.exponent


def _traces(stack: NDArray[np.float64]) -> NDArray[np.float64]:
    traces: NDArray[np.float64] = np.trace(stack, axis1=-2, axis2=-1)
    return traces
