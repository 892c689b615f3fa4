"""Bounds of the wavelet learners on the regret against classes of deviations.

The classes are those of the regret profile (`gamesim.measure.regrets.profile`), for k = 1 … d:

- together: at least d - k + 1 actions are sent to the same action; k = 1 is external regret;
- alone: at most k actions are changed; k = 1 is internal regret, and k = d is swap regret in both.

Let φ have the coefficients u_hj for the Haar vectors h, of width w (the length of the interval of h), and columns j.
The bounds of the scalar learners add up to

    Σ_hj B_hj(u_hj),  B_hj(u) = √τ_hj · conjugate(ε_hj, u)

up to a constant factor, with τ_hj the time of a clock. This is convex in φ. It exceeds its value at u = 0 by the sum of

    γ_hj(u) = √τ_hj (conjugate(ε_hj, u) - ε_hj)

The maximum over a class is bounded as follows. Indices are the augmented ones, of which an action owns one, or two that
only an interval of width 2 separates.

- Together. Without the identity, Σ_j |u_hj| ≤ 1, and u_h = 0 unless the interval contains one of the k - 1 actions that
  are sent elsewhere. So at most k - 1 intervals of each width contribute. An interval contributes at most the largest
  γ_hj(1); unless h is constant, Σ_j u_hj = 0, hence at most the two largest γ_hj(½).
- Alone. With the identity, φ - 1 has nonzero rows only for the m indices of the changed actions. Each row sums to 0,
  and its entries to 2 in absolute value. With m_h of these indices in the interval of h, Σ_j u_hj = 0 and

      Σ_j |u_hj| ≤ 2 m_h / w

  so the interval contributes at most the two largest γ_hj(m_h / w). Let g be the power of two with m ≤ g < 2m, or w if
  this is smaller. Then m_h ≤ g, and by convexity γ(m_h / w) ≤ (m_h / g) γ(g / w). Hence the intervals of width w
  contribute at most the m / g largest γ(g / w), counted with fractions. At width 2, an action with two indices
  contributes like one with a single index, because both are sent to the same index.
"""

from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector
from gamesim.players._kernels.haar import interval
from gamesim.players._kernels.relabelling import owners, shares
from gamesim.players._kernels.scalar import conjugate

Matrix = NDArray[np.float64]


class Scales(NamedTuple):
    """The ε of the scalar learners."""

    identity: float
    columns: Vector  # of each column
    constant: Vector  # of each column, for the all-one vector


def scales_of(scale: float, actions: int, owner: Integers) -> Scales:
    """Return the ε of all features: `scale` for the identity, scale / (d² s_j) for column j, D times that if h = 1.

    >>> scales_of(1.0, 3, owners(3)).columns.round(3).tolist()
    [0.056, 0.056, 0.111, 0.111]
    """
    columns = scale / (actions**2 * shares(owner))
    return Scales(scale, columns, owner.size * columns)


class Level(NamedTuple):
    """What the intervals of one width contribute, apart from their clocks."""

    intervals: int
    base: float  # Σ_j ε_j
    together: float  # max_j (conjugate(ε_j, 1) - ε_j)
    alone: Vector  # 2 max_j (conjugate(ε_j, g / w) - ε_j), for each k
    weight: Vector  # m / g, for each k


