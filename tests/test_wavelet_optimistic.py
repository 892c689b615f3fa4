"""The optimistic wavelet learner against a transcription of its definition, its guard, and the exact certificates.

GAMESIM_ROUNDS sets the number of rounds.
"""

import os
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erfi

import gamesim
from gamesim.errors import InputError
from gamesim.learner import CompiledLearner
from gamesim.measure import regrets
from gamesim.players import make
from gamesim.players._kernels.wavelet import hints_of
from gamesim.players.wavelet import Wavelet, WaveletContinuous
from gamesim.players.wavelet_optimistic import WaveletOptimistic
from gamesim.report.summary import summarise
from gamesim.wavelet_theorem.hints import FAMILIES, suffer
from tests.algorithm_one import AlgorithmOne

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]
CLOCKS = {"blocks": Wavelet, "continuous": WaveletContinuous, "optimistic": WaveletOptimistic}
ROUNDS = int(os.environ.get("GAMESIM_ROUNDS", "600"))


def opponents(actions: int, seed: int) -> list[Callable[[int, Array], Array]]:
    """Return losses of one player each: random, signs, alternating, constant, and against play."""
    random = np.random.default_rng(seed)
    fixed, swing, drift = random.uniform(-1, 1, (3, actions))

    def against(t: int, p: Array) -> Array:
        loss = 2 * p / p.max() - 1
        return loss if t % 7 else np.roll(loss, 1)

    return [
        lambda t, p: np.clip(drift / 2 + random.uniform(-0.7, 0.7, actions), -1, 1),
        lambda t, p: np.where(random.random(actions) < 0.5 + 0.1 * drift, -1.0, 1.0),
        lambda t, p: swing if t % 2 else -swing,
        lambda t, p: fixed,
        against,
    ]


