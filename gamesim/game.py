"""The interface of a game: players, their actions, and the loss of each action."""

from __future__ import annotations  # so that `help` shows the names of types

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Integers, Vector, kernel, part
from gamesim.engine.layout import IntegerLayout, aligned
from gamesim.engine.matrices import (
    PARTS,
    contract,
    contract_in_parts,
    count_nonzero,
    multiply_both_sides,
)
from gamesim.errors import InputError
from gamesim.formatting import amount, memory, number, one_line
from gamesim.notebook import ROWS, Rows, card, some

__all__ = ["Game", "Table"]

# The limits on a game that is given as data; those on games that are built from settings are in gamesim.games.limits.
MOST_PAYOFF_BYTES = 2**33  # for all payoffs of one game
MOST_TABLE_PLAYERS = 63  # NumPy arrays have at most 64 axes, and one is the player whose payoff it is
FEW_PLAYERS = 4  # players that a summary of a game names
FEWEST_OPPOSITE = 16  # actions of each player from which one pass over the table for both is faster
LARGEST_PAYOFF = 1e150  # in absolute value, so that products and squares of payoffs stay finite

Arrays = Mapping[str, np.ndarray[Any, Any]]  # the arrays that define a game, by name


@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """Define the interface of every game: names, labels, and a kernel for the losses.

    Learners observe losses in [-1, 1]; users see payoffs in the game's units. See Notes.

    Parameters
    ----------
    name : str
        The name of the game.
    players : tuple of str
        The name of each player.
    actions : tuple of tuple of str
        The labels of each player's actions.

    Notes
    -----
    With `low` and `high` the minimum and maximum payoff of a player, a payoff u becomes the loss::

        loss = 1 - 2 (u - low) / (high - low)
        payoff = middle - scale · loss

    Examples
    --------
    >>> from gamesim import games
    >>> game = games.make("battle-of-the-sexes")
    >>> game.name, game.players, game.actions[1]
    ('battle-of-the-sexes', ('One', 'Other'), ('opera', 'fight'))
    >>> game
    <Table: battle-of-the-sexes, 2 players (One, Other), 2×2 actions>
    """

    name: str
    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]

    kernel: ClassVar[Callable[[Integers, Vector, Vector, Vector, Vector], None]]
    # The kernel in stages for several threads: (first, end, integers, data, shared, own, profile, losses), each for the
    # players first..end-1, with scratch space that threads share and their own. All finish one before the next begins.
    stages: ClassVar[tuple[Callable[[int, int, Integers, Vector, Vector, Vector, Vector, Vector], None], ...]] = ()
    timed: ClassVar[bool] = False  # whether the kernel reads the round, from 0, in the first entry of its scratch

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {one_line(self.name)}, {self._summary()}>"

    def _summary(self) -> str:
        """Return the players and the numbers of their actions in a few words."""
        count, sizes = len(self.players), self.sizes
        names = one_line(", ".join(self.players)) if count <= FEW_PLAYERS else ""
        players = f"{count:,} player{'' if count == 1 else 's'}" + (f" ({names})" if names else "")
        if count <= FEW_PLAYERS:
            return f"{players}, {'×'.join(map(str, sizes))} actions"
        alike = f"{sizes[0]} actions each" if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)} actions"
        return f"{players}, {alike}"

    def _repr_html_(self) -> str:
        rows = [(name, some(labels)) for name, labels in zip(self.players[:ROWS], self.actions, strict=False)]
        table = Rows(("player", "actions"), rows, len(self.players))
        return card(type(self).__name__, self.name, [self._summary()], table)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of actions of each player.

        Examples
        --------
        >>> from gamesim import games
        >>> games.make("uniform", players=3, actions=[2, 3, 4]).sizes
        (2, 3, 4)
        """
        return tuple(len(labels) for labels in self.actions)

    @cached_property
    def cells(self) -> int:
        """Return the number of action profiles.

        Examples
        --------
        >>> from gamesim import games
        >>> games.make("uniform", players=3, actions=[2, 3, 4]).cells
        24
        """
        return prod(self.sizes)

    @property
    def range(self) -> tuple[Vector, Vector]:
        """Return each player's minimum and maximum payoff, in payoff units.

        Examples
        --------
        >>> from gamesim import games
        >>> low, high = games.make("inspection").range
        >>> low.tolist(), high.tolist()
        ([-2.0, -3.0], [0.0, 1.0])
        """
        raise NotImplementedError

    @property
    def scale(self) -> Vector:
        """Return the payoff units per unit of loss, for each player.

        Examples
        --------
        >>> from gamesim import games
        >>> games.make("inspection").scale.tolist()  # payoffs from -2 to 0 and from -3 to 1
        [1.0, 2.0]
        """
        low, high = self.range
        return (high - low) / 2

    @property
    def middle(self) -> Vector:
        """Return the payoff that corresponds to a loss of 0, in payoff units per player.

        Examples
        --------
        >>> from gamesim import games
        >>> games.make("inspection").middle.tolist()
        [-1.0, -1.0]
        """
        low, high = self.range
        return (high + low) / 2

    @property
    def own_kernel(self) -> Callable[[Integers, Vector, Vector, Vector, Vector], None]:
        """Return the kernel for this game: that of the class, or a faster one.

        Examples
        --------
        >>> from gamesim import games
        >>> [games.make("zero-sum", actions=size).own_kernel is Table.kernel for size in (2, 100)]
        [True, False]
        """
        return type(self).kernel

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:
        """Return the arrays that the kernel reads.

        Their meaning is private to the class and its kernel. For a `Table` the numbers include the losses in [-1, 1].

        Returns
        -------
        integers : ndarray of int
            The sizes and indices.
        numbers : ndarray of float
            The losses or coefficients.
        scratch : int
            The number of floats of scratch space that the kernel needs.

        Examples
        --------
        >>> integers, numbers, scratch = Table.from_payoffs([[[0, 2, 4]], [[1, 3, 9]]]).kernel_arrays()
        >>> integers.tolist(), numbers.tolist(), scratch  # players and sizes; losses, a player's action varies fastest
        ([2, 1, 3], [1.0, 0.0, -1.0, 1.0, 0.5, -1.0], 3)
        """
        raise NotImplementedError

    def expected_losses(self, profile: Vector) -> Vector:
        """Return the expected loss of every action against the other players' strategies.

        Parameters
        ----------
        profile : ndarray of float
            The mixed strategies of all players, concatenated.

        Returns
        -------
        ndarray of float
            The expected loss of each action in [-1, 1], concatenated over players.

        Examples
        --------
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
        self.own_kernel(integers, data, np.zeros(scratch), np.ascontiguousarray(profile, dtype=np.float64), losses)
        return losses

    @classmethod
    def kinds(cls) -> dict[str, type[Game]]:
        """Return every imported subclass of `Game`, by class name.

        Returns
        -------
        dict of str to type
            The classes.

        Examples
        --------
        >>> from gamesim.games.routing import Routing
        >>> Game.kinds()["Routing"] is Routing
        True
        """
        found: dict[str, type[Game]] = {}
        for kind in cls.__subclasses__():
            found |= {kind.__name__: kind} | kind.kinds()
        return found

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays that, with the name, players and actions, define the game.

        A record stores these arrays.

        Returns
        -------
        dict of str to ndarray
            The arrays by name. Payoffs are in payoff units.

        Examples
        --------
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
    ) -> Game:
        """Construct the game from its name, players, actions and arrays.

        This is the inverse of `arrays`.

        Parameters
        ----------
        name : str
            The name of the game.
        players : sequence of str
            The name of each player.
        actions : sequence of sequence of str
            The labels of each player's actions.
        arrays : mapping of str to ndarray
            The arrays that `arrays` returned.

        Returns
        -------
        Game
            The game.

        Examples
        --------
        >>> payoffs = np.array([[[1, 2]], [[3, 4]]])
        >>> game = Table.from_arrays("small", ("One", "Two"), [["only"], ["left", "right"]], {"payoffs": payoffs})
        >>> game.sizes, game.payoffs[1, 0, 1]
        ((1, 2), np.float64(4.0))
        """
        raise NotImplementedError


