"""The sets of equilibria: polytopes of joint distributions that satisfy the incentive constraints."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from time import monotonic
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import block_array, csr_array, eye_array

from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.measure import rational, total_variation
from gamesim.measure.central_path import Program, inside
from gamesim.measure.constraint_products import Constraints
from gamesim.measure.incentives import (
    Deviation,
    EquilibriumKind,
    Incentives,
    checked_joint,
    checked_kind,
    incentives_of,
    written_out,
)
from gamesim.measure.interior_point import HalfSquares, NegativeEntropy, minimise_sum
from gamesim.measure.linear_programs import SECONDS, minimise

Norm: TypeAlias = Literal["tv", "max", "euclidean"]
NORMS: tuple[Norm, ...] = get_args(Norm)
EXACT_PROFILES = 9  # live profiles up to which vertices are enumerated exactly, in milliseconds
LISTED = 10  # maximum dimension of a polytope whose vertices are enumerated
CENTRAL_FROM = {"ce": 25e6, "cce": 1e6}  # entries times constraints from which interior point is faster (measured)
PROVEN = 1e-8  # tolerance between an optimum and its bound, as a share of the largest total
INSIDE = 1e-9  # share of a player's payoff range that it may gain at an equilibrium


@dataclass(frozen=True)
class Membership:
    """Report whether a joint distribution is an equilibrium, and why not.

    Its truth value is `inside`. Printing it shows the reason.

    Parameters
    ----------
    inside : bool
        Whether the joint distribution is an equilibrium.
    deviation : Deviation or None
        The most profitable deviation, or None if no player has two actions.

    Examples
    --------
    >>> from gamesim import equilibrium, games
    >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
    >>> found = equilibria.contains([[0.5, 0.3], [0.2, 0]])
    >>> bool(found), found.deviation.gain > 0
    (False, True)
    >>> print(equilibria.contains([[0.7, 0.2], [0.1, 0]]))
    Column gains 0.5 by playing dare when chicken out is recommended
    """

    inside: bool
    deviation: Deviation | None

    def __bool__(self) -> bool:
        return self.inside

    def __str__(self) -> str:
        if self.deviation is None:
            return "no player has two actions"
        return f"no player gains by deviating ({self.deviation})" if self.inside else str(self.deviation)


@dataclass(frozen=True, eq=False)
class Polytope:
    """Represent the set of all CE or CCE of a game.

    Its elements are joint distributions: arrays of probabilities with one axis per player. `equilibrium.polytope` is
    the shortest way to create one.

    Parameters
    ----------
    incentives : Incentives
        The incentive constraints of the game.

    Examples
    --------
    >>> from gamesim.game import Table
    >>> chicken = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]], actions=[["Chicken", "Dare"]] * 2)
    >>> equilibria = Polytope.from_game(chicken, "ce")
    >>> equilibria.dimension, len(equilibria.vertices())
    (3, 5)
    >>> print(equilibria.contains([[0.7, 0.2], [0.1, 0]]))
    Column gains 0.5 by playing Dare when Chicken is recommended
    >>> equilibria.optimum([1, 1]).round(3)
    array([[0.5 , 0.25],
           [0.25, 0.  ]])
    """

    incentives: Incentives

    @classmethod
    def from_game(cls, game: Game, kind: EquilibriumKind) -> "Polytope":
        """Construct the set of all equilibria of a game.

        Parameters
        ----------
        game : Game
            A game with a payoff table.
        kind : {"ce", "cce"}
            Correlated or coarse correlated equilibria.

        Returns
        -------
        Polytope
            The set of equilibria.

        Raises
        ------
        InputError
            If the game has no payoff table or too many action profiles, or if the kind is unknown.

        Examples
        --------
        >>> from gamesim import games
        >>> Polytope.from_game(games.make("prisoners-dilemma"), "ce").vertices().tolist()
        [[[0.0, 0.0], [0.0, 1.0]]]
        """
        return cls(incentives_of(written_out(game), checked_kind(kind)))

    of = Renamed("from_game")

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of a joint distribution, the number of actions per player.

        Examples
        --------
        >>> from gamesim import games
        >>> Polytope.from_game(games.make("uniform", players=3, actions=[2, 3, 4]), "cce").shape
        (2, 3, 4)
        """
        return self.incentives.game.sizes

    @cached_property
    def system(self) -> csr_array:
        """Return the matrix G of the incentive constraints G q ≤ 0.

        Gains are in units of each player's payoff range. For CE, a player has one row per recommended action and other
        action; for CCE, one row per action.

        Examples
        --------
        >>> from gamesim import games
        >>> game = games.make("uniform", players=2, actions=[2, 3])
        >>> Polytope.from_game(game, "ce").system.shape  # 2 · 1 + 3 · 2 rows, 6 cells
        (8, 6)
        >>> Polytope.from_game(game, "cce").system.shape
        (5, 6)
        """
        return self.incentives.system()

    @cached_property
    def _constraints(self) -> Constraints:
        """Return products with the constraints, which both ends of a range share."""
        return Constraints(self.incentives)

    def contains(self, joint: ArrayLike, tolerance: float = INSIDE) -> Membership:
        """Test whether a joint distribution is an equilibrium.

        Parameters
        ----------
        joint : array_like
            The joint distribution, one axis per player.
        tolerance : float, default 1e-9
            The gain of a player that is still accepted, as a share of its payoff range.

        Returns
        -------
        Membership
            The answer, with the most profitable deviation as the reason.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> bool(equilibria.contains([[0.5, 0.25], [0.25, 0]])), bool(equilibria.contains([[0.51, 0.25], [0.24, 0]]))
        (True, False)
        >>> bool(equilibria.contains([[0.51, 0.25], [0.24, 0]], tolerance=0.01))
        True
        """
        array = checked_joint(self.incentives.game, joint)
        inside = bool(self.incentives.gains(array).max() <= tolerance)
        return Membership(inside, next(self.incentives.deviations(array), None))

    def deviations(self, joint: ArrayLike, count: int = 5) -> list[Deviation]:
        """Return the most profitable deviations from a joint distribution.

        Parameters
        ----------
        joint : array_like
            The joint distribution, one axis per player.
        count : int, default 5
            The maximum number of deviations to return.

        Returns
        -------
        list of Deviation
            The deviations, the most profitable first. Gains are in payoff units per round.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> for deviation in equilibria.deviations([[0.7, 0.2], [0.1, 0]], count=2):
        ...     print(deviation)
        Column gains 0.5 by playing dare when chicken out is recommended
        Row gains 0.3 by playing dare when chicken out is recommended
        """
        return list(islice(self.incentives.deviations(checked_joint(self.incentives.game, joint)), count))

    def nearest(self, joint: ArrayLike, norm: Norm = "tv") -> NDArray[np.float64]:
        """Return the equilibrium nearest to a joint distribution.

        Parameters
        ----------
        joint : array_like
            The joint distribution, one axis per player.
        norm : {"tv", "max", "euclidean"}, default "tv"
            Total variation, the largest difference of any probability, or the Euclidean norm.

        Returns
        -------
        ndarray
            The nearest equilibrium, a joint distribution.

        Raises
        ------
        InputError
            If `joint` is not a distribution of the game's shape, or the norm is unknown.
        ArithmeticError
            If the program is not solved within 60 seconds.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.nearest([[0.7, 0.2], [0.1, 0]], norm="euclidean").round(3)
        array([[0.5 , 0.25],
               [0.25, 0.  ]])
        """
        if norm not in NORMS:
            raise InputError(f'norm must be "tv", "max" or "euclidean", got {norm!r}')
        array = checked_joint(self.incentives.game, joint)
        if self.incentives.gains(array).max() <= 0:
            return array
        if norm == "tv":
            found = total_variation.nearest(self.incentives, array)
            if found.nearest is None or not found.solved:
                raise ArithmeticError(f"the nearest equilibrium was not found in time; its distance is {found}")
            return found.nearest
        if norm == "max":
            return self._nearest_in_max_norm(array)
        return minimise_sum(self.incentives, HalfSquares(array.ravel())).joint

    def distance(self, joint: ArrayLike, norm: Norm = "tv") -> float:
        """Return the distance of a joint distribution to the set.

        Parameters
        ----------
        joint : array_like
            The joint distribution, one axis per player.
        norm : {"tv", "max", "euclidean"}, default "tv"
            Total variation, the largest difference of any probability, or the Euclidean norm.

        Returns
        -------
        float
            The distance, in total variation (from 0 to 1) or in the chosen norm.

        Raises
        ------
        InputError
            If `joint` is not a distribution of the game's shape, or the norm is unknown.
        ArithmeticError
            If the program is not solved within 60 seconds.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> [round(equilibria.distance([[0.7, 0.2], [0.1, 0]], norm), 4) for norm in ("tv", "max", "euclidean")]
        [0.2, 0.2, 0.255]
        """
        difference = self.nearest(joint, norm) - checked_joint(self.incentives.game, joint)
        if norm == "tv":
            return float(np.abs(difference).sum() / 2)
        return float(np.abs(difference).max() if norm == "max" else np.linalg.norm(difference))

    def optimum(self, weights: ArrayLike) -> NDArray[np.float64]:
        """Return the equilibrium that maximises a weighted sum of payoffs.

        Parameters
        ----------
        weights : array_like of shape (players,)
            The weight of each player. Ones maximise the total payoff, minus ones minimise it, and a single one favours
            that player.

        Returns
        -------
        ndarray
            The equilibrium, a joint distribution.

        Raises
        ------
        InputError
            If there is not one finite weight per player.
        ArithmeticError
            If the program is not solved within 60 seconds.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.optimum([1, 0]).round(3)  # best for Row: Row dares and Column chickens out
        array([[0., 0.],
               [1., 0.]])
        """
        game = self.incentives.game
        weight = np.array(weights, dtype=np.float64)
        if weight.shape != (len(game.players),) or not np.isfinite(weight).all():
            raise InputError(
                f"weights must be one finite number for each of {len(game.players)} players, got {weights!r}"
            )
        live = self.incentives.live
        value = np.tensordot(weight, game.payoffs, axes=1).ravel()
        if self._exact is not None:  # a linear function is largest at a vertex
            joints: NDArray[np.float64] = self._exact[0]
            best: NDArray[np.float64] = joints[int((joints @ value).argmax())].reshape(self.shape)
            return best
        point = np.zeros(game.cells)
        point[live] = (self._exact_optimum if self.incentives.exact else self._float_optimum)(value[live])
        return self._as_joint(point)

    def _float_optimum(self, value: Vector) -> Vector:
        """Maximise value · q over the equilibria q, on the live profiles; every result is proven.

        The simplex method by HiGHS is faster for small programs. Its work grows with entries times constraints.
        """
        incentives, scale = self.incentives, float(np.abs(value).max()) or 1.0
        value = value / scale
        if incentives.entries * incentives.proper.size < CENTRAL_FROM[incentives.kind]:
            system = csr_array(self.system.tocsc()[:, np.flatnonzero(incentives.live)])
            found = minimise(-value, system, np.zeros(system.shape[0]), np.ones(value.size), 1.0)
            multipliers = np.zeros(incentives.starts[-1])
            multipliers[incentives.proper] = found.multipliers
            fits = self._constraints.gains(found.point).max(initial=0.0) <= INSIDE
            if fits and self._bound(value, multipliers) - float(value @ found.point) <= PROVEN:
                return found.point
        return self._central_optimum(value)

    def _bound(self, value: Vector, multipliers: Vector) -> float:
        """Return an upper bound on value · q over the equilibria q: max(value - Gᵀy), for any multipliers y ≥ 0."""
        pressure = self.incentives.weighted(multipliers) - self.incentives.rounding_error(multipliers)
        return float((value - pressure.ravel()[self.incentives.live]).max())

    def _central_optimum(self, value: Vector) -> Vector:
        """Maximise value · q on the live profiles by following the central path."""
        program = Program(self._constraints, -value, start=inside(self._constraints))
        best, lower, upper = np.zeros(value.size), -np.inf, np.inf

        def prove(q: Vector, y: Vector) -> tuple[float, float]:
            nonlocal best, lower, upper
            upper = min(upper, self._bound(value, y))
            lower = lower if lower <= upper + PROVEN / 10 else -np.inf  # better only as it violates constraints
            reached = float(value @ q)
            fits = program.constraints.gains(q).max(initial=0.0) <= INSIDE
            if fits and lower < reached <= upper + PROVEN / 10:
                best, lower = q, reached
            return lower, upper

        program.follow(prove, PROVEN / 10, monotonic() + SECONDS)
        if not upper - lower <= PROVEN:
            bounds = f"the optimum is between {lower:.9g} and {upper:.9g} of the largest value"
            raise ArithmeticError(f"a linear program with {value.size:,} variables was not solved: {bounds}")
        return best

    def _exact_optimum(self, value: Vector) -> Vector:
        """Maximise value · q over the equilibria q in exact arithmetic: relative to the least value, with Σ q ≤ 1."""
        above = rational.integers([Fraction(one) - Fraction(float(value.min())) for one in value.tolist()])
        rows = rational.distinct(self.incentives.exact_rows.values())
        limits = [0] * len(rows) + [1]
        weights, _ = rational.maximise(above, [*rows, [1] * value.size], limits, monotonic() + SECONDS)
        found = np.array([float(weight) for weight in weights])
        return found if found.any() else self.incentives.interior().point[self.incentives.live]

    def payoffs(self, joint: ArrayLike) -> Vector:
        """Return each player's expected payoff under a joint distribution.

        Parameters
        ----------
        joint : array_like
            The joint distribution, one axis per player.

        Returns
        -------
        ndarray of shape (players,)
            The payoffs, in payoff units per round.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.payoffs([[0.5, 0.5], [0, 0]]).tolist()
        [4.0, 6.5]
        """
        game = self.incentives.game
        return np.array([np.sum(checked_joint(game, joint) * payoff) for payoff in game.payoffs])

    def max_entropy(self) -> NDArray[np.float64]:
        """Return the equilibrium with the largest entropy.

        Returns
        -------
        ndarray
            The equilibrium, a joint distribution.

        Raises
        ------
        ArithmeticError
            If the program is not solved within 60 seconds.

        Notes
        -----
        It maximises::

            -Σ q ln q

        References
        ----------
        Ortiz, Schapire and Kakade (2007), "Maximum entropy correlated equilibria".

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("battle-of-the-sexes"), "ce")
        >>> equilibria.max_entropy().round(3)
        array([[0.28 , 0.253],
               [0.187, 0.28 ]])
        """
        return minimise_sum(self.incentives, NegativeEntropy()).joint

    def max_gini(self) -> NDArray[np.float64]:
        """Return the equilibrium with the largest Gini impurity.

        Returns
        -------
        ndarray
            The equilibrium, a joint distribution.

        Raises
        ------
        ArithmeticError
            If the program is not solved within 60 seconds.

        Notes
        -----
        It maximises::

            1 - Σ q²

        References
        ----------
        Marris et al. (2021), "Multi-agent training beyond zero-sum with correlated equilibrium meta-solvers".

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("battle-of-the-sexes"), "ce")
        >>> equilibria.max_gini().round(3)
        array([[0.279, 0.256],
               [0.186, 0.279]])
        """
        return minimise_sum(self.incentives, HalfSquares(np.zeros(self.incentives.game.cells))).joint

    @property
    def dimension(self) -> int:
        """Return the dimension of the set, 0 for a single point.

        Examples
        --------
        >>> from gamesim import games
        >>> [Polytope.from_game(games.make("matching-pennies"), kind).dimension for kind in ("ce", "cce")]
        [0, 0]
        >>> [Polytope.from_game(games.make("bad-rps"), kind).dimension for kind in ("ce", "cce")]
        [0, 8]
        """
        return self.incentives.interior().dimension if self._exact is None else self._exact[1]

    def vertices(self) -> NDArray[np.float64]:
        """Return the vertices of the set.

        Returns
        -------
        ndarray
            The vertices along the first axis, in lexicographic order, each a joint distribution.

        Raises
        ------
        InputError
            If the set has more than ten dimensions.

        Notes
        -----
        They are exact up to rounding if at most nine action profiles remain after the elimination of dominated ones.
        Payoffs are then the numbers that were written: 0.15 is 3/20, and ties with the mean of 0.1 and 0.2.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.vertices()[0]  # Row dares, Column chickens out
        array([[0., 0.],
               [1., 0.]])
        """
        if self._exact is not None:
            return self._exact[0].reshape(-1, *self.shape)
        corners = self._corners()
        centre, basis = self._chart
        joints = np.array([self._as_joint(centre + basis @ corner).ravel() for corner in corners])
        order = np.lexsort(joints.round(9).T[::-1])
        return joints[order].reshape(-1, *self.shape)

    @property
    def volume(self) -> float:
        """Return the Euclidean volume in the set's dimension.

        It is a length, an area, a volume and so on of joint distributions; 1 for a single point.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.dimension, round(equilibria.volume, 4)
        (3, 0.0481)
        """
        corners = self._corners()
        if self.dimension == 0:
            return 1.0
        if self.dimension == 1:
            return float(np.ptp(corners))
        from scipy.spatial import ConvexHull  # slow to import, and few commands need it

        return float(
            ConvexHull(corners, qhull_options="QJ").volume
        )  # joggled by about 1e-11, as vertices may be degenerate

    @cached_property
    def _chart(self) -> tuple[Vector, NDArray[np.float64]]:
        """Return a point in the relative interior and an orthonormal basis of the affine hull."""
        if self._exact is not None:
            joints, dimension = self._exact
            centre = joints.mean(axis=0)
            return centre, np.linalg.svd(joints - centre)[2][:dimension].T
        interior = self.incentives.interior()
        rows = self.incentives.scaled_rows(interior.tight, interior.support)
        equations = np.vstack([rows, np.ones(rows.shape[1])])
        basis = np.zeros((interior.point.size, interior.dimension))
        basis[interior.support] = np.linalg.svd(equations)[2][rows.shape[1] - interior.dimension :].T
        return interior.point, basis

    @cached_property
    def _exact(self) -> tuple[NDArray[np.float64], int] | None:
        """Return the vertices, in lexicographic order, and the dimension by exact arithmetic, for small sets only."""
        live = self.incentives.live
        if live.sum() > EXACT_PROFILES:
            return None
        rows = rational.distinct(self.incentives.exact_rows.values())
        rays = rational.extreme_rays(rows, int(live.sum()), monotonic() + SECONDS)
        vertices = sorted([Fraction(weight, sum(ray)) for weight in ray] for ray in rays)
        joints = np.zeros((len(vertices), live.size))
        joints[:, live] = np.array(vertices, dtype=np.float64)
        return joints, rational.rank(rays) - 1

    def _corners(self) -> NDArray[np.float64]:
        """Return the vertices in the coordinates of the chart."""
        centre, basis = self._chart
        if self._exact is not None:
            exact: NDArray[np.float64] = (self._exact[0] - centre) @ basis
            return exact
        dimension = basis.shape[1]
        if dimension > LISTED:
            raise InputError(
                f"vertices are enumerated up to dimension {LISTED}; the {self.incentives.kind.upper()} set of "
                f"{self.incentives.game.name} has dimension {dimension}: use optimum(weights) instead"
            )
        if dimension == 0:
            return np.zeros((1, 0))
        interior = self.incentives.interior()
        strict = np.setdiff1d(self.incentives.proper, interior.tight)
        rows = self.incentives.scaled_rows(strict, interior.support)
        halfspaces = np.vstack([rows, -np.eye(rows.shape[1])])
        normals, rooms = halfspaces @ basis[interior.support], -(halfspaces @ centre[interior.support])
        cutting = np.linalg.norm(normals, axis=1) > 1e-9
        normals, rooms = normals[cutting], rooms[cutting]
        if dimension == 1:
            ends = rooms / normals[:, 0]
            return np.array([[ends[normals[:, 0] < 0].max()], [ends[normals[:, 0] > 0].min()]])
        # Joggling never fails at degenerate vertices, but splits them. Solving the tight constraints of each piece for
        # the exact vertex merges the pieces again.
        lengths = np.linalg.norm(normals, axis=1)
        normals, rooms = normals / lengths[:, None], rooms / lengths
        cone = np.column_stack([normals, -rooms])
        from scipy.spatial import HalfspaceIntersection

        found = HalfspaceIntersection(cone, np.zeros(dimension), qhull_options="QJ").intersections
        corners = []
        for point in found:
            tight = np.abs(normals @ point - rooms) < 1e-7
            corner, _, rank, _ = np.linalg.lstsq(normals[tight], rooms[tight], rcond=1e-9)
            if rank == dimension and (normals @ corner - rooms).max() < 1e-9:
                corners.append(corner)
        _, distinct = np.unique(np.array(corners).round(8) + 0.0, axis=0, return_index=True)
        return np.array(corners)[distinct]

    def _nearest_in_max_norm(self, joint: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minimise t subject to -t ≤ q - joint ≤ t for every action profile.

        The variable of the program is what t exceeds the largest probability that must move.
        """
        live, flat = self.incentives.live, joint.ravel()
        system = self.system.tocsc()[:, np.flatnonzero(live)]
        rows, cells = system.shape
        column, least = csr_array(np.ones((cells, 1))), float(flat[~live].max(initial=0.0))
        parts = block_array([[system, None], [eye_array(cells), -column], [-eye_array(cells), -column]], format="csr")
        limits = np.concatenate([np.zeros(rows), least + flat[live], least - flat[live]])
        unit = np.repeat([0.0, 1.0], [cells, 1])
        point = np.zeros(flat.size)
        point[live] = minimise(unit, csr_array(parts), limits, 1 - unit, 1.0).point[:cells]
        return self._as_joint(point)

    def _as_joint(self, point: Vector) -> NDArray[np.float64]:
        """Return a solver's point as a joint distribution, without rounding errors below 0."""
        positive = np.where(point > 1e-13, point, 0.0)
        joint: NDArray[np.float64] = (positive / positive.sum()).reshape(self.shape)
        return joint
