"""The distance of a joint distribution to the set of equilibria, in total variation.

The nearest equilibrium q moves probability mass: q = joint - taken + added, with 0 ≤ taken ≤ joint and equal sums of
taken and added. The distance is the minimum mass taken such that q satisfies the incentive constraints: a linear
program. It has two variables per action profile and, for a CE, one constraint per pair of a player's actions. Near
learned play only about a twentieth of the constraints bind and few probabilities change. `Search` finds those and
solves a small program instead.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from time import monotonic

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, eye_array, hstack

from gamesim.engine.compiled import Integers, Vector
from gamesim.game import Game
from gamesim.measure import rational
from gamesim.measure.incentives import (
    VIOLATED,
    EquilibriumKind,
    Incentives,
    checked_joint,
    checked_kind,
    written_out,
)
from gamesim.measure.linear_programs import INTERIOR, SIMPLEX, minimise

INTERIOR_FROM = 1000  # cells from which interior point beats simplex for CE (measured; d = 32)
SEARCH_FROM = {"ce": 2**15, "cce": 2**14}  # entries from which the search is faster (measured)
FIRST_JOINING = {"ce": 3, "cce": 10}  # constraints in the first program, per recommended action or player
NEXT_JOINING = {"ce": 5, "cce": 10}  # and those that join it at a time later
MOST_CONSTRAINTS = 0.25  # share of all constraints beyond which the whole program is faster (measured)
FEW_CONSTRAINTS = 600  # a number of constraints that is never too many
PRICED_OUT = VIOLATED  # tolerance for a cell's price beyond 0 or 1, and for what is owed
PROVEN_DISTANCE = 1e-8  # tolerance between a distance and its bound
FLOATING_SPREAD = 1e6  # ratio of coefficients in one constraint up to which floating point is trusted
EXACT_PROFILES = 24  # live profiles up to which rational arithmetic takes seconds
EXACT_SECONDS = 60.0


@dataclass(frozen=True, eq=False)
class Nearest:
    """Hold the equilibrium nearest to a joint distribution in total variation, with a proof.

    `distance` is the mass to move; `bound` is the value of the dual program at multipliers ≥ 0, a lower bound on the
    distance. The two are equal up to rounding.
    """

    joint: NDArray[np.float64]
    distance: float
    bound: float

    @property
    def proven(self) -> bool:
        """Return whether the distance equals its lower bound."""
        return abs(self.distance - self.bound) <= PROVEN_DISTANCE


def dual_bound(incentives: Incentives, joint: NDArray[np.float64], multipliers: Vector) -> float:
    """Return a lower bound on the distance, valid for any multipliers y ≥ 0.

    Let z = Gᵀy - min Gᵀy ≥ 0. Every equilibrium q has y·Gq ≤ 0, hence Σ q z ≤ -min Gᵀy, and as 0 ≤ min(z, 1) ≤ 1::

        TV(joint, q) ≥ Σ (joint - q) min(z, 1) ≥ Σ joint min(z, 1) + min Gᵀy

    Sums and minima are over the profiles that may carry mass in an equilibrium; all other mass has to move.
    """
    live, flat = incentives.live, joint.ravel()
    pressure = incentives.weighted(np.maximum(multipliers, 0)).ravel()[live]
    least = pressure.min()
    outside = float(flat[~live].sum())
    return max(0.0, outside + float(np.sum(flat[live] * np.minimum(pressure - least, 1)) + least))


@dataclass(frozen=True, eq=False)
class _Move:
    """Hold the solution of a restricted program: the mass taken, added, and still owed."""

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
        """Move mass from `takers` to `adders` until the constraints hold, or owe the rest at a penalty.

        The mass of profiles that carry none in any equilibrium moves in any case.
        """
        kept = np.where(incentives.live, flat, 0.0)
        outside = flat - kept
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
            limits=-(system @ kept),
            equation=np.repeat([1.0, -1.0, 0.0], counts),
            total=-float(outside.sum()),
            upper=np.concatenate([flat[takers], np.full(adders.size + owing, np.inf)]),
            method=method,
            presolve=presolve,
        )
        taken, added = outside.copy(), np.zeros(flat.size)
        taken[takers] = solution.point[: takers.size]
        added[adders] = solution.point[takers.size : takers.size + adders.size]
        multipliers = np.zeros(incentives.starts[-1])
        multipliers[constraints] = solution.multipliers
        owed = solution.point[takers.size + adders.size :].sum()
        return cls(taken, added, float(owed), min(1.0, float(taken.sum())), multipliers)

    def nearest(self, incentives: Incentives, joint: NDArray[np.float64]) -> Nearest:
        """Return the result of the move, with its proof."""
        target = np.maximum(joint.ravel() - self.taken + self.added, 0).reshape(joint.shape)
        return Nearest(target, self.cost, dual_bound(incentives, joint, self.multipliers))


def faster_method(incentives: Incentives) -> str:
    """Return the faster solver for a program with all constraints: simplex or interior point."""
    return INTERIOR if incentives.kind == "ce" and incentives.game.cells >= INTERIOR_FROM else SIMPLEX


def direct(incentives: Incentives, joint: NDArray[np.float64], method: str | None = None) -> Nearest:
    """Solve the whole linear program at once, by simplex or interior point."""
    method = method or faster_method(incentives)
    incentives.refuse_beyond_memory()
    flat = joint.ravel()
    live = incentives.live
    if live.sum() <= EXACT_PROFILES and incentives.spread > FLOATING_SPREAD:
        return exact(incentives, joint)
    for presolve in (True, False):
        move = _Move.cheapest(
            incentives,
            flat,
            incentives.proper,
            np.flatnonzero(live & (flat > 0)),
            np.flatnonzero(live),
            None,
            method,
            presolve,
        )
        found = move.nearest(incentives, joint)
        if found.proven:
            return found
    raise ArithmeticError(
        f"the distance {found.distance} exceeds its lower bound {found.bound}: the linear program was not solved"
    )


def exact(incentives: Incentives, joint: NDArray[np.float64]) -> Nearest:
    """Solve the linear program in rational arithmetic: for small sets whose coefficients differ too much.

    Minimise Σ t subject to q + t ≥ joint, G q ≤ 0, Σ q = 1 and q, t ≥ 0 over the live profiles.
    """
    live, flat = incentives.live, joint.ravel()
    size = int(live.sum())
    masses = [Fraction(value) for value in flat[live].tolist()]
    common = lcm(*(mass.denominator for mass in masses))
    covered = [[-int(j == k) for j in range(size)] * 2 for k in range(size)]
    point, value = rational.minimise(
        cost=[0] * size + [1] * size,
        rows=[*([*row, *[0] * size] for row in incentives.exact_rows), *covered],
        limits=[0] * len(incentives.exact_rows) + [-int(mass * common) for mass in masses],
        equation=[1] * size + [0] * size,
        total=common,
        deadline=monotonic() + EXACT_SECONDS,
    )
    target = np.zeros(flat.size)
    target[live] = [float(q / common) for q in point[:size]]
    distance = float(flat[~live].sum() + value / common)
    return Nearest(target.reshape(joint.shape), distance, distance)


class Search:
    """Compute distances in one game by searching for the constraints and cells that matter.

    Action profiles that keep their mass and constraints that are not tight can be left out of the program. The
    multipliers y of a first solution over few constraints price every action profile: with z = Gᵀy - min Gᵀy, mass is
    worth adding where z < 0 and worth taking where z > 1. Violated constraints and such action profiles join the
    program until no more are found: row and column generation (Dantzig and Wolfe 1960; Kelley 1960). A program with too
    few action profiles may be infeasible, so constraints may be violated at a penalty, which is raised until no
    violation remains.

    The search for the next joint distribution, if it is close, starts from what mattered for the previous one.
    """

    def __init__(self, incentives: Incentives) -> None:
        self.incentives = incentives
        self._forget()

    def _forget(self) -> None:
        """Reset the search."""
        self._binding: Integers = np.zeros(0, dtype=np.int64)
        self._prices: Vector | None = None
        self._penalty = 1.0

    def nearest(self, joint: NDArray[np.float64]) -> Nearest:
        """Return the nearest equilibrium; solve the whole program if a search does not pay."""
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
            if fresh:  # solved over all cells: continue with those that may change
                fresh, (adding, taking) = False, self._promising(flat)
                add, take = move.added > 0, move.taken > 0
            else:
                add = incentives.live & (prices < -PRICED_OUT) & ~adding
                take = incentives.live & (prices > 1 + PRICED_OUT) & ~taking & (flat > 0)
            if not (violated.size or add.any() or take.any()):
                if move.owed <= PRICED_OUT:
                    found = move.nearest(incentives, joint)
                    return found if found.proven else direct(incentives, joint)
                self._penalty *= 10
            constraints, adding, taking = np.union1d(constraints, violated), adding | add, taking | take
        self._forget()
        return direct(incentives, joint)

    def _promising(self, flat: Vector) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the cells where adding mass may pay, and those where taking mass may pay."""
        live = self.incentives.live
        if self._prices is None:
            return live.copy(), live & (flat > 0)
        return live & (self._prices < 0.15), live & (self._prices > 0.7) & (flat > 0)

    def _learn(self, move: _Move, constraints: Integers, adding: NDArray[np.bool_]) -> Vector:
        """Store the starting point of the next program and return the price of every cell."""
        pressure = self.incentives.weighted(move.multipliers).ravel()
        self._prices = pressure - pressure[adding].min()
        self._binding = constraints[move.multipliers[constraints] > 0]
        self._penalty = max(self._penalty, 4 * float(move.multipliers.max()) if move.owed <= PRICED_OUT else 0.0)
        return self._prices


