"""Divisions of indivisible units among parts: soldiers among fields, players among routes."""

from itertools import combinations
from math import comb

import numpy as np

from gamesim.engine.compiled import Integers


def divisions(total: int, parts: int) -> Integers:
    """Return all ways to divide `total` units into `parts` parts, one per row, in lexicographic order.

    >>> divisions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    >>> divisions(3, 1).tolist()
    [[3]]
    """
    chosen = list(combinations(range(total + parts - 1), parts - 1))
    bars = np.array(chosen, dtype=np.int64).reshape(len(chosen), parts - 1)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, total + parts - 1)))
    return np.diff(edges, axis=1) - 1


def number_of_divisions(total: int, parts: int) -> int:
    """Return the number of divisions: exactly up to 10^37, and beyond it a number above 10^37.

    >>> number_of_divisions(5, 3), number_of_divisions(10**15, 10**15) > 10**37, number_of_divisions(-1, 3)
    (21, True, 0)
    """
    if total < 0 or parts < 1:
        return 0
    return comb(total + parts - 1, min(total, parts - 1, 64))
