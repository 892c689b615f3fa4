"""Dynamics in continuous time: the replicator equation and the flows of regularised leaders, by an adaptive solver."""

from __future__ import annotations  # so that `help` shows the names of types

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import games, validation
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError, unknown
from gamesim.game import Game
from gamesim.learner import Regulariser
from gamesim.players._kernels.simplex import inverse_power, project, softmin

__all__ = ["Flow", "flow", "velocity"]

REGULARISERS: tuple[Regulariser, ...] = get_args(Regulariser)
MOST_NUMBERS = 2**27  # strategies that a flow may store


@dataclass(frozen=True, eq=False)
class Flow:
    """Hold a solution in continuous time.

    Parameters
    ----------
    game : Game
        The game.
    times : ndarray of shape (points,)
        The times, in units of 1 / payoff.
    strategies : list of ndarray of shape (points, actions)
        Each player's strategy at these times.
    averages : list of ndarray of shape (points, actions)
        Each player's strategy averaged over time, from 0 up to each of the times.

    Examples
    --------
    >>> path = flow("matching-pennies", 10.0, start=[[0.8, 0.2], [0.5, 0.5]], points=5)
    >>> path.times.tolist(), path.strategies[0][:, 0].round(3).tolist()
    ([0.0, 2.5, 5.0, 7.5, 10.0], [0.8, 0.301, 0.425, 0.776, 0.225])
    """

    game: Game
    times: NDArray[np.float64]
    strategies: list[NDArray[np.float64]]
    averages: list[NDArray[np.float64]]

    def divergence(self, profile: Sequence[ArrayLike]) -> NDArray[np.float64]:
        """Return the divergence of a profile from the strategies, Σ KL(profile, strategies).

        In zero-sum games with an interior equilibrium, it is constant along the replicator equation for this profile.

        Parameters
        ----------
        profile : sequence of array_like
            A mixed strategy for each player.

        Returns
        -------
        ndarray of shape (points,)
            The sum of the players' Kullback-Leibler divergences at each time, in nats.

        Examples
        --------
        >>> path = flow("matching-pennies", 50.0, start=[[0.8, 0.2], [0.5, 0.5]])
        >>> energy = path.divergence([[0.5, 0.5], [0.5, 0.5]])
        >>> round(float(energy[0]), 4), bool(np.ptp(energy) < 1e-8)
        (0.2231, True)
        """
        given = [
            validation.strategy(one, size, name)
            for one, size, name in zip(profile, self.game.sizes, self.game.players, strict=True)
        ]
        total = np.zeros(len(self.times))
        with np.errstate(divide="ignore"):
            for target, path in zip(given, self.strategies, strict=True):
                support = target > 0
                total += (target[support] * (np.log(target[support]) - np.log(path[:, support]))).sum(axis=1)
        return total


def flow(
    game: Game | str,
    time: float,
    *,
    start: Sequence[ArrayLike] | None = None,
    regulariser: Regulariser = "entropic",
    points: int = 1001,
    tolerance: float = 1e-10,
) -> Flow:
    """Follow all players' regularised leaders in continuous time.

    Parameters
    ----------
    game : Game or str
        The game, or the name of a built-in one.
    time : float
        The length of time, in units of 1 / payoff.
    start : sequence of array_like, optional
        A mixed strategy for each player without zeros. By default all strategies are uniform.
    regulariser : {"entropic", "euclidean", "log-barrier"}, default "entropic"
        The regulariser ψ. With "entropic", the flow is the replicator equation.
    points : int, default 1001
        The number of times at which the solution is stored, at equal distances from 0 to `time`.
    tolerance : float, default 1e-10
        The relative error that the solver tolerates in a step.

    Returns
    -------
    Flow
        The solution.

    Raises
    ------
    InputError
        If an argument is invalid, or the solver fails.

    Notes
    -----
    With u the expected payoffs of a player's actions against the others' strategies, the flow is::

        dy/dt = u,   p = argmax <y, p> - ψ(p)

    With the entropic regulariser, p ∝ exp(y), this is the replicator equation

        dp_i/dt = p_i (u_i - <p, u>)

    The solver is DOP853, an explicit Runge-Kutta method of order 8, on the scores y.

    References
    ----------
    Hofbauer (1996), "Evolutionary dynamics for bimatrix games: a Hamiltonian system?".

    Mertikopoulos, Papadimitriou and Piliouras (2018), "Cycles in adversarial regularized learning", section 3.

    Examples
    --------
    >>> path = flow("prisoners-dilemma", 5.0, points=3)
    >>> path.strategies[0].round(3).tolist()
    [[0.5, 0.5], [0.047, 0.953], [0.004, 0.996]]
    """
    from scipy.integrate import solve_ivp

    played = games.make(game) if isinstance(game, str) else game
    if not 0 < time < np.inf:
        raise InputError(f"time must be positive and finite, got {time}")
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie between 0 and 1, got {tolerance}")
    if regulariser not in REGULARISERS:
        raise unknown("regulariser", regulariser, REGULARISERS)
    count = validation.whole_number("points", points, least=2)
    width = sum(played.sizes)
    if count * width > MOST_NUMBERS:
        raise InputError(f"points must be at most {MOST_NUMBERS // width:,} in this game, got {count:,}")
    ends = np.cumsum(played.sizes)[:-1]
    scale, middle = np.repeat(played.scale, played.sizes), np.repeat(played.middle, played.sizes)

    def profile(scores: Vector) -> Vector:
        return np.concatenate([_leader(one, regulariser) for one in np.split(scores, ends)])

    def slope(_: float, both: Vector) -> Vector:  # of the scores, and of the strategies summed over time
        strategies = profile(both[:width])
        return np.concatenate([middle - scale * played.expected_losses(strategies), strategies])

    first = np.concatenate([_scores(one, regulariser) for one in _starts(played, start)])
    times = np.linspace(0.0, time, count)
    begin = np.concatenate([first, np.zeros(width)])
    solved = solve_ivp(slope, (0.0, time), begin, "DOP853", t_eval=times, rtol=tolerance, atol=tolerance)
    if not solved.success:
        raise InputError(f"the solver failed after time {solved.t[-1] if len(solved.t) else 0:.6g}: {solved.message}")
    path = np.array([profile(column) for column in solved.y[:width].T])
    sums = solved.y[width:].T
    average = np.vstack([path[:1], sums[1:] / times[1:, None]])
    return Flow(played, times, np.split(path, ends, axis=1), np.split(average, ends, axis=1))


