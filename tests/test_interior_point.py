"""The most random equilibria and Euclidean projections, also over sets without an interior.

q minimises a convex function f over the equilibria iff no equilibrium x has f'(q) · (x - q) < 0. SciPy checks this by a
linear program over the constraints as a textbook writes them.
"""

from collections.abc import Iterator
from itertools import product
from time import monotonic
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from gamesim import equilibrium, games
from gamesim.game import Game, Table
from gamesim.measure import interior_point
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, Incentives
from gamesim.measure.interior_point import HalfSquares, NegativeEntropy, minimise_sum
from gamesim.measure.relative_interior import _all_at_once, _one_after_another, _solved, in_integers
from tests.seeds import seeds
from tests.test_equilibrium import random_game

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]


def textbook(game: Table, kind: EquilibriumKind) -> Array:
    """Return the constraints G q ≤ 0 from the definition, each divided by its largest coefficient."""
    found = []
    for i, size in enumerate(game.sizes):
        for recommended, to in product(range(size), repeat=2) if kind == "ce" else ((None, b) for b in range(size)):
            row = np.zeros(game.sizes)
            for profile in product(*map(range, game.sizes)):
                if recommended in (None, profile[i]):
                    deviating = (*profile[:i], to, *profile[i + 1 :])
                    row[profile] = game.payoffs[(i, *deviating)] - game.payoffs[(i, *profile)]
            if row.any():
                found.append(row.ravel() / np.abs(row).max())
    return np.array(found).reshape(-1, game.cells)


def least(slope: Array, rows: Array) -> float:
    """Return the least value of slope · x over all equilibria x."""
    solve: Any = linprog
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    limits = np.zeros(len(rows))
    result = solve(slope, A_ub=rows, b_ub=limits, A_eq=np.ones((1, slope.size)), b_eq=[1], options=options)
    assert result.status == 0
    return float(result.fun)


def check(game: Game, kind: EquilibriumKind) -> None:
    """Check the three minimisers of a game."""
    assert isinstance(game, Table)
    rows, polytope = textbook(game, kind), equilibrium.polytope(game, kind)
    corner = np.zeros(game.cells)
    corner[0] = 1
    entropy, gini = polytope.max_entropy().ravel(), polytope.max_gini().ravel()
    nearest = polytope.nearest(corner.reshape(game.sizes), "euclidean").ravel()
    for q in (entropy, gini, nearest):
        assert (rows @ q).max(initial=0) <= 1e-12
        assert q.min() >= 0 and q.sum() == pytest.approx(1, abs=1e-12)
    assert gini @ gini <= least(gini, rows) + 1e-9
    pull: Array = nearest - corner
    assert pull @ nearest <= least(pull, rows) + 1e-9
    held = entropy > 0
    slope: Array = np.log(entropy[held]) + 1
    assert slope @ entropy[held] <= least(slope, rows[:, held]) + 1e-9
    if not held.all():  # an infinite slope: no equilibrium has mass there
        assert -least(np.where(held, 0.0, -1.0), rows) <= 1e-8


def degenerate_games() -> Iterator[tuple[str, Table]]:
    """Yield games whose sets of equilibria have no interior, or hardly one."""
    for seed in range(10):
        yield f"zero-sum {seed}", games.make("zero-sum", seed=seed)
        yield f"three players {seed}", games.make("uniform", players=3, actions=[2, 3, 2], seed=seed)
        random = np.random.default_rng(seed)
        sizes = [(2, 2), (3, 3), (2, 3, 2), (4, 3), (5, 5)][seed % 5]
        yield f"ties {seed}", Table.from_payoffs(random.integers(0, 3, (len(sizes), *sizes)))
        table = random.integers(-2, 3, (5, 5))
        yield f"integer zero-sum {seed}", Table.from_payoffs([table, -table])
    yield "constant", Table.from_payoffs(np.zeros((2, 3, 4)))
    yield "constant for three", Table.from_payoffs(np.zeros((3, 2, 2, 2)))
    yield "constant for one", Table.from_payoffs([np.zeros((3, 3)), np.arange(9).reshape(3, 3) % 4])
    for name in ("matching-pennies", "shapley", "prisoners-dilemma", "bad-rps", "rock-paper-scissors", "chicken"):
        yield name, games.make(name)
    yield "centipede", games.make("centipede", moves=10)


DEGENERATE = dict(degenerate_games())


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_minimisers_over_degenerate_sets_are_optimal(name: str, kind: EquilibriumKind) -> None:
    check(DEGENERATE[name], kind)


