"""Squint: a mixture over all rates, in closed form."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from gamesim.compiled import Vector, kernel, phase
from gamesim.player import Guarantee, Player
from gamesim.players.hedge import exponential, sum_of
from gamesim.players.regret_matching import expected_loss, recall, uniform_then

# (1 + 2x) exp(x²) erfc(x) as a polynomial in y = (x - 4) / (x + 4), which maps x ≥ 0 into [-1, 1), from its values at
# the Chebyshev nodes: the idea of Shepherd and Laframboise (1981), Mathematics of Computation 36.
ERFCX = np.array(
    [
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
    ]
)
NODES, WEIGHTS = ((part + shift) / 4 for part, shift in zip(np.polynomial.legendre.leggauss(10), (1, 0), strict=True))


@kernel
def erfcx(x: Vector, y: Vector, result: Vector) -> None:
    """Write exp(x²) erfc(x) for each x ≥ 0, by Horner's rule for all of them at once; `y` is scratch."""
    for i in range(x.size):
        y[i] = (x[i] - 4) / (x[i] + 4)
        result[i] = 0.0
    for k in range(ERFCX.size - 1, -1, -1):
        coefficient = ERFCX[k]
        for i in range(x.size):
            result[i] = result[i] * y[i] + coefficient
    for i in range(x.size):
        result[i] /= 1 + 2 * x[i]


@phase
def evidence(regret: float, variance: float, tail_a: float, tail_b: float) -> tuple[float, float]:
    """Return E and F with ∫ exp(η·regret - η²·variance) dη = F exp(E) over η from 0 to 1/2, F neither huge nor tiny.

    With a = (V - R) / 2√V and b = R / 2√V the integral is exp(b²) (erf(a) + erf(b)) √(π/4V). Where the terms are near
    ±1 and cancel, exp(b²) is drawn into erfc, of which the tails are exp(x²) erfc(x) at |a| and at |b|; where V is
    small, so that even that cancels, quadrature is exact.
    """
    if variance < 0.25 and abs(regret) < 2:
        total = 0.0
        for k in range(NODES.size):
            total += WEIGHTS[k] * np.exp(NODES[k] * (regret - NODES[k] * variance))
        return 0.0, total
    scale = 0.886226925452758 / np.sqrt(variance)
    end = regret / 2 - variance / 4  # the exponent at η = 1/2; it is b² - a²
    if regret < 0:
        return 0.0, scale * (tail_b - exponential(end) * tail_a)
    if regret > variance:
        return end, scale * (tail_a - exponential(-end) * tail_b)
    top = regret * regret / (4 * variance)  # b²
    return top, scale * (2 - exponential(-top) * tail_b - exponential(end - top) * tail_a)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, regrets, variances, exponents = state[:d], state[d : 2 * d], state[2 * d : 3 * d], state[3 * d : 4 * d]
    arguments, scratch, tails = state[4 * d : 6 * d], state[6 * d : 8 * d], state[8 * d : 10 * d]
    suffered = expected_loss(strategy, loss)
    for i in range(d):
        regret = (suffered - loss[i]) / 2  # as of losses in [0, 1]
        regrets[i] += regret
        variances[i] += regret * regret
        root = 2 * np.sqrt(variances[i]) + 1e-290
        arguments[i] = abs(variances[i] - regrets[i]) / root
        arguments[d + i] = abs(regrets[i]) / root
    erfcx(arguments, scratch, tails)
    largest = 0.0
    for i in range(d):
        exponents[i], strategy[i] = evidence(regrets[i], variances[i], tails[i], tails[d + i])
        largest = max(largest, exponents[i])
    for i in range(d):
        strategy[i] *= exponential(exponents[i] - largest)
    total = sum_of(strategy)
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
        return uniform_then(actions, 9 * actions)

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            budget = actions * (0.5 + log(rounds + 1))
            return 2 * (sqrt(2 * rounds) * (1 + sqrt(2 * log(budget))) + 5 * log(1 + 2 * budget))

        return Guarantee("external", "2 √(2T) (1 + √(2 ln B)) + 10 ln(1 + 2B), B = d (1/2 + ln(T + 1))", bound)
