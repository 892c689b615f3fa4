"""Simulate learners that play a game against each other, round after round."""

from __future__ import annotations  # so that `help` shows the names of types

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, partial
from os import cpu_count
from time import perf_counter, thread_time
from typing import Any, Generic, TypeAlias, TypedDict, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import blas, games, players, user_files, validation
from gamesim.engine import checkpoints as grid
from gamesim.engine import loop, shared_players, together, tracks
from gamesim.engine.compiled import Integers, Vector
from gamesim.engine.sums import Sums, lengths
from gamesim.engine.trajectory import COUNT, STRIDE
from gamesim.errors import InputError
from gamesim.formatting import amount, memory, one_line
from gamesim.game import Game, Table
from gamesim.learner import Feedback, Learner, several_informed
from gamesim.measure.builtin import gap_name
from gamesim.measure.incentives import EquilibriumKind
from gamesim.measure.moments import Moments
from gamesim.measure.observers import Observer, chosen
from gamesim.measure.registry import Value, find
from gamesim.record import Number, Record, python_state
from gamesim.record_checks import check_shapes, restore_generator
from gamesim.simulation.first_round import FirstRound
from gamesim.simulation.kernel_plan import compiled
from gamesim.simulation.ordering import with_order
from gamesim.simulation.protocol import Order, Protocol
from gamesim.simulation.python_phases import PythonPhases
from gamesim.simulation.starts import Start, Starts
from gamesim.simulation.trajectories import Keep, Trajectories
from gamesim.user_learners import name_of, restored

__all__ = ["Simulation", "simulate"]

SIMULATION_BYTES = 2**33  # the limit on the arrays of one simulation
Factory: TypeAlias = Callable[..., Any]  # a class or function that takes `actions` and returns a running learner
Learners: TypeAlias = Sequence[Any] | str | Learner | Factory  # one per player, or one for all

NO_UNIFORMS, NO_NOISE = np.zeros((1, 1)), np.zeros((1, 0))  # what the loop gets if it needs none
PIECE = 0.05  # target time, in seconds, between two calls of `progress`
FIRST_PIECE = 2**12  # strategies of all rounds of the first piece, which must be short even if rounds are long

# Besides its sums, the parts of a track needed to resume; the rest is scratch, or already in the record.
OLD_BLOCK = 8  # rows of strategies in records of earlier versions, which had no row for the round before a block
CONTINUED = ("state", "starts", "strategies", "losses", "pending")


class Options(TypedDict, total=False):
    """The options that `simulate` and `Simulation` share, see `simulate`."""

    seed: int
    feedback: Feedback | Sequence[Feedback]
    start: Start
    opening: Sequence[ArrayLike | None] | None
    perturb: Sequence[float] | float
    order: Order
    delay: int
    noise: float
    trajectory: Keep
    observers: Sequence[Observer | str]


class AllOptions(Options, total=False):
    """The options of `Simulation`."""

    horizon: int | None
    checkpoints: int


@overload
def simulate(
    game: Game | str,
    learners: Learners,
    rounds: int,
    *,
    replicas: None = None,
    **options: Unpack[Options],
) -> Record[float]: ...


@overload
def simulate(
    game: Game | str,
    learners: Learners,
    rounds: int,
    *,
    replicas: int,
    **options: Unpack[Options],
) -> Record[NDArray[np.float64]]: ...


