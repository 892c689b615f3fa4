"""Phase portraits of small games: where learners go from each strategy, where they rest, and where they end.

The phase space is the unit square of a 2×2 game, the cube of a 2×2×2 game, or the triangle of a symmetric game with
three actions, in which both players always play the same strategy.
"""

from __future__ import annotations  # so that `help` shows the names of types

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import validation
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.flows import velocity
from gamesim.game import Game, Table
from gamesim.games.nash import nash_equilibria
from gamesim.learner import Learner, Regulariser
from gamesim.players import FTRL
from gamesim.simulation import Simulation
from gamesim.simulation.simulation import Learners
from gamesim.simulation.starts import grid
from gamesim.user_learners import name_of

__all__ = ["Dynamics", "Portrait", "RestPoint", "portrait"]

Shape: TypeAlias = Literal["square", "triangle", "cube"]
Kind: TypeAlias = Literal["step", "limit", "first step"]
Points: TypeAlias = NDArray[np.float64]

SHAPES: dict[Shape, tuple[int, ...]] = {"square": (2, 2), "triangle": (3,), "cube": (2, 2, 2)}  # simplices of a state
ARROWS: dict[Shape, int] = {"square": 15, "triangle": 16, "cube": 5}  # per side
STARTS: dict[Shape, int] = {"square": 21, "triangle": 24, "cube": 6}  # per side
SAME = 1e-12  # two strategies that differ by less are the same step of a learner
WIDTH = 1e-3  # of the stencil for derivatives
STILL = 1e-10  # velocity at a rest point, relative to the largest
APART = 1e-5  # two rest points that are closer are one
NEUTRAL = 1e-6  # growth rates that are smaller, relative to the largest eigenvalue, count as 0
NEAR = 0.02  # distance up to which a run counts as having ended at a rest point
SEEDS = 3  # per side of a face, for Newton's method
NEWTON_STEPS = 30
MOST_REST_POINTS = 40  # more are a continuum
INSIDE = 1e-9  # share of the uniform strategy where a learner cannot start on the boundary
MOST_ROUNDS = 2_000_000  # of all runs and players together, if the number is not given
DRAWN = 5.0  # rounds of a run whose states are recorded, as the distance that the fastest play covers
LIMIT_RATE = 0.05  # learning rate, per loss, of the runs that follow a continuous-time limit
LIMITS: dict[Regulariser, str] = {
    "entropic": "the replicator equation",
    "euclidean": "the projection dynamic",
    "log-barrier": "the flow of the log barrier",
}


