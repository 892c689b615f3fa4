"""Follow the regularised leader, with three regularisers and with or without optimism."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim import rates
from gamesim.engine.compiled import Vector, kernel
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner, Regulariser
from gamesim.players._kernels.rate import most_sum_of_powers, rate_at, rate_guarantee, scale_and_decay, tuned_rate
from gamesim.players._kernels.simplex import inverse_power, project, recall, softmin
from gamesim.rates import RateSetting, parsed

ENTROPIC, EUCLIDEAN, LOG_BARRIER = range(3)
REGULARISERS = ("entropic", "euclidean", "log-barrier")
LARGEST_RATE = {"entropic": inf, "euclidean": inf, "log-barrier": 0.25}  # that has a bound


class State(NamedTuple):
    """State of FTRL."""

    strategy: Vector
    losses: Vector  # L, cumulative
    hint: Vector  # m, the prediction of the next loss
    point: Vector  # scratch: L + m
    surprises: Vector  # Σ v
    rounds: Vector


STATE = Layout(State, strategy="d", losses="d", hint="d", point="d", surprises="1", rounds="1")
_view = STATE.view


class Settings(NamedTuple):
    """Kernel settings of FTRL."""

    kind: int  # of regulariser
    optimistic: float  # 1 or 0
    scale: float  # the rate is scale · t^-decay; scale 0 means sqrt(numerator / (first + Σ v))
    decay: float
    numerator: float
    first: float


SETTINGS = Layout(
    Settings, "", kind="int", optimistic="float", scale="float", decay="float", numerator="float", first="float"
)
_settings_view = SETTINGS.view


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    kind, optimistic, scale, decay, numerator, first = _settings_view(settings)
    strategy, losses, hint, point, surprises, rounds = _view(state, d)
    rounds[0] += 1
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
    rate = np.sqrt(numerator / (first + surprises[0])) if scale == 0 else rate_at(scale, decay, rounds[0] + 1)
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
    rate : float or str, optional
        Learning rate, in units of 1 / loss, or a schedule, see `gamesim.rates`.
        By default it decreases with the prediction errors.

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

    Started at a strategy p, the learner sets L = -ψ'(p) / rate_1.

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

    regulariser: Regulariser = "entropic"
    optimistic: bool = False
    rate: RateSetting = None

    name = "ftrl"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        parsed("rate", self.rate)
        if self.regulariser not in REGULARISERS:
            raise InputError(f'regulariser must be "entropic", "euclidean" or "log-barrier", got {self.regulariser!r}')

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        kind, surprise = REGULARISERS.index(self.regulariser), self._surprise
        numerator, first = ((log(actions), surprise), (0.5, surprise * actions), (4 * actions, 64 * actions))[kind]
        _, over, times = self._bound()
        scale, decay = scale_and_decay(
            self.rate,
            lambda rounds: tuned_rate(over(rounds, actions), times(actions), rounds, LARGEST_RATE[self.regulariser]),
        )
        return SETTINGS.pack(
            kind=kind, optimistic=self.optimistic, scale=scale, decay=decay, numerator=numerator, first=first
        )

    def start_at(self, state: Vector, strategy: Vector) -> None:  # noqa: D102
        settings = SETTINGS.parts(self.kernel_settings(strategy.size))
        rate = settings.scale or sqrt(settings.numerator / settings.first)
        if settings.kind == LOG_BARRIER and strategy.min() == 0:
            raise InputError(f"with the log barrier a start must give every action a positive share, got {strategy}")
        with np.errstate(divide="ignore"):  # an action without mass never returns
            past = (-np.log(strategy), -strategy, 1 / np.maximum(strategy, 1e-300))[settings.kind] / rate
        parts = self.parts(state, strategy.size)
        parts.strategy[:], parts.losses[:] = strategy, past

    @property
    def _surprise(self) -> float:
        """The largest squared prediction error of a loss."""
        return 4.0 if self.optimistic else 1.0

    def _bound(self) -> tuple[str, Callable[[int, int], float], Callable[[int], float]]:
        """Return the formula, the factor of 1 / rate_T and the factor of Σ rate_t."""
        surprise = self._surprise
        if self.regulariser == "entropic":
            formula = "ln d / {rate} + 2 {sum}" if self.optimistic else "ln d / {rate} + {sum} / 2"
            return formula, lambda T, d: log(d), lambda d: surprise / 2
        if self.regulariser == "euclidean":
            formula = "1 / (2 {rate}) + 2 d {sum}" if self.optimistic else "1 / (2 {rate}) + d {sum} / 2"
            return formula, lambda T, d: 0.5, lambda d: surprise * d / 2
        formula = "2 + d ln T / {rate} + 4 {sum}" if self.optimistic else "2 + d ln T / {rate} + {sum}"
        return formula, lambda T, d: d * log(T), lambda d: surprise

    def limit(self) -> Regulariser:  # noqa: D102
        return self.regulariser

    def guarantee(self) -> Guarantee | None:  # noqa: D102
        surprise = int(self._surprise)
        if self.rate is not None:
            largest, extra = LARGEST_RATE[self.regulariser], 2.0 if self.regulariser == "log-barrier" else 0.0
            return rate_guarantee(self.rate, *self._bound(), extra=extra, largest=largest)
        if self.regulariser == "entropic":
            formula = "4 √(T ln d)" if self.optimistic else "2 √(T ln d)"
            return Guarantee("external", formula, lambda T, d: 2 * sqrt(surprise * T * log(d)))
        if self.regulariser == "euclidean":
            formula = "2 √(2 d T)" if self.optimistic else "√(2 d T)"
            return Guarantee("external", formula, lambda T, d: sqrt(surprise * 2 * d * T))
        return Guarantee(
            "external",
            "2 + ln T √(d (16 d + T)) + 8 √(d T)" if self.optimistic else "2 + ln T √(d (64 d + T)) / 2 + 4 √(d T)",
            lambda T, d: 2 + log(T) * sqrt(d * (64 * d + surprise * T)) / 2 + 4 * sqrt(surprise * d * T),
        )

    def guarantee_of_rows(self) -> Guarantee | None:
        """Return the bound on the sum of the external regrets of the rows of Blum and Mansour's learner.

        Row i observes losses of size p_i, and the p_i sum to 1, so the Σ v of all rows together are at most what a
        single learner may have. Square roots are summed by the Cauchy-Schwarz inequality.
        """
        if self.guarantee() is None:
            return None
        if self.rate is not None:
            return self._guarantee_of_rows_at_rate()
        surprise = int(self._surprise)
        if self.regulariser == "entropic":
            formula = "4 √(d (d + T) ln d)" if self.optimistic else "2 √(d (d + T) ln d)"
            return Guarantee("swap", formula, lambda T, d: 2 * sqrt(surprise * d * (d + T) * log(d)))
        if self.regulariser == "euclidean":
            formula = "2 d √(2 (d + T))" if self.optimistic else "d √(2 (d + T))"
            return Guarantee("swap", formula, lambda T, d: d * sqrt(surprise * 2 * (d + T)))
        return Guarantee(
            "swap",
            "d (2 + ln T √(16 d² + T) + 8 √T)" if self.optimistic else "d (2 + ln T √(64 d² + T) / 2 + 4 √T)",
            lambda T, d: d * (2 + log(T) * sqrt(64 * d * d + surprise * T) / 2 + 4 * sqrt(surprise * T)),
        )

    def _guarantee_of_rows_at_rate(self) -> Guarantee:
        """Return d (extra + over / rate_T) + times · Σ rate_t, for a rate that is given."""
        formula, over, times = self._bound()
        rate, extra = parsed("rate", self.rate), 2.0 if self.regulariser == "log-barrier" else 0.0

        def bound(rounds: int, actions: int) -> float:
            def tuned(horizon: int) -> float:
                return tuned_rate(over(horizon, actions), times(actions), horizon, LARGEST_RATE[self.regulariser])

            scale, decay = scale_and_decay(rates.tuned_to(self.rate, rounds), tuned)  # type: ignore[arg-type]
            first = over(rounds, actions) * rounds**decay / scale if over(rounds, actions) else 0.0
            return actions * (extra + first) + times(actions) * scale * most_sum_of_powers(rounds, decay)

        each, _, together = formula.rpartition(" + ")
        changes = rate.decay > 0
        shown = f"d ({each}) + {together}".format(
            rate="rate_T" if changes else "rate", sum="Σ rate_t" if changes else "rate T"
        )
        return Guarantee("swap", shown, bound).tuned_to(rate.horizon)
