from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gamesim.players._kernels.fixed_point import DIRECT, SCRATCH, _closed_class, approach, fixed_point, times

Array = NDArray[np.float64]


def fixed(phi: Array, default: Array | None = None, scratch: Array | None = None) -> Array:
    states = len(phi)
    strategy = np.full(states, np.nan)
    if scratch is None:
        scratch = SCRATCH.zeros(states)
    if default is None:
        default = np.full(states, 1 / states)
    fixed_point(np.ascontiguousarray(phi).ravel(), default, strategy, scratch)
    return strategy


def residual(phi: Array, strategy: Array) -> float:
    assert (strategy >= 0).all()
    assert strategy.sum() == pytest.approx(1, abs=1e-12)
    return float(np.abs(strategy @ phi - strategy).sum())


def assert_kept(scratch: Array, strategy: Array) -> None:
    """Check that the next call starts from this fixed point, and searches from its most likely state."""
    parts = SCRATCH.parts(scratch, strategy.size)
    np.testing.assert_array_equal(parts.last, strategy)
    assert parts.start[0] == strategy.argmax()


def solve_exactly(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Solve a linear system by Gauss-Jordan elimination in fractions."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for k in range(len(table)):
        pivot = next(i for i in range(k, len(table)) if table[i][k] != 0)
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [value / table[k][k] for value in table[k]]
        for i in range(len(table)):
            if i != k:
                table[i] = [a - table[i][k] * b for a, b in zip(table[i], table[k], strict=True)]
    return [row[-1] for row in table]


def exact_limit(phi: list[list[Fraction]], default: list[Fraction]) -> list[Fraction]:
    """Return the limit of the damped chain's fixed point, from closed classes and absorption."""
    n = len(phi)
    reach = [{i} for i in range(n)]
    for _ in range(n):
        reach = [r | {j for k in r for j in range(n) if phi[k][j] > 0} for r in reach]
    recurrent = [all(i in reach[j] for j in reach[i]) for i in range(n)]
    transient = [i for i in range(n) if not recurrent[i]]
    result = [Fraction(0)] * n
    for members in {frozenset(reach[i]) for i in range(n) if recurrent[i]}:
        inside = sorted(members)
        absorbed = solve_exactly(
            [[int(i == j) - phi[i][j] for j in transient] for i in transient],
            [sum((phi[i][j] for j in inside), Fraction(0)) for i in transient],
        )
        mass = sum(default[i] for i in inside)
        mass += sum((default[i] * a for i, a in zip(transient, absorbed, strict=True)), Fraction(0))
        balance = [[phi[i][j] - int(i == j) for i in inside] for j in inside[1:]]
        shares = solve_exactly(
            [[Fraction(1)] * len(inside), *balance], [Fraction(1), *[Fraction(0)] * (len(inside) - 1)]
        )
        for i, share in zip(inside, shares, strict=True):
            result[i] = mass * share
    return result


def test_a_hand_solved_chain() -> None:
    phi = np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])
    np.testing.assert_allclose(fixed(phi), [0.25, 0.5, 0.25], rtol=1e-15)
    np.testing.assert_allclose(fixed(np.array([[0.9, 0.1], [0.3, 0.7]])), [0.75, 0.25], rtol=1e-15)


def test_reducible_chains_solved_by_hand() -> None:
    default = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(fixed(np.eye(4), default), default, rtol=1e-15)
    cycle = np.eye(4)[[1, 2, 3, 0]]
    np.testing.assert_allclose(fixed(cycle, default), np.full(4, 0.25), rtol=1e-15)
    two_cycles = np.eye(4)[[2, 3, 0, 1]]
    np.testing.assert_allclose(fixed(two_cycles, default), [0.2, 0.3, 0.2, 0.3], rtol=1e-15)
    # states 1 and 3 absorb; 0 moves to 1 or 2, and 2 to 0 or 3, with probability 1/2: from 0, 1 has probability 2/3
    split = np.array([[0, 0.5, 0.5, 0], [0, 1, 0, 0], [0.5, 0, 0, 0.5], [0, 0, 0, 1]])
    np.testing.assert_allclose(fixed(split, default), [0, 0.2 + 0.2 / 3 + 0.1, 0, 0.4 + 0.1 / 3 + 0.2], rtol=1e-14)
    # everything drains into the last state, far from where the search starts
    drain = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    np.testing.assert_array_equal(fixed(drain, default), [0, 0, 0, 1])


