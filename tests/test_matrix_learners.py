"""Internal- and swap-regret learners against independent solutions: eigenvectors, brute force, a recursion."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from gamesim import players
from tests.test_learners import losses, strategies

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]


def stationary(matrix: Array) -> Array:
    """Return the left eigenvector of the eigenvalue 1, which must be unique."""
    values, vectors = np.linalg.eig(matrix.T)
    at_one = np.flatnonzero(np.abs(values - 1) < 1e-8)
    assert at_one.size == 1
    vector = np.real(vectors[:, at_one[0]])
    return np.array(vector / vector.sum())


@pytest.mark.parametrize("rows", ["first-order-hedge", "adahedge", "hedge", "optimistic-hedge", "ftrl", "squint"])
def test_blum_mansour_plays_the_eigenvector_of_its_rows(rows: str) -> None:
    sequence = losses(120, 4)
    learners = [players.make(rows).start(4) for _ in range(4)]
    for p, loss in zip(strategies("blum-mansour", sequence, rows=rows), sequence, strict=True):
        np.testing.assert_allclose(p, stationary(np.array([row.play() for row in learners])), atol=1e-9)
        for mass, row in zip(p, learners, strict=True):
            row.observe(mass * loss)


def test_blum_mansours_first_order_rows_have_the_rate_of_their_mass() -> None:
    random = np.random.default_rng(2)
    sequence = random.choice([-1.0, 1.0], (100, 3))
    seen, mass = np.zeros((3, 3)), np.zeros(3)
    for p, loss in zip(strategies("blum-mansour", sequence), sequence, strict=True):
        weights = np.exp(-np.sqrt(2 * np.log(3) / (1 + mass))[:, None] * seen)
        np.testing.assert_allclose(p, stationary(weights / weights.sum(1, keepdims=True)), atol=1e-10)
        seen, mass = seen + np.outer(p, loss), mass + p


@pytest.mark.parametrize("rows", ["regret-matching", "regret-matching-plus", "predictive-rm-plus"])
def test_blum_mansour_with_rows_that_leave_actions_out_plays_a_fixed_point(rows: str) -> None:
    sequence = losses(150, 4)
    learners = [players.make(rows).start(4) for _ in range(4)]
    moved = 0.0
    for p, loss in zip(strategies("blum-mansour", sequence, rows=rows), sequence, strict=True):
        matrix = np.array([row.play() for row in learners])
        np.testing.assert_allclose(p @ matrix, p, atol=1e-12)
        moved = max(moved, float(np.abs(matrix - 0.25).max()))
        for mass, row in zip(p, learners, strict=True):
            row.observe(mass * loss)
    assert moved > 0.5


def test_internal_regret_matching_balances_the_flows_of_regret() -> None:
    sequence = losses(300, 4)
    regrets = np.zeros((4, 4))
    away = 0.0
    for p, loss in zip(strategies("internal-regret-matching", sequence), sequence, strict=True):
        flow = np.where(regrets > 1e-10, regrets, 0)
        scale = max(flow.sum(1).max(), 1e-9)
        np.testing.assert_allclose(p @ flow / scale, p * flow.sum(1) / scale, atol=1e-12)
        away = max(away, float(np.abs(p - 0.25).max()))
        regrets += p[:, None] * (loss[:, None] - loss[None, :])
    assert away > 0.5


def test_stoltz_lugosi_is_hedge_over_pairs() -> None:
    d = 4
    sequence = losses(100, d)
    pairs = [(i, j) for i in range(d) for j in range(d) if i != j]
    expert_losses = np.zeros(len(pairs))
    for t, (p, loss) in enumerate(zip(strategies("stoltz-lugosi", sequence), sequence, strict=True), 1):
        weights = np.exp(-np.sqrt(2 * np.log(len(pairs)) / t) * (expert_losses - expert_losses.min()))
        weights /= weights.sum()
        experts = []
        for i, j in pairs:
            moved = p.copy()
            moved[j] += moved[i]
            moved[i] = 0
            experts.append(moved)
        np.testing.assert_allclose(weights @ np.array(experts), p, atol=1e-10)  # the mixture reproduces p
        expert_losses += np.array(experts) @ loss


def literal_tree(sequence: Array, base: int, depth: int, rate: float) -> Array:
    """Recurse over blocks: a node holds a strategy during each child, then observes its mean loss."""
    played = np.zeros_like(sequence)

    def node(first: int, level: int) -> None:
        block = base ** (depth - level)
        total = np.zeros(sequence.shape[1])
        for child in range(base):
            weights = np.exp(-rate * total)
            start = first + child * block
            played[start : start + block] += weights / weights.sum() / depth
            if level < depth:
                node(start, level + 1)
            total += sequence[start : start + block].mean(0)

    node(0, 1)
    return played


@pytest.mark.parametrize(("base", "depth"), [(3, 3), (2, 5), (7, 1), (4, 2)])
def test_treeswap_is_the_literal_recursion(base: int, depth: int) -> None:
    sequence = losses(base**depth, 3)
    rate = float(np.sqrt(2 * np.log(3) / base))
    played = strategies("treeswap", sequence, base=base, depth=depth)
    np.testing.assert_allclose(played, literal_tree(sequence, base, depth, rate), atol=1e-12)


def test_treeswap_accepts_any_learner_and_restarts_after_its_rounds() -> None:
    sequence = losses(18, 3)
    twice = strategies("treeswap", np.concatenate([sequence[:9], sequence[:9]]), base=3, depth=2, rows="adahedge")
    np.testing.assert_array_equal(twice[:9], twice[9:])
    assert np.ptp(twice, axis=0).max() > 0.2


@pytest.mark.parametrize(("rounds", "shape"), [(1, (1, 1)), (1000, None), (4096, None)])
def test_treeswap_covers_its_horizon(rounds: int, shape: tuple[int, int] | None) -> None:
    player = players.make("treeswap", horizon=rounds)
    assert isinstance(player, players.TreeSwap)
    base, depth = player.shape(4)
    assert (base - 1) ** depth < rounds <= base**depth
    assert shape in (None, (base, depth))


def prior(d: int, target: tuple[int, ...]) -> float:
    def given(default: tuple[int, ...]) -> float:
        chances = [(1 - 1 / d) * (to == usual) + 1 / d**2 for to, usual in zip(target, default, strict=True)]
        return float(np.prod(chances))

    return given(tuple(range(d))) / 2 + sum(given((j,) * d) for j in range(d)) / (2 * d)


@pytest.mark.parametrize("d", [2, 3])
def test_prior_hedge_is_hedge_over_all_maps(d: int) -> None:
    rounds = 60
    sequence = losses(rounds, d)
    maps = list(product(range(d), repeat=d))
    matrices = np.array([np.eye(d)[list(target)] for target in maps])
    chances = np.array([prior(d, target) for target in maps])
    assert chances.sum() == pytest.approx(1)
    rates = [np.sqrt(2 ** (k + 1) * np.log(d) / rounds) for k in range(int(np.ceil(np.log2(d))) + 1)]
    seen, experts = np.zeros(len(maps)), np.zeros(len(rates))
    for p, loss in zip(strategies("prior-hedge", sequence, horizon=rounds), sequence, strict=True):
        means = []
        for rate in rates:
            weights = chances * np.exp(-rate * seen)
            means.append(np.tensordot(weights / weights.sum(), matrices, axes=1))
        shares = np.exp(-np.sqrt(2 * np.log(len(rates)) / rounds) * experts)
        mixed = np.tensordot(shares / shares.sum(), np.array(means), axes=1)
        np.testing.assert_allclose(p, stationary(mixed), atol=1e-9)
        seen += np.array([p @ matrix @ loss for matrix in matrices])
        experts += np.array([p @ mean @ loss for mean in means])


def test_prior_hedge_stays_finite_where_products_of_many_rows_would_underflow() -> None:
    d, rounds = 150, 300
    random = np.random.default_rng(0)
    played = strategies("prior-hedge", random.choice([-1.0, 1.0], (rounds, d)) * (np.arange(d) > 0), horizon=rounds)
    np.testing.assert_allclose(played.sum(1), 1, atol=1e-9)
    assert np.isfinite(played).all()


@pytest.mark.parametrize("name", ["blum-mansour", "internal-regret-matching", "stoltz-lugosi", "prior-hedge"])
def test_swap_learners_learn(name: str) -> None:
    """On noisy losses whose means change, swap regret per round is well below that of uniform play."""
    rounds, d = 4096, 3
    random = np.random.default_rng(4)
    sequence = np.clip(random.normal(size=(rounds, d)) * 0.3 + [0.3, 0, -0.3], -1, 1)
    sequence[rounds // 2 :] = sequence[rounds // 2 :, [2, 0, 1]]

    def swap(played: Array) -> float:
        moved = played.T @ sequence
        return float((np.diag(moved) - moved.min(1)).sum() / rounds)

    player = players.make(name).with_horizon(rounds)
    learner, played = player.start(d), []
    for loss in sequence:
        played.append(learner.play())
        learner.observe(loss)
    uniform = swap(np.full((rounds, d), 1 / 3))
    assert uniform > 0.1
    assert swap(np.array(played)) < uniform / 3
