"""Regrets from counterfactual losses: closed forms, one function a kind.

The matrix M = Σ p ⊗ l of a player says what the mass of action i would have lost at action j; every regret follows from
it exactly. A deviation φ is a stochastic matrix (row i is where the mass of action i is sent), and its regret is
Σ_i M_ii - Σ_ij φ_ij M_ij. External, internal and swap regret also take a stack of matrices, for many players at once.
All are totals over the rounds, in units of loss; a record gives them in payoff units.
"""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.errors import InputError
from gamesim.learner import PlainRegret

__all__ = ["against", "best_deviation", "external", "internal", "profile", "quantile", "swap"]

Matrix = NDArray[np.float64]


def external(matrix: Matrix) -> float | NDArray[np.float64]:
    """Regret for not having played the best single action throughout, in units of loss.

    `matrix` is Σ p ⊗ l; a float comes back, or an array of them for a stack of matrices.

    >>> float(external(np.array([[2.0, 1.0], [0.0, 0.0]])))
    1.0
    """
    regret: float | NDArray[np.float64] = np.trace(matrix, axis1=-2, axis2=-1) - matrix.sum(axis=-2).min(axis=-1)
    return regret


def internal(matrix: Matrix) -> float | NDArray[np.float64]:
    """Regret for the best change of one action into another wherever it was played; 0 if no change helps.

    `matrix` is Σ p ⊗ l; a float in units of loss comes back, or an array of them for a stack of matrices.

    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> float(internal(matrix))  # by the second action in place of the first: 2 - 0.5
    1.5
    """
    regret: float | NDArray[np.float64] = _row_gains(matrix).max(axis=-1)
    return regret


def swap(matrix: Matrix) -> float | NDArray[np.float64]:
    """Regret for the best map of actions to actions: the sum of what each action could have gained.

    `matrix` is Σ p ⊗ l; a float in units of loss comes back, or an array of them for a stack of matrices.

    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> float(swap(matrix))  # and by the first in place of the second: 1 - 0 more
    2.5
    """
    regret: float | NDArray[np.float64] = _row_gains(matrix).sum(axis=-1)
    return regret


def quantile(matrix: Matrix, epsilon: float) -> float:
    """Regret to the ⌈εd⌉-th best single action, in units of loss; ε = 1/d is external regret.

    `matrix` is Σ p ⊗ l of d actions, and `epsilon` the ε, a share of them in (0, 1].

    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> quantile(matrix, epsilon=1 / 3), quantile(matrix, epsilon=1.0)  # to the best and to the worst action
    (0.5, -0.5)
    """
    size = len(matrix)
    if not 0 < epsilon <= 1:
        raise InputError(f"epsilon must lie in (0, 1], and {epsilon} came")
    rank = max(ceil(epsilon * size - 1e-9), 1)
    return float(np.trace(matrix) - np.sort(matrix.sum(axis=0))[rank - 1])


def against(matrix: Matrix, phi: ArrayLike) -> float:
    """Regret to a given deviation φ, in units of loss.

    `matrix` is Σ p ⊗ l, and `phi` a stochastic matrix: row i is where the mass of action i is sent.

    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> against(matrix, phi=[[0, 1, 0], [0, 1, 0], [0, 0.5, 0.5]])  # 2 - 0.5 by the first row, less half of 1 - 0
    1.0
    """
    deviation = np.asarray(phi, dtype=np.float64)
    if deviation.shape != matrix.shape:
        raise InputError(f"{len(matrix)} actions need a φ of shape {matrix.shape}, and {deviation.shape} came")
    if not (np.isfinite(deviation).all() and (deviation >= 0).all() and np.allclose(deviation.sum(axis=1), 1)):
        raise InputError("φ must be a stochastic matrix: no negative entry, and rows that sum to 1")
    return float(np.trace(matrix) - (deviation * matrix).sum())


def profile(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The regret profile: for k = 1..d the largest regret to two growing families of deviations, in units of loss.

    `matrix` is Σ p ⊗ l of d actions. The first family sends at least d - k + 1 actions to one place (k = 1: external
    regret); the second leaves at least d - k actions alone (k = 1: internal regret). Both end, at k = d, in swap
    regret. Sorting the row gains gives all k.

    >>> uniform, alone = profile(np.array([[2.0, 1.0], [0.0, 1.0]]))
    >>> uniform.tolist(), alone.tolist()
    ([1.0, 2.0], [1.0, 2.0])
    """
    diagonal, best = np.diag(matrix), matrix.min(axis=1)
    alone = np.cumsum(np.sort(diagonal - best)[::-1])
    to_one = diagonal.sum() - matrix.sum(axis=0)  # everything sent to action j
    freed = -np.sort(best[:, None] - matrix, axis=0)[:-1]  # then the best rows to send elsewhere, for each j
    together = to_one + np.vstack([np.zeros(len(matrix)), np.cumsum(freed, axis=0)])
    return together.max(axis=1), alone


def best_deviation(matrix: Matrix, kind: PlainRegret) -> Matrix:
    """The deviation φ that an external, internal or swap regret is measured against: a matrix of zeros and ones.

    `matrix` is Σ p ⊗ l, and `kind` is "external", "internal" or "swap".

    >>> best_deviation(np.array([[2.0, 1.0], [0.0, 1.0]]), "internal").tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    size = len(matrix)
    targets = np.arange(size)
    if kind == "external":
        targets[:] = matrix.sum(axis=0).argmin()
    elif kind == "internal":
        worst = _row_gains(matrix).argmax()
        targets[worst] = matrix[worst].argmin()
    elif kind == "swap":
        targets = matrix.argmin(axis=1)
    else:
        raise InputError(f"external, internal and swap regret have a best deviation, and {kind!r} came")
    phi: Matrix = np.eye(size)[targets]
    return phi


def _row_gains(matrix: Matrix) -> NDArray[np.float64]:
    gains: NDArray[np.float64] = np.diagonal(matrix, axis1=-2, axis2=-1) - matrix.min(axis=-1)
    return gains
