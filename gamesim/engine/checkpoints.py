"""The logarithmic grid of rounds at which the sums of a run are stored."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from gamesim.engine.sums import lengths

CHECKPOINT_BYTES = 2**28  # limit on a run's checkpoints; if each is large, there are fewer
DECADES = 8  # powers of ten of rounds for which memory is budgeted


def checkpoint_numbers(sizes: Sequence[int], drawn: bool, tabled: bool) -> int:
    """Return the number of floats per checkpoint that limits the grid.

    Only the two sums that can be large count: the others would change the grids of large games by a little.
    """
    length = lengths(sizes, drawn, tabled)
    return sum(length.get(name, 0) for name in ("counterfactuals", "joint", "strategy_counterfactuals"))


def per_decade(sizes: Sequence[int], wanted: int, drawn: bool, tabled: bool) -> int:
    """Return the number of checkpoints per power of ten, fewer if each is large.

    >>> per_decade([2, 3], 10, drawn=False, tabled=True), per_decade([1000, 1000], 10, drawn=False, tabled=True)
    (10, 4)
    """
    return max(1, min(wanted, CHECKPOINT_BYTES // (8 * checkpoint_numbers(sizes, drawn, tabled) * DECADES)))


@lru_cache(2**12)  # a sweep asks for the same rounds at every point
def next_checkpoint(rounds: int, per_decade: int) -> int:
    """Return the next round on the grid, which is the same for all runs.

    >>> next_checkpoint(10, per_decade=4), next_checkpoint(18, per_decade=4)
    (18, 32)
    """
    k = int(per_decade * np.log10(rounds + 1))
    while round(10 ** (k / per_decade)) <= rounds:
        k += 1
    return round(10 ** (k / per_decade))


def between(rounds: int, end: int, per_decade: int) -> list[int]:
    """Return the rounds on the grid after round `rounds`, up to round `end`.

    >>> between(10, 32, per_decade=4)
    [18, 32]
    """
    found = []
    while (rounds := next_checkpoint(rounds, per_decade)) <= end:
        found.append(rounds)
    return found
