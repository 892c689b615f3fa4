"""Optimistic Hedge: Hedge that expects the last loss again."""

from dataclasses import dataclass

from gamesim.engine.compiled import Vector
from gamesim.learner import Guarantee, Learner
from gamesim.players.ftrl import FTRL
from gamesim.validation import positive


@dataclass(frozen=True)
class OptimisticHedge(Learner):
    """Play as Hedge would if the last loss were about to come again.

    With L the losses so far and l the last one, p ∝ exp(-rate · (L + l)). Without a given `rate`, rate_t =
    sqrt(ln d / (4 + Σ |l_s - l_{s-1}|∞²)): it stays high where the others' play settles. Follow the regularised leader
    with the entropic regulariser and optimism.

    Reference: Syrgkanis, Agarwal, Luo and Schapire (2015), "Fast convergence of regularized learning in games",
    section 3.2; the bound: Rakhlin and Sridharan (2013), "Online learning with predictable sequences", section 2.

    >>> learner = OptimisticHedge(rate=1.0).start(actions=2)
    >>> learner.observe([1.0, 0.0])
    >>> learner.play().round(3)  # Hedge: 0.269, 0.731
    array([0.119, 0.881])
    """

    rate: float | None = None

    name = "optimistic-hedge"
    kernels = FTRL.kernels
    state_layout = FTRL.state_layout

    def __post_init__(self) -> None:
        positive("rate", self.rate)

    def _ftrl(self) -> FTRL:
        return FTRL("entropic", optimistic=True, rate=self.rate)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return self._ftrl().kernel_settings(actions)

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        return self._ftrl().guarantee()
