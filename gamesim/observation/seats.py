"""What a learner would have earned in the seat of an observed player, against the same moves of the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim import players
from gamesim.errors import InputError
from gamesim.learner import Learner
from gamesim.record import Record

__all__ = ["payoffs_in_seat"]


def payoffs_in_seat(record: Record[Any], player: int, learner: Learner | str) -> NDArray[np.float64]:
    """Return the mean payoff that a learner would have earned in each group.

    Parameters
    ----------
    record : Record
        A record of observed play.
    player : int
        The index of the player whose seat the learner takes.
    learner : Learner or str
        The learner. It observes the loss of every action against the moves that the others made.

    Returns
    -------
    ndarray of float
        The expected payoff per round, one per group. The others' moves stay what they were: they do not react to the
        learner.

    Raises
    ------
    InputError
        If the record is not one of observed play, or the learner does not learn from losses.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.observed("prisoners-dilemma", [[0, 1]] * 10)
    >>> record.payoffs.tolist(), payoffs_in_seat(record, 0, "hedge").round(2).tolist()
    ([0.0, 5.0], [0.69])
    """
    if "plays" not in record.arrays:
        raise InputError("only observed play has seats that a learner can take; see gamesim.observed")
    game, chosen = record.game, players.from_text(learner) if isinstance(learner, str) else learner
    chosen = chosen.with_horizon(record.rounds).with_payoff_scale(float(game.scale[player]))
    if chosen.informed or "expected" not in chosen.feedback:
        raise InputError(f"{chosen.name} does not learn from the losses of all actions; choose another learner")
    first = int(np.sum(game.sizes[:player]))
    own = slice(first, first + game.sizes[player])
    losses: dict[tuple[int, ...], NDArray[np.float64]] = {}
    found = []
    for group in record.arrays["plays"]:
        running = chosen.start(game.sizes[player], seed=record.seed)
        lost = 0.0
        for profile in map(tuple, group.tolist()):
            others = (*profile[:player], 0, *profile[player + 1 :])
            if others not in losses:
                strategies = np.concatenate([np.eye(size)[one] for size, one in zip(game.sizes, others, strict=True)])
                losses[others] = game.expected_losses(strategies)[own].copy()
            lost += float(running.play() @ losses[others])
            running.observe(losses[others])
        found.append(lost / len(group))
    payoffs: NDArray[np.float64] = game.middle[player] - game.scale[player] * np.array(found)
    return payoffs
