"""How far a joint is from the equilibria, in total variation.

The nearest equilibrium q moves mass: q = joint - taken + added, with 0 ≤ taken ≤ joint and as much added as taken. The
distance is the mass taken, the least for which q satisfies the incentive constraints: a linear program. It has two
variables per cell and, for a CE, a constraint for every pair of a player's actions; yet near learned play only a
twentieth of the constraints bind and few cells change. `Search` finds those and solves a small program instead.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, eye_array, hstack

from gamesim.engine.compiled import Integers, Vector
from gamesim.game import Game
from gamesim.measure.incentives import (
    VIOLATED,
    EquilibriumKind,
    Incentives,
    checked_joint,
    checked_kind,
    written_out,
)
from gamesim.measure.linear_programs import INTERIOR, SIMPLEX, minimise

INTERIOR_FROM = 1000  # cells from which the interior point is faster than the simplex for a CE (measured; d = 32)
SEARCH_FROM = {"ce": 2**15, "cce": 2**14}  # numbers in the system from which the search is the faster way (measured)
FIRST_JOINING = {"ce": 3, "cce": 10}  # constraints in the first program, for each action told or each player
NEXT_JOINING = {"ce": 5, "cce": 10}  # and those that join it at once later
MOST_CONSTRAINTS = 0.25  # the part of many constraints beyond which the whole program is the faster way (measured)
FEW_CONSTRAINTS = 600  # constraints that never are too many
PRICED_OUT = VIOLATED  # what a cell's price may miss 0 or 1 by, and what may be owed
PROVEN_DISTANCE = 1e-8  # how far apart a distance and its bound may be


@dataclass(frozen=True, eq=False)
class Nearest:
    """The equilibrium nearest to a joint in total variation, and a proof that none is nearer.

    `distance` is what it costs to get there; `bound` is the value of the dual program at multipliers ≥ 0, below which
    no equilibrium can be; the two are equal up to rounding.
    """

    joint: NDArray[np.float64]
    distance: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether the distance and its bound meet."""
        return abs(self.distance - self.bound) <= PROVEN_DISTANCE


def dual_bound(incentives: Incentives, joint: NDArray[np.float64], multipliers: Vector) -> float:
    """Return a lower bound on the distance, valid for any multipliers y ≥ 0.

    With z = Gᵀy - min Gᵀy ≥ 0, every equilibrium q has y·Gq ≤ 0, hence Σ q z ≤ -min Gᵀy; and for 0 ≤ min(z, 1) ≤ 1,
    TV(joint, q) ≥ Σ (joint - q) min(z, 1) ≥ Σ joint min(z, 1) + min Gᵀy.
    """
    pressure = incentives.weighted(np.maximum(multipliers, 0))
    least = pressure.min()
    return max(0.0, float(np.sum(joint * np.minimum(pressure - least, 1)) + least))


@dataclass(frozen=True, eq=False)
class _Move:
    """The solution of a program over some constraints and some cells: what is taken, added and still owed."""

    taken: Vector
    added: Vector
    owed: float
    cost: float
    multipliers: Vector

    @classmethod
    def cheapest(
        cls,
        incentives: Incentives,
        flat: Vector,
        constraints: Integers,
        takers: Integers,
        adders: Integers,
        penalty: float | None,
        method: str,
        presolve: bool = True,
    ) -> "_Move":
        """Move mass from `takers` to `adders` until the constraints hold, or owe the rest at a penalty."""
        system = incentives.rows(constraints)
        columns = system.tocsc()
        parts = [-columns[:, takers], columns[:, adders]]
        if penalty is not None:
            parts.append(-eye_array(len(constraints), format="csc"))
        owing = 0 if penalty is None else len(constraints)
        counts = [takers.size, adders.size, owing]
        solution = minimise(
            cost=np.repeat([1.0, 0.0, penalty or 0.0], counts),
            rows=csr_array(hstack(parts, format="csr")),
            limits=-(system @ flat),
            equation=np.repeat([1.0, -1.0, 0.0], counts),
            total=0.0,
            upper=np.concatenate([flat[takers], np.full(adders.size + owing, np.inf)]),
            method=method,
            presolve=presolve,
        )
        taken, added = np.zeros(flat.size), np.zeros(flat.size)
        taken[takers] = solution.point[: takers.size]
        added[adders] = solution.point[takers.size : takers.size + adders.size]
        multipliers = np.zeros(incentives.starts[-1])
        multipliers[constraints] = solution.multipliers
        owed = solution.point[takers.size + adders.size :].sum()
        return cls(taken, added, float(owed), min(1.0, float(taken.sum())), multipliers)

    def nearest(self, incentives: Incentives, joint: NDArray[np.float64]) -> Nearest:
        """Return where the move leads, with its proof."""
        target = np.maximum(joint.ravel() - self.taken + self.added, 0).reshape(joint.shape)
        return Nearest(target, self.cost, dual_bound(incentives, joint, self.multipliers))


def faster_method(incentives: Incentives) -> str:
    """Return the faster way to solve a program with all constraints: simplex or interior point."""
    return INTERIOR if incentives.kind == "ce" and incentives.game.cells >= INTERIOR_FROM else SIMPLEX


def direct(incentives: Incentives, joint: NDArray[np.float64], method: str | None = None) -> Nearest:
    """Solve the whole linear program at once, by simplex or interior point."""
    method = method or faster_method(incentives)
    incentives.refuse_beyond_memory()
    flat = joint.ravel()
    everywhere = np.arange(flat.size)
    for presolve in (True, False):
        move = _Move.cheapest(
            incentives, flat, incentives.proper, np.flatnonzero(flat), everywhere, None, method, presolve
        )
        found = move.nearest(incentives, joint)
        if found.proven:
            return found
    raise ArithmeticError(f"a distance of {found.distance} was found, and only {found.bound} could be proven")


