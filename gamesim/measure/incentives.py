"""The incentive constraints: what a player would gain by deviating from a joint, and the linear system that says so.

A joint q is a correlated equilibrium (CE; Aumann 1974) when no player gains by playing b whenever told a,

    Σ_{a_-i} q(a, a_-i) (u_i(b, a_-i) - u_i(a, a_-i)) ≤ 0      for every player i and all a, b,

and a coarse correlated equilibrium (CCE; Moulin and Vial 1978) when no player gains by playing one b whatever it is
told: the same, summed over a. Everything here is linear in q, and a product of two matrices per player.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log10
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gamesim.engine.compiled import Integers, Vector
from gamesim.engine.sums import LARGEST_JOINT
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game, Table

EquilibriumKind: TypeAlias = Literal["ce", "cce"]  # correlated, or coarse correlated
EQUILIBRIUM_KINDS: tuple[EquilibriumKind, ...] = get_args(EquilibriumKind)
ENTRIES = 2**27  # the largest linear system that is ever written out, in numbers
VIOLATED = 1e-9  # of a player's payoff range: a constraint counts as violated beyond this gain
JOINT_TOLERANCE = 1e-8  # how far the sum of a joint may be from 1, and its entries below 0


def written_out(game: Game) -> Table:
    """Return the game as a table, or say why it cannot be had."""
    if not isinstance(game, Table):
        raise InputError(
            f"{game.name} has no table of payoffs: gaps come from the regrets of a record, distances are left out"
        )
    if game.cells > LARGEST_JOINT:
        raise InputError(
            f"{game.name} has {game.cells} action profiles, and joints are held up to {LARGEST_JOINT}: "
            "take gaps from regrets"
        )
    return game


def no_distance(game: Game) -> str | None:
    """Say why distances cannot be measured in a game, or None if they can."""
    if game.cells > LARGEST_JOINT:
        size = f"{game.cells:,}" if game.cells < 1e12 else f"about 10^{round(log10(game.cells)):,}"
        return f"the joint has {size} cells, more than the {LARGEST_JOINT:,} that are kept; gaps come from the regrets"
    if not isinstance(game, Table):
        return "the game has no payoff table; gaps come from the regrets"
    return None


def checked_kind(kind: EquilibriumKind) -> EquilibriumKind:
    """Return the kind of equilibrium, refusing all but "ce" and "cce"."""
    if kind not in EQUILIBRIUM_KINDS:
        hint = did_you_mean(str(kind), EQUILIBRIUM_KINDS)
        raise InputError(f"an equilibrium is of kind ce or cce, and {kind!r} came: {hint}")
    return kind


def checked_joint(game: Table, joint: ArrayLike) -> NDArray[np.float64]:
    """Return the joint as an array with an axis per player, summing to 1 exactly up to rounding.

    Its sum may be off by 1e-8, and so may entries below 0, as rounding makes them.
    """
    try:
        array = np.array(joint, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a joint must be an array of probabilities ({error})") from None
    if array.shape != game.sizes:
        raise InputError(f"a joint of {game.name} has shape {game.sizes}, an axis per player, and {array.shape} came")
    if not np.isfinite(array).all() or array.min() < -JOINT_TOLERANCE:
        raise InputError(f"a joint holds probabilities, none negative, and {array.flat[np.argmin(array)]} came")
    if abs(array.sum() - 1) > JOINT_TOLERANCE:
        raise InputError(
            f"the probabilities of a joint must sum to 1 within {JOINT_TOLERANCE}, and they sum to {array.sum()!r}"
        )
    array = np.maximum(array, 0)
    result: NDArray[np.float64] = array / array.sum()
    return result


def own_first(array: NDArray[np.float64], player: int) -> NDArray[np.float64]:
    """Return the array as a matrix: the player's own actions down, the profiles of the others across."""
    return np.moveaxis(array, player, 0).reshape(array.shape[player], -1)


def deviation_matrices(game: Game, joint: ArrayLike) -> list[NDArray[np.float64]]:
    """Return for each player of a game the matrix `V[a, b] = Σ_{a_-i} joint(a, a_-i) u_i(b, a_-i)`, in payoff units.

    V[a, b] is what the player is paid, over the rounds in which it is told a, if it plays b instead; the gain of the
    deviation a → b is V[a, b] - V[a, a].

    >>> game = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    >>> deviation_matrices(game, [[0.5, 0.25], [0.25, 0]])[0]
    array([[3.5 , 3.5 ],
           [1.5 , 1.75]])
    """
    table = written_out(game)
    array = checked_joint(table, joint)
    return [own_first(array, i) @ own_first(payoffs, i).T for i, payoffs in enumerate(table.payoffs)]