class _Sizes(NamedTuple):
    players: int
    sizes: Integers


_SIZES = IntegerLayout(_Sizes, "", players="int", sizes="players")
_sizes_view = _SIZES.view


@kernel
def _opposite_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Multiply the second player's table with both strategies in one pass, unless many actions have no weight."""
    sizes = _sizes_view(integers).sizes
    rows, columns = sizes[0], sizes[1]
    left, right = part(profile, 0, rows), part(profile, rows, rows + columns)
    beside, below = part(losses, 0, rows), part(losses, rows, rows + columns)
    first, second = part(data, 0, rows * columns), part(data, rows * columns, 2 * rows * columns)
    parts = part(scratch, 0, PARTS * rows)
    if 8 * (count_nonzero(left) * columns + count_nonzero(right) * rows) >= 7 * rows * columns:
        multiply_both_sides(left, second, right, beside, below, parts)
    else:
        contract_in_parts(right, first, beside, part(scratch, scratch.size - columns, scratch.size), parts)
        contract(left, second, below, part(scratch, scratch.size - rows, scratch.size))


@kernel
def _table_losses(integers: Integers, data: Vector, scratch: Vector, profile: Vector, losses: Vector) -> None:
    """Contract each player's table with the others' strategies; the player's axis is last and remains."""
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
                strategy = part(profile, at, at + size)
                contract(strategy, table, target, part(scratch, scratch.size - size, scratch.size))
                table = target
                others -= 1
            at += size


