"""Extragradient regret matching⁺: a trial step, and a step with the losses of the trial."""

from dataclasses import dataclass

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.errors import InputError
from gamesim.learner import Learner
from gamesim.players._kernels.rate import rate_at, scale_and_decay
from gamesim.players._kernels.simplex import expected_loss, recall
from gamesim.players.smooth_predictive_rm_plus import STATE, first_state, normalise, step, view
from gamesim.rates import RateSetting, parsed


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    strategy, regrets, lifted, point, rounds = view(state, loss.size)
    rounds[0] += 1
    trial = rounds[0] % 2 == 1
    rate = rate_at(settings[0], settings[1], (rounds[0] + 1) // 2)
    suffered = expected_loss(strategy, loss)
    if trial:
        step(regrets, rate, suffered, loss, point, lifted)
        normalise(lifted, strategy)
    else:
        step(regrets, rate, suffered, loss, point, regrets)
        normalise(regrets, strategy)


@dataclass(frozen=True)
class ExtragradientRegretMatchingPlus(Learner):
    """Play regret matching⁺ with extragradient steps, each of which takes two rounds.

    Parameters
    ----------
    rate : float or str, default 0.1
        Step size, in units of 1 / loss, or a schedule in the number of steps, see `gamesim.rates`.

    Notes
    -----
    With r = <p, l> 1 - l the regret of a round for each action, and Π the projection onto the
    nonnegative vectors that sum to at least 1, the first round of a step plays p ∝ Q and computes

        R = Π(Q + rate · r)

    The second round plays p ∝ R and sets, with its own r,

        Q ← Π(Q + rate · r)

    In self-play this is the extragradient method. In zero-sum games, the strategies of the second
    rounds converge. Against other opponents, the rounds in which p ∝ Q have no bound on regret, so the
    learner declares no guarantee.

    Started at a strategy p, the learner sets Q = p.

    References
    ----------
    Farina, Grand-Clément, Kroer, Lee and Luo (2023), "Regret matching⁺: (in)stability and fast
    convergence in games", section 5 (extragradient RM⁺).

    Convergence: Cai, Farina, Grand-Clément, Kroer, Lee, Luo and Zheng (2023), "Last-iterate
    convergence properties of regret-matching algorithms in games".

    Examples
    --------
    >>> learner = ExtragradientRegretMatchingPlus(rate=0.1).start(actions=2)
    >>> for loss in ([1.0, 0.0], [0.0, 0.0]):
    ...     learner.observe(loss)
    ...     learner.play().round(3)
    array([0.45, 0.55])
    array([0.5, 0.5])
    """

    rate: RateSetting = 0.1

    name = "extragradient-rm-plus"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        if parsed("rate", self.rate).scale == 0:
            raise InputError(f"rate must be a number or a schedule, got {self.rate!r}")

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        return np.array(scale_and_decay(self.rate, lambda rounds: 0.0))

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return first_state(actions)

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        parts = self.parts(state, strategy.size)
        parts.strategy[:] = parts.regrets[:] = parts.lifted[:] = strategy