@pytest.mark.parametrize("family", ["uniform", "dominance-solvable"])
def test_minimisers_over_random_sets_are_optimal(family: str) -> None:
    for seed in seeds(20, 60):
        check(games.make(family, seed=seed), "ce")


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
def test_minimisers_in_blotto_are_optimal(kind: EquilibriumKind) -> None:
    check(games.make("blotto"), kind)


def test_a_single_equilibrium_is_the_minimiser() -> None:
    pennies = equilibrium.polytope(games.make("matching-pennies"), "ce")
    for found in (pennies.max_entropy(), pennies.max_gini(), pennies.nearest([[1, 0], [0, 0]], "euclidean")):
        assert found == pytest.approx(np.full((2, 2), 0.25), abs=1e-15)


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
def test_the_relative_interior_is_the_same_in_both_arithmetics(kind: EquilibriumKind) -> None:
    for name, game in DEGENERATE.items():
        incentives = Incentives(game, kind)
        cells = np.flatnonzero(incentives.live)
        if cells.size > 16:
            continue
        exact = in_integers(incentives.exact_rows, cells.size)
        found = incentives.interior()
        assert (found.dimension, found.tight.tolist()) == (exact.dimension, exact.tight.tolist()), name
        assert found.support[cells].tolist() == exact.support.tolist()
        vertices = equilibrium.polytope(game, kind).vertices() if game.cells <= 9 else None
        if vertices is not None:
            assert found.support.tolist() == (vertices.reshape(len(vertices), -1) > 0).any(axis=0).tolist()


def test_an_ill_conditioned_relative_interior_is_found_step_by_step() -> None:
    table = np.random.default_rng(2).random((25, 22))
    incentives = Incentives(Table.from_payoffs([table, -table]), "ce")  # a single equilibrium
    interior = incentives.interior()
    assert interior.dimension == 0
    assert incentives.gains(interior.point.reshape(25, 22)).max() < 1e-12


def test_the_bound_equals_the_minimum_up_to_rounding() -> None:
    for seed in range(20):
        incentives = Incentives(games.make("uniform", seed=seed), "ce")
        for total in (NegativeEntropy(), HalfSquares(np.zeros(16))):
            found = minimise_sum(incentives, total)
            assert found.value == pytest.approx(found.bound, abs=1e-12)


@pytest.mark.parametrize("total", [NegativeEntropy(), HalfSquares(np.array([1.0] + [0.0] * 11))])
def test_the_multipliers_satisfy_the_optimality_conditions(
    total: NegativeEntropy | HalfSquares, monkeypatch: pytest.MonkeyPatch
) -> None:
    """φ'(q) + Gᵀy + Eᵀλ = w with s y = q w = 0, also where the value is hardly changed by an action profile."""
    ends = []

    def recorded(*arguments: Any) -> Any:
        ends.append((arguments[:2], minimiser(*arguments)))
        return ends[-1][1]

    minimiser = interior_point._minimiser
    monkeypatch.setattr(interior_point, "_minimiser", recorded)
    for seed in range(12):
        minimise_sum(Incentives(games.make("uniform", players=3, actions=[2, 3, 2], seed=seed), "ce"), total)
    for (inequalities, equations), end in ends:
        held = end.total
        slope = end.q - held.centre if isinstance(held, HalfSquares) else np.log(end.q) + 1
        assert slope + inequalities.T @ end.y + equations.T @ end.multipliers == pytest.approx(end.w, abs=1e-10)
        assert inequalities @ end.q == pytest.approx(-end.s, abs=1e-13)
        assert max((end.s * end.y).max(initial=0), (end.q * end.w).max()) <= 1e-18
        assert min(end.q.min(), end.w.min(), end.s.min(initial=1), end.y.min(initial=1)) > 0
    assert len(ends) >= 8


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("sizes", [(3, 4), (5, 2), (2, 3, 2)])
def test_one_program_finds_the_relative_interior_of_a_set_with_an_interior(
    sizes: tuple[int, ...], kind: EquilibriumKind
) -> None:
    for seed in range(6):
        incentives = Incentives(random_game(sizes, seed), kind)
        cells = np.flatnonzero(incentives.live)
        rows = csr_array(incentives.rows(incentives.proper).tocsc()[:, cells])
        exact = in_integers(incentives.exact_rows, cells.size)
        found = [_solved(rows, *way(rows, monotonic() + 60)) for way in (_all_at_once, _one_after_another)]
        assert found[1] is not None and found[1].dimension == exact.dimension
        assert found[0] is not None or exact.tight.size
        for one in found:
            if one is not None:
                assert incentives.proper[one.tight].tolist() == exact.tight.tolist()
                assert one.support.tolist() == exact.support.tolist()
