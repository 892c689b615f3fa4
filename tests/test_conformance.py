"""Run every check on every learner, and show that every check can fail."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gamesim import conformance, players
from gamesim.learner import Guarantee, Learner
from gamesim.players.exp3 import Exp3
from gamesim.players.hedge import Hedge
from gamesim.players.uniform import Uniform

pytestmark = pytest.mark.slow

LEARNERS = players.available()


@pytest.mark.parametrize("check", conformance.checks().values(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_contract(learner: type[Learner], check: Callable[[Any], None]) -> None:
    check(learner())


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_repr_reads_back(learner: type[Learner]) -> None:
    assert eval(repr(learner()), {learner.__name__: learner}) == learner()


class NumpyHedge:
    """Implement Hedge in plain Python."""

    def __init__(self, actions: int) -> None:
        self.total = np.zeros(actions)
        self.rounds = 0

    def play(self) -> np.ndarray[Any, Any]:
        rate = np.sqrt(2 * np.log(len(self.total)) / (self.rounds + 1))
        weights = np.exp(-rate * (self.total - self.total.min()))
        return np.asarray(weights / weights.sum())

    def observe(self, loss: np.ndarray[Any, Any]) -> None:
        self.total += loss
        self.rounds += 1


@pytest.mark.parametrize("check", conformance.checks().values(), ids=lambda check: check.__name__)
def test_a_learner_written_in_python_meets_the_contract_too(check: Callable[[Any], None]) -> None:
    check(NumpyHedge)


class UniformThatClaimsHedgesBound(Uniform):
    def guarantee(self) -> Guarantee | None:
        return Hedge().guarantee()


class UniformThatClaimsABanditsBound(Uniform):
    def guarantee(self) -> Guarantee | None:
        return Exp3().with_horizon(conformance.ROUNDS).guarantee()


class ClaimsTheTrivial(Uniform):
    def guarantee(self) -> Guarantee:
        return Guarantee("external", "2 T", lambda T, d: 2 * T)


class Remembers(NumpyHedge):
    def play(self) -> np.ndarray[Any, Any]:
        self.rounds += 1
        return super().play()


class Overwrites(NumpyHedge):
    def observe(self, loss: np.ndarray[Any, Any]) -> None:
        super().observe(loss)
        loss *= 0


class Biased(NumpyHedge):
    def play(self) -> np.ndarray[Any, Any]:
        strategy = super().play() * np.arange(1, len(self.total) + 1)
        return np.asarray(strategy / strategy.sum())


class OffTheSimplex(NumpyHedge):
    def play(self) -> np.ndarray[Any, Any]:
        return 1.01 * super().play()


@pytest.mark.parametrize(
    ("check", "offender"),
    [
        (conformance.check_declared_bound, UniformThatClaimsHedgesBound()),
        (conformance.check_declared_bound, UniformThatClaimsABanditsBound()),
        (conformance.check_declared_bound_in_games, UniformThatClaimsHedgesBound()),
        (conformance.check_bound_is_not_vacuous, ClaimsTheTrivial()),
        (conformance.check_play_is_pure, Remembers),
        (conformance.check_inputs_are_untouched, Overwrites),
        (conformance.check_relabelling, Biased),
        (conformance.check_strategies_are_distributions, OffTheSimplex),
    ],
)
def test_the_checks_can_fail(check: Callable[[Any], None], offender: Any) -> None:
    with pytest.raises(AssertionError):
        check(offender)