def gap(game: Game, joint: ArrayLike, kind: EquilibriumKind) -> float:
    """Return the largest gain of any player by deviating, in payoff units a round: 0 exactly in the set.

    `joint` has an axis for each player of the `game`. The `kind` is "ce": the best map of one player's own actions,
    Σ_a max_b (V[a, b] - V[a, a]), its swap regret per round; or "cce": the best single action,
    max_b Σ_a (V[a, b] - V[a, a]), its external regret per round, never below 0.

    >>> pennies = Table.from_payoffs([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> gap(pennies, [[0.5, 0], [0, 0.5]], "ce"), gap(pennies, [[0.5, 0], [0, 0.5]], "cce")
    (2.0, 1.0)
    """
    checked_kind(kind)
    gains = [matrix - np.diag(matrix)[:, None] for matrix in deviation_matrices(game, joint)]
    if kind == "ce":
        return float(max(matrix.max(axis=1).sum() for matrix in gains))
    return float(max(0.0, *(matrix.sum(axis=0).max() for matrix in gains)))


@dataclass(frozen=True)
class Deviation:
    """One way to leave a joint: `player` plays `to`, when told `told`, or whatever it is told (None).

    `gain` is what it brings a round, over all rounds, in payoff units.

    >>> from gamesim import equilibrium, games
    >>> best = equilibrium.polytope(games.make("chicken"), "ce").deviations([[0.7, 0.2], [0.1, 0]])[0]
    >>> best
    Deviation(player='Column', told='chicken out', to='dare', gain=0.5)
    >>> print(best)
    Column should play dare when told chicken out: gains 0.5
    """

    player: str
    told: str | None
    to: str
    gain: float

    def __str__(self) -> str:
        told = "always" if self.told is None else f"when told {self.told}"
        verb = "gains" if self.gain >= 0 else "loses"
        return f"{self.player} should play {self.to} {told}: {verb} {abs(self.gain):.3g}"