@dataclass(frozen=True, eq=False, repr=False)
class Table(Game):
    """Represent a game in normal form, as a payoff table.

    Parameters
    ----------
    name : str
        The name of the game.
    players : tuple of str
        The name of each player.
    actions : tuple of tuple of str
        The labels of each player's actions.
    payoffs : ndarray of shape (n, d_1, ..., d_n)
        ``payoffs[i, a_1, ..., a_n]`` is the payoff of player i when each player j plays a_j, in payoff units.

    Examples
    --------
    >>> game = Table.from_payoffs([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], name="dilemma")
    >>> game.sizes, game.cells
    ((2, 2), 4)
    >>> game.payoffs[0, 1, 0]  # the first player defects on a cooperating second
    np.float64(5.0)
    """

    payoffs: NDArray[np.float64]

    kernel = _table_losses

    def _repr_html_(self) -> str:
        if len(self.players) != 2 or max(self.sizes) > ROWS:
            return super()._repr_html_()
        rows = [
            (label, *(f"{number(float(one))}, {number(float(two))}" for one, two in zip(*cells, strict=True)))
            for label, *cells in zip(self.actions[0], *self.payoffs, strict=True)
        ]
        table = Rows(
            (" \\ ".join(self.players), *self.actions[1]), rows, len(rows), frozenset(range(1, self.sizes[1] + 1))
        )
        return card("Table", self.name, [self._summary()], table, f"payoffs of {' and '.join(self.players)}")

    @classmethod
    def from_payoffs(
        cls,
        payoffs: ArrayLike | Sequence[ArrayLike],
        *,
        name: str = "game",
        players: Sequence[str] | None = None,
        actions: Sequence[Sequence[str]] | None = None,
    ) -> Table:
        """Construct a validated game from one payoff array per player.

        Parameters
        ----------
        payoffs : sequence of array_like
            One array per player with one axis per player. The units are up to you, as long as they are the same for all
            actions of a player.
        name : str, default "game"
            The name of the game.
        players : sequence of str, optional
            The name of each player. By default "Row" and "Column", or "Player 1", "Player 2", ...
        actions : sequence of sequence of str, optional
            The labels of each player's actions. By default "1", "2", ...

        Returns
        -------
        Table
            The game.

        Raises
        ------
        InputError
            If the payoffs are ragged, not finite or larger than 1e150, or if names do not fit them or are not unique.

        Examples
        --------
        >>> labels = [["only"], ["a", "b", "c"]]
        >>> Table.from_payoffs([[[1, 2, 3]], [[4, 5, 6]]], players=["One", "Two"], actions=labels).sizes
        (1, 3)
        >>> Table.from_payoffs([[[1, 2, 3]], [[4, 5, 6]]], actions=[["only"], ["a", "b", "a"]])
        Traceback (most recent call last):
            ...
        gamesim.errors.InputError: the names of Column must be unique, got a, b, a
        """
        tensors = _as_tensors(payoffs)
        count = len(tensors)
        shape = tensors[0].shape
        if players is None:
            players = ("Row", "Column") if count == 2 else tuple(f"Player {i + 1}" for i in range(count))
        if actions is None:
            actions = [[str(a + 1) for a in range(size)] for size in shape]
        if len(players) != count:
            raise InputError(f"{count} payoff arrays need {count} player names, got {len(players)}: {players}")
        labels = tuple(tuple(str(label) for label in of_player) for of_player in actions)
        if tuple(map(len, labels)) != shape:
            raise InputError(
                f"payoffs of shape {shape} need one label per action, got {tuple(map(len, labels))} labels"
            )
        for who, names in (("players", tuple(players)), *zip(players, labels, strict=True)):
            if len(set(names)) != len(names):
                raise InputError(f"the names of {who} must be unique, got {', '.join(names)}")
        stacked = np.stack(tensors)
        stacked += 0.0  # turns -0.0 into 0.0, so that files and records round-trip bit for bit
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
    ) -> Table:
        return cls.from_payoffs(arrays["payoffs"], name=name, players=players, actions=actions)

    @cached_property
    def range(self) -> tuple[Vector, Vector]:  # noqa: D102
        flat = self.payoffs.reshape(len(self.players), -1)
        return flat.min(axis=1), flat.max(axis=1)

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """Return the payoffs as learners observe them, as losses in [-1, 1].

        Examples
        --------
        >>> Table.from_payoffs([[[0, 2, 4]], [[1, 3, 9]]]).losses.tolist()
        [[[1.0, 0.0, -1.0]], [[1.0, 0.5, -1.0]]]
        """
        return as_losses(self.payoffs, self.middle, self.scale)

    @cached_property
    def opposite(self) -> bool:
        """Return whether two players of many actions have opposite losses.

        Their losses in [-1, 1] then add up to exactly 0 in every action profile, and the kernel multiplies one table
        with both strategies. It takes 16 actions each for this to be faster.

        Examples
        --------
        >>> from gamesim import games
        >>> games.make("zero-sum", actions=100).opposite, games.make("uniform", actions=100).opposite
        (True, False)
        """
        if len(self.sizes) != 2 or min(self.sizes) < FEWEST_OPPOSITE:
            return False
        first, second = as_losses(self.payoffs, self.middle, self.scale)
        return bool((first == -second).all())

    @property
    def own_kernel(self) -> Callable[[Integers, Vector, Vector, Vector, Vector], None]:  # noqa: D102
        return _opposite_losses if self.opposite else type(self).kernel

    def own_last(self) -> list[NDArray[np.float64]]:
        """Return each player's table of losses, with the player's own axis last.

        Returns
        -------
        list of ndarray
            One table per player, in units of loss.

        Examples
        --------
        >>> [table.shape for table in Table.from_payoffs([[[0, 2, 4]], [[1, 3, 9]]]).own_last()]
        [(3, 1), (1, 3)]
        """
        return _own_last(self.losses)

    def kernel_arrays(self) -> tuple[Integers, Vector, int]:  # noqa: D102
        return self._kernel_arrays

    @cached_property
    def _kernel_arrays(self) -> tuple[Integers, Vector, int]:
        return table_kernel_arrays(as_losses(self.payoffs, self.middle, self.scale), self.opposite)


