"""Checks that every learner must pass, built-in or user-defined.

Each function whose name starts with `check_` accepts a learner (a Learner, or a class whose instances have `play()` and
`observe(loss)`) and raises an AssertionError that explains how the learner violates its interface. `gamesim check
mylearner.py:MyHedge` runs them all.
"""

import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from gamesim import games, players, toml, user_files
from gamesim.engine.compiled import Vector
from gamesim.learner import CompiledLearner, Feedback, Guarantee, Learner, RegretOf
from gamesim.measure import regrets
from gamesim.record import Record, load
from gamesim.simulation import Simulation, face, simulate
from gamesim.user_learners import keeps_state, running
from gamesim.validation import STRATEGY_SUM

__all__ = ["checks"]

SIZES = (2, 10, 50)
ROUNDS = 2000
COPIES = 8  # runs over which a guarantee in expectation is averaged


def checks() -> dict[str, Callable[[Any], None]]:
    """Return all checks of learners by name.

    Returns
    -------
    dict of str to callable
        Functions that take a learner, or a class of compiled learners, and raise an AssertionError if it fails the
        check.

    Examples
    --------
    >>> class Forgetful:
    ...     def __init__(self, actions):
    ...         self.actions = actions
    ...
    ...     def play(self):
    ...         return np.full(self.actions, 1 / self.actions)
    ...
    ...     def observe(self, loss):
    ...         loss *= 0
    >>> checks()["check_play_is_pure"](Forgetful)  # passes
    >>> checks()["check_inputs_are_untouched"](Forgetful)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: observe() changed the array of losses...
    """
    return {name: _of_classes(thing) for name, thing in globals().items() if name.startswith("check_")}