class Dynamics:
    """Move all players of a small game from any strategies to the next ones.

    Parameters
    ----------
    game : Game or str
        The game, or the name of a built-in one: 2×2, 2×2×2, or symmetric with three actions.
    learners : sequence, str or Learner
        One learner per player, or one for all players, see `simulate`. Each must be able to start at a given strategy.
    horizon : int, optional
        The number of rounds to which learners that need a horizon are tuned.

    Attributes
    ----------
    game : Table
        The game.
    learners : list of Learner
        The learners.
    shape : {"square", "triangle", "cube"}
        The phase space. A state holds the strategies of all players, or in the triangle the one that both play.
    kind : {"step", "limit", "first step"}
        What the velocity is: the change in one round if the next strategies depend on the current ones only; for
        learners with memory, the mean field of their continuous-time limit; or if no limit is known, the change in the
        first round after a start.

    Raises
    ------
    InputError
        If the game has no such phase space, or a learner cannot start at a given strategy.

    Examples
    --------
    >>> from gamesim import players
    >>> hedge = Dynamics("commitment", players.make("hedge", rate=0.5))
    >>> hedge.kind, hedge.velocity(np.array([0.5, 0.5, 0.25, 0.75])).round(3)[:2].tolist()
    ('step', [0.083, -0.083])
    >>> Dynamics("commitment", "hedge").description
    'mean field of the continuous-time limit of hedge: the replicator equation'
    """

    def __init__(self, game: Game | str, learners: Learners, *, horizon: int | None = None) -> None:
        simulation: Simulation[float] = Simulation(game, learners, horizon=horizon, trajectory="none")
        self.game, self.learners = simulation.game, simulation.learners
        self.shape = _shape(self.game, self.learners)
        for player, learner in zip(self.game.players, self.learners, strict=True):
            if not isinstance(learner, Learner):
                raise InputError(f"{player}'s learner {name_of(learner)} is written in Python; compile it, see Learner")
        self._parts = np.cumsum(self.game.sizes)[:-1]
        self._running = [
            (learner, learner.first_state(size), *learner.kernels, learner.kernel_settings(size))
            for learner, size in zip(self.learners, self.game.sizes, strict=True)
        ]
        limits = {one.limit() for one in self.learners}
        self._limit = limits.pop() if len(limits) == 1 else None
        self.kind: Kind = "step" if self._is_memoryless() else "limit" if self._limit else "first step"

    @cached_property
    def description(self) -> str:
        """Return what the velocity is, in words."""
        names = " and ".join(dict.fromkeys(name_of(one) for one in self.learners))
        if self.kind == "step":
            return f"one round of {names}"
        if self._limit is not None:
            return f"mean field of the continuous-time limit of {names}: {LIMITS[self._limit]}"
        return f"first round of {names}, started at each point (it has memory, so that later rounds differ)"

    def next_state(self, state: Vector) -> Vector:
        """Return the state after one round: start each learner there, let it observe its losses, and play.

        Parameters
        ----------
        state : ndarray of float
            The strategies of all players, or in the triangle the one that both play.

        Returns
        -------
        ndarray of float
            The strategies of the next round.

        Examples
        --------
        >>> from gamesim import players
        >>> Dynamics("zeeman", players.make("replicator", step=0.25)).next_state(np.array([0.5, 0.25, 0.25])).round(4)
        array([0.5062, 0.2438, 0.25  ])
        """
        return self._next(self._profile(state))[0][: state.size]

    def velocity(self, state: Vector) -> Vector:
        """Return the velocity at a state, see `kind`.

        Parameters
        ----------
        state : ndarray of float
            The strategies of all players, or in the triangle the one that both play.

        Returns
        -------
        ndarray of float
            The change of each probability: per round, or in a continuous-time limit per time of 1 / payoff.

        Examples
        --------
        >>> Dynamics("matching-pennies", "hedge").velocity(np.array([0.5, 0.5, 0.75, 0.25])).tolist()
        [0.25, -0.25, 0.0, 0.0]
        """
        if self.kind == "limit":
            assert self._limit is not None
            return velocity(self.game, self._profile(state), self._limit)[: state.size]
        return self.next_state(state) - state

    @property
    def _time_step(self) -> float:
        """Return the time that one round of `_followers` takes, in the units of the velocity."""
        return LIMIT_RATE / float(self.game.scale.max()) if self.kind == "limit" else 1.0

    @cached_property
    def _followers(self) -> list[Learner]:
        """Return learners whose runs follow the velocity: these, or in a limit regularised leaders with small rates."""
        if self.kind != "limit":
            return self.learners
        assert self._limit is not None
        scales = LIMIT_RATE * self.game.scale / self.game.scale.max()  # so that time is the same for all players
        return [FTRL(self._limit, rate=float(rate)) for rate in scales]

    def _inside(self, state: Vector) -> Vector:
        """Return the velocity at a state, or if a learner cannot start there, next to it in the interior."""
        try:
            return self.velocity(state)
        except InputError:
            middle = np.concatenate([np.full(size, 1 / size) for size in SHAPES[self.shape]])
            return self.velocity((1 - INSIDE) * state + INSIDE * middle)

    def _replicator(self, state: Vector) -> Vector:
        """Return the velocity of the replicator equation, whose rest points include all Nash equilibria."""
        return velocity(self.game, self._profile(state))[: state.size]

    def strategies(self, state: Vector) -> list[Vector]:
        """Return the strategy of each player in a state.

        Parameters
        ----------
        state : ndarray of float
            A state.

        Returns
        -------
        list of ndarray of float
            The strategy of each player.

        Examples
        --------
        >>> [one.tolist() for one in Dynamics("zeeman", "replicator").strategies(np.array([0.5, 0.25, 0.25]))]
        [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]
        """
        return np.split(self._profile(state), self._parts)

    def _profile(self, state: Vector) -> Vector:
        return np.concatenate([state, state]) if self.shape == "triangle" else state

    def _next(self, *rounds: Vector) -> list[Vector]:
        """Return the profiles after the first round and after each further one, in which learners keep their state."""
        ends = self._parts
        states = [first.copy() for _, first, *_ in self._running]
        for (learner, *_), memory, strategy in zip(self._running, states, np.split(rounds[0], ends), strict=True):
            learner.start_at(memory, np.ascontiguousarray(strategy))
        found = []
        for profile in rounds:
            losses = np.split(self.game.expected_losses(profile), ends)
            after = []
            for (_, _, play, observe, settings), memory, loss in zip(self._running, states, losses, strict=True):
                strategy = np.zeros(loss.size)
                play(settings, memory, strategy)
                observe(settings, memory, np.ascontiguousarray(loss))
                play(settings, memory, strategy)
                after.append(strategy)
            found.append(np.concatenate(after))
        return found

    def _is_memoryless(self) -> bool:
        """Whether a learner that starts at the second strategy of a run continues like that run, wherever it starts."""
        random = np.random.default_rng(0)
        for _ in range(3):
            first = np.concatenate([random.dirichlet(np.ones(size)) for size in self.game.sizes])
            (second,) = self._next(first)
            third = self._next(first, second)[1]
            try:
                if np.abs(self._next(second)[0] - third).max() > SAME:
                    return False
            except InputError:  # the second strategy is one that the learner plays, but cannot start at
                return False
        return True


