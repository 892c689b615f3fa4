"""What a game is: players, their actions, and the losses of each action against the others' strategies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Integers, Vector, kernel, part
from gamesim.engine.layout import IntegerLayout
from gamesim.errors import InputError
from gamesim.formatting import memory

__all__ = ["Game", "Table"]

# How large a game may be.
MOST_PAYOFF_BYTES = 2**33  # of all payoffs of one game
MOST_TABLE_PLAYERS = 63  # NumPy's arrays have at most 64 axes, and one is the player who is paid
MOST_PLAYERS = 10**6  # that a setting may ask for
LARGEST_PAYOFF = 1e150  # of either sign: so that products and squares of payoffs stay finite

Arrays = Mapping[str, np.ndarray[Any, Any]]  # what says a game, by name: numbers or labels

_allowed_table_bytes = ContextVar("allowed_table_bytes", default=MOST_PAYOFF_BYTES)


@dataclass(frozen=True, eq=False)
class Game:
    """The contract of every game: names and labels, and a kernel that gives every player's losses.

    `name` is the game's own, `players` are the players' names, and `actions` holds the labels of each player's actions.
    Learners see losses in [-1, 1]: a payoff u becomes 1 - 2 (u - low) / (high - low), with `low` and `high` the least
    and largest payoff of that player. People see payoffs, in the game's own units: `payoff = middle - scale * loss`.

    >>> from gamesim import games
    >>> game = games.make("battle-of-the-sexes")
    >>> game.name, game.players, game.actions[1]
    ('battle-of-the-sexes', ('One', 'Other'), ('opera', 'fight'))
    """

    name: str
    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]

    kernel: ClassVar[Callable[[Integers, Vector, Vector, Vector, Vector], None]]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many actions each player has.

        >>> from gamesim import games
        >>> games.make("uniform", players=3, actions=[2, 3, 4]).sizes
        (2, 3, 4)
        """
        return tuple(len(labels) for labels in self.actions)

    @cached_property
    def cells(self) -> int:
        """How many action profiles there are.

        >>> from gamesim import games
        >>> games.make("uniform", players=3, actions=[2, 3, 4]).cells
        24
        """
        return prod(self.sizes)

    @property
    def range(self) -> tuple[Vector, Vector]:
        """The least and the largest payoff of each player, in payoff units.

        >>> from gamesim import games
        >>> low, high = games.make("inspection").range
        >>> low.tolist(), high.tolist()
        ([-2.0, -3.0], [0.0, 1.0])
        """
        raise NotImplementedError

    @property
    def scale(self) -> Vector:
        """Payoff units per unit of loss, for each player.

        >>> from gamesim import games
        >>> games.make("inspection").scale.tolist()  # payoffs from -2 to 0 and from -3 to 1
        [1.0, 2.0]
        """
        low, high = self.range
        return (high - low) / 2

    @property
    def middle(self) -> Vector:
        """The payoff that a loss of 0 stands for, for each player, in payoff units.

        >>> from gamesim import games
        >>> games.make("inspection").middle.tolist()
        [-1.0, -1.0]
        """
        low, high = self.range
        return (high + low) / 2

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:
        """Return what the kernel reads: integers, numbers, and how many numbers of scratch it needs.

        Only the kernel of the same class knows what they mean; losses in [-1, 1] are among the numbers of a table.

        >>> integers, numbers, scratch = Table.from_payoffs([[[0, 2, 4]], [[1, 3, 9]]]).kernel_arrays()
        >>> integers.tolist(), numbers.tolist(), scratch  # players and sizes; losses, the own action last
        ([2, 1, 3], [1.0, 0.0, -1.0, 1.0, 0.5, -1.0], 0)
        """
        raise NotImplementedError

    def expected_losses(self, profile: Vector) -> Vector:
        """Return every player's expected loss of each action when all play these strategies.

        `profile` holds the strategies of all players laid side by side, and so does the result their losses in [-1, 1].

        >>> from gamesim import games
        >>> chicken = games.make("chicken")  # with payoffs from 0 to 7
        >>> losses = chicken.expected_losses(np.array([1.0, 0.0, 0.5, 0.5]))
        >>> losses.round(3).tolist()
        [-0.143, 0.0, -0.714, -1.0]
        >>> (chicken.middle[0] - chicken.scale[0] * losses[:2]).tolist()  # Row's payoffs: (6 + 2) / 2 and (7 + 0) / 2
        [4.0, 3.5]
        """
        integers, data, scratch = self.kernel_arrays()
        losses = np.zeros(sum(self.sizes))
        type(self).kernel(integers, data, np.zeros(scratch), np.ascontiguousarray(profile, dtype=np.float64), losses)
        return losses

    @classmethod
    def kinds(cls) -> dict[str, type["Game"]]:
        """Return every kind of game that has been imported, by the name of its class.

        >>> from gamesim.games.routing import Routing
        >>> Game.kinds()["Routing"] is Routing
        True
        """
        found: dict[str, type[Game]] = {}
        for kind in cls.__subclasses__():
            found |= {kind.__name__: kind} | kind.kinds()
        return found

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the plain arrays that, with the name, players and actions, say the whole game: what a record keeps.

        >>> from gamesim import games
        >>> {name: part.shape for name, part in games.make("polymatrix").arrays().items()}
        {'edges': (20, 2), 'bimatrices': (640,)}
        """
        raise NotImplementedError

    @classmethod
    def from_arrays(
        cls,
        name: str,
        players: Sequence[str],
        actions: Sequence[Sequence[str]],
        arrays: Arrays,
    ) -> "Game":
        """Return the game that a name, players, actions and arrays say; the opposite of `arrays`.

        >>> payoffs = np.array([[[1, 2]], [[3, 4]]])
        >>> game = Table.from_arrays("small", ("One", "Two"), [["only"], ["left", "right"]], {"payoffs": payoffs})
        >>> game.sizes, game.payoffs[1, 0, 1]
        ((1, 2), np.float64(4.0))
        """
        raise NotImplementedError


@kernel
def _contract(strategy: Vector, table: Vector, result: Vector) -> None:
    """Write the sum of the table's rows, weighted with a strategy; the result may be the table's own first row."""
    length = result.size
    for k in range(length):
        result[k] = strategy[0] * table[k]
    row = 1
    while row + 4 <= strategy.size:  # four rows at a time: the result is loaded and stored once for them
        a, b, c, d = strategy[row], strategy[row + 1], strategy[row + 2], strategy[row + 3]
        at = row * length
        row += 4
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:  # drawn actions are strategies with a single 1
            first, second = part(table, at, at + length), part(table, at + length, at + 2 * length)
            third, fourth = part(table, at + 2 * length, at + 3 * length), part(table, at + 3 * length, at + 4 * length)
            for k in range(length):
                result[k] += (a * first[k] + b * second[k]) + (c * third[k] + d * fourth[k])
    while row < strategy.size:
        weight, last = strategy[row], part(table, row * length, (row + 1) * length)
        for k in range(length):
            result[k] += weight * last[k]
        row += 1


class _Sizes(NamedTuple):
    players: int
    sizes: Integers


_SIZES = IntegerLayout(_Sizes, "", players="int", sizes="players")
_sizes_view = _SIZES.view


@kernel
def _table_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Contract each player's table with the others' strategies; its own axis is the last and remains."""
    players, sizes = _sizes_view(integers)
    cells = 1
    for player in range(players):
        cells *= sizes[player]
    mine = 0
    for player in range(players):
        result = part(losses, mine, mine + sizes[player])
        mine += sizes[player]
        table = part(data, player * cells, (player + 1) * cells)
        if players == 1:
            for k in range(cells):
                result[k] = table[k]
        others, length, at = players - 1, cells, 0
        for other in range(players):
            size = sizes[other]
            if other != player:
                length //= size
                target = result if others == 1 else part(scratch, 0, length)
                _contract(part(profile, at, at + size), table, target)
                table = target
                others -= 1
            at += size


