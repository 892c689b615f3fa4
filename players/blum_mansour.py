"""Blum and Mansour's learner: one external-regret learner per action, combined by a fixed point."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel, part
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner, learner_by_name
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players.ftrl import FTRL
from gamesim.validation import MOST_ROUNDS, positive

NEGLIGIBLE = 1e-120  # products of smaller numbers could be subnormal, hence slow

# Bounds on swap regret by row learner: the sum over rows of its bound for losses of size p_i, by the Cauchy-Schwarz
# inequality over rows, since the sum of p_i over rows and rounds is T.
BOUNDS = {
    "first-order-hedge": ("3 √(d (d + T) ln d / 2)", lambda T, d: 3 * sqrt(d * (d + T) * log(d) / 2)),
    "hedge": ("(d + 2) √(T ln d / 2)", lambda T, d: (d + 2) * sqrt(T * log(d) / 2)),
    "optimistic-hedge": ("4 √(d (d + T) ln d)", lambda T, d: 4 * sqrt(d * (d + T) * log(d))),
    "adahedge": (
        "2 √(d T ln d) + d (8/3 ln d + 4)",
        lambda T, d: 2 * sqrt(d * T * log(d)) + d * (8 / 3 * log(d) + 4),
    ),
    "regret-matching": ("2 d √T", lambda T, d: 2 * d * sqrt(T)),
    "regret-matching-plus": ("2 d √T", lambda T, d: 2 * d * sqrt(T)),
    "predictive-rm-plus": ("4 d √T", lambda T, d: 4 * d * sqrt(T)),
}


class Own(NamedTuple):
    """Matrix-learner state of Blum and Mansour's learner."""

    rows: Vector  # the state of each row learner
    seen: Vector  # scratch: the loss that one row observes


OWN = Layout(Own, "d size", rows="d * size", seen="d")
_own_view = OWN.view


class Settings(NamedTuple):
    """Kernel settings: the row learner's kernel addresses, state size and settings."""

    play: int
    observe: int
    size: int
    row: Vector


SETTINGS = Layout(Settings, "", play="int", observe="int", size="int", row="rest")
_settings_view = SETTINGS.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    play, _, size, row = _settings_view(settings)
    d = int(np.sqrt(matrix.size))
    rows = _own_view(reduction(state, d).own, d, size).rows
    for i in range(d):
        call_learner(play, row, part(rows, i * size, i * size + size), part(matrix, i * d, i * d + d))
    for k in range(matrix.size):
        matrix[k] = matrix[k] if matrix[k] > NEGLIGIBLE else 0.0


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    _, observe, size, row = _settings_view(settings)
    parts = reduction(state, d)
    p, (rows, seen) = parts.strategy, _own_view(parts.own, d, size)
    for i in range(d):
        mass = p[i] if p[i] > NEGLIGIBLE else 0.0
        for j in range(d):
            seen[j] = mass * loss[j]
        call_learner(observe, row, part(rows, i * size, i * size + size), seen)


@dataclass(frozen=True)
class BlumMansour(MatrixLearner):
    """Minimise swap regret with one external-regret learner per action.

    Parameters
    ----------
    rows : str or Learner, default "first-order-hedge"
        The external-regret learner that chooses each row of φ, by name or with settings. It must learn
        from the loss of every action. "adahedge" needs no tuning and performs well.
    horizon : int, optional
        Number of rounds that the row learners are tuned to, for row learners with a horizon.

    Notes
    -----
    Row i of the stochastic matrix φ is the strategy of the i-th row learner. The strategy is the fixed
    point

        p = pφ

    and the i-th row learner observes the loss p_i · l. Swap regret is then the sum of the external
    regrets of the rows. With "first-order-hedge" and losses of ±1, the learning rate of row i is

        sqrt(2 ln d / (1 + Σ p_i))

    Started at a strategy p, the learner starts every row there.

    References
    ----------
    Blum and Mansour (2007), "From external to internal regret", Theorem 5.

    Examples
    --------
    >>> learner = BlumMansour(rows="regret-matching").start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.  , 0.25, 0.75])
    """

    rows: str | Learner = "first-order-hedge"
    horizon: int | None = None

    name = "blum-mansour"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, most=MOST_ROUNDS)
        row_learner(self.rows)

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        row = row_learner(self.rows, self.horizon)
        play, observe = (address(function, LEARNER_KERNEL) for function in row.kernels)
        size = row.first_state(actions).size
        return SETTINGS.pack(play=play, observe=observe, size=size, row=row.kernel_settings(actions))

    def own_dimensions(self, actions: int) -> tuple[int, ...]:  # noqa: D102
        return actions, row_learner(self.rows, self.horizon).first_state(actions).size

    def begin_own(self, own: Own) -> None:  # noqa: D102
        row = row_learner(self.rows, self.horizon).first_state(own.seen.size)
        own.rows[:] = np.tile(row, own.seen.size)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        d, row = strategy.size, row_learner(self.rows, self.horizon)
        first = row.first_state(d)
        row.start_at(first, strategy)
        parts = self.parts(state, d)
        self.own_layout.parts(parts.own, *self.own_dimensions(d)).rows[:] = np.tile(first, d)
        parts.strategy[:] = parts.default[:] = strategy

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        row = row_learner(self.rows, self.horizon)
        if row.reference in BOUNDS and row == type(row)():
            return Guarantee("swap", *BOUNDS[row.name])
        if isinstance(row, FTRL):
            return row.guarantee_of_rows()
        promise = row.guarantee()
        bounded = promise is not None and promise.bound_on("external", 1, 2) is not None
        if promise is None or promise.expected or not bounded:
            return None

        def bound(rounds: int, actions: int) -> float:
            return actions * (promise.bound_on("external", rounds, actions) or 0.0)

        return Guarantee("swap", f"d ({promise.formula}), d times the bound of a row", bound)


def row_learner(rows: str | Learner, rounds: int | None = None) -> Learner:
    """Return the learner for rows or nodes; it must learn from the loss of every action."""
    try:
        learner = rows if isinstance(rows, Learner) else learner_by_name(rows)()
    except InputError as error:
        raise InputError(f"rows: {error}") from None
    if "expected" not in learner.feedback or learner.informed:
        raise InputError(f"rows must be a learner that learns from the loss of every action, got {learner.name!r}")
    return learner if rounds is None else learner.with_horizon(rounds)
