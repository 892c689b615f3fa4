"""The bounds of the wavelet learners for each kind of deviation, against brute force over all deviations."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import gamesim
from gamesim import games
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.learner import PLAIN_REGRETS
from gamesim.measure import regrets
from gamesim.players import Wavelet, WaveletContinuous, WaveletOptimistic, make
from gamesim.players._kernels.relabelling import spread_evenly, spread_to_self
from gamesim.players._kernels.scalar import regret_bound
from gamesim.players.wavelet import _coefficients
from gamesim.simulation import Simulation
from gamesim.simulation.ordering import spectral_order

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]
CLOCKS = (Wavelet, WaveletContinuous, WaveletOptimistic)
CHECKED = {2: (1, 2, 7, 40, 250), 3: (1, 7, 40, 250), 4: (7, 250)}  # rounds, by the number of actions


def losses(which: int, t: int, p: Array, random: np.random.Generator) -> Array:
    """Return losses of five kinds: random, against the current strategy, signs, one bad action, and a slow drift."""
    d = len(p)
    kinds: list[Array] = [
        random.uniform(-1, 1, d),
        np.where(p >= p.max() - 1e-12, 1.0, -1.0),
        random.choice([-1.0, 1.0], d),
        np.eye(d)[t % d] * 2 - 1,
        np.cos(t / 20 + 2 * np.pi * np.arange(d) / d),
    ]
    return kinds[which]


def all_maps(actions: int) -> NDArray[np.int64]:
    return np.array(list(product(range(actions), repeat=actions)))


def maxima(maps: NDArray[np.int64], values: Array) -> Array:
    """Return the largest value of any map in each class of the profile, by brute force."""
    actions = maps.shape[1]
    most = np.array([np.bincount(one).max() for one in maps])
    changed = (maps != np.arange(actions)).sum(axis=1)
    k = range(1, actions + 1)
    return np.array(
        [[values[most >= actions - j + 1].max() for j in k], [values[changed <= j].max() for j in k]], dtype=np.float64
    )


def certificates(player: Wavelet, state: Array, maps: NDArray[np.int64]) -> tuple[list[Array], list[Array]]:
    """Return the certificate of each map, and the exact one, for both ways to write it in features."""
    actions = maps.shape[1]
    owner = player._owners(actions)
    gradients, times, spent = player._observed(state, actions)
    columns = [1 / (actions**2 * list(owner).count(one)) for one in owner]
    scales = player.scale * np.array([*(owner.size * one for one in columns), *columns * (owner.size - 1), 1.0])
    worth = player.own_parts(state, actions).worth.sum()
    proved, exact = [], []
    for spread, identity in ((spread_evenly, 0.0), (spread_to_self, 1.0)):
        u = np.array(
            [
                np.append(_coefficients(spread(phi, owner) - identity * np.eye(owner.size)), identity)
                for phi in np.eye(actions)[maps]
            ]
        )
        proved.append(regret_bound(player._clock()[0], scales, times, u).sum(axis=1) + spent)
        exact.append(worth - u @ gradients)
    return proved, exact


@pytest.mark.parametrize("kind", CLOCKS)
@pytest.mark.parametrize("actions", CHECKED)
def test_every_bound_holds_for_every_map(actions: int, kind: type[Wavelet]) -> None:
    maps, shares = all_maps(actions), []
    for which in range(5):
        random = np.random.default_rng(10 * actions + which)
        order = tuple(random.permutation(actions).tolist()) if which % 2 else None
        player = kind(order=order, scale=(1.0, 0.3)[which == 2])
        learner, matrix = player.start(actions), np.zeros((actions, actions))
        for t in range(1, CHECKED[actions][-1] + 1):
            p = learner.play()
            loss = losses(which, t, p, random)
            learner.observe(loss)
            matrix += np.outer(p, loss)
            if t not in CHECKED[actions]:
                continue
            regret = maxima(maps, np.trace(matrix) - matrix[np.arange(actions), maps].sum(axis=1))
            np.testing.assert_allclose(np.array(regrets.profile(matrix)), regret, atol=1e-10)
            proved = player.profile_certificate(learner.state, actions)
            worth, gradients = player.improper_losses(learner.state, actions)
            improper = [worth - np.trace(one) + np.array(regrets.profile(one)) for one in gradients]
            ways, exact = certificates(player, learner.state, maps)
            for at in range(2):
                np.testing.assert_allclose(improper[at], maxima(maps, exact[at]), atol=1e-9)
                bound = maxima(maps, ways[at])[at]
                assert (np.minimum(bound, proved.max()) <= proved[at] + 1e-9).all()
                if proved[at][0] < proved.max():  # not limited by the bound on swap regret: the maximum itself
                    assert proved[at][0] == pytest.approx(bound[0], rel=1e-9)
            assert (regret <= np.minimum(*improper) + 1e-9).all()
            assert (np.minimum(*improper) <= proved + 1e-9).all()
            assert (maxima(maps, np.minimum(*ways)) <= proved + 1e-9).all()
            promise = player.guarantee()
            promised = promise.profile(t, actions, np.arange(1, actions + 1))  # type: ignore[misc]
            assert promised[:, -1] == pytest.approx(promise.bound(t, actions))
            assert (proved <= promised * (1 + 1e-9))[promised < 2 * t].all()
            assert (regret <= promised + 1e-9).all()
            assert (np.diff(proved) >= -1e-12).all() and (np.diff(promised) >= -1e-12).all()
            shares.append((regret / np.maximum(proved, 1e-12)).max())
    assert max(shares) > 0.1  # the bounds are not vacuous


@pytest.mark.parametrize("kind", CLOCKS)
@pytest.mark.parametrize("actions", [6, 13])
def test_every_bound_holds_on_longer_runs(actions: int, kind: type[Wavelet]) -> None:
    k = np.arange(1, actions + 1)
    for which in range(5):
        random = np.random.default_rng(which)
        player = kind(order=tuple(random.permutation(actions).tolist()))
        learner, matrix = player.start(actions), np.zeros((actions, actions))
        for t in range(1, 501):
            p = learner.play()
            loss = losses(which, t, p, random)
            learner.observe(loss)
            matrix += np.outer(p, loss)
            if t in (20, 500):
                regret = np.array(regrets.profile(matrix))
                proved = player.profile_certificate(learner.state, actions)
                worth, gradients = player.improper_losses(learner.state, actions)
                improper = np.min([worth - np.trace(one) + np.array(regrets.profile(one)) for one in gradients], axis=0)
                promised = player.guarantee().profile(t, actions, k)  # type: ignore[misc]
                assert (regret <= improper + 1e-9).all() and (improper <= proved + 1e-9).all()
                assert (proved <= promised * (1 + 1e-9))[promised < 2 * t].all()


def test_the_declared_bounds_interpolate() -> None:
    """External and internal regret have bounds of √T up to logarithms, whatever the number of actions."""
    for kind in CLOCKS:
        promise = kind().guarantee()
        few, many = ([promise.bound_on(one, 10**10, d) or 0 for one in PLAIN_REGRETS] for d in (16, 256))
        assert few[0] < few[1] < few[2] / 3 and many[1] < many[2] / 12
        assert many[0] < 1.3 * few[0] and many[1] < 1.6 * few[1] and many[2] > 4 * few[2]


def test_a_shuffled_line_is_put_in_order() -> None:
    random = np.random.default_rng(3)
    for size in (5, 16, 33):
        places = np.sort(random.uniform(0, 1, size))
        shuffled = random.permutation(size)
        payoffs = np.cos(places[shuffled, np.newaxis] - np.array([0.0, 0.5, 1.0]))
        found = shuffled[list(spectral_order(payoffs))]
        assert found.tolist() in (list(range(size)), list(range(size))[::-1])
    assert spectral_order(np.ones((4, 3))) == (0, 1, 2, 3)
    assert spectral_order(np.eye(3)) == (0, 1, 2)  # no order is better: the given one


def test_the_order_is_computed_from_the_payoffs_of_the_player_and_kept(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    line = np.cos(np.linspace(0, 2, 6)[[3, 0, 5, 1, 4, 2], np.newaxis, np.newaxis] - random.uniform(0, 2, (1, 2, 3)))
    noise = random.uniform(-1, 1, (6, 2, 3))
    game = Table.from_payoffs(np.array([noise.transpose(1, 0, 2), line.transpose(1, 0, 2), noise.transpose(1, 0, 2)]))
    spectral = make("wavelet-continuous", order="spectral")
    record = gamesim.simulate(game, ["hedge", spectral, "hedge"], 60)
    order = record.learners[1].order
    assert order in ((1, 3, 5, 0, 4, 2), (2, 4, 0, 5, 3, 1))
    given = gamesim.simulate(game, ["hedge", make("wavelet-continuous", order=order), "hedge"], 100)
    again = Simulation.resume(gamesim.load(record.save(tmp_path / "record"))).run(40)
    assert again.learners[1].order == order
    assert again.joint is not None and (again.joint == given.joint).all()


def test_an_order_needs_a_payoff_table() -> None:
    network = games.make("polymatrix")
    with pytest.raises(InputError, match='order = "spectral" needs a game with a payoff table, got'):
        gamesim.simulate(network, "wavelet:order=spectral", 5)
    with pytest.raises(InputError, match="use the learner in a simulation"):
        make("wavelet", order="spectral").start(3)
    with pytest.raises(InputError, match="a permutation of the actions or \"spectral\", got 'best'"):
        make("wavelet", order="best")
