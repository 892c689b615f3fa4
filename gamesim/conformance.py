"""What every learner is held to: checks that take any learner, ours or yours, without a line of its own.

Each function whose name starts with `check_` takes a learner (a Learner, or a class written in Python whose instances
have `play()` and `observe(loss)`) and raises AssertionError with a sentence when the learner breaks its contract.
"""

import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gamesim import games, players, toml
from gamesim.engine.compiled import Vector
from gamesim.learner import CompiledLearner, Feedback, Guarantee, Learner
from gamesim.measure import regrets
from gamesim.record import Record, load
from gamesim.simulation import Simulation, simulate

__all__ = ["checks"]

SIZES = (2, 10, 50)
ROUNDS = 2000
COPIES = 8  # over which a promise in expectation is averaged


def checks() -> dict[str, Callable[[Any], None]]:
    """Return every check by its name: a function that takes a learner, and raises AssertionError if it breaks a rule.

    >>> class Forgetful:
    ...     def __init__(self, actions):
    ...         self.actions = actions
    ...
    ...     def play(self):
    ...         return np.full(self.actions, 1 / self.actions)
    ...
    ...     def observe(self, loss):
    ...         loss *= 0
    >>> checks()["check_play_is_pure"](Forgetful)  # nothing to say against it
    >>> checks()["check_inputs_are_untouched"](Forgetful)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: observe() changed the array of losses...
    """
    return {name: thing for name, thing in globals().items() if name.startswith("check_")}


class Driver:
    """A learner at work against losses, without a game; bandit learners draw and see one loss only."""

    def __init__(self, learner: Any, actions: int, seed: int = 0) -> None:
        self.learner = learner.start(actions) if isinstance(learner, Learner) else learner(actions=actions)
        self.bandit = feedback(learner) == "bandit"
        self.random = np.random.default_rng(seed)

    def play(self) -> Vector:
        """Return the strategy of this round."""
        return np.asarray(self.learner.play(), dtype=np.float64)

    def observe(self, loss: Vector) -> None:
        """Tell the learner these losses, or the loss of one drawn action."""
        if self.bandit:
            mass = self.play().cumsum()
            drawn = int(mass.searchsorted(self.random.random() * mass[-1], side="right"))
            told = np.full(len(loss), np.nan)
            told[drawn] = loss[drawn]
            loss = told
        if isinstance(self.learner, CompiledLearner):  # past its checks of what people give it: this is tens of
            self.learner.learner.kernels[1](self.learner.settings, self.learner.state, loss)  # thousands of rounds
        else:
            self.learner.observe(loss)


def feedback(learner: Any) -> Feedback:
    """Return the feedback that a learner is tried with."""
    return learner.feedback[0] if isinstance(learner, Learner) else "expected"


def tuned(learner: Any, rounds: int) -> Any:
    """Return the learner tuned to a horizon, where it wants one."""
    return learner.with_horizon(rounds) if isinstance(learner, Learner) else learner


def adversaries(actions: int, rounds: int, seed: int = 0) -> dict[str, Callable[[int, Vector, Vector], Vector]]:
    """Return ways to choose the loss of round t from the strategy and the losses so far, by name."""
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


def suffer(learner: Any, actions: int, rounds: int, adversary: str, seed: int = 0) -> Vector:
    """Let a learner play against an adversary; return its counterfactual losses Σ p ⊗ l."""
    choose = adversaries(actions, rounds)[adversary]
    driver = Driver(tuned(learner, rounds), actions, seed)
    strategies, losses = np.zeros((rounds, actions)), np.zeros((rounds, actions))
    total = np.zeros(actions)
    for t in range(rounds):
        strategies[t] = driver.play()
        losses[t] = choose(t, strategies[t], total)
        driver.observe(losses[t])
        total += losses[t]
    return np.asarray(strategies.T @ losses)


