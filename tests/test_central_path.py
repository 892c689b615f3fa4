"""Test linear programs over equilibria against HiGHS, and products of constraints against matrices."""

from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from gamesim import equilibrium
from gamesim.engine.compiled import Vector
from gamesim.game import Table
from gamesim.measure import central_path, newton, polytope, total_variation
from gamesim.measure.central_path import Program, inside
from gamesim.measure.constraint_products import Constraints
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, Incentives
from gamesim.measure.linear_programs import SIMPLEX, Solution, minimise
from gamesim.measure.newton import Equations, Sums, correlated_products
from tests.test_equilibrium import random_game, random_joint

SIZES = [(4, 7), (9, 4), (3, 4, 2), (2, 3, 2, 3)]


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("sizes", SIZES)
def test_products_are_those_of_the_sparse_system(sizes: tuple[int, ...], kind: EquilibriumKind) -> None:
    constraints = Constraints(Incentives(random_game(sizes, 3), kind))
    system = constraints.incentives.rows(constraints.rows).toarray()[:, constraints.cells]
    random = np.random.default_rng(0)
    weights, y = random.random(constraints.cells.size), random.random(constraints.rows.size)
    whole = (system * weights) @ system.T
    assert constraints.gains(weights) == pytest.approx(system @ weights)
    assert constraints.pressure(y) == pytest.approx(system.T @ y)
    assert constraints.squares(weights) == pytest.approx(np.diag(whole))
    if kind == "cce":
        assert constraints.coarse_products(weights) == pytest.approx(whole)
        return
    strong = random.random(y.size) < 0.3
    inverse, players = np.where(strong, 0.0, y), list(range(len(sizes)))
    for sums in (
        Sums.totals(constraints, inverse, strong, players),
        Sums.components(constraints, 100 * weights, inverse, strong, players),
    ):
        factors = sums.matrix.toarray()
        assert strong.sum() < len(factors) < y.size
        products = np.tril(correlated_products(constraints, weights, sums))
        assert products == pytest.approx(np.tril(factors @ whole @ factors.T), abs=1e-12)
        weak = factors[(factors * inverse).any(axis=1)]
        assert sums.columns(constraints, inverse) == pytest.approx(((weak @ system) ** 2).sum(axis=0))
    assert constraints.columns(y) == pytest.approx(np.diag((system.T * y) @ system))


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(
    "limits",
    [
        {"STRONG": 0.0},
        {"STRONG": 1.0},
        {"STRONG": 1e9},
        {"FEW": 0, "FEW_EACH": 0, "STRONG": 0.0, "STRONGEST": 3.0, "PRINCIPAL": 0.1},
        {"FEW": 0, "FEW_EACH": 0, "STRONG": 0.0, "STRONGEST": 3.0, "PRINCIPAL": 1.0, "MOST_FACTORED": 3},
        {"FEW": 0, "FEW_EACH": 0, "STRONG": 0.0, "STRONGEST": 1e9, "PRINCIPAL": 0.1, "MOST_FACTORED": 8},
    ],
)
def test_newton_equations_are_solved_whatever_is_factored(
    sizes: tuple[int, ...], kind: EquilibriumKind, limits: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(newton, name, value)
    constraints = Constraints(Incentives(random_game(sizes, 1), kind))
    cells, rows, random = constraints.cells.size, constraints.rows.size, np.random.default_rng(2)
    weights, ratio, alone, ahead = (10 ** random.uniform(-2, 1, count) for count in (cells, rows, cells, rows))
    system, ones = constraints.incentives.rows(constraints.rows).toarray()[:, constraints.cells], np.ones((1, cells))
    matrix = np.block(
        [
            [np.diag(1 / weights), system.T, ones.T],
            [system, -np.diag(ratio), np.zeros((rows, 1))],
            [ones, np.zeros((1, rows + 1))],
        ]
    )
    expected = np.linalg.solve(matrix, np.concatenate([-alone / weights, -ahead, [0.3]]))
    dy, slope, level = Equations(constraints, weights, ratio).solve(alone, ahead, 0.3, 1e-12, np.inf)
    assert -(alone + weights * slope) == pytest.approx(expected[:cells], abs=1e-8)
    assert dy == pytest.approx(expected[cells:-1], abs=1e-8)
    assert level == pytest.approx(expected[-1], abs=1e-8)


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("few", [None, 0])  # with 0, constraints count as many: blocks and principal components
def test_distances_and_welfare_are_those_of_highs(
    sizes: tuple[int, ...], kind: EquilibriumKind, few: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if few is not None:
        monkeypatch.setattr(newton, "FEW", few)
        monkeypatch.setattr(newton, "FEW_EACH", few)
    monkeypatch.setattr(polytope, "CENTRAL_FROM", {kind: 0})
    for seed in range(3):
        game, joint = random_game(sizes, seed), random_joint(sizes, seed)
        incentives = Incentives(game, kind)
        found = total_variation.central(Constraints(incentives), joint, monotonic() + 60)
        assert found.solved
        assert found.distance == pytest.approx(total_variation.direct(incentives, joint, SIMPLEX).distance, abs=1e-8)
        assert found.nearest is not None and incentives.gains(found.nearest).max() <= 1e-9
        assert np.abs(found.nearest - joint).sum() / 2 == pytest.approx(found.distance, abs=1e-12)
        assert found.lower <= found.upper
        total, system = game.payoffs.sum(axis=0).ravel(), incentives.system().toarray()
        ends = [
            sign
            * float(
                linprog(sign * total, system, np.zeros(system.shape[0]), np.ones((1, total.size)), np.ones(1)).fun
                or 0.0
            )
            for sign in (1, -1)
        ]
        assert equilibrium.welfare_range(game, kind) == pytest.approx(ends, abs=1e-7 * float(np.abs(total).max()))


def test_bounds_hold_whenever_time_runs_out() -> None:
    game, joint = random_game((6, 5), 2), random_joint((6, 5), 2)
    incentives = Incentives(game, "ce")
    expected = total_variation.direct(incentives, joint, SIMPLEX).distance
    found = total_variation.central(Constraints(incentives), joint, monotonic() - 1)
    assert found.lower <= expected <= found.upper and not found.solved
    program, lower = Program(Constraints(incentives), np.zeros(int(incentives.live.sum())), joint.ravel()), 0.0
    for _ in range(8):
        program.step(1e-6)
        bound = total_variation.dual_bound(incentives, joint, program.constraints.over_all(program.at.y))
        assert bound <= expected + 1e-12
        lower = max(lower, bound)
    assert lower > 0.9 * expected


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
def test_a_path_that_starts_inside_stays_there(kind: EquilibriumKind) -> None:
    game, joint = random_game((7, 5), 3), random_joint((7, 5), 3)
    incentives = Incentives(game, kind)
    constraints = Constraints(incentives)
    start = inside(constraints)
    assert start is not None and constraints.gains(start).max() < 0
    expected = total_variation.direct(incentives, joint, SIMPLEX).distance
    live = incentives.live
    program = Program(constraints, np.zeros(int(live.sum())), joint.ravel()[live], start)
    for _ in range(12):
        assert program.step(1e-6)
        q = np.zeros(joint.size)
        q[live] = program.q
        assert incentives.gains(q.reshape(joint.shape)).max() <= 1e-12
        assert np.abs(q - joint.ravel()).sum() / 2 >= expected - 1e-9
    assert np.abs(q - joint.ravel()).sum() / 2 == pytest.approx(expected, abs=1e-3)


def test_a_target_is_known_as_soon_as_a_path_starts_outside_of_the_set() -> None:
    table = np.random.default_rng(4).random((5, 4))
    incentives, joint = Incentives(Table.from_payoffs([table, -table]), "ce"), random_joint((5, 4), 1)
    constraints = Constraints(incentives)
    assert inside(constraints) is None  # a zero-sum game with a single equilibrium
    found = total_variation.central(constraints, joint, monotonic() - 1)
    assert found.nearest is not None and found.upper == 1
    assert found.nearest.min() >= 0 and found.nearest.sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("strict", [False, True])
def test_a_path_starts_where_all_products_are_equal(
    sizes: tuple[int, ...], kind: EquilibriumKind, strict: bool
) -> None:
    every = (Constraints(Incentives(random_game(sizes, seed), kind)) for seed in range(20))
    constraints = next(one for one in every if inside(one) is not None)
    count, joint = constraints.cells.size, random_joint(sizes, 3).ravel()[constraints.cells]
    program = Program(constraints, np.zeros(count), joint, inside(constraints) if strict else None)
    at = program.at
    for distance, multiplier in ((at.amounts, at.low), (at.room, at.high), (at.slacks, at.y)):
        assert min(distance.min(), multiplier.min()) > 0
        assert distance * multiplier == pytest.approx(1 / count)
    assert program.centrality == pytest.approx(1 / count)
    kept = at.amounts[: joint.size]
    assert kept + at.room == pytest.approx(joint)
    assert kept + at.amounts[joint.size :] == pytest.approx(program.q)
    if strict:
        assert program.q == pytest.approx(inside(constraints))
        assert constraints.gains(program.q) == pytest.approx(-at.slacks)
    program.step(1e-6)
    at, products = program.at, 0.0
    for distance, multiplier in ((at.amounts, at.low), (at.room, at.high), (at.slacks, at.y)):
        products += float(distance @ multiplier)
    assert program.centrality == pytest.approx(products / (at.amounts.size + at.room.size + at.slacks.size))


def test_a_path_ends_if_the_bounds_do_not_improve() -> None:
    constraints = Constraints(Incentives(random_game((4, 7), 3), "ce"))

    def proofs(improvement: float) -> int:
        calls = 0

        def prove(q: Vector, y: Vector) -> tuple[float, float]:
            nonlocal calls
            calls += 1
            return 0.5, 1.0 - improvement * calls

        Program(constraints, np.zeros(constraints.cells.size)).follow(prove, 0.0, np.inf)
        return calls

    assert proofs(0.0) == central_path.PATIENCE + 1
    assert proofs(1e-3) > central_path.PATIENCE + 1


def test_large_programs_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    game, joint = random_game((7, 5), 3), random_joint((7, 5), 3)
    expected = total_variation.direct(Incentives(game, "ce"), joint, SIMPLEX).distance
    monkeypatch.setattr(total_variation, "SEARCH_TO", {"ce": 0})
    monkeypatch.setattr(total_variation.Search, "_steps", None)
    found = total_variation.Search(Incentives(game, "ce")).nearest(joint)
    assert found.solved and found.distance == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("what", ["multipliers", "point"])
def test_an_optimum_by_simplex_needs_a_proof(
    sizes: tuple[int, ...], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = random_game(sizes, 4)
    expected = equilibrium.welfare_range(game, "ce")
    even = equilibrium.polytope(game, "ce").max_entropy().ravel()[Incentives(game, "ce").live]
    found: list[Solution] = []

    def unproven(*arguments: Any, **options: Any) -> Solution:
        found.append(minimise(*arguments, **options))
        if what == "point":  # an equilibrium that is not the optimum
            return replace(found[-1], point=even)
        return replace(found[-1], multipliers=0 * found[-1].multipliers)

    monkeypatch.setattr(polytope, "minimise", unproven)
    assert equilibrium.welfare_range(game, "ce") == pytest.approx(expected, abs=1e-7)
    assert len(found) == 2


def test_roots_of_matrices_that_are_singular_up_to_rounding() -> None:
    rows = np.random.default_rng(2).random((7, 3))
    block = rows @ rows.T
    root = newton.inverse_root(block.copy())
    assert block @ (root.T @ (root @ block)) == pytest.approx(block, abs=1e-6)
