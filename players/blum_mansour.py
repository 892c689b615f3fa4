"""Blum and Mansour's learner: one external-regret learner an action, joined by a fixed point."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from gamesim.players._kernels.reduction import MatrixLearner, first_reduction, own_part, strategy_part

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner
from gamesim.validation import positive

NEGLIGIBLE = 1e-120  # products of smaller numbers would be so small that they are slow to reckon with

# What swap regret is at most, by the rows' learner: the sum over rows of its bound on losses of size p_i, with the
# Cauchy-Schwarz inequality over rows, since the sum of p_i over rows and rounds is T.
BOUNDS = {
    "first-order-hedge": ("3 √(d (d + T) ln d / 2)", lambda T, d: 3 * sqrt(d * (d + T) * log(d) / 2)),
    "hedge": ("(d + 2) √(T ln d / 2)", lambda T, d: (d + 2) * sqrt(T * log(d) / 2)),
    "ftrl": ("2 √(d (d + T) ln d)", lambda T, d: 2 * sqrt(d * (d + T) * log(d))),
    "optimistic-hedge": ("4 √(d (d + T) ln d)", lambda T, d: 4 * sqrt(d * (d + T) * log(d))),
    "adahedge": (
        "2 √(d T ln d) + d (8/3 ln d + 4)",
        lambda T, d: 2 * sqrt(d * T * log(d)) + d * (8 / 3 * log(d) + 4),
    ),
    "regret-matching": ("2 d √T", lambda T, d: 2 * d * sqrt(T)),
    "regret-matching-plus": ("2 d √T", lambda T, d: 2 * d * sqrt(T)),
    "predictive-rm-plus": ("4 d √T", lambda T, d: 4 * d * sqrt(T)),
}


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    play, size, d = int(settings[0]), int(settings[2]), int(np.sqrt(matrix.size))
    rows = own_part(state, d)
    for i in range(d):
        call_learner(play, settings, 3, settings.size, rows, i * size, i * size + size, matrix, i * d, i * d + d)
    for k in range(matrix.size):
        matrix[k] = matrix[k] if matrix[k] > NEGLIGIBLE else 0.0


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    observe, size = int(settings[1]), int(settings[2])
    p, rows = strategy_part(state, d), own_part(state, d)
    for i in range(d):
        mass = p[i] if p[i] > NEGLIGIBLE else 0.0
        for j in range(d):
            rows[d * size + j] = mass * loss[j]
        call_learner(observe, settings, 3, settings.size, rows, i * size, i * size + size, rows, d * size, d * size + d)


@dataclass(frozen=True)
class BlumMansour(MatrixLearner):
    """Ask one learner for each action where its mass should go, and play the distribution that this leaves as it is.

    Row i of φ is the strategy of a learner of its own, of the kind that `rows` names; the strategy is the fixed point
    p = pφ; row i's learner sees the loss p_i · l. Swap regret is then the sum of the rows' external regrets. Rows that
    are "first-order-hedge" have the rate sqrt(2 ln d / (1 + Σ p_i)) on losses of ±1; "adahedge" rows need no tuning and
    are strong; `horizon` is for rows that are tuned to one.

    Reference: Blum and Mansour (2007), "From external to internal regret", Theorem 5.

    >>> learner = BlumMansour(rows="regret-matching").start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.  , 0.25, 0.75])
    """

    rows: str = "first-order-hedge"
    horizon: int | None = None

    name = "blum-mansour"
    matrix_kernels = _write, _learn

    def __post_init__(self) -> None:
        positive("horizon", self.horizon)
        row_learner(self.rows)

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        row = row_learner(self.rows, self.horizon)
        play, observe = (address(function, LEARNER_KERNEL) for function in row.kernels)
        return np.array([play, observe, row.first_state(actions).size, *row.kernel_settings(actions)], dtype=np.float64)

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        row = row_learner(self.rows, self.horizon).first_state(actions)
        default = np.full(actions, 1 / actions)
        reduction = first_reduction(default)
        reduction[0] = 0.0
        return np.concatenate([reduction, np.tile(row, actions), np.zeros(actions)])

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        return Guarantee("swap", *BOUNDS[self.rows]) if self.rows in BOUNDS else None


def row_learner(name: str, rounds: int | None = None) -> Learner:
    """Return the learner that rows or nodes are made of: any that sees every loss."""
    from gamesim import players

    learner = players.make(name)
    if "expected" not in learner.feedback or learner.informed:
        raise InputError(f"{name} cannot be a learner for rows: it does not learn from the loss of every action")
    return learner if rounds is None else learner.with_horizon(rounds)
