"""What a player's learner is: settings, two kernels, and the regret that it promises."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Vector
from gamesim.engine.layout import Layout
from gamesim.errors import InputError, unknown

__all__ = ["CompiledLearner", "Guarantee", "Learner", "RunningLearner"]

EXAMPLE_ROUNDS = 10_000  # to which a learner is tuned where its guarantee is told and nobody has said how long it plays

Kernel = Callable[[Vector, Vector, Vector], None]

# The regrets that Σ p ⊗ l alone gives, and that a learner can promise; quantile and phi regret need to be told of what.
PlainRegret: TypeAlias = Literal["external", "internal", "swap"]
PLAIN_REGRETS: tuple[PlainRegret, ...] = get_args(PlainRegret)
RegretKind: TypeAlias = Literal["external", "internal", "swap", "quantile", "phi"]
REGRET_KINDS: tuple[RegretKind, ...] = get_args(RegretKind)

Feedback: TypeAlias = Literal["expected", "sampled", "bandit"]


class RunningLearner(Protocol):
    """A running learner, compiled or written in plain Python: what the simulation talks to.

    A class of your own that has these two methods, and is made with the number of its actions, is a learner.

    >>> class Copycat:
    ...     def __init__(self, actions):
    ...         self.strategy = np.full(actions, 1 / actions)
    ...
    ...     def play(self):
    ...         return self.strategy
    ...
    ...     def observe(self, loss):
    ...         self.strategy = np.eye(len(loss))[loss.argmin()]
    >>> learner = Copycat(actions=3)
    >>> learner.observe(np.array([0.5, -1.0, 0.25]))
    >>> learner.play()
    array([0., 1., 0.])
    >>> import gamesim
    >>> gamesim.simulate("prisoners-dilemma", [Copycat, "fixed"], rounds=10).payoffs.round(3).tolist()
    [2.925, 0.675]
    """

    def play(self) -> ArrayLike:
        """Return the strategy for this round, a probability for each action; calling it twice changes nothing."""

    def observe(self, loss: Vector) -> None:
        """Take in the loss of each action in this round, from -1 (best) to 1 (worst), and go on to the next."""


@dataclass(frozen=True)
class Guarantee:
    """What a learner promises against every sequence of losses in [-1, 1].

    `regret` is the kind ("external", "internal" or "swap"); `bound(rounds, actions)` is the most that it can be in
    total, in units of loss; `formula` says the same to people, with T rounds and d actions. What is only `expected`
    bounds the mean over the learner's own draws, of the regret for any one action.

    >>> promise = Guarantee("external", "2 √T", lambda T, d: 2 * T**0.5)
    >>> print(promise)
    external regret ≤ 2 √T
    >>> promise.bound(100, 3)  # 100 rounds, 3 actions
    20.0
    """

    regret: PlainRegret
    formula: str
    bound: Callable[[int, int], float]
    expected: bool = False

    def bound_on(self, regret: PlainRegret, rounds: int, actions: int, started: bool = False) -> float | None:
        """Return the most that a regret of this kind can be, as far as it follows from the promise; else None.

        If the learner was `started` from a strategy that is not its own, this can cost a loss of 2, once, and in swap
        regret 4, as one map may gain 2 for the one strategy and lose 2 for the other.

        Swap regret is at least internal and external regret. It is the sum of what each of the d actions could have
        gained, and internal regret is the largest of these gains: so it is at most d times internal regret, and
        external regret at most d - 1 times, since the best action gains nothing. With two actions, whoever changes one
        of them plays the other throughout: an external promise is an internal one.

        >>> internal = Guarantee("internal", "√T", lambda T, d: T**0.5)
        >>> [internal.bound_on(regret, rounds=100, actions=3) for regret in ("external", "internal", "swap")]
        [20.0, 10.0, 30.0]
        >>> external = Guarantee("external", "√T", lambda T, d: T**0.5)
        >>> [external.bound_on("swap", rounds=100, actions=actions) for actions in (2, 3)]
        [20.0, None]
        """
        times = {"external": actions - 1, "internal": 1, "swap": actions}
        first = (4 if regret == "swap" else 2) if started else 0
        if self.regret in (regret, "swap"):
            return self.bound(rounds, actions) + first
        if self.regret == "internal" or actions <= 2:
            return times[regret] * self.bound(rounds, actions) + first
        return None

    on = Renamed("bound_on")

    def tuned_to(self, horizon: int | None) -> "Guarantee":
        """Return the promise of a learner tuned to this horizon, a number of rounds.

        Fewer rounds could be filled up with losses that are all alike, which add no regret; of more rounds nothing is
        known but that losses lie in [-1, 1].

        >>> tuned = Guarantee("external", "2 √T", lambda T, d: 2 * T**0.5).tuned_to(100)
        >>> [tuned.bound(rounds, 3) for rounds in (25, 100, 101)]
        [20.0, 20.0, 202]
        """
        if horizon is None:
            return self
        tuned = self.bound
        return replace(self, bound=lambda rounds, actions: tuned(horizon, actions) if rounds <= horizon else 2 * rounds)

    def __str__(self) -> str:
        return f"{'expected ' if self.expected else ''}{self.regret} regret ≤ {self.formula}"


@dataclass(frozen=True)
class Learner:
    """The contract of every learner: a dataclass whose fields are its settings.

    Two kernels do the work, on plain arrays of numbers:
    `play(settings, state, strategy)` writes the strategy, and may keep scratch in the state, but calling it twice gives
    the same strategy; `observe(settings, state, loss)` advances the state. Nothing else is kept. Losses are numbers in
    [-1, 1], one for each action in each round, and a strategy has a probability for each action.

    >>> from gamesim import players
    >>> hedge = players.make("hedge", rate=0.5)
    >>> hedge, hedge.name, hedge.feedback
    (Hedge(rate=0.5), 'hedge', ('expected', 'sampled'))
    >>> hedge == players.Hedge(rate=0.5)
    True
    """

    name: ClassVar[str]
    kernels: ClassVar[tuple[Kernel, Kernel]]
    state_layout: ClassVar[Layout[Any]]  # the names and shapes of what is kept
    feedback: ClassVar[tuple[Feedback, ...]] = ("expected", "sampled")  # bandit learners take NaN for the unseen
    informed: ClassVar[bool] = False  # an informed player sees this round's losses before it plays
    ordered: ClassVar[bool] = False  # the play of an ordered player depends on the order of its actions

    def kernel_settings(self, actions: int) -> Vector:
        """Return the numbers that the kernels read, for this number of actions: by default every setting, in order.

        >>> from gamesim import players
        >>> players.make("replicator", step=0.1).kernel_settings(actions=4)
        array([0.1])
        """
        return np.array([getattr(self, field.name) for field in fields(self)], dtype=np.float64)

    def dimensions(self, actions: int) -> tuple[int, ...]:
        """Return the dimensions of `state_layout` for this number of actions: by default that number.

        >>> from gamesim import players
        >>> players.make("wavelet").dimensions(actions=5)  # it works on the next power of two
        (8,)
        """
        return (actions,)

    def first_state(self, actions: int) -> Vector:
        """Return the state before the first round, for this number of actions: zeros, and a uniform strategy.

        >>> from gamesim import players
        >>> players.make("regret-matching").first_state(actions=2)  # the strategy, and the regret for each action
        array([0.5, 0.5, 0. , 0. ])
        """
        state: Vector = self.state_layout.zeros(*self.dimensions(actions))
        if "strategy" in self.state_layout.names:
            self.parts(state, actions).strategy[:] = 1 / actions
        return state

    def parts(self, state: Vector, actions: int) -> Any:
        """Return the named parts of a state, as `state_layout` declares them: views that can be written to.

        >>> from gamesim import players
        >>> matching = players.make("regret-matching")
        >>> matching.parts(matching.first_state(actions=2), actions=2)
        State(strategy=array([0.5, 0.5]), regrets=array([0., 0.]))
        """
        return self.state_layout.parts(state, *self.dimensions(actions))

    def guarantee(self) -> Guarantee | None:
        """Return what this learner promises with these settings, or None if nothing.

        >>> from gamesim import players
        >>> print(players.make("hedge", rate=0.1).guarantee())
        external regret ≤ ln d / rate + rate T / 2
        >>> players.make("best-response").guarantee() is None
        True
        """
        return None

    def with_horizon(self, rounds: int) -> "Learner":
        """Return this learner tuned to a horizon of so many rounds, if it has such a setting and nobody has set it.

        >>> from gamesim import players
        >>> players.make("exp3").with_horizon(rounds=1000)
        Exp3(horizon=1000)
        >>> players.make("exp3", horizon=50).with_horizon(rounds=1000)
        Exp3(horizon=50)
        """
        if getattr(self, "horizon", rounds) is None:
            changes: dict[str, Any] = {"horizon": rounds}
            return replace(self, **changes)
        return self

    over = Renamed("with_horizon")

    def required_horizon(self) -> int:
        """Return the horizon, in rounds, that this learner has to be tuned to, or say that it is missing.

        >>> from gamesim import players
        >>> players.make("exp3", horizon=50).required_horizon()
        50
        """
        horizon: int | None = getattr(self, "horizon", None)
        if horizon is None:
            raise InputError(
                f"{self.name} is tuned to a number of rounds, and none came: set its horizon, "
                "or use it in a simulation, which sets it"
            )
        return horizon

    def start(self, actions: int, seed: int = 0) -> "CompiledLearner":
        """Return a running learner, for use without a game; `seed` is for drawing actions from its strategies.

        >>> from gamesim import players
        >>> learner = players.make("hedge", rate=1.0).start(actions=2)
        >>> learner.observe([1.0, 0.0])
        >>> learner.play().round(3)
        array([0.269, 0.731])
        """
        return CompiledLearner(self, actions, seed)

    def description(self) -> str:
        """Return the first line of the learner's documentation.

        >>> from gamesim import players
        >>> players.make("uniform").description()
        'Play every action with the same probability, whatever happens.'
        """
        return (type(self).__doc__ or "").strip().splitlines()[0]


class CompiledLearner:
    """A learner at work: a player's settings and the state that its kernels advance.

    `Learner.start` makes one. Its `player`, its number of `actions`, its `settings` and its `state` can be looked at.

    >>> from gamesim import players
    >>> learner = players.make("fictitious-play").start(actions=3)
    >>> learner.observe([0.5, -1.0, 0.25])
    >>> learner.play(), learner.state  # the state: one round, and the loss of each action
    (array([0., 1., 0.]), array([ 1.  ,  0.5 , -1.  ,  0.25]))
    """

    def __init__(self, learner: Learner, actions: int, seed: int = 0) -> None:
        if actions < 1:
            raise InputError(f"a learner needs at least one action, and {actions} came")
        self.learner = learner
        self.actions = actions
        self.settings = learner.kernel_settings(actions)
        self.state = learner.first_state(actions)
        self._random = np.random.default_rng(seed)
        self._strategy = np.zeros(actions)

    def play(self) -> Vector:
        """Return the strategy for this round, a probability for each action."""
        self.learner.kernels[0](self.settings, self.state, self._strategy)
        return self._strategy.copy()

    def draw(self) -> int:
        """Draw an action from this round's strategy, and return its number, counted from 0.

        >>> from gamesim import players
        >>> learner = players.make("fixed", strategy=(0.25, 0.75)).start(actions=2, seed=1)
        >>> [learner.draw() for _ in range(8)]
        [1, 1, 0, 1, 1, 1, 1, 1]
        """
        return int(self._random.choice(self.actions, p=self.play()))

    def observe(self, loss: ArrayLike) -> None:
        """Take in the loss of each action, each within [-1, 1]; NaN marks what a bandit learner did not see."""
        vector = np.array(loss, dtype=np.float64)
        if vector.shape != (self.actions,):
            raise InputError(
                f"{self.actions} actions need {self.actions} losses, and an array of shape {vector.shape} came"
            )
        unseen = np.isnan(vector)
        if unseen.any() and "bandit" not in self.learner.feedback:
            raise InputError(f"{self.learner.name} needs the loss of every action, and some came as NaN")
        if (np.abs(vector[~unseen]) > 1).any():
            raise InputError(
                f"losses must lie in [-1, 1], and {vector[~unseen][np.abs(vector[~unseen]).argmax()]} came"
            )
        self.learner.kernels[1](self.settings, self.state, vector)


def default_guarantee(learner: type[Learner]) -> Guarantee | None:
    """Return what a learner promises with its default settings, or None if nothing.

    One that is tuned to a number of rounds is tuned to an example's.

    >>> from gamesim import players
    >>> print(default_guarantee(players.Exp3))
    expected external regret ≤ 2 √(2 d T ln d)
    """
    return learner().with_horizon(EXAMPLE_ROUNDS).guarantee()


def learner_by_name(name: str) -> type[Learner]:
    """Return the learner of this name, of all that have been imported.

    >>> from gamesim import players
    >>> learner_by_name("hedge") is players.Hedge
    True
    """
    known: dict[str, type[Learner]] = {}
    kinds = [Learner]
    for kind in kinds:
        kinds += kind.__subclasses__()
        if "name" in vars(kind):
            known[kind.name] = kind
    if name not in known:
        raise unknown("learner", name, known)
    return known[name]