def _shape(game: Game, learners: Sequence[object]) -> Shape:
    """Return the phase space of a game and its learners."""
    if isinstance(game, Table):
        if game.sizes == (2, 2):
            return "square"
        if game.sizes == (2, 2, 2):
            return "cube"
        if game.sizes == (3, 3) and np.array_equal(game.payoffs[1], game.payoffs[0].T):
            if learners[0] != learners[1]:
                raise InputError("the triangle of a symmetric game needs the same learner for both players, got two")
            return "triangle"
    sizes = "×".join(map(str, game.sizes[:6]))
    raise InputError(
        f"a phase portrait needs a 2×2 game, a 2×2×2 game or a symmetric game with three actions, "
        f"got {game.name}, which is {sizes}{' and not symmetric' if game.sizes == (3, 3) else ''}"
    )


@dataclass(frozen=True, eq=False)
class RestPoint:
    """Describe strategies at which the dynamics rest.

    Parameters
    ----------
    state : ndarray of float
        The strategies, see `Dynamics`.
    eigenvalues : ndarray of complex
        The eigenvalues of the Jacobian of the velocity, within the phase space.
    stability : str
        Their classification: "sink", "spiral sink", "source", "spiral source", "saddle", "centre", or "degenerate" if
        the linearisation does not decide.
    is_nash : bool
        Whether it is a Nash equilibrium.

    Examples
    --------
    >>> rest = portrait("chicken", "replicator", lines=0).rest
    >>> [(point.state[[0, 2]].round(3).tolist(), point.stability, point.is_nash) for point in rest[:3]]
    [([0.0, 0.0], 'source', False), ([0.0, 1.0], 'sink', True), ([0.667, 0.667], 'saddle', True)]
    """

    state: Vector
    eigenvalues: NDArray[np.complex128]
    stability: str
    is_nash: bool


@dataclass(frozen=True, eq=False)
class Portrait:
    """Hold a phase portrait.

    Parameters
    ----------
    dynamics : Dynamics
        The game, its learners and their velocity.
    points : ndarray of shape (points, numbers of a state)
        The states of a regular grid.
    velocities : ndarray of the same shape
        The velocity at each point.
    rest : list of RestPoint
        The isolated rest points that were found, and some of each continuum.
    nash : ndarray of shape (equilibria, numbers of a state)
        The Nash equilibria that were found; in the triangle the symmetric ones.
    lines : ndarray of shape (runs, recorded rounds, numbers of a state)
        The runs from a grid of starting points: their first rounds, and last the strategies of the last round.
    rounds : int
        The number of rounds of each run.
    ends : ndarray of int, shape (runs,)
        For each run, the index in `rest` of the rest point at which it ended, or -1 if it ended elsewhere.

    Examples
    --------
    >>> found = portrait("battle-of-the-sexes", "replicator", rounds=3000)
    >>> for place, count in zip(*np.unique(found.ends, return_counts=True)):
    ...     print(count, "of", len(found.ends), "runs end at", found.rest[place].state[[0, 2]].round(3).tolist())
    210 of 441 runs end at [0.0, 0.0]
    21 of 441 runs end at [0.6, 0.4]
    210 of 441 runs end at [1.0, 1.0]
    """

    dynamics: Dynamics
    points: Points
    velocities: Points
    rest: list[RestPoint]
    nash: Points
    lines: Points
    rounds: int
    ends: NDArray[np.int64]

    @property
    def attractors(self) -> list[int]:
        """Return the indices in `rest` of the rest points at which runs ended, the most frequent first.

        Examples
        --------
        >>> portrait("prisoners-dilemma", "replicator", rounds=2000).attractors
        [0]
        """
        places, counts = np.unique(self.ends[self.ends >= 0], return_counts=True)
        return [int(place) for place in places[np.argsort(-counts, kind="stable")]]


