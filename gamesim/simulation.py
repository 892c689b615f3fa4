"""The simulation: players of a game, learning against each other, round after round."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import accumulate
from math import prod
from os import cpu_count
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from gamesim import players, user_learners, validation
from gamesim.engine import loop
from gamesim.engine.compiled import GAME_KERNEL, LEARNER_KERNEL, Vector, address
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game
from gamesim.learner import Learner
from gamesim.record import Moment, Record

__all__ = ["Simulation", "simulate"]

FEEDBACK = {"expected": loop.EXPECTED, "sampled": loop.SAMPLED, "bandit": loop.BANDIT}
LARGEST_JOINT = 2**22  # cells; beyond it the joint is not built
MEMORY = 2**33  # bytes that the arrays of one simulation may take
CHECKPOINT_BYTES = 2**28  # that a run's checkpoints may take; where each is large, there are fewer
PIECE = 0.05  # seconds that rounds are run in one piece, between two calls of `progress`

# What a track needs to go on; the rest is scratch, or in the record already.
CONTINUED = ("state", "starts", "strategies", "losses", "average", "counterfactuals", "joint", "stride")


def simulate(
    game: Game | str,
    learners: Sequence[Any] | str,
    rounds: int,
    *,
    seed: int = 0,
    feedback: str = "expected",
    replicas: int | None = None,
    start: Sequence[ArrayLike | None] | None = None,
    perturb: Sequence[float] | float = 0.0,
) -> Record:
    """Let these players play a game for this many rounds and return the record.

    `game` is a Game or the name of one. `learners` has a learner for each player (a name, a Learner, or a class of
    your own with `play()` and `observe(loss)`), or is one for all; learners that are tuned to a number of rounds are
    tuned to `rounds`. With `replicas`, that many copies run, copy r with `seed` + r. By `feedback` learners are told,
    of each action, the loss "expected" against the others' strategies, the loss against their drawn actions
    ("sampled"), or only the own drawn action's ("bandit"). `start` gives first strategies, None where the learner's own
    is kept; `perturb`, from 0 to 1, is the share of a first strategy that is drawn at random, for each player or for
    all.

    >>> import gamesim
    >>> record = gamesim.simulate("matching-pennies", ["hedge", "hedge"], rounds=1000, perturb=0.5, seed=1)
    >>> record.gap("ce") < 0.2
    True
    """
    simulation = Simulation(
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


class Simulation:
    """Players at work. `run(rounds)` goes on from where it is; `record()` tells what has happened so far.

    What it is made with is as in `simulate`; learners that are tuned to a number of rounds are tuned to `horizon`, and
    the record has so many `checkpoints` for each power of ten of the rounds. Nothing depends on how the rounds are cut
    into calls, on the number of threads, or on the other replicas.

    >>> simulation = Simulation("prisoners-dilemma", ["hedge", "uniform"], horizon=200)
    >>> simulation.run(50).rounds, simulation.run(150).rounds
    (50, 200)
    >>> simulation.record().payoffs.round(2).tolist()
    [2.97, 0.57]
    """

    def __init__(
        self,
        game: Game | str,
        learners: Sequence[Any] | str,
        *,
        seed: int = 0,
        feedback: str = "expected",
        replicas: int | None = None,
        start: Sequence[ArrayLike | None] | None = None,
        perturb: Sequence[float] | float = 0.0,
        horizon: int | None = None,
        checkpoints: int = 10,
    ) -> None:
        from gamesim import games

        self.game = games.make(game) if isinstance(game, str) else game
        self.seed = validation.whole_number("seed", seed, least=0)
        if feedback not in FEEDBACK:
            raise InputError(f"there is no feedback called {feedback!r}: {did_you_mean(feedback, FEEDBACK)}")
        self.feedback = feedback
        self.single = replicas is None
        self.replicas = 1 if replicas is None else validation.whole_number("replicas", replicas, least=1)
        count = len(self.game.players)
        chosen = [learners] * count if isinstance(learners, str | Learner | type) else list(learners)
        if len(chosen) != count:
            raise InputError(f"{self.game.name} has {count} players, and learners came for {len(chosen)}")
        self.learners = [_as_learner(learner) for learner in chosen]
        if horizon is not None:
            self.learners = [p.with_horizon(horizon) if isinstance(p, Learner) else p for p in self.learners]
        for player in self.learners:
            if isinstance(player, Learner) and feedback not in player.feedback:
                raise InputError(
                    f"{player.name} does not work with {feedback} feedback, "
                    f"only with {' or '.join(player.feedback)}: choose another learner or feedback"
                )
        self.rounds = 0
        self._spent = [0.0] * self.replicas
        self._offsets = [0, *accumulate(self.game.sizes)]
        self._per_decade = self._plan_checkpoints(validation.whole_number("checkpoints", checkpoints, least=1))
        self._setup = self._compile()
        self._tracks = self._allocate()
        self._begin(start, perturb)
        self._kept: list[tuple[int, list[tuple[Vector, Vector, Vector]]]] = []  # the sums at each checkpoint

    def run(
        self, rounds: int, progress: Callable[["Simulation"], object] | None = None, *, threads: int | None = None
    ) -> Record:
        """Play this many more rounds and return the record.

        `progress` is called with this simulation several times a second; the run ends early when it returns True.
        The replicas share this many `threads`, by default one for each processor; 0 plays in the calling thread, which
        is fastest for short runs, and right only where no Ctrl-C can come.

        >>> seen = []
        >>> simulation = Simulation("chicken", "hedge")
        >>> record = simulation.run(1000, progress=lambda now: seen.append(now.rounds) or now.rounds >= 3)
        >>> seen, record.rounds  # three rounds were enough
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
                step = min(end, self.rounds + pace, self._next_checkpoint()) - self.rounds
                began = perf_counter()
                self._advance_all(pool, step)
                pace = max(1, min(most, pace * 2 if perf_counter() - began < PIECE else pace // 2))
                if progress is not None and progress(self):
                    break
        return self.record()

    def record(self) -> Record:
        """Return what has happened so far; the simulation can go on from it, also after saving and loading.

        >>> simulation = Simulation("matching-pennies", ["hedge", "fixed"], start=[[0.9, 0.1], None])
        >>> _ = simulation.run(1)
        >>> simulation.record().joint.tolist()
        [[0.45, 0.45], [0.05, 0.05]]
        """
        sums = [self._sums(track) for track in self._tracks]
        kept = [[moment[replica] for _, moment in self._kept] for replica in range(self.replicas)]
        played = [track.trajectory[: -(-self.rounds // track.stride[0])] for track in self._tracks]
        arrays = {
            "average": np.stack([average for average, _, _ in sums]),
            "counterfactuals": np.stack([matrix for _, matrix, _ in sums]),
            "joint": np.stack([joint for _, _, joint in sums]),
            "checkpoints": np.array([rounds for rounds, _ in self._kept], dtype=np.int64),
            "checkpoint_average": _stack([[average for average, _, _ in row] for row in kept], sums[0][0].size),
            "checkpoint_counterfactuals": _stack([[matrix for _, matrix, _ in row] for row in kept], sums[0][1].size),
            "checkpoint_joint": _stack([[joint for _, _, joint in row] for row in kept], sums[0][2].size),
            "trajectory": np.stack(played),
            "trajectory_rounds": 1 + self._tracks[0].stride[0] * np.arange(played[0].shape[0]),
        }
        for part in CONTINUED:
            arrays[f"continue_{part}"] = np.stack([getattr(track, part) for track in self._tracks])
        return Record(
            game=self.game,
            learners=tuple(self.learners),
            rounds=self.rounds,
            seed=self.seed,
            feedback=self.feedback,
            started=tuple(bool(given) for given in self._started()),
            single=self.single,
            arrays=arrays,
            settings={"checkpoints": self._per_decade, "random": [r.bit_generator.state for r in self._random]},
        )

    def gap(self, kind: str) -> float:
        """The CE or CCE gap so far, in payoff units a round, the mean over replicas.

        `kind` is "ce" or "cce". It is cheap enough to watch while the rounds run.

        >>> simulation = Simulation("shapley", "hedge", perturb=0.2)
        >>> record = simulation.run(500)
        >>> simulation.gap("ce") == record.gap("ce"), simulation.gap("cce") == record.gap("cce")
        (True, True)
        """
        sums = [self._sums(track) for track in self._tracks]
        moments = [Moment(self.game, self.rounds, average, matrix, None) for average, matrix, _ in sums]
        return sum(moment.gap(kind) for moment in moments) / len(moments)

    @property
    def seconds(self) -> float:
        """The processor time, in seconds, that its rounds have taken so far, the mean over replicas.

        Compilation, what is measured and the time of other work on the machine are not in it.

        >>> simulation = Simulation("chicken", "hedge")
        >>> before = simulation.seconds
        >>> _ = simulation.run(1000)
        >>> before, simulation.seconds > 0
        (0.0, True)
        """
        return sum(self._spent) / self.replicas

    @classmethod
    def resume(cls, record: Record) -> "Simulation":
        """Return the simulation that a record was taken of, ready to go on, bit for bit.

        >>> import gamesim
        >>> first = gamesim.simulate("shapley", "regret-matching", rounds=60, perturb=0.2)
        >>> whole = gamesim.simulate("shapley", "regret-matching", rounds=100, perturb=0.2)
        >>> bool((Simulation.resume(first).run(40).joint == whole.joint).all())
        True
        """
        for player in record.learners:
            if not isinstance(player, Learner):
                raise InputError(
                    f"a run with a learner written in Python ({player}) cannot be continued: "
                    f"its state is not in the record"
                )
        simulation = cls(
            record.game,
            record.learners,
            seed=record.seed,
            feedback=record.feedback,
            replicas=None if record.single else record.replicas,
            checkpoints=record.settings["checkpoints"],
        )
        arrays = record.arrays
        simulation.rounds = record.rounds
        for replica, track in enumerate(simulation._tracks):
            for part in CONTINUED:
                getattr(track, part)[...] = arrays[f"continue_{part}"][replica]
            track.trajectory[: arrays["trajectory"].shape[1]] = arrays["trajectory"][replica]
            simulation._random[replica].bit_generator.state = record.settings["random"][replica]
        parts = [arrays[f"checkpoint_{part}"] for part in ("average", "counterfactuals", "joint")]
        for k, rounds in enumerate(arrays["checkpoints"]):
            moment = [(parts[0][r, k], parts[1][r, k], parts[2][r, k]) for r in range(simulation.replicas)]
            simulation._kept.append((int(rounds), moment))
        return simulation

    # How it is done.

    def _started(self) -> list[bool]:
        """Which players had their first strategy given or perturbed."""
        return [not np.isnan(self._tracks[0].starts[first]) for first in self._offsets[:-1]]

    def _numbers(self) -> dict[str, int]:
        """How many numbers one replica keeps, by what they are for."""
        sizes = self.game.sizes
        joint = prod(sizes) if prod(sizes) <= LARGEST_JOINT else 0
        half = len(sizes) // 2
        total = sum(sizes)
        capacity = min(max(2 ** ((2**20 // total).bit_length() - 1), 64), 1024)
        return {
            "joint": joint,
            "left": prod(sizes[:half]) if joint else 1,
            "right": prod(sizes[half:]) if joint else 1,
            "counterfactuals": sum(size * size for size in sizes),
            "trajectory": capacity * total,
        }

    def _plan_checkpoints(self, wanted: int) -> int:
        """Take fewer checkpoints a decade where each is large, and refuse what would not fit into memory."""
        numbers = self._numbers()
        moment = numbers["counterfactuals"] + numbers["joint"]
        per_decade = max(1, min(wanted, CHECKPOINT_BYTES // (8 * moment * 8)))
        needed = 8 * self.replicas * (sum(numbers.values()) + moment * (1 + 8 * per_decade))
        if needed > MEMORY:
            raise InputError(
                f"this simulation would need {needed / 2**30:.1f} GiB for {self.replicas} replicas of "
                f"{self.game.name}, and {MEMORY / 2**30:.0f} GiB is the limit: take fewer replicas or actions"
            )
        return int(per_decade)

    def _compile(self) -> loop.Setup:
        """Lay all players' settings and states side by side and look up the kernels' addresses."""
        plan = np.zeros((len(self.learners), 9), dtype=np.int64)
        settings: list[Vector] = []
        states: list[Vector] = []
        for row, player, actions, first in zip(plan, self.learners, self.game.sizes, self._offsets, strict=False):
            row[loop.ACTIONS : loop.ACTIONS_END + 1] = first, first + actions
            if isinstance(player, Learner):
                settings.append(player.kernel_settings(actions))
                states.append(player.first_state(actions))
                row[loop.PLAY] = address(player.kernels[0], LEARNER_KERNEL)
                row[loop.OBSERVE] = address(player.kernels[1], LEARNER_KERNEL)
                row[loop.INFORMED] = player.informed
            else:
                settings.append(np.zeros(0))
                states.append(np.zeros(0))
        for parts, at in ((settings, loop.SETTINGS), (states, loop.STATE)):
            ends = list(accumulate(map(len, parts)))
            plan[:, at], plan[:, at + 1] = [0, *ends[:-1]], ends
        self._first_state = np.concatenate(states)
        integers, data, self._scratch = self.game.kernel_arrays()
        game = address(type(self.game).kernel, GAME_KERNEL)
        return loop.Setup(plan, np.concatenate(settings), game, integers, data, FEEDBACK[self.feedback])

    def _allocate(self) -> list[loop.Track]:
        numbers, total = self._numbers(), sum(self.game.sizes)
        return [
            loop.Track(
                state=self._first_state.copy(),
                scratch=np.zeros(self._scratch),
                starts=np.full(total, np.nan),
                strategies=np.zeros((loop.BLOCK, total)),
                losses=np.zeros((loop.BLOCK, total)),
                drawn=np.zeros(len(self.learners), dtype=np.int64),
                profile=np.zeros(total),
                seen=np.zeros(total),
                average=np.zeros(total),
                counterfactuals=np.zeros(numbers["counterfactuals"]),
                joint=np.zeros(numbers["joint"]),
                left=np.zeros((loop.BLOCK, numbers["left"])),
                right=np.zeros((loop.BLOCK, numbers["right"])),
                trajectory=np.zeros((numbers["trajectory"] // total, total)),
                stride=np.ones(1, dtype=np.int64),
            )
            for _ in range(self.replicas)
        ]

    def _begin(self, start: Sequence[ArrayLike | None] | None, perturb: Sequence[float] | float) -> None:
        """Make the random streams of each replica, the Python learners, and the first round's given strategies."""
        count = len(self.learners)
        given = [None] * count if start is None else list(start)
        shares = [float(perturb)] * count if isinstance(perturb, int | float) else list(perturb)
        if len(given) != count or len(shares) != count:
            raise InputError(f"start and perturb need an entry for each of the {count} players")
        self._random = []
        self._python: list[dict[int, Any]] = []
        for replica, track in enumerate(self._tracks):
            first_round, draws = np.random.SeedSequence(self.seed + replica).spawn(2)
            self._random.append(np.random.Generator(np.random.PCG64(draws)))
            random = np.random.Generator(np.random.PCG64(first_round))
            in_python = {i: self._made(i) for i, p in enumerate(self.learners) if not isinstance(p, Learner)}
            self._python.append(in_python)
            for i, (strategy, share) in enumerate(zip(given, shares, strict=True)):
                noise = random.dirichlet(np.ones(self.game.sizes[i]))
                if not 0 <= share <= 1:
                    raise InputError(f"perturb is a share of the first strategy, within [0, 1], and {share} came")
                if strategy is None and share == 0:
                    continue
                if strategy is not None:
                    first = validation.strategy(strategy, self.game.sizes[i], self.game.players[i])
                elif i in in_python:
                    first = self._played(i, in_python[i], 0)
                else:
                    first = self.learners[i].start(self.game.sizes[i]).play()
                track.starts[self._offsets[i] : self._offsets[i + 1]] = (1 - share) * first + share * noise

    def _next_checkpoint(self) -> int:
        """Return the next round, after this one, of the logarithmic grid that every run shares."""
        k = int(self._per_decade * np.log10(self.rounds + 1))
        while round(10 ** (k / self._per_decade)) <= self.rounds:
            k += 1
        return round(10 ** (k / self._per_decade))

    def _advance_all(self, pool: ThreadPoolExecutor | None, rounds: int) -> None:
        at_checkpoint = self.rounds + rounds == self._next_checkpoint()
        if pool is None:
            pieces = []
            for replica in range(self.replicas):
                self._advance(replica, rounds)
        else:
            pieces = [pool.submit(self._advance, replica, rounds) for replica in range(self.replicas)]
        try:
            wait(pieces)
        finally:
            wait(pieces)  # also when interrupted: all replicas end at the same round
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
        began = thread_time()
        if self._python[replica]:
            self._advance_in_python(replica, rounds, uniforms)
        else:
            loop.advance(self._setup, self._tracks[replica], self.rounds, rounds, uniforms)
        self._spent[replica] += thread_time() - began

    def _advance_in_python(self, replica: int, rounds: int, uniforms: NDArray[np.float64]) -> None:
        """Run the phases of the compiled loop one by one, and the learners written in Python in between."""
        setup, track = self._setup, self._tracks[replica]
        for round in range(self.rounds, self.rounds + rounds):
            loop.play(setup, track, round)
            for i, learner in self._python[replica].items():
                mine = slice(self._offsets[i], self._offsets[i + 1])
                track.strategies[round % loop.BLOCK, mine] = self._played(i, learner, round)
            loop.answer(setup, track, round, uniforms[(round - self.rounds) % len(uniforms)])
            loop.observe(setup, track, round)
            for i, learner in self._python[replica].items():
                loss = track.seen[self._offsets[i] : self._offsets[i + 1]].copy()
                try:
                    learner.observe(loss)
                except Exception as error:
                    raise self._failure(i, f"in round {round + 1:,}", error) from error
            loop.tally(setup, track, round)

    def _made(self, i: int) -> Any:
        """Make a player's learner that is written in Python."""
        try:
            return self.learners[i](actions=self.game.sizes[i])
        except Exception as error:
            raise self._failure(i, "when it was made", error) from error

    def _played(self, i: int, learner: Any, round: int) -> Vector:
        """Return the strategy of a learner that is written in Python."""
        try:
            strategy = learner.play()
        except Exception as error:
            raise self._failure(i, f"in round {round + 1:,}", error) from error
        return validation.strategy(strategy, self.game.sizes[i], self.game.players[i])

    def _failure(self, i: int, when: str, error: Exception) -> InputError:
        return user_learners.as_input_error(self.game.players[i], self.learners[i], when, error)

    def _sums(self, track: loop.Track) -> tuple[Vector, Vector, Vector]:
        """Return the sums up to now, with the block that is not full yet; the track's own stay as they are."""
        sums = track.average.copy(), track.counterfactuals.copy(), track.joint.copy()
        loop.add_block(self._setup, track, self.rounds % loop.BLOCK, *sums)
        return sums


@cache
def _blas() -> ThreadpoolController:
    """Return what limits the threads of BLAS; looking for the libraries takes longer than many a run."""
    import scipy.linalg.cython_blas  # noqa: F401  # what compiled kernels call: found only once it is loaded

    return ThreadpoolController()


def _stack(rows: list[list[Vector]], width: int) -> NDArray[np.float64]:
    """Stack replicas × checkpoints × numbers, also where there are no checkpoints yet."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]), width)


def _as_learner(learner: Any) -> Any:
    """Turn a learner's name into a Learner; let a Learner, or a user's own class, through."""
    if isinstance(learner, str):
        return players.make(learner)
    if isinstance(learner, Learner) or callable(learner):
        return learner
    raise InputError(f"a learner is a name, a Learner, or a class with play() and observe(loss), and {learner!r} came")
