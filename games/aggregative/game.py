"""Symmetric aggregative games: a player's payoff depends on its action and on the sum of the others' weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector, kernel, part
from gamesim.engine.layout import IntegerLayout, Layout
from gamesim.engine.matrices import contract
from gamesim.errors import InputError
from gamesim.game import LARGEST_PAYOFF, Arrays, Game, as_losses
from gamesim.validation import action_labels, whole_numbers

NEGLIGIBLE = 1e-40  # probabilities at the ends of a distribution that are dropped: far below rounding, and slow


class _Sizes(NamedTuple):
    players: int
    size: int  # number of actions
    sums: int  # number of possible sums of the others' weights
    levels: int  # of the tree of players
    weights: Integers


_SIZES = IntegerLayout(_Sizes, "", players="int", size="int", sums="int", levels="int", weights="size")
_sizes_view = _SIZES.view


class _Scratch(NamedTuple):
    fixed: Integers  # the weight of each player who plays a pure strategy, else -1
    mixed: Integers  # the players who mix
    first: Integers  # the least and largest sum of each distribution
    last: Integers
    spare: Vector
    chances: Vector  # one distribution of sums per level


_SCRATCH = Layout(
    _Scratch,
    "players sums levels",
    fixed="int[players]",
    mixed="int[players]",
    first="int[levels]",
    last="int[levels]",
    spare="sums",
    chances="levels * sums",
)
_scratch_view = _SCRATCH.view


# The distribution of the others' sum, for each player in turn, without deconvolution, which is unstable. The players
# are the leaves of a binary tree. The distribution of a node is that of the players outside it, so a child's is its
# parent's convolved with the strategies of its sibling's leaves, and n leaves need n log n convolutions. From one leaf
# to the next, only the nodes on the path from their common ancestor change. Pure strategies merely shift the sum.


@kernel
def _convolve(
    chances: Vector, first: int, last: int, strategy: Vector, weights: Integers, spare: Vector
) -> tuple[int, int]:
    """Add a player to the distribution of a sum from `first` to `last`; return its new least and largest sum."""
    most = 0
    for action in range(weights.size):
        most = max(most, weights[action])
    for total in range(first, last + most + 1):
        spare[total] = 0.0
    for action in range(weights.size):
        chance = strategy[action]
        if chance != 0.0:
            shifted = part(spare, first + weights[action], last + weights[action] + 1)
            for k in range(shifted.size):
                shifted[k] += chance * chances[first + k]
    last += most
    while first < last and spare[first] < NEGLIGIBLE:
        first += 1
    while first < last and spare[last] < NEGLIGIBLE:
        last -= 1
    for total in range(first, last + 1):
        chances[total] = spare[total]
    return first, last


@kernel
def _split(integers: Integers, scratch: Vector, profile: Vector) -> tuple[int, int]:
    """List the players who mix; return their number and the sum of the others' weights."""
    players, size, sums, levels, weights = _sizes_view(integers)
    fixed, mixed, _, _, _, _ = _scratch_view(scratch, players, sums, levels)
    count, total = 0, 0
    for player in range(players):
        fixed[player] = -1
        for action in range(size):
            if profile[player * size + action] == 1.0:
                fixed[player] = weights[action]
        if fixed[player] < 0:
            mixed[count] = player
            count += 1
        else:
            total += fixed[player]
    return count, total


@kernel
def _expected(player: int, shift: int, integers: Integers, table: Vector, scratch: Vector, losses: Vector) -> None:
    """Write a player's expected losses under the distribution of level 0, shifted."""
    players, size, sums, levels, _ = _sizes_view(integers)
    _, _, first, last, spare, chances = _scratch_view(scratch, players, sums, levels)
    begin, end = first[0], last[0] + 1
    rows = part(table, (shift + begin) * size, (shift + end) * size)
    result = part(losses, player * size, (player + 1) * size)
    contract(part(chances, begin, end), rows, result, spare)
    for action in range(size):
        result[action] = min(1.0, max(-1.0, result[action]))


@kernel
def _aggregative_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Write the expected loss of every action under the distribution of the sum of the others' weights."""
    players, size, sums, levels, weights = _sizes_view(integers)
    fixed, mixed, first, last, spare, chances = _scratch_view(scratch, players, sums, levels)
    count, total = _split(integers, scratch, profile)
    top = 0
    while (1 << top) < count:
        top += 1
    first[top] = last[top] = 0
    chances[top * sums] = 1.0
    for leaf in range(count):
        level = top
        if leaf > 0:
            level = 1
            while leaf & ((1 << level) - 1) == 0:
                level += 1
        while level > 0:  # from the common ancestor with the last leaf down to this leaf
            level -= 1
            above, here = (
                part(chances, (level + 1) * sums, (level + 2) * sums),
                part(chances, level * sums, (level + 1) * sums),
            )
            first[level], last[level] = first[level + 1], last[level + 1]
            for k in range(first[level], last[level] + 1):
                here[k] = above[k]
            sibling = (leaf >> level) ^ 1
            for k in range(sibling << level, min((sibling + 1) << level, count)):
                strategy = part(profile, mixed[k] * size, (mixed[k] + 1) * size)
                first[level], last[level] = _convolve(here, first[level], last[level], strategy, weights, spare)
        _expected(mixed[leaf], total, integers, data, scratch, losses)
    if 0 < count < players:
        strategy = part(profile, mixed[count - 1] * size, (mixed[count - 1] + 1) * size)
        first[0], last[0] = _convolve(part(chances, 0, sums), first[0], last[0], strategy, weights, spare)
    for player in range(players):
        if fixed[player] >= 0:
            _expected(player, total - fixed[player], integers, data, scratch, losses)