@settings(max_examples=200)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0, 0, 0, 1, 1, 5, 10**6]), min_size=n, max_size=n), min_size=n, max_size=n
        )
    ),
    st.data(),
)
def test_it_is_the_damped_chains_limit_in_exact_arithmetic(weights: list[list[int]], data: st.DataObject) -> None:
    n = len(weights)
    weights = [row if sum(row) else [int(i == j) for j in range(n)] for i, row in enumerate(weights)]
    chances = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    phi = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    default = [Fraction(chance, sum(chances)) for chance in chances]
    found = fixed(np.array(phi, dtype=float), np.array(default, dtype=float))
    expected = exact_limit(phi, default)
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-9, atol=0)


def test_small_couplings_keep_their_relative_weight() -> None:
    random = np.random.default_rng(0)
    for _ in range(100):
        n = int(random.integers(2, 8))
        phi = np.where(random.random((n, n)) < 0.5, 1, 10.0 ** -random.integers(0, 15, (n, n))) * random.random((n, n))
        phi /= phi.sum(axis=1, keepdims=True)
        exact = [[Fraction(float(entry)) for entry in row] for row in phi]
        for i in range(n):  # the diagonal takes up the rounding errors of the others
            exact[i][i] = 1 - sum((exact[i][j] for j in range(n) if j != i), Fraction(0))
        expected = np.array(exact_limit(exact, [Fraction(1, n)] * n), dtype=float)
        np.testing.assert_allclose(fixed(phi), expected, rtol=1e-12)


def test_a_hundred_thousand_nearly_reducible_matrices_give_strategies() -> None:
    random = np.random.default_rng(1)
    count, n = 100_000, 5
    exponents = random.choice([0.0, -1.0, -8.0, -16.0, -40.0, -160.0, -300.0, -np.inf], (count, n, n))
    phi = 10.0**exponents * random.random((count, n, n))
    empty = phi.sum(axis=2) == 0
    phi[empty] = 1 / n  # a zero row becomes the default
    phi /= phi.sum(axis=2, keepdims=True)
    strategies = np.full((count, n), np.nan)
    default, scratch = np.full(n, 1 / n), SCRATCH.zeros(n)
    for matrix, strategy in zip(phi.reshape(count, -1), strategies, strict=True):
        fixed_point(matrix, default, strategy, scratch)
    assert (strategies >= 0).all()
    np.testing.assert_allclose(strategies.sum(axis=1), 1, atol=1e-12)
    assert np.abs(np.einsum("ti,tij->tj", strategies, phi) - strategies).sum(axis=1).max() <= 1e-10


def drifting(states: int, rounds: int, density: float) -> list[Array]:
    random = np.random.default_rng(states)
    weights = random.random((states, states)) * (random.random((states, states)) < density) + 0.01 * np.eye(states)
    weights += 0.01 * np.roll(np.eye(states), 1, axis=1)
    chains = []
    for _ in range(rounds):
        weights *= np.exp(0.02 * random.standard_normal((states, states)))
        chains.append(weights / weights.sum(axis=1, keepdims=True))
    return chains


@pytest.mark.parametrize(("states", "density"), [(DIRECT + 1, 1.0), (150, 0.05), (257, 0.5)])
def test_old_factors_give_the_new_fixed_point(states: int, density: float) -> None:
    scratch = SCRATCH.zeros(states)
    kept = 0
    for phi in drifting(states, 40, density):
        before = scratch[-states * states :].copy()
        found = fixed(phi, scratch=scratch)
        kept += bool((before == scratch[-states * states :]).all())
        assert residual(phi, found) <= 1e-10
        np.testing.assert_allclose(found, fixed(phi), atol=1e-11)
        np.testing.assert_array_equal(SCRATCH.parts(scratch, states).last, found)
    assert kept >= 20