@lru_cache(maxsize=64)
def _levels(scale: float, actions: int, k: tuple[int, ...]) -> list[Level]:
    """Return the contributions of the all-one vector and of the intervals, from the longest to the shortest."""
    owner = owners(actions)
    size = owner.size
    scales = scales_of(scale, actions, owner)
    levels = []
    for level in range(-1, size.bit_length() - 1):  # -1: the all-one vector
        width, used = (size, scales.constant) if level < 0 else (size >> level, scales.columns)
        grid, weight = _changed(np.array(k), width, size, actions)
        together = float(_excess(used, np.ones(1))[0])
        levels.append(Level(size // width, float(used.sum()), together, 2 * _excess(used, grid / width), weight))
    return levels


def declared(scale: float, extra: float, passed: float, actions: int, k: Integers) -> Matrix:
    """Return the bounds for all sequences, up to the constant factor: together and alone, for each k.

    The clock of an interval on which the strategies put the mass P has a time of at most P + extra, and the masses of
    the intervals of one width add up to `passed`. By Cauchy-Schwarz, n of these intervals contribute at most

        √(n (n · extra + passed)) max_j (conjugate(ε_j, u) - ε_j)
    """
    constant, *levels = _levels(scale, actions, tuple(k.tolist()))
    root = sqrt(extra + passed)
    together = np.full(k.size, root * (scale + constant.base + constant.together))
    alone = root * (_conjugate_of(scale) + constant.base + constant.alone * constant.weight)
    for one in levels:
        base = one.base * sqrt(one.intervals * (one.intervals * extra + passed))
        some = np.minimum(one.intervals, k - 1)
        together += base + one.together * np.sqrt(some * (some * extra + passed))
        several = np.where(one.weight < 1, one.weight, np.sqrt(one.weight))
        alone += base + one.alone * several * np.sqrt(np.minimum(one.intervals, k) * extra + passed)
    return np.array([together, alone])


def certified(scale: float, times: Vector, actions: int, owner: Integers) -> Matrix:
    """Return the bounds from the times of the clocks, up to the constant factor: together and alone, for k = 1 … d."""
    size = owner.size
    scales = scales_of(scale, actions, owner)
    roots, identity = np.sqrt(times[:-1]).reshape(size, size), sqrt(times[-1])
    k = np.arange(1, actions + 1)
    base = roots[0] @ scales.constant + (roots[1:] @ scales.columns).sum()
    constant = np.bincount(owner, roots[0] * _gain(scales.constant, 1 / shares(owner)))
    together = np.full(actions, identity * scale + base + constant.max())
    alone = np.full(actions, identity * _conjugate_of(scale) + base)
    alone += _most(roots[:1], scales.constant, k, size, actions)
    for level in range(size.bit_length() - 1):
        width = size >> level
        rows = np.arange(width // 2, size, width)
        halves = roots[rows] * _gain(scales.columns, 0.5 / shares(owner))
        most = _two_largest(np.array([np.bincount(owner, one) for one in halves]))
        if width == 2:
            most[owner[::2] == owner[1::2]] = 0.0  # one action, hence equal rows
        together += np.append(0.0, np.cumsum(np.sort(most)[::-1]))[np.minimum(len(rows), k - 1)]
        alone += _most(roots[rows], scales.columns, k, width, actions)
    alone[0] = identity * _conjugate_of(scale) + base + _replacements(roots, scales, owner).max()
    bounds: Matrix = np.minimum([together, alone], min(together[-1], alone[-1]))
    return bounds


@lru_cache(maxsize=64)
def _conjugate_of(scale: float) -> float:
    return float(conjugate(np.array([scale]), np.ones(1))[0])


def _gain(scales: Vector, coefficients: float | Vector) -> Vector:
    """Return conjugate(ε, u) - ε for each column."""
    gain: Vector = conjugate(scales, np.broadcast_to(coefficients, scales.shape)) - scales
    return gain


def _excess(scales: Vector, coefficients: Vector) -> Vector:
    """Return the largest conjugate(ε, u) - ε of any column, for each u."""
    different = np.unique(scales)[:, np.newaxis]
    largest: Vector = (conjugate(different, coefficients[np.newaxis]) - different).max(axis=0)
    return largest


def _changed(k: Integers, width: int, size: int, actions: int) -> tuple[Vector, Vector]:
    """Return g, and m / g, if k actions are changed."""
    indices = k if width == 2 else k + np.minimum(k, size - actions)
    grid = np.minimum(width, 2.0 ** np.ceil(np.log2(indices)))
    return grid, indices / grid


def _two_largest(values: Matrix) -> Vector:
    """Return the sum of the two largest values of each row."""
    largest: Vector = np.partition(values, -2, axis=1)[:, -2:].sum(axis=1)
    return largest


def _most(roots: Matrix, scales: Vector, k: Integers, width: int, actions: int) -> Vector:
    """Return what the intervals of one width contribute at most if k actions are changed, for each k."""
    grid, weight = _changed(k, width, roots.shape[1], actions)
    most = np.zeros(k.size)
    for g in np.unique(grid):
        largest = np.sort(_two_largest(roots * _gain(scales, g / width)))[::-1]
        here = grid == g
        most[here] = np.interp(weight[here], np.arange(len(largest) + 1), np.append(0.0, np.cumsum(largest)))
    return most


def _replacements(roots: Matrix, scales: Scales, owner: Integers) -> Matrix:
    """Return the sum of all γ if action a is replaced by action b, for all a and b."""
    size = owner.size
    first = np.unique(owner, return_index=True)[1]
    doubled = shares(owner)[first] == 2
    second = np.where(doubled, first + 1, first)
    sums = np.zeros((first.size, first.size))
    for level in range(-1, size.bit_length() - 1):  # -1: the all-one vector
        width, used = (size, scales.constant) if level < 0 else (size >> level, scales.columns)
        numbers = np.zeros(first.size, dtype=np.int64) if level < 0 else first // width * width + width // 2
        single, pair = _gain(used, 1 / width), _gain(used, 0.0 if width == 2 and level >= 0 else 2 / width)
        leaving = roots[numbers, first] * single[first] + doubled * roots[numbers, second] * single[second]
        arriving = roots[numbers][:, first] * np.where(doubled[:, np.newaxis], pair[first], single[first])
        sums += leaving[:, np.newaxis] + arriving
    np.fill_diagonal(sums, 0.0)
    return sums


def aggregated(gradients: Vector, owner: Integers) -> tuple[Matrix, Matrix]:
    """Return, for both ways to augment φ, the d × d matrix whose inner product with φ is that of the gradients.

    The gradients are the inner products of a matrix with all h ⊗ e_j, which determine it.
    """
    size = owner.size
    vectors = np.zeros((size, size))
    for number in range(size):
        inside = interval(number, size)
        half = len(inside) // 2 if number else len(inside)
        vectors[number, inside.start : inside.start + half] = 1.0 / len(inside)
        vectors[number, inside.start + half : inside.stop] = -1.0 / len(inside)
    matrix = vectors.T @ gradients.reshape(size, size)
    owns = np.eye(int(owner.max()) + 1)[owner]
    evenly = owns.T @ (matrix / shares(owner)) @ owns
    first = np.ones(size, dtype=bool)
    first[1:] = owner[1:] != owner[:-1]
    to_self = owns.T @ (matrix * first) @ owns
    np.fill_diagonal(to_self, np.bincount(owner, np.diag(matrix)))
    return evenly, to_self
