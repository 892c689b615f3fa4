"""The interface of a learner: settings, two kernels, and a regret guarantee."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import rates, user_files
from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Integers, Vector
from gamesim.engine.layout import Layout
from gamesim.errors import InputError, unknown
from gamesim.formatting import shown
from gamesim.notebook import Rows, card
from gamesim.validation import whole_number

__all__ = ["CompiledLearner", "Guarantee", "Learner", "RunningLearner"]

MOST_ACTIONS = 2**20  # of a learner without a game
ROUNDING = 1e-12  # by which losses that are computed from payoffs may exceed 1
EXAMPLE_ROUNDS = 10_000  # the horizon for displaying the guarantee of a learner whose horizon is unset
BUILT_IN = "gamesim.players."  # the package of the built-in learners
SHOWN_INFORMED = 4  # players named in the message that too many are informed

Kernel = Callable[[Vector, Vector, Vector], None]

# The regrets that follow from Σ p ⊗ l alone and that a guarantee can bound; quantile and phi regret have a parameter.
PlainRegret: TypeAlias = Literal["external", "internal", "swap"]
PLAIN_REGRETS: tuple[PlainRegret, ...] = get_args(PlainRegret)
RegretKind: TypeAlias = Literal["external", "internal", "swap", "quantile", "phi"]
REGRET_KINDS: tuple[RegretKind, ...] = get_args(RegretKind)

# Whose regret: that of play (of the drawn actions, if actions are drawn) or that of the strategies.
RegretOf: TypeAlias = Literal["play", "strategies"]
REGRETS_OF: tuple[RegretOf, ...] = get_args(RegretOf)

Feedback: TypeAlias = Literal["expected", "sampled", "bandit"]
RecordedFeedback: TypeAlias = Feedback | Literal["observed"]  # of play that was not simulated
DRAWN: tuple[Feedback, ...] = ("sampled", "bandit")  # actions are drawn, so that regrets of play and strategies differ
FEEDBACKS: tuple[RecordedFeedback, ...] = (*get_args(Feedback), "observed")

# The regularisers of regularised leaders, in discrete time and in flows.
Regulariser: TypeAlias = Literal["entropic", "euclidean", "log-barrier"]


class RunningLearner(Protocol):
    """Define what the simulation needs of a running learner, compiled or in Python.

    Any class with these two methods whose constructor accepts the number of `actions` is a user-defined learner.

    Examples
    --------
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
        """Return the strategy for the current round.

        Calling it twice in one round must not change anything.

        Returns
        -------
        array_like of shape (actions,)
            The probability of each action.
        """

    def observe(self, loss: Vector) -> None:
        """Update the learner with the losses of the current round.

        Parameters
        ----------
        loss : ndarray of shape (actions,)
            The loss of each action, from -1 (best) to 1 (worst).
        """


