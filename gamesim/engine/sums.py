"""The sums over rounds that every measure comes from: declared here, and nowhere else.

A further sum is a field of `Sums` with its length in `lengths`, and the lines of the loop that add to it: checkpoints,
records and measures go through whatever fields there are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector

LARGEST_JOINT = 2**22  # action profiles; beyond it no joint is held


class Sums(NamedTuple):
    """What the rounds of one replica add up to, each as a flat array."""

    average: Vector  # Σ strategies (or counts of drawn actions), all players' side by side
    counterfactuals: Vector  # Σ p ⊗ l, player after player: what the mass of action i would have lost at action j
    joint: Vector  # Σ of the product of strategies (or counts of drawn profiles); empty if it would not fit

    @classmethod
    def zeros(cls, sizes: Sequence[int]) -> "Sums":
        """Return the sums before the first round, for these numbers of actions."""
        return cls(**{name: np.zeros(length) for name, length in lengths(sizes).items()})

    def copy(self) -> "Sums":
        """Return the same numbers in arrays of their own."""
        return Sums(*(total.copy() for total in self))


def lengths(sizes: Sequence[int]) -> dict[str, int]:
    """Return how many numbers each sum has when the players have so many actions.

    >>> lengths([2, 3])
    {'average': 5, 'counterfactuals': 13, 'joint': 6}
    """
    return {
        "average": sum(sizes),
        "counterfactuals": sum(size * size for size in sizes),
        "joint": _cells_held(sizes),
    }


def _cells_held(sizes: Sequence[int]) -> int:
    """Return how many cells the joint has, or 0 where it is too large: thousands of players make a huge number."""
    cells = 1
    for size in sizes:
        cells *= size
        if cells > LARGEST_JOINT:
            return 0
    return cells
