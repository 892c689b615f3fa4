"""Convex hulls of a few points, against scipy.spatial."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from gamesim.figures.hull import around, sides


@pytest.mark.parametrize("count", [3, 4, 7, 30])
@pytest.mark.parametrize("seed", range(5))
def test_the_corners_are_those_of_qhull_in_the_same_order(count: int, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(count, 2))
    found, expected = around(points), ConvexHull(points).vertices
    start = found.index(int(expected[0]))
    assert np.array_equal(found[start:] + found[:start], expected)


def test_points_on_a_side_are_no_corners() -> None:
    points = np.array([[0.0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [1, 1], [0, 2], [0, 1]])
    assert around(points) == [0, 2, 4, 6]


@pytest.mark.parametrize("seed", range(5))
def test_the_sides_of_a_simplicial_polytope_are_those_of_qhull(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(9, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)  # all of them vertices, no four on one face
    triangles = ConvexHull(points).simplices
    expected = {tuple(sorted(pair)) for triangle in triangles.tolist() for pair in combinations(triangle, 2)}
    assert set(sides(points)) == expected


def test_the_sides_of_a_cube_are_the_pairs_at_distance_one() -> None:
    corners = np.array(list(np.ndindex(2, 2, 2)), dtype=float)
    expected = [(i, j) for i, j in combinations(range(8), 2) if np.abs(corners[i] - corners[j]).sum() == 1]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert sides(corners @ turn) == expected
