"""Blum and Mansour's learner with optimistic log-barrier rows: swap regret O(log T) in self-play."""

from dataclasses import dataclass
from math import log, sqrt

from gamesim.engine.compiled import Vector
from gamesim.learner import Guarantee
from gamesim.players._kernels.reduction import MatrixLearner
from gamesim.players.blum_mansour import OWN, BlumMansour, Own
from gamesim.players.ftrl import FTRL
from gamesim.rates import RateSetting, parsed


@dataclass(frozen=True)
class BlumMansourLogBarrier(MatrixLearner):
    """Minimise swap regret with optimistic log-barrier rows, fast in games.

    Parameters
    ----------
    rate : float or str, optional
        Learning rate of the rows, in units of 1 / loss, or a schedule, see `gamesim.rates`. By default
        1 / (8 √d).

    Notes
    -----
    This is `blum-mansour` with rows that follow the regularised leader with the log barrier and the last
    loss as a prediction. With x the i-th row of φ, L the sum of its losses p_i l and m the last of them,

        x = argmin rate · <L + m, x> - Σ ln x

    If all players use it with a small constant rate, of the order 1 / √d and inversely proportional to
    the number of players, the swap regret of each grows only like ln T. Against any losses, the local
    norms of the rows' prediction errors sum to at most 4 per round, so that for rates up to 1/4 swap
    regret is at most

        d (2 + d ln T / rate) + 4 rate T

    Started at a strategy p, the learner starts every row there.

    References
    ----------
    Anagnostides, Farina, Kroer, Lee, Luo and Sandholm (2022), "Uncoupled learning dynamics with
    O(log T) swap regret in multiplayer games", NeurIPS, Theorem 1.1.

    Examples
    --------
    >>> learner = BlumMansourLogBarrier(rate=0.25).start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.319, 0.337, 0.344])
    """

    rate: RateSetting = None

    name = "blum-mansour-log-barrier"
    matrix_kernels = BlumMansour.matrix_kernels
    own_layout = OWN

    def __post_init__(self) -> None:
        parsed("rate", self.rate)

    def _rows(self, actions: int) -> BlumMansour:
        rate = 1 / (8 * sqrt(actions)) if self.rate is None else self.rate
        return BlumMansour(rows=FTRL("log-barrier", optimistic=True, rate=rate))

    def matrix_settings(self, actions: int) -> Vector:  # noqa: D102
        return self._rows(actions).matrix_settings(actions)

    def own_dimensions(self, actions: int) -> tuple[int, ...]:  # noqa: D102
        return self._rows(actions).own_dimensions(actions)

    def begin_own(self, own: Own) -> None:  # noqa: D102
        self._rows(own.seen.size).begin_own(own)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        self._rows(strategy.size).start_at(state, strategy)

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        if self.rate is not None:
            return FTRL("log-barrier", optimistic=True, rate=self.rate).guarantee_of_rows()

        def bound(rounds: int, actions: int) -> float:
            rate = 1 / (8 * sqrt(actions))
            return actions * (2 + actions * log(rounds) / rate) + 4 * rate * rounds

        return Guarantee("swap", "d (2 + d ln T / rate) + 4 rate T", bound)