def portrait(
    game: Game | str,
    learners: Learners = "replicator",
    *,
    rounds: int | None = None,
    arrows: int | None = None,
    lines: int | None = None,
    starts: ArrayLike | None = None,
) -> Portrait:
    """Compute the phase portrait of learners in a small game.

    Parameters
    ----------
    game : Game or str
        The game, or the name of a built-in one: 2×2, 2×2×2, or symmetric with three actions.
    learners : sequence, str or Learner, default "replicator"
        One learner per player, or one for all players, see `simulate`.
    rounds : int, optional
        The number of rounds of each run. By default runs continue until all have ended at rest points, up to a limit.
    arrows : int, optional
        The number of points per side of the grid of velocities. By default 15 for the square, 16 for the triangle
        and 5 for the cube.
    lines : int, optional
        The number of runs per side of the grid of starting points, or 0 for none. By default 21, 30 and 6.
    starts : array_like of shape (runs, numbers of a state), optional
        The starting points of the runs, instead of a grid.

    Returns
    -------
    Portrait
        Velocities, rest points with their stability, Nash equilibria, and runs with where they end.

    Raises
    ------
    InputError
        If the game has no such phase space, a learner cannot start at a given strategy, or an argument is invalid.

    Notes
    -----
    The velocity is that of the learners themselves: each starts at the point, observes its expected losses, and plays.
    Learners with memory are replaced by the mean field of their continuous-time limit, see `Dynamics`, in which all
    players learn at the same speed. Runs are replicas of one simulation, of the learners themselves or in a limit of
    regularised leaders with small constant rates. A run has ended if it is near a sink or a Nash equilibrium.

    Rest points are the zeros of the velocity that Newton's method finds on each face of the phase space. Their
    stability is that of the eigenvalues λ of the Jacobian, by finite differences of order 4: in one round, a
    perturbation grows by the factor 1 + λ; in continuous time, at the rate λ.

    References
    ----------
    Sandholm (2010), "Population Games and Evolutionary Dynamics".

    Examples
    --------
    >>> found = portrait("zeeman", "replicator", lines=0)
    >>> [(point.state.round(2).tolist(), point.stability) for point in found.rest if point.stability.endswith("sink")]
    [([0.33, 0.33, 0.33], 'spiral sink'), ([1.0, 0.0, 0.0], 'sink')]
    """
    if rounds is not None:
        rounds = validation.whole_number("rounds", rounds, least=1, most=10**6)
    dynamics = Dynamics(game, learners, horizon=rounds)
    per_side = validation.whole_number("arrows", ARROWS[dynamics.shape] if arrows is None else arrows, least=2, most=60)
    points = _lattice(dynamics.shape, per_side)
    velocities = np.array([dynamics.velocity(point) for point in points])
    rest = rest_points(dynamics, float(np.abs(velocities).max()))
    fastest = float(np.abs(velocities).max()) * dynamics._time_step
    played, paths, ends = _runs(dynamics, _starts(dynamics, lines, starts), rest, rounds, fastest)
    return Portrait(dynamics, points, velocities, rest, _nash(dynamics), paths, played, ends)


def _starts(dynamics: Dynamics, lines: int | None, starts: ArrayLike | None) -> Points:
    """Return the starting points of the runs."""
    if starts is None:
        count = validation.whole_number("lines", STARTS[dynamics.shape] if lines is None else lines, least=0, most=60)
        return _lattice(dynamics.shape, count)
    given = np.array(starts, dtype=np.float64)
    sizes = SHAPES[dynamics.shape]
    if given.ndim != 2 or given.shape[1] != sum(sizes):
        raise InputError(f"starts must have one row of {sum(sizes)} probabilities per run, got shape {given.shape}")
    for row in given:
        for part, size in zip(np.split(row, np.cumsum(sizes)[:-1]), sizes, strict=True):
            validation.strategy(part, size, "starts")
    return given


def _lattice(shape: Shape, per_side: int) -> Points:
    """Return states on a regular grid in the interior of the phase space."""
    sizes = SHAPES[shape]
    if per_side == 0:
        return np.zeros((0, sum(sizes)))
    count = per_side * (per_side + 1) // 2 if shape == "triangle" else per_side ** len(sizes)
    return np.array([np.concatenate(profile) for profile in grid(sizes, count)])