def check_strategies_are_distributions(learner: Any) -> None:
    """For 1, 2 and 5 actions, at the extremes and in between, play is a distribution."""
    random = np.random.default_rng(1)
    for actions in (1, 2, 5):
        driver = Driver(tuned(learner, 400), actions)
        for t in range(400):
            strategy = driver.play()
            assert strategy.shape == (actions,), f"{actions} actions, and a strategy of shape {strategy.shape} came"
            assert (strategy >= 0).all() and abs(strategy.sum() - 1) < 1e-9, f"round {t + 1}: {strategy} came"
            kinds = (
                random.uniform(-1, 1, actions),
                np.ones(actions),
                np.sign(random.uniform(-1, 1, actions)),
                np.zeros(actions),
            )
            driver.observe(kinds[(t // 100) % 4])


def check_play_is_pure(learner: Any) -> None:
    """Asking for the strategy twice, or not at all, changes nothing."""
    once, twice = Driver(tuned(learner, 100), 5), Driver(tuned(learner, 100), 5)
    for loss in _losses(100, 5):
        strategy = once.play()
        assert np.array_equal(twice.play(), twice.play()), "the second play() differs from the first"
        assert np.array_equal(strategy, twice.play()), "an extra play() changed a later strategy"
        once.observe(loss)
        twice.observe(loss)


def check_inputs_are_untouched(learner: Any) -> None:
    """The losses that a learner is told are still the same afterwards."""
    driver = Driver(tuned(learner, 50), 5)
    for loss in _losses(50, 5):
        copy = loss.copy()
        driver.observe(loss)
        assert np.array_equal(loss, copy), "observe() changed the array of losses"


def check_settings_round_trip(learner: Any) -> None:
    """A Learner is the same again after TOML."""
    if isinstance(learner, Learner):
        given = {key: value for key, value in asdict(learner).items() if value is not None}
        assert players.make(learner.name, **tomllib.loads(toml.write(given))) == learner, "TOML does not read back"


def check_replicas_are_single_runs(learner: Any) -> None:
    """Replica r is bit for bit the run with seed + r."""
    together = _play_game(learner, 60, seed=3, replicas=3)
    for r, one in enumerate(together):
        _same(one, _play_game(learner, 60, seed=3 + r))


def check_pieces_make_the_whole(learner: Any) -> None:
    """Cut into pieces, saved, loaded and continued, a run is bit for bit the unbroken one."""
    whole = _play_game(learner, 100, seed=5)
    simulation = _simulation(learner, 100, seed=5)
    for rounds in (1, 7, 29):
        record = simulation.run(rounds)
    if isinstance(learner, Learner):  # the state of a Python class is its own affair
        with tempfile.TemporaryDirectory() as folder:
            simulation = Simulation.resume(load(record.save(Path(folder) / "record")))
    _same(simulation.run(63), whole)


def check_relabelling(learner: Any) -> None:
    """Relabelled actions get relabelled play, unless the learner says that it depends on their order."""
    if getattr(learner, "ordered", False) or feedback(learner) == "bandit":
        return
    order = np.array([3, 0, 4, 1, 2])
    plain, relabelled = Driver(tuned(learner, 300), 5), Driver(tuned(learner, 300), 5)
    for t, loss in enumerate(_losses(300, 5)):
        assert np.allclose(plain.play()[order], relabelled.play(), atol=1e-8), f"round {t + 1}: play is not relabelled"
        plain.observe(loss)
        relabelled.observe(loss[order])


def check_declared_bound(learner: Any) -> None:
    """Measured regret stays within the declared bound, against every adversary and size."""
    for actions, adversary, promise, measured in _promises(learner):
        bound = promise.bound(ROUNDS, actions)
        assert measured <= bound + 1e-9, (
            f"{promise.regret} regret {measured:.1f} against {adversary} with {actions} actions, declared: {bound:.1f}"
        )


def check_declared_bound_in_games(learner: Any) -> None:
    """The same in games that are not square, not symmetric, and have three players."""
    promise = learner.guarantee() if isinstance(learner, Learner) else None
    for sizes in ((3, 5), (4, 2), (2, 4, 3)) if promise is not None else ():
        others = ["hedge" if feedback(learner) != "bandit" else "uniform"] * (len(sizes) - 1)
        game = games.make("uniform", players=len(sizes), actions=sizes, seed=7)
        promise = tuned(learner, ROUNDS).guarantee()
        replicas = COPIES if promise.expected else 1
        record = simulate(game, [learner, *others], ROUNDS, feedback=feedback(learner), replicas=replicas)
        measured = record.regret(promise.regret).mean(axis=0)[0] / game.scale[0]
        bound = promise.bound(ROUNDS, sizes[0])
        assert measured <= bound + 1e-9, f"{measured:.1f} in a game of sizes {sizes}, declared: {bound:.1f}"


def check_bound_is_not_vacuous(learner: Any) -> None:
    """Uniform play would break the declared bound: the bound says something."""
    promise = tuned(learner, 10**7).guarantee() if isinstance(learner, Learner) else None
    if promise is None:
        return
    for actions in SIZES:
        share = 1 / actions if promise.regret == "internal" else 1 - 1 / actions
        uniform = 2 * 10**7 * share  # against a constant favourite
        bound = promise.bound(10**7, actions)
        assert bound < uniform, f"{promise} allows {bound:.3g} in 10^7 rounds, and uniform play regrets {uniform:.3g}"


def _promises(learner: Any) -> Iterator[tuple[int, str, Guarantee, float]]:
    """Yield size, adversary, guarantee and the regret measured."""
    promise = tuned(learner, ROUNDS).guarantee() if isinstance(learner, Learner) else None
    if promise is None:
        return
    for actions in SIZES:
        for adversary in OBLIVIOUS if promise.expected else adversaries(actions, ROUNDS):
            copies = range(COPIES if promise.expected else 1)
            matrix = np.mean([suffer(learner, actions, ROUNDS, adversary, seed) for seed in copies], axis=0)
            yield actions, adversary, promise, getattr(regrets, promise.regret)(matrix)


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
        assert np.array_equal(one.arrays[name], other.arrays[name], equal_nan=True), f"{name} differs"
