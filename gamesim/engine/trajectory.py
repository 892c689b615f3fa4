"""Which rounds a trajectory keeps, decided in the loop.

A long run is thinned: the trajectory keeps one round out of every stretch of 2, 4, 8, ... rounds. Within a stretch the
place changes from one to the next, so that no cycle of the strategies falls into step with it: a thinned cycle is a
cloud of points, never a line at rest.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector, inlined, kernel

NEVER = -1

# Entries of `Kept.numbers`.
STRIDE, COUNT, NEXT, FIXED = 0, 1, 2, 3


class Kept(NamedTuple):
    """The rows kept so far: strategies, the rounds that they belong to, and four numbers.

    The numbers are the length of a stretch, the number of rows, the next round to keep (from 0), and whether every
    stride-th round is kept, without thinning.
    """

    rows: NDArray[np.float64]
    rounds: Integers
    numbers: Integers


def allocate(sizes: Sequence[int], every: int | None) -> Kept:
    """Return arrays for a thinned trajectory (every = 0), for every k-th round, or for none (None)."""
    count = rows(sizes) if every is not None else 0
    numbers = np.array([every or 1, 0, 0 if every is not None else NEVER, 1 if every else 0], dtype=np.int64)
    return Kept(np.zeros((count, sum(sizes))), np.zeros(count, dtype=np.int64), numbers)


def rows(sizes: Sequence[int]) -> int:
    """Return the number of rows: a power of two, so that they can be halved repeatedly.

    >>> rows([4, 4]), rows([4096, 4096])
    (1024, 128)
    """
    return min(max(1 << (2**20 // sum(sizes)).bit_length() >> 1, 64), 1024)


@inlined
def keep(kept: Kept, round: int, strategies: Vector) -> None:
    """Keep the strategies of this round, if it is the next to be kept."""
    if round == kept.numbers[NEXT]:
        _keep(kept, round, strategies)


@inlined
def _place(stretch: int, stride: int) -> float:
    """Return a place in [0, 1) that depends on a stretch and a stride as if at random, the same in every run."""
    mixed = np.uint64(stretch) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(stride) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return float((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(11)) * 2.0**-53


@kernel
def _keep(kept: Kept, round: int, strategies: Vector) -> None:
    numbers = kept.numbers
    row = numbers[COUNT]
    for i in range(strategies.size):
        kept.rows[row, i] = strategies[i]
    kept.rounds[row] = round
    numbers[COUNT] += 1
    if numbers[FIXED] == 1:  # the rows are emptied before they are full
        numbers[NEXT] = round + numbers[STRIDE]
        return
    if numbers[COUNT] == kept.rows.shape[0]:
        _halve(kept)
    stretch = numbers[COUNT]
    numbers[NEXT] = stretch * numbers[STRIDE] + int(_place(stretch, numbers[STRIDE]) * numbers[STRIDE])


@kernel
def _halve(kept: Kept) -> None:
    """Keep one of every two rows, and double the stride."""
    half = kept.rows.shape[0] // 2
    for k in range(1, half):  # the first round stays
        chosen = 2 * k + (1 if _place(k, kept.numbers[STRIDE]) < 0.5 else 0)
        for i in range(kept.rows.shape[1]):
            kept.rows[k, i] = kept.rows[chosen, i]
        kept.rounds[k] = kept.rounds[chosen]
    kept.numbers[COUNT] = half
    kept.numbers[STRIDE] *= 2