def velocity(game: Game, profile: Vector, regulariser: Regulariser = "entropic") -> Vector:
    """Return the velocity of the flow at a profile.

    Parameters
    ----------
    game : Game
        The game.
    profile : ndarray of float
        The mixed strategies of all players, concatenated. Zeros are allowed.
    regulariser : {"entropic", "euclidean", "log-barrier"}, default "entropic"
        The regulariser of the flow, see `flow`.

    Returns
    -------
    ndarray of float
        The rate of change of each probability, per unit of time of 1 / payoff.

    Notes
    -----
    Where ψ is a sum over actions, with w_i = 1 / ψ''(p_i), the flow moves as::

        dp_i/dt = w_i (u_i - Σ_k w_k u_k / Σ_k w_k)

    where w_i is p_i for the entropic regulariser, p_i² for the log barrier, and 1 for the Euclidean one. The last is
    the projection dynamic: where p_i = 0, w_i is 1 only if the action gains probability.

    References
    ----------
    Mertikopoulos and Sandholm (2018), "Riemannian game dynamics", equation 1.

    Examples
    --------
    >>> game = games.make("commitment")
    >>> velocity(game, np.array([0.5, 0.5, 0.25, 0.75])).round(4).tolist()
    [0.25, -0.25, 0.0, 0.0]
    """
    payoffs = np.repeat(game.middle, game.sizes) - np.repeat(game.scale, game.sizes) * game.expected_losses(profile)
    parts = [slice(end - size, end) for size, end in zip(game.sizes, accumulate(game.sizes), strict=True)]
    return np.concatenate([_velocity(profile[part], payoffs[part], regulariser) for part in parts])


def _velocity(strategy: Vector, payoffs: Vector, regulariser: Regulariser) -> Vector:
    if regulariser == "euclidean":
        weights = (strategy > 0).astype(float)
        for action in np.argsort(-payoffs, kind="stable"):  # the best unplayed actions enter first
            if weights[action] == 0 and payoffs[action] > weights @ payoffs / weights.sum():
                weights[action] = 1.0
    else:
        weights = strategy if regulariser == "entropic" else strategy**2
    moved: Vector = weights * (payoffs - weights @ payoffs / weights.sum())
    return moved


def _leader(scores: Vector, regulariser: Regulariser) -> Vector:
    """Return the strategy with the largest score minus regulariser."""
    strategy: Vector = np.zeros(scores.size)
    leaders: dict[Regulariser, Callable[[], None]] = {
        "entropic": lambda: softmin(1.0, -scores, strategy),
        "euclidean": lambda: project(np.ascontiguousarray(scores), strategy),
        "log-barrier": lambda: inverse_power(1.0, -scores, 1, strategy),
    }
    leaders[regulariser]()
    return strategy


def _scores(strategy: Vector, regulariser: Regulariser) -> Vector:
    """Return scores whose leader is the strategy."""
    return {"entropic": np.log(strategy), "euclidean": strategy, "log-barrier": -1 / strategy}[regulariser]


def _starts(game: Game, start: Sequence[ArrayLike] | None) -> list[Vector]:
    """Return the strategy of each player at time 0."""
    if start is None:
        return [np.full(size, 1 / size) for size in game.sizes]
    if len(start) != len(game.players):
        raise InputError(f"start must have one entry for each of the {len(game.players)} players, got {len(start)}")
    given = [
        validation.strategy(one, size, name) for one, size, name in zip(start, game.sizes, game.players, strict=True)
    ]
    for one, name in zip(given, game.players, strict=True):
        if one.min() <= 0:
            raise InputError(f"{name}'s start must give every action a positive probability, got {one.tolist()}")
    return given
