"""The sets of equilibria themselves: the joints that satisfy the incentive constraints, a polytope in the simplex."""

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.sparse import block_array, csr_array, eye_array, vstack
from scipy.spatial import ConvexHull, HalfspaceIntersection

from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game
from gamesim.measure import distance
from gamesim.measure.incentives import Deviation, EquilibriumKind, Incentives, checked_joint, checked_kind, written_out
from gamesim.measure.interior_point import HalfSquares, NegativeEntropy, minimise_sum
from gamesim.measure.linear_programs import minimise

Norm: TypeAlias = Literal["tv", "max", "euclidean"]
NORMS: tuple[Norm, ...] = get_args(Norm)
LISTED = 10  # dimensions of a polytope up to which its vertices are listed
INSIDE = 1e-9  # of a player's payoff range: what it may gain at a joint that counts as inside


@dataclass(frozen=True)
class Membership:
    """Whether a joint is `inside` the set, and the most profitable `deviation` as the reason.

    It is true or false itself, and says why when it is printed.

    >>> from gamesim import equilibrium, games
    >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
    >>> found = equilibria.contains([[0.5, 0.3], [0.2, 0]])
    >>> bool(found), found.deviation.gain > 0
    (False, True)
    >>> print(equilibria.contains([[0.7, 0.2], [0.1, 0]]))
    Column should play dare when told chicken out: gains 0.5
    """

    inside: bool
    deviation: Deviation | None

    def __bool__(self) -> bool:
        return self.inside

    def __str__(self) -> str:
        if self.deviation is None:
            return "no player has another action"
        return f"nobody gains by deviating ({self.deviation})" if self.inside else str(self.deviation)