@dataclass(frozen=True, eq=False)
class Table(Game):
    """A game written out: `payoffs[i, a_1, ..., a_n]` is what player i gets when each player j plays a_j.

    Axis 0 is the player who is paid; axis j + 1 is player j's action, always.

    >>> game = Table.from_payoffs([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], name="dilemma")
    >>> game.sizes, game.cells
    ((2, 2), 4)
    >>> game.payoffs[0, 1, 0]  # the first player defects on a cooperating second
    np.float64(5.0)
    """

    payoffs: NDArray[np.float64]

    kernel = _table_losses

    @classmethod
    def from_payoffs(
        cls,
        payoffs: ArrayLike | Sequence[ArrayLike],
        *,
        name: str = "game",
        players: Sequence[str] | None = None,
        actions: Sequence[Sequence[str]] | None = None,
    ) -> "Table":
        """Make a table from one array of payoffs per player, checking everything that a person may get wrong.

        Payoffs are in any units that the player cares about, the same for all of its actions. The `name` is the
        game's; names of `players` and labels of `actions` that are left out are made up.

        >>> labels = [["only"], ["a", "b", "c"]]
        >>> Table.from_payoffs([[[1, 2, 3]], [[4, 5, 6]]], players=["One", "Two"], actions=labels).sizes
        (1, 3)
        >>> Table.from_payoffs([[[1, 2, 3]], [[4, 5, 6]]], actions=[["only"], ["a", "b", "a"]])
        Traceback (most recent call last):
            ...
        gamesim.errors.InputError: the names of Column must differ from one another, and a, b, a came
        """
        tensors = _as_tensors(payoffs)
        count = len(tensors)
        shape = tensors[0].shape
        if players is None:
            players = ("Row", "Column") if count == 2 else tuple(f"Player {i + 1}" for i in range(count))
        if actions is None:
            actions = [[str(a + 1) for a in range(size)] for size in shape]
        if len(players) != count:
            raise InputError(f"{count} payoff arrays need {count} player names, and {len(players)} came: {players}")
        labels = tuple(tuple(str(label) for label in of_player) for of_player in actions)
        if tuple(map(len, labels)) != shape:
            raise InputError(
                f"payoffs of shape {shape} need as many action labels for each player, "
                f"and {tuple(map(len, labels))} came"
            )
        for who, names in (("players", tuple(players)), *zip(players, labels, strict=True)):
            if len(set(names)) != len(names):
                raise InputError(f"the names of {who} must differ from one another, and {', '.join(names)} came")
        stacked = np.stack(tensors)
        stacked += 0.0  # -0.0 is 0.0: files and records then give back every bit
        return cls(name, tuple(map(str, players)), labels, stacked)

    of = Renamed("from_payoffs")

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:  # noqa: D102
        return {"payoffs": self.payoffs}

    @classmethod
    def from_arrays(  # noqa: D102
        cls,
        name: str,
        players: Sequence[str],
        actions: Sequence[Sequence[str]],
        arrays: Arrays,
    ) -> "Table":
        return cls.from_payoffs(arrays["payoffs"], name=name, players=players, actions=actions)

    @cached_property
    def range(self) -> tuple[Vector, Vector]:  # noqa: D102
        flat = self.payoffs.reshape(len(self.players), -1)
        return flat.min(axis=1), flat.max(axis=1)

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """The payoffs as learners see them: losses in [-1, 1].

        >>> Table.from_payoffs([[[0, 2, 4]], [[1, 3, 9]]]).losses.tolist()
        [[[1.0, 0.0, -1.0]], [[1.0, 0.5, -1.0]]]
        """
        shape = (-1, *[1] * len(self.players))
        scale = np.where(self.scale > 0, self.scale, 1.0).reshape(shape)
        result: NDArray[np.float64] = np.clip((self.middle.reshape(shape) - self.payoffs) / scale, -1, 1)
        return result

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        own_last = [np.moveaxis(table, player, -1).ravel() for player, table in enumerate(self.losses)]
        scratch = 0 if len(self.players) <= 2 else self.cells // min(self.sizes)
        return _SIZES.pack(players=len(self.players), sizes=self.sizes), np.concatenate(own_last), scratch


