"""Test gaps and welfare against literal sums, brute force over all maps, and games with known equilibria."""

from itertools import product

import nashpy  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gamesim import equilibrium
from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.measure.incentives import EquilibriumKind
from tests.seeds import seeds

pytestmark = pytest.mark.slow

BAD = np.array([[0, -2, 1], [1, 0, -2], [-2, 1, 0]])
CHICKEN = Table.from_payoffs([[[6, 2], [7, 0]], [[6, 7], [2, 0]]], name="chicken", actions=[["Chicken", "Dare"]] * 2)
SHAPLEY = Table.from_payoffs([np.eye(3), np.eye(3)[[1, 2, 0]]])
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def random_game(sizes: tuple[int, ...], seed: int) -> Table:
    return Table.from_payoffs(np.random.default_rng(seed).normal(size=(len(sizes), *sizes)))


def random_joint(sizes: tuple[int, ...], seed: int) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    joint = random.dirichlet(np.full(int(np.prod(sizes)), random.choice([0.1, 1.0]))).reshape(sizes)
    normalised: NDArray[np.float64] = joint / joint.sum()
    return normalised


def product_of(strategies: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    joint = np.ones(())
    for strategy in strategies:
        joint = np.multiply.outer(joint, strategy)
    return joint


def with_mixed_nash(sizes: tuple[int, ...], seed: int) -> tuple[Table, NDArray[np.float64]]:
    """Return a random game, shifted so that every action earns 0 against these strategies."""
    random = np.random.default_rng(seed)
    strategies = [random.dirichlet(np.ones(size)) for size in sizes]
    payoffs = random.normal(size=(len(sizes), *sizes))
    for i in range(len(sizes)):
        others = product_of([np.ones(1) if j == i else x for j, x in enumerate(strategies)])
        payoffs[i] -= (payoffs[i] * others).sum(axis=tuple(j for j in range(len(sizes)) if j != i), keepdims=True)
    return Table.from_payoffs(payoffs), product_of(strategies)


@given(SIZES, st.integers(0, 10**6))
@settings(max_examples=40)
def test_deviation_matrices_are_the_literal_sums(sizes: tuple[int, ...], seed: int) -> None:
    game, joint = random_game(sizes, seed), random_joint(sizes, seed)
    for i, matrix in enumerate(equilibrium.deviation_matrices(game, joint)):
        literal = np.zeros((sizes[i], sizes[i]))
        for profile in product(*map(range, sizes)):
            for b in range(sizes[i]):
                literal[profile[i], b] += joint[profile] * game.payoffs[(i, *profile[:i], b, *profile[i + 1 :])]
        assert matrix == pytest.approx(literal, abs=1e-12)


@given(SIZES, st.integers(0, 10**6))
@settings(max_examples=40)
def test_gaps_are_the_best_of_all_maps_and_of_all_actions(sizes: tuple[int, ...], seed: int) -> None:
    game, joint = random_game(sizes, seed), random_joint(sizes, seed)
    swap, external = [0.0], [0.0]
    for i, size in enumerate(sizes):
        for f in product(range(size), repeat=size):
            paid = sum(
                joint[profile]
                * (game.payoffs[(i, *profile[:i], f[profile[i]], *profile[i + 1 :])] - game.payoffs[(i, *profile)])
                for profile in product(*map(range, sizes))
            )
            swap.append(paid)
            if len(set(f)) == 1:
                external.append(paid)
    assert equilibrium.gap(game, joint, "ce") == pytest.approx(max(swap), abs=1e-12)
    assert equilibrium.gap(game, joint, "cce") == pytest.approx(max(external), abs=1e-12)


@pytest.mark.parametrize(
    ("game", "correlated", "coarse", "best"),
    [
        (CHICKEN, (7.2, 10.5), (7.2, 10.5), 12),
        (SHAPLEY, (2 / 3, 1), (2 / 3, 1), 1),
        (Table.from_payoffs([BAD, BAD.T]), (-2 / 3, -2 / 3), (-2 / 3, 0), 0),
        (Table.from_payoffs([[[3, 0], [0, 2]], [[2, 0], [0, 3]]]), (2.4, 5), (2.4, 5), 5),
        (Table.from_payoffs([[[3, 0], [5, 1]], [[3, 5], [0, 1]]]), (2, 2), (2, 2), 6),
    ],
    ids=["chicken", "shapley", "bad-rps", "battle-of-the-sexes", "dilemma"],
)
def test_welfare_ranges_are_the_known_ones(
    game: Table, correlated: tuple[float, float], coarse: tuple[float, float], best: float
) -> None:
    assert equilibrium.welfare_range(game, "ce") == pytest.approx(correlated, abs=1e-6)
    assert equilibrium.welfare_range(game, "cce") == pytest.approx(coarse, abs=1e-6)
    assert equilibrium.optimum(game) == best


def test_welfare_does_not_depend_on_the_units_of_a_player() -> None:
    worst, best = equilibrium.welfare_range(CHICKEN, "ce")
    scaled = Table.from_payoffs(CHICKEN.payoffs * 1e6 + 1e7)
    assert equilibrium.welfare_range(scaled, "ce") == pytest.approx((worst * 1e6 + 2e7, best * 1e6 + 2e7), rel=1e-9)


@pytest.mark.parametrize("sizes", [(2, 3), (4, 3), (5, 2), (2, 3, 2), (3, 1, 4), (2, 2, 3, 2)])
def test_correlated_equilibria_are_coarse_ones_and_not_the_other_way_round(sizes: tuple[int, ...]) -> None:
    coarser = 0
    for seed in seeds(12, 40):
        game, random = random_game(sizes, seed), np.random.default_rng(seed)
        fine, coarse = equilibrium.polytope(game, "ce"), equilibrium.polytope(game, "cce")
        weights = random.normal(size=len(sizes))
        found = fine.optimum(weights)
        assert fine.contains(found)
        assert coarse.contains(found)
        assert equilibrium.gap(game, found, "cce") <= equilibrium.gap(game, found, "ce") + 1e-12
        coarser += not fine.contains(coarse.optimum(weights), tolerance=1e-6)
    assert coarser > 0


@pytest.mark.parametrize("sizes", [(2, 3), (4, 3), (2, 3, 4), (3, 2, 2), (2, 3, 2, 2)])
def test_a_mixed_nash_equilibrium_is_a_correlated_one(sizes: tuple[int, ...]) -> None:
    for seed in seeds(12, 40):
        game, nash = with_mixed_nash(sizes, seed)
        for kind in ("ce", "cce"):
            assert equilibrium.polytope(game, kind).contains(nash)
            assert equilibrium.gap(game, nash, kind) < 1e-12
            assert equilibrium.distance(game, nash, kind) < 1e-9


def test_every_nash_equilibrium_that_nashpy_finds_is_a_correlated_one() -> None:
    found = 0
    for seed in seeds(10, 25):
        game = random_game((3, 4), seed)
        for row, column in nashpy.Game(*game.payoffs).vertex_enumeration():
            found += 1
            assert equilibrium.polytope(game, "ce").contains(np.outer(row, column), tolerance=1e-8)
    assert found >= 12


def test_pure_nash_equilibria_of_many_players_are_correlated_ones() -> None:
    found = 0
    for seed in seeds(40, 100):
        game = random_game((2, 3, 2, 3), seed)
        best = [np.isclose(payoffs, payoffs.max(axis=i, keepdims=True)) for i, payoffs in enumerate(game.payoffs)]
        for profile in np.argwhere(np.all(best, axis=0)):
            found += 1
            pure = np.zeros(game.sizes)
            pure[tuple(profile)] = 1
            assert equilibrium.distance(game, pure, "ce") == 0
    assert found >= 20


@pytest.mark.parametrize(
    ("joint", "kind", "message"),
    [
        ([[0.5, 0.5], [0, 0]], "nash", 'kind must be "ce" or "cce", got'),
        ([0.5, 0.5], "ce", r"shape \(2, 2\)"),
        ([[0.5, 0.5], [0]], "ce", "array of probabilities"),
        ([[1.5, -0.5], [0, 0]], "ce", "probabilities of at least 0, got"),
        ([[np.nan, 0.5], [0.5, 0]], "ce", "probabilities of at least 0, got"),
        ([[0.5, 0.4], [0, 0]], "cce", "sum to 1 up to 1e-08, got a sum of 0.9"),
    ],
)
def test_mistakes_are_refused_with_a_reason(joint: list[list[float]], kind: EquilibriumKind, message: str) -> None:
    for measure in (equilibrium.gap, equilibrium.distance):
        with pytest.raises(InputError, match=message):
            measure(CHICKEN, joint, kind)


def test_games_without_a_table_or_too_large_are_refused() -> None:
    bare = Game("bare", ("A", "B"), (("x", "y"), ("x", "y")))
    with pytest.raises(InputError, match="has no payoff table"):
        equilibrium.gap(bare, [[1, 0], [0, 0]], "ce")
    labels = [tuple(map(str, range(size))) for size in (2048, 2049)]
    large = Table("large", ("A", "B"), (labels[0], labels[1]), np.broadcast_to(0.0, (2, 2048, 2049)))
    with pytest.raises(InputError, match="limit for joint distributions is 4194304"):
        equilibrium.optimum(large)