def nearest(incentives: Incentives, joint: NDArray[np.float64]) -> Nearest:
    """Return the nearest equilibrium, with the faster method for a program of this size."""
    if incentives.entries < SEARCH_FROM[incentives.kind]:
        return direct(incentives, joint)
    return Search(incentives).nearest(joint)


def along(incentives: Incentives, joints: Iterable[NDArray[np.float64]]) -> Iterator[Nearest]:
    """Yield the nearest equilibrium of each joint distribution, for example at the checkpoints of a run."""
    search = Search(incentives)
    for joint in joints:
        small = incentives.entries < SEARCH_FROM[incentives.kind]
        yield direct(incentives, joint) if small else search.nearest(joint)


def distance(game: Game, joint: ArrayLike, kind: EquilibriumKind) -> float:
    """Return the distance of a joint distribution to the nearest CE or CCE.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joint : array_like
        The joint distribution, one axis per player.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibria.

    Returns
    -------
    float
        The distance in total variation, from 0 to 1: the minimum probability mass that must move.

    Raises
    ------
    InputError
        If the game has no payoff table, `joint` is not a distribution of its shape, or the kind is unknown.

    Examples
    --------
    >>> from gamesim.game import Table
    >>> pennies = Table.from_payoffs([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> round(distance(pennies, [[1, 0], [0, 0]], "ce"), 9)
    0.75
    """
    return distances(game, [joint], kind)[0]


def distances(game: Game, joints: Iterable[ArrayLike], kind: EquilibriumKind) -> list[float]:
    """Return the distances of several joint distributions to the nearest CE or CCE.

    It is faster than single calls of `distance` if consecutive distributions are close, as at the checkpoints of a run.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joints : iterable of array_like
        The joint distributions, each with one axis per player.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibria.

    Returns
    -------
    list of float
        The distances in total variation, from 0 to 1.

    Raises
    ------
    InputError
        If the game has no payoff table, an entry of `joints` is not a distribution of its shape, or the kind is
        unknown.

    Examples
    --------
    >>> from gamesim import games
    >>> dilemma = games.make("prisoners-dilemma")
    >>> [round(far, 9) for far in distances(dilemma, [[[0.25, 0.25], [0.25, 0.25]], [[0, 0.1], [0, 0.9]]], "ce")]
    [0.75, 0.1]
    """
    table = written_out(game)
    incentives = Incentives(table, checked_kind(kind))
    arrays = (checked_joint(table, joint) for joint in joints)
    return [found.distance for found in along(incentives, arrays)]
