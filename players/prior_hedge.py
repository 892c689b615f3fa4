"""Prior Hedge: Hedge over all d^d action maps, with a prior that favours simple maps."""

from dataclasses import dataclass
from math import ceil, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, inlined, kernel, multiply_add, part
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.fixed_point import times
from gamesim.players._kernels.numeric import exponential, smallest, sum_of
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import softmin
from gamesim.validation import MOST_ROUNDS, positive

NEGLIGIBLE = 1e-150  # products of smaller numbers could be subnormal, hence slow
FARTHEST = 345.0  # exp(-345) is about that small
GROUP = 32  # factors of at least 1/d² that are multiplied before the product is rescaled to [1, 2)
ONE = 1023 << 52  # the bits of 1.0: zero fraction, exponent 0
FRACTION = (1 << 52) - 1


class Own(NamedTuple):
    """Matrix-learner state and scratch of prior Hedge."""

    losses: Vector  # L_ij = Σ p_i l_j
    maps: Vector  # the mean map under each rate
    weights: Vector  # scratch: for two successive rates; squaring gives the weights two rates later
    experts: Vector  # the cumulative loss of each rate
    shares: Vector  # scratch: the weight of each rate
    spreads: Vector  # scratch of `mean_map`, like the next three
    stays: Vector
    exponents: Vector
    defaults: Vector
    rounds: Vector


OWN = Layout(
    Own,
    "d levels",
    losses="d * d",
    maps="levels * d * d",
    weights="2 * d * d",
    experts="levels",
    shares="levels",
    spreads="d",
    stays="d",
    exponents="d + 1",
    defaults="d + 1",
    rounds="1",
)
_own_view = OWN.view


class Settings(NamedTuple):
    """Kernel settings of prior Hedge."""

    top: float  # the rate of Hedge over the rates
    rate: float  # the smallest rate
    levels: int  # number of rates
    anytime: int  # 1 if all rates decrease as 1 / √t


SETTINGS = Layout(Settings, "", top="float", rate="float", levels="int", anytime="int")
_settings_view = SETTINGS.view


@inlined
def row_of(matrix: Vector, i: int, d: int) -> Vector:
    """Return row i of a matrix with d columns."""
    view: Vector = part(matrix, i * d, i * d + d)
    return view


@inlined
def posterior(weights: Vector, spreads: Vector, stays: Vector, exponents: Vector, result: Vector) -> None:
    """Write the posterior of each default: the d constants, then staying.

    The largest weight of each row is 1, so no factor Z is less than 1/d². A product of d factors may underflow, so its
    exponent is kept separately. `spreads` receives the term shared by all factors of a row, `stays` the factor Z_ii.
    """
    d = spreads.size
    a, b = 1 / (d * d), 1 - 1 / d
    for j in range(d + 1):
        exponents[j], result[j] = 0.0, 1.0 if j < d else float(d)
    for i in range(d):
        row = row_of(weights, i, d)
        spread = a * sum_of(row)
        for j in range(d):
            result[j] *= multiply_add(b, row[j], spread)
        spreads[i], stays[i] = spread, multiply_add(b, row[i], spread)
        result[d] *= stays[i]
        if i % GROUP == GROUP - 1 or i == d - 1:
            for j in range(d + 1):
                bits = np.float64(result[j]).view(np.int64)
                exponents[j] -= (bits >> 52) - 1023
                result[j] = np.int64(bits & FRACTION | ONE).view(np.float64)
    least = smallest(exponents)
    for j in range(d + 1):
        below = min(exponents[j] - least, 1000.0)
        result[j] *= np.int64(ONE - (int(below) << 52)).view(np.float64)
        result[j] = result[j] if result[j] > NEGLIGIBLE else 0.0
    inverse = 1 / sum_of(result)
    for j in range(d + 1):
        result[j] *= inverse


@kernel
def mean_map(
    weights: Vector, spreads: Vector, stays: Vector, exponents: Vector, defaults: Vector, mean: Vector
) -> None:
    """Write the mean of all maps φ, weighted by the prior times the product over i of weights[i, φ(i)].

    The weights are squared on return, because the rate doubles every two levels. The arguments between `weights` and
    `mean` are scratch.
    """
    d = spreads.size
    posterior(weights, spreads, stays, exponents, defaults)
    a, b = 1 / (d * d), 1 - 1 / d
    for i in range(d):
        stays[i] = defaults[d] / stays[i]
    for i in range(d):
        row, target = row_of(weights, i, d), row_of(mean, i, d)
        spread = spreads[i]
        for j in range(d):
            target[j] = defaults[j] / multiply_add(b, row[j], spread)
        common = a * (sum_of(target) + stays[i])
        stay = stays[i] * b * row[i]
        for k in range(d):
            weight = row[k]
            target[k] = weight * multiply_add(b, target[k], common)
            square = weight * weight
            row[k] = square if square > NEGLIGIBLE else 0.0
        target[i] += stay


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    """Write the mixture of the mean maps of all rates."""
    top, rate, levels, anytime = _settings_view(settings)
    cells, d = matrix.size, int(np.sqrt(matrix.size))
    losses, maps, weights, experts, shares, spreads, stays, exponents, defaults, rounds = _own_view(
        reduction(state, d).own, d, levels
    )
    if anytime == 1:
        top, rate = top / np.sqrt(rounds[0] + 1), rate / np.sqrt(rounds[0] + 1)
    faster = np.sqrt(2.0) * rate
    for i in range(d):
        row, slow, fast = row_of(losses, i, d), row_of(weights, i, d), row_of(weights, d + i, d)
        least = smallest(row)
        for j in range(d):
            excess = min(row[j] - least, FARTHEST / faster)
            slow[j] = exponential(-rate * excess)
            fast[j] = exponential(-faster * excess)
    for level in range(levels):
        current = part(weights, level % 2 * cells, (level % 2 + 1) * cells)
        mean_map(current, spreads, stays, exponents, defaults, part(maps, level * cells, (level + 1) * cells))
    softmin(top, experts, shares)
    times(shares, maps, matrix)


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d, levels = loss.size, _settings_view(settings).levels
    cells = d * d
    parts = reduction(state, d)
    p, own = parts.strategy, _own_view(parts.own, d, levels)
    losses, experts = own.losses, own.experts
    own.rounds[0] += 1
    moved = part(own.defaults, 1, 1 + d)  # scratch
    for level in range(levels):
        times(p, part(own.maps, level * cells, (level + 1) * cells), moved)
        total = 0.0
        for j in range(d):
            total += moved[j] * loss[j]
        experts[level] += total
    for i in range(d):
        mass, row = p[i], row_of(losses, i, d)
        for j in range(d):
            row[j] += mass * loss[j]