def as_losses(payoffs: NDArray[np.float64], middle: Vector, scale: Vector) -> NDArray[np.float64]:
    """Return payoffs, with one table per player, as losses in [-1, 1].

    >>> as_losses(np.array([[[0.0, 2.0, 4.0]]]), np.array([2.0]), np.array([2.0])).tolist()
    [[[1.0, 0.0, -1.0]]]
    """
    shape = (-1, *[1] * (payoffs.ndim - 1))
    divisor = np.where(scale > 0, scale, 1.0).reshape(shape)
    result: NDArray[np.float64] = middle.reshape(shape) - payoffs
    result /= divisor
    return np.clip(result, -1, 1, out=result)


def _own_last(losses: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [np.moveaxis(table, player, -1) for player, table in enumerate(losses)]


def table_kernel_arrays(losses: NDArray[np.float64], opposite: bool) -> tuple[Integers, Vector, int]:
    """Return the arrays that the kernel of a `Table` reads, given one table of losses per player."""
    sizes = losses.shape[1:]
    scratch = max(sizes) + (PARTS * sizes[0] if opposite else 0 if len(sizes) <= 2 else losses[0].size // min(sizes))
    numbers = np.concatenate([table.ravel() for table in _own_last(losses)], out=aligned(losses.size))
    return _SIZES.pack(players=len(sizes), sizes=sizes), numbers, scratch


def _as_tensors(payoffs: Any) -> list[NDArray[np.float64]]:
    """Return one finite array per player, all of one shape with one axis per player."""
    try:
        tensors = [np.asarray(tensor, dtype=np.float64) for tensor in payoffs]
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"payoffs must be one rectangular array of numbers per player ({error})") from None
    count = len(tensors)
    if count == 0:
        raise InputError("payoffs must hold one array per player, got none")
    for i, tensor in enumerate(tensors):
        if tensor.ndim != count or tensor.shape != tensors[0].shape:
            raise InputError(
                f"{count} players need payoff arrays with {count} axes and the same shape, "
                f"got shape {tensor.shape} for player {i + 1}{f' and {tensors[0].shape} for player 1' if i else ''}"
            )
        if tensor.size == 0:
            raise InputError(f"every player needs at least one action, got payoffs of shape {tensor.shape}")
        if not np.isfinite(tensor).all():
            where = tuple(int(k) + 1 for k in np.argwhere(~np.isfinite(tensor))[0])
            raise InputError(
                f"payoffs must be finite, got {tensor[~np.isfinite(tensor)][0]} for player {i + 1} at {where}"
            )
        if np.abs(tensor).max() > LARGEST_PAYOFF:
            raise InputError(
                f"payoffs must lie within ±1e150, got {np.abs(tensor).max():g} in absolute value for player {i + 1}"
            )
    return tensors


def refuse_beyond_memory(sizes: Sequence[int]) -> None:
    """Raise an InputError if a payoff table of these sizes exceeds the memory limit.

    >>> refuse_beyond_memory([2] * 40)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: a payoff table for 40 players with 1,099,511,627,776 action profiles needs 320 TiB; ...
    """
    if len(sizes) > MOST_TABLE_PLAYERS:
        raise InputError(
            f"a payoff table can have at most {MOST_TABLE_PLAYERS} players, got {len(sizes)}: use fewer players "
            f"or a network game, which needs no table"
        )
    needed = 8 * len(sizes) * prod(sizes)
    if needed > MOST_PAYOFF_BYTES:
        profiles = amount(prod(sizes))
        raise InputError(
            f"a payoff table for {len(sizes)} players with {profiles} action profiles needs {memory(needed)}; "
            f"the limit is {memory(MOST_PAYOFF_BYTES)}: use fewer players or actions, "
            f"or a network game, which needs no table"
        )
