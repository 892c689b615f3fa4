"""Relabelling of d actions by a power of two of augmented indices, as the Haar transform requires.

The augmented indices 0 ... D-1, with D the smallest power of two that is at least d, are divided among the actions:
each action owns one index or two adjacent ones. Lu, Sun and Zhang, "Sparsity-based interpolation of external,
internal and swap regret", Section 2.1 and the two lemmas on relabelling in Appendix B.1.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.formatting import shown


def owners(actions: int, order: Sequence[int] | None = None) -> Integers:
    """Return the action that owns each augmented index: the actions in order, the first D - d of them twice.

    >>> owners(3).tolist()
    [0, 0, 1, 2]
    >>> owners(3, order=(2, 0, 1)).tolist()
    [2, 2, 0, 1]
    """
    if order is not None and sorted(order) != list(range(actions)):
        raise InputError(
            f"order must contain each of the {actions} actions once, from 0 to {actions - 1}, got {shown(order)}"
        )
    arranged = np.arange(actions) if order is None else np.array(order, dtype=np.int64)
    twice = (1 << (actions - 1).bit_length()) - actions
    return np.repeat(arranged, np.where(np.arange(actions) < twice, 2, 1))


def shares(owner: Integers) -> Vector:
    """Return, for each index, the number of indices of its owner: 1 or 2.

    >>> shares(owners(3)).tolist()
    [2.0, 2.0, 1.0, 1.0]
    """
    return np.bincount(owner)[owner].astype(np.float64)


def spread_evenly(phi: NDArray[np.float64], owner: Integers) -> NDArray[np.float64]:
    """Augment φ so that equal rows remain equal: mass sent to an action is split evenly among its indices.

    Adjacent rows then differ at most 2(d - unif(φ)) times, and <φ(p), l> is unchanged (the first lemma).
    """
    return phi[np.ix_(owner, owner)] / shares(owner)


def spread_to_self(phi: NDArray[np.float64], owner: Integers) -> NDArray[np.float64]:
    """Augment φ so that an action mapped to itself has its indices mapped to themselves.

    Mass sent to another action goes to its first index. At most 2(d - self(φ)) rows then differ from those of the
    identity, and <φ(p), l> is unchanged (the second lemma).
    """
    states = owner.size
    first = np.ones(states, dtype=bool)
    first[1:] = owner[1:] != owner[:-1]
    others = first[np.newaxis, :] & (owner[:, np.newaxis] != owner[np.newaxis, :])
    return np.where(others | np.eye(states, dtype=bool), phi[np.ix_(owner, owner)], 0.0)
