"""Simulate learners that play a game against each other, round after round."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from os import cpu_count
from time import perf_counter, thread_time
from typing import Any, Generic, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from gamesim import games, players, validation
from gamesim.engine import checkpoints as grid
from gamesim.engine import loop, tracks
from gamesim.engine.sums import Sums, lengths
from gamesim.errors import InputError, unknown
from gamesim.game import Game
from gamesim.learner import Feedback, Learner
from gamesim.measure.builtin import gap_name
from gamesim.measure.incentives import EquilibriumKind
from gamesim.measure.moments import Moments
from gamesim.measure.registry import Value, find
from gamesim.record import Number, Record
from gamesim.simulation.first_round import FirstRound
from gamesim.simulation.kernel_plan import FEEDBACK, compiled
from gamesim.simulation.python_learners import PythonLearners

__all__ = ["Simulation", "simulate"]

SIMULATION_BYTES = 2**33  # the limit on the arrays of one simulation
PIECE = 0.05  # target time, in seconds, between two calls of `progress`

# Besides its sums, the parts of a track needed to resume; the rest is scratch, or already in the record.
CONTINUED = ("state", "starts", "strategies", "losses", "stride")


@overload
def simulate(
    game: Game | str,
    learners: Sequence[Any] | str | Learner | type,
    rounds: int,
    *,
    seed: int = 0,
    feedback: Feedback = "expected",
    replicas: None = None,
    start: Sequence[ArrayLike | None] | None = None,
    perturb: Sequence[float] | float = 0.0,
) -> Record[float]: ...


@overload
def simulate(
    game: Game | str,
    learners: Sequence[Any] | str | Learner | type,
    rounds: int,
    *,
    seed: int = 0,
    feedback: Feedback = "expected",
    replicas: int,
    start: Sequence[ArrayLike | None] | None = None,
    perturb: Sequence[float] | float = 0.0,
) -> Record[NDArray[np.float64]]: ...


def simulate(
    game: Game | str,
    learners: Sequence[Any] | str | Learner | type,
    rounds: int,
    *,
    seed: int = 0,
    feedback: Feedback = "expected",
    replicas: int | None = None,
    start: Sequence[ArrayLike | None] | None = None,
    perturb: Sequence[float] | float = 0.0,
) -> Record[Any]:
    """Simulate learners playing a game and return the record.

    Parameters
    ----------
    game : Game or str
        The game, or the name of a built-in one.
    learners : sequence, str, Learner or type
        One learner per player, or one for all players: a name, a `Learner`, or a class with ``play()`` and
        ``observe(loss)`` (see `RunningLearner`). `gamesim.players.make` makes a learner with settings. Learners that
        need a horizon are tuned to `rounds`.
    rounds : int
        The number of rounds, at least 1.
    seed : int, default 0
        Seed of the random number generator.
    feedback : {"expected", "sampled", "bandit"}, default "expected"
        What each learner observes after a round: the expected loss of every action against the other players'
        strategies ("expected", full information), the loss of every action against their drawn actions ("sampled"), or
        only the loss of its drawn action ("bandit"). Losses are negated payoffs, rescaled for each player to
        [-1, 1]; measures are in payoff units.
    replicas : int, optional
        The number of independent runs; run r has seed ``seed + r``. If given, measures have the replicas along their
        first axis; if None, there is a single run.
    start : sequence of array_like or None, optional
        The first strategy of each player; None uses the learner's default.
    perturb : float or sequence of float, default 0.0
        Weight in [0, 1] of a strategy drawn uniformly from the simplex, mixed into each player's first strategy; a
        scalar applies to all players.

    Returns
    -------
    Record
        The statistics of play, from which regrets, gaps and distances are computed.

    Raises
    ------
    InputError
        If an argument is invalid, a name is unknown, or a learner does not support the feedback.

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
    simulation: Simulation[Any] = Simulation(
        game,
        learners,
        seed=seed,
        feedback=feedback,
        replicas=replicas,
        start=start,
        perturb=perturb,
        horizon=validation.whole_number("rounds", rounds, least=1),
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
    learners : sequence, str, Learner or type
        One learner per player, or one for all players, see `simulate`.
    seed : int, default 0
        Seed of the random number generator.
    feedback : {"expected", "sampled", "bandit"}, default "expected"
        What each learner observes after a round, see `simulate`.
    replicas : int, optional
        The number of independent runs, see `simulate`.
    start : sequence of array_like or None, optional
        The first strategy of each player, None for the learner's own.
    perturb : float or sequence of float, default 0.0
        The share of the first strategy that is drawn at random, from 0 to 1, for all players or for each.
    horizon : int, optional
        The number of rounds to which learners with an unset horizon are tuned.
    checkpoints : int, default 10
        The number of checkpoints per power of ten of the rounds.

    Raises
    ------
    InputError
        If an argument is invalid, a name is unknown, or a learner does not support the feedback.

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
        self: "Simulation[float]",
        game: Game | str,
        learners: Sequence[Any] | str | Learner | type,
        *,
        seed: int = 0,
        feedback: Feedback = "expected",
        replicas: None = None,
        start: Sequence[ArrayLike | None] | None = None,
        perturb: Sequence[float] | float = 0.0,
        horizon: int | None = None,
        checkpoints: int = 10,
    ) -> None: ...

    @overload
    def __init__(
        self: "Simulation[NDArray[np.float64]]",
        game: Game | str,
        learners: Sequence[Any] | str | Learner | type,
        *,
        seed: int = 0,
        feedback: Feedback = "expected",
        replicas: int,
        start: Sequence[ArrayLike | None] | None = None,
        perturb: Sequence[float] | float = 0.0,
        horizon: int | None = None,
        checkpoints: int = 10,
    ) -> None: ...

    def __init__(
        self,
        game: Game | str,
        learners: Sequence[Any] | str | Learner | type,
        *,
        seed: int = 0,
        feedback: Feedback = "expected",
        replicas: int | None = None,
        start: Sequence[ArrayLike | None] | None = None,
        perturb: Sequence[float] | float = 0.0,
        horizon: int | None = None,
        checkpoints: int = 10,
    ) -> None:
        self.game = games.make(game) if isinstance(game, str) else game
        self.seed = validation.whole_number("seed", seed, least=0)
        if feedback not in FEEDBACK:
            raise unknown("feedback", feedback, FEEDBACK)
        self.feedback = feedback
        self.single = replicas is None
        self.replicas = 1 if replicas is None else validation.whole_number("replicas", replicas, least=1)
        self.learners = _chosen_learners(self.game, learners, feedback, horizon)
        self.rounds = 0
        self._spent = [0.0] * self.replicas
        wanted = validation.whole_number("checkpoints", checkpoints, least=1)
        self._per_decade = grid.per_decade(self.game.sizes, wanted)
        self._refuse_beyond_memory()
        self._setup, first_state, scratch = compiled(self.game, self.learners, feedback)
        self._tracks = [tracks.allocate(self.game.sizes, first_state, scratch) for _ in range(self.replicas)]
        self._python = [PythonLearners(self.game, self.learners) for _ in self._tracks]
        first_round = FirstRound(self.game, start, perturb)
        self._random: list[np.random.Generator] = []
        for replica, (track, in_python) in enumerate(zip(self._tracks, self._python, strict=True)):
            of_first_round, of_draws = map(np.random.PCG64, np.random.SeedSequence(self.seed + replica).spawn(2))
            random = np.random.Generator(of_first_round)
            track.starts[:] = first_round.strategies(self.learners, in_python, random)
            self._random.append(np.random.Generator(of_draws))
        self._kept: list[tuple[int, list[Sums]]] = []  # the sums of all replicas at each checkpoint

    def run(
        self,
        rounds: int,
        progress: Callable[["Simulation[Number]"], object] | None = None,
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
            The number of threads that the replicas share. By default one per processor. 0 runs in the calling thread,
            which is fastest for short runs, but leaves replicas at different rounds if Ctrl-C interrupts it.

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
        >>> seen = []
        >>> simulation = Simulation("chicken", "hedge")
        >>> record = simulation.run(1000, progress=lambda now: seen.append(now.rounds) or now.rounds >= 3)
        >>> seen, record.rounds  # stopped after three rounds
        ([1, 2, 3], 3)
        """
        end = self.rounds + validation.whole_number("rounds", rounds, least=1)
        pace, most = 1, 2**20 // (1 if self.feedback == "expected" else len(self.learners)) + 1
        most_threads = 1 if any(self._python) else min(self.replicas, cpu_count() or 1)
        if threads is None:
            threads = most_threads
        threads = min(validation.whole_number("threads", threads, least=0), most_threads)
        with ThreadPoolExecutor(max(threads, 1)) as workers, _blas().limit(limits=1):
            pool = workers if threads else None
            while self.rounds < end:
                step = min(end, self.rounds + pace, grid.next_checkpoint(self.rounds, self._per_decade)) - self.rounds
                began = perf_counter()
                self._advance_all(pool, step)
                pace = max(1, min(most, pace * 2 if perf_counter() - began < PIECE else pace // 2))
                if progress is not None and progress(self):
                    break
        return self.record()

    def record(self) -> Record[Number]:
        """Return the record of all rounds so far.

        The simulation can be resumed from it, also after saving and loading, see `resume`.

        Returns
        -------
        Record
            The record.

        Examples
        --------
        >>> simulation = Simulation("matching-pennies", ["hedge", "fixed"], start=[[0.9, 0.1], None])
        >>> _ = simulation.run(1)
        >>> simulation.record().joint.tolist()
        [[0.45, 0.45], [0.05, 0.05]]
        """
        arrays: dict[str, NDArray[Any]] = {
            "checkpoints": np.array([rounds for rounds, _ in self._kept], dtype=np.int64),
            **self._summed_arrays(),
        }
        for part in CONTINUED:
            arrays[f"continue_{part}"] = np.stack([getattr(track, part) for track in self._tracks])
        stride = self._tracks[0].stride[0]
        arrays["trajectory"] = np.stack([track.trajectory[: -(-self.rounds // stride)] for track in self._tracks])
        arrays["trajectory_rounds"] = 1 + stride * np.arange(arrays["trajectory"].shape[1])
        return Record(
            game=self.game,
            learners=tuple(self.learners),
            rounds=self.rounds,
            seed=self.seed,
            feedback=self.feedback,
            started=self._started(),
            single=self.single,
            arrays=arrays,
            settings={"checkpoints": self._per_decade, "random": [r.bit_generator.state for r in self._random]},
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
        earlier = [(rounds, sums[replica]) for rounds, sums in self._kept if rounds < self.rounds]
        rounds = np.array([*(rounds for rounds, _ in earlier), self.rounds], dtype=np.int64)
        return Moments(self.game, rounds, lambda k: earlier[k][1] if k < len(earlier) else now)

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
    def resume(cls, record: Record[Number]) -> "Simulation[Number]":
        """Return a simulation that continues a record, bit for bit.

        Parameters
        ----------
        record : Record
            The record of the rounds so far.

        Returns
        -------
        Simulation
            The simulation after these rounds.

        Raises
        ------
        InputError
            If a learner is written in Python: its state is not in the record.

        Examples
        --------
        >>> import gamesim
        >>> first = gamesim.simulate("shapley", "regret-matching", rounds=60, perturb=0.2)
        >>> whole = gamesim.simulate("shapley", "regret-matching", rounds=100, perturb=0.2)
        >>> bool((Simulation.resume(first).run(40).joint == whole.joint).all())
        True
        """
        for player in record.learners:
            if not isinstance(player, Learner):
                raise InputError(
                    f"cannot resume a run with a learner written in Python ({player}), "
                    f"because its state is not in the record"
                )
        replicas: Any = None if record.single else record.replicas
        simulation: Simulation[Number] = cls(
            record.game,
            record.learners,
            seed=record.seed,
            feedback=record.feedback,
            replicas=replicas,
            checkpoints=record.settings["checkpoints"],
        )
        simulation._take_over(record)
        return simulation

    # Internals.

    def _started(self) -> tuple[bool, ...]:
        """Return for each player whether its first strategy was given or perturbed."""
        firsts = np.cumsum([0, *self.game.sizes[:-1]])
        return tuple(bool(given) for given in ~np.isnan(self._tracks[0].starts[firsts]))

    def _take_over(self, record: Record[Number]) -> None:
        """Restore the state from a record of the same simulation."""
        arrays = record.arrays
        states = arrays["continue_state"].shape[-1]
        if states != self._tracks[0].state.size:
            raise InputError(
                f"the learners of this record have a state of {self._tracks[0].state.size} numbers, got {states}"
            )
        self.rounds = record.rounds
        for replica, track in enumerate(self._tracks):
            for part in CONTINUED:
                getattr(track, part)[...] = arrays[f"continue_{part}"][replica]
            for name, total in track.sums._asdict().items():
                total[...] = arrays[f"continue_{name}"][replica]
            track.trajectory[: arrays["trajectory"].shape[1]] = arrays["trajectory"][replica]
            _restore(self._random[replica], record.settings["random"][replica])
        moments = [record.moments(replica) for replica in range(self.replicas)]
        for k, rounds in enumerate(arrays["checkpoints"]):
            self._kept.append((int(rounds), [of_replica[k].sums for of_replica in moments]))

    def _refuse_beyond_memory(self) -> None:
        """Raise an InputError if the arrays would exceed the memory limit."""
        needed = self.replicas * tracks.bytes_needed(self.game.sizes, self._per_decade)
        if needed > SIMULATION_BYTES:
            raise InputError(
                f"this simulation would need {needed / 2**30:.1f} GiB for {self.replicas} replicas of "
                f"{self.game.name}, but the limit is {SIMULATION_BYTES / 2**30:.0f} GiB; use fewer replicas or actions"
            )

    def _advance_all(self, pool: ThreadPoolExecutor | None, rounds: int) -> None:
        at_checkpoint = self.rounds + rounds == grid.next_checkpoint(self.rounds, self._per_decade)
        if pool is None:
            pieces = []
            for replica in range(self.replicas):
                self._advance(replica, rounds)
        else:
            pieces = [pool.submit(self._advance, replica, rounds) for replica in range(self.replicas)]
        try:
            wait(pieces)
        finally:
            wait(pieces)  # even if interrupted, so that all replicas stop at the same round
            self.rounds += rounds
            if at_checkpoint:
                self._kept.append((self.rounds, [self._sums(track) for track in self._tracks]))
        for piece in pieces:
            piece.result()

    def _uniforms(self, replica: int, rounds: int) -> NDArray[np.float64]:
        if self.feedback == "expected":
            return np.zeros((1, 1))
        return self._random[replica].random((rounds, len(self.learners)))

    def _advance(self, replica: int, rounds: int) -> None:
        uniforms = self._uniforms(replica, rounds)
        track = self._tracks[replica]
        began = thread_time()
        if self._python[replica]:
            self._python[replica].advance(self._setup, track, self.rounds, rounds, uniforms)
        else:
            loop.advance(self._setup, track, self.rounds, rounds, uniforms)
        track.sums.last[:] = track.strategies[(self.rounds + rounds - 1) % loop.BLOCK]
        self._spent[replica] += thread_time() - began

    def _sums(self, track: loop.Track) -> Sums:
        """Return the sums so far including the incomplete block, without changing the track."""
        sums = track.sums.copy()
        loop.add_block(self._setup, track, self.rounds % loop.BLOCK, sums)
        return sums

    def _summed_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return every sum now, at the checkpoints, and as the tracks hold it, one row per replica."""
        now = [self._sums(track) for track in self._tracks]
        arrays = {}
        for name, width in lengths(self.game.sizes).items():
            kept = [[getattr(sums[replica], name) for _, sums in self._kept] for replica in range(self.replicas)]
            arrays[name] = np.stack([getattr(sums, name) for sums in now])
            shape = self.replicas, len(self._kept), width
            arrays[f"checkpoint_{name}"] = np.array(kept, dtype=np.float64).reshape(shape)
            arrays[f"continue_{name}"] = np.stack([getattr(track.sums, name) for track in self._tracks])
        return arrays


def _chosen_learners(
    game: Game, learners: Sequence[Any] | str | Learner | type, feedback: Feedback, horizon: int | None
) -> list[Any]:
    """Return one learner per player, tuned to the horizon; refuse those that do not support the feedback."""
    count = len(game.players)
    chosen = [learners] * count if isinstance(learners, str | Learner | type) else list(learners)
    if len(chosen) != count:
        raise InputError(
            f"learners must have one entry for each of the {count} players of {game.name}, got {len(chosen)}"
        )
    found = [_as_learner(learner) for learner in chosen]
    if horizon is not None:
        found = [one.with_horizon(horizon) if isinstance(one, Learner) else one for one in found]
    for one in found:
        if isinstance(one, Learner) and feedback not in one.feedback:
            raise InputError(
                f"{one.name} requires {' or '.join(one.feedback)} feedback, got {feedback}; "
                f"choose another learner or feedback"
            )
    return found


def _restore(random: np.random.Generator, state: Any) -> None:
    """Set the state of a random number generator to that in a record."""
    try:
        random.bit_generator.state = state
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the random state in this record is invalid ({type(error).__name__}: {error})") from None


@cache
def _blas() -> ThreadpoolController:
    """Return the limiter of BLAS threads; searching for the libraries takes longer than a short run."""
    import scipy.linalg.cython_blas  # noqa: F401  # compiled kernels call it; it can be found only once loaded

    return ThreadpoolController()


def _as_learner(learner: Any) -> Any:
    """Turn a name into a Learner; return a Learner or a user-defined class unchanged."""
    if isinstance(learner, str):
        return players.make(learner)
    if isinstance(learner, Learner) or callable(learner):
        return learner
    raise InputError(
        f"a learner must be a name, a Learner, or a class with methods play() and observe(loss), got {learner!r}"
    )
