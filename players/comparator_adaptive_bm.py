"""Comparator-adaptive Blum-Mansour: copies of Blum and Mansour's learner with simple maps as priors."""

from dataclasses import dataclass
from math import ceil, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, inlined, kernel, part
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.numeric import exponential, fill, smallest
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.validation import MOST_ROUNDS, positive

FARTHEST = 345.0  # exp(-345) is about 1e-150: smaller weights are as good as 0


class Own(NamedTuple):
    """Matrix-learner state of comparator-adaptive Blum-Mansour."""

    losses: Vector  # L_ij = Σ p_i l_j
    weights: Vector  # E_ij = exp(-η L_ij) for each rate, up to a factor per row
    copies: Vector  # the cumulative loss of each copy: for each rate, the d constants and staying
    shares: Vector  # the weight of each copy


OWN = Layout(
    Own,
    "d levels",
    losses="d * d",
    weights="levels * d * d",
    copies="levels * (d + 1)",
    shares="levels * (d + 1)",
)
_own_view = OWN.view


class Settings(NamedTuple):
    """Kernel settings of comparator-adaptive Blum-Mansour."""

    top: float  # the rate of Hedge over the copies
    rate: float  # the smallest rate of the rows
    levels: int  # number of rates


SETTINGS = Layout(Settings, "", top="float", rate="float", levels="int")
_settings_view = SETTINGS.view


@inlined
def _total(row: Vector, d: int) -> float:
    """Return Σ_j E_ij / d², the part of every normaliser of a row that the default does not change."""
    total = 0.0
    for j in range(d):
        total += row[j]
    return total / (d * d)


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    top, rate, levels = _settings_view(settings)
    d = int(np.sqrt(matrix.size))
    a, b = 1 / (d * d), 1 - 1 / d
    losses, weights, copies, shares = _own_view(reduction(state, d).own, d, levels)
    least, total = smallest(copies), 0.0
    for k in range(copies.size):
        prior = 1.0 if k % (d + 1) == d else 1 / d
        shares[k] = prior * exponential(-min(top * (copies[k] - least), FARTHEST))
        total += shares[k]
    for k in range(copies.size):
        shares[k] /= total
    fill(matrix, 0.0)
    for level in range(levels):
        share, eta = part(shares, level * (d + 1), (level + 1) * (d + 1)), rate * 2.0 ** (0.5 * level)
        for i in range(d):
            past, row = part(losses, i * d, i * d + d), part(weights, (level * d + i) * d, (level * d + i + 1) * d)
            least = smallest(past)
            for j in range(d):
                row[j] = exponential(-min(eta * (past[j] - least), FARTHEST))
            spread, target = _total(row, d), part(matrix, i * d, i * d + d)
            stay = share[d] / (spread + b * row[i])
            common = stay
            for j in range(d):
                common += share[j] / (spread + b * row[j])
            for j in range(d):
                target[j] += row[j] * (a * common + b * share[j] / (spread + b * row[j]))
            target[i] += row[i] * b * stay


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d, levels = loss.size, _settings_view(settings).levels
    a, b = 1 / (d * d), 1 - 1 / d
    parts = reduction(state, d)
    p = parts.strategy
    losses, weights, copies, _ = _own_view(parts.own, d, levels)
    for level in range(levels):
        copy = part(copies, level * (d + 1), (level + 1) * (d + 1))
        for i in range(d):
            row = part(weights, (level * d + i) * d, (level * d + i + 1) * d)
            spread, mean = _total(row, d), 0.0
            for j in range(d):
                mean += row[j] * loss[j]
            for j in range(d):
                copy[j] += p[i] * (a * mean + b * row[j] * loss[j]) / (spread + b * row[j])
            copy[d] += p[i] * (a * mean + b * row[i] * loss[i]) / (spread + b * row[i])
    for i in range(d):
        for j in range(d):
            losses[i * d + j] += p[i] * loss[j]


@dataclass(frozen=True)
class ComparatorAdaptiveBM(MatrixLearner):
    """Run copies of Blum and Mansour's learner whose rows start at simple maps.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the learning rates are tuned to. A simulation sets it if it is not
        given.

    Notes
    -----
    A copy belongs to a rate η_k and to a default: a constant action, or staying. Its i-th row is Hedge
    with rate η_k on the losses p_i l, with a prior that gives the default 1 - 1/d and spreads 1/d over
    all actions. With E_ij = exp(-η_k Σ p_i l_j), the row of the copy with default c is

        x_j ∝ E_ij (1/d² + (1 - 1/d) 1{j = c})

    Hedge over all copies, with prior 1/2 on staying and 1/2d on each constant, mixes their maps. All
    copies of a rate share E, so it takes of the order of d² K operations per round. The rates are

        η_k = sqrt(2^(k+1) ln d / T),  k = 0 … K - 1,  K = 1 + ⌈log2 d⌉

    Regret against φ, with m of its rows different from the default, is at most

        √(2 T ln(2 d K)) + min_k ((1 + 2 m ln d) / η_k + η_k T / 2)

    which is of the order √((1 + m) T ln d) for the better default, as for `prior-hedge`. That learner
    is Hedge over all maps under the same prior; this one has separate weights for defaults and rows.

    References
    ----------
    After Hait, Li, Luo and Zhang (2025), "Comparator-adaptive Φ-regret: improved bounds, simpler
    algorithms, and applications to games", NeurIPS: copies of a variant of the Blum-Mansour reduction.
    The closed form of the mixture is derived in this project.

    Examples
    --------
    >>> learner = ComparatorAdaptiveBM(horizon=100).start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.297, 0.342, 0.361])
    """

    horizon: int | None = None

    name = "comparator-adaptive-bm"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        rounds = self.required_horizon()
        rates = _rates(rounds, actions)
        top = sqrt(2 * log(2 * actions * len(rates)) / rounds)
        return SETTINGS.pack(top=top, rate=rates[0], levels=len(rates))

    def own_dimensions(self, actions: int) -> tuple[int, ...]:  # noqa: D102
        return actions, len(_rates(1, actions))

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            if actions == 1:
                return 0.0
            rates = _rates(rounds, actions)
            prior = 2 * actions * log(actions)  # of any map: each row differs from the default
            best = min(prior / rate + rate * rounds / 2 for rate in rates)
            return sqrt(2 * rounds * log(2 * actions * len(rates))) + best

        formula = "√(2 T ln(2 d K)) + min_k (2 d ln d / η_k + η_k T / 2)"
        return Guarantee("swap", formula, bound).tuned_to(self.horizon)


def _rates(rounds: int, actions: int) -> list[float]:
    return [sqrt(2 ** (k + 1) * log(actions) / rounds) for k in range(ceil(log2(actions)) + 1)]