@dataclass(frozen=True)
class PriorHedge(MatrixLearner):
    """Play Hedge over all action maps, with a prior that favours simple maps.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T that the learning rates are tuned to. A simulation sets it if it is not
        given.
    anytime : bool, default False
        Whether all rates decrease with the rounds, so that no horizon is needed.

    Notes
    -----
    The prior π draws a map of actions to actions as follows. The default is to stay (probability 1/2)
    or a constant j (probability 1/2d each). Each row independently takes the default with probability
    1 - 1/d, and otherwise an action drawn uniformly.

    With L_ij = Σ p_i l_j, Hedge with rate η weights a map φ by

        π(φ) exp(-η Σ_i L_iφ(i))

    The exponential is a product over rows, so the mean over all d^d maps has a closed form. With

        E = exp(-η L)
        s = E1
        a = 1/d²
        b = 1 - 1/d
        Z_ij = a s_i + b E_ij

    the constant j has weight w_j and staying has weight w_0:

        w_j ∝ Π_i Z_ij / 2d
        w_0 ∝ Π_i Z_ii / 2

    and the mean map is

        φ_ik = a E_ik (Σ_j w_j / Z_ij + w_0 / Z_ii) + b E_ik w_k / Z_ik + 1{k = i} b E_ii w_0 / Z_ii

    This runs for K rates, with Hedge over them:

        η_k = sqrt(2^(k+1) ln d / T),  k = 0 … ⌈log2 d⌉

    Regret against φ is at most the sum of √(2 T ln K) and, for the best of the rates,

        ln(1 / π(φ)) / η_k + η_k T / 2,  π(φ) ≥ 1 / 2d^(2d)

    With m = min{d - unif(φ), d - self(φ)},

        ln(1 / π(φ)) ≤ 1 + ln 2d + 2 m ln d

    so that regret is of the order

        √((1 + m) T ln d)

    This is smaller than what is proved for `wavelet` by a factor of ln d, but T must be known. With
    `anytime`, round t uses its own number in place of T. The bounds of regularised leaders with
    decreasing rates then give

        3 √(T ln K / 2) + min_k (ln(1 / π(φ)) / η_k + η_k T)

    with the rates of the last round.

    References
    ----------
    Prior: Hait, Li, Luo and Zhang (2025), "Comparator-adaptive Φ-regret: improved bounds, simpler
    algorithms, and applications to games", NeurIPS. The closed form is derived in this project.

    Examples
    --------
    >>> learner = PriorHedge(horizon=100).start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.299, 0.341, 0.36 ])
    """

    horizon: int | None = None
    anytime: bool = False

    name = "prior-hedge"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        rounds = 1 if self.anytime else self.required_horizon()
        rates = _rates(rounds, actions)
        top = sqrt(2 * log(len(rates)) / rounds)
        return SETTINGS.pack(top=top, rate=rates[0], levels=len(rates), anytime=int(self.anytime))

    def own_dimensions(self, actions: int) -> tuple[int, ...]:  # noqa: D102
        return actions, len(_rates(1, actions))

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            if actions == 1:
                return 0.0
            rates = _rates(rounds, actions)
            prior = log(2) + 2 * actions * log(actions)
            if self.anytime:
                best = min(prior / rate + rate * rounds for rate in rates)
                return 3 * sqrt(rounds * log(len(rates)) / 2) + best
            return sqrt(2 * rounds * log(len(rates))) + min(prior / rate + rate * rounds / 2 for rate in rates)

        if self.anytime:
            return Guarantee("swap", "3 √(T ln K / 2) + min_k (ln(2 d^(2d)) / η_k + η_k T)", bound)
        return Guarantee("swap", "√(2 T ln K) + min_k (ln(2 d^(2d)) / η_k + η_k T / 2)", bound).tuned_to(self.horizon)


def _rates(rounds: int, actions: int) -> list[float]:
    return [sqrt(2 ** (k + 1) * log(actions) / rounds) for k in range(ceil(log2(actions)) + 1)]