@pytest.mark.parametrize("states", [9, 22, 40])
def test_rows_that_are_nearly_alike_need_no_elimination(states: int) -> None:
    """Steps p ← pφ end at the residual that they are meant to reach, also where rows without mass are skipped."""
    random = np.random.default_rng(states)
    scratch = SCRATCH.zeros(states)
    for _ in range(60):
        common = random.random(states) * (random.random(states) < 0.7)
        phi = common / common.sum() + random.choice([1e-1, 1e-2, 1e-4]) * (common > 0) * random.random((states, states))
        phi /= phi.sum(axis=1, keepdims=True)
        found = fixed(phi, scratch=scratch)
        assert residual(phi, found) <= 2e-13
        assert (found[common == 0] == 0).all()
        np.testing.assert_allclose(found, np.linalg.matrix_power(phi, 64)[0], atol=1e-12)
        assert_kept(scratch, found)
    assert (SCRATCH.parts(scratch, states).exits == 0).all()


def test_a_product_with_a_matrix_skips_no_row_that_has_mass() -> None:
    matrix = np.random.default_rng(0).random((9, 7))
    for weights in (*np.eye(9), np.arange(9) / 36, *(np.eye(9) + np.eye(9)[::-1])):
        result = np.full(7, np.nan)
        times(weights, matrix.ravel(), result)
        np.testing.assert_allclose(result, weights @ matrix, rtol=1e-14)


def test_refinement_is_abandoned_when_the_chain_becomes_reducible() -> None:
    states = 2 * DIRECT + 10
    half = states // 2
    scratch = SCRATCH.zeros(states)
    random = np.random.default_rng(3)
    default = random.random(states)
    default /= default.sum()
    whole = drifting(states, 3, 1.0)
    for phi in whole:
        fixed(phi, default, scratch)
    apart = whole[-1].copy()
    apart[:half, half:] = apart[half:, :half] = 0
    apart /= apart.sum(axis=1, keepdims=True)
    found = fixed(apart, default, scratch)
    assert residual(apart, found) <= 1e-10
    assert found[:half].sum() == pytest.approx(default[:half].sum(), rel=1e-12)
    # now only the second half is closed
    apart[0] = whole[-1][0]
    found = fixed(apart, default, scratch)
    assert residual(apart, found) <= 1e-10
    assert (found[:half] == 0).all()
    np.testing.assert_allclose(found, fixed(apart, default), atol=1e-12)


def test_a_copied_scratch_continues_bit_for_bit() -> None:
    chains = drifting(100, 12, 1.0)
    scratch = SCRATCH.zeros(100)
    for phi in chains[:6]:
        fixed(phi, scratch=scratch)
    other = scratch.copy()
    for phi in chains[6:]:
        np.testing.assert_array_equal(fixed(phi, scratch=scratch), fixed(phi, scratch=other))


def test_one_state() -> None:
    np.testing.assert_array_equal(fixed(np.ones((1, 1))), [1.0])


def test_steps_from_the_last_fixed_point_agree_with_a_linear_solve() -> None:
    """Nearly equal rows, with changing transient states; the steps start where the last matrix ended."""
    random = np.random.default_rng(3)
    states, scratch = 30, SCRATCH.zeros(30)
    common = random.dirichlet(np.ones(states))
    for _ in range(20):
        phi = (common + 0.02 * random.dirichlet(np.ones(states), states)) * (
            np.arange(states) % 5 != random.integers(5)
        )
        phi /= phi.sum(axis=1, keepdims=True)
        found = fixed(phi, scratch=scratch)
        equations = np.vstack([np.eye(states) - phi.T, np.ones(states)])
        solved = np.linalg.lstsq(equations, np.append(np.zeros(states), 1), rcond=None)[0]
        assert np.abs(found - solved).max() <= 1e-13
        assert ((found > 0) == phi.any(axis=0)).all()


@pytest.mark.parametrize("states", [9, 14, 33])
def test_steps_use_positive_parts_of_rows_and_the_default_for_empty_ones(states: int) -> None:
    random = np.random.default_rng(states)
    common, default = random.dirichlet(np.full(states, 3.0), 2)
    for empty in ([], [1], [0, 2, states - 1], range(states)):
        rows = common + 0.01 * random.uniform(-1, 1, (states, states)) * common
        rows *= random.uniform(0.5, 4, (states, 1))
        rows[:, random.random(states) < 0.2] = -random.random()
        rows[list(empty)] = -random.random((len(empty), states))
        positive = np.maximum(rows, 0)
        sums = positive.sum(axis=1)
        phi = np.where(sums[:, np.newaxis] > 0, positive / np.where(sums > 0, sums, 1)[:, np.newaxis], default)
        found, scratch = np.zeros(states), SCRATCH.zeros(states)
        for _ in range(2):  # from nothing, then from the fixed point itself
            assert approach(rows.ravel(), sums, default, found, scratch)
            equations = np.vstack([np.eye(states) - phi.T, np.ones(states)])
            solved = np.linalg.lstsq(equations, np.append(np.zeros(states), 1), rcond=None)[0]
            assert np.abs(found - solved).max() <= 1e-13