def _as_tensors(payoffs: Any) -> list[NDArray[np.float64]]:
    """Turn what came into one finite array per player, all of one shape with an axis per player."""
    try:
        tensors = [np.array(tensor, dtype=np.float64) for tensor in payoffs]
    except (TypeError, ValueError) as error:
        raise InputError(f"payoffs must be one table of numbers per player, without gaps ({error})") from None
    count = len(tensors)
    if count == 0:
        raise InputError("payoffs must hold one table per player, and none came")
    for i, tensor in enumerate(tensors):
        if tensor.ndim != count or tensor.shape != tensors[0].shape:
            raise InputError(
                f"{count} players need payoff tables with {count} axes and one shape, "
                f"and table {i + 1} has shape {tensor.shape} where table 1 has {tensors[0].shape}"
            )
        if tensor.size == 0:
            raise InputError(f"every player needs at least one action, and the tables have shape {tensor.shape}")
        if not np.isfinite(tensor).all():
            where = tuple(int(k) + 1 for k in np.argwhere(~np.isfinite(tensor))[0])
            raise InputError(
                f"payoffs must be finite, and player {i + 1}'s at {where} is {tensor[~np.isfinite(tensor)][0]}"
            )
        if np.abs(tensor).max() > LARGEST_PAYOFF:
            raise InputError(f"payoffs must lie within ±1e150, and player {i + 1} has {np.abs(tensor).max():g}")
    return tensors


@contextmanager
def tables_within(memory: int) -> Iterator[None]:
    """Allow tables of at most so many bytes while this is entered: for whoever builds games on behalf of others.

    >>> with tables_within(2**20):  # doctest: +ELLIPSIS
    ...     refuse_beyond_memory([1000, 1000])
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: a table for 2 players with 1.0e+6 action profiles needs 15.3 MiB, and 1 MiB is ...
    """
    before = _allowed_table_bytes.set(memory)
    try:
        yield
    finally:
        _allowed_table_bytes.reset(before)


def refuse_beyond_memory(sizes: Sequence[int]) -> None:
    """Refuse a table that would not fit, with the size that it would need.

    >>> refuse_beyond_memory([2] * 40)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: a table for 40 players with 1.1e+12 action profiles needs 320 TiB, ...
    """
    if len(sizes) > MOST_TABLE_PLAYERS:
        raise InputError(
            f"a table holds at most {MOST_TABLE_PLAYERS} players, and {len(sizes)} came: take fewer players, "
            f"or a network game, which needs no table"
        )
    needed = 8 * len(sizes) * prod(sizes)
    if needed > _allowed_table_bytes.get():
        profiles = f"{Decimal(prod(sizes)):.2g}".lower()
        raise InputError(
            f"a table for {len(sizes)} players with {profiles} action profiles needs {memory(needed)}, "
            f"and {memory(_allowed_table_bytes.get())} is the limit: take fewer players or actions, "
            f"or a network game, which needs no table"
        )