@dataclass(frozen=True, eq=False)
class Incentives:
    """The incentive constraints of one kind as a linear system G q ≤ 0, built row by row only where asked.

    Constraints are numbered player by player: a · d + b for a CE, b for a CCE; those with a = b are empty. Gains are
    per unit of each player's payoff range, so that every player weighs the same whatever its units.
    """

    game: Table
    kind: EquilibriumKind

    @cached_property
    def tables(self) -> list[NDArray[np.float64]]:
        """The payoffs of each player in units of its range, own actions down, the others' profiles across."""
        low, high = self.game.range
        spans = np.where(high > low, high - low, 1.0)
        return [own_first((u - low[i]) / spans[i], i) for i, u in enumerate(self.game.payoffs)]

    @cached_property
    def starts(self) -> Integers:
        """Where the constraints of each player begin, and the number of them all."""
        counts = [size**2 if self.kind == "ce" else size for size in self.game.sizes]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def proper(self) -> Integers:
        """The constraints that are not empty."""
        blocks = [
            start + (np.flatnonzero(~np.eye(size, dtype=bool)) if self.kind == "ce" else np.arange(size * (size > 1)))
            for start, size in zip(self.starts[:-1], self.game.sizes, strict=True)
        ]
        return np.concatenate(blocks).astype(np.int64)

    @property
    def entries(self) -> int:
        """How many numbers the whole system has."""
        return sum(size - (self.kind == "ce") for size in self.game.sizes) * self.game.cells

    def best(self, gains: Vector, each: int, above: float) -> Integers:
        """Return the constraints that gain most: for a CE, `each` per player and action told; for a CCE, per player."""
        chosen = []
        for i, size in enumerate(self.game.sizes):
            mine = gains[self.starts[i] : self.starts[i + 1]].reshape(-1, size)
            order = np.argsort(-mine, axis=1, kind="stable")[:, :each]
            constraints = self.starts[i] + order + size * np.arange(len(mine))[:, None]
            chosen.append(constraints[np.take_along_axis(mine, order, axis=1) > above])
        return np.concatenate(chosen)

    def gains(self, joint: NDArray[np.float64]) -> Vector:
        """Return G q for a joint of the game's shape."""
        parts = []
        for i, table in enumerate(self.tables):
            matrix = own_first(joint, i) @ table.T
            gains = matrix - np.diag(matrix)[:, None]
            parts.append(gains.ravel() if self.kind == "ce" else gains.sum(axis=0))
        return np.concatenate(parts)

    def weighted(self, multipliers: Vector) -> NDArray[np.float64]:
        """Return Gᵀ y, for one multiplier per constraint, in the game's shape."""
        total = np.zeros(self.game.sizes)
        for i, (table, y) in enumerate(zip(self.tables, np.split(multipliers, self.starts[1:-1]), strict=True)):
            size = len(table)
            weights = y.reshape(size, size) if self.kind == "ce" else y[None, :]
            pressure = weights @ table - weights.sum(axis=1)[:, None] * table
            others = [*self.game.sizes[:i], *self.game.sizes[i + 1 :]]
            total += np.moveaxis(pressure.reshape(size, *others), 0, i)
        return total

    def rows(self, chosen: Integers) -> csr_array:
        """Return these constraints, in this order, as a sparse matrix with a column per cell."""
        cells = np.arange(self.game.cells).reshape(self.game.sizes)
        player_of = np.searchsorted(self.starts, chosen, side="right") - 1
        parts, orders = [], []
        for i, table in enumerate(self.tables):
            mine = np.flatnonzero(player_of == i)
            if mine.size:
                parts.append(
                    self._rows_of(
                        table, np.moveaxis(cells, i, 0).reshape(len(table), -1), chosen[mine] - self.starts[i]
                    )
                )
                orders.append(mine)
        if not parts:
            return csr_array((0, self.game.cells))
        lengths = np.concatenate([np.full(len(values), values.shape[1]) for values, _ in parts])
        matrix = csr_array(
            (
                np.concatenate([values.ravel() for values, _ in parts]),
                np.concatenate([columns.ravel() for _, columns in parts]),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            shape=(len(chosen), self.game.cells),
        )
        return matrix[np.argsort(np.concatenate(orders))]

    def _rows_of(
        self, table: NDArray[np.float64], cells: Integers, local: Integers
    ) -> tuple[NDArray[np.float64], Integers]:
        """Return the values and the columns of one player's constraints."""
        if self.kind == "ce":
            told, to = np.divmod(local, len(table))
            return table[to] - table[told], cells[told]
        values = table[local][:, None, :] - table[None]
        return values.reshape(len(local), -1), np.broadcast_to(cells.ravel(), (len(local), cells.size))

    def system(self) -> csr_array:
        """Return the whole system, or refuse one that would not fit."""
        self.refuse_beyond_memory()
        return self.rows(self.proper)

    def refuse_beyond_memory(self) -> None:
        """Refuse a system that would not fit when written out."""
        if self.entries > ENTRIES:
            raise InputError(
                f"the {self.kind} constraints of {self.game.name} hold {self.entries} numbers, "
                f"and {ENTRIES} is the limit: take fewer actions"
            )

    def deviation(self, constraint: int, joint: NDArray[np.float64]) -> Deviation:
        """Return a constraint as a deviation that people can read, with its gain at this joint in payoff units."""
        i = int(np.searchsorted(self.starts, constraint, side="right")) - 1
        told, to = divmod(int(constraint - self.starts[i]), self.game.sizes[i])
        own, payoffs = own_first(joint, i), own_first(self.game.payoffs[i], i)
        labels = self.game.actions[i]
        if self.kind == "ce":
            return Deviation(
                self.game.players[i], labels[told], labels[to], float(own[told] @ (payoffs[to] - payoffs[told]))
            )
        return Deviation(self.game.players[i], None, labels[to], float(np.sum(own * (payoffs[to] - payoffs))))

    def deviations(self, joint: NDArray[np.float64]) -> Iterator[Deviation]:
        """Give every deviation at this joint, the most profitable (in payoff units) first."""
        low, high = self.game.range
        gains = self.gains(joint)
        units = np.concatenate([np.full(n, s) for n, s in zip(np.diff(self.starts), high - low, strict=True)])
        order = self.proper[np.argsort(-(gains * units)[self.proper], kind="stable")]
        return (self.deviation(int(constraint), joint) for constraint in order)
