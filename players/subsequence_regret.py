"""Subsequence regret: AdaNormalHedge over pairs of actions, whose weights are a flow that play keeps in balance."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import NO_REGRET


class Own(NamedTuple):
    """Matrix-learner state of the subsequence-regret learner."""

    regrets: Vector  # for each pair (i, j): R_ij
    sizes: Vector  # for each pair (i, j): C_ij


OWN = Layout(Own, regrets="d * d", sizes="d * d")
_own_view = OWN.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    d = int(np.sqrt(matrix.size))
    regrets, sizes = _own_view(reduction(state, d).own, d)
    largest = 0.0
    for k in range(d * d):
        above = max(regrets[k] + 1, 0.0)
        matrix[k] = above * above / (3 * (sizes[k] + 1))
        largest = max(largest, matrix[k])
    most = 0.0  # the largest weight that leaves an action
    for i in range(d):
        leaving = 0.0
        for k in range(i * d, i * d + d):
            below = max(regrets[k] - 1, 0.0)
            less = below * below / (3 * (sizes[k] + 1)) - matrix[k]
            weight = np.exp(matrix[k] - largest) * (1 - np.exp(less) if less < -0.1 else -np.expm1(less))
            matrix[k] = weight if regrets[k] + 1 > NO_REGRET and k != i * d + i else 0.0
            leaving += matrix[k]
        most = max(most, leaving)
    for i in range(d):
        leaving = 0.0
        for k in range(i * d, i * d + d):
            matrix[k] = matrix[k] / most if most > 0 else 0.0
            leaving += matrix[k]
        matrix[i * d + i] = max(1 - leaving, 0.0)


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    parts = reduction(state, d)
    regrets, sizes = _own_view(parts.own, d)
    for i in range(d):
        mass = parts.strategy[i] / 2  # so that regrets of a round lie in [-1, 1]
        for j in range(d):
            regret = mass * (loss[i] - loss[j])
            regrets[i * d + j] += regret
            sizes[i * d + j] += abs(regret)


@dataclass(frozen=True)
class SubsequenceRegret(MatrixLearner):
    """Bound the regret on the rounds of each action by reweighting pairs of actions.

    Notes
    -----
    The subsequence of action i weights every round by p_i. For each pair i ≠ j, the regret on it for
    not having played j and its absolute value are, with losses mapped to [0, 1],

        R_ij = Σ p_i (l_i - l_j) / 2
        C_ij = Σ p_i |l_i - l_j| / 2

    AdaNormalHedge over the pairs gives them the weights

        w_ij ∝ exp([R_ij + 1]₊² / 3(C_ij + 1)) - exp([R_ij - 1]₊² / 3(C_ij + 1))

    and the learner plays the strategy that gains nothing under them whatever the losses,

        Σ_ij w_ij p_i (l_i - l_j) = 0

    This is the fixed point of the matrix with entries w_ij / μ off the diagonal, for any μ that makes
    it stochastic. The gradient of a pair is thus its regret in AdaNormalHedge, whose bound gives

        R_ij ≤ √(3 C_ij ln(d (d - 1) B)),  B = 5/2 + 3/2 ln(1 + T)

    C_ij is at most the mass P_i on i. Regret against a map that changes k actions is at most the sum of
    k such terms, by Cauchy-Schwarz 2 √(3 k T ln(d (d - 1) B)); k = 1 is internal, k = d swap regret.

    References
    ----------
    Noarov, Ramalingam, Roth and Xie (2023), "High-dimensional prediction for sequential decision
    making", and Roth (2023), "Learning in games and games in learning", Theorem 14: the reduction.

    Luo and Schapire (2015), "Achieving all with no parameters: AdaNormalHedge", Theorem 1: the weights.
    Lu, Sun and Zhang (2025), appendix "Discussion", propose this combination.

    Examples
    --------
    >>> learner = SubsequenceRegret().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.163, 0.354, 0.483])
    """

    name = "subsequence-regret"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            pairs = max(actions * (actions - 1), 1)
            return 2 * sqrt(3 * actions * rounds * log(pairs * (2.5 + 1.5 * log(1 + rounds))))

        return Guarantee("swap", "2 √(3 d T ln(d (d - 1) (5/2 + 3/2 ln(1 + T))))", bound)
