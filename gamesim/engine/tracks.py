"""The arrays of one replica: how many numbers they hold, and the arrays themselves."""

from collections.abc import Sequence
from math import prod

import numpy as np

from gamesim.engine import checkpoints
from gamesim.engine.compiled import Vector
from gamesim.engine.loop import BLOCK, Track
from gamesim.engine.sums import Sums, lengths


def allocate(sizes: Sequence[int], first_state: Vector, scratch: int) -> Track:
    """Return a replica before its first round: players with so many actions, and a game that needs so much scratch."""
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
    """Return about how many bytes one replica takes with its checkpoints, when players have so many actions."""
    numbers = checkpoints.checkpoint_numbers(sizes)
    once = numbers + sum(_halves_of_joint(sizes)) + _trajectory_rows(sizes) * sum(sizes)
    return 8 * (once + numbers * (1 + checkpoints.DECADES * per_decade))


def _halves_of_joint(sizes: Sequence[int]) -> tuple[int, int]:
    """Return how many action profiles the first half of the players has, and the second; 1 where no joint is held."""
    if not lengths(sizes)["joint"]:
        return 1, 1
    half = len(sizes) // 2
    return prod(sizes[:half]), prod(sizes[half:])


def _trajectory_rows(sizes: Sequence[int]) -> int:
    """Return how many rounds the trajectory keeps: a power of two, so that halving it leaves whole rows."""
    return min(max(1 << (2**20 // sum(sizes)).bit_length() >> 1, 64), 1024)