def simulate(
    game: Game | str,
    learners: Learners,
    rounds: int,
    *,
    seed: int = 0,
    feedback: Feedback | Sequence[Feedback] = "expected",
    replicas: int | None = None,
    start: Start = None,
    opening: Sequence[ArrayLike | None] | None = None,
    perturb: Sequence[float] | float = 0.0,
    order: Order = "simultaneous",
    delay: int = 0,
    noise: float = 0.0,
    trajectory: Keep = "thinned",
    observers: Sequence[Observer | str] = (),
) -> Record[Any]:
    """Simulate learners playing a game and return the record.

    Parameters
    ----------
    game : Game or str
        The game, or the name of a built-in one.
    learners : sequence, str, Learner or callable
        One learner per player, or one for all players: a name, a `Learner`, or a class with ``play()`` and
        ``observe(loss)`` (see `RunningLearner`), or a function that returns an instance of one for ``actions=...``.
        `gamesim.players.make` makes a learner with settings. Learners that need a horizon are tuned to `rounds`.
    rounds : int
        The number of rounds, from 1 to 10^15.
    seed : int, default 0
        Seed of the random number generator.
    feedback : {"expected", "sampled", "bandit"} or sequence, default "expected"
        What each learner, or all, observe after a round: the expected loss of every action against the other players'
        strategies ("expected", full information), the loss of every action against their drawn actions ("sampled"), or
        only the loss of its drawn action ("bandit"). Losses are negated payoffs, rescaled for each player to
        [-1, 1]; measures are in payoff units. With sampled and bandit feedback, measures are of the drawn actions;
        `Record.regret` and `Record.bound` also cover the strategies that they are drawn from.
    replicas : int, optional
        The number of independent runs; run r has seed ``seed + r``. If given, measures have the replicas along their
        first axis; if None, there is a single run.
    start : sequence of array_like or None, or str, optional
        The initial condition: the strategy at which each player's learner starts and from which it continues. An entry
        is one strategy, an array with one strategy per replica, "random" for strategies drawn uniformly from the
        simplex, or None for the learner's own start. For all players, "random" or "grid", a regular grid of profiles
        with one per replica. Learners that cannot start at a given strategy refuse.
    opening : sequence of array_like or None, optional
        The strategy that each player plays in the first round only, whatever its learner would play; None uses the
        learner's strategy. The learner does not know of it. Informed learners, such as the adversary, cannot have one.
    perturb : float or sequence of float, default 0.0
        Weight in [0, 1] of a strategy drawn uniformly from the simplex, mixed into the strategy of each player in the
        first round only; a scalar applies to all players. Informed learners play as they choose in any case.
    order : {"simultaneous", "alternating"}, default "simultaneous"
        Whether all players observe their losses before anyone moves on, or one after the other. With "alternating",
        each player observes its losses against the others' newest strategies, so that the second player already faces
        the next strategy of the first. Measures are of the strategies at the beginning of each round.
    delay : int, default 0
        The number of rounds after which losses are observed.
    noise : float, default 0.0
        The standard deviation of normal noise that is added to the observed losses, in units of loss. Measures are
        without noise.
    trajectory : {"thinned", "every", "windows", "none"} or int, default "thinned"
        The rounds whose strategies `Record.trajectory` holds: up to 1,024 spread over the run, every one, every k-th,
        eight consecutive rounds before each checkpoint, or none. Long trajectories are kept on disk.
    observers : sequence of Observer or str, default ()
        User-defined sums, to which every round adds, see `gamesim.measure.observers`. Built in are "dynamic-regret",
        "alternating-regret", "linear-weights" and "quadratic-weights".

    Returns
    -------
    Record
        The statistics of play, from which regrets, gaps and distances are computed.

    Raises
    ------
    InputError
        If an argument is invalid, a name is unknown, a learner does not support the feedback, or several are informed.

    See Also
    --------
    Simulation : Run in pieces, watch the progress, and resume.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "hedge"], rounds=1000, perturb=0.5, seed=1)
    >>> record.gap("ce") < 0.2
    True
    """
    chosen: Any = replicas  # None or a number: each has its own type of record
    simulation: Simulation[Any] = Simulation(
        game,
        learners,
        seed=seed,
        feedback=feedback,
        replicas=chosen,
        start=start,
        opening=opening,
        perturb=perturb,
        order=order,
        delay=delay,
        noise=noise,
        trajectory=trajectory,
        observers=observers,
        horizon=validation.whole_number("rounds", rounds, least=1, most=validation.MOST_ROUNDS),
    )
    return simulation.run(rounds)


