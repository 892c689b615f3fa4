"""Optimistic Hedge: Hedge that predicts the last loss to recur."""

from dataclasses import dataclass

from gamesim.engine.compiled import Vector
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players.ftrl import FTRL
from gamesim.rates import RateSetting, parsed


@dataclass(frozen=True)
class OptimisticHedge(Learner):
    """Play Hedge with the last loss as a prediction of the next one.

    Parameters
    ----------
    rate : float or str, optional
        Learning rate, in units of 1 / loss, or a schedule, see `gamesim.rates`.
        By default it decreases with the variation of the losses.

    Notes
    -----
    With L the cumulative loss of each action and l the last loss, the strategy is

        p ∝ exp(-rate · (L + l))

    The default rate is

        rate_t = sqrt(ln d / (4 + Σ |l_s - l_{s-1}|∞²))

    which stays high if the play of the others settles. This is `ftrl` with the entropic regulariser
    and optimism.

    Started at a strategy p, the learner sets L = -ln p / rate_1.

    References
    ----------
    Syrgkanis, Agarwal, Luo and Schapire (2015), "Fast convergence of regularized learning in games",
    section 3.2.

    Bound: Rakhlin and Sridharan (2013), "Online learning with predictable sequences", section 2.

    Examples
    --------
    >>> learner = OptimisticHedge(rate=1.0).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)  # Hedge: 0.269, 0.731
    array([0.119, 0.881])
    """

    rate: RateSetting = None

    name = "optimistic-hedge"
    kernels = FTRL.kernels
    state_layout = FTRL.state_layout

    def __post_init__(self) -> None:
        parsed("rate", self.rate)

    def _ftrl(self) -> FTRL:
        return FTRL("entropic", optimistic=True, rate=self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return self._ftrl().kernel_settings(actions)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        self._ftrl().start_at(state, strategy)

    def limit(self) -> Regulariser:  # noqa: D102
        return "entropic"

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        return self._ftrl().guarantee()
