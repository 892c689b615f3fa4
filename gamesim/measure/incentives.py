"""Incentive constraints: what players gain by deviating from a joint distribution.

A joint distribution q is a correlated equilibrium (CE; Aumann 1974) if no player i gains by playing b whenever a is
recommended::

    Σ_{a_-i} q(a, a_-i) (u_i(b, a_-i) - u_i(a, a_-i)) ≤ 0      for all i, a, b

It is a coarse correlated equilibrium (CCE; Moulin and Vial 1978) if no player gains by always playing b: the same,
summed over a. All constraints are linear in q, and the gains of a player are a product of two matrices.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from math import log10
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Integers, Vector
from gamesim.engine.sums import LARGEST_JOINT
from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.measure import rational
from gamesim.measure.elimination import live_profiles, own_first
from gamesim.measure.relative_interior import RelativeInterior, in_floats, in_integers

EquilibriumKind: TypeAlias = Literal["ce", "cce"]  # correlated, or coarse correlated
EQUILIBRIUM_KINDS: tuple[EquilibriumKind, ...] = get_args(EquilibriumKind)
ENTRIES = 2**27  # of the largest linear system that is built
EXACT_PROFILES = 24  # live profiles up to which rational arithmetic takes seconds
TINY = 4  # live profiles up to which rational arithmetic is faster than floating point (measured)
FLOATING_SPREAD = 1e6  # ratio of coefficients in one constraint up to which floating point is trusted
VIOLATED = 1e-9  # share of a player's payoff range beyond which a constraint counts as violated
JOINT_TOLERANCE = 1e-8  # how far the sum may be from 1, and entries below 0


def written_out(game: Game) -> Table:
    """Return the game as a payoff table, or raise an InputError."""
    if not isinstance(game, Table):
        raise InputError(f"{game.name} has no payoff table: use the gaps of a record, which are computed from regrets")
    if game.cells > LARGEST_JOINT:
        raise InputError(
            f"{game.name} has {game.cells} action profiles; the limit for joint distributions is {LARGEST_JOINT}: "
            "use the gaps of a record, which are computed from regrets"
        )
    return game


def no_distance(game: Game) -> str | None:
    """Return why distances cannot be measured in a game, or None if they can."""
    if game.cells > LARGEST_JOINT:
        size = f"{game.cells:,}" if game.cells < 1e12 else f"about 10^{round(log10(game.cells)):,}"
        return (
            f"the game has {size} action profiles, above the limit of {LARGEST_JOINT:,}; gaps are computed from regrets"
        )
    if not isinstance(game, Table):
        return "the game has no payoff table; gaps are computed from regrets"
    return None


def checked_kind(kind: EquilibriumKind) -> EquilibriumKind:
    """Return the kind of equilibrium, or raise an InputError unless it is "ce" or "cce"."""
    if kind not in EQUILIBRIUM_KINDS:
        raise InputError(f'kind must be "ce" or "cce", got {kind!r}')
    return kind


def checked_joint(game: Table, joint: ArrayLike) -> NDArray[np.float64]:
    """Return a joint distribution as a validated array that sums to 1 up to rounding.

    The sum may be off by 1e-8, and so may entries below 0.
    """
    try:
        array = np.array(joint, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"joint must be an array of probabilities ({error})") from None
    if array.shape != game.sizes:
        raise InputError(f"joint must have shape {game.sizes} in {game.name}, one axis per player, got {array.shape}")
    if not np.isfinite(array).all() or array.min() < -JOINT_TOLERANCE:
        raise InputError(f"joint must hold probabilities of at least 0, got {array.flat[np.argmin(array)]}")
    if abs(array.sum() - 1) > JOINT_TOLERANCE:
        raise InputError(f"joint must sum to 1 up to {JOINT_TOLERANCE}, got a sum of {float(array.sum())!r}")
    array = np.maximum(array, 0)
    result: NDArray[np.float64] = array / array.sum()
    return result


def pure_nash(game: Table) -> NDArray[np.bool_]:
    """Return which action profiles are Nash equilibria, up to rounding.

    >>> from gamesim import games
    >>> pure_nash(games.make("prisoners-dilemma")).tolist()
    [[False, False], [False, True]]
    """
    best = [table >= table.max(axis=i, keepdims=True) - 1e-12 for i, table in enumerate(game.payoffs)]
    return np.asarray(np.logical_and.reduce(best))


def deviation_matrices(game: Game, joint: ArrayLike) -> list[NDArray[np.float64]]:
    """Return each player's payoffs under all deviations from a joint distribution.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joint : array_like
        The joint distribution, one axis per player.

    Returns
    -------
    list of ndarray of shape (d_i, d_i)
        For each player the matrix V, in payoff units per round, see Notes.

    Raises
    ------
    InputError
        If the game has no payoff table, or `joint` is not a distribution of its shape.

    Notes
    -----
    Entry V[a, b] is the player's payoff over the rounds in which a is recommended, if it plays b instead::

        V[a, b] = Σ_{a_-i} q(a, a_-i) u_i(b, a_-i)

    The gain of the deviation a → b is V[a, b] - V[a, a].

    Examples
    --------
    >>> game = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    >>> deviation_matrices(game, [[0.5, 0.25], [0.25, 0]])[0]
    array([[3.5 , 3.5 ],
           [1.5 , 1.75]])
    """
    table = written_out(game)
    array = checked_joint(table, joint)
    return [own_first(array, i) @ own_first(payoffs, i).T for i, payoffs in enumerate(table.payoffs)]


def gap(game: Game, joint: ArrayLike, kind: EquilibriumKind) -> float:
    """Return the largest gain of any player by deviating from a joint distribution.

    It is 0 exactly for equilibria. A joint distribution with gap ε is an ε-approximate equilibrium.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joint : array_like
        The joint distribution q, one axis per player.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibrium.

    Returns
    -------
    float
        The gap, in payoff units per round.

    Raises
    ------
    InputError
        If the game has no payoff table, `joint` is not a distribution of its shape, or the kind is unknown.

    Notes
    -----
    With V_i the deviation matrix of player i (see `deviation_matrices`), the gaps are::

        CE gap  = max_i Σ_a max_b (V_i[a, b] - V_i[a, a])
        CCE gap = max(0, max_i max_b Σ_a (V_i[a, b] - V_i[a, a]))

    These are the largest swap regret and the largest external regret per round.

    References
    ----------
    Aumann (1974), "Subjectivity and correlation in randomized strategies".

    Moulin and Vial (1978), "Strategically zero-sum games".

    Examples
    --------
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
    """Describe a deviation of one player from a joint distribution, and its gain.

    Parameters
    ----------
    player : str
        The name of the player.
    recommended : str or None
        The recommended action that is replaced, or None for all actions.
    to : str
        The action that is played instead.
    gain : float
        The gain, in payoff units per round, averaged over all rounds.

    Examples
    --------
    >>> from gamesim import equilibrium, games
    >>> best = equilibrium.polytope(games.make("chicken"), "ce").deviations([[0.7, 0.2], [0.1, 0]])[0]
    >>> best
    Deviation(player='Column', recommended='chicken out', to='dare', gain=0.5)
    >>> print(best)
    Column gains 0.5 by playing dare when chicken out is recommended
    """

    player: str
    recommended: str | None
    to: str
    gain: float

    told = Renamed("recommended")

    def __str__(self) -> str:
        always, when = ("always ", "") if self.recommended is None else ("", f" when {self.recommended} is recommended")
        verb = "gains" if self.gain >= 0 else "loses"
        return f"{self.player} {verb} {abs(self.gain):.3g} by {always}playing {self.to}{when}"


