"""The equilibrium nearest to a joint distribution in total variation, with a proof of how near it is.

The nearest equilibrium q moves probability mass: q = joint - taken + added, with 0 ≤ taken ≤ joint and equal sums of
taken and added. The distance is the minimum mass taken such that q satisfies the incentive constraints: a linear
program. It has two variables per action profile and, for a CE, one constraint per pair of a player's actions. Near
learned play only about a twentieth of the constraints bind and few probabilities change. `Search` finds those and
solves a small program instead; if many matter, `central` solves the whole one.

Every method returns certified bounds: multipliers prove a lower bound, whatever program they come from, and any
equilibrium is an upper bound. They coincide if the program was solved, and bracket the distance if time ran out.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, hstack

from gamesim.engine.compiled import Integers, Vector
from gamesim.formatting import number
from gamesim.measure import rational
from gamesim.measure.central_path import Program, inside
from gamesim.measure.constraint_products import Constraints
from gamesim.measure.incentives import VIOLATED, Incentives, incentives_of, pure_nash
from gamesim.measure.linear_programs import INTERIOR, SECONDS, SIMPLEX, dual_simplex, minimise

LEAST_MASS = 1e-3  # of a target before it is scaled to 1
SMALL = 40  # live profiles up to which a dense tableau is faster than HiGHS, by far (measured)
INTERIOR_FROM = 1000  # cells from which interior point beats simplex for CE (measured; d = 32)
KEPT = 512  # solutions of a small program: a report needs the distances along a run, and then the nearest equilibria
SEARCH_FROM = {"ce": 2**15, "cce": 2**14}  # entries from which the search is faster (measured)
SEARCH_TO = {"ce": 2**17, "cce": 2**27}  # entries from which following the central path at once is (measured)
FIRST_JOINING = {"ce": 3, "cce": 10}  # constraints in the first program, per recommended action or player
NEXT_JOINING = {"ce": 5, "cce": 10}  # and those that join it at a time later
MOST_CONSTRAINTS = 0.25  # share of all constraints beyond which the whole program is faster (measured)
FEW_CONSTRAINTS = 600  # a number of constraints that is never too many
PRICED_OUT = VIOLATED  # tolerance for a cell's price beyond 0 or 1, and for what is owed
SUMMATION = 1e-14  # more than the rounding error of pairwise sums of probabilities
PROVEN_DISTANCE = 1e-8  # tolerance between a distance and its bound
SAME = PROVEN_DISTANCE / 10  # the same for the interior-point method, which continues until it is reached
SEARCHING = 0.2  # share of the time after which a search gives way to the whole program
SOLVING = 0.75  # share of the time for solving; the rest is for certified bounds if that fails


@dataclass(frozen=True, eq=False)
class DistanceBounds:
    """Bracket the distance to the nearest equilibrium, in total variation.

    Parameters
    ----------
    lower : float
        A lower bound: the value of the dual linear program at multipliers ≥ 0, less its rounding error.
    upper : float
        An upper bound: the distance to `nearest`.
    nearest : ndarray or None
        The nearest equilibrium that was found, a joint distribution; None if none was found.

    Examples
    --------
    >>> from gamesim import equilibrium, games
    >>> bounds = equilibrium.distance_bounds(games.make("matching-pennies"), [[1, 0], [0, 0]], "ce")
    >>> bounds.solved, round(bounds.distance, 9), bounds.nearest.round(9).tolist()
    (True, 0.75, [[0.25, 0.25], [0.25, 0.25]])
    >>> print(DistanceBounds(0.1, 0.25, None))
    between 0.1 and 0.25
    """

    lower: float
    upper: float
    nearest: NDArray[np.float64] | None

    @property
    def solved(self) -> bool:
        """Return whether the bounds are equal up to rounding.

        Examples
        --------
        >>> DistanceBounds(0.1, 0.1, None).solved, DistanceBounds(0.1, 0.2, None).solved
        (True, False)
        """
        return self.upper - self.lower <= PROVEN_DISTANCE

    @property
    def distance(self) -> float:
        """Return the distance in total variation, or NaN if it is not solved.

        Examples
        --------
        >>> DistanceBounds(0.1, 0.1, None).distance, DistanceBounds(0.1, 0.2, None).distance
        (0.1, nan)
        """
        return self.upper if self.solved else float("nan")

    def __str__(self) -> str:
        return number(self.upper) if self.solved else f"between {number(self.lower)} and {number(self.upper)}"


NOTHING_KNOWN = DistanceBounds(0.0, 1.0, None)


def dual_bound(incentives: Incentives, joint: NDArray[np.float64], multipliers: Vector) -> float:
    """Return a lower bound on the distance, valid for any multipliers y ≥ 0, also after rounding.

    Let z = Gᵀy - min Gᵀy ≥ 0. Every equilibrium q has y·Gq ≤ 0, hence Σ q z ≤ -min Gᵀy, and as 0 ≤ min(z, 1) ≤ 1::

        TV(joint, q) ≥ Σ (joint - q) min(z, 1) ≥ Σ joint min(z, 1) + min Gᵀy

    Sums and minima are over the profiles that may carry mass in an equilibrium; all other mass has to move. The bound
    grows with Gᵀy, so its rounding error is subtracted first.
    """
    live, flat = incentives.live, joint.ravel()
    y = np.maximum(multipliers, 0)
    pressure = (incentives.weighted(y) - incentives.rounding_error(y)).ravel()[live]
    least = pressure.min()
    moved = flat[~live].sum() + np.sum(flat[live] * np.minimum(pressure - least, 1)) + least
    return float(np.clip(moved - SUMMATION, 0.0, 1.0))


def deviation_bound(incentives: Incentives, joint: NDArray[np.float64]) -> float:
    """Return the lower bound that each player's best deviation proves: its gain divided by the range of gains."""
    gains = incentives.gains(joint)
    bound = dual_bound(incentives, joint, np.zeros(gains.size))
    for i, size in enumerate(incentives.game.sizes):
        own = slice(incentives.starts[i], incentives.starts[i + 1])
        mine = gains[own].reshape(-1, size)
        multipliers = np.zeros(gains.size)
        chosen = multipliers[own].reshape(mine.shape)
        chosen[np.arange(len(mine)), mine.argmax(axis=1)] = 1.0
        pressure = incentives.weighted(multipliers).ravel()[incentives.live]
        if np.ptp(pressure) > 0:
            bound = max(bound, dual_bound(incentives, joint, multipliers / np.ptp(pressure)))
    return bound


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
        deadline: float,
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
            deadline=deadline,
        )
        taken, added = outside.copy(), np.zeros(flat.size)
        taken[takers] = solution.point[: takers.size]
        added[adders] = solution.point[takers.size : takers.size + adders.size]
        multipliers = np.zeros(incentives.starts[-1])
        multipliers[constraints] = solution.multipliers
        owed = solution.point[takers.size + adders.size :].sum()
        return cls(taken, added, float(owed), min(1.0, float(taken.sum())), multipliers)

    def target(self, joint: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the joint distribution to which the mass moves."""
        moved = np.maximum(joint.ravel() - self.taken + self.added, 0).reshape(joint.shape)
        result: NDArray[np.float64] = moved / moved.sum()
        return result

    def bounds(self, incentives: Incentives, joint: NDArray[np.float64]) -> DistanceBounds:
        """Return the bounds that the move proves if all constraints hold; if they contradict, they do not."""
        lower = dual_bound(incentives, joint, self.multipliers)
        upper = self.cost if lower <= self.cost + PROVEN_DISTANCE else 1.0
        return DistanceBounds(min(lower, upper), upper, self.target(joint))


def faster_method(incentives: Incentives) -> str:
    """Return the faster solver for a program with all constraints: simplex or interior point."""
    return INTERIOR if incentives.kind == "ce" and incentives.game.cells >= INTERIOR_FROM else SIMPLEX


def small(incentives: Incentives, joint: NDArray[np.float64]) -> DistanceBounds:
    """Solve the whole linear program with a dense tableau.

    The sum of the target may fall below 1: a multiple of it is as near. The mass of profiles that carry none in any
    equilibrium moves in any case.
    """
    flat, cells = joint.ravel(), np.flatnonzero(incentives.live)
    kept, size = np.where(incentives.live, flat, 0.0), cells.size
    outside, system = flat - kept, incentives.dense[:, cells]
    ones, identity = np.ones(size), np.eye(size)
    rows = np.block([[-system, system], [-ones, ones], [identity, np.zeros((size, size))]])
    limits = np.concatenate([-(system @ kept[cells]), [outside.sum()], flat[cells]])
    solution = dual_simplex(np.repeat([1.0, 0.0], size), rows, limits)
    taken, added, multipliers = outside.copy(), np.zeros(flat.size), np.zeros(incentives.starts[-1])
    taken[cells], added[cells] = solution.point[:size], solution.point[size:]
    if float((flat - taken + added).sum()) < LEAST_MASS:
        raise ArithmeticError("hardly any mass is left, so its multiple would be inaccurate")
    multipliers[incentives.proper] = solution.multipliers[: incentives.proper.size]
    return _Move(taken, added, 0.0, min(1.0, float(taken.sum())), multipliers).bounds(incentives, joint)


def direct(
    incentives: Incentives, joint: NDArray[np.float64], method: str | None = None, deadline: float | None = None
) -> DistanceBounds:
    """Solve the whole linear program at once: with a dense tableau, by HiGHS, or in rational arithmetic.

    If this fails, return a lower bound and a target that may violate constraints.
    """
    deadline = monotonic() + SECONDS if deadline is None else deadline
    incentives.refuse_beyond_memory()
    flat, live = joint.ravel(), incentives.live
    if incentives.exact:
        return exact(incentives, joint, deadline)
    found = NOTHING_KNOWN
    if method is None and live.sum() <= SMALL:
        with suppress(ArithmeticError):  # HiGHS is slower, but gives up later
            found = small(incentives, joint)
        if found.solved:
            return found
    method = method or faster_method(incentives)
    for presolve in (True, False):
        try:
            move = _Move.cheapest(
                incentives,
                flat,
                incentives.proper,
                np.flatnonzero(live & (flat > 0)),
                np.flatnonzero(live),
                None,
                method,
                deadline,
                presolve,
            )
        except ArithmeticError:
            break
        found = move.bounds(incentives, joint)
        if found.solved:
            return found
    return replace(found, upper=1.0)


def central(constraints: Constraints, joint: NDArray[np.float64], deadline: float) -> DistanceBounds:
    """Follow the central path of the whole linear program; return the bounds at the end, also if time runs out."""
    incentives = constraints.incentives
    live, flat = incentives.live, joint.ravel()
    program = Program(constraints, np.zeros(constraints.cells.size), flat[live], inside(constraints))
    best = NOTHING_KNOWN

    def prove(q: Vector, y: Vector) -> tuple[float, float]:
        nonlocal best
        lower = max(best.lower, dual_bound(incentives, joint, y))
        upper = best.upper if best.upper >= lower - SAME else 1.0  # nearer only as it violates constraints
        target = np.zeros(flat.size)
        target[live] = q
        away = float(np.abs(target - flat).sum() / 2)
        fits = away >= lower - SAME and constraints.gains(q).max(initial=0.0) <= VIOLATED
        if upper == 1 or (fits and away < upper):
            best = DistanceBounds(lower, away if fits else 1.0, target.reshape(joint.shape))
        else:
            best = DistanceBounds(lower, upper, best.nearest)
        return best.lower, best.upper

    program.follow(prove, SAME, deadline)
    return replace(best, lower=min(best.lower, best.upper))


def exact(incentives: Incentives, joint: NDArray[np.float64], deadline: float) -> DistanceBounds:
    """Solve the linear program in rational arithmetic, for small sets.

    The distance is 1 - Σ min(q, joint) for the nearest equilibrium q = common + extra. Maximise Σ common subject to
    common ≤ joint, G q ≤ 0, Σ q ≤ 1 and common, extra ≥ 0 over the live profiles. If Σ q < 1, a multiple is as near.
    """
    live, flat = incentives.live, joint.ravel()
    size = int(live.sum())
    masses = [Fraction(value) for value in flat[live].tolist()]
    scale = lcm(*(mass.denominator for mass in masses))
    gains = rational.distinct(incentives.exact_rows.values())
    try:
        point, overlap = rational.maximise(
            profit=[1] * size + [0] * size,
            rows=[
                *([*row, *row] for row in gains),
                [1] * (2 * size),
                *([int(j == k) for j in range(size)] + [0] * size for k in range(size)),
            ],
            limits=[0] * len(gains) + [scale] + [int(mass * scale) for mass in masses],
            deadline=deadline,
        )
    except ArithmeticError:
        return NOTHING_KNOWN
    weights = [common + extra for common, extra in zip(point[:size], point[size:], strict=True)]
    target = incentives.interior().point.copy()
    if any(weights):
        target[live] = [float(weight / sum(weights)) for weight in weights]
    distance = min(1.0, float(flat[~live].sum() + (sum(masses) - overlap / scale)))
    return DistanceBounds(distance, distance, target.reshape(joint.shape))


class Search:
    """Compute distances in one game by searching for the constraints and cells that matter.

    Action profiles that keep their mass and constraints that are not tight can be left out of the program. The
    multipliers y of a first solution over few constraints price every action profile: with z = Gᵀy - min Gᵀy, mass is
    worth adding where z < 0 and worth taking where z > 1. Violated constraints and such action profiles join the
    program until no more are found: row and column generation (Dantzig and Wolfe 1960; Kelley 1960). A program with too
    few action profiles may be infeasible, so constraints may be violated at a penalty, which is raised until no
    violation remains.

    The search for the next joint distribution, if it is close, starts from what mattered for the previous one. If that
    needed the whole program, so will the next, and there is no search; nor is there for large CE programs. (The whole
    program is solved afresh. Entering its central path halfway along the last one saved half of the steps in some games
    and doubled them in others.)
    """

    def __init__(self, incentives: Incentives) -> None:
        self.incentives = incentives
        self._constraints = Constraints(incentives)
        self._failed = incentives.entries >= SEARCH_TO[incentives.kind]
        self._forget()

    def _forget(self) -> None:
        """Reset the search."""
        self._binding: Integers = np.zeros(0, dtype=np.int64)
        self._prices: Vector | None = None
        self._penalty = 1.0

    def nearest(self, joint: NDArray[np.float64], deadline: float | None = None) -> DistanceBounds:
        """Return the nearest equilibrium; solve the whole program if a search does not pay.

        If this fails, return a lower bound and a target that may violate constraints.
        """
        now = monotonic()
        deadline = now + SECONDS if deadline is None else deadline
        best = NOTHING_KNOWN
        try:
            for found in () if self._failed else self._steps(joint, now + SEARCHING * (deadline - now)):
                if found.solved:
                    return found
                best = DistanceBounds(max(best.lower, found.lower), 1.0, found.nearest)
        except ArithmeticError:  # a program was not solved
            pass
        self._failed = True
        self._forget()
        found = central(self._constraints, joint, deadline)
        return found if found.solved else replace(found, lower=min(max(found.lower, best.lower), found.upper))

    def _steps(self, joint: NDArray[np.float64], deadline: float) -> Iterator[DistanceBounds]:
        """Yield what each program proves: a lower bound and a target; the upper bound is for the last one only."""
        incentives, flat = self.incentives, joint.ravel()
        constraints = incentives.best(incentives.gains(joint), FIRST_JOINING[incentives.kind], VIOLATED / 100)
        if not constraints.size:
            yield DistanceBounds(0.0, 0.0, joint)
            return
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
                deadline,
            )
            found = move.bounds(incentives, joint)
            prices = self._learn(move, constraints, adding)
            gains = incentives.gains((flat - move.taken + move.added).reshape(joint.shape))
            violated = np.setdiff1d(incentives.best(gains, NEXT_JOINING[incentives.kind], VIOLATED), constraints)
            if fresh:  # solved over all cells: continue with those that may change
                fresh, (adding, taking) = False, self._promising(flat)
                add, take = incentives.live & (move.added > 0), incentives.live & (move.taken > 0)
            else:
                add = incentives.live & (prices < -PRICED_OUT) & ~adding
                take = incentives.live & (prices > 1 + PRICED_OUT) & ~taking & (flat > 0)
            if not (violated.size or add.any() or take.any()):
                if move.owed <= PRICED_OUT:
                    yield found
                    return
                self._penalty *= 10
            yield replace(found, upper=1.0)
            constraints, adding, taking = np.union1d(constraints, violated), adding | add, taking | take

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


def nearest(incentives: Incentives, joint: NDArray[np.float64], seconds: float = SECONDS) -> DistanceBounds:
    """Return the nearest equilibrium, with the faster method for a program of this size."""
    return next(along(incentives, [joint], seconds))


def along(
    incentives: Incentives, joints: Iterable[NDArray[np.float64]], seconds: float = SECONDS
) -> Iterator[DistanceBounds]:
    """Yield the nearest equilibrium of each joint distribution, for example at the checkpoints of a run.

    Each takes at most about `seconds` seconds.
    """
    search, small = Search(incentives), incentives.entries < SEARCH_FROM[incentives.kind]
    for joint in joints:
        start, key = monotonic(), joint.tobytes()
        if (known := incentives.solved.get(key)) is not None:
            yield replace(known, nearest=known.nearest.copy())
            continue
        deadline = start + SOLVING * seconds
        found = direct(incentives, joint, deadline=deadline) if small else search.nearest(joint, deadline)
        if small and found.solved and len(incentives.solved) < KEPT:
            incentives.solved[key] = found
        yield found if found.solved else bracketed(incentives, joint, found, start + seconds)


def bracketed(
    incentives: Incentives, joint: NDArray[np.float64], found: DistanceBounds, deadline: float
) -> DistanceBounds:
    """Return certified bounds, given a lower bound and a target that may violate constraints.

    Other lower bounds are that of the best deviations and, as every CE is a CCE, the distance to the CCE, which is
    easier to solve. The upper bound is the nearest of the equilibria that are at hand: pure Nash equilibria, a point in
    the relative interior of the set, and the mixture of this point with the target.
    """
    lower = max(found.lower, deviation_bound(incentives, joint))
    if incentives.kind == "ce":
        coarse = Search(incentives_of(incentives.game, "cce")).nearest(joint, (monotonic() + deadline) / 2)
        lower = max(lower, coarse.lower)
    upper, witness = 1.0, None
    for candidate in _equilibria_at_hand(incentives, joint, found.nearest, deadline):
        distance = float(np.abs(candidate - joint).sum() / 2)
        if distance < upper and incentives.gains(candidate).max() <= VIOLATED:
            upper, witness = distance, candidate
    return DistanceBounds(min(lower, upper), upper, witness)


def _equilibria_at_hand(
    incentives: Incentives, joint: NDArray[np.float64], target: NDArray[np.float64] | None, deadline: float
) -> Iterator[NDArray[np.float64]]:
    cells = np.flatnonzero(pure_nash(incentives.game))
    if cells.size:
        pure = np.zeros(joint.size)
        pure[cells[joint.ravel()[cells].argmax()]] = 1.0
        yield pure.reshape(joint.shape)
    if target is not None:
        yield target
        if incentives.gains(target).max() <= VIOLATED:
            return
    try:
        interior = incentives.interior(deadline)
    except ArithmeticError:
        return
    inside = interior.point.reshape(joint.shape)
    yield inside
    if target is not None:
        held = np.where(interior.support.reshape(joint.shape), target, 0.0)
        held = held / held.sum() if held.any() else inside
        before, after = incentives.gains(held), incentives.gains(inside)
        mended = (before > 0) & (after < 0)
        share = float((before[mended] / (before[mended] - after[mended])).max(initial=0.0))
        yield (1 - share) * held + share * inside
