"""Stoltz and Lugosi's learner: Hedge over pairs of actions."""

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee
from gamesim.players._kernels.rate import rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.reduction import MatrixLearner, reduction
from gamesim.players._kernels.simplex import softmin
from gamesim.players.internal_regret_matching import add_pair_losses
from gamesim.rates import RateSetting, parsed


class Own(NamedTuple):
    """Matrix-learner state of Stoltz and Lugosi's learner."""

    losses: Vector  # for each pair (i, j): the extra loss of j in place of i
    rounds: Vector


OWN = Layout(Own, losses="d * d", rounds="1")
_own_view = OWN.view


@kernel
def _write(settings: Vector, state: Vector, matrix: Vector) -> None:
    d = int(np.sqrt(matrix.size))
    if d == 1:  # no pairs: φ keeps its first value
        return
    losses, rounds = _own_view(reduction(state, d).own, d)
    if settings[0] == 0:
        rate = np.sqrt(2 * np.log(d * (d - 1.0)) / (rounds[0] + 1))
    else:
        rate = rate_at(settings[0], settings[1], rounds[0] + 1)
    softmin(rate, losses, matrix)
    for i in range(d):
        leaving = 0.0
        for j in range(d):
            leaving += matrix[i * d + j]
        matrix[i * d + i] = max(1 - leaving, 0.0)


@kernel
def _learn(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    parts = reduction(state, d)
    losses, rounds = _own_view(parts.own, d)
    add_pair_losses(parts.strategy, loss, losses)
    rounds[0] += 1


@dataclass(frozen=True)
class StoltzLugosi(MatrixLearner):
    """Minimise internal regret by running Hedge over pairs of actions.

    Parameters
    ----------
    rate : float or str, optional
        Learning rate of Hedge, in units of 1 / loss, or a schedule, see `gamesim.rates`. By default it decreases as
        1 / √t and needs no horizon.

    Notes
    -----
    For each pair i ≠ j, an expert plays the learner's strategy with the mass of i moved to j. Hedge
    over these d (d - 1) experts, by default with its anytime rate, assigns the weights w. The strategy is the one
    that the mixture of the experts reproduces, the fixed point

        p = pφ,  φ_ij = w_ij for i ≠ j

    The regret against an expert is the internal regret for its pair. The bound is therefore that of
    Hedge with d (d - 1) experts.

    Started at a strategy p, the learner gives the pair (i, j) the weight p_j / (d - 1), for which p is the fixed
    point.

    References
    ----------
    Stoltz and Lugosi (2005), "Internal regret in on-line portfolio selection", section 3.

    Examples
    --------
    >>> learner = StoltzLugosi().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.144, 0.352, 0.503])
    """

    rate: RateSetting = None

    name = "stoltz-lugosi"
    matrix_kernels = _write, _learn
    own_layout = OWN

    def __post_init__(self) -> None:
        parsed("rate", self.rate)

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.rate, lambda rounds: tuned_rate(_log_pairs(actions), 0.5, rounds)))

    def begin_own(self, own: Own) -> None:  # noqa: D102
        own.losses[:: round(own.losses.size**0.5) + 1] = np.inf  # the diagonal is not a pair

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        d = strategy.size
        rate = self.matrix_settings(d)[0] or sqrt(2 * _log_pairs(d))
        losses = self.own_layout.parts(self.parts(state, d).own, d).losses.reshape(d, d)
        with np.errstate(divide="ignore"):  # an action without mass never returns
            losses[:] = -np.log(strategy / (d - 1)) / rate
        np.fill_diagonal(losses, np.inf)

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is not None:
            hedge = rate_guarantee(
                self.rate, "ln (d (d - 1)) / {rate} + {sum} / 2", lambda T, d: _log_pairs(d), lambda d: 0.5
            )
            return None if hedge is None else replace(hedge, regret="internal")

        def bound(rounds: int, actions: int) -> float:
            pairs = _log_pairs(actions)
            return 2 * (sqrt(2 * rounds * pairs) + sqrt(pairs / 8))

        return Guarantee("internal", "2 (√(2 T ln N) + √(ln N / 8)), N = d (d - 1)", bound)


def _log_pairs(actions: int) -> float:
    return log(max(actions * (actions - 1), 1))
