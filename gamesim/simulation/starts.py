"""Initial conditions: the strategies at which learners start and from which they continue, for every replica."""

from collections.abc import Sequence
from itertools import product
from math import comb, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import validation
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError, unknown
from gamesim.game import Game

Start: TypeAlias = str | Sequence[ArrayLike | str | None] | None  # a name for all players, or one entry per player

NAMES = ("random", "grid")


class Starts:
    """The strategies at which each player's learner starts in each replica; None is the learner's own start."""

    def __init__(self, game: Game, start: Start, replicas: int) -> None:
        self._game = game
        self._grid: list[list[Vector]] | None = None
        if isinstance(start, str):
            _check_name(start)
            if start == "grid":
                self._grid = grid(game.sizes, replicas)
            start = [start] * len(game.players)
        given: list[Any] = [None] * len(game.players) if start is None else list(start)
        if len(given) != len(game.players):
            raise InputError(
                f"start must have one entry for each of the {len(game.players)} players, got {len(given)} entries"
            )
        checked = zip(given, game.sizes, game.players, strict=True)
        self._given = [_checked(one, size, replicas, name) for one, size, name in checked]

    def given(self) -> list[bool]:
        """Return for each player whether a start is given."""
        return [one is not None for one in self._given]

    def of_replica(self, replica: int, random: np.random.Generator) -> list[Vector | None]:
        """Return the start of each player in a replica; random starts are uniform on the simplex."""
        found: list[Vector | None] = []
        any_random = any(isinstance(one, str) for one in self._given)
        for player, (one, size) in enumerate(zip(self._given, self._game.sizes, strict=True)):
            if any_random:  # drawn even if unused, so that players do not affect each other
                drawn = random.dirichlet(np.ones(size))
            if isinstance(one, str):
                found.append(drawn if self._grid is None else self._grid[replica][player])
            else:
                found.append(one if one is None or one.ndim == 1 else one[replica])
        return found


def grid(sizes: Sequence[int], replicas: int) -> list[list[Vector]]:
    """Return one profile of strategies per replica, on a regular grid in the interior of the product of simplices.

    >>> [[strategy.tolist() for strategy in profile] for profile in grid([2, 2], 4)]  # doctest: +NORMALIZE_WHITESPACE
    [[[0.25, 0.75], [0.25, 0.75]], [[0.25, 0.75], [0.75, 0.25]],
     [[0.75, 0.25], [0.25, 0.75]], [[0.75, 0.25], [0.75, 0.25]]]
    """

    def count(per_side: int) -> int:
        return prod(comb(per_side + size - 2, size - 1) for size in sizes)

    per_side = 1
    while count(per_side) < replicas:
        per_side += 1
    if count(per_side) != replicas:
        possible = ", ".join(f"{count(n):,}" for n in range(max(1, per_side - 1), per_side + 2))
        raise InputError(
            f"a grid over {' × '.join(map(str, sizes))} actions needs a number of replicas such as {possible}, "
            f"got {replicas:,}"
        )
    lattices = [_lattice(size, per_side) for size in sizes]
    return [list(profile) for profile in product(*lattices)]


def _lattice(size: int, per_side: int) -> list[Vector]:
    """Return strategies on a regular grid, `per_side` along each edge, at equal distances from the boundary."""
    total = per_side - 1
    weights = (one for one in product(range(total + 1), repeat=size - 1) if sum(one) <= total)
    share = 1 / size  # of a step, so that all boundaries are equally far
    return [(np.array([*one, total - sum(one)]) + share) / (total + 1) for one in weights]


def _check_name(name: str) -> None:
    if name not in NAMES:
        raise unknown("start", name, NAMES)


def _checked(start: Any, size: int, replicas: int, player: str) -> NDArray[np.float64] | str | None:
    """Return a player's start as None, a name, one strategy, or one strategy per replica."""
    if start is None:
        return None
    if isinstance(start, str):
        _check_name(start)
        return start
    if np.ndim(start) != 2:
        return validation.strategy(start, size, player)
    if len(start) != replicas:
        raise InputError(f"{player}'s start must have one strategy for each of {replicas} replicas, got {len(start)}")
    return np.array([validation.strategy(one, size, player) for one in start])
