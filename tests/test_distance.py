"""Test distances against solutions by hand, a literal linear program, each other, and the axioms of a metric."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from gamesim import equilibrium
from gamesim.game import Table
from gamesim.measure import total_variation
from gamesim.measure.incentives import EquilibriumKind, Incentives
from gamesim.measure.linear_programs import INTERIOR, SIMPLEX, dual_simplex
from tests.seeds import seeds
from tests.test_equilibrium import random_game, random_joint

pytestmark = pytest.mark.slow

PENNIES = Table.from_payoffs([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
SIZES = st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple)


def literal_distance(game: Table, joint: NDArray[np.float64], kind: str) -> float:
    """Minimise ½ Σ t subject to |q - joint| ≤ t, with every incentive constraint as a literal sum."""
    cells = game.cells
    rows = []
    for i, size in enumerate(game.sizes):
        for b in range(size):
            coarse = np.zeros(game.sizes)
            for a in range(size):
                fine = np.zeros(game.sizes)
                told, other = (np.moveaxis(x, i, 0) for x in (fine, game.payoffs[i]))
                told[a] = other[b] - other[a]
                coarse += fine
                if kind == "ce":
                    rows.append(fine.ravel())
            if kind == "cce":
                rows.append(coarse.ravel())
    identity = np.eye(cells)
    upper = np.block([[np.array(rows), np.zeros((len(rows), cells))], [identity, -identity], [-identity, -identity]])
    result = linprog(
        np.repeat([0.0, 0.5], cells),
        A_ub=upper,
        b_ub=np.concatenate([np.zeros(len(rows)), joint.ravel(), -joint.ravel()]),
        A_eq=np.repeat([1.0, 0.0], cells)[None],
        b_eq=[1.0],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.fun is not None
    return float(result.fun)


def learned_play(game: Table, rounds: int, keep: tuple[int, ...] = ()) -> list[NDArray[np.float64]]:
    """Return the joint distribution of Hedge in self-play, at the given rounds and at the end."""
    first, second = game.payoffs
    total = np.zeros(game.sizes)
    earned = [np.zeros(size) for size in game.sizes]
    joints = []
    for t in range(1, rounds + 1):
        weights = [np.exp(np.sqrt(8 * np.log(x.size) / t) * (x - x.max())) for x in earned]
        row, column = (weight / weight.sum() for weight in weights)
        total += np.outer(row, column)
        earned[0] += first @ column
        earned[1] += row @ second
        if t in keep or t == rounds:
            joints.append(total / total.sum())
    return joints


def test_distances_by_hand() -> None:
    # The only CE of matching pennies is uniform: a pure profile must move 3/4, the diagonal 1/2.
    assert equilibrium.distance(PENNIES, [[1, 0], [0, 0]], "ce") == pytest.approx(0.75, abs=1e-9)
    assert equilibrium.distance(PENNIES, [[0.5, 0], [0, 0.5]], "cce") == pytest.approx(0.5, abs=1e-9)
    # Chicken, both dare: the CE that keeps most of it is (0, 2/5, 2/5, 1/5), where (D, D) holds 1/5.
    chicken = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    assert equilibrium.distance(chicken, [[0, 0], [0, 1]], "ce") == pytest.approx(0.8, abs=1e-9)


@given(SIZES, st.integers(0, 10**6), st.sampled_from(["ce", "cce"]))
@settings(max_examples=60)
def test_the_distance_is_that_of_the_literal_program(sizes: tuple[int, ...], seed: int, kind: EquilibriumKind) -> None:
    game, joint = random_game(sizes, seed), random_joint(sizes, seed + 1)
    assert equilibrium.distance(game, joint, kind) == pytest.approx(literal_distance(game, joint, kind), abs=1e-7)


@pytest.mark.parametrize("kind", ["ce", "cce"])
@pytest.mark.parametrize("sizes", [(5, 7), (9, 4), (3, 4, 2), (4, 3, 5), (2, 3, 2, 3)])
def test_the_search_agrees_with_the_whole_program(sizes: tuple[int, ...], kind: EquilibriumKind) -> None:
    for seed in seeds(10, 30):
        game = random_game(sizes, seed)
        incentives, joint = Incentives(game, kind), random_joint(sizes, seed)
        whole = total_variation.direct(incentives, joint)
        found = total_variation.Search(incentives).nearest(joint)
        assert found.distance == pytest.approx(whole.distance, abs=1e-7)
        for nearest in (whole, found):
            assert nearest.lower == pytest.approx(nearest.distance, abs=1e-8)
            assert nearest.nearest is not None
            assert np.abs(nearest.nearest - joint).sum() / 2 == pytest.approx(nearest.distance, abs=1e-9)
            assert incentives.gains(nearest.nearest).max() < 1e-8
            assert nearest.nearest.min() >= 0
            assert nearest.nearest.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("kind", ["ce", "cce"])
@pytest.mark.parametrize("seed", range(3))
def test_learned_play_is_searched_to_the_end_and_agrees(
    kind: EquilibriumKind, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = Table.from_payoffs(np.random.default_rng(seed).random((2, 24, 20)))
    incentives, (early, joint) = Incentives(game, kind), learned_play(game, 2000, (200,))
    whole = [total_variation.direct(incentives, x, INTERIOR).distance for x in (early, joint)]
    monkeypatch.setattr(total_variation, "central", None)  # the search must not need it
    search = total_variation.Search(incentives)
    for x, expected in zip((early, joint), whole, strict=True):  # the second search starts from the result of the first
        found = search.nearest(x)
        assert found.distance == pytest.approx(expected, abs=1e-7)
        assert found.lower == pytest.approx(expected, abs=1e-7)
    assert whole[1] > 1e-5 or kind == "cce"


def test_the_checkpoints_of_a_run_have_the_distances_of_each_alone() -> None:
    game = Table.from_payoffs(np.random.default_rng(8).random((2, 30, 40)))
    joints = learned_play(game, 1000, (10, 100, 400))
    together = equilibrium.distances(game, joints, "cce", always=True)
    alone = [equilibrium.distance(game, joint, "cce", always=True) for joint in joints]
    assert together == pytest.approx(alone, abs=1e-9)
    assert together[0] > together[-1]


def test_simplex_and_interior_point_agree() -> None:
    game, joint = random_game((6, 5), 3), random_joint((6, 5), 4)
    for kind in ("ce", "cce"):
        ways = [
            total_variation.direct(Incentives(game, kind), joint, way).distance for way in (SIMPLEX, INTERIOR, None)
        ]
        assert ways[0] == pytest.approx(ways[1], abs=1e-8)
        assert ways[0] > 0.01


@given(SIZES, st.integers(0, 10**6), st.sampled_from(["ce", "cce"]))
@settings(max_examples=40)
def test_any_multipliers_bound_the_distance_from_below(
    sizes: tuple[int, ...], seed: int, kind: EquilibriumKind
) -> None:
    game, joint, random = random_game(sizes, seed), random_joint(sizes, seed), np.random.default_rng(seed)
    incentives = Incentives(game, kind)
    multipliers = np.zeros(incentives.starts[-1])
    multipliers[incentives.proper] = random.exponential(size=incentives.proper.size) * random.choice([0.01, 1.0])
    assert total_variation.dual_bound(incentives, joint, multipliers) <= equilibrium.distance(game, joint, kind) + 1e-9


@given(SIZES, st.integers(0, 10**6), st.sampled_from(["ce", "cce"]), st.floats(0, 1))
@settings(max_examples=40)
def test_a_distance_to_a_convex_set(sizes: tuple[int, ...], seed: int, kind: EquilibriumKind, part: float) -> None:
    game, joint, other = random_game(sizes, seed), random_joint(sizes, seed), random_joint(sizes, seed + 1)
    here, there = (equilibrium.distance(game, x, kind) for x in (joint, other))
    assert 0 <= here <= 1
    assert abs(here - there) <= np.abs(joint - other).sum() / 2 + 1e-8  # triangle inequality
    between = equilibrium.distance(game, part * joint + (1 - part) * other, kind)
    assert between <= part * here + (1 - part) * there + 1e-8  # convex
    inside = bool(equilibrium.polytope(game, kind).contains(joint))
    assert inside == (here < 1e-9)
    nearest = equilibrium.polytope(game, kind).nearest(joint)
    assert equilibrium.distance(game, nearest, kind) < 1e-7
    assert equilibrium.distance(game, joint, "cce") <= equilibrium.distance(game, joint, "ce") + 1e-8


@pytest.mark.parametrize("kind", ["ce", "cce"])
@pytest.mark.parametrize("sizes", [(2, 3), (4, 3), (6, 6), (3, 2, 4), (2, 2, 2, 3)])
def test_a_dense_tableau_gives_the_literal_distance(sizes: tuple[int, ...], kind: EquilibriumKind) -> None:
    random = np.random.default_rng(3)
    ties = Table.from_payoffs(random.integers(0, 3, (len(sizes), *sizes)))  # degenerate
    for game in (random_game(sizes, 2), ties):
        joint = random_joint(sizes, 5)
        found = total_variation.small(Incentives(game, kind), joint)
        assert found.solved
        assert found.distance == pytest.approx(literal_distance(game, joint, kind), abs=1e-8)


def test_a_tableau_without_solution_raises() -> None:
    with pytest.raises(ArithmeticError):
        dual_simplex(np.ones(2), np.array([[1.0, 2.0]]), np.array([-1.0]))