@lru_cache(maxsize=4)  # both kinds for two games: the checkpoints and replicas of a run ask again and again
def incentives_of(game: Table, kind: EquilibriumKind) -> "Incentives":
    """Return the incentive constraints of a game, with what is already known about them."""
    return Incentives(game, kind)


@dataclass(frozen=True, eq=False)
class Incentives:
    """Represent the incentive constraints as a linear system G q ≤ 0, built row by row on demand.

    Constraints are numbered player by player: a · d + b for a CE, b for a CCE; those with a = b are empty. Gains are in
    units of each player's payoff range, so that all players have the same weight.
    """

    game: Table
    kind: EquilibriumKind
    _interior: list[RelativeInterior] = field(default_factory=list, init=False, repr=False)  # once it is found
    solved: dict[bytes, Any] = field(default_factory=dict, init=False, repr=False)  # nearest equilibria, by the joint

    @cached_property
    def tables(self) -> list[NDArray[np.float64]]:
        """Return each player's payoffs in units of its range, its actions as rows.

        Gains depend only on differences within a column, so the largest payoff of each column is subtracted: small
        differences between large payoffs keep their digits.
        """
        low, high = self.game.range
        spans = np.where(high > low, high - low, 1.0)
        tables = [own_first(payoffs, i) for i, payoffs in enumerate(self.game.payoffs)]
        return [(table - table.max(axis=0)) / span for table, span in zip(tables, spans, strict=True)]

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """Return which action profiles may carry mass in an equilibrium, in one dimension."""
        return live_profiles(self.game, coarse=self.kind == "cce").ravel()

    @cached_property
    def exact(self) -> bool:
        """Return whether exact arithmetic is needed and fast: for small sets whose coefficients differ too much."""
        return bool(self.live.sum() <= EXACT_PROFILES) and self._spread > FLOATING_SPREAD

    @cached_property
    def _spread(self) -> float:
        """Return the largest ratio of two coefficients of one constraint on the live profiles."""
        rows = abs(self.rows(self.proper).tocsc()[:, np.flatnonzero(self.live)]).tocsr()
        rows.eliminate_zeros()
        if not rows.nnz:
            return 1.0
        ends = [(rows.data[a:b].max(), rows.data[a:b].min()) for a, b in pairwise(rows.indptr) if b > a]
        return float(max(largest / smallest for largest, smallest in ends))

    @cached_property
    def exact_rows(self) -> dict[int, list[int]]:
        """Return the constraints that are not empty on the live profiles, by number, each as coprime integers."""
        cells = np.flatnonzero(self.live)
        tables = [own_first(payoffs, i) for i, payoffs in enumerate(self.game.payoffs)]
        numbers = np.arange(self.game.cells).reshape(self.game.sizes)
        found = [np.argsort(np.moveaxis(numbers, i, 0), axis=None)[cells] for i in range(len(tables))]
        places = [
            [divmod(place, table.shape[1]) for place in own.tolist()] for own, table in zip(found, tables, strict=True)
        ]
        return rational.integer_rows(tables, places, coarse=self.kind == "cce")

    def interior(self, deadline: float | None = None) -> RelativeInterior:
        """Return the relative interior of the set, over all action profiles and constraints."""
        if not self._interior:
            self.refuse_beyond_memory()
            cells = np.flatnonzero(self.live)
            if self.exact or cells.size <= TINY:
                found = in_integers(self.exact_rows, cells.size, deadline)
            else:
                rows = csr_array(self.rows(self.proper).tocsc()[:, cells])
                found = in_floats(rows, self.proper, deadline)
            self._interior.append(found.over(self.game.cells, cells))
        return self._interior[0]

    @cached_property
    def starts(self) -> Integers:
        """Return the index of each player's first constraint, and the total number."""
        counts = [size**2 if self.kind == "ce" else size for size in self.game.sizes]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def proper(self) -> Integers:
        """Return the constraints that are not empty."""
        blocks = [
            start + (np.flatnonzero(~np.eye(size, dtype=bool)) if self.kind == "ce" else np.arange(size * (size > 1)))
            for start, size in zip(self.starts[:-1], self.game.sizes, strict=True)
        ]
        return np.concatenate(blocks).astype(np.int64)

    @property
    def entries(self) -> int:
        """Return the number of entries of the whole system."""
        return sum(size - (self.kind == "ce") for size in self.game.sizes) * self.game.cells

    def best(self, gains: Vector, each: int, above: float) -> Integers:
        """Return the `each` most violated constraints per recommended action (CE) or player (CCE)."""
        chosen = []
        for i, size in enumerate(self.game.sizes):
            mine = gains[self.starts[i] : self.starts[i + 1]].reshape(-1, size)
            order = np.argsort(-mine, axis=1, kind="stable")[:, :each]
            constraints = self.starts[i] + order + size * np.arange(len(mine))[:, None]
            chosen.append(constraints[np.take_along_axis(mine, order, axis=1) > above])
        return np.concatenate(chosen)

    def gains(self, joint: NDArray[np.float64]) -> Vector:
        """Return G q for a joint distribution q."""
        parts = []
        for i, table in enumerate(self.tables):
            matrix = own_first(joint, i) @ table.T
            gains = matrix - np.diag(matrix)[:, None]
            parts.append(gains.ravel() if self.kind == "ce" else gains.sum(axis=0))
        return np.concatenate(parts)

    def weighted(self, multipliers: Vector) -> NDArray[np.float64]:
        """Return Gᵀ y in the game's shape, for one multiplier per constraint."""
        return self._weighted(multipliers, self.tables, -1.0)

    def rounding_error(self, multipliers: Vector) -> NDArray[np.float64]:
        """Return a bound on the rounding error of Gᵀ y, for multipliers y ≥ 0.

        Payoffs are rounded three times in `tables`, and every sum has at most as many terms as a player has actions.
        """
        terms = 6 + max(self.game.sizes) + len(self.game.sizes)
        sizes = self._weighted(multipliers, [np.abs(table) for table in self.tables], 1.0)
        return float(np.finfo(np.float64).eps) * terms * sizes

    def _weighted(self, multipliers: Vector, tables: Sequence[NDArray[np.float64]], sign: float) -> NDArray[np.float64]:
        total = np.zeros(self.game.sizes)
        for i, (table, y) in enumerate(zip(tables, np.split(multipliers, self.starts[1:-1]), strict=True)):
            size = len(table)
            weights = y.reshape(size, size) if self.kind == "ce" else y[None, :]
            pressure = weights @ table + sign * weights.sum(axis=1)[:, None] * table
            others = [*self.game.sizes[:i], *self.game.sizes[i + 1 :]]
            total += np.moveaxis(pressure.reshape(size, *others), 0, i)
        return total

    @cached_property
    def dense(self) -> NDArray[np.float64]:
        """Return the constraints that are not empty as a dense matrix, for small games."""
        cells = np.eye(self.game.cells).reshape(-1, *self.game.sizes)
        return np.stack([self.gains(cell)[self.proper] for cell in cells], axis=1)

    def rows(self, chosen: Integers) -> csr_array:
        """Return these constraints, in this order, as a sparse matrix with one column per action profile."""
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
            recommended, to = np.divmod(local, len(table))
            return table[to] - table[recommended], cells[recommended]
        values = table[local][:, None, :] - table[None]
        return values.reshape(len(local), -1), np.broadcast_to(cells.ravel(), (len(local), cells.size))

    def scaled_rows(self, chosen: Integers, support: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return constraints on some action profiles, each divided by its largest coefficient, without empty ones."""
        rows = self.rows(chosen).tocsc()[:, np.flatnonzero(support)].toarray()
        largest = np.abs(rows).max(axis=1, initial=0)
        scaled: NDArray[np.float64] = rows[largest > 0] / largest[largest > 0, None]
        return scaled

    def system(self) -> csr_array:
        """Return the whole system, or raise an InputError if it is too large."""
        self.refuse_beyond_memory()
        return self.rows(self.proper)

    def refuse_beyond_memory(self) -> None:
        """Raise an InputError if the whole system exceeds the memory limit."""
        if self.entries > ENTRIES:
            raise InputError(
                f"the {self.kind.upper()} constraints of {self.game.name} have {self.entries} entries; "
                f"the limit is {ENTRIES}: use fewer actions"
            )

    def deviation(self, constraint: int, joint: NDArray[np.float64]) -> Deviation:
        """Return a constraint as a deviation, with its gain in payoff units."""
        i = int(np.searchsorted(self.starts, constraint, side="right")) - 1
        recommended, to = divmod(int(constraint - self.starts[i]), self.game.sizes[i])
        own, payoffs = own_first(joint, i), own_first(self.game.payoffs[i], i)
        labels = self.game.actions[i]
        if self.kind == "ce":
            gain = float(own[recommended] @ (payoffs[to] - payoffs[recommended]))
            return Deviation(self.game.players[i], labels[recommended], labels[to], gain)
        return Deviation(self.game.players[i], None, labels[to], float(np.sum(own * (payoffs[to] - payoffs))))

    def deviations(self, joint: NDArray[np.float64]) -> Iterator[Deviation]:
        """Yield all deviations from a joint distribution, the most profitable (in payoff units) first."""
        low, high = self.game.range
        gains = self.gains(joint)
        units = np.concatenate([np.full(n, s) for n, s in zip(np.diff(self.starts), high - low, strict=True)])
        order = self.proper[np.argsort(-(gains * units)[self.proper], kind="stable")]
        return (self.deviation(int(constraint), joint) for constraint in order)
