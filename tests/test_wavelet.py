import os
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erfi

from gamesim.errors import InputError
from gamesim.players import make
from gamesim.players._kernels.relabelling import owners
from gamesim.players.wavelet import Wavelet, WaveletContinuous
from tests.algorithm_one import AlgorithmOne

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]
Clock = Literal["blocks", "continuous"]
ROUNDS = int(os.environ.get("GAMESIM_ROUNDS", "300"))


def adversaries(actions: int, random: np.random.Generator) -> list[Callable[[int, Array], Array]]:
    """Return loss functions of round and strategy: random, constant, alternating, in blocks, adaptive."""
    fixed, swing = random.uniform(-1, 1, (2, actions))
    drift = random.uniform(-0.5, 0.5, actions)
    levels = random.uniform(-1, 1, (40, actions))

    def adaptive(t: int, p: Array) -> Array:
        loss = 2 * p / p.max() - 1  # the most likely action has the largest loss
        return loss if t % 7 else np.roll(loss, 1)

    return [
        lambda t, p: np.clip(drift + random.uniform(-0.7, 0.7, actions), -1, 1),
        lambda t, p: fixed,
        lambda t, p: swing if t % 2 else -swing,
        lambda t, p: levels[t // 50 % 40],
        adaptive,
    ]


@pytest.mark.parametrize("clock", ["blocks", "continuous"])
@pytest.mark.parametrize("actions", [1, 2, 3, 5, 8, 11, 16])
def test_it_agrees_with_algorithm_one_in_every_round(actions: int, clock: Clock) -> None:
    random = np.random.default_rng(actions)
    given = [int(action) for action in random.permutation(actions)]
    orders = [None, tuple(given)]
    runs = [(order, adversary) for order in orders for adversary in adversaries(actions, random)]
    oracle = AlgorithmOne(actions, [list(order or range(actions)) for order, _ in runs], clock)
    learners = [Wavelet(order=order, clock=clock).start(actions) for order, _ in runs]
    worst = 0.0
    for t in range(ROUNDS):
        p = np.array([learner.play() for learner in learners])
        worst = max(worst, np.abs(p - oracle.play()).max())
        assert worst <= 1e-9, f"round {t}"
        loss = np.array([adversary(t, strategy) for (_, adversary), strategy in zip(runs, p, strict=True)])
        oracle.observe(loss)
        for learner, seen in zip(learners, loss, strict=True):
            learner.observe(seen)


def comparators(matrix: Array, random: np.random.Generator) -> list[Array]:
    """Return the best external, internal and swap deviations, a two-block rule, a mixture and a random rule."""
    actions = len(matrix)
    eye = np.eye(actions)
    external = np.tile(eye[matrix.sum(axis=0).argmin()], (actions, 1))
    gains = np.diag(matrix)[:, np.newaxis] - matrix
    internal = eye.copy()
    i, j = np.unravel_index(gains.argmax(), gains.shape)
    internal[i] = eye[j]
    swap = eye[matrix.argmin(axis=1)]
    halves = np.repeat(eye[random.integers(0, actions, 2)], [actions // 2, actions - actions // 2], axis=0)
    return [external, internal, swap, halves, (external + swap + eye) / 3, random.dirichlet(np.ones(actions), actions)]


@pytest.mark.parametrize("clock", ["blocks", "continuous"])
@pytest.mark.parametrize("actions", [2, 3, 5, 8, 13, 16])
def test_measured_regret_never_exceeds_the_certificate(actions: int, clock: Clock) -> None:
    random = np.random.default_rng(100 + actions)
    shares = []
    for at, adversary in enumerate(adversaries(actions, random)):
        order = tuple(int(action) for action in random.permutation(actions)) if at % 2 else None
        player = Wavelet(order=order, clock=clock, scale=(1.0, 0.3)[at % 3 == 2])
        learner = player.start(actions)
        matrix = np.zeros((actions, actions))  # Σ p ⊗ l
        for t in range(1, 1001):
            p = learner.play()
            loss = adversary(t, p)
            matrix += np.outer(p, loss)
            learner.observe(loss)
            if t in (1, 10, 100, 1000):
                for phi in comparators(matrix, random):
                    regret = np.trace(matrix) - (phi * matrix).sum()
                    certificate = player.certificate(learner.state, phi)
                    shares.append(regret / max(certificate, 1e-12))
                    assert regret <= certificate + 1e-9
                swap = np.trace(matrix) - matrix.min(axis=1).sum()
                assert swap <= player.guarantee().bound(t, actions) + 1e-9
    assert len(shares) >= 100
    assert max(shares) > 0.1  # the bound is not vacuous


@pytest.mark.parametrize("scale", [1.0, 0.3])
@pytest.mark.parametrize("actions", [2, 3, 8, 11])
def test_the_printed_guarantee_is_the_bound(actions: int, scale: float) -> None:
    """Compute ε, K₀ and K₁ action by action, as the learner's docstring defines them."""
    size = 2 ** int(np.ceil(np.log2(actions)))
    columns = [s for s in (2,) * (size - actions) + (1,) * (2 * actions - size) for _ in range(s)]

    def k(factor: float) -> float:
        scales = [factor * scale / (actions**2 * s) for s in columns]
        roots = [brentq(lambda z, e=e: erfi(z) - np.sqrt(2 / np.pi) / e, 0, 10, xtol=1e-14) for e in scales]
        return float(sum(scales) + max(e * (np.exp(z**2) - 1) for e, z in zip(scales, roots, strict=True)))

    levels = [2**level for level in range(size) if level < np.log2(actions)]
    for T in (10, 10**4, 10**7):
        blocks = 4 * (np.sqrt(T + 1) * (scale + k(size)) + k(1) * sum(np.sqrt(n * (n + T)) for n in levels))
        continuous = 2 * np.sqrt(T) * (scale + k(size) + k(1) * sum(np.sqrt(n) for n in levels))
        for player, bound in ((Wavelet(scale=scale), blocks), (WaveletContinuous(scale=scale), continuous)):
            assert player.guarantee().bound(T, actions) == pytest.approx(min(2 * T, bound))


def test_regret_to_the_worst_action_can_be_positive() -> None:
    """Hence a bound on quantile regret by √log(1/ε), which is 0 at ε = 1, would be false."""
    learner, matrix = Wavelet().start(2), np.zeros((2, 2))
    for _ in range(200):
        p = learner.play()
        loss = np.where(p == p.max(), 1.0, -1.0) if p[0] != p[1] else np.array([1.0, -1.0])
        learner.observe(loss)
        matrix += np.outer(p, loss)
    assert np.trace(matrix) - matrix.sum(axis=0).max() > 1


@pytest.mark.parametrize("clock", ["blocks", "continuous"])
@pytest.mark.parametrize("actions", [2, 3, 8, 11])
def test_no_certificate_exceeds_the_guarantee(actions: int, clock: Clock) -> None:
    random = np.random.default_rng(actions)
    player = Wavelet(clock=clock)
    bound = player.guarantee().bound
    learner = player.start(actions)
    for t in range(1, 3001):
        p = learner.play()
        learner.observe(np.where(p >= np.median(p), 1.0, -1.0) * random.choice([0.5, 1.0]))
        if t in (300, 3000) and bound(t, actions) < 2 * t:
            for _ in range(10):
                phi = np.eye(actions)[random.integers(0, actions, actions)]
                assert player.certificate(learner.state, phi) <= bound(t, actions) * (1 + 1e-9)


def test_the_certificate_of_a_simple_rule_is_small() -> None:
    """As in the theorem, constant rules and small modifications have smaller bounds than arbitrary swaps."""
    actions = 16
    random = np.random.default_rng(0)
    player = WaveletContinuous()
    learner = player.start(actions)
    for _ in range(4000):
        learner.observe(random.uniform(-1, 1, actions))
    eye = np.eye(actions)
    internal = eye.copy()
    internal[3] = eye[9]
    swap = eye[random.permutation(actions)]
    constant = np.tile(eye[5], (actions, 1))
    uniform = np.full((actions, actions), 1 / actions)
    certificate = [player.certificate(learner.state, phi) for phi in (eye, uniform, constant, internal, swap)]
    assert max(certificate[1:4]) < certificate[4] / 1.5
    assert certificate[1] < certificate[2]


def test_the_certificate_by_hand() -> None:
    """Two actions, one round of losses (1, -1) on the uniform strategy, continuous clock."""
    learner = WaveletContinuous().start(2)
    learner.observe([1.0, -1.0])
    # gradients p_i (l_j - 0): (½, -½) in both rows; the all-one features have 1 and -1, all others and the trace 0
    steps = 2 * np.sqrt(1 / 2)
    scale = 2 / 4  # D / (d² m)
    z = np.linspace(0, 3, 300_001)

    def conjugate(u: float) -> float:
        return float(scale * np.exp(np.interp(np.sqrt(2 / np.pi) * u / scale, erfi(z), z) ** 2))

    def certificate(phi: list[list[float]]) -> float:
        return WaveletContinuous().certificate(learner.state, phi)

    # all to the second: without the identity the all-one coefficients are 0, 1; with it -½, ½, for a smaller bound
    assert conjugate(0.5) + conjugate(0.5) < conjugate(0) + conjugate(1)
    assert certificate([[0, 1], [0, 1]]) == pytest.approx(steps * 2 * conjugate(0.5), rel=1e-6)
    # evenly to both: ½, ½ without the identity, 0, 0 with it
    assert certificate([[0.5, 0.5], [0.5, 0.5]]) == pytest.approx(steps * 2 * scale, rel=1e-6)
    # swap the two: ½, ½ or 0, 0
    assert certificate([[0, 1], [1, 0]]) == pytest.approx(steps * 2 * scale, rel=1e-6)
    # three quarters to the second: ¼, ¾ or -¼, ¼
    assert certificate([[0.25, 0.75], [0.25, 0.75]]) == pytest.approx(steps * 2 * conjugate(0.25), rel=1e-6)


@pytest.mark.parametrize("clock", ["blocks", "continuous"])
@pytest.mark.parametrize("actions", [5, 100])
def test_playing_changes_nothing_and_a_copied_state_continues_bit_for_bit(actions: int, clock: Clock) -> None:
    random = np.random.default_rng(1)
    matrix = random.uniform(-1, 1, (actions, actions))
    first, second = (Wavelet(clock=clock).start(actions) for _ in range(2))
    for t in range(60):
        p = first.play()
        np.testing.assert_array_equal(first.play(), p)
        if t == 30:
            second.state = first.state.copy()
        if t >= 30:
            np.testing.assert_array_equal(second.play(), p)
            second.observe(matrix @ p / np.abs(matrix @ p).max())
        first.observe(matrix @ p / np.abs(matrix @ p).max())


@pytest.mark.parametrize("actions", [70, 100, 200])
def test_with_many_actions_the_strategy_is_a_fixed_point_of_the_projected_matrix(actions: int) -> None:
    random = np.random.default_rng(actions)
    player = WaveletContinuous()
    learner = player.start(actions)
    owner = owners(actions)
    size = owner.size
    spent = np.full(actions, 0.0)
    for t in range(25):
        p = learner.play()
        parts = learner.learner.parts(learner.state, learner.actions)
        augmented, phi = parts.strategy, parts.matrix.reshape(size, size)
        improper = player.own_parts(learner.state, actions).improper.reshape(size, size)
        positive = np.maximum(improper, 0)
        if t > 0:
            np.testing.assert_allclose(phi * positive.sum(axis=1, keepdims=True), positive, atol=1e-13)
        assert np.abs(augmented @ phi - augmented).sum() <= 1e-10
        np.testing.assert_allclose(np.bincount(owner, augmented), p, rtol=1e-15)
        spent += p
        learner.observe(np.clip(random.uniform(-0.3, 0.3, actions) + spent / spent.max() - 0.5, -1, 1))


def test_a_good_action_is_found() -> None:
    for player in (Wavelet(), WaveletContinuous(), Wavelet(order=(4, 2, 0, 1, 3))):
        learner = player.start(5)
        for _ in range(400):
            learner.observe([0.5, 0.3, -0.2, 0.4, 0.9])
        assert learner.play()[2] > 0.98


def test_one_action_is_played() -> None:
    learner = Wavelet().start(1)
    learner.observe([0.7])
    np.testing.assert_array_equal(learner.play(), [1.0])
    assert Wavelet().certificate(learner.state, [[1.0]]) >= 0
    assert Wavelet().guarantee().bound(100, 1) == 0


def test_invalid_input_is_rejected() -> None:
    with pytest.raises(InputError, match="scale must be positive"):
        make("wavelet", scale=-1)
    with pytest.raises(InputError, match="each of the 2 actions once"):
        make("wavelet", order=[0, 2])
    with pytest.raises(InputError, match="clock"):
        make("wavelet", clock="sundial")
    with pytest.raises(InputError, match="each of the 4 actions once"):
        make("wavelet", order=[1, 0]).start(4)
    state = Wavelet().first_state(3)
    with pytest.raises(InputError, match="rows are distributions"):
        Wavelet().certificate(state, [[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    with pytest.raises(InputError, match="another number of actions"):
        Wavelet().certificate(state, np.eye(5))


def test_the_two_names_differ_by_their_clock() -> None:
    assert make("wavelet") == Wavelet(clock="blocks")
    assert isinstance(make("wavelet-continuous"), WaveletContinuous)
    assert make("wavelet-continuous") == WaveletContinuous(clock="continuous")
    assert Wavelet.ordered and WaveletContinuous.ordered
