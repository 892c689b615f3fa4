"""Test linear programs over equilibria against HiGHS, and products of constraints against matrices."""

from time import monotonic
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from gamesim import equilibrium
from gamesim.measure import polytope, total_variation
from gamesim.measure.central_path import ByCells, ByConstraints, Constraints, Program
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, Incentives
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
    chosen = np.flatnonzero(random.random(y.size) < 0.6)
    assert constraints.products(weights, chosen) == pytest.approx(whole[np.ix_(chosen, chosen)])
    if kind == "ce" and len(sizes) == 2:
        assert constraints.cell_products(y) == pytest.approx((system.T * y) @ system)


@pytest.mark.parametrize("sizes", [(4, 7), (9, 4)])
def test_both_forms_of_the_newton_equations_have_one_solution(sizes: tuple[int, ...]) -> None:
    constraints = Constraints(Incentives(random_game(sizes, 1), "ce"))
    cells, rows, random = constraints.cells.size, constraints.rows.size, np.random.default_rng(2)
    weights, ratio, alone, ahead = (random.random(count) + 0.1 for count in (cells, rows, cells, rows))
    forms: list[Any] = [
        ByCells(constraints, weights, ratio),
        ByConstraints(constraints, weights, ratio, np.arange(0, rows, 2)),
    ]
    (dy, slope, level), (other, steeper, higher) = (form.solve(alone, ahead, 0.3, 1e-12, np.inf) for form in forms)
    assert dy == pytest.approx(other, abs=1e-8)
    assert slope == pytest.approx(steeper, abs=1e-8)
    assert level == pytest.approx(higher, abs=1e-8)
    assert -(alone + weights * slope).sum() == pytest.approx(0.3)


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("sizes", SIZES)
def test_distances_and_welfare_are_those_of_highs(
    sizes: tuple[int, ...], kind: EquilibriumKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polytope, "CENTRAL_FROM", 0)
    for seed in range(3):
        game, joint = random_game(sizes, seed), random_joint(sizes, seed)
        incentives = Incentives(game, kind)
        found = total_variation.central(incentives, joint, monotonic() + 60)
        assert found.solved
        assert found.distance == pytest.approx(total_variation.direct(incentives, joint).distance, abs=1e-8)
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
    expected = total_variation.direct(incentives, joint).distance
    found = total_variation.central(incentives, joint, monotonic() - 1)
    assert found.lower <= expected <= found.upper and not found.solved
    program, lower = Program(Constraints(incentives), np.zeros(int(incentives.live.sum())), joint.ravel()), 0.0
    for _ in range(8):
        program.step(1e-6)
        bound = total_variation.dual_bound(incentives, joint, program.constraints.over_all(program.at.y))
        assert bound <= expected + 1e-12
        lower = max(lower, bound)
    assert lower > 0.9 * expected
