"""Squint: second-order exponential weights, mixed over all rates in closed form."""

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx as erfcx_of_scipy

from gamesim.engine.compiled import Vector, inlined, kernel, multiply_add
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.numeric import exponential, smallest, sum_of
from gamesim.players._kernels.simplex import expected_loss, recall

SHIFT, TERMS = 3.0, 18  # of the polynomial below; its error is then at most 1e-12

# (x + 3) exp(x²) erfc(x) as a polynomial in y = (x - 3) / (x + 3), which maps x ≥ 0 into [-1, 1), from its values at
# the Chebyshev nodes: the idea of Shepherd and Laframboise (1981), Mathematics of Computation 36.
_y = np.polynomial.chebyshev.chebpts1(TERMS)
_x = SHIFT * (1 + _y) / (1 - _y)
ERFCX = np.polynomial.Polynomial.fit(_y, (_x + SHIFT) * erfcx_of_scipy(_x), TERMS - 1, domain=[-1, 1]).coef
NODES, WEIGHTS = (
    (number + shift) / 4 for number, shift in zip(np.polynomial.legendre.leggauss(10), (1, 0), strict=True)
)
ROOT_OF_PI = sqrt(pi)
SMALL_VARIANCE = 0.25  # below, the closed form suffers from cancellation, and quadrature is exact
NOT_ZERO = 1e-290  # avoids 0 / 0 if a variance is 0


class Scratch(NamedTuple):
    """Intermediate results of `evidence` for each action."""

    inverses: Vector
    falls: Vector
    tails_a: Vector
    tails_b: Vector


SCRATCH = Layout(Scratch, inverses="d", falls="d", tails_a="d", tails_b="d")
_scratch_view = SCRATCH.view


class State(NamedTuple):
    """State of Squint."""

    strategy: Vector
    regrets: Vector  # R
    variances: Vector  # V
    scratch: Vector


STATE = Layout(State, strategy="d", regrets="d", variances="d", scratch=SCRATCH)
_view = STATE.view


@inlined
def erfcx(x: float) -> float:
    """Return exp(x²) erfc(x) for x ≥ 0, with independent accumulators for even and odd powers."""
    inverse = 1 / (x + SHIFT)
    y = 1 - 2 * SHIFT * inverse
    square = y * y
    even, odd = ERFCX[TERMS - 2], ERFCX[TERMS - 1]
    for k in range(TERMS - 4, -2, -2):
        even = multiply_add(even, square, ERFCX[k])
        odd = multiply_add(odd, square, ERFCX[k + 1])
    return float(multiply_add(odd, y, even) * inverse)


@kernel
def evidence(regrets: Vector, variances: Vector, scratch: Vector, integrals: Vector) -> float:
    """Write ∫ exp(η R - η² V - E) dη over η from 0 to 1/2 for each regret R and variance V; return E.

    E is the largest exponent of all actions. With a = (V - R) / 2√V and b = R / 2√V the integral is
    exp(b² - E) (erf(a) + erf(b)) √(π/4V). As erf(a) is ±1 ∓ erfc(|a|) and b² - a² is the exponent at η = 1/2, this is
    (±1 ±1) exp(b² - E) ∓ exp(b² - a² - E) erfcx(|a|) ∓ exp(-E) erfcx(|b|), in which no term is large. If V is so
    small that even these cancel, quadrature is exact.
    """
    d = regrets.size
    inverses, falls, tails_a, tails_b = _scratch_view(scratch, d)
    for i in range(d):
        regret, variance = regrets[i], variances[i]
        inverse = 0.5 / np.sqrt(variance + NOT_ZERO)
        inverses[i] = inverse
        tails_a[i] = erfcx(abs(variance - regret) * inverse)
        tails_b[i] = erfcx(abs(regret) * inverse)
        inside = regret * inverse
        highest = inside * inside if regret <= variance else regret / 2 - variance / 4
        falls[i] = -highest if regret > 0 else 0.0
    largest = -smallest(falls)
    at_zero = exponential(-largest)
    for i in range(d):
        regret, variance = regrets[i], variances[i]
        sign_a, sign_b = (1.0 if regret <= variance else -1.0), (1.0 if regret >= 0 else -1.0)
        at_half = exponential(regret / 2 - variance / 4 - largest)
        terms = (sign_a + sign_b) * exponential(-falls[i] - largest) - sign_a * at_half * tails_a[i]
        integrals[i] = ROOT_OF_PI * inverses[i] * (terms - sign_b * at_zero * tails_b[i])
    for i in range(d if smallest(variances) < SMALL_VARIANCE else 0):
        if variances[i] < SMALL_VARIANCE and abs(regrets[i]) < 2:
            integral = 0.0
            for k in range(NODES.size):
                integral += WEIGHTS[k] * np.exp(NODES[k] * (regrets[i] - NODES[k] * variances[i]))
            integrals[i] = at_zero * integral
    return largest


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    strategy, regrets, variances, scratch = _view(state, d)
    suffered = expected_loss(strategy, loss)
    for i in range(d):
        regret = (suffered - loss[i]) / 2  # with losses mapped to [0, 1]
        regrets[i] += regret
        variances[i] += regret * regret
    evidence(regrets, variances, scratch, strategy)
    inverse = 1 / sum_of(strategy)
    for i in range(d):
        strategy[i] *= inverse


@dataclass(frozen=True)
class Squint(Learner):
    """Play exponential weights in regret and its variance, mixed over all rates.

    Notes
    -----
    Losses are mapped to [0, 1]. With r the regret of a round for each action, R = Σ r and V = Σ r², the
    strategy is

        p ∝ ∫ exp(η R - η² V) dη,  η from 0 to 1/2

    There is no rate to tune, and regret is small if V is small. As exp(x - x²) ≤ 1 + x for x ≥ -1/2,
    the mean over the actions of

        ∫ (exp(η R - η² V) - 1) / η dη

    never exceeds 0, which with V ≤ T gives the bound.

    References
    ----------
    Koolen and van Erven (2015), "Second-order quantile methods for experts and combinatorial games",
    section 4 with the improper prior 1/η on the rates.

    Examples
    --------
    >>> learner = Squint().start(actions=3)
    >>> learner.observe([1.0, 0.0, -0.4])
    >>> learner.play().round(3)
    array([0.299, 0.343, 0.358])
    """

    name = "squint"
    kernels = recall, _observe
    state_layout = STATE

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            budget = actions * (0.5 + log(rounds + 1))
            return 2 * (sqrt(2 * rounds) * (1 + sqrt(2 * log(budget))) + 5 * log(1 + 2 * budget))

        return Guarantee("external", "2 √(2T) (1 + √(2 ln B)) + 10 ln(1 + 2B), B = d (1/2 + ln(T + 1))", bound)