@dataclass(frozen=True)
class Guarantee:
    """State a bound on the regret of a learner's strategies.

    It holds against every sequence of losses in [-1, 1]; the losses of a round may depend on the strategy of that
    round. The regret of actions drawn from the strategies is a different quantity, see `gamesim.measure.bounds`.

    Parameters
    ----------
    regret : {"external", "internal", "swap"}
        The kind of regret that is bounded.
    formula : str
        The bound as readers see it, with T rounds and d actions.
    bound : callable
        The same bound as a function ``bound(rounds, actions)``: the maximum possible total regret, in units of loss.
    expected : bool, default False
        Whether the bound holds only in expectation over the learner's random draws, for any fixed comparator action and
        losses that are chosen before the draw. The bound is then on the regret of the draws as well.
    profile : callable, optional
        For a bound on swap regret: the smaller bounds along the regret profile, as a function
        ``profile(rounds, actions, k)`` of an array k. It returns an array of shape (2, len(k)): bounds on the regret
        against deviations that send at least d - k + 1 actions to the same action, and that change at most k actions.

    Examples
    --------
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
    profile: Callable[[int, int, Integers], NDArray[np.float64]] | None = None

    def bound_on(self, regret: PlainRegret, rounds: int, actions: int, started: bool = False) -> float | None:
        """Return the bound that this guarantee implies on a given kind of regret.

        Parameters
        ----------
        regret : {"external", "internal", "swap"}
            The kind of regret to bound.
        rounds : int
            The number of rounds.
        actions : int
            The number of actions.
        started : bool, default False
            Whether the learner's first strategy was given or perturbed. This adds a loss of at most 2, or 4 for swap
            regret, because one map can gain 2 under one strategy and lose 2 under the other.

        Returns
        -------
        float or None
            The maximum possible total regret, in units of loss, or None if the guarantee implies no bound.

        Notes
        -----
        Swap regret is the sum of what each of the d actions could have gained, and internal regret is the largest of
        these gains. The best action gains nothing, hence::

            internal ≤ swap ≤ d · internal
            external ≤ swap
            external ≤ (d - 1) · internal

        With two actions, replacing one of them means playing the other throughout, so a bound on external regret is
        also a bound on internal regret. A guarantee with a `profile` states external and internal regret itself.

        Examples
        --------
        >>> internal = Guarantee("internal", "√T", lambda T, d: T**0.5)
        >>> [internal.bound_on(regret, rounds=100, actions=3) for regret in ("external", "internal", "swap")]
        [20.0, 10.0, 30.0]
        >>> external = Guarantee("external", "√T", lambda T, d: T**0.5)
        >>> [external.bound_on("swap", rounds=100, actions=actions) for actions in (2, 3)]
        [20.0, None]
        """
        times = {"external": actions - 1, "internal": 1, "swap": actions}
        first = (4 if regret == "swap" else 2) if started else 0
        if self.profile is not None and regret != "swap":
            together, alone = self.profile(rounds, actions, np.ones(1, dtype=np.int64))
            return float((together if regret == "external" else alone)[0]) + first
        if self.regret in (regret, "swap"):
            return self.bound(rounds, actions) + first
        if self.regret == "internal" or actions <= 2:
            return times[regret] * self.bound(rounds, actions) + first
        return None

    on = Renamed("bound_on")

    def tuned_to(self, horizon: int | None) -> "Guarantee":
        """Return the guarantee of a learner that is tuned to a horizon.

        Parameters
        ----------
        horizon : int or None
            The number of rounds that the learner is tuned to, or None if it needs no tuning.

        Returns
        -------
        Guarantee
            The bound at the horizon for up to `horizon` rounds, and the trivial bound 2 T for more.

        Notes
        -----
        A shorter run can be padded with rounds in which all losses are equal. These add no regret.

        Examples
        --------
        >>> tuned = Guarantee("external", "2 √T", lambda T, d: 2 * T**0.5).tuned_to(100)
        >>> [tuned.bound(rounds, 3) for rounds in (25, 100, 101)]
        [20.0, 20.0, 202]
        """
        if horizon is None:
            return self
        tuned = self.bound
        return replace(
            self,
            bound=lambda rounds, actions: tuned(horizon, actions) if rounds <= horizon else 2 * rounds,
            profile=None,
        )

    def __str__(self) -> str:
        return f"{'expected ' if self.expected else ''}{self.regret} regret ≤ {self.formula}"


@dataclass(frozen=True)
class Learner:
    """Define the interface of every learner: a dataclass whose fields are settings.

    A learner consists of two kernels on plain arrays. ``play(settings, state, strategy)`` writes the strategy; it may
    use the state as scratch space, but calling it twice gives the same strategy. ``observe(settings, state, loss)``
    advances the state. Nothing else is stored. Losses lie in [-1, 1], one per action and round.

    Attributes
    ----------
    name : str
        The name under which the learner is available, for example ``"hedge"``.
    kernels : tuple of callable
        The kernels ``play`` and ``observe``, see `kernel`.
    state_layout : Layout
        The names and shapes of the parts of the state.
    feedback : tuple of str, default ("expected", "sampled")
        The kinds of feedback that the learner supports. Bandit learners observe NaN for actions that were not drawn.
    informed : bool, default False
        Whether the learner observes its losses against the other players' strategies of a round before it plays. At
        most one player of a game may be informed.
    sees_draws : bool, default False
        Whether an informed learner observes its losses against the other players' drawn actions instead.
    ordered : bool, default False
        Whether the strategies depend on the order of the actions.

    Examples
    --------
    >>> from gamesim import players
    >>> hedge = players.make("hedge", rate=0.5)
    >>> hedge, hedge.name, hedge.feedback
    (Hedge(rate=0.5), 'hedge', ('expected', 'sampled'))
    >>> hedge == players.Hedge(rate=0.5)
    True
    """

    name: ClassVar[str]
    kernels: ClassVar[tuple[Kernel, Kernel]]
    state_layout: ClassVar[Layout[Any]]  # the names and shapes of the parts of the state
    feedback: ClassVar[tuple[Feedback, ...]] = ("expected", "sampled")  # bandit learners get NaN for actions not drawn
    informed: ClassVar[bool] = False  # whether it observes the losses of a round before it plays
    sees_draws: ClassVar[bool] = False  # whether these are the losses against the others' drawn actions
    ordered: ClassVar[bool] = False  # whether its play depends on the order of the actions

    def _repr_html_(self) -> str:
        promise = self.guarantee()
        rows = [(field.name, shown(getattr(self, field.name))) for field in fields(self)]
        bound = "no guarantee" if promise is None else str(promise)
        lines = [self.description(), f"{' or '.join(self.feedback)} feedback · {bound}"]
        return card("Learner", self.name, lines, Rows(("setting", "value"), rows, len(rows)) if rows else None)

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @classmethod
    def check_class(cls) -> None:
        """Raise an InputError unless this class is complete.

        It must be a dataclass with two kernels and a layout.

        Raises
        ------
        InputError
            If the class lacks the decorator `dataclass`, its kernels or its layout.

        Examples
        --------
        >>> class Unfinished(Learner):
        ...     rate: float = 0.1
        >>> Unfinished.check_class()
        Traceback (most recent call last):
            ...
        gamesim.errors.InputError: Unfinished must be decorated with @dataclass(frozen=True), as its setting rate shows
        """
        known = {field.name for field in fields(cls)}
        for name, kind in inspect.get_annotations(cls).items():
            if name not in known and "ClassVar" not in str(kind):
                raise InputError(
                    f"{cls.__name__} must be decorated with @dataclass(frozen=True), as its setting {name} shows"
                )
        kernels = getattr(cls, "kernels", ())
        if len(kernels) != 2 or not all(hasattr(one, "py_func") for one in kernels):
            raise InputError(
                f"{cls.__name__} must have kernels = play, observe: two functions decorated with @kernel of "
                "gamesim.engine.compiled"
            )
        if not isinstance(getattr(cls, "state_layout", None), Layout):
            raise InputError(f"{cls.__name__} must have a state_layout, which names the parts of its state; see Layout")

    @property
    def reference(self) -> str:
        """Return what identifies the class of this learner in scenarios and records.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("hedge").reference
        'hedge'
        """
        kind = type(self)
        return self.name if kind.__module__.startswith(BUILT_IN) else user_files.reference_of(kind)

    @property
    def is_user_defined(self) -> bool:
        """Return whether this learner, or one among its settings, is user-defined.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("hedge").is_user_defined
        False
        """
        nested = (getattr(self, field.name) for field in fields(self))
        own = not type(self).__module__.startswith(BUILT_IN)
        return own or any(one.is_user_defined for one in nested if isinstance(one, Learner))

    def kernel_settings(self, actions: int) -> Vector:
        """Return the settings as the kernels read them.

        By default these are all settings, in the order of the fields.

        Parameters
        ----------
        actions : int
            The number of actions.

        Returns
        -------
        ndarray of float
            The number of each setting.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("replicator", step=0.1).kernel_settings(actions=4)
        array([0.1, 0. ])
        """
        return np.array([getattr(self, field.name) for field in fields(self)], dtype=np.float64)

    def dimensions(self, actions: int) -> tuple[int, ...]:
        """Return the dimensions of `state_layout`.

        By default there is one dimension, the number of actions.

        Parameters
        ----------
        actions : int
            The number of actions.

        Returns
        -------
        tuple of int
            The value of each dimension.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("wavelet").dimensions(actions=5)  # it works on the next power of two
        (8,)
        """
        return (actions,)

    def first_state(self, actions: int) -> Vector:
        """Return the state before the first round: zeros and a uniform strategy.

        Parameters
        ----------
        actions : int
            The number of actions.

        Returns
        -------
        ndarray of float
            The state, laid out as `state_layout` declares: losses and regrets are in units of loss, strategies are
            probabilities.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("regret-matching").first_state(actions=2)  # the strategy, and the regret for each action
        array([0.5, 0.5, 0. , 0. ])
        """
        state: Vector = self.state_layout.zeros(*self.dimensions(actions))
        if "strategy" in self.state_layout.names:
            self.parts(state, actions).strategy[:] = 1 / actions
        return state

    def parts(self, state: Vector, actions: int) -> Any:
        """Return the named parts of a state as views that can be written to.

        Parameters
        ----------
        state : ndarray of float
            A state of this learner.
        actions : int
            The number of actions.

        Returns
        -------
        namedtuple
            The parts that `state_layout` declares: strategies are probabilities, losses and regrets are in units of
            loss.

        Examples
        --------
        >>> from gamesim import players
        >>> matching = players.make("regret-matching")
        >>> matching.parts(matching.first_state(actions=2), actions=2)
        State(strategy=array([0.5, 0.5]), regrets=array([0., 0.]))
        """
        return self.state_layout.parts(state, *self.dimensions(actions))

    def guarantee(self) -> Guarantee | None:
        """Return the regret bound of this learner with these settings.

        Returns
        -------
        Guarantee or None
            The guarantee, or None if the learner has no guarantee.

        Examples
        --------
        >>> from gamesim import players
        >>> print(players.make("hedge", rate=0.1).guarantee())
        external regret ≤ ln d / rate + rate T / 2
        >>> players.make("best-response").guarantee() is None
        True
        """
        return None

    def limit(self) -> Regulariser | None:
        """Return the regulariser of the learner's continuous-time limit.

        Returns
        -------
        {"entropic", "euclidean", "log-barrier"} or None
            The regulariser of the flow, see `gamesim.flow`, that the learner follows in the limit of small rates, or
            None if no such limit is known.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("optimistic-hedge").limit(), players.make("regret-matching").limit()
        ('entropic', None)
        """
        return None

    def start_at(self, state: Vector, strategy: Vector) -> None:
        """Change a first state so that the learner starts at a strategy.

        It plays this strategy in round 1 and continues from there; its documentation says how.

        Parameters
        ----------
        state : ndarray of float
            The first state, see `first_state`, which is changed.
        strategy : ndarray of shape (actions,)
            The strategy.

        Raises
        ------
        InputError
            If the learner cannot start at this strategy, or at any.

        Examples
        --------
        >>> from gamesim import players
        >>> learner = players.make("regret-matching").start(actions=2)
        >>> learner.learner.start_at(learner.state, np.array([0.25, 0.75]))
        >>> learner.play()
        array([0.25, 0.75])
        """
        if self.informed:
            reason = "because it chooses its strategy after it has observed the other players; leave the start out"
            raise InputError(f"{self.name} cannot start at a given strategy, {reason}, or choose another learner")
        raise InputError(
            f"{self.name} cannot start at a given strategy; give an opening, which replaces the strategy of the first "
            "round only, or choose another learner"
        )

    def settings(self) -> dict[str, Any]:
        """Return the settings as data, with learners among them as tables.

        Returns
        -------
        dict
            The settings by name. `gamesim.players.make` takes them.

        Examples
        --------
        >>> from gamesim import players
        >>> players.BlumMansour(rows=players.FTRL(optimistic=True)).settings()["rows"]
        {'learner': 'ftrl', 'regulariser': 'entropic', 'optimistic': True, 'rate': None}
        """

        def as_data(value: Any) -> Any:
            return {"learner": value.reference, **value.settings()} if isinstance(value, Learner) else value

        return {field.name: as_data(getattr(self, field.name)) for field in fields(self)}

    def with_payoff_scale(self, scale: float) -> "Learner":
        """Return a copy with rates per payoff converted to rates per loss.

        Rates of learners among the settings are converted, too.

        Parameters
        ----------
        scale : float
            The payoff that corresponds to a loss of 1, see `Game.scale`.

        Returns
        -------
        Learner
            The copy, or this learner if nothing changes.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("hedge", rate="0.5 per payoff").with_payoff_scale(3.0)
        Hedge(rate=1.5)
        """
        changes: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            converted = value.with_payoff_scale(scale) if isinstance(value, Learner) else rates.in_losses(value, scale)
            if converted != value:
                changes[field.name] = converted
        return replace(self, **changes) if changes else self

    def with_horizon(self, rounds: int) -> "Learner":
        """Return a copy that is tuned to a number of rounds.

        An unset horizon is set, and rates that are "tuned" are tuned to it.

        Parameters
        ----------
        rounds : int
            The number of rounds to tune to.

        Returns
        -------
        Learner
            The tuned copy, or this learner if it has nothing to tune.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("exp3").with_horizon(rounds=1000)
        Exp3(horizon=1000, rate=None)
        >>> players.make("exp3", horizon=50).with_horizon(rounds=1000)
        Exp3(horizon=50, rate=None)
        """
        changes: dict[str, Any] = {"horizon": rounds} if getattr(self, "horizon", rounds) is None else {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == rates.TUNED:
                changes[field.name] = rates.tuned_to(value, rounds)
        return replace(self, **changes) if changes else self

    over = Renamed("with_horizon")

    def required_horizon(self) -> int:
        """Return the horizon of a learner that needs one.

        Returns
        -------
        int
            The horizon, in rounds.

        Raises
        ------
        InputError
            If the horizon is unset.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("exp3", horizon=50).required_horizon()
        50
        """
        horizon: int | None = getattr(self, "horizon", None)
        if horizon is None:
            raise InputError(
                f"{self.name} needs a horizon, got None: set its horizon to the number of rounds, "
                "or use it in a simulation, which sets it"
            )
        return horizon

    def start(self, actions: int, seed: int = 0) -> "CompiledLearner":
        """Return a running learner, for use without a game.

        Parameters
        ----------
        actions : int
            The number of actions.
        seed : int, default 0
            The seed for drawing actions with `CompiledLearner.draw`.

        Returns
        -------
        CompiledLearner
            The running learner before its first round.

        Examples
        --------
        >>> from gamesim import players
        >>> learner = players.make("hedge", rate=1.0).start(actions=2)
        >>> learner.observe([1.0, 0.0])
        >>> learner.play().round(3)
        array([0.269, 0.731])
        """
        return CompiledLearner(self, actions, seed)

    def description(self) -> str:
        """Return the first line of the learner's docstring.

        Returns
        -------
        str
            The description.

        Examples
        --------
        >>> from gamesim import players
        >>> players.make("uniform").description()
        'Play every action with the same probability, whatever happens.'
        """
        return (type(self).__doc__ or "").strip().splitlines()[0]


class CompiledLearner:
    """Run a learner: its settings and the state that its kernels advance.

    `Learner.start` creates one.

    Parameters
    ----------
    learner : Learner
        The learner and its settings.
    actions : int
        The number of actions, from 1 to 2^20.
    seed : int, default 0
        The seed for drawing actions.

    Attributes
    ----------
    settings : ndarray of float
        The settings as the kernels read them.
    state : ndarray of float
        The current state.

    Examples
    --------
    >>> from gamesim import players
    >>> learner = players.make("fictitious-play").start(actions=3)
    >>> learner.observe([0.5, -1.0, 0.25])
    >>> learner.play(), learner.state  # the state: one round, and the loss of each action
    (array([0., 1., 0.]), array([ 1.  ,  0.5 , -1.  ,  0.25]))
    """

    def __init__(self, learner: Learner, actions: int, seed: int = 0) -> None:
        self.learner = learner
        self.actions = actions = whole_number("actions", actions, least=1, most=MOST_ACTIONS)
        self.settings = learner.kernel_settings(actions)
        self.state = learner.first_state(actions)
        self._seed = seed
        self._strategy = np.zeros(actions)

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(self._seed)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.learner!r}, {self.actions:,} actions>"

    def play(self) -> Vector:
        """Return the strategy for the current round.

        Returns
        -------
        ndarray of shape (actions,)
            The probability of each action.
        """
        self.learner.kernels[0](self.settings, self.state, self._strategy)
        return self._strategy.copy()

    def draw(self) -> int:
        """Draw an action from the strategy of the current round.

        Returns
        -------
        int
            The index of the action, counted from 0.

        Examples
        --------
        >>> from gamesim import players
        >>> learner = players.make("fixed", strategy=(0.25, 0.75)).start(actions=2, seed=1)
        >>> [learner.draw() for _ in range(8)]
        [1, 1, 0, 1, 1, 1, 1, 1]
        """
        action = int(self._random.choice(self.actions, p=self.play()))
        if "drawn" in self.learner.state_layout.names:  # the learner wants to know it
            self.learner.parts(self.state, self.actions).drawn[0] = action
        return action

    def observe(self, loss: ArrayLike) -> None:
        """Update the learner with the losses of the current round.

        Parameters
        ----------
        loss : array_like of shape (actions,)
            The loss of each action, in [-1, 1] up to rounding errors. NaN marks actions whose loss a bandit learner
            does not observe.

        Raises
        ------
        InputError
            If the shape is wrong, a loss lies outside [-1, 1], or a loss is NaN and the learner needs all losses.
        """
        vector = np.array(loss, dtype=np.float64)
        if vector.shape != (self.actions,):
            raise InputError(
                f"loss must have one entry for each of {self.actions} actions, got an array of shape {vector.shape}"
            )
        unseen = np.isnan(vector)
        if unseen.any() and ("bandit" not in self.learner.feedback or self.learner.informed):
            raise InputError(f"{self.learner.name} needs the loss of every action, got NaN for some")
        if (np.abs(vector[~unseen]) > 1 + ROUNDING).any():
            raise InputError(f"losses must lie in [-1, 1], got {vector[~unseen][np.abs(vector[~unseen]).argmax()]}")
        self.learner.kernels[1](self.settings, self.state, np.clip(vector, -1, 1))


def default_guarantee(learner: type[Learner]) -> Guarantee | None:
    """Return the guarantee of a learner with its default settings, or None.

    A learner that needs a horizon is tuned to `EXAMPLE_ROUNDS` rounds.

    >>> from gamesim import players
    >>> print(default_guarantee(players.Exp3))
    expected external regret ≤ 2 √(2 d T ln d)
    """
    return learner().with_horizon(EXAMPLE_ROUNDS).guarantee()


def several_informed(learners: Sequence[Any], names: Sequence[str]) -> str | None:
    """Return why these learners cannot play one game, or None if at most one of them is informed.

    >>> from gamesim import players
    >>> several_informed([players.make("hedge"), players.make("adversary")], ["Row", "Column"]) is None
    True
    >>> several_informed([players.make("adversary")] * 2, ["Row", "Column"])  # doctest: +ELLIPSIS
    'at most one player may observe the others before it plays, got 2: Row (adversary), Column (adversary); ...'
    """
    found = [
        f"{name} ({one.name})"
        for name, one in zip(names, learners, strict=True)
        if isinstance(one, Learner) and one.informed
    ]
    if len(found) < 2:
        return None
    listed = ", ".join(found[:SHOWN_INFORMED]) + (", …" if len(found) > SHOWN_INFORMED else "")
    return (
        f"at most one player may observe the others before it plays, got {len(found)}: {listed}; "
        "choose another learner for all but one of them"
    )


def learner_by_name(name: str) -> type[Learner]:
    """Return the learner of this name among all that have been imported.

    >>> from gamesim import players
    >>> learner_by_name("hedge") is players.Hedge
    True
    """
    known: dict[str, type[Learner]] = {}
    kinds = [Learner]
    for kind in kinds:
        kinds += kind.__subclasses__()
        given = kind.name != kind.__name__ if kind is not Learner else False
        if given and (kind.name not in known or kind.__module__.startswith(BUILT_IN)):
            known[kind.name] = kind
    if name not in known:
        raise unknown("learner", name, known)
    return known[name]
