"""The random families: each has the structure that it promises, for shapes that are not square too."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from gamesim import equilibrium, games
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games import families, tables
from gamesim.games.io import interop

FAMILIES = [name for name, maker in games.available().items() if maker.__module__ == families.__name__]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_seed_and_nothing_else_decides(name: str) -> None:
    make = tables.available()[name]
    one, again, other = make(seed=5), make(seed=5), make(seed=6)
    assert one.payoffs.tobytes() == again.payoffs.tobytes()
    assert (one.payoffs != other.payoffs).any()


def test_there_are_ten() -> None:
    assert set(FAMILIES) == {
        "uniform", "zero-sum", "covariant", "potential", "congestion",
        "dominance-solvable", "unit-vector", "symmetric", "ordered-action", "sparse",
    }  # fmt: skip


def test_uniform_and_zero_sum() -> None:
    game = families.uniform(players=3, actions=[2, 3, 40], seed=1)
    assert game.payoffs.min() >= 0 and game.payoffs.max() <= 1
    assert abs(game.payoffs.mean() - 0.5) < 0.05
    opposed = families.zero_sum(actions=[3, 5])
    assert opposed.sizes == (3, 5)
    assert (opposed.payoffs.sum(axis=0) == 0).all()
    assert opposed.payoffs.min() < 0 < opposed.payoffs.max()


@pytest.mark.parametrize(("players", "correlation"), [(2, -1.0), (2, 0.6), (3, -0.5), (3, 0.3), (4, 1.0)])
def test_covariant_payoffs_have_their_correlation(players: int, correlation: float) -> None:
    game = families.covariant(players=players, actions=[60, 50, 2, 2][:players], correlation=correlation, seed=2)
    flat = game.payoffs.reshape(players, -1)
    np.testing.assert_allclose(flat.var(axis=1), 1, atol=0.1)
    for i, j in combinations(range(players), 2):
        assert np.corrcoef(flat[i], flat[j])[0, 1] == pytest.approx(correlation, abs=0.06)
    if correlation == -1 / (players - 1):
        np.testing.assert_allclose(flat.sum(axis=0), 0, atol=1e-12)  # constant sum
    with pytest.raises(InputError, match="correlation of 3 players must be in"):
        families.covariant(players=3, correlation=-0.6)


def gains_around_squares(game: Table) -> float:
    """The largest sum of gains around a square of two players' changes: 0 in exact potential games.

    Monderer and Shapley (1996), corollary 2.9.
    """
    largest = 0.0
    for i, j in combinations(range(len(game.players)), 2):
        ours, theirs = np.moveaxis(game.payoffs[i], (i, j), (0, 1)), np.moveaxis(game.payoffs[j], (i, j), (0, 1))
        for (a, b), (c, d) in product(combinations(range(game.sizes[i]), 2), combinations(range(game.sizes[j]), 2)):
            around = (
                ours[b, c]
                - ours[a, c]
                + theirs[b, d]
                - theirs[b, c]
                + ours[a, d]
                - ours[b, d]
                + theirs[a, c]
                - theirs[a, d]
            )
            largest = max(largest, float(np.abs(around).max()))
    return largest


def test_potential_and_congestion_games_have_a_potential_and_uniform_ones_do_not() -> None:
    assert gains_around_squares(families.potential(players=3, actions=[2, 3, 4], seed=1)) < 1e-12
    assert gains_around_squares(families.congestion(players=3, actions=3, resources=5, seed=1)) < 1e-12
    assert gains_around_squares(families.uniform(players=3, actions=[2, 3, 4], seed=1)) > 0.1
    game = families.potential(players=3, actions=[2, 3, 4], conflict=2.0, seed=1)
    assert np.ptp(game.payoffs, axis=0).max() > 0.1  # payoffs differ between players all the same
    for seed in range(5):
        assert len(interop.pure_equilibria(families.congestion(players=4, seed=seed)))


@pytest.mark.parametrize("seed", range(4))
def test_affine_congestion_stays_within_five_halves_even_for_coarse_equilibria(seed: int) -> None:
    game = families.congestion(players=3, actions=3, resources=4, seed=seed)
    worst = -equilibrium.welfare_range(game, "cce")[0]
    best = -equilibrium.optimum(game)
    assert 1 - 1e-9 <= worst / best <= 2.5


def survivors(payoffs: NDArray[np.float64]) -> list[int]:
    """Iterated elimination of strictly dominated actions, until nothing more goes."""
    alive = [list(range(size)) for size in payoffs.shape[1:]]
    while True:
        before = [list(own) for own in alive]
        for i in range(len(alive)):
            table = np.moveaxis(payoffs[i][np.ix_(*alive)], i, 0).reshape(len(alive[i]), -1)
            alive[i] = [
                a for k, a in enumerate(alive[i]) if not any((table[m] > table[k]).all() for m in range(len(table)))
            ]
        if alive == before:
            return [len(own) for own in alive]


@pytest.mark.parametrize("sizes", [(4, 4), (2, 5), (5, 3), (3, 2, 4), (1, 3)])
def test_dominance_solves_to_one_profile_but_not_at_once(sizes: tuple[int, ...]) -> None:
    for seed in range(3):
        game = families.dominance_solvable(players=len(sizes), actions=list(sizes), seed=seed)
        assert survivors(game.payoffs) == [1] * len(sizes)
        (profile,) = interop.pure_equilibria(game)
        mass = np.zeros(sizes)
        mass[tuple(profile)] = 1
        random = np.random.default_rng(seed).standard_normal(sizes)  # the only correlated equilibrium
        gains = []
        for i, size in enumerate(sizes):
            own = np.moveaxis(game.payoffs[i], i, 0)
            for told, instead in permutations(range(size), 2):
                gain = np.zeros_like(own)
                gain[told] = own[instead] - own[told]
                gains.append(np.moveaxis(gain, 0, i).ravel())
        solved = linprog(
            random.ravel(), A_ub=np.array(gains), b_ub=np.zeros(len(gains)), A_eq=np.ones((1, mass.size)), b_eq=[1.0]
        )
        assert solved.x is not None
        np.testing.assert_allclose(solved.x, mass.ravel(), atol=1e-8)
    square = families.dominance_solvable(actions=5, seed=1)
    dominant = [(square.payoffs[0][k] >= square.payoffs[0]).all() for k in range(5)]
    assert not any(dominant)  # it takes more than one look


def test_unit_vector_games() -> None:
    game = families.unit_vector(actions=[3, 7], seed=1)
    assert game.sizes == (3, 7)
    assert ((game.payoffs[0] == 0) | (game.payoffs[0] == 1)).all()
    assert (game.payoffs[0].sum(axis=0) == 1).all()
    assert len(np.unique(game.payoffs[1])) == 21


def test_symmetric_games_do_not_mind_who_is_who() -> None:
    game = families.symmetric(players=3, actions=3, seed=1)
    for order in permutations(range(3)):
        for profile in product(range(3), repeat=3):
            renamed = tuple(profile[order[k]] for k in range(3))  # player k now plays what player order[k] played
            for k in range(3):
                assert game.payoffs[(k, *renamed)] == game.payoffs[(order[k], *profile)]
    assert len(np.unique(game.payoffs[0])) == 3 * 6  # own action times pairs of the others', in any order


def test_ordered_actions_are_smooth_in_their_number() -> None:
    game = families.ordered_action(players=2, actions=[24, 16], smoothness=0.2, seed=1)
    assert game.payoffs.min() == 0 and game.payoffs.max() == 1
    for axis in (1, 2):
        steps = np.abs(np.diff(game.payoffs, axis=axis)).mean()
        shuffled = np.random.default_rng(0).permuted(game.payoffs, axis=axis)
        assert steps < 0.35 * np.abs(np.diff(shuffled, axis=axis)).mean()
    rough = families.ordered_action(players=2, actions=[24, 16], smoothness=0.0, seed=1)
    assert np.abs(np.diff(rough.payoffs, axis=1)).mean() > 2 * np.abs(np.diff(game.payoffs, axis=1)).mean()


def test_sparse_games_are_mostly_nothing() -> None:
    game = families.sparse(players=2, actions=[30, 40], density=0.2, seed=1)
    assert (game.payoffs > 0).mean() == pytest.approx(0.2, abs=0.03)
    assert (families.sparse(density=0.0).payoffs == 0).all()
    with pytest.raises(InputError, match="density must be in"):
        families.sparse(density=1.5)
