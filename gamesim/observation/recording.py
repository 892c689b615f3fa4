"""The record of play that was observed, not simulated: people in a class or a laboratory, or a log."""

from __future__ import annotations  # so that `help` shows the names of types

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim import games
from gamesim.engine import checkpoints as grid
from gamesim.engine.sums import lengths
from gamesim.engine.trajectory import rows as rows_kept
from gamesim.errors import InputError
from gamesim.formatting import amount
from gamesim.game import Game, Table
from gamesim.observation.plays import Plays, read
from gamesim.record import Record
from gamesim.user_learners import StoredLearner

PER_DECADE = 10  # checkpoints, as in simulations
__all__ = ["observed"]

MOST_NUMBERS = 2**27  # in the sums of all groups


def observed(
    game: Game | str, plays: Any, *, pool: bool = False, drop_incomplete: bool = False, players: Sequence[str] = ()
) -> Record[Any]:
    """Return the record of observed play, with all measures.

    Parameters
    ----------
    game : Game or str
        The game that was played, or the name of a built-in one.
    plays : Plays, str, path-like, DataFrame, iterable of mappings, or array of int
        The plays, or what `gamesim.observation.read` accepts.
    pool : bool, default False
        Whether to measure all groups together, as one sequence: the first round of every group, then the second, and so
        on. By default each group is a replica of the
        record, with its own regrets and gaps; groups must then have equally many rounds.
    drop_incomplete : bool, default False
        Whether to leave out rounds in which a move is missing.
    players : sequence of str, optional
        What to call the learner of each player. By default "observed".

    Returns
    -------
    Record
        The record, with feedback "observed". Strategies are the actions played. It cannot be resumed.

    Raises
    ------
    InputError
        If plays are invalid, or groups have different numbers of rounds and are not pooled.

    See Also
    --------
    gamesim.observation.intervals : Bootstrap intervals of its measures.

    Examples
    --------
    Row would have gained by conditioning on its own action: whenever it dared, chickening out paid more.

    >>> import gamesim
    >>> record = gamesim.observed("chicken", [[0, 1], [1, 1], [1, 0], [1, 1]])
    >>> record.joint.tolist()
    [[0.0, 0.25], [0.25, 0.5]]
    >>> record.regret("swap").tolist()
    [3.0, 3.0]
    """
    played = games.make(game) if isinstance(game, str) else game
    if played.timed:
        raise InputError(f"{played.name} varies over the rounds; observed play needs a game that does not")
    found = plays if isinstance(plays, Plays) else read(plays, played, drop_incomplete=drop_incomplete)
    rounds = [len(one) for one in found.actions]
    if pool:
        order = pooled_order(rounds)
        sequences = np.concatenate(found.actions)[order][None]
    elif len(set(rounds)) > 1:
        raise InputError(
            f"groups have {min(rounds)} to {max(rounds)} rounds; measure them together with pool=True (--pool), or "
            "one by one"
        )
    else:
        sequences = np.stack(found.actions)
    names = list(players) or ["observed"] * len(played.players)
    if len(names) != len(played.players):
        raise InputError(f"players must have {len(played.players)} entries, got {len(names)}")
    return Record(
        game=played,
        learners=tuple(StoredLearner(name, {}, in_python=True) for name in names),
        rounds=sequences.shape[1],
        seed=0,
        feedback="observed",
        started=(False,) * len(played.players),
        single=len(sequences) == 1,
        arrays=_arrays(played, sequences, found, pool),
        settings={
            "checkpoints": _per_decade(played),
            "random": [{}] * len(sequences),
            "groups": list(found.groups),
            "group_rounds": rounds,
            "left_out": found.left_out,
        },
    )


def pooled_order(rounds: Sequence[int]) -> NDArray[np.int64]:
    """Return the order of pooled rounds, as indices into the rounds of group after group.

    >>> pooled_order([2, 3]).tolist()
    [0, 2, 1, 3, 4]
    """
    return np.argsort(np.concatenate([np.arange(count) for count in rounds]), kind="stable")


def _per_decade(game: Game) -> int:
    return grid.per_decade(game.sizes, PER_DECADE, drawn=False, tabled=isinstance(game, Table))


