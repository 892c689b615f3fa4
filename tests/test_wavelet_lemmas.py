"""The lemmas of the paper, checked on the components of the learner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.players._kernels.haar import forward, interval, level_of, restore
from gamesim.players._kernels.numeric import product_with_positive, sum_of_positive
from gamesim.players._kernels.relabelling import owners, shares, spread_evenly, spread_to_self
from gamesim.players._kernels.wavelet import write_gradient
from tests.algorithm_one import haar_vectors, owner_of

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([1, 2, 4, 8, 16, 32])


def haar_matrix(size: int) -> Array:
    """Return the Haar vectors as rows, in the order of the transform, from the paper's definition."""
    by_middle = {0: haar_vectors(size)[0]}
    for vector in haar_vectors(size)[1:]:
        by_middle[vector.index(-1)] = vector
    return np.array([by_middle[number] for number in range(size)], dtype=float)


def random_rule(random: np.random.Generator, size: int) -> Array:
    """Return a stochastic matrix with dense or sparse rows, some repeated, some those of the identity."""
    rule: Array = random.random((size, size)) * (random.random((size, size)) < random.choice([0.1, 0.5, 1.0]))
    rule[np.arange(size), random.integers(0, size, size)] += 0.1
    rule /= rule.sum(axis=1, keepdims=True)
    rule[random.random(size) < random.random()] = rule[random.integers(size)]
    alone = np.flatnonzero(random.random(size) < random.choice([0.0, 0.5, 0.9]))
    rule[alone] = np.eye(size)[alone]
    return rule


def row_switches(matrix: Array) -> int:
    return int((matrix[1:] != matrix[:-1]).any(axis=1).sum())


def uniformity(rule: Array) -> int:
    return max(int((rule == row).all(axis=1).sum()) for row in rule)


def selves(rule: Array) -> int:
    return int((rule == np.eye(len(rule))).all(axis=1).sum())


@given(sizes)
def test_haar_vectors_are_orthogonal_and_sized_as_their_intervals(size: int) -> None:
    vectors = haar_matrix(size)
    lengths = [len(interval(number, size)) for number in range(size)]
    np.testing.assert_array_equal(vectors @ vectors.T, np.diag(lengths))
    for number, vector in enumerate(vectors):
        assert list(np.flatnonzero(vector)) == list(interval(number, size))


@given(sizes, seeds)
def test_the_fast_transform_is_the_inner_product_with_each_vector(size: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).standard_normal((size, size))
    fast = matrix.ravel().copy()
    forward(fast, size)
    np.testing.assert_allclose(fast.reshape(size, size), haar_matrix(size) @ matrix, atol=1e-13)


@given(sizes, seeds, st.data())
def test_the_inverse_sums_the_vectors_from_any_first_row(size: int, seed: int, data: st.DataObject) -> None:
    coefficients = np.random.default_rng(seed).standard_normal((size, size))
    expected = haar_matrix(size).T @ coefficients
    begin, column = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size - 1))
    end = data.draw(st.integers(column + 1, size))
    whole = np.zeros((level_of(0, size) + 1, size))
    some = np.full_like(whole, np.nan)
    last = min(level_of(0, size), 1)
    for i in range(size):
        sign = restore(coefficients.ravel(), size, i, 0, whole.ravel(), 0, size)
        np.testing.assert_allclose(whole[last] + sign * coefficients[i | last], expected[i], atol=1e-13)
        if i >= begin:
            assert restore(coefficients.ravel(), size, i, begin, some.ravel(), column, end) == sign
            np.testing.assert_array_equal(some[last, column:end], whole[last, column:end])


@given(sizes, seeds)
def test_a_matrix_that_is_constant_on_an_interval_has_no_coefficient_there(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.integers(-3, 4, (size, size)).astype(float)
    number = int(random.integers(size))
    if number > 0:
        matrix[list(interval(number, size))] = matrix[number]
        coefficients = matrix.ravel().copy()
        forward(coefficients, size)
        assert (coefficients.reshape(size, size)[number] == 0).all()


@given(sizes, seeds)
def test_coefficients_of_one_vector_add_up_to_at_most_1_and_2(size: int, seed: int) -> None:
    rule = random_rule(np.random.default_rng(seed), size)
    lengths = np.array([len(interval(number, size)) for number in range(size)])
    for matrix, limit in ((rule, 1.0), (rule - np.eye(size), 2.0)):
        coefficients = matrix.ravel().copy()
        forward(coefficients, size)
        sums = np.abs(coefficients.reshape(size, size)).sum(axis=1) / lengths
        assert (sums <= limit + 1e-12).all()


@given(st.integers(1, 20), seeds)
def test_owners_are_consecutive_one_or_two_each(actions: int, seed: int) -> None:
    order = [int(action) for action in np.random.default_rng(seed).permutation(actions)]
    owner = owners(actions, order)
    assert owner.tolist() == owner_of(actions, order)
    assert set(shares(owner)) <= {1.0, 2.0}
    assert (np.diff(owner) != 0).sum() == actions - 1  # the indices of each action are adjacent
    assert sorted(set(owner.tolist())) == list(range(actions))


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 1), (1, 2, 3), (0, 1, 2, 3)])
def test_an_order_that_is_not_a_permutation_is_rejected(order: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="each of the 3 actions once"):
        owners(3, order)