def selfplay(actions: int, seed: int) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Return the losses of two players in a random general-sum game."""
    first, second = np.random.default_rng(seed).uniform(-1, 1, (2, actions, actions))
    return lambda p, q: (first @ q, p @ second)


@pytest.mark.parametrize("actions", [2, 3, 4, 7, 16])
def test_it_agrees_with_a_literal_transcription_in_every_round(actions: int) -> None:
    """Losses in long blocks are left out: in them errors of rounding size grow exponentially, in both programs."""
    alone, game = opponents(actions, actions), selfplay(actions, actions)
    order = [int(action) for action in np.random.default_rng(1).permutation(actions)]
    orders = [list(range(actions)), order, list(range(actions)), order, order, list(range(actions)), order]
    oracle = AlgorithmOne(actions, orders, "optimistic")
    learners = [WaveletOptimistic(order=tuple(one)).start(actions) for one in orders]
    limited = withdrawn = returned = False
    for t in range(ROUNDS):
        p = np.array([learner.play() for learner in learners])
        assert np.abs(p - oracle.play()).max() <= 1e-9, f"round {t}"
        loss = np.array([*(one(t, strategy) for one, strategy in zip(alone, p, strict=False)), *game(p[-2], p[-1])])
        before = oracle.follow
        oracle.observe(loss)
        withdrawn |= bool((before & ~oracle.follow).any())
        returned |= bool((~before & oracle.follow).any())
        shift = np.abs(oracle.x - oracle.plain)
        limited |= bool(((shift > 0) & (shift > 0.999 * oracle.room)).any())
        for learner, seen in zip(learners, loss, strict=True):
            learner.observe(seen)
    assert limited, "the guard never limited a hint"
    assert withdrawn and returned, "hints were always or never followed again"
    for run, learner in enumerate(learners):
        own = WaveletOptimistic(order=tuple(orders[run])).own_parts(learner.state, actions)
        spent = hints_of(own, len(oracle.owner[run])).spent
        assert 2 * spent.sum() == pytest.approx(2 * oracle.E[run].sum(), abs=1e-7)


@pytest.mark.parametrize("actions", [3, 8])
def test_hints_add_exactly_what_they_spent_and_the_rest_has_the_continuous_bound(actions: int) -> None:
    """The steps of the proof, feature by feature, in every round: the identity, the induction and the potential."""
    alone = opponents(actions, 9)
    oracle = AlgorithmOne(actions, [list(range(actions))] * len(alone), "optimistic")
    plain_sum, sums, played = np.zeros_like(oracle.x), np.zeros_like(oracle.x), np.zeros_like(oracle.x)
    u = np.linspace(-2, 2, 41)[:, np.newaxis, np.newaxis]
    z = np.linspace(0, 9, 400_001)
    exponent = np.interp(np.sqrt(2 / np.pi) * np.abs(u) / oracle.scale, erfi(z), z) ** 2
    for t in range(600):
        p, before, allowed = oracle.play(), oracle.plain.copy(), oracle.guard * oracle.scale * np.sqrt(oracle.n + 1)
        assert (np.abs(oracle.x - before) <= np.maximum(allowed - oracle.E, 0) + 1e-15).all()
        x = oracle.x.copy()
        oracle.observe(np.array([one(t, strategy) for one, strategy in zip(alone, p, strict=True)]))
        c = oracle.gradients / 2
        assert (np.abs(c) <= 1 + 1e-12).all()
        assert (allowed + 1e-12 >= oracle.E).all()  # even with the time before the round
        plain_sum, sums, played = plain_sum + c * before, sums + c, played + c * x
        np.testing.assert_allclose(played, plain_sum + oracle.E, atol=1e-11)
        if t % 50 == 49:
            regret = plain_sum - u * sums
            assert (regret <= oracle.scale * np.sqrt(oracle.n) * np.exp(exponent) + 1e-9).all()


@pytest.mark.parametrize("actions", [2, 3, 8, 11])
@pytest.mark.parametrize(("scale", "guard"), [(1.0, 0.1), (0.3, 0.5)])
def test_the_guarantee_is_that_of_the_continuous_clock_and_the_allowances(
    actions: int, scale: float, guard: float
) -> None:
    size = 2 ** int(np.ceil(np.log2(actions)))
    epsilon = [
        scale / (actions**2 * s) for s in (2,) * (size - actions) + (1,) * (2 * actions - size) for _ in range(s)
    ]
    for T in (10**4, 10**7):
        allowances = guard * scale * np.sqrt(T + 1)  # the identity
        allowances += sum(guard * size * one * np.sqrt(T + 1) for one in epsilon)  # the all-one vector
        for level in range(int(np.log2(size))):  # 2^level intervals, which share the T rounds evenly at worst
            share = T / 2**level
            allowances += 2**level * sum(guard * one * np.sqrt(share + 1) for one in epsilon)
        bound = WaveletContinuous(scale=scale)._bound(T, actions, np.array([actions]))[0, 0] + 2 * allowances
        found = WaveletOptimistic(scale=scale, guard=guard).guarantee().bound(T, actions)
        assert found == pytest.approx(min(2 * T, bound))
    assert WaveletOptimistic().guarantee().bound(100, 1) == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_hints_never_spend_more_than_their_allowance(family: str) -> None:
    _, share = suffer(WaveletOptimistic(), family, 30_000, 4)
    assert share <= 1 + 1e-12
    _, unguarded = suffer(WaveletOptimistic(guard=1e6), family, 10_000, 4)
    if family == "all losses alternate":  # hints are always wrong
        assert share > 0.9
        assert unguarded * 1e6 / 0.1 > 2


@pytest.mark.parametrize("actions", [4, 7])
def test_hints_that_are_wrong_whenever_they_are_followed_exhaust_the_guard_and_no_more(actions: int) -> None:
    """The adversary repeats its losses while hints are not followed, so that they are trusted again."""
    player = WaveletOptimistic()
    learner, loss = player.start(actions), np.random.default_rng(actions).uniform(-1, 1, actions)
    scales = AlgorithmOne(actions, [list(range(actions))], "optimistic").scale[0]  # the identity first
    largest, rounds_followed = 0.0, 0
    for _ in range(1500):
        own = player.own_parts(learner.state, actions)
        hints = hints_of(own, player.dimensions(actions)[0])
        largest = max(largest, (hints.spent / (0.1 * np.roll(scales, -1) * np.sqrt(own.times + 1))).max())
        rounds_followed += int(hints.followed[0])
        loss = -loss if hints.followed[0] else loss
        learner.play()
        learner.observe(loss)
    assert 0.99 < largest <= 1 + 1e-12
    assert 375 < rounds_followed < 1125


@pytest.mark.parametrize("actions", [4, 16])
@pytest.mark.parametrize("family", FAMILIES)
def test_swap_regret_is_at_most_a_quarter_above_that_without_hints(family: str, actions: int) -> None:
    plain, hinted = (suffer(one, family, 30_000, actions)[0] for one in (WaveletContinuous(), WaveletOptimistic()))
    assert regrets.swap(hinted) <= 1.25 * regrets.swap(plain) + 1e-6


def test_without_a_guard_it_is_the_continuous_clock() -> None:
    losses = np.random.default_rng(0).uniform(-1, 1, (300, 5))
    first, second = WaveletOptimistic(guard=0).start(5), WaveletContinuous().start(5)
    for loss in losses:
        np.testing.assert_allclose(first.play(), second.play(), atol=1e-12)
        first.observe(loss)
        second.observe(loss)


SELF_PLAY = {
    "matching-pennies": gamesim.games.make("matching-pennies"),
    "shapley": gamesim.games.make("shapley"),
    "bad-rps": gamesim.games.make("bad-rps"),
    "zero-sum": gamesim.games.make("zero-sum", actions=8, seed=0),
}


@pytest.mark.parametrize("game", SELF_PLAY)
def test_in_self_play_the_gap_is_near_that_of_predictive_rows_and_far_below_the_continuous_clock(game: str) -> None:
    rival = make("blum-mansour", rows="predictive-rm-plus")

    def gap(learner: gamesim.Learner) -> float:
        runs = gamesim.simulate(SELF_PLAY[game], learner, rounds=4000, perturb=0.5, replicas=4)
        return float(np.mean(runs.gap("ce")))

    ours = gap(WaveletOptimistic())
    assert ours <= 0.2 * gap(WaveletContinuous())
    assert ours <= 3 * gap(rival)


def test_swap_regret_stops_growing_in_self_play() -> None:
    shorter, longer = (gamesim.simulate("shapley", "wavelet-optimistic", T, perturb=0.5) for T in (2000, 20_000))
    assert shorter.regret("swap").max() > 0.1
    assert longer.regret("swap").max() <= 1.1 * shorter.regret("swap").max()


def driven(clock: str, actions: int, rounds: int, which: int) -> tuple[Wavelet, CompiledLearner, AlgorithmOne, Array]:
    """Return a learner, its run, the transcription of the run, and Σ p ⊗ l."""
    order = [int(action) for action in np.random.default_rng(which).permutation(actions)]
    player = CLOCKS[clock](order=tuple(order))
    learner, oracle, matrix = player.start(actions), AlgorithmOne(actions, [order], clock), np.zeros((actions, actions))
    losses = opponents(actions, which)[which]
    for t in range(rounds):
        p = learner.play()
        loss = losses(t, p)
        oracle.play()
        oracle.observe(loss[np.newaxis])
        learner.observe(loss)
        matrix += np.outer(p, loss)
    return player, learner, oracle, matrix


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("actions", [2, 3, 5, 8])
def test_the_exact_certificate_is_the_improper_regret(actions: int, clock: str) -> None:
    """Σ <g, X - φ> from the transcription, with dense matrices; it lies between the regret and the bound."""
    for which in range(5):
        player, learner, oracle, matrix = driven(clock, actions, 150, which)
        random = np.random.default_rng(which)
        targets = [matrix.argmin(axis=1), np.full(actions, matrix.sum(axis=0).argmin()), np.arange(actions)]
        for phi in [*(np.eye(actions)[one] for one in targets), random.dirichlet(np.ones(actions), actions)]:
            exact = player.certificate(learner.state, phi, exact=True)
            regret = np.trace(matrix) - (phi * matrix).sum()
            assert regret <= exact + 1e-9
            assert exact <= player.certificate(learner.state, phi) + 1e-9
            assert exact == pytest.approx(improper_regret(oracle, phi), abs=1e-8)


def improper_regret(oracle: AlgorithmOne, phi: Array) -> float:
    """Return W - <Σ g, φ>, with the smaller of the two ways to spread φ over the augmented indices."""
    owner = list(oracle.owner[0])
    size, sums = len(owner), oracle.g_sum[0]
    first = [owner.index(action) for action in owner]
    even, own = np.zeros((size, size)), np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            even[i, j] = phi[owner[i], owner[j]] / owner.count(owner[j])
            if owner[i] == owner[j]:
                own[i, j] = phi[owner[i], owner[j]] if i == j else 0
            else:
                own[i, j] = phi[owner[i], owner[j]] if first[j] == j else 0
    return float(min(oracle.W[0] - (sums * one).sum() for one in (even, own)))


@pytest.mark.parametrize("name", ["wavelet", "wavelet-continuous", "wavelet-optimistic"])
def test_a_record_and_its_report_have_both_certificates(name: str) -> None:
    record = gamesim.simulate("shapley", ["hedge", name], 1500, opening=[[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    shown = summarise(record).players[1]
    for kind in ("external", "internal", "swap"):
        phi = record.best_deviation(1, kind)
        exact, bound = record.certificate(1, phi, exact=True), record.certificate(1, phi)
        assert exact is not None and bound is not None
        assert record.regret(kind)[1] <= exact <= bound
        shown_exact, shown_bound = shown.exact_certificate[kind], shown.certificate[kind]
        assert shown_exact is not None and shown_bound is not None
        assert max(shown.regret[kind], exact) <= shown_exact + 1e-9 <= shown_bound + 2e-9  # up to rounding
    assert summarise(record).players[0].exact_certificate["swap"] is None


def test_a_record_with_another_state_has_no_certificate() -> None:
    record = gamesim.simulate("shapley", ["hedge", "wavelet"], 100)
    record.settings["states"] = [record.settings["states"][0], record.settings["states"][1] - 6]
    record.arrays["continue_state"] = record.arrays["continue_state"][:, :-6]
    assert record.certificate(1, np.eye(3)) is None


def test_invalid_input_is_rejected() -> None:
    with pytest.raises(InputError, match="guard must be at least 0, got -1"):
        make("wavelet-optimistic", guard=-1)
    with pytest.raises(InputError, match="clock"):
        make("wavelet-optimistic", clock="blocks")
    with pytest.raises(InputError, match='clock must be "continuous", because hints need it'):
        WaveletOptimistic(clock="blocks")  # type: ignore[arg-type]  # invalid on purpose