@dataclass(frozen=True, eq=False)
class Polytope:
    """All correlated (or coarse correlated) equilibria of a game, as a set of joints.

    A joint is an array of probabilities with an axis for each player. The set is made of its `incentives`, the linear
    constraints; `equilibrium.polytope(game, kind)` is the shortest way to it.

    >>> from gamesim.game import Table
    >>> chicken = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]], actions=[["Chicken", "Dare"]] * 2)
    >>> equilibria = Polytope.from_game(chicken, "ce")
    >>> equilibria.dimension, len(equilibria.vertices())
    (3, 5)
    >>> print(equilibria.contains([[0.7, 0.2], [0.1, 0]]))
    Column should play Dare when told Chicken: gains 0.5
    >>> equilibria.optimum([1, 1]).round(3)
    array([[0.5 , 0.25],
           [0.25, 0.  ]])
    """

    incentives: Incentives

    @classmethod
    def from_game(cls, game: Game, kind: EquilibriumKind) -> "Polytope":
        """Return the set of all equilibria of a game, of kind "ce" or "cce".

        >>> from gamesim import games
        >>> Polytope.from_game(games.make("prisoners-dilemma"), "ce").vertices().tolist()
        [[[0.0, 0.0], [0.0, 1.0]]]
        """
        return cls(Incentives(written_out(game), checked_kind(kind)))

    of = Renamed("from_game")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a joint: how many actions each player has.

        >>> from gamesim import games
        >>> Polytope.from_game(games.make("uniform", players=3, actions=[2, 3, 4]), "cce").shape
        (2, 3, 4)
        """
        return self.incentives.game.sizes

    @cached_property
    def system(self) -> csr_array:
        """The incentive constraints G of G q ≤ 0, each in units of its player's payoff range.

        Of a CE each player has a row for each action told and each other action played, of a CCE one for each action.

        >>> from gamesim import games
        >>> game = games.make("uniform", players=2, actions=[2, 3])
        >>> Polytope.from_game(game, "ce").system.shape  # 2 · 1 + 3 · 2 rows, 6 cells
        (8, 6)
        >>> Polytope.from_game(game, "cce").system.shape
        (5, 6)
        """
        return self.incentives.system()

    def contains(self, joint: ArrayLike, tolerance: float = INSIDE) -> Membership:
        """Say whether a joint is an equilibrium, with its most profitable deviation.

        `tolerance` is what a player may gain, in parts of its payoff range.

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
        """Return the `count` most profitable deviations from a joint, the best first; gains in payoff units a round.

        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> for deviation in equilibria.deviations([[0.7, 0.2], [0.1, 0]], count=2):
        ...     print(deviation)
        Column should play dare when told chicken out: gains 0.5
        Row should play dare when told chicken out: gains 0.3
        """
        return list(islice(self.incentives.deviations(checked_joint(self.incentives.game, joint)), count))

    def nearest(self, joint: ArrayLike, norm: Norm = "tv") -> NDArray[np.float64]:
        """Return the equilibrium nearest to a joint, in one of three norms, itself a joint.

        `norm` is "tv", total variation; "max", the largest difference in any cell; or "euclidean".

        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.nearest([[0.7, 0.2], [0.1, 0]], norm="euclidean").round(3)
        array([[0.5 , 0.25],
               [0.25, 0.  ]])
        """
        if norm not in NORMS:
            raise InputError(f"a norm is tv, max or euclidean, and {norm!r} came: {did_you_mean(str(norm), NORMS)}")
        array = checked_joint(self.incentives.game, joint)
        if self.incentives.gains(array).max() <= 0:
            return array
        if norm == "tv":
            return distance.nearest(self.incentives, array).joint
        if norm == "max":
            return self._nearest_in_max_norm(array)
        return minimise_sum(self.incentives, HalfSquares(array.ravel())).joint

    def distance(self, joint: ArrayLike, norm: Norm = "tv") -> float:
        """Return how far a joint is from the set, in one of three norms.

        `norm` is "tv", total variation; "max", the largest difference in any cell; or "euclidean".

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
        """Return the equilibrium with the largest weighted sum of payoffs, a joint.

        There is one weight per player: `weights` of ones give the best total, minus ones the worst, a single one the
        equilibrium that favours that player.

        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.optimum([1, 0]).round(3)  # best for Row: it dares, and Column gives in
        array([[0., 0.],
               [1., 0.]])
        """
        game = self.incentives.game
        weight = np.array(weights, dtype=np.float64)
        if weight.shape != (len(game.players),) or not np.isfinite(weight).all():
            raise InputError(
                f"{game.name} needs one weight for each of {len(game.players)} players, and {weights!r} came"
            )
        value = np.tensordot(weight, game.payoffs, axes=1).ravel()
        scale = float(np.abs(value).max()) or 1.0
        zeros = np.zeros(self.system.shape[0])
        method = distance.faster_method(self.incentives)
        point = minimise(-value / scale, self.system, zeros, np.ones(value.size), 1.0, method=method).point
        return self._as_joint(point)

    def payoffs(self, joint: ArrayLike) -> Vector:
        """Return what each player is paid in a joint, in payoff units a round.

        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.payoffs([[0.5, 0.5], [0, 0]]).tolist()
        [4.0, 6.5]
        """
        game = self.incentives.game
        return np.array([np.sum(checked_joint(game, joint) * payoff) for payoff in game.payoffs])

    def max_entropy(self) -> NDArray[np.float64]:
        """Return the equilibrium of largest entropy -Σ q ln q, a joint (Ortiz, Schapire and Kakade 2007).

        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("battle-of-the-sexes"), "ce")
        >>> equilibria.max_entropy().round(3)
        array([[0.28 , 0.253],
               [0.187, 0.28 ]])
        """
        return minimise_sum(self.incentives, NegativeEntropy()).joint

    def max_gini(self) -> NDArray[np.float64]:
        """Return the equilibrium of largest Gini impurity 1 - Σ q², a joint (Marris et al. 2021).

        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("battle-of-the-sexes"), "ce")
        >>> equilibria.max_gini().round(3)
        array([[0.279, 0.256],
               [0.186, 0.279]])
        """
        return minimise_sum(self.incentives, HalfSquares(np.zeros(self.incentives.game.cells))).joint

    @property
    def dimension(self) -> int:
        """How many directions there are to move in without leaving the set: 0 for a single point.

        >>> from gamesim import games
        >>> [Polytope.from_game(games.make("matching-pennies"), kind).dimension for kind in ("ce", "cce")]
        [0, 0]
        >>> [Polytope.from_game(games.make("bad-rps"), kind).dimension for kind in ("ce", "cce")]
        [0, 8]
        """
        return int(self._chart[1].shape[1])

    def vertices(self) -> NDArray[np.float64]:
        """Return the corners of the set, one joint each, in lexicographic order; up to ten dimensions.

        >>> from gamesim import equilibrium, games
        >>> equilibria = equilibrium.polytope(games.make("chicken"), "ce")
        >>> equilibria.vertices()[0]  # Row dares, Column chickens out
        array([[0., 0.],
               [1., 0.]])
        """
        corners = self._corners()
        centre, basis = self._chart
        joints = np.array([self._as_joint(centre + basis @ corner).ravel() for corner in corners])
        order = np.lexsort(joints.round(9).T[::-1])
        return joints[order].reshape(-1, *self.shape)

    @property
    def volume(self) -> float:
        """The Euclidean volume in the set's own dimension: a length, an area, ... of joints; 1 for a single point.

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
        return float(ConvexHull(corners, qhull_options="QJ").volume)  # joggled by some 1e-11: corners may be degenerate

    @cached_property
    def _halfspaces(self) -> csr_array:
        """Every inequality, H q ≤ 0: the incentive constraints and -q ≤ 0."""
        return csr_array(vstack([self.system, -eye_array(self.system.shape[1])], format="csr"))

    @cached_property
    def _chart(self) -> tuple[Vector, NDArray[np.float64]]:
        """A point in the relative interior, and an orthonormal basis of the directions within the set.

        The inequalities that hold with room somewhere in the set all do so in one point: in the cone of all multiples
        of equilibria, Σ min(room, 1) is largest there. The others are equations, and cut the dimension.
        """
        rows, cells = self._halfspaces.shape
        solution = minimise(
            np.repeat([0.0, -1.0], [cells, rows]),
            csr_array(block_array([[self._halfspaces, eye_array(rows)]], format="csr")),
            np.zeros(rows),
            np.zeros(cells + rows),
            0.0,
            np.repeat([np.inf, 1.0], [cells, rows]),
        )
        equations = self._halfspaces[np.flatnonzero(solution.point[cells:] < 0.5)].toarray()
        flat = np.vstack([equations, np.ones(cells)])
        centre = solution.point[:cells] / solution.point[:cells].sum()
        target = np.append(np.zeros(len(equations)), 1.0)
        centre += np.linalg.lstsq(flat, target - flat @ centre, rcond=None)[0]
        return centre, null_space(flat, rcond=1e-9)

    def _corners(self) -> NDArray[np.float64]:
        """Return the vertices in the coordinates of the chart."""
        centre, basis = self._chart
        dimension = basis.shape[1]
        if dimension > LISTED:
            raise InputError(
                f"vertices are listed up to {LISTED} dimensions, and the {self.incentives.kind} set of "
                f"{self.incentives.game.name} has {dimension}: ask for optimum(weights) instead"
            )
        if dimension == 0:
            return np.zeros((1, 0))
        normals, rooms = self._halfspaces @ basis, -(self._halfspaces @ centre)
        cutting = np.linalg.norm(normals, axis=1) > 1e-9
        normals, rooms = normals[cutting], rooms[cutting]
        if dimension == 1:
            ends = rooms / normals[:, 0]
            return np.array([[ends[normals[:, 0] < 0].max()], [ends[normals[:, 0] > 0].min()]])
        # Joggled halfspaces never fail where many meet in a corner; they split it, and solving the constraints that are
        # tight there for the corner itself makes it whole again.
        lengths = np.linalg.norm(normals, axis=1)
        normals, rooms = normals / lengths[:, None], rooms / lengths
        halfspaces = np.column_stack([normals, -rooms])
        found = HalfspaceIntersection(halfspaces, np.zeros(dimension), qhull_options="QJ").intersections
        corners = []
        for point in found:
            tight = np.abs(normals @ point - rooms) < 1e-7
            corner, _, rank, _ = np.linalg.lstsq(normals[tight], rooms[tight], rcond=1e-9)
            if rank == dimension and (normals @ corner - rooms).max() < 1e-9:
                corners.append(corner)
        _, distinct = np.unique(np.array(corners).round(8) + 0.0, axis=0, return_index=True)
        return np.array(corners)[distinct]

    def _nearest_in_max_norm(self, joint: NDArray[np.float64]) -> NDArray[np.float64]:
        """Solve for the least t with -t ≤ q - joint ≤ t in every cell."""
        cells, column = joint.size, np.ones((joint.size, 1))
        rows = block_array(
            [[self.system, None], [eye_array(cells), csr_array(-column)], [-eye_array(cells), csr_array(-column)]],
            format="csr",
        )
        limits = np.concatenate([np.zeros(self.system.shape[0]), joint.ravel(), -joint.ravel()])
        unit = np.repeat([0.0, 1.0], [cells, 1])
        return self._as_joint(minimise(unit, csr_array(rows), limits, 1 - unit, 1.0).point[:cells])

    def _as_joint(self, point: Vector) -> NDArray[np.float64]:
        """Return a solver's point as a joint, without its rounding below 0."""
        positive = np.where(point > 1e-13, point, 0.0)
        joint: NDArray[np.float64] = (positive / positive.sum()).reshape(self.shape)
        return joint
