"""Learning without a game: a learner against a sequence of losses, or against an adversary."""

from __future__ import annotations  # so that `help` shows the names of types

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import players, validation
from gamesim.errors import InputError
from gamesim.games.varying import Varying
from gamesim.learner import Learner
from gamesim.record import Record
from gamesim.simulation.simulation import simulate

LossAdversary: TypeAlias = Callable[[int, NDArray[np.float64]], ArrayLike]
MOST_NUMBERS = 2**27  # losses of all rounds


def face(
    learner: Any,
    losses: ArrayLike | LossAdversary,
    rounds: int | None = None,
    *,
    actions: int | None = None,
    **options: Any,
) -> Record[Any]:
    """Let a learner face losses without a game, and return the record.

    Parameters
    ----------
    learner : str, Learner or type
        The learner, see `simulate`.
    losses : array_like of shape (rounds, actions) or callable
        The loss of each action in each round, in [-1, 1]. Or an adversary: a function ``adversary(round, strategy)``
        that returns the losses of a round, counted from 0, after it has seen the strategy of this round.
    rounds : int, optional
        The number of rounds. By default that of the sequence, which is repeated if it is shorter.
    actions : int, optional
        The number of actions, for an adversary.
    **options
        Further options of `simulate`, such as ``observers``.

    Returns
    -------
    Record
        The record of a single player, with regrets in units of loss.

    Raises
    ------
    InputError
        If an argument is invalid, or a loss lies outside [-1, 1].

    Examples
    --------
    >>> record = face("hedge", [[1.0, 0.0], [0.0, 1.0]], rounds=100)
    >>> record.regret("external").round(2).tolist(), round(record.bound(0, "external"), 1)
    ([2.63], 24.1)
    >>> record = face("hedge", lambda round, strategy: strategy.argmax() == range(3), rounds=1000, actions=3)
    >>> bool(record.regret("external")[0] <= record.bound(0, "external"))
    True
    """
    if callable(losses):
        if rounds is None or actions is None:
            raise InputError("an adversary needs rounds=... and actions=...")
        count = validation.whole_number("rounds", rounds, least=1)
        faced = _chosen_by(losses, learner, count, validation.whole_number("actions", actions, least=1), options)
    else:
        faced = _checked(losses)
        count = len(faced) if rounds is None else validation.whole_number("rounds", rounds, least=1)
    return simulate(_as_game(faced), [learner], count, **options)


def _as_game(losses: NDArray[np.float64]) -> Varying:
    """Return the game of one player whose payoffs are these losses, negated; 1 is the largest loss of any game."""
    labels = (tuple(str(i + 1) for i in range(losses.shape[1])),)
    game = Varying("losses", ("Learner",), labels, -losses[:, None])
    game.__dict__["range"] = (np.array([-1.0]), np.array([1.0]))  # losses are not rescaled
    return game


def _checked(losses: ArrayLike) -> NDArray[np.float64]:
    """Return a sequence of losses as a matrix, or raise an InputError."""
    try:
        matrix = np.array(losses, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("losses must be a matrix of numbers with one row per round") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"losses must be a matrix with one row per round, got an array of shape {matrix.shape}")
    if not (np.abs(matrix) <= 1).all():
        worst = matrix.flat[np.where(np.isnan(matrix), np.inf, np.abs(matrix)).argmax()]
        raise InputError(f"losses must lie in [-1, 1], got {worst}")
    return matrix


def _chosen_by(
    adversary: LossAdversary, learner: Any, rounds: int, actions: int, options: dict[str, Any]
) -> NDArray[np.float64]:
    """Play against an adversary and return the losses that it chose."""
    if rounds * actions > MOST_NUMBERS:
        raise InputError(f"rounds must be at most {MOST_NUMBERS // actions:,} with {actions} actions, got {rounds:,}")
    if unfit := sorted(set(options) - {"observers", "trajectory"}):
        raise InputError(f"an adversary chooses the losses of one run with expected feedback; remove {unfit[0]}=...")
    chosen = players.from_text(learner) if isinstance(learner, str) else learner
    running = chosen.with_horizon(rounds).start(actions) if isinstance(chosen, Learner) else chosen(actions=actions)
    faced = np.zeros((rounds, actions))
    for round in range(rounds):
        faced[round] = _checked(np.atleast_2d(adversary(round, np.asarray(running.play(), dtype=np.float64))))[0]
        running.observe(faced[round].copy())
    return faced