class Search:
    """The distances of joints of one game, each by a search for the constraints and the cells that matter.

    Cells that keep their mass and constraints that hold with room need not be in the program. From a first solution
    over few constraints, its multipliers y price every cell: with z = Gᵀy - min Gᵀy, mass is worth adding where z < 0
    and worth taking where z > 1. Constraints found violated, and cells found worth it, join the program until there
    are none: row and column generation (Dantzig and Wolfe 1960; Kelley 1960). A program with too few cells need not
    have a solution, so constraints may be missed at a penalty, which is raised until none is.

    The next joint, if it is close, starts with what mattered for the last.
    """

    def __init__(self, incentives: Incentives) -> None:
        self.incentives = incentives
        self._forget()

    def _forget(self) -> None:
        """Start anew: nothing is known to matter."""
        self._binding: Integers = np.zeros(0, dtype=np.int64)
        self._prices: Vector | None = None
        self._penalty = 1.0

    def nearest(self, joint: NDArray[np.float64]) -> Nearest:
        """Return the nearest equilibrium; the whole program is solved where a search does not pay."""
        incentives, flat = self.incentives, joint.ravel()
        constraints = incentives.best(incentives.gains(joint), FIRST_JOINING[incentives.kind], VIOLATED / 100)
        if not constraints.size:
            return Nearest(joint, 0.0, 0.0)
        constraints = np.union1d(constraints, self._binding)
        fresh = self._prices is None
        adding, taking = self._promising(flat)
        most = max(FEW_CONSTRAINTS, MOST_CONSTRAINTS * incentives.proper.size)
        while constraints.size <= most and self._penalty < 1e7:
            move = _Move.cheapest(
                incentives,
                flat,
                constraints,
                np.flatnonzero(taking),
                np.flatnonzero(adding),
                None if fresh else self._penalty,
                INTERIOR if incentives.kind == "ce" else SIMPLEX,
            )
            prices = self._learn(move, constraints, adding)
            gains = incentives.gains((flat - move.taken + move.added).reshape(joint.shape))
            violated = np.setdiff1d(incentives.best(gains, NEXT_JOINING[incentives.kind], VIOLATED), constraints)
            if fresh:  # it was solved over all cells: go on with those that look as if they might change
                fresh, (adding, taking) = False, self._promising(flat)
                add, take = move.added > 0, move.taken > 0
            else:
                add, take = (prices < -PRICED_OUT) & ~adding, (prices > 1 + PRICED_OUT) & ~taking & (flat > 0)
            if not (violated.size or add.any() or take.any()):
                if move.owed <= PRICED_OUT:
                    found = move.nearest(incentives, joint)
                    return found if found.proven else direct(incentives, joint)
                self._penalty *= 10
            constraints, adding, taking = np.union1d(constraints, violated), adding | add, taking | take
        self._forget()
        return direct(incentives, joint)

    def _promising(self, flat: Vector) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the cells to which mass may be worth adding, and those from which it may be worth taking."""
        if self._prices is None:
            return np.ones(flat.size, dtype=bool), flat > 0
        return self._prices < 0.15, (self._prices > 0.7) & (flat > 0)

    def _learn(self, move: _Move, constraints: Integers, adding: NDArray[np.bool_]) -> Vector:
        """Keep what the next program starts from, and return the price of every cell."""
        pressure = self.incentives.weighted(move.multipliers).ravel()
        self._prices = pressure - pressure[adding].min()
        self._binding = constraints[move.multipliers[constraints] > 0]
        self._penalty = max(self._penalty, 4 * float(move.multipliers.max()) if move.owed <= PRICED_OUT else 0.0)
        return self._prices


def nearest(incentives: Incentives, joint: NDArray[np.float64]) -> Nearest:
    """Return the nearest equilibrium, by whichever way is the faster one for a program of this size."""
    if incentives.entries < SEARCH_FROM[incentives.kind]:
        return direct(incentives, joint)
    return Search(incentives).nearest(joint)


def along(incentives: Incentives, joints: Iterable[NDArray[np.float64]]) -> Iterator[Nearest]:
    """Give the nearest equilibrium of each joint in turn, as for the checkpoints of a run."""
    search = Search(incentives)
    for joint in joints:
        small = incentives.entries < SEARCH_FROM[incentives.kind]
        yield direct(incentives, joint) if small else search.nearest(joint)


def distance(game: Game, joint: ArrayLike, kind: EquilibriumKind) -> float:
    """Return the total variation between a joint and the nearest CE or CCE: the least mass to move to get there.

    It lies between 0 and 1. `joint` has an axis for each player of the `game`, and `kind` is "ce" or "cce".

    >>> from gamesim.game import Table
    >>> pennies = Table.from_payoffs([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> round(distance(pennies, [[1, 0], [0, 0]], "ce"), 9)
    0.75
    """
    return distances(game, [joint], kind)[0]


def distances(game: Game, joints: Iterable[ArrayLike], kind: EquilibriumKind) -> list[float]:
    """Return the distance of each of several joints of one game, as of a run's checkpoints: each helps the next.

    Distances are total variations, from 0 to 1, and `kind` is "ce" or "cce".

    >>> from gamesim import games
    >>> dilemma = games.make("prisoners-dilemma")
    >>> [round(far, 9) for far in distances(dilemma, [[[0.25, 0.25], [0.25, 0.25]], [[0, 0.1], [0, 0.9]]], "ce")]
    [0.75, 0.1]
    """
    table = written_out(game)
    incentives = Incentives(table, checked_kind(kind))
    arrays = (checked_joint(table, joint) for joint in joints)
    return [found.distance for found in along(incentives, arrays)]