@pytest.mark.parametrize("coupling", [1e-6, 1e-13, 0.0])
def test_a_small_residual_at_the_last_fixed_point_is_not_mistaken_for_convergence(coupling: float) -> None:
    """Two blocks with hardly any transitions between them: the mass of each must not stay what it was before."""
    random = np.random.default_rng(4)
    rows = random.dirichlet(np.ones(10), 2)
    phi = np.zeros((20, 20))
    phi[:10, :10], phi[10:, 10:] = (1 - coupling) * rows[0], (1 - 3 * coupling) * rows[1]
    phi[:10, 10:], phi[10:, :10] = coupling * rows[1], 3 * coupling * rows[0]
    scratch = SCRATCH.zeros(20)
    fixed(np.tile(np.append(np.full(10, 0.09), np.full(10, 0.01)), (20, 1)), scratch=scratch)
    share = fixed(phi, scratch=scratch)[:10].sum()
    assert share == pytest.approx(0.75 if coupling else 0.5, abs=1e-9)


@pytest.mark.parametrize("damaged", [np.nan, np.inf, -1.0, 150.0, 1e300])
def test_a_damaged_scratch_leads_to_no_wrong_state(damaged: float) -> None:
    chains, scratch = drifting(150, 2, 0.05), SCRATCH.zeros(150)
    fixed(chains[0], scratch=scratch)
    parts = SCRATCH.parts(scratch, 150)
    assert parts.factored[0] == 1
    parts.start[0] = parts.stays[0] = damaged
    np.testing.assert_allclose(fixed(chains[1], scratch=scratch), fixed(chains[1]), atol=1e-11)


@pytest.mark.parametrize("transient", [1, 5])
def test_old_factors_serve_a_class_without_the_first_states(transient: int) -> None:
    """The state that is not eliminated is then the first one of the class."""
    scratch, kept = SCRATCH.zeros(150), 0
    parts = SCRATCH.parts(scratch, 150)
    for chain in drifting(150, 20, 0.05):
        chain[transient:, :transient] = 0
        phi = chain / chain.sum(axis=1, keepdims=True)
        before = parts.factors.copy()
        found = fixed(phi, scratch=scratch)
        kept += bool((before == parts.factors).all())
        assert (parts.factored[0], parts.stays[0]) == (1, transient)
        assert residual(phi, found) <= 1e-10 and (found[:transient] == 0).all()
        np.testing.assert_allclose(found, fixed(phi), atol=1e-11)
    assert kept >= 10


def test_factors_are_kept_of_a_whole_matrix_with_one_closed_class() -> None:
    whole, scratch = drifting(150, 1, 0.05)[0], SCRATCH.zeros(150)
    apart, small = whole.copy(), whole.copy()
    apart[:70, 70:] = apart[70:, :70] = 0
    small[120:, :120] = 0
    for chain, is_kept in ((whole, True), (apart, False), (whole, True), (small, False)):
        phi = chain / chain.sum(axis=1, keepdims=True)
        assert residual(phi, fixed(phi, scratch=scratch)) <= 1e-10
        assert SCRATCH.parts(scratch, 150).factored[0] == is_kept


@pytest.mark.parametrize("transient", [0, 7, 19])
def test_steps_leave_no_mass_on_a_state_that_became_transient(transient: int) -> None:
    """The state had mass before, and keeps a part of it in every step."""
    random, scratch = np.random.default_rng(transient), SCRATCH.zeros(20)
    phi = random.random(20) + 0.01 * random.random((20, 20))
    phi /= phi.sum(axis=1, keepdims=True)
    assert fixed(phi, scratch=scratch)[transient] > 0
    phi[:, transient] = 0
    phi[transient, transient] = 0.05 * phi[transient].sum()
    phi /= phi.sum(axis=1, keepdims=True)
    found = fixed(phi, scratch=scratch)
    assert found[transient] == 0 and residual(phi, found) <= 2e-13
    assert (SCRATCH.parts(scratch, 20).exits == 0).all()  # nothing was eliminated


