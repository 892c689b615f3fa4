"""Squint: a mixture over all rates, in closed form."""

from dataclasses import dataclass
from math import erf, log, sqrt

import numpy as np

from gamesim.compiled import Vector, kernel
from gamesim.player import Guarantee, Player
from gamesim.players.regret_matching import expected_loss, recall, uniform_then

# (1 + 2x) exp(x²) erfc(x) as a polynomial in y = (x - 4) / (x + 4), which maps x ≥ 0 into [-1, 1), from its values at
# the Chebyshev nodes: the idea of Shepherd and Laframboise (1981), Mathematics of Computation 36.
ERFCX = (
    1.232995118625553,
    -0.13962111684055806,
    0.015379652102599159,
    0.06809705425426803,
    -0.10103906603586552,
    0.09373283500980205,
    -0.06633036581838417,
    0.03716751539735736,
    -0.01619773400478332,
    0.005031970933049734,
    -0.0007577735714747278,
    -0.0001992606983852498,
    0.00015062263802475672,
    -2.4388360726445487e-05,
    -1.1224136220794952e-05,
    5.690322962460742e-06,
    2.9673452602387827e-07,
    -8.026702811755746e-07,
    7.219155196886911e-08,
    9.325058655706228e-08,
    -1.6843397505628382e-08,
    -7.050319515474141e-09,
    1.6656272577165313e-09,
)
NODES, WEIGHTS = ((part + shift) / 4 for part, shift in zip(np.polynomial.legendre.leggauss(10), (1, 0), strict=True))


@kernel
def erfcx(x: float) -> float:
    """Return exp(x²) erfc(x) for x ≥ 0."""
    y = (x - 4) / (x + 4)
    total = 0.0
    for coefficient in ERFCX[::-1]:
        total = total * y + coefficient
    return total / (1 + 2 * x)


@kernel
def evidence(regret: float, variance: float) -> tuple[float, float]:
    """Return E and F with ∫ exp(η·regret - η²·variance) dη = F exp(E) over η from 0 to 1/2, F neither huge nor tiny.

    With a = (V - R) / 2√V and b = R / 2√V the integral is exp(b²) (erf(a) + erf(b)) √(π/4V). Where the terms are near
    ±1 and cancel, exp(b²) is drawn into erfc; where V is small, so that even that cancels, quadrature is exact.
    """
    if variance < 0.25 and abs(regret) < 2:
        total = 0.0
        for k in range(NODES.size):
            total += WEIGHTS[k] * np.exp(NODES[k] * (regret - NODES[k] * variance))
        return 0.0, total
    root = np.sqrt(variance)
    a, b = abs(variance - regret) / (2 * root), abs(regret) / (2 * root)
    scale = 0.886226925452758 / root
    end = regret / 2 - variance / 4  # the exponent at η = 1/2; it is b² - a²
    if regret < 0:
        return 0.0, scale * (erfcx(b) - (np.exp(end) * erfcx(a) if end > -40 else 0.0))
    if regret > variance:
        return end, scale * (erfcx(a) - (np.exp(-end) * erfcx(b) if end < 40 else 0.0))
    return b * b, scale * ((erf(a) if a < 6 else 1.0) + (erf(b) if b < 6 else 1.0))


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, regrets, variances = state[:d], state[d : 2 * d], state[2 * d : 3 * d]
    exponents = state[3 * d :]
    suffered = expected_loss(strategy, loss)
    largest = 0.0
    for i in range(d):
        regret = (suffered - loss[i]) / 2  # as of losses in [0, 1]
        regrets[i] += regret
        variances[i] += regret * regret
        exponents[i], strategy[i] = evidence(regrets[i], variances[i])
        largest = max(largest, exponents[i])
    behind = np.exp(-largest)
    total = 0.0
    for i in range(d):
        strategy[i] *= behind if exponents[i] == 0 else np.exp(exponents[i] - largest)
        total += strategy[i]
    for i in range(d):
        strategy[i] /= total


@dataclass(frozen=True)
class Squint(Player):
    """Play by regret and its variance, averaged over all rates at once.

    On losses mapped to [0, 1], with r the regret of a round, R = Σ r and V = Σ r² for each action,
    p ∝ ∫ exp(η R - η² V) dη over η from 0 to 1/2: no rate to tune, and little regret where V is small. As
    exp(x - x²) ≤ 1 + x for x ≥ -1/2, the mean over actions of ∫ (exp(η R - η² V) - 1) / η dη never rises above 0.

    Reference: Koolen and van Erven (2015), "Second-order quantile methods for experts and combinatorial games",
    section 4 with the improper prior 1/η on the rates; its bound with V ≤ T.

    >>> learner = Squint().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.299, 0.343, 0.358])
    """

    name = "squint"
    kernels = recall, _observe

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        return uniform_then(actions, 3 * actions)

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            budget = actions * (0.5 + log(rounds + 1))
            return 2 * (sqrt(2 * rounds) * (1 + sqrt(2 * log(budget))) + 5 * log(1 + 2 * budget))

        return Guarantee("external", "2 √(2T) (1 + √(2 ln B)) + 10 ln(1 + 2B), B = d (1/2 + ln(T + 1))", bound)
