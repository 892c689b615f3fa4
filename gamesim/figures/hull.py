"""Convex hulls of a few points; scipy.spatial takes longer to import than a figure to draw."""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def around(points: Points) -> list[int]:
    """Return the indices of the corners of the hull of points in the plane, counterclockwise (Andrew, 1979).

    >>> around(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 2.0], [0.5, 1.0], [2.0, 1.0]]))
    [0, 4, 2]
    """
    order = [int(k) for k in np.lexsort(points.T[::-1])]
    return _chain(points, order) + _chain(points, order[::-1])


def _chain(points: Points, order: list[int]) -> list[int]:
    """Return the corners on the right of the way from the first point to the last, without the last."""
    found: list[int] = []
    for k in order:
        while len(found) > 1 and _turn(*points[[*found[-2:], k]]) <= 0:
            found.pop()
        found.append(k)
    return found[:-1]


def _turn(one: Points, other: Points, last: Points) -> Any:
    """Return a number that is positive if the way from a point over another to the last turns left."""
    (a, b), (c, d) = other - one, last - one
    return a * d - b * c


def sides(points: Points) -> list[tuple[int, int]]:
    """Return the edges of the polytope in space whose vertices these points are: pairs on two of its faces.

    >>> sides(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    [(0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4)]
    """
    faces: set[tuple[int, ...]] = set()
    for three in combinations(range(len(points)), 3):
        one, other, third = points[list(three)]
        normal = np.cross(other - one, third - one)
        heights = (points - one) @ normal / (np.linalg.norm(normal) or 1.0)
        level = np.abs(heights) <= 1e-9
        if normal.any() and ((heights >= 0) | level).all() | ((heights <= 0) | level).all():
            faces.add(tuple(int(k) for k in np.flatnonzero(level)))
    shared = Counter(pair for face in faces for pair in combinations(face, 2))
    return sorted(pair for pair, count in shared.items() if count > 1)
