"""The sums over rounds from which all measures are computed.

A further sum needs a field of `Sums`, its length in `lengths`, and code in the loop that adds to it. Checkpoints,
records and measures iterate over all fields. A sum that `lengths` leaves out is empty and not stored.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Vector
from gamesim.engine.layout import aligned

LARGEST_JOINT = 2**22  # action profiles of the largest joint distribution that is stored


class Sums(NamedTuple):
    """Hold the sums over the rounds of one replica, each as a flat array."""

    average: Vector  # Σ strategies (or counts of drawn actions), concatenated over players
    counterfactuals: Vector  # Σ p ⊗ l, player after player: what the mass on action i would have lost on action j;
    # empty if it is a product of the joint distribution and a table of losses, see `moments.counterfactuals`
    joint: Vector  # Σ of the product of strategies (or counts of drawn profiles); empty if too large
    path: Vector  # Σ |p_t - p_{t-1}|_1 of each player's strategies, exact whatever the trajectory keeps
    last: Vector  # not a sum: the strategies of the last round, concatenated over players
    observed: Vector  # the totals of all observers; empty without any
    strategy_counterfactuals: Vector  # Σ p ⊗ l of the strategies if actions are drawn, else empty: the same as above

    @classmethod
    def zeros(cls, sizes: Sequence[int], drawn: bool, tabled: bool, observed: int = 0) -> "Sums":
        """Return the sums before the first round, for these numbers of actions."""
        held = lengths(sizes, drawn, tabled, observed)
        return cls(**{name: aligned(held.get(name, 0)) for name in cls._fields})

    def rows(self, count: int) -> "Sums":
        """Return arrays for this many copies of the sums, one row each."""
        return Sums(*(np.empty((count, total.size)) for total in self))

    def row(self, k: int) -> "Sums":
        """Return the k-th of several copies, as views."""
        return Sums(*(totals[k] for totals in self))


def lengths(sizes: Sequence[int], drawn: bool, tabled: bool, observed: int = 0) -> dict[str, int]:
    """Return the length of each sum that is stored.

    It depends on the number of actions of each player, on whether actions are drawn, on whether the game is a table,
    and on the length of the totals of observers.

    >>> lengths([2, 3], drawn=False, tabled=False)
    {'average': 5, 'joint': 6, 'path': 2, 'last': 5, 'counterfactuals': 13}
    >>> lengths([2, 3], drawn=True, tabled=True)
    {'average': 5, 'joint': 6, 'path': 2, 'last': 5, 'strategy_counterfactuals': 13}
    """
    held = {"average": sum(sizes), "joint": _cells_held(sizes), "path": len(sizes), "last": sum(sizes)}
    squares = sum(size * size for size in sizes)
    if not (tabled and held["joint"]):
        held["counterfactuals"] = squares
    if drawn:
        held["strategy_counterfactuals"] = squares
    if observed:
        held["observed"] = observed
    return held


def _cells_held(sizes: Sequence[int]) -> int:
    """Return the number of action profiles, or 0 if too many; the full product could be huge."""
    cells = 1
    for size in sizes:
        cells *= size
        if cells > LARGEST_JOINT:
            return 0
    return cells
