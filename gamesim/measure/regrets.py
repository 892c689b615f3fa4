"""Regrets in closed form, from a matrix of counterfactual losses.

Entry (i, j) of a player's matrix is what the probability mass on action i would have lost on action j, summed over
rounds::

    M = Σ_t p_t ⊗ l_t

A deviation φ is a stochastic matrix whose row i is the distribution that replaces action i. Its regret is::

    Σ_i M_ii - Σ_ij φ_ij M_ij

All regrets are totals over rounds, in units of loss. `Record.regret` converts them to payoff units.
"""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.errors import InputError
from gamesim.learner import PlainRegret

__all__ = ["against", "best_deviation", "external", "internal", "profile", "quantile", "swap"]

Matrix = NDArray[np.float64]


def external(matrix: Matrix) -> float | NDArray[np.float64]:
    """Return the regret against the best fixed action.

    Parameters
    ----------
    matrix : ndarray of shape (..., d, d)
        The counterfactual losses M, or a stack of such matrices.

    Returns
    -------
    float or ndarray
        The regret, in units of loss, for each matrix.

    Notes
    -----
    The regret is::

        Σ_i M_ii - min_j Σ_i M_ij

    Examples
    --------
    >>> float(external(np.array([[2.0, 1.0], [0.0, 0.0]])))
    1.0
    """
    regret: float | NDArray[np.float64] = np.trace(matrix, axis1=-2, axis2=-1) - matrix.sum(axis=-2).min(axis=-1)
    return regret


def internal(matrix: Matrix) -> float | NDArray[np.float64]:
    """Return the regret against the best replacement of one action by another.

    Parameters
    ----------
    matrix : ndarray of shape (..., d, d)
        The counterfactual losses M, or a stack of such matrices.

    Returns
    -------
    float or ndarray
        The regret, in units of loss, for each matrix; 0 if no replacement helps.

    Notes
    -----
    The regret is::

        max_ij (M_ii - M_ij)

    Examples
    --------
    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> float(internal(matrix))  # replace the first action by the second: 2 - 0.5
    1.5
    """
    regret: float | NDArray[np.float64] = _row_gains(matrix).max(axis=-1)
    return regret


def swap(matrix: Matrix) -> float | NDArray[np.float64]:
    """Return the regret against the best replacement of every action.

    Parameters
    ----------
    matrix : ndarray of shape (..., d, d)
        The counterfactual losses M, or a stack of such matrices.

    Returns
    -------
    float or ndarray
        The regret, in units of loss, for each matrix.

    Notes
    -----
    The regret is::

        Σ_i max_j (M_ii - M_ij)

    Examples
    --------
    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> float(swap(matrix))  # also replace the second action by the first: 1 - 0 more
    2.5
    """
    regret: float | NDArray[np.float64] = _row_gains(matrix).sum(axis=-1)
    return regret


def quantile(matrix: Matrix, epsilon: float) -> float:
    """Return the regret against a quantile of the fixed actions.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The counterfactual losses M.
    epsilon : float
        The share ε of actions, in (0, 1]. The regret is against the ⌈ε d⌉-th best action; ε = 1/d is external regret.

    Returns
    -------
    float
        The regret, in units of loss.

    Raises
    ------
    InputError
        If epsilon lies outside (0, 1].

    Examples
    --------
    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> quantile(matrix, epsilon=1 / 3), quantile(matrix, epsilon=1.0)  # against the best and the worst action
    (0.5, -0.5)
    """
    size = len(matrix)
    if not 0 < epsilon <= 1:
        raise InputError(f"epsilon must lie in (0, 1], got {epsilon}")
    rank = max(ceil(epsilon * size - 1e-9), 1)
    return float(np.trace(matrix) - np.sort(matrix.sum(axis=0))[rank - 1])


def against(matrix: Matrix, phi: ArrayLike) -> float:
    """Return the regret against a given deviation.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The counterfactual losses M.
    phi : array_like of shape (d, d)
        The deviation φ: a stochastic matrix whose row i is the distribution that replaces action i.

    Returns
    -------
    float
        The regret, in units of loss.

    Raises
    ------
    InputError
        If φ has the wrong shape or is not stochastic.

    Notes
    -----
    The regret is::

        Σ_i M_ii - Σ_ij φ_ij M_ij

    Examples
    --------
    >>> matrix = np.array([[2.0, 0.5, 3.0], [0.0, 1.0, 0.5], [1.0, 1.0, 0.0]])
    >>> against(matrix, phi=[[0, 1, 0], [0, 1, 0], [0, 0.5, 0.5]])  # 2 - 0.5 for row 1, minus half of 1 - 0 for row 3
    1.0
    """
    deviation = np.asarray(phi, dtype=np.float64)
    if deviation.shape != matrix.shape:
        raise InputError(f"phi must have shape {matrix.shape}, got {deviation.shape}")
    if not (np.isfinite(deviation).all() and (deviation >= 0).all() and np.allclose(deviation.sum(axis=1), 1)):
        raise InputError("phi must be a stochastic matrix, with entries of at least 0 and rows that sum to 1")
    return float(np.trace(matrix) - (deviation * matrix).sum())


def profile(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the regret profile: the largest regrets over two families of deviations.

    Both families grow with k = 1, ..., d and end with all deviations, hence with swap regret.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The counterfactual losses M.

    Returns
    -------
    together : ndarray of shape (d,)
        The largest regret, in units of loss, against deviations that send at least d - k + 1 actions to the same
        action. For k = 1 it is external regret.
    alone : ndarray of shape (d,)
        The largest regret, in units of loss, against deviations that change at most k actions. For k = 1 it is internal
        regret.

    Examples
    --------
    >>> together, alone = profile(np.array([[2.0, 1.0], [0.0, 1.0]]))
    >>> together.tolist(), alone.tolist()
    ([1.0, 2.0], [1.0, 2.0])
    """
    diagonal, best = np.diag(matrix), matrix.min(axis=1)
    alone = np.cumsum(np.sort(diagonal - best)[::-1])
    to_one = diagonal.sum() - matrix.sum(axis=0)  # every action sent to action j
    freed = -np.sort(best[:, None] - matrix, axis=0)[:-1]  # then, for each j, the best rows to send elsewhere
    together = to_one + np.vstack([np.zeros(len(matrix)), np.cumsum(freed, axis=0)])
    return together.max(axis=1), alone


def best_deviation(matrix: Matrix, kind: PlainRegret) -> Matrix:
    """Return the deviation that a regret is measured against.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The counterfactual losses M.
    kind : {"external", "internal", "swap"}
        The kind of regret.

    Returns
    -------
    ndarray of shape (d, d)
        A stochastic matrix of zeros and ones whose row i is the action that replaces action i.

    Raises
    ------
    InputError
        If the kind has no best deviation.

    Examples
    --------
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
        raise InputError(f'kind must be "external", "internal" or "swap", got {kind!r}')
    phi: Matrix = np.eye(size)[targets]
    return phi


def _row_gains(matrix: Matrix) -> NDArray[np.float64]:
    gains: NDArray[np.float64] = np.diagonal(matrix, axis1=-2, axis2=-1) - matrix.min(axis=-1)
    return gains
