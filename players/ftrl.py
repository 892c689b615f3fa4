"""Follow the regularised leader, with three regularisers and with or without optimism."""

from dataclasses import dataclass
from math import log, sqrt
from typing import Literal, NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.simplex import inverse_power, project, recall, softmin
from gamesim.validation import positive

ENTROPIC, EUCLIDEAN, LOG_BARRIER = range(3)
REGULARISERS = ("entropic", "euclidean", "log-barrier")


class State(NamedTuple):
    """State of FTRL."""

    strategy: Vector
    losses: Vector  # L, cumulative
    hint: Vector  # m, the prediction of the next loss
    point: Vector  # scratch: L + m
    surprises: Vector  # Σ v


STATE = Layout(State, strategy="d", losses="d", hint="d", point="d", surprises="1")
_view = STATE.view


class Settings(NamedTuple):
    """Kernel settings of FTRL."""

    kind: int  # of regulariser
    optimistic: float  # 1 or 0
    rate: float  # 0 means sqrt(numerator / (first + Σ v))
    numerator: float
    first: float


SETTINGS = Layout(Settings, "", kind="int", optimistic="float", rate="float", numerator="float", first="float")
_settings_view = SETTINGS.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    kind, optimistic, rate, numerator, first = _settings_view(settings)
    strategy, losses, hint, point, surprises = _view(state, d)
    largest = squares = local = 0.0
    for i in range(d):
        surprise = loss[i] - hint[i]
        largest = max(largest, abs(surprise))
        squares += surprise * surprise
        local += (strategy[i] * surprise) ** 2
        losses[i] += loss[i]
        hint[i] = optimistic * loss[i]
        point[i] = losses[i] + hint[i]
    surprises[0] += largest * largest if kind == ENTROPIC else squares if kind == EUCLIDEAN else local
    if rate == 0:
        rate = np.sqrt(numerator / (first + surprises[0]))
    if kind == ENTROPIC:
        softmin(rate, point, strategy)
    elif kind == EUCLIDEAN:
        for i in range(d):
            point[i] *= -rate
        project(point, strategy)
    else:
        inverse_power(rate, point, 1, strategy)


@dataclass(frozen=True)
class FTRL(Learner):
    """Follow the regularised leader, optionally with optimism.

    Parameters
    ----------
    regulariser : {"entropic", "euclidean", "log-barrier"}, default "entropic"
        The regulariser ψ.
    optimistic : bool, default False
        Whether to use the last loss as a prediction of the next one.
    rate : float, optional
        Learning rate, in units of 1 / loss. By default it decreases with the prediction errors.

    Notes
    -----
    With L the cumulative loss of each action and m the prediction of the next loss (the last loss if
    `optimistic`, else 0), the strategy is

        p = argmin <L + m, p> + ψ(p) / rate

    The regularisers and the strategies that they lead to are

        "entropic":     ψ = Σ p ln p,    p ∝ exp(-rate · (L + m))
        "euclidean":    ψ = |p|² / 2,    p = the strategy nearest to -rate · (L + m)
        "log-barrier":  ψ = -Σ ln p,     p_i = 1 / (rate · (L_i + m_i) + λ)

    with λ such that the probabilities sum to 1. The default rate is

        rate = sqrt(k / (c + Σ v))

    where v measures the prediction error of a past round:

        "entropic":     v = |l - m|∞²,         k = ln d,  c = 1 (optimistic: 4)
        "euclidean":    v = |l - m|²,          k = 1/2,   c = d (optimistic: 4 d)
        "log-barrier":  v = Σ p² (l - m)²,     k = 4 d,   c = 64 d

    For the first two regularisers, external regret is at most

        (range of ψ) / rate + Σ rate v / 2

    The log barrier is infinite on the boundary of the simplex. While rate ≤ 1/4, its regret is at most

        2 + d ln T / rate + Σ rate v

    References
    ----------
    Rakhlin and Sridharan (2013), "Online learning with predictable sequences", section 2.

    Rates: McMahan (2017), "A survey of algorithms and analysis for adaptive online learning",
    Theorem 2.

    Log barrier: Foster, Li, Lykouris, Sridharan and Tardos (2016), "Learning in games: robustness of
    fast convergence", section 4.

    Examples
    --------
    >>> learner = FTRL(regulariser="log-barrier", rate=1.0).start(actions=2)
    >>> learner.observe([1.0, -0.5])
    >>> learner.play().round(4)
    array([0.3333, 0.6667])
    """

    regulariser: Literal["entropic", "euclidean", "log-barrier"] = "entropic"
    optimistic: bool = False
    rate: float | None = None

    name = "ftrl"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        positive("rate", self.rate)
        if self.regulariser not in REGULARISERS:
            raise InputError(f'regulariser must be "entropic", "euclidean" or "log-barrier", got {self.regulariser!r}')

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        kind, surprise = REGULARISERS.index(self.regulariser), 4.0 if self.optimistic else 1.0
        numerator, first = ((log(actions), surprise), (0.5, surprise * actions), (4 * actions, 64 * actions))[kind]
        return SETTINGS.pack(
            kind=kind, optimistic=self.optimistic, rate=self.rate or 0.0, numerator=numerator, first=first
        )

    def guarantee(self) -> Guarantee | None:  # noqa: D102, PLR0911  # one bound per regulariser and kind of rate
        rate, surprise = self.rate, 4 if self.optimistic else 1
        if self.regulariser == "entropic":
            if rate is None:
                formula = "4 √(T ln d)" if self.optimistic else "2 √(T ln d)"
                return Guarantee("external", formula, lambda T, d: 2 * sqrt(surprise * T * log(d)))
            formula = "ln d / rate + 2 rate T" if self.optimistic else "ln d / rate + rate T / 2"
            return Guarantee("external", formula, lambda T, d: log(d) / rate + surprise * rate * T / 2)
        if self.regulariser == "euclidean":
            if rate is None:
                formula = "2 √(2 d T)" if self.optimistic else "√(2 d T)"
                return Guarantee("external", formula, lambda T, d: sqrt(surprise * 2 * d * T))
            formula = "1 / (2 rate) + 2 rate d T" if self.optimistic else "1 / (2 rate) + rate d T / 2"
            return Guarantee("external", formula, lambda T, d: 0.5 / rate + surprise * rate * d * T / 2)
        if rate is None:
            return Guarantee(
                "external",
                "2 + ln T √(d (16 d + T)) + 8 √(d T)" if self.optimistic else "2 + ln T √(d (64 d + T)) / 2 + 4 √(d T)",
                lambda T, d: 2 + log(T) * sqrt(d * (64 * d + surprise * T)) / 2 + 4 * sqrt(surprise * d * T),
            )
        if rate <= 0.25:
            formula = "2 + d ln T / rate + 4 rate T" if self.optimistic else "2 + d ln T / rate + rate T"
            return Guarantee("external", formula, lambda T, d: 2 + d * log(T) / rate + surprise * rate * T)
        return None
