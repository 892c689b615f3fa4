"""Allocation of the arrays of one replica."""

from collections.abc import Sequence
from math import prod

import numpy as np

from gamesim.engine import checkpoints
from gamesim.engine.compiled import Vector
from gamesim.engine.loop import BLOCK, Track
from gamesim.engine.sums import Sums, lengths


def allocate(sizes: Sequence[int], first_state: Vector, scratch: int) -> Track:
    """Return the arrays of a replica before its first round."""
    actions = sum(sizes)
    left, right = _halves_of_joint(sizes)
    return Track(
        state=first_state.copy(),
        scratch=np.zeros(scratch),
        starts=np.full(actions, np.nan),
        strategies=np.zeros((BLOCK, actions)),
        losses=np.zeros((BLOCK, actions)),
        drawn=np.zeros(len(sizes), dtype=np.int64),
        profile=np.zeros(actions),
        seen=np.zeros(actions),
        sums=Sums.zeros(sizes),
        left=np.zeros((BLOCK, left)),
        right=np.zeros((BLOCK, right)),
        trajectory=np.zeros((_trajectory_rows(sizes), actions)),
        stride=np.ones(1, dtype=np.int64),
    )


def bytes_needed(sizes: Sequence[int], per_decade: int) -> int:
    """Return approximately how many bytes one replica takes with its checkpoints."""
    numbers = checkpoints.checkpoint_numbers(sizes)
    once = numbers + sum(_halves_of_joint(sizes)) + _trajectory_rows(sizes) * sum(sizes)
    return 8 * (once + numbers * (1 + checkpoints.DECADES * per_decade))


def stride(sizes: Sequence[int], rounds: int) -> int:
    """Return how many rounds lie between two rows of the trajectory after `rounds` rounds.

    >>> stride([2, 2], 1024), stride([2, 2], 1025), stride([2, 2], 5000)
    (1, 2, 8)
    """
    return 1 << max(0, -(-rounds // _trajectory_rows(sizes)) - 1).bit_length()


def _halves_of_joint(sizes: Sequence[int]) -> tuple[int, int]:
    """Return the number of action profiles of each half of the players; 1 if no joint distribution is stored."""
    if not lengths(sizes)["joint"]:
        return 1, 1
    half = len(sizes) // 2
    return prod(sizes[:half]), prod(sizes[half:])


def _trajectory_rows(sizes: Sequence[int]) -> int:
    """Return the number of rounds in the trajectory: a power of two, so that it can be halved repeatedly."""
    return min(max(1 << (2**20 // sum(sizes)).bit_length() >> 1, 64), 1024)