@settings(max_examples=300)
@given(st.integers(1, 20), seeds)
def test_relabelling_keeps_losses_and_simplicity(actions: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    owner = owners(actions, [int(action) for action in random.permutation(actions)])
    rule = random_rule(random, actions)
    augmented_strategy = random.dirichlet(np.ones(owner.size))
    strategy = np.bincount(owner, augmented_strategy)
    loss = random.uniform(-1, 1, actions)
    evenly, to_self = spread_evenly(rule, owner), spread_to_self(rule, owner)
    for augmented in (evenly, to_self):
        assert (augmented >= 0).all()
        np.testing.assert_allclose(augmented.sum(axis=1), 1, rtol=1e-12)
        assert augmented_strategy @ augmented @ loss[owner] == pytest.approx(strategy @ rule @ loss, abs=1e-12)
    assert row_switches(evenly) <= 2 * (actions - uniformity(rule))
    assert owner.size - selves(to_self) <= 2 * (actions - selves(rule))


def gradients(random: np.random.Generator, size: int) -> tuple[Array, Array, Array, Array, Array]:
    """Return a random improper matrix, its φ, a random p and l, and the gradient."""
    improper = random.standard_normal((size, size)) * (random.random((size, size)) < random.choice([0.3, 1.0]))
    improper[random.random(size) < 0.2] *= -1  # also rows without a positive entry
    positive = np.maximum(improper, 0)
    totals = positive.sum(axis=1)
    default = random.dirichlet(np.ones(size))
    phi = np.where(totals[:, np.newaxis] > 0, positive / np.where(totals > 0, totals, 1)[:, np.newaxis], default)
    p, loss = random.dirichlet(np.full(size, random.choice([0.1, 1.0]))), random.uniform(-1, 1, size)
    gradient, worth = np.empty((size, size)), np.zeros(size)
    for i in range(size):
        write_gradient(improper[i], totals[i], float(default @ loss), loss, p[i], gradient[i], worth)
    np.testing.assert_allclose(worth.sum(), (improper * gradient).sum(), atol=1e-12)
    return improper, phi, p, loss, gradient


@settings(max_examples=300)
@given(sizes, seeds)
def test_the_projected_matrix_has_no_more_regret_than_the_improper_one(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    improper, phi, p, loss, gradient = gradients(random, size)
    for _ in range(5):
        rule = random_rule(random, size)
        proper = (np.outer(p, loss) * (phi - rule)).sum()
        assert proper <= (gradient * (improper - rule)).sum() + 1e-12


@settings(max_examples=300)
@given(sizes, seeds)
def test_feature_gradients_are_within_twice_the_mass_of_their_support(size: int, seed: int) -> None:
    _, _, p, _, gradient = gradients(np.random.default_rng(seed), size)
    assert abs(np.trace(gradient)) <= 2 + 1e-12
    coefficients = gradient.ravel().copy()
    forward(coefficients, size)
    for number, row in enumerate(coefficients.reshape(size, size)):
        mass = p[list(interval(number, size))].sum()
        assert (np.abs(row) <= 2 * mass + 1e-12).all()
        assert (np.abs(row) <= 2).all()


@given(st.integers(0, 70), seeds)
def test_sums_in_lanes_are_those_of_numpy(size: int, seed: int) -> None:
    numbers, weights = np.random.default_rng(seed).standard_normal((2, size))
    assert sum_of_positive(numbers) == pytest.approx(np.maximum(numbers, 0).sum(), rel=1e-14)
    assert product_with_positive(numbers, weights) == pytest.approx(np.maximum(numbers, 0) @ weights, abs=1e-13)


def test_the_gradient_rule_by_hand() -> None:
    target, worth = np.empty(4), np.zeros(4)
    loss = np.array([1.0, -1.0, 0.5, -0.5])
    # φ = (1/4, 3/4, 0, 0) has expected loss -0.5; a negative entry keeps the negative part, a zero entry keeps all
    write_gradient(np.array([1.0, 3.0, -2.0, 0.0]), 4.0, 9.0, loss, 0.5, target, worth)
    np.testing.assert_allclose(target, [0.75, -0.25, 0, 0], atol=1e-15)
    write_gradient(np.array([1.0, 3.0, 0.0, 0.0]), 4.0, 9.0, loss, 0.5, target, worth)
    np.testing.assert_allclose(target, [0.75, -0.25, 0.5, 0], atol=1e-15)
    # without a positive entry, the expected loss is that of the default row
    write_gradient(np.array([-1.0, -1.0, 0.0, 0.0]), 0.0, 0.25, loss, 1.0, target, worth)
    np.testing.assert_allclose(target, [0, -1.25, 0.25, -0.75], atol=1e-15)
    np.testing.assert_allclose(worth, [0, 1.25, 0, 0], atol=1e-15)  # of the negative entries of all three