@dataclass(frozen=True, eq=False, repr=False)
class Aggregative(Game):
    """Represent a symmetric game whose payoffs depend on a sum over the others.

    All players have the same actions, weights and payoffs. Memory grows with the number of players, not with the number
    of action profiles.

    Parameters
    ----------
    name : str
        Name of the game.
    players : tuple of str
        Names of the n players.
    actions : tuple of tuple of str
        Labels of the actions, one tuple per player, all of the same length.
    weights : ndarray of int, shape (actions,)
        Weight of each action, at least 0.
    payoffs : ndarray of float, shape (actions, (n - 1) · max(weights) + 1)
        ``payoffs[a, s]`` is the payoff of a player who plays a while the weights of the others' actions sum to s, in
        payoff units.

    Notes
    -----
    Source: Selten (1970); Jensen (2010), "Aggregative games and best-reply potentials".

    Payoffs:

        u_i(a) = payoffs[a_i, Σ_{j ≠ i} weights[a_j]]

    Expected losses are exact up to rounding: they come from the distribution of the sum of the others' weights, for
    each player in turn. With n players, d actions and S sums this takes O(n log n · d · S) time, and O(n d) if all
    strategies are pure. The range is exact.

    Examples
    --------
    >>> labels, weights = (("stay", "go"),) * 3, np.array([0, 1])
    >>> bar = Aggregative("bar", ("A", "B", "C"), labels, weights, np.array([[0.0, 0.0, 0.0], [1.0, -1.0, -1.0]]))
    >>> bar.expected_losses(np.array([0.5, 0.5, 1.0, 0.0, 0.25, 0.75])).tolist()  # a loss is minus a payoff here
    [0.0, 0.5, 0.0, 0.75, 0.0, 0.0]
    """

    weights: Integers
    payoffs: NDArray[np.float64]

    kernel = _aggregative_losses

    def __post_init__(self) -> None:
        size = self.sizes[0]
        if set(self.sizes) != {size}:
            raise InputError("all players must have the same number of actions in an aggregative game")
        if self.weights.shape != (size,) or self.weights.min() < 0:
            raise InputError(f"weights must have {size} entries, one per action, that are not negative")
        shape = size, self._sums
        if self.payoffs.shape != shape:
            raise InputError(f"payoffs must have shape {shape}, got {self.payoffs.shape}")
        if not (np.abs(self.payoffs) <= LARGEST_PAYOFF).all():
            raise InputError("payoffs must be numbers within ±1e150")

    @cached_property
    def _sums(self) -> int:
        """The number of possible sums of the others' weights, from 0 on."""
        return (len(self.players) - 1) * int(self.weights.max()) + 1

    @cached_property
    def range(self) -> tuple[Vector, Vector]:
        """Return each player's exact minimum and maximum payoff, in payoff units.

        Examples
        --------
        >>> from gamesim import games
        >>> low, high = games.make("pigou-crowd", players=2).range
        >>> low.tolist(), high.tolist()
        ([-1.0, -1.0], [-0.5, -0.5])
        """
        possible = np.zeros(self._sums, dtype=bool)
        possible[0] = True
        for _ in self.players[1:]:
            before, possible = possible, np.zeros_like(possible)
            for weight in np.unique(self.weights).tolist():
                possible[weight:] |= before[: self._sums - weight]
        found = self.payoffs[:, possible]
        return np.full(len(self.players), found.min()), np.full(len(self.players), found.max())

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        return self._prepared

    @cached_property
    def _prepared(self) -> tuple[Integers, Vector, int]:
        count, levels = len(self.players), len(self.players).bit_length() + 1
        sizes = _SIZES.pack(players=count, size=self.sizes[0], sums=self._sums, levels=levels, weights=self.weights)
        losses = as_losses(self.payoffs[None], self.middle[:1], self.scale[:1])[0]
        return sizes, np.ascontiguousarray(losses.T).ravel(), _SCRATCH.size(count, self._sums, levels)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:  # noqa: D102
        return {"weights": self.weights, "payoffs": self.payoffs}

    @classmethod
    def from_arrays(  # noqa: D102
        cls, name: str, players: Sequence[str], actions: Sequence[Sequence[str]], arrays: Arrays
    ) -> "Aggregative":
        weights = whole_numbers("weights", arrays["weights"])
        payoffs = np.ascontiguousarray(arrays["payoffs"], dtype=np.float64)
        return cls(name, tuple(players), action_labels(players, actions), weights, payoffs)