def _runs(
    dynamics: Dynamics, starts: Points, rest: Sequence[RestPoint], rounds: int | None, fastest: float
) -> tuple[int, Points, NDArray[np.int64]]:
    """Return the number of rounds of the runs, their recorded states, and the rest points at which they end."""
    if not len(starts):
        return 0, np.zeros((0, 1, starts.shape[1])), np.zeros(0, dtype=np.int64)
    width = starts.shape[1]
    whole = np.tile(starts, 2) if dynamics.shape == "triangle" else starts
    simulation = Simulation(
        dynamics.game,
        dynamics._followers,
        replicas=len(starts),
        start=list(np.split(whole, np.cumsum(dynamics.game.sizes)[:-1], axis=1)),
        checkpoints=1,
    )
    attracting = np.array(["sink" in point.stability or point.is_nash for point in rest], dtype=bool)
    places = np.array([point.state for point in rest]).reshape(-1, width)
    most = max(2, MOST_ROUNDS // (len(starts) * len(dynamics.game.players))) if rounds is None else rounds
    simulation.advance(int(np.clip(DRAWN / max(fastest, 1e-9), 1, min(most, 2**13))))
    beginnings = [simulation.trajectory(replica)[1][:, :width].copy() for replica in range(len(starts))]
    while True:
        now = np.array([simulation.strategies(replica)[:width] for replica in range(len(starts))])
        ends = _nearest(now, places, attracting)
        if simulation.rounds == most or (rounds is None and (ends >= 0).all()):
            break
        simulation.advance(
            min(most - simulation.rounds, simulation.rounds) if rounds is None else most - simulation.rounds
        )
    paths = [np.vstack([beginning, end]) for beginning, end in zip(beginnings, now, strict=True)]
    return simulation.rounds, np.stack(paths), ends


def _nearest(ends: Points, places: Points, attracting: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the index of the attracting place at which each run ended, or -1."""
    if not attracting.any():
        return np.full(len(ends), -1, dtype=np.int64)
    apart = np.abs(ends[:, None] - places[None]).max(axis=2)
    apart[:, ~attracting] = np.inf
    return np.where(apart.min(axis=1) <= NEAR, apart.argmin(axis=1), -1)


def rest_points(dynamics: Dynamics, scale: float) -> list[RestPoint]:
    """Return the rest points of the dynamics, in order of their coordinates; `scale` is the largest velocity."""
    found = _zeros(dynamics._inside, SHAPES[dynamics.shape], STILL * max(scale, 1e-12))
    described = []
    for state in found[:MOST_REST_POINTS]:
        jacobian = _jacobian(dynamics._inside, state, SHAPES[dynamics.shape])
        values = np.linalg.eigvals(jacobian).astype(np.complex128)
        gain = _gain(dynamics, state)
        kind = stability(np.where(np.abs(values) > NEUTRAL * scale, values, 0), dynamics.kind == "limit")
        described.append(RestPoint(state, values, kind, gain < 1e-6))
    return described


def stability(eigenvalues: NDArray[np.complex128], continuous: bool) -> str:
    """Classify a rest point by the eigenvalues of the Jacobian of its velocity.

    >>> stability(np.array([-1.0, 2.0]), continuous=True), stability(np.array([0.1j, -0.1j]), continuous=True)
    ('saddle', 'centre')
    >>> stability(np.array([0.1j, -0.1j]), continuous=False)  # the factor per round is 1 + λ, outside the unit circle
    'spiral source'
    """
    growth = eigenvalues.real if continuous else np.log(np.maximum(np.abs(1 + eigenvalues), 1e-300))
    largest = float(np.abs(eigenvalues).max())
    still = np.abs(growth) <= NEUTRAL * largest
    turning = np.abs(eigenvalues.imag) > NEUTRAL * largest
    if largest == 0 or (still.any() and not (still & turning).all()):
        mixed = largest > 0 and (growth[~still] > 0).any() and (growth[~still] < 0).any()
        return "saddle" if mixed else "degenerate"
    if still.all():
        return "centre"
    if (growth > 0).any() and (growth < 0).any():
        return "saddle"
    return ("spiral " if turning.any() else "") + ("sink" if growth[0] < 0 else "source")


def _gain(dynamics: Dynamics, state: Vector) -> float:
    """Return the largest gain from deviating, in units of a player's payoff range."""
    strategies = dynamics.strategies(state)
    losses = np.split(dynamics.game.expected_losses(np.concatenate(strategies)), np.cumsum(dynamics.game.sizes)[:-1])
    return max(float(strategy @ loss - loss.min()) for strategy, loss in zip(strategies, losses, strict=True))


def _nash(dynamics: Dynamics) -> Points:
    """Return the Nash equilibria as states."""
    game = dynamics.game
    width = sum(SHAPES[dynamics.shape])
    if dynamics.shape == "cube":  # rest points of the replicator equation from which nobody gains by deviating
        largest = float(np.max(game.range[1] - game.range[0])) or 1.0
        zeros = _zeros(dynamics._replicator, SHAPES["cube"], STILL * largest)
        return np.array([state for state in zeros if _gain(dynamics, state) < 1e-6]).reshape(-1, width)
    found = nash_equilibria(game).profiles
    if dynamics.shape == "triangle":
        return np.array([x for x, y in found if np.allclose(x, y, atol=1e-7)]).reshape(-1, width)
    return np.array([np.concatenate(profile) for profile in found]).reshape(-1, width)


# Zeros and derivatives of a velocity. A direction moves probability from a strategy's most likely action to another, so
# that forward differences never leave the phase space.


def _directions(state: Vector, sizes: Sequence[int], support: NDArray[np.bool_] | None = None) -> Points:
    """Return one direction per action except the most likely one of each simplex, within a face if given."""
    rows, start = [], 0
    for size in sizes:
        most = start + int(state[start : start + size].argmax())
        for action in range(start, start + size):
            if action != most and (support is None or support[action]):
                row = np.zeros(len(state))
                row[action], row[most] = 1.0, -1.0
                rows.append(row)
        start += size
    return np.array(rows).reshape(-1, len(state))


def _jacobian(
    move: Callable[[Vector], Vector], state: Vector, sizes: Sequence[int], support: NDArray[np.bool_] | None = None
) -> Points:
    """Return the Jacobian of a velocity in the basis of `_directions`, by forward differences of order 4."""
    directions = _directions(state, sizes, support)
    chosen = directions.argmax(axis=1)
    weights = np.array([-25, 48, -36, 16, -3]) / (12 * WIDTH)
    here = move(state)
    columns = [
        weights @ np.array([here, *(move(state + k * WIDTH * direction) for k in range(1, 5))])[:, chosen]
        for direction in directions
    ]
    return np.array(columns).T


def _zeros(move: Callable[[Vector], Vector], sizes: Sequence[int], still: float) -> list[Vector]:
    """Return the zeros of a velocity on all faces of a product of simplices, in order of their coordinates."""
    found: list[Vector] = []
    per_simplex = [
        [
            np.isin(np.arange(size), chosen)
            for count in range(1, size + 1)
            for chosen in combinations(range(size), count)
        ]
        for size in sizes
    ]
    for faces in product(*per_simplex):
        support = np.concatenate(faces)
        seeds = [grid([int(face.sum())], _count(int(face.sum()))) for face in faces]
        for seed in product(*seeds):
            state = np.zeros(len(support))
            state[support] = np.concatenate([part for (part,) in seed])
            zero = _newton(move, state, sizes, support, still)
            if zero is not None and not any(np.abs(zero - other).max() < APART for other in found):
                found.append(zero)
    return sorted(found, key=lambda state: tuple(state.round(6)))


def _count(actions: int) -> int:
    """Return the number of seeds on a simplex."""
    return {1: 1, 2: SEEDS, 3: SEEDS * (SEEDS + 1) // 2}[actions]


def _newton(
    move: Callable[[Vector], Vector], state: Vector, sizes: Sequence[int], support: NDArray[np.bool_], still: float
) -> Vector | None:
    """Return the zero in the interior of a face to which Newton's method converges, or None."""
    for _ in range(NEWTON_STEPS):
        moved = move(state)
        if np.abs(moved).max() <= still:
            return state
        directions = _directions(state, sizes, support)
        if not len(directions):
            return None
        chosen = directions.argmax(axis=1)
        tiny = WIDTH**2
        columns = [(move(state + tiny * direction) - moved)[chosen] / tiny for direction in directions]
        change = np.linalg.lstsq(np.array(columns).T, -moved[chosen], rcond=1e-10)[0] @ directions
        shrinking = change < 0
        change *= min(1.0, 0.9 * float(np.min(-state[shrinking] / change[shrinking], initial=np.inf)))
        state = state + change
        if state[support].min() < APART or np.abs(change).max() < 1e-15:
            return None
    return None