def _arrays(game: Game, sequences: NDArray[np.int64], plays: Plays, pool: bool) -> dict[str, NDArray[Any]]:
    """Return the arrays of the record: the sums at the checkpoints and at the end, the trajectory, and the plays."""
    groups, rounds, _ = sequences.shape
    ends = _checkpoints(rounds, _per_decade(game))
    needed = groups * (len(ends) + 1) * sum(lengths(game.sizes, False, isinstance(game, Table)).values())
    if needed > MOST_NUMBERS:
        raise InputError(
            f"the sums of {amount(groups)} groups of {game.name} would need {amount(needed)} numbers, but the limit is "
            f"{amount(MOST_NUMBERS)}; measure them together with pool=True (--pool)"
        )
    kept = rows_kept(game.sizes)
    shown = np.unique(np.linspace(0, rounds - 1, min(rounds, kept)).astype(np.int64))
    arrays: dict[str, NDArray[Any]] = {
        "checkpoints": ends,
        "trajectory_rounds": shown + 1,
        "trajectory": np.stack([_strategies(game, one[shown]) for one in sequences]),
        "plays": sequences,
    }
    if plays.recommendations is not None:
        advice = plays.recommendations
        order = pooled_order([len(one) for one in advice])
        arrays["recommendations"] = np.concatenate(advice)[order][None] if pool else np.stack(advice)
    stops = ends if len(ends) and ends[-1] == rounds else np.append(ends, rounds)
    sums = [sums_of(game, one, stops) for one in sequences]
    for name in sums[0]:
        stacked = np.stack([one[name] for one in sums])
        arrays[name], arrays[f"checkpoint_{name}"] = stacked[:, -1], stacked[:, : len(ends)]
    return arrays


def _checkpoints(rounds: int, per_decade: int) -> NDArray[np.int64]:
    """Return the checkpoints of a run of these rounds."""
    found, last = [], 0
    while (last := grid.next_checkpoint(last, per_decade)) <= rounds:
        found.append(last)
    return np.array(found, dtype=np.int64)


def _strategies(game: Game, actions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return actions as strategies with all mass on them, concatenated over players."""
    first = np.cumsum([0, *game.sizes[:-1]])
    strategies = np.zeros((len(actions), sum(game.sizes)))
    np.put_along_axis(strategies, actions + first, 1.0, axis=1)
    return strategies


def sums_of(game: Game, actions: NDArray[np.int64], stops: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Return the sums over the rounds up to each stop, one row per stop; see `gamesim.engine.sums`."""
    held = lengths(game.sizes, drawn=False, tabled=isinstance(game, Table))
    strategies = _strategies(game, actions)
    moved = np.abs(np.diff(strategies, axis=0, prepend=strategies[:1]))
    first = np.cumsum([0, *game.sizes[:-1]])
    sums = {
        "average": _totals(strategies, stops),
        "path": _totals(np.add.reduceat(moved, first, axis=1), stops),
        "last": strategies[stops - 1],
        "joint": np.zeros((len(stops), held["joint"])),
    }
    if held["joint"]:
        cells = np.ravel_multi_index(tuple(actions.T), game.sizes)
        pieces = np.split(cells, stops[:-1])
        sums["joint"] = np.cumsum([np.bincount(one, minlength=held["joint"]) for one in pieces], axis=0).astype(float)
    if "counterfactuals" in held:
        different, of_round = np.unique(actions, axis=0, return_inverse=True)
        counted = [np.bincount(one, minlength=len(different)) for one in np.split(of_round.ravel(), stops[:-1])]
        sums["counterfactuals"] = np.cumsum(counted, axis=0) @ _counterfactuals(game, different)
    return sums


def _totals(per_round: NDArray[np.float64], stops: NDArray[np.int64]) -> NDArray[np.float64]:
    begins = np.concatenate([[0], stops[:-1]])
    return np.cumsum(np.add.reduceat(per_round, begins, axis=0), axis=0)


def _counterfactuals(game: Game, profiles: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return p ⊗ l of each action profile, player after player."""
    ends = np.cumsum(game.sizes)[:-1]
    found = []
    for strategies in _strategies(game, profiles):
        parts = zip(np.split(strategies, ends), np.split(game.expected_losses(strategies), ends), strict=True)
        found.append(np.concatenate([np.outer(p, losses).ravel() for p, losses in parts]))
    return np.array(found)
