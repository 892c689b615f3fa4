"""Test the sets of equilibria against exact enumeration, solutions by hand, and generic convex solvers."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from gamesim import equilibrium, games
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.measure import central_path, polytope
from gamesim.measure.incentives import EquilibriumKind, Incentives
from gamesim.measure.interior_point import HalfSquares, NegativeEntropy, minimise_sum, on_simplex
from gamesim.measure.polytope import Norm, Polytope
from tests.seeds import seeds
from tests.test_equilibrium import BAD, CHICKEN, SHAPLEY, random_game, random_joint, with_mixed_nash

pytestmark = pytest.mark.slow

UNEVEN = Table.from_payoffs([[[4, 1, 0], [5, 0, 2]], [[3, 4, 1], [2, 0, 5]]])
KINDS = pytest.mark.parametrize("kind", ["ce", "cce"])


def exact_inequalities(game: Table, kind: str) -> list[list[Fraction]]:
    """Return the rows h of h · q ≤ 0 in exact numbers: the incentive constraints and -q ≤ 0."""
    rows = []
    cells = list(np.ndindex(*game.sizes))
    for i, size in enumerate(game.sizes):
        for b in range(size):
            told = {}
            for a in range(size):
                told[a] = [
                    Fraction(game.payoffs[(i, *x[:i], b, *x[i + 1 :])]) - Fraction(game.payoffs[(i, *x)])
                    if x[i] == a
                    else Fraction(0)
                    for x in cells
                ]
            if kind == "ce":
                rows += [row for a, row in told.items() if a != b]
            else:
                rows.append([sum(column, Fraction(0)) for column in zip(*told.values(), strict=True)])
    return rows + [[Fraction(-(j == k)) for j in range(len(cells))] for k in range(len(cells))]


def exact_solution(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve a square system by elimination, or return None if it is singular."""
    table = [[*row, r] for row, r in zip(rows, right, strict=True)]
    for k in range(len(table)):
        pivot = next((r for r in range(k, len(table)) if table[r][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [x / table[k][k] for x in table[k]]
        for r in range(len(table)):
            if r != k and table[r][k]:
                table[r] = [x - table[r][k] * y for x, y in zip(table[r], table[k], strict=True)]
    return [row[-1] for row in table]


def exact_vertices(game: Table, kind: str) -> set[tuple[Fraction, ...]]:
    """Return the vertices: feasible solutions of as many tight inequalities as dimensions."""
    inequalities = exact_inequalities(game, kind)
    found = set()
    for tight in combinations(inequalities, game.cells - 1):
        point = exact_solution([*tight, [Fraction(1)] * game.cells], [Fraction(0)] * (game.cells - 1) + [Fraction(1)])
        if point and all(sum(h * q for h, q in zip(row, point, strict=True)) <= 0 for row in inequalities):
            found.add(tuple(point))
    return found


@KINDS
@pytest.mark.parametrize("game", [CHICKEN, UNEVEN], ids=["chicken", "uneven"])
def test_vertices_are_those_of_exact_enumeration(game: Table, kind: EquilibriumKind) -> None:
    exact = np.array([[float(x) for x in vertex] for vertex in sorted(exact_vertices(game, kind))])
    found = equilibrium.polytope(game, kind).vertices().reshape(len(exact), -1)
    assert found == pytest.approx(exact, abs=1e-9)


def test_the_corners_of_chicken() -> None:
    corners = equilibrium.polytope(CHICKEN, "ce").vertices().reshape(-1, 4)
    expected = [(0, 0, 1, 0), (0, 0.4, 0.4, 0.2), (0, 1, 0, 0), (4 / 9, 2 / 9, 2 / 9, 1 / 9), (0.5, 0.25, 0.25, 0)]
    assert corners == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("game", "kind", "dimension", "corners", "volume"),
    [
        (Table.from_payoffs(np.zeros((2, 2, 2))), "ce", 3, 4, 1 / 3),  # all distributions: √4 / 3!
        (Table.from_payoffs([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]), "ce", 0, 1, 1.0),
        (Table.from_payoffs([[[3, 0], [5, 1]], [[3, 5], [0, 1]]]), "cce", 0, 1, 1.0),
        (Table.from_payoffs([BAD, BAD.T]), "ce", 0, 1, 1.0),
        (
            Table.from_payoffs([[[0, 0]], [[1, 1]]]),
            "ce",
            1,
            2,
            np.sqrt(2),
        ),  # one player has two actions with equal payoffs
        (Table.from_payoffs([[2.0, 2.0, 1.0]]), "ce", 1, 2, np.sqrt(2)),  # one player with two best actions
        (
            Table.from_payoffs([[[0, 0, 0], [0, 0, 0]], [[1, 1, 1], [1, 1, 0]]]),
            "ce",
            4,
            5,
            np.sqrt(5) / 24,
        ),  # all distributions without (2, 3)
    ],
)
def test_dimension_corners_and_volume_of_degenerate_sets(
    game: Table, kind: EquilibriumKind, dimension: int, corners: int, volume: float
) -> None:
    found = equilibrium.polytope(game, kind)
    assert found.dimension == dimension
    assert len(found.vertices()) == corners
    assert found.volume == pytest.approx(volume, abs=1e-9)


@pytest.mark.parametrize(
    ("game", "dimension"),
    [(Table.from_payoffs([[[2, 0], [0, 1]], [[7, 7], [1, 0]]]), 1), (CHICKEN, 3), (UNEVEN, None)],
    ids=["segment", "chicken", "uneven"],
)
def test_vertices_in_floating_point_are_those_of_exact_arithmetic(
    game: Table, dimension: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = equilibrium.polytope(game, "ce").vertices().reshape(-1, game.cells)
    monkeypatch.setattr(polytope, "EXACT_PROFILES", 0)
    found = Polytope(Incentives(game, "ce"))
    corners = found.vertices().reshape(-1, game.cells)
    assert dimension in (None, found.dimension)
    assert corners[np.lexsort(corners.round(6).T[::-1])] == pytest.approx(exact, abs=1e-9)
    if dimension == 1:  # Row obeys as long as Column plays its first action in a third of the rounds
        assert exact == pytest.approx(np.array([[1 / 3, 2 / 3, 0, 0], [1, 0, 0, 0]]), abs=1e-12)


@KINDS
def test_the_corners_span_the_optima_of_random_games(kind: EquilibriumKind) -> None:
    several = 0
    for seed in seeds(10, 30):
        sizes = [(2, 2), (2, 3), (3, 2), (2, 2, 2), (3, 3)][seed % 5]
        game = with_mixed_nash(sizes, seed)[0] if seed % 2 else random_game(sizes, seed)
        found = equilibrium.polytope(game, kind)
        corners = found.vertices()
        several += len(corners) > 1
        for corner in corners:
            assert found.contains(corner, tolerance=1e-8)
        for weights in np.random.default_rng(seed).normal(size=(4, len(sizes))):
            best = weights @ found.payoffs(found.optimum(weights))
            assert best == pytest.approx(max(weights @ found.payoffs(corner) for corner in corners), abs=1e-7)
    assert several > 3


def test_membership_names_the_most_profitable_deviation() -> None:
    inside = equilibrium.polytope(CHICKEN, "ce")
    outside = inside.contains([[0.71, 0.2], [0.09, 0]])
    assert not outside
    assert str(outside) == "Column gains 0.53 by playing Dare when Chicken is recommended"
    assert (
        str(inside.contains([[0.71, 0.09], [0.2, 0]])) == "Row gains 0.53 by playing Dare when Chicken is recommended"
    )
    third = inside.contains([[1 / 3, 1 / 3], [1 / 3, 0]])
    assert third
    assert "no player gains" in str(third)
    coarse = equilibrium.polytope(CHICKEN, "cce").contains([[1, 0], [0, 0]])
    assert str(coarse) == "Row gains 1 by always playing Dare"
    listed = inside.deviations([[0.71, 0.2], [0.09, 0]], 4)
    assert [d.player for d in listed[:2]] == ["Column", "Row"]
    assert [d.gain for d in listed] == sorted((d.gain for d in listed), reverse=True)
    assert sum(d.gain for d in listed[:1]) == pytest.approx(equilibrium.gap(CHICKEN, [[0.71, 0.2], [0.09, 0]], "ce"))


def test_the_best_worst_and_favouring_equilibria_of_chicken() -> None:
    found = equilibrium.polytope(CHICKEN, "ce")
    assert found.optimum([1, 1]) == pytest.approx(np.array([[0.5, 0.25], [0.25, 0]]), abs=1e-9)
    assert found.payoffs(found.optimum([-1, -1])).sum() == pytest.approx(7.2, abs=1e-9)
    assert found.payoffs(found.optimum([1, 0])) == pytest.approx([7, 2], abs=1e-9)
    assert found.payoffs(found.optimum([0, 1])) == pytest.approx([2, 7], abs=1e-9)


def generic(
    game: Table, kind: EquilibriumKind, value: Callable[[Vector], float], slope: Callable[[Vector], Vector]
) -> Vector:
    """Minimise over the set with a generic solver, starting from the uniform distribution."""
    system = Incentives(game, kind).system().toarray()
    solve: Any = minimize
    result = solve(
        value,
        np.full(game.cells, 1 / game.cells),
        jac=slope,
        method="SLSQP",
        bounds=[(1e-12, 1)] * game.cells,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones((1, q.size))},
            {"type": "ineq", "fun": lambda q: -system @ q, "jac": lambda q: -system},
        ],
        options={"maxiter": 2000, "ftol": 1e-15},
    )
    return np.asarray(result.x).reshape(game.sizes)


@KINDS
@pytest.mark.parametrize(
    "game", [CHICKEN, UNEVEN, SHAPLEY, with_mixed_nash((3, 2), 1)[0], with_mixed_nash((2, 3, 2), 2)[0]]
)
def test_the_most_random_equilibria_are_those_of_a_generic_solver(game: Table, kind: EquilibriumKind) -> None:
    found = equilibrium.polytope(game, kind)
    entropy = generic(game, kind, lambda q: float(q @ np.log(q)), lambda q: np.log(q) + 1)
    gini = generic(game, kind, lambda q: 0.5 * float(q @ q), lambda q: q)
    for ours, theirs, total in (
        (found.max_entropy(), entropy, NegativeEntropy()),
        (found.max_gini(), gini, HalfSquares(np.zeros(game.cells))),
    ):
        assert found.contains(ours)
        assert ours == pytest.approx(theirs, abs=2e-5)
        assert total.value(ours.ravel()) <= total.value(theirs.ravel()) + 1e-8


def test_the_most_random_equilibrium_may_be_the_only_one() -> None:
    dilemma = equilibrium.polytope(Table.from_payoffs([[[3, 0], [5, 1]], [[3, 5], [0, 1]]]), "ce")
    assert dilemma.max_entropy() == pytest.approx(np.array([[0, 0], [0, 1]]), abs=1e-8)
    assert dilemma.max_gini() == pytest.approx(np.array([[0, 0], [0, 1]]), abs=1e-8)


@KINDS
@pytest.mark.parametrize("sizes", [(3, 4), (5, 2), (2, 3, 2), (2, 2, 3, 2)])
def test_the_euclidean_projection_meets_its_optimality_conditions(
    sizes: tuple[int, ...], kind: EquilibriumKind
) -> None:
    for seed in seeds(6, 15):
        game, joint = random_game(sizes, seed), random_joint(sizes, seed)
        found = equilibrium.polytope(game, kind)
        nearest = found.nearest(joint, "euclidean")
        assert found.contains(nearest)
        # q is the projection of p onto a convex set iff (p - q) · (x - q) ≤ 0 for all x in the set: check by an LP.
        pull = (joint - nearest).ravel()
        system = Incentives(game, kind).system().toarray()
        farthest = linprog(-pull, A_ub=system, b_ub=np.zeros(len(system)), A_eq=np.ones((1, game.cells)), b_eq=[1])
        assert farthest.fun is not None
        assert -farthest.fun - pull @ nearest.ravel() < 1e-7
        assert found.distance(joint, "euclidean") == pytest.approx(np.linalg.norm(pull), abs=1e-12)


@KINDS
@pytest.mark.parametrize("sizes", [(3, 4), (2, 3, 2)])
def test_the_norms_order_the_distances(sizes: tuple[int, ...], kind: EquilibriumKind) -> None:
    bounds: dict[Norm, float] = {"max": np.inf, "euclidean": 2, "tv": 1}
    for seed in seeds(5, 10):
        game, joint = random_game(sizes, seed), random_joint(sizes, seed + 50)
        found = equilibrium.polytope(game, kind)
        largest, euclidean, half_sum = distances = [found.distance(joint, norm) for norm in bounds]
        assert half_sum == pytest.approx(equilibrium.distance(game, joint, kind), abs=1e-8)
        assert largest <= euclidean + 1e-7
        assert euclidean <= 2 * half_sum + 1e-7
        nearest = [found.nearest(joint, norm) for norm in bounds]
        for distance, (norm, bound) in zip(distances, bounds.items(), strict=True):
            half = 2 if norm == "tv" else 1
            for point in nearest:  # no other point found is nearer in this norm
                assert found.contains(point, tolerance=1e-8)
                assert distance <= np.linalg.norm((point - joint).ravel(), bound) / half + 1e-7


def test_a_joint_inside_is_its_own_nearest() -> None:
    found = equilibrium.polytope(CHICKEN, "ce")
    for norm in ("tv", "max", "euclidean"):
        assert found.nearest([[0.34, 0.33], [0.33, 0]], norm) == pytest.approx(np.array([[0.34, 0.33], [0.33, 0]]))
        assert found.distance([[0.34, 0.33], [0.33, 0]], norm) == 0


def test_a_large_projection_adds_constraints_as_they_are_violated() -> None:
    game = Table.from_payoffs(np.random.default_rng(2).random((2, 25, 22)))
    incentives = Incentives(game, "ce")
    assert incentives.proper.size > 1000
    joint = random_joint(game.sizes, 3)
    nearest = minimise_sum(incentives, HalfSquares(joint.ravel()))
    assert nearest.value == pytest.approx(nearest.bound, abs=1e-10)
    assert incentives.gains(nearest.joint).max() < 1e-8


def test_the_nearest_joint_to_a_point_by_hand() -> None:
    assert on_simplex(np.array([0.2, 0.2])) == pytest.approx([0.5, 0.5])
    assert on_simplex(np.array([0.9, 0.5, -1.0])) == pytest.approx([0.7, 0.3, 0.0])


def test_what_cannot_be_asked_is_refused() -> None:
    found = equilibrium.polytope(CHICKEN, "ce")
    with pytest.raises(InputError, match='norm must be "tv", "max" or "euclidean", got'):
        found.nearest([[1, 0], [0, 0]], "maximum")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one finite number for each of 2 players"):
        found.optimum([1, 1, 1])
    with pytest.raises(InputError, match="vertices are enumerated up to dimension 10"):
        equilibrium.polytope(Table.from_payoffs(np.zeros((2, 4, 4))), "ce").vertices()
    with pytest.raises(InputError, match='kind must be "ce" or "cce"'):
        equilibrium.polytope(CHICKEN, "nash")  # type: ignore[arg-type]


def test_an_optimum_without_a_proof_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when time is up after one step, at a point that is no equilibrium."""
    corner = np.eye(9)[0]

    def one_step(self: central_path.Program, prove: Callable[[Vector, Vector], Any], *_: float) -> None:
        prove(corner, np.zeros_like(self.constraints.gains(corner)))

    monkeypatch.setattr(central_path.Program, "follow", one_step)
    with pytest.raises(ArithmeticError, match="was not solved: the optimum is between -inf and 1 of"):
        Polytope.from_game(games.make("shapley"), "cce")._central_optimum(np.ones(9))
