"""Products with the incentive constraints, which are never written out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Integers, Vector
from gamesim.measure.elimination import own_first
from gamesim.measure.incentives import Incentives

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Multiply by the incentive constraints G on the live profiles, without those that are empty there."""

    incentives: Incentives

    @cached_property
    def cells(self) -> Integers:
        """Return the live profiles."""
        return np.flatnonzero(self.incentives.live)

    @cached_property
    def rows(self) -> Integers:
        """Return the constraints that are not empty."""
        proper = self.incentives.proper
        return proper[self._squares(np.ones(self.cells.size))[proper] > 0]

    @cached_property
    def places(self) -> tuple[Integers, Integers, Integers]:
        """Return the player, the recommended action (0 for a CCE) and the deviation of each constraint."""
        starts, sizes = self.incentives.starts, np.array(self.incentives.game.sizes)
        player = np.searchsorted(starts, self.rows, side="right") - 1
        recommended, to = np.divmod(self.rows - starts[player], sizes[player])
        return player, recommended, to

    def over_game(self, q: Vector) -> Matrix:
        """Return numbers per live profile as an array of the game's shape."""
        full = np.zeros(self.incentives.live.size)
        full[self.cells] = q
        return full.reshape(self.incentives.game.sizes)

    def over_all(self, y: Vector, other: float = 0.0) -> Vector:
        """Return numbers per constraint for all constraints, also empty ones."""
        full = np.full(self.incentives.starts[-1], other)
        full[self.rows] = y
        return full

    def gains(self, q: Vector) -> Vector:
        """Return G q."""
        return self.incentives.gains(self.over_game(q))[self.rows]

    def pressure(self, y: Vector) -> Vector:
        """Return Gᵀ y."""
        return self.incentives.weighted(self.over_all(y)).ravel()[self.cells]

    def squares(self, weights: Vector) -> Vector:
        """Return the diagonal of G D Gᵀ for a diagonal matrix D, up to rounding."""
        return self._squares(weights)[self.rows]

    def _squares(self, weights: Vector) -> Vector:
        parts = []
        for i, table in enumerate(self.incentives.tables):
            own = own_first(self.over_game(weights), i)
            squared = table * table
            found = own @ squared.T - 2 * (own * table) @ table.T + (own * squared).sum(axis=1)[:, None]
            parts.append(found.ravel() if self.incentives.kind == "ce" else found.sum(axis=0))
        found_all: Vector = np.maximum(np.concatenate(parts), 0.0)
        return found_all

    def columns(self, y: Vector) -> Vector:
        """Return the diagonal of Gᵀ Y G for a diagonal matrix Y, up to rounding."""
        total, sizes = np.zeros(self.incentives.game.sizes), self.incentives.game.sizes
        parts = np.split(self.over_all(y), self.incentives.starts[1:-1])
        for i, (table, part) in enumerate(zip(self.incentives.tables, parts, strict=True)):
            weights, squared = part.reshape(-1, len(table)), table * table
            found = weights @ squared - 2 * (weights @ table) * table + weights.sum(axis=1)[:, None] * squared
            total += np.moveaxis(found.reshape(sizes[i], *sizes[:i], *sizes[i + 1 :]), 0, i)
        columns: Vector = np.maximum(total.ravel()[self.cells], 0.0)
        return columns

    def blocks(self, y: Vector, player: int) -> Matrix:
        """Return numbers per constraint of a player, of all, by recommended action, as a view."""
        starts, size = self.incentives.starts, self.incentives.game.sizes[player]
        return y[starts[player] : starts[player + 1]].reshape(-1, size)

    def by_action(self, numbers: list[Matrix], player: int) -> Matrix:
        """Return numbers per profile of the others, by a player's action, as an array of the game's shape."""
        others = [size for j, size in enumerate(self.incentives.game.sizes) if j != player]
        return np.moveaxis(np.reshape(numbers, (-1, *others)), 0, player)

    def coarse_products(self, weights: Vector) -> Matrix:
        """Return G D Gᵀ for a CCE, given the diagonal of D.

        A gain is the sum of two parts: what the deviation earns above the mean over the player's own actions, given
        those of the others, and that mean less what the player earns. The sum of D times the latter over the player's
        actions is 0.
        """
        each, tables, sizes = self.over_game(weights), self.incentives.tables, self.incentives.game.sizes
        above, below, blocks = [], [], [[np.zeros((0, 0))] * len(sizes) for _ in sizes]
        for i, table in enumerate(tables):
            own = own_first(each, i)
            masses = own.sum(axis=0)
            means = (own * table).sum(axis=0) / np.where(masses > 0, masses, 1.0)
            above.append(table - means)
            below.append(self.by_action(list(means - table), i))
            blocks[i][i] = (above[i] * masses) @ above[i].T + float(np.sum(each * below[i] ** 2))
        for i, one in enumerate(sizes):
            for j in range(i + 1, len(sizes)):
                mine = np.moveaxis(above[i].reshape(one, *sizes[:i], *sizes[i + 1 :]), j, -1).reshape(one, -1, sizes[j])
                theirs = np.moveaxis(above[j].reshape(sizes[j], *sizes[:j], *sizes[j + 1 :]), i + 1, -1)
                both = np.moveaxis(each, (i, j), (-2, -1)).reshape(-1, one, sizes[j])
                shared = mine.swapaxes(0, 1) @ both.swapaxes(1, 2)  # for each profile of the others
                block = shared.swapaxes(0, 1).reshape(one, -1) @ theirs.reshape(sizes[j], -1).T
                block += (above[i] @ own_first(each * below[j], i).sum(axis=0))[:, None]
                block += above[j] @ own_first(each * below[i], j).sum(axis=0)
                block += float(np.sum(each * below[i] * below[j]))
                blocks[i][j], blocks[j][i] = block, block.T
        products: Matrix = np.block(blocks)[np.ix_(self.rows, self.rows)]
        return products