class Simulation(Generic[Number]):
    """Simulate learners playing a game, in as many pieces as you like.

    The result does not depend on how the rounds are split into calls of `run`, on the number of threads, or on the
    other replicas.

    Parameters
    ----------
    game : Game or str
        The game, or the name of a built-in one.
    learners : sequence, str, Learner or callable
        One learner per player, or one for all players, see `simulate`.
    seed : int, default 0
        Seed of the random number generator.
    feedback : {"expected", "sampled", "bandit"} or sequence, default "expected"
        What each learner observes after a round, see `simulate`.
    replicas : int, optional
        The number of independent runs, see `simulate`.
    start : sequence of array_like or None, or str, optional
        The initial condition of each player's learner, see `simulate`.
    opening : sequence of array_like or None, optional
        The strategy that each player plays in the first round only, see `simulate`.
    perturb : float or sequence of float, default 0.0
        The share of the strategy of the first round that is drawn at random, from 0 to 1, for all players or for each.
    order : {"simultaneous", "alternating"}, default "simultaneous"
        Whether all players observe their losses before anyone moves on, see `simulate`.
    delay : int, default 0
        The number of rounds after which losses are observed.
    noise : float, default 0.0
        The standard deviation of noise on the observed losses, in units of loss.
    trajectory : {"thinned", "every", "windows", "none"} or int, default "thinned"
        The rounds whose strategies are kept, see `simulate`.
    observers : sequence of Observer or str, default ()
        User-defined sums, see `simulate`.
    horizon : int, optional
        The number of rounds to which learners with an unset horizon are tuned.
    checkpoints : int, default 10
        The number of checkpoints per power of ten of the rounds, at most 1000.

    Raises
    ------
    InputError
        If an argument is invalid, a name is unknown, a learner does not support the feedback, or several are informed.

    Examples
    --------
    >>> simulation = Simulation("prisoners-dilemma", ["hedge", "uniform"], horizon=200)
    >>> simulation.run(50).rounds, simulation.run(150).rounds
    (50, 200)
    >>> simulation.record().payoffs.round(2).tolist()
    [2.97, 0.57]
    """

    @overload
    def __init__(
        self: Simulation[float],
        game: Game | str,
        learners: Learners,
        *,
        replicas: None = None,
        **options: Unpack[AllOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: Simulation[NDArray[np.float64]],
        game: Game | str,
        learners: Learners,
        *,
        replicas: int,
        **options: Unpack[AllOptions],
    ) -> None: ...

    def __init__(
        self,
        game: Game | str,
        learners: Learners,
        *,
        seed: int = 0,
        feedback: Feedback | Sequence[Feedback] = "expected",
        replicas: int | None = None,
        start: Start = None,
        opening: Sequence[ArrayLike | None] | None = None,
        perturb: Sequence[float] | float = 0.0,
        order: Order = "simultaneous",
        delay: int = 0,
        noise: float = 0.0,
        trajectory: Keep = "thinned",
        observers: Sequence[Observer | str] = (),
        horizon: int | None = None,
        checkpoints: int = 10,
    ) -> None:
        self.game = games.make(game) if isinstance(game, str) else game
        self.seed = validation.whole_number("seed", seed, least=0)
        self.protocol = Protocol.checked(self.game, feedback, order, delay, noise)
        self.feedback = self.protocol.of_run
        self.single = replicas is None
        self.replicas = 1 if replicas is None else validation.whole_number("replicas", replicas, least=1)
        if horizon is not None:
            validation.whole_number("horizon", horizon, least=1, most=validation.MOST_ROUNDS)
        self.learners = _chosen_learners(self.game, learners, self.protocol, horizon)
        self.observers = chosen(observers)
        self.rounds = 0
        wanted = validation.whole_number("checkpoints", checkpoints, least=1, most=validation.MOST_CHECKPOINTS)
        self._drawn = self.protocol.drawn
        self._per_decade = grid.per_decade(self.game.sizes, wanted, self._drawn, isinstance(self.game, Table))
        totals = [one.first(self.game) for one in self.observers]
        self._trajectories = Trajectories(trajectory, self.game.sizes, self.replicas)
        self._refuse_beyond_memory(sum(map(len, totals)), state=0)
        self._setup, first_state, scratch = compiled(self.game, self.learners, self.protocol, self.observers, totals)
        self._refuse_beyond_memory(sum(map(len, totals)), first_state.size)
        self._spent = [0.0] * max(self.replicas, _processors())  # by replica, or by thread
        self._groups, self._tracks = self._allocate_all(first_state, scratch, totals)
        loop.prepare_phases(self._setup, self._tracks[0])
        self._python: list[PythonPhases] = []
        first_round = FirstRound(self.game, self.learners, opening, perturb)
        starts = Starts(self.game, start, self.replicas)
        self._placed = starts.given()
        self._random: list[np.random.Generator] = []
        self._noise: list[np.random.Generator] = []
        for replica, track in enumerate(self._tracks):
            seeds = np.random.SeedSequence(self.seed + replica).spawn(5)
            of_first_round, of_draws, of_starts = (np.random.Generator(np.random.PCG64(one)) for one in seeds[:3])
            in_python = PythonPhases(self.game, self.learners, self.observers, self._setup, seeds[-1])
            self._python.append(in_python)
            placed = starts.of_replica(replica, of_starts)
            self._place(track, in_python, placed)
            track.starts[:] = first_round.strategies(self.learners, in_python, placed, of_first_round)
            self._random.append(of_draws)
            if self.protocol.noise:
                self._noise.append(np.random.Generator(np.random.PCG64(seeds[3])))
        self._kept: list[tuple[list[int], list[Sums]]] = []  # checkpoints, and each replica's sums there, one row each

    def __repr__(self) -> str:
        learners = one_line(" and ".join(dict.fromkeys(map(name_of, self.learners))), 80)
        return f"<Simulation: {one_line(self.game.name)}, {learners}, {self.rounds:,} rounds, seed {self.seed}>"

    def run(
        self,
        rounds: int,
        progress: Callable[[Simulation[Number]], object] | None = None,
        *,
        threads: int | None = None,
    ) -> Record[Number]:
        """Play further rounds and return the record.

        Parameters
        ----------
        rounds : int
            The number of rounds, at least 1.
        progress : callable, optional
            A function that is called with this simulation several times per second. The run stops early if it returns
            True.
        threads : int, optional
            The number of threads that the replicas share, or the players of a single network or routing game with
            thousands of players. By default one per processor. 0 runs in the calling thread, which is fastest for short
            runs, but leaves replicas at different rounds if Ctrl-C interrupts it.

        Returns
        -------
        Record
            The record of all rounds so far.

        Raises
        ------
        InputError
            If an argument is invalid, or a user-defined learner fails.

        Examples
        --------
        >>> simulation = Simulation("chicken", "hedge")
        >>> record = simulation.run(10**7, progress=lambda now: now.rounds >= 1000)
        >>> 1000 <= record.rounds < 10**7  # stopped soon after round 1,000
        True
        """
        most_rounds = validation.MOST_ROUNDS - self.rounds
        end = self.rounds + validation.whole_number("rounds", rounds, least=1, most=most_rounds)
        self._trajectories.refuse_beyond_limit(end)
        most = self._most_rounds()  # more would not fit into the buffers
        pace = max(1, min(most, FIRST_PIECE // (self.replicas * sum(self.game.sizes))))
        most_threads = 1 if any(self._python) else min(self._shares, _processors())
        if threads is None:
            threads = most_threads
        threads = min(validation.whole_number("threads", threads, least=0), most_threads)
        with ThreadPoolExecutor(max(threads, 1)) as workers, blas.limiter().limit(limits=1):
            pool = workers if threads else None
            while self.rounds < end:
                began = perf_counter()
                self._advance_all(pool, self._piece(end, pace), threads)
                took = perf_counter() - began
                pace = max(1, min(most, pace * (8 if took < PIECE / 8 else 2) if took < PIECE else pace // 2))
                if progress is not None and progress(self):
                    break
        return self.record()

    def advance(self, rounds: int) -> None:
        """Play further rounds in the calling thread, without a record.

        A record copies the sums at every checkpoint. This method is for callers that play in many short pieces and
        look at the simulation in between, through `moments`, `strategies` and `trajectory`. Unlike `run`, it does not
        limit BLAS to one thread.

        Parameters
        ----------
        rounds : int
            The number of rounds, at least 1.

        Raises
        ------
        InputError
            If the number is invalid, or a user-defined learner fails.

        Examples
        --------
        >>> simulation = Simulation("shapley", "hedge", perturb=0.2)
        >>> for _ in range(50):
        ...     simulation.advance(10)
        >>> whole = Simulation("shapley", "hedge", perturb=0.2).run(500)
        >>> simulation.gap("ce") == whole.gap("ce")
        True
        """
        end = self.rounds + validation.whole_number("rounds", rounds, least=1)
        most = self._most_rounds()
        while self.rounds < end:
            self._advance_all(None, self._piece(end, most))

    def record(self) -> Record[Number]:
        """Return the record of all rounds so far.

        The simulation can be resumed from it, also after saving and loading, see `resume`.

        Returns
        -------
        Record
            The record.

        Examples
        --------
        >>> simulation = Simulation("matching-pennies", ["hedge", "fixed"], opening=[[0.9, 0.1], None])
        >>> _ = simulation.run(1)
        >>> simulation.record().joint.tolist()
        [[0.45, 0.45], [0.05, 0.05]]
        """
        arrays: dict[str, NDArray[Any]] = {
            "checkpoints": self.checkpoint_rounds,
            **self._summed_arrays(),
        }
        for part in CONTINUED:
            arrays[f"continue_{part}"] = np.stack([getattr(track, part) for track in self._tracks])
        arrays |= self._python_states() | self._trajectories.arrays(self._tracks)
        arrays["continue_kept"] = np.stack([track.kept.numbers for track in self._tracks])
        return Record(
            game=self.game,
            learners=tuple(self.learners),
            rounds=self.rounds,
            seed=self.seed,
            feedback=self.feedback,
            started=self._started(),
            single=self.single,
            arrays=arrays,
            settings={
                "checkpoints": self._per_decade,
                "placed": self._placed,
                "protocol": self.protocol.data(),
                "trajectory": self._trajectories.keep,
                "observers": {one.name: len(one.first(self.game)) for one in self.observers},
                "states": [int(end - start) for start, end in self._setup.plan[:, loop.STATE : loop.STATE_END + 1]],
                "python_random": [one.random_states() for one in self._python],
                "random": [one.bit_generator.state for one in self._random],
                "noise": [one.bit_generator.state for one in self._noise],
            },
        )

    def moments(self, replica: int = 0) -> Moments:
        """Return the sums over rounds from which all measures are computed.

        Parameters
        ----------
        replica : int, default 0
            The index of the replica.

        Returns
        -------
        Moments
            The sums at each checkpoint and after the current round.

        Examples
        --------
        >>> simulation = Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments()[-1].profile.round(3).tolist()
        [0.019, 0.981, 0.5, 0.5]
        """
        now = self._sums(self._tracks[replica])
        kept = [(sums[replica], k) for rounds, sums in self._kept for k in range(len(rounds))]
        earlier = [rounds for rounds in self.checkpoint_rounds.tolist() if rounds < self.rounds]
        rounds = np.array([*earlier, self.rounds], dtype=np.int64)
        totals = {one.name: len(one.first(self.game)) for one in self.observers}

        def sums_at(k: int) -> Sums:
            if k == len(earlier):
                return now
            sums, row = kept[k]
            return sums.row(row)

        def stacked(name: str) -> NDArray[np.float64]:
            rows = [getattr(sums[replica], name) for _, sums in self._kept]
            if len(earlier) < len(kept):  # the last checkpoint is now
                rows[-1] = rows[-1][:-1]
            return np.concatenate([*rows, getattr(now, name)[np.newaxis]])

        return Moments(self.game, rounds, sums_at, stacked, totals)

    @property
    def checkpoint_rounds(self) -> NDArray[np.int64]:
        """Return the rounds at which the sums are stored, so far.

        Examples
        --------
        >>> simulation = Simulation("chicken", "hedge")
        >>> simulation.advance(15)
        >>> simulation.checkpoint_rounds.tolist()
        [1, 2, 3, 4, 5, 6, 8, 10, 13]
        """
        return np.array([one for rounds, _ in self._kept for one in rounds], dtype=np.int64)

    def strategies(self, replica: int = 0) -> NDArray[np.float64]:
        """Return all players' strategies in the last round, concatenated.

        Parameters
        ----------
        replica : int, default 0
            The index of the replica.

        Returns
        -------
        ndarray of float
            The probability of each action of each player.

        Examples
        --------
        >>> simulation = Simulation("matching-pennies", ["hedge", "fixed"], opening=[[0.9, 0.1], None])
        >>> simulation.advance(1)
        >>> simulation.strategies().tolist()
        [0.9, 0.1, 0.5, 0.5]
        """
        return np.array(self._tracks[replica].strategies[(self.rounds - 1) & self._setup.last_row])

    def trajectory(self, replica: int = 0) -> tuple[int, NDArray[np.float64]]:
        """Return the strategies of a thinned trajectory, see `Record.trajectory`.

        Parameters
        ----------
        replica : int, default 0
            The index of the replica.

        Returns
        -------
        stride : int
            The number of rounds of a stretch, of which one is recorded.
        strategies : ndarray of shape (recorded rounds, actions of all players)
            All players' strategies in one round of each stretch, as probabilities. It is a view, which the following
            rounds change.

        Examples
        --------
        >>> simulation = Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> simulation.advance(2000)
        >>> stride, strategies = simulation.trajectory()
        >>> stride, strategies.shape, strategies[-1].round(3).tolist()
        (2, (1000, 4), [0.0, 1.0, 0.5, 0.5])
        """
        kept = self._tracks[replica].kept
        return int(kept.numbers[STRIDE]), kept.rows[: kept.numbers[COUNT]]

    def measure(self, name: str, **options: Any) -> Value:
        """Return a measure of the rounds so far by name, averaged over replicas.

        Parameters
        ----------
        name : str
            The name of the measure, see `Record.measure`.
        **options
            The options of the measure, if it has any.

        Returns
        -------
        float or ndarray
            The value in the measure's unit, see `Measure`.

        Raises
        ------
        InputError
            If the measure is unknown, or an option is unknown or missing.

        Examples
        --------
        >>> simulation = Simulation("shapley", "hedge", perturb=0.2)
        >>> record = simulation.run(500)
        >>> simulation.measure("nash-gap") == record.nash_gap()
        True
        """
        measure = find(name)
        total: Value = 0.0
        for replica in range(self.replicas):
            total = total + measure.now(self.moments(replica), **options)
        return total / self.replicas

    def gap(self, kind: EquilibriumKind) -> float:
        """Return the CE or CCE gap of the rounds so far, averaged over replicas.

        It is cheap enough to watch during a run.

        Parameters
        ----------
        kind : {"ce", "cce"}
            Correlated or coarse correlated equilibrium.

        Returns
        -------
        float
            The gap, in payoff units per round.

        Examples
        --------
        >>> simulation = Simulation("shapley", "hedge", perturb=0.2)
        >>> record = simulation.run(500)
        >>> simulation.gap("ce") == record.gap("ce"), simulation.gap("cce") == record.gap("cce")
        (True, True)
        """
        return float(self.measure(gap_name(kind)))

    @property
    def seconds(self) -> float:
        """Return the processor time of the rounds so far, in seconds per replica.

        It excludes compilation, measures and the time of other processes.

        Examples
        --------
        >>> simulation = Simulation("chicken", "hedge")
        >>> before = simulation.seconds
        >>> _ = simulation.run(1000)
        >>> before, simulation.seconds > 0
        (0.0, True)
        """
        return sum(self._spent) / self.replicas

    @classmethod
    def resume(
        cls,
        record: Record[Number],
        *,
        learners: Mapping[str, Factory] | None = None,
        observers: Sequence[Observer | str] | None = None,
    ) -> Simulation[Number]:
        """Return a simulation that continues a record, bit for bit.

        Parameters
        ----------
        record : Record
            The record of the rounds so far.
        learners : mapping of str to type, optional
            The user-defined classes of a record that was loaded, by name: a record holds only their names, settings and
            the hashes of their files. Classes in files that were allowed with ``--allow-local-code`` are found.
        observers : sequence of Observer or str, optional
            The observers of the run, if it has others than the built-in ones: a record holds only their totals.

        Returns
        -------
        Simulation
            The simulation after these rounds.

        Raises
        ------
        InputError
            If a learner is written in Python without ``state()`` and ``restore(state)``, a class or an observer is
            missing, or the file of a class has changed.

        Examples
        --------
        >>> import gamesim
        >>> first = gamesim.simulate("shapley", "regret-matching", rounds=60, perturb=0.2)
        >>> whole = gamesim.simulate("shapley", "regret-matching", rounds=100, perturb=0.2)
        >>> bool((Simulation.resume(first).run(40).joint == whole.joint).all())
        True
        """
        if record.feedback == "observed":
            raise InputError("observed play cannot be resumed; add the new plays to the file, and measure it again")
        for player in record.players_without_state:
            raise InputError(
                f"cannot resume a run with {name_of(record.learners[player])}, a learner written in Python whose state "
                f"is not in the record; its class can define state() and restore(state)"
            )
        replicas: Any = None if record.single else record.replicas
        options: Any = {"feedback": record.feedback} | record.settings.get("protocol", {})
        known = restored(record.learners, learners or {})
        try:
            simulation: Simulation[Number] = cls(
                record.game,
                known,
                seed=record.seed,
                replicas=replicas,
                checkpoints=record.settings["checkpoints"],
                trajectory=record.settings.get("trajectory", "thinned"),
                observers=record.observers if observers is None else observers,
                **options,
            )
        except TypeError as error:  # the protocol in a file may be anything
            raise InputError(f"the protocol in this record is invalid ({error})") from None
        simulation._take_over(record)
        return simulation

    # Internals.

    def _started(self) -> tuple[bool, ...]:
        """Return for each player whether its first strategy was given or perturbed."""
        firsts = np.cumsum([0, *self.game.sizes[:-1]])
        return tuple(bool(given) for given in ~np.isnan(self._tracks[0].starts[firsts]))

    def _place(self, track: loop.Track, in_python: PythonPhases, placed: Sequence[Vector | None]) -> None:
        """Let the learners of one replica start at given strategies."""
        plan = self._setup.plan
        for player, strategy in enumerate(placed):
            if strategy is None or strategy.size == 1:
                continue
            if player in in_python:
                in_python.start_at(player, strategy)
            else:
                state = track.state[plan[player, loop.STATE] : plan[player, loop.STATE_END]]
                self.learners[player].start_at(state, strategy)

    def _take_over(self, record: Record[Number]) -> None:
        """Restore the state from a record of the same simulation."""
        arrays = record.arrays
        self._refuse_misfits(record)
        self.rounds = record.rounds
        for replica, track in enumerate(self._tracks):
            for part in CONTINUED:
                getattr(track, part)[...] = arrays[f"continue_{part}"][replica]
            for name in self._lengths():
                getattr(track.sums, name)[...] = arrays[f"continue_{name}"][replica]
            track.kept.numbers[:] = arrays["continue_kept"][replica]
            restore_generator(self._random[replica], record.settings["random"][replica])
            if self.protocol.noise:
                restore_generator(self._noise[replica], record.settings["noise"][replica])
        self._trajectories.take_over(arrays, self._tracks)
        self._placed = record.settings.get("placed", self._placed)
        states = {i: arrays[python_state(i)] for i in self._python[0].players if python_state(i) in arrays}
        for replica, in_python in enumerate(self._python):
            if states:
                of_replica = {player: stored[replica] for player, stored in states.items()}
                in_python.restore(of_replica, record.settings["python_random"][replica])
        checkpoints = arrays["checkpoints"].tolist()
        kept = [track.sums.rows(len(checkpoints)) for track in self._tracks]
        for name in self._lengths():
            for replica, sums in enumerate(kept):
                getattr(sums, name)[...] = arrays[f"checkpoint_{name}"][replica]
        self._kept = [(checkpoints, kept)]

    def _refuse_misfits(self, record: Record[Number]) -> None:
        """Raise an InputError unless the state in a record is one of this simulation: compiled code relies on it."""
        track = self._tracks[0]
        shapes = {f"continue_{part}": (self.replicas, *getattr(track, part).shape) for part in CONTINUED}
        for name, width in self._lengths().items():
            shapes[f"continue_{name}"] = (self.replicas, width)
        shapes["continue_kept"] = self.replicas, len(track.kept.numbers)
        if record.arrays.get("continue_strategies", np.zeros(0)).shape[1:2] == (OLD_BLOCK,):
            raise InputError(
                "a run that an earlier version of gamesim began cannot be continued, because rounds were added up "
                "differently; run it from the start"
            )
        check_shapes(record.arrays, shapes)
        kept = len(record.arrays["trajectory_rounds"])
        for replica in range(self.replicas):
            if not self._trajectories.fits(record.arrays["continue_kept"][replica], track, kept):
                raise InputError("the trajectory in this record is not one of a run with these settings")

    def _allocate(self, first_state: Vector, scratch: int, totals: Sequence[Vector]) -> loop.Track:
        """Return the arrays of a replica."""
        track = tracks.allocate(
            self.game.sizes,
            first_state,
            scratch,
            self._drawn,
            isinstance(self.game, Table),
            self._trajectories.every,
            sum(map(len, totals)),
            self.protocol.delay,
        )
        track.sums.observed[:] = np.concatenate([np.zeros(0), *totals])
        return track

    def _allocate_all(
        self, first_state: Vector, scratch: int, totals: Sequence[Vector]
    ) -> tuple[list[together.Group], list[loop.Track]]:
        """Return the arrays of all replicas, and the groups of replicas that advance together, possibly none."""
        size = 1
        if isinstance(self.game, Table) and together.fits(self._setup):
            size = together.group_size(self.replicas, _processors(), self.game.sizes, first_state.size)
        if size == 1:
            return [], [self._allocate(first_state, scratch, totals) for _ in range(self.replicas)]
        groups, game = [], cast(Table, self.game)
        panels = together.in_panels(game.own_last(), game.opposite)
        for first in range(0, self.replicas, size):
            count = min(size, self.replicas - first)
            repeated = tracks.repeated(self._allocate(first_state, scratch, totals), count)
            groups.append(together.Group.of(first, repeated, panels, game.opposite, game.sizes))
        return groups, [tracks.of_replica(one.tracks, k) for one in groups for k in range(len(one.tracks.state))]

    def _python_states(self) -> dict[str, NDArray[np.float64]]:
        """Return the states of the learners in Python that have one, one row per replica."""
        states = [in_python.states() for in_python in self._python]
        for player in states[0]:
            shapes = {one[player].shape for one in states}
            if len(shapes) > 1:
                raise InputError(
                    f"the state of {name_of(self.learners[player])} must have the same shape in all replicas, "
                    f"got {' and '.join(map(str, sorted(shapes)))}"
                )
        return {python_state(player): np.stack([one[player] for one in states]) for player in states[0]}

    def _lengths(self) -> dict[str, int]:
        return lengths(self.game.sizes, self._drawn, isinstance(self.game, Table), len(self._tracks[0].sums.observed))

    def _most_rounds(self) -> int:
        """Return the largest number of rounds between two calls of the loop: random numbers and rows must fit."""
        per_round = len(self.learners) if self._drawn else 1
        per_round += sum(self.game.sizes) if self.protocol.noise else 0
        most = 2**20 // per_round + 1
        return min(most, self._trajectories.most_rounds(self.game.sizes) or most)

    def _refuse_beyond_memory(self, observed: int, state: int) -> None:
        """Raise an InputError if the arrays, with observers' totals and learners' states, exceed the memory limit."""
        held = tracks.bytes_needed(self.game.sizes, self._per_decade, self._drawn, isinstance(self.game, Table))
        needed = self.replicas * (held + 8 * state + 8 * observed * (2 + grid.DECADES * self._per_decade))
        if needed > SIMULATION_BYTES:
            raise InputError(
                f"this simulation would need {memory(needed)} for {amount(self.replicas)} replicas of "
                f"{self.game.name}, but the limit is {memory(SIMULATION_BYTES)}; use fewer replicas or actions"
            )

    @property
    def _shares(self) -> int:
        """The number of threads that can be used: one per replica, or for one replica, one per share of its players."""
        return self.replicas if self.replicas > 1 else shared_players.most_threads(self._setup)

    def _piece(self, end: int, most: int) -> int:
        """Return how many rounds to play next, at most `most`; only the compiled loop can play beyond a checkpoint."""
        if not self._passes_checkpoints:
            end = min(end, grid.next_checkpoint(self.rounds, self._per_decade))
        return min(end - self.rounds, most)

    @property
    def _passes_checkpoints(self) -> bool:
        others = self._groups or self._python[0] or self._setup.stages.size
        return not others and self._trajectories.keep != "windows"

    def _advance_all(self, pool: ThreadPoolExecutor | None, rounds: int, threads: int = 0) -> None:
        end = self.rounds + rounds
        passed = grid.between(self.rounds, end, self._per_decade)
        ends = np.array(passed if end in passed else [*passed, end])
        copies = [track.sums.rows(len(passed)) for track in self._tracks]
        tasks = [partial(self._advance_together, one, rounds) for one in self._groups]
        tasks = tasks or [partial(self._advance, replica, ends, copies[replica]) for replica in range(self.replicas)]
        pieces = []
        if pool is None:
            for task in tasks:
                task()
        elif self.replicas == 1 and self._setup.stages.size:
            pieces = self._advance_shared(pool, rounds, threads)
        else:
            pieces = [pool.submit(_run_each, tasks[first::threads]) for first in range(min(threads, len(tasks)))]
        try:
            if pieces:
                wait(pieces)
        finally:
            if pieces:
                wait(pieces)  # even if interrupted, so that all replicas stop at the same round
            self.rounds += rounds
            self._trajectories.flush(self._tracks)
            if passed:
                self._keep(passed, copies)
        for piece in pieces:
            piece.result()

    def _keep(self, passed: list[int], copies: list[Sums]) -> None:
        """Keep copies of the sums at the checkpoints that have just been passed."""
        if not self._passes_checkpoints:  # it is the last round played
            self._trajectories.at_checkpoint(self.rounds, self._tracks)
            for track, copy in zip(self._tracks, copies, strict=True):
                self._copy_sums(track, copy)
        self._kept.append((passed, copies))

    def _uniforms(self, replica: int, rounds: int) -> NDArray[np.float64]:
        if not self._drawn:
            return NO_UNIFORMS
        return self._random[replica].random((rounds, len(self.learners)))

    def _noises(self, replica: int, rounds: int) -> NDArray[np.float64]:
        if not self.protocol.noise:
            return NO_NOISE
        return self.protocol.noise * self._noise[replica].standard_normal((rounds, sum(self.game.sizes)))

    def _advance(self, replica: int, ends: Integers, copies: Sums) -> None:
        rounds = int(ends[-1]) - self.rounds
        uniforms, noise = self._uniforms(replica, rounds), self._noises(replica, rounds)
        track = self._tracks[replica]
        began = thread_time()
        if self._python[replica]:
            self._python[replica].advance(track, self.rounds, rounds, uniforms, noise)
        else:
            loop.advance(self._setup, track, self.rounds, ends, uniforms, noise, copies)
        self._spent[replica] += thread_time() - began

    def _advance_together(self, group: together.Group, rounds: int) -> None:
        began = thread_time()
        arrays: tuple[Any, ...] = group[2:]
        together.advance(self._setup, group.tracks, self.rounds, rounds, *arrays)
        replicas = range(group.first, group.first + len(group.tracks.state))
        for replica in replicas:
            self._spent[replica] += (thread_time() - began) / len(replicas)

    def _advance_shared(self, pool: ThreadPoolExecutor, rounds: int, threads: int) -> list[Future[None]]:
        """Let threads share the players of the only replica."""
        track, first = self._tracks[0], self.rounds
        arrivals = np.zeros(1, dtype=np.int64)

        def advance(thread: int) -> None:
            began, scratch = thread_time(), np.zeros_like(track.scratch)
            own = track._replace(work=track.work.copy())
            shared_players.advance_players(self._setup, own, first, rounds, thread, threads, scratch, arrivals)
            self._spent[thread] += thread_time() - began

        try:
            return [pool.submit(advance, thread) for thread in range(threads)]
        except BaseException:
            arrivals[0] = 2**62  # threads that have started must not wait for one that could not
            raise

    def _copy_sums(self, track: loop.Track, copy: Sums) -> None:
        """Write the sums so far, including the incomplete block; no round is played."""
        loop.advance(self._setup, track, self.rounds, np.array([self.rounds]), NO_UNIFORMS, NO_NOISE, copy)

    def _sums(self, track: loop.Track) -> Sums:
        """Return the sums so far."""
        copy = track.sums.rows(1)
        self._copy_sums(track, copy)
        return copy.row(0)

    def _summed_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return every sum now, at the checkpoints, and as the tracks hold it, one row per replica."""
        now = [self._sums(track) for track in self._tracks]
        arrays = {}
        for name, width in self._lengths().items():
            kept = [[getattr(sums[replica], name) for _, sums in self._kept] for replica in range(self.replicas)]
            arrays[name] = np.stack([getattr(sums, name) for sums in now])
            whole = np.empty((self.replicas, sum(map(len, kept[0])), width))
            for one, rows in zip(kept, whole, strict=True):
                np.concatenate([np.zeros((0, width)), *one], out=rows)
            arrays[f"checkpoint_{name}"] = whole
            arrays[f"continue_{name}"] = np.stack([getattr(track.sums, name) for track in self._tracks])
        return arrays


def _chosen_learners(game: Game, learners: Learners, protocol: Protocol, horizon: int | None) -> list[Any]:
    """Return one learner per player, tuned to the horizon; refuse those that do not fit the feedback or each other."""
    count = len(game.players)
    one_for_all = isinstance(learners, str | Learner) or callable(learners)
    chosen: list[Any] = [learners] * count if one_for_all else list(cast(Sequence[Any], learners))
    if len(chosen) != count:
        raise InputError(
            f"learners must have one entry for each of the {count} players of {game.name}, got {len(chosen)}"
        )
    found = [_as_learner(learners)] * count if one_for_all else [_as_learner(learner) for learner in chosen]
    if horizon is not None:
        found = [one.with_horizon(horizon) if isinstance(one, Learner) else one for one in found]
    scales = zip(found, game.scale, strict=True)
    found = [one.with_payoff_scale(float(scale)) if isinstance(one, Learner) else one for one, scale in scales]
    found = [with_order(one, game, player) for player, one in enumerate(found)]
    protocol.refuse_misfits(game, found)
    if (clash := several_informed(found, game.players)) is not None:
        raise InputError(clash)
    return found


def _run_each(tasks: Sequence[Callable[[], None]]) -> None:
    """Run all tasks, even if one fails, so that all replicas stop at the same round; then raise the first failure."""
    failures: list[Exception] = []
    for task in tasks:
        try:
            task()
        except Exception as error:
            failures.append(error)
    if failures:
        raise failures[0]


@cache
def _processors() -> int:
    """Return the number of processors; asking the system takes longer than building parts of a simulation."""
    return cpu_count() or 1


def _as_learner(learner: Any) -> Any:
    """Turn a name or a class of compiled learners into a Learner; return other learners and factories unchanged."""
    if isinstance(learner, str):
        return players.from_text(learner)
    if isinstance(learner, type) and issubclass(learner, Learner):
        learner = learner()
    if isinstance(learner, Learner):
        learner.check_class()
        return learner
    if callable(learner):
        user_files.reference_of(learner)  # notes the hash of its file before it runs
        return learner
    raise InputError(
        f"a learner must be a name, a Learner, or a class with methods play() and observe(loss), got {learner!r}"
    )
