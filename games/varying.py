"""Games that change over time: payoff tables that follow each other, abruptly or by drifting."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import validation
from gamesim.engine.compiled import Integers, Vector, kernel, part
from gamesim.engine.layout import IntegerLayout
from gamesim.errors import InputError, unknown
from gamesim.game import LARGEST_PAYOFF, Arrays, Game, Table, as_losses, table_kernel_arrays

__all__ = ["Varying"]

Change: TypeAlias = Literal["abrupt", "drifting"]
CHANGES: tuple[Change, ...] = get_args(Change)


class Sizes(NamedTuple):
    """Integers of a varying game."""

    tables: int
    every: int  # rounds that a table lasts
    drifting: int
    length: int  # numbers of one table
    table: Integers  # integers of the tables


SIZES = IntegerLayout(Sizes, "", tables="int", every="int", drifting="int", length="int", table="rest")
_sizes = SIZES.view
_of_table = Table.kernel


@kernel
def _losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    tables, every, drifting, length, table = _sizes(integers)
    round = int(scratch[0])
    now = round // every % tables
    rest, first = part(scratch, 1, scratch.size - losses.size), part(scratch, scratch.size - losses.size, scratch.size)
    _of_table(table, part(data, now * length, (now + 1) * length), rest, profile, losses)
    if drifting == 1:
        following = (now + 1) % tables
        share = (round % every) / every
        _of_table(table, part(data, following * length, (following + 1) * length), rest, profile, first)
        for i in range(losses.size):
            losses[i] += share * (first[i] - losses[i])


@dataclass(frozen=True, eq=False, repr=False)
class Varying(Game):
    """Represent a game whose payoffs follow a schedule.

    Parameters
    ----------
    name : str
        The name of the game.
    players : tuple of str
        The names of the players.
    actions : tuple of tuple of str
        The labels of each player's actions.
    payoffs : ndarray of shape (tables, players, actions of the first player, ...)
        The payoff tables.
    every : int, default 1
        The number of rounds that each table lasts. After the last table, the first follows.
    change : {"abrupt", "drifting"}, default "abrupt"
        Whether payoffs change from one table to the next at once, or linearly over its rounds.

    Notes
    -----
    Measures are of the payoffs that were played in each round. There is no single table, so there is no distance to a
    set of equilibria, and the Nash gap is that of the first table.

    Examples
    --------
    >>> import gamesim
    >>> pennies = [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]
    >>> swapped = [[[-1, 1], [1, -1]], [[1, -1], [-1, 1]]]
    >>> game = Varying.from_tables([pennies, swapped], every=10)
    >>> gamesim.simulate(game, ["hedge", "fixed"], rounds=20, opening=[[1, 0], None]).payoffs.round(3).tolist()
    [0.0, 0.0]
    """

    payoffs: NDArray[np.float64]
    every: int = 1
    change: Change = "abrupt"

    kernel = _losses
    timed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.change not in CHANGES:
            raise unknown("change", self.change, CHANGES)
        validation.whole_number("every", self.every, least=1, most=validation.MOST_ROUNDS)
        shape = (len(self.players), *self.sizes)
        if len(self.payoffs) == 0 or self.payoffs.shape[1:] != shape:
            raise InputError(f"payoffs must be tables of shape {shape}, got an array of shape {self.payoffs.shape}")
        if not (np.abs(self.payoffs) <= LARGEST_PAYOFF).all():
            raise InputError("payoffs must be numbers within ±1e150")

    @classmethod
    def from_tables(
        cls,
        tables: Sequence[Sequence[ArrayLike]],
        *,
        every: int = 1,
        change: Change = "abrupt",
        name: str = "varying",
        players: Sequence[str] | None = None,
        actions: Sequence[Sequence[str]] | None = None,
    ) -> "Varying":
        """Return a game that plays these tables one after the other.

        Parameters
        ----------
        tables : sequence
            For each table, one array of payoffs per player, see `Table.from_payoffs`.
        every : int, default 1
            The number of rounds that each table lasts.
        change : {"abrupt", "drifting"}, default "abrupt"
            Whether payoffs change at once or linearly.
        name : str, default "varying"
            The name of the game.
        players : sequence of str, optional
            The names of the players.
        actions : sequence of sequence of str, optional
            The labels of each player's actions.

        Returns
        -------
        Varying
            The game.

        Raises
        ------
        InputError
            If there is no table, the tables differ in shape, or an argument is invalid.

        Examples
        --------
        >>> drift = Varying.from_tables([[[0, 1]], [[1, 0]]], every=100, change="drifting")
        >>> drift.sizes, drift.change
        ((2,), 'drifting')
        """
        if len(tables) == 0:
            raise InputError("tables must have at least one table, got none")
        made = [Table.from_payoffs(one, name=name, players=players, actions=actions) for one in tables]
        if len({one.sizes for one in made}) > 1:
            shapes = ", ".join(" × ".join(map(str, one.sizes)) for one in made[:5])
            raise InputError(f"all tables must have the same shape, got {shapes}")
        payoffs = np.stack([one.payoffs for one in made])
        return cls(name, made[0].players, made[0].actions, payoffs, every, change)

    @cached_property
    def range(self) -> tuple[Vector, Vector]:  # noqa: D102
        axes = (0, *np.arange(2, self.payoffs.ndim))
        return self.payoffs.min(axis=axes), self.payoffs.max(axis=axes)

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        losses = as_losses(np.moveaxis(self.payoffs, 1, 0), self.middle, self.scale)  # for each player, all tables
        tables = losses.shape[1]
        integers, _, scratch = table_kernel_arrays(losses[:, 0], opposite=False)
        numbers = np.hstack([np.moveaxis(one, 1 + i, -1).reshape(tables, -1) for i, one in enumerate(losses)])
        packed = SIZES.pack(
            tables=tables,
            every=self.every,
            drifting=int(self.change == "drifting"),
            length=numbers.shape[1],
            table=integers,
        )
        return packed, numbers.ravel(), 1 + scratch + sum(self.sizes)

    def arrays(self) -> dict[str, NDArray[np.float64]]:  # noqa: D102
        return {"payoffs": self.payoffs, "schedule": np.array([self.every, CHANGES.index(self.change)])}

    @classmethod
    def from_arrays(  # noqa: D102
        cls,
        name: str,
        players: Sequence[str],
        actions: Sequence[Sequence[str]],
        arrays: Arrays,
    ) -> "Varying":
        every, change = map(int, validation.whole_numbers("schedule", arrays["schedule"]))
        payoffs = np.ascontiguousarray(arrays["payoffs"], dtype=np.float64)
        return cls(name, tuple(players), tuple(map(tuple, actions)), payoffs, every, CHANGES[change])
