"""Allocation of the arrays of one replica."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from gamesim.engine import checkpoints, trajectory
from gamesim.engine.compiled import Vector
from gamesim.engine.layout import aligned, joined
from gamesim.engine.loop import SMALL_BLOCK, Track, block_length
from gamesim.engine.matrices import ROWS, WIDTH, Work
from gamesim.engine.sums import Sums, lengths


def allocate(
    sizes: Sequence[int],
    first_state: Vector,
    scratch: int,
    drawn: bool,
    tabled: bool,
    every: int | None = 0,
    observed: int = 0,
    delay: int = 0,
) -> Track:
    """Return the arrays of a replica before its first round; `every` is for `trajectory.allocate`."""
    actions = sum(sizes)
    left, right = _halves_of_joint(sizes)
    block = block_length(sizes)
    return Track(
        state=joined([first_state]),
        scratch=np.zeros(scratch),
        starts=np.full(actions, np.nan),
        strategies=np.zeros((block + 1, actions)),
        losses=np.zeros((block, actions)),
        drawn=np.zeros(len(sizes), dtype=np.int64),
        profile=np.zeros(actions),
        seen=np.zeros(actions),
        pending=np.full((delay, actions), np.nan),
        sums=Sums.zeros(sizes, drawn, tabled, observed),
        left=np.zeros((SMALL_BLOCK, left)),
        right=np.zeros((SMALL_BLOCK, right)),
        work=Work.allocated(block, max(left, *sizes)),
        kept=trajectory.allocate(sizes, every),
    )


def repeated(arrays: Any, replicas: int) -> Any:
    """Return a tuple of arrays for several replicas, which lie along the first axis of each array."""
    if isinstance(arrays, np.ndarray):
        if arrays.dtype != np.float64:
            return np.repeat(arrays[np.newaxis], replicas, axis=0)
        copies = aligned(replicas * arrays.size).reshape(replicas, *arrays.shape)
        copies[...] = arrays
        return copies
    return type(arrays)(*(repeated(one, replicas) for one in arrays))


def of_replica(arrays: Any, replica: int) -> Any:
    """Return the arrays of one replica, as views."""
    if isinstance(arrays, np.ndarray):
        return arrays[replica]
    return type(arrays)(*(of_replica(one, replica) for one in arrays))


def bytes_needed(sizes: Sequence[int], per_decade: int, drawn: bool, tabled: bool) -> int:
    """Return approximately how many bytes one replica takes with its checkpoints."""
    numbers = checkpoints.checkpoint_numbers(sizes, drawn, tabled)
    rows = trajectory.rows(sizes) + 2 * block_length(sizes)
    once = (
        numbers + SMALL_BLOCK * sum(_halves_of_joint(sizes)) + rows * sum(sizes) + (ROWS + WIDTH) * block_length(sizes)
    )
    return 8 * (once + numbers * (1 + checkpoints.DECADES * per_decade))


def _halves_of_joint(sizes: Sequence[int]) -> tuple[int, int]:
    """Return the number of action profiles of each half of the players; 1 if these products are not needed."""
    if len(sizes) == 2 or not lengths(sizes, drawn=False, tabled=False)["joint"]:
        return 1, 1
    half = len(sizes) // 2
    return prod(sizes[:half]), prod(sizes[half:])