def _of_classes(check: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a check that also accepts a class of compiled learners, whose default settings are checked."""

    @wraps(check)
    def checked(learner: Any) -> None:
        if isinstance(learner, type) and issubclass(learner, Learner):
            learner.check_class()
            learner = learner()
        check(learner)

    return checked


class Driver:
    """Run a learner against losses, without a game; bandit learners observe one drawn loss only."""

    def __init__(self, learner: Any, actions: int, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.learner: Any = (
            learner.start(actions) if isinstance(learner, Learner) else running(learner, actions, self.random)
        )
        self.learner_kind = learner
        self.bandit = feedback(learner) == "bandit"

    def play(self) -> Vector:
        """Return the strategy of the current round."""
        return np.asarray(self.learner.play(), dtype=np.float64)

    def observe(self, loss: Vector) -> None:
        """Pass the losses to the learner, or only the loss of a drawn action."""
        if self.bandit:
            mass = self.play().cumsum()
            drawn = int(mass.searchsorted(self.random.random() * mass[-1], side="right"))
            observed = np.full(len(loss), np.nan)
            observed[drawn] = loss[drawn]
            loss = observed
        if feedback(self.learner_kind) == "sampled":
            self.learner.draw()  # writes its action into its state
        if isinstance(self.learner, CompiledLearner):  # without input validation: this runs for tens of
            self.learner.learner.kernels[1](self.learner.settings, self.learner.state, loss)  # thousands of rounds
        else:
            self.learner.observe(loss)


def feedback(learner: Any) -> Feedback:
    """Return the feedback with which a learner is checked."""
    return learner.feedback[0] if isinstance(learner, Learner) else "expected"


def tuned(learner: Any, rounds: int) -> Any:
    """Return the learner tuned to a horizon, if it has one."""
    return learner.with_horizon(rounds) if isinstance(learner, Learner) else learner


def adversaries(actions: int, rounds: int, seed: int = 0) -> dict[str, Callable[[int, Vector, Vector], Vector]]:
    """Return adversaries by name: functions that choose the losses of round t."""
    random = np.random.default_rng(seed)
    noise = random.uniform(-1, 1, (rounds, actions))
    signs = np.sign(random.uniform(-1, 1, (rounds, actions)))
    phases, speeds = random.uniform(0, 6.28, actions), random.uniform(1, 9, actions) / rounds
    edge = min(1.0, np.sqrt(actions * np.log(actions + 1) / rounds))
    favourite = actions - 1

    def gap(t: int, strategy: Vector, total: Vector) -> Vector:
        loss: Vector = signs[t] * (1 - edge)
        loss[favourite] -= edge
        return loss

    def anti_leader(t: int, strategy: Vector, total: Vector) -> Vector:
        loss = np.full(actions, -1.0)
        loss[total.argmin()] = 1.0
        return loss

    def anti_play(t: int, strategy: Vector, total: Vector) -> Vector:
        loss: Vector = 0.2 * noise[t]
        loss[strategy.argmax()] = 1.0
        return loss

    return {
        "random": lambda t, strategy, total: noise[t],
        "drifting": lambda t, strategy, total: np.sin(phases + 6.28 * speeds * t),
        "gap": gap,
        "a constant favourite": lambda t, strategy, total: np.where(np.arange(actions) == favourite, -1.0, 1.0),
        "anti-leader": anti_leader,
        "anti-play": anti_play,
    }


OBLIVIOUS = ("random", "drifting", "gap", "a constant favourite")


def suffer(learner: Any, actions: int, rounds: int, adversary: str) -> Vector:
    """Run a learner against an adversary and return its counterfactual losses Σ p ⊗ l."""
    if adversary in OBLIVIOUS and isinstance(learner, Learner):
        return _suffer_on_average(learner, actions, rounds, adversary, replicas=1)
    choose = adversaries(actions, rounds)[adversary]
    driver = Driver(tuned(learner, rounds), actions)
    strategies, losses = np.zeros((rounds, actions)), np.zeros((rounds, actions))
    total = np.zeros(actions)
    for t in range(rounds):
        strategies[t] = driver.play()
        losses[t] = choose(t, strategies[t], total)
        driver.observe(losses[t])
        total += losses[t]
    return np.asarray(strategies.T @ losses)


def check_strategies_are_distributions(learner: Any) -> None:
    """Check that strategies are distributions, for 1, 2 and 5 actions and extreme losses."""
    random = np.random.default_rng(1)
    limit = 1e-9 if isinstance(learner, Learner) else STRATEGY_SUM  # strategies from Python are divided by their sum
    for actions in (1, 2, 5):
        driver = Driver(tuned(learner, 400), actions)
        for t in range(400):
            strategy = driver.play()
            assert strategy.shape == (actions,), (
                f"{actions} actions need a strategy of shape ({actions},), got {strategy.shape}"
            )
            assert (strategy >= 0).all() and abs(strategy.sum() - 1) < limit, (
                f"round {t + 1}: play() must return a distribution, got {strategy}"
            )
            kinds = (
                random.uniform(-1, 1, actions),
                np.ones(actions),
                np.sign(random.uniform(-1, 1, actions)),
                np.zeros(actions),
            )
            driver.observe(kinds[(t // 100) % 4])


def check_play_is_pure(learner: Any) -> None:
    """Check that extra calls of play() change nothing."""
    once, twice = Driver(tuned(learner, 100), 5), Driver(tuned(learner, 100), 5)
    for loss in _losses(100, 5):
        strategy = once.play()
        assert np.array_equal(twice.play(), twice.play()), "the second play() differs from the first"
        assert np.array_equal(strategy, twice.play()), "an extra play() changed a later strategy"
        once.observe(loss)
        twice.observe(loss)


def check_inputs_are_untouched(learner: Any) -> None:
    """Check that observe() does not modify the losses."""
    driver = Driver(tuned(learner, 50), 5)
    for loss in _losses(50, 5):
        copy = loss.copy()
        driver.observe(loss)
        assert np.array_equal(loss, copy), "observe() changed the array of losses"


def check_settings_round_trip(learner: Any) -> None:
    """Check that the settings of a Learner are unchanged after writing and reading TOML."""
    if isinstance(learner, Learner) and not user_files.references(learner.settings()):
        given = _without_none(learner.settings())
        assert players.configured(type(learner), tomllib.loads(toml.write(given))) == learner, (
            "the settings change in a round trip through TOML"
        )


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    """Return settings without those that are None, which TOML lacks, also in tables of learners."""
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if value is not None
    }


def check_replicas_are_single_runs(learner: Any) -> None:
    """Check that replica r equals the run with seed + r, bit for bit."""
    together = _play_game(learner, 60, seed=3, replicas=3)
    for r, one in enumerate(together):
        _same(one, _play_game(learner, 60, seed=3 + r))


def check_pieces_make_the_whole(learner: Any) -> None:
    """Check that a run in pieces, saved, loaded and resumed equals the unbroken run."""
    whole = _play_game(learner, 100, seed=5)
    simulation = _simulation(learner, 100, seed=5)
    for rounds in (1, 7, 29):
        record = simulation.run(rounds)
    if keeps_state(learner):  # unless it is a class in Python without state() and restore(state)
        with tempfile.TemporaryDirectory() as folder:
            read = load(record.save(Path(folder) / "record"))
            simulation = Simulation.resume(replace(read, learners=record.learners))
    _same(simulation.run(63), whole)


def check_relabelling(learner: Any) -> None:
    """Check that relabelling the actions relabels the play, unless the learner is `ordered`."""
    if getattr(learner, "ordered", False) or feedback(learner) != "expected":
        return
    order = np.array([3, 0, 4, 1, 2])
    plain, relabelled = Driver(tuned(learner, 300), 5), Driver(tuned(learner, 300), 5)
    for t, loss in enumerate(_losses(300, 5)):
        assert np.allclose(plain.play()[order], relabelled.play(), atol=1e-8), (
            f"round {t + 1}: relabelled actions change the play"
        )
        plain.observe(loss)
        relabelled.observe(loss[order])


def check_declared_bound(learner: Any) -> None:
    """Check that regret stays within the guarantee against every adversary and size."""
    for actions, adversary, promise, measured in _promises(learner):
        bound = promise.bound(ROUNDS, actions)
        assert measured <= bound + 1e-9, (
            f"{promise.regret} regret {measured:.1f} exceeds the bound {bound:.1f} ({adversary}, {actions} actions)"
        )


def check_declared_bound_in_games(learner: Any) -> None:
    """Check the guarantee with every feedback, in games that are not square, not symmetric, or have three players.

    A guarantee in expectation is for the drawn actions and a fixed deviation, so the mean over runs is taken first.
    """
    promise = tuned(learner, ROUNDS).guarantee() if isinstance(learner, Learner) else None
    if promise is None:
        return
    for how in learner.feedback:
        for sizes in (3, 5), (4, 2), (2, 4, 3):
            others = [*["hedge" if how != "bandit" else "uniform"] * (len(sizes) - 2), "adversary"]
            game = games.make("uniform", players=len(sizes), actions=sizes, seed=7)
            record = simulate(
                game, [learner, *others], ROUNDS, feedback=how, replicas=COPIES if promise.expected else 1
            )
            of: RegretOf = "play" if promise.expected else "strategies"
            ends = [record.moments(replica)[-1] for replica in range(record.replicas)]
            measured = getattr(regrets, promise.regret)(np.mean([end.matrices_of(of)[0] for end in ends], axis=0))
            bound = promise.bound(ROUNDS, sizes[0])
            assert measured <= bound + 1e-9, (
                f"regret {measured:.1f} exceeds the bound {bound:.1f} in a game of sizes {sizes} with {how} feedback"
            )


def check_bound_is_not_vacuous(learner: Any) -> None:
    """Check that uniform play would violate the guarantee, so that it is not trivial."""
    promise = tuned(learner, 10**7).guarantee() if isinstance(learner, Learner) else None
    if promise is None:
        return
    for actions in SIZES:
        share = 1 / actions if promise.regret == "internal" else 1 - 1 / actions
        uniform = 2 * 10**7 * share  # against a constant favourite
        bound = promise.bound(10**7, actions)
        assert bound < uniform, f"{promise} is {bound:.3g} for 10^7 rounds, more than the {uniform:.3g} of uniform play"


def _promises(learner: Any) -> Iterator[tuple[int, str, Guarantee, float]]:
    """Yield the number of actions, the adversary, the guarantee and the measured regret."""
    promise = tuned(learner, ROUNDS).guarantee() if isinstance(learner, Learner) else None
    if promise is None:
        return
    for actions in SIZES:
        for adversary in OBLIVIOUS if promise.expected else adversaries(actions, ROUNDS):
            measure = _suffer_on_average if promise.expected else suffer
            matrix = measure(learner, actions, ROUNDS, adversary)
            yield actions, adversary, promise, getattr(regrets, promise.regret)(matrix)


def _suffer_on_average(learner: Learner, actions: int, rounds: int, adversary: str, replicas: int = COPIES) -> Vector:
    """Return the mean of Σ p ⊗ l over runs against an oblivious adversary, whose losses are known in advance."""
    choose, unseen = adversaries(actions, rounds)[adversary], np.zeros(actions)
    losses = [choose(t, unseen, unseen) for t in range(rounds)]
    record = face(tuned(learner, rounds), losses, feedback=feedback(learner), replicas=replicas)
    return np.asarray(np.mean([record.moments(r)[-1].matrices_of("strategies")[0] for r in range(replicas)], axis=0))


def _losses(rounds: int, actions: int) -> Vector:
    return np.random.default_rng(2).uniform(-1, 1, (rounds, actions))


def _simulation(learner: Any, rounds: int, **given: Any) -> Simulation:
    game = games.make("uniform", players=3, actions=[3, 2, 4], seed=4)
    others = ["hedge", "regret-matching"] if feedback(learner) != "bandit" else ["uniform", learner]
    return Simulation(game, [learner, *others], feedback=feedback(learner), perturb=0.3, horizon=rounds, **given)


def _play_game(learner: Any, rounds: int, **given: Any) -> Record:
    return _simulation(learner, rounds, **given).run(rounds)


def _same(one: Record, other: Record) -> None:
    for name in one.arrays:
        assert np.array_equal(one.arrays[name], other.arrays[name], equal_nan=True), f"the array {name} differs"