def stationary(phi: Array) -> Array:
    """Return the fixed point of an irreducible matrix by least squares."""
    equations = np.vstack([np.eye(len(phi)) - phi.T, np.ones(len(phi))])
    return np.asarray(np.linalg.lstsq(equations, np.append(np.zeros(len(phi)), 1), rcond=None)[0])


@pytest.mark.parametrize("seed", range(8))
def test_many_transient_states_drain_into_two_classes(seed: int) -> None:
    """Absorption probabilities are those of a linear solve, wherever the classes are among the states."""
    random, n = np.random.default_rng(seed), 45
    order, phi = random.permutation(n) if seed else np.arange(n)[::-1], random.random((n, n))
    classes = [order[:8], order[8:14]]
    for members in classes:
        phi[np.ix_(members, np.setdiff1d(order, members))] = 0
    phi[order[14]] = 0
    phi[order[14], [order[0], order[20]]] = 1, 3
    phi /= phi.sum(axis=1, keepdims=True)
    default = random.dirichlet(np.ones(n))
    transient, expected = order[14:], np.zeros(n)
    visits = np.linalg.solve(np.eye(n - 14) - phi[np.ix_(transient, transient)].T, default[transient])
    for members in classes:
        mass = default[members].sum() + visits @ phi[np.ix_(transient, members)].sum(axis=1)
        expected[members] = mass * stationary(phi[np.ix_(members, members)])
    found = fixed(phi, default)
    np.testing.assert_allclose(found, expected, atol=1e-13)
    assert (found[transient] == 0).all()


def test_the_only_closed_class_is_found_from_every_state() -> None:
    random, sizes = np.random.default_rng(5), set()
    for _ in range(300):
        n = int(random.integers(1, 10))
        matrix = random.random((n, n)) * (random.random((n, n)) < random.choice([0.1, 0.2, 0.5]))
        matrix += np.diag(1.0 * (matrix.sum(axis=1) == 0))
        leads = np.linalg.matrix_power(np.eye(n) + (matrix > 0), n) > 0
        closed = {tuple(np.flatnonzero(leads[i])) for i in range(n) if leads[leads[i], i].all()}
        for start in range(n):
            members = np.full(n, np.nan)
            size = _closed_class(matrix.ravel(), start, members, np.full(3 * n, np.nan))
            assert size == (len(next(iter(closed))) if len(closed) == 1 else 0)
            assert not size or tuple(members[:size]) in closed
            sizes.add(size)
    assert {0, 1, 2, 5} <= sizes


@pytest.mark.parametrize("states", range(1, 10))
def test_a_product_reads_and_writes_nothing_past_the_ends(states: int) -> None:
    random = np.random.default_rng(states)
    strategy, matrix, result = (np.full(size + 40, np.nan) for size in (states, 7 * states, 7))
    strategy[:states], matrix[: 7 * states] = random.random(states), random.random(7 * states)
    times(strategy[:states], matrix[: 7 * states], result[:7])
    expected = strategy[:states] @ matrix[: 7 * states].reshape(states, 7)
    np.testing.assert_allclose(result[:7], expected, rtol=1e-14)
    assert np.isnan(result[7:]).all()


@pytest.mark.parametrize("transient", [0, 3])
def test_factors_of_the_same_matrix_correct_any_start_without_elimination(transient: int) -> None:
    chain, scratch = drifting(150, 1, 0.05)[0], SCRATCH.zeros(150)
    chain[transient:, :transient] = 0
    phi = chain / chain.sum(axis=1, keepdims=True)
    expected, parts = fixed(phi, scratch=scratch), SCRATCH.parts(scratch, 150)
    random = np.random.default_rng(0)
    for _ in range(10):
        parts.last[transient:] = random.dirichlet(np.full(150 - transient, 0.1))
        parts.panel[:] = np.nan  # would be overwritten
        np.testing.assert_allclose(fixed(phi, scratch=scratch), expected, rtol=1e-10)
        assert np.isnan(parts.panel).all()
