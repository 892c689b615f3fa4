"""Prior Hedge: Hedge over all d^d maps of the actions, under a prior that knows the simple ones."""

from dataclasses import dataclass
from math import ceil, log, log2, sqrt

import numpy as np

from gamesim.compiled import Vector, kernel, part
from gamesim.errors import positive
from gamesim.player import Guarantee, Player
from gamesim.players.fixed_point import times
from gamesim.players.hedge import exponential, smallest, softmin, sum_of
from gamesim.players.reduction import first_reduction, matrix_part, own_part, settle, strategy_part, unsettle, unsettled

NEGLIGIBLE = 1e-150  # products of smaller numbers would be so small that they are slow to reckon with
GROUP = 32  # factors of at least 1/d² that are multiplied before a logarithm is taken


@kernel
def mean_map(weights: Vector, product: Vector, costs: Vector, spreads: Vector, result: Vector) -> None:
    """Write the mean of all maps φ, weighed by the prior times the product over i of weights[i, φ(i)].

    The largest weight of each row is 1, so that no factor Z below is less than 1/d².
    """
    d = costs.size - 1
    a, b = 1 / (d * d), 1 - 1 / d
    for j in range(d + 1):
        costs[j], product[j] = np.log(2.0 * d) if j < d else np.log(2.0), 1.0
    for i in range(d):
        row = part(weights, i * d, i * d + d)
        spread = a * sum_of(row)
        spreads[i] = spread
        for j in range(d):
            product[j] *= spread + b * row[j]
        product[d] *= spread + b * row[i]
        if i % GROUP == GROUP - 1 or i == d - 1:
            for j in range(d + 1):
                costs[j] -= np.log(product[j])
                product[j] = 1.0
    softmin(1.0, costs, product)  # from here on the posterior of the defaults: each constant, and to stay
    for i in range(d):
        row, target = part(weights, i * d, i * d + d), part(result, i * d, i * d + d)
        spread = spreads[i]
        for j in range(d):
            target[j] = product[j] / (spread + b * row[j])
        stay = product[d] / (spread + b * row[i])
        common = a * (sum_of(target) + stay)
        for k in range(d):
            target[k] = row[k] * (common + b * target[k])
        target[i] += b * stay * row[i]


@kernel
def _choose(settings: Vector, state: Vector, d: int) -> None:
    """Mix the mean maps of all rates and find the fixed point, if that is not yet done."""
    if not unsettled(state):
        return
    levels, cells = int(settings[2]), d * d
    matrix, own = matrix_part(state, d), own_part(state, d)
    losses, maps = own[:cells], own[cells : (1 + levels) * cells]
    weights, rest = own[(1 + levels) * cells : (3 + levels) * cells], own[(3 + levels) * cells :]
    experts, shares = rest[:levels], rest[levels : 2 * levels]
    rest = rest[2 * levels :]
    product, costs, spreads = rest[: d + 1], rest[d + 1 : 2 * d + 2], rest[2 * d + 2 :]
    rate = settings[1]
    faster = np.sqrt(2.0) * rate
    for i in range(d):
        row = part(losses, i * d, i * d + d)
        least = smallest(row)
        for j in range(d):
            excess = row[j] - least
            weights[i * d + j] = max(exponential(-rate * excess), NEGLIGIBLE)
            weights[cells + i * d + j] = max(exponential(-faster * excess), NEGLIGIBLE)
    softmin(settings[0], experts, shares)
    for k in range(cells):
        matrix[k] = 0.0
    for level in range(levels):
        current = part(weights, level % 2 * cells, (level % 2 + 1) * cells)
        mean = part(maps, level * cells, (level + 1) * cells)
        mean_map(current, product, costs, spreads, mean)
        share = shares[level] if shares[level] > NEGLIGIBLE else 0.0
        for k in range(cells):
            matrix[k] += share * mean[k]
            square = current[k] * current[k]  # two levels on the rate has doubled
            current[k] = square if square > NEGLIGIBLE else 0.0
    settle(state, d)


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    _choose(settings, state, strategy.size)
    p = strategy_part(state, strategy.size)
    for i in range(strategy.size):
        strategy[i] = p[i]


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d, levels = loss.size, int(settings[2])
    cells = d * d
    _choose(settings, state, d)
    p, own = strategy_part(state, d), own_part(state, d)
    rest = own[(3 + levels) * cells :]
    moved = rest[2 * levels : 2 * levels + d]
    for level in range(levels):
        times(p, own[(1 + level) * cells : (2 + level) * cells], moved)
        for j in range(d):
            rest[level] += moved[j] * loss[j]
    for i in range(d):
        for j in range(d):
            own[i * d + j] += p[i] * loss[j]
    unsettle(state)


@dataclass(frozen=True)
class PriorHedge(Player):
    """Play Hedge over all maps of actions to actions, with a prior on maps near the identity or near a constant.

    A map is drawn from the prior so: a default is to stay (probability 1/2) or a constant j (1/2d each); each row
    takes the default with probability 1 - 1/d and else an action at random. With L_ij = Σ p_i l_j, Hedge with rate η
    weighs a map φ by exp(-η Σ_i L_iφ(i)), a product over rows, so that its mean over all d^d maps has a closed form:
    E = exp(-η L), s = E1, a = 1/d², b = 1 - 1/d, Z_ij = a s_i + b E_ij; the constant j has the weight w_j ∝ Π_i Z_ij /
    2d, to stay has w_0 ∝ Π_i Z_ii / 2, and
    φ_ik = a E_ik (Σ_j w_j / Z_ij + w_0 / Z_ii) + b E_ik w_k / Z_ik + 1{k = i} b E_ii w_0 / Z_ii.
    This runs for the K rates η_k = sqrt(2^(k+1) ln d / T), k = 0 … ⌈log2 d⌉, T = `horizon`, with Hedge over them. Every
    map has a prior of at least 1 / 2d^(2d), so that swap regret is at most √(2 T ln K) and, for the best of the rates,
    ln(2 d^(2d)) / η_k + η_k T / 2.

    Reference: ours, after Hait, Li, Luo and Zhang (2025), who put such a prior over maps.

    >>> learner = PriorHedge(horizon=100).start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.299, 0.341, 0.36 ])
    """

    horizon: int | None = None

    name = "prior-hedge"
    kernels = _play, _observe

    def __post_init__(self) -> None:
        positive("horizon", self.horizon)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        rates = _rates(self.needed_horizon(), actions)
        top = sqrt(2 * log(len(rates)) / self.needed_horizon())
        return np.array([top, rates[0], len(rates)], dtype=np.float64)

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        levels, cells = len(_rates(1, actions)), actions * actions
        own = np.zeros((3 + levels) * cells + 2 * levels + 3 * actions + 2)
        return np.concatenate([first_reduction(np.full(actions, 1 / actions)), own])

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            if actions == 1:
                return 0.0
            rates = _rates(rounds, actions)
            prior = log(2) + 2 * actions * log(actions)
            return sqrt(2 * rounds * log(len(rates))) + min(prior / rate + rate * rounds / 2 for rate in rates)

        return Guarantee("swap", "√(2 T ln K) + min_k (ln(2 d^(2d)) / η_k + η_k T / 2)", bound).up_to(self.horizon)


def _rates(rounds: int, actions: int) -> list[float]:
    return [sqrt(2 ** (k + 1) * log(actions) / rounds) for k in range(ceil(log2(actions)) + 1)]
