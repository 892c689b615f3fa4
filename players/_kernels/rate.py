"""Learning rates in kernels, and the regret bounds that they lead to."""

from collections.abc import Callable
from math import inf, log, sqrt

from gamesim import rates
from gamesim.engine.compiled import inlined
from gamesim.errors import InputError
from gamesim.learner import Guarantee
from gamesim.rates import RateSetting


@inlined
def rate_at(scale: float, decay: float, rounds: float) -> float:
    """Return scale · t^-decay in round t."""
    return scale if decay == 0.0 else scale * rounds**-decay


def scale_and_decay(given: RateSetting, tuned: Callable[[int], float]) -> tuple[float, float]:
    """Return a rate as kernels read it: rate_t = scale · t^-decay, or scale 0 for the learner's default.

    `tuned` gives the constant rate for a number of rounds.
    """
    rate = rates.parsed("rate", given)
    if rate.per_payoff:
        raise InputError(f"a rate per payoff needs a game; give a rate per loss instead, got {given!r}")
    if given == rates.TUNED:
        raise InputError('rate = "tuned" needs a number of rounds: use the learner in a simulation, or "tuned to 1000"')
    return (tuned(rate.horizon), 0.0) if rate.horizon is not None else (rate.scale, rate.decay)


def tuned_rate(over: float, times: float, rounds: int, largest: float = inf) -> float:
    """Return the constant rate, up to `largest`, that minimises over / rate + times · rate · rounds.

    >>> tuned_rate(2.0, 0.5, 100)
    0.2
    """
    return min(sqrt(over / (times * rounds)), largest)


def rate_guarantee(
    given: RateSetting,
    formula: str,
    over: Callable[[int, int], float],
    times: Callable[[int], float],
    extra: float = 0.0,
    largest: float = inf,
) -> Guarantee | None:
    """Return the guarantee `extra + over(T, d) / rate_T + times(d) · Σ rate_t` on external regret.

    It holds for rates that do not increase and start at `largest` or below. `formula` has the fields {rate} and {sum}.
    A rate per payoff has no bound without the game.

    >>> print(rate_guarantee("0.5/sqrt(t)", "1 / {rate} + {sum} / 2", lambda T, d: 1.0, lambda d: 0.5))
    external regret ≤ 1 / rate_T + Σ rate_t / 2
    """
    rate = rates.parsed("rate", given)
    if rate.per_payoff or rate.scale > largest:
        return None
    if rate.horizon is not None or given == rates.TUNED:
        shown = formula.format(rate="rate", sum="rate T") + " with the rate tuned to T"

        def tuned(rounds: int, actions: int) -> float:
            first, second = over(rounds, actions), times(actions)
            chosen = tuned_rate(first, second, rounds, largest)
            return extra + (first / chosen if first else 0.0) + second * chosen * rounds

        return Guarantee("external", shown, tuned).tuned_to(rate.horizon)
    scale, decay = rate.scale, rate.decay
    if decay == 0:
        shown = formula.format(rate="rate", sum="rate T")
        return Guarantee("external", shown, lambda T, d: extra + over(T, d) / scale + times(d) * scale * T)

    def bound(rounds: int, actions: int) -> float:
        last: float = scale * rounds**-decay
        return extra + over(rounds, actions) / last + times(actions) * scale * most_sum_of_powers(rounds, decay)

    return Guarantee("external", formula.format(rate="rate_T", sum="Σ rate_t"), bound)


def most_sum_of_powers(rounds: int, decay: float) -> float:
    """Return an upper bound on Σ t^-decay over t = 1, ..., rounds: the first term and an integral.

    >>> most_sum_of_powers(4, 0.5) >= 1 + 2**-0.5 + 3**-0.5 + 4**-0.5
    True
    """
    if decay == 0:
        return rounds
    if decay == 1:
        return 1 + log(rounds)
    return float(1 + (rounds ** (1 - decay) - 1) / (1 - decay))
