"""The actions that a simulated run drew, as plays."""

from typing import Any

import numpy as np

from gamesim.errors import InputError
from gamesim.learner import DRAWN
from gamesim.observation.plays import Plays
from gamesim.record import Record

__all__ = ["drawn"]


def drawn(record: Record[Any]) -> Plays:
    """Return the actions that a run drew, one group per replica.

    They are drawn again from the strategies of every round and the seed, and compared with the counts in the record.

    Parameters
    ----------
    record : Record
        A run with sampled or bandit feedback that kept every round, see ``trajectory`` of `simulate`.

    Returns
    -------
    Plays
        The plays.

    Raises
    ------
    InputError
        If actions were not drawn, or the record does not have the strategies of every round.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.simulate("chicken", "hedge", rounds=50, feedback="sampled", trajectory="every")
    >>> plays = drawn(record)
    >>> bool((gamesim.observed("chicken", plays).joint == record.joint).all())
    True
    """
    count = len(record.game.players)
    if record.feedback not in DRAWN:
        raise InputError(f'actions are drawn with feedback "sampled" or "bandit", got {record.feedback!r}')
    if len(record.arrays["trajectory_rounds"]) != record.rounds:
        raise InputError('the record lacks strategies of some rounds; simulate it with trajectory="every"')
    groups = []
    for replica in range(record.replicas):
        of_draws = np.random.SeedSequence(record.seed + replica).spawn(2)[1]  # as in a simulation
        uniforms = np.random.Generator(np.random.PCG64(of_draws)).random((record.rounds, count))
        strategies = np.split(record.arrays["trajectory"][replica], np.cumsum(record.game.sizes)[:-1], axis=1)
        actions = np.empty((record.rounds, count), dtype=np.int64)
        for player, rows in enumerate(strategies):
            beyond = (np.cumsum(rows, axis=1) <= uniforms[:, player, None]).sum(axis=1)
            actions[:, player] = np.minimum(beyond, rows.shape[1] - 1)
        counts = np.concatenate(
            [np.bincount(one, minlength=d) for one, d in zip(actions.T, record.game.sizes, strict=True)]
        )
        if (counts != record.arrays["average"][replica]).any():
            raise InputError("the drawn actions cannot be recovered from this record: their counts differ from its own")
        groups.append(actions)
    return Plays(tuple(str(k + 1) for k in range(len(groups))), tuple(groups))
