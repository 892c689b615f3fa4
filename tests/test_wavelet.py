from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from gamesim.players.wavelet import Wavelet
from tests.algorithm_one import AlgorithmOne

Array = NDArray[np.float64]
ROUNDS = 2000


def adversaries(actions: int, random: np.random.Generator) -> list[Callable[[int, Array], Array]]:
    """Return losses by round and strategy: random, constant, alternating, switching in blocks, adaptive."""
    fixed, swing = random.uniform(-1, 1, (2, actions))
    drift = random.uniform(-0.5, 0.5, actions)
    levels = random.uniform(-1, 1, (40, actions))

    def adaptive(t: int, p: Array) -> Array:
        loss = 2 * p / p.max() - 1  # what is played most costs most
        return loss if t % 7 else np.roll(loss, 1)

    return [
        lambda t, p: np.clip(drift + random.uniform(-0.7, 0.7, actions), -1, 1),
        lambda t, p: fixed,
        lambda t, p: swing if t % 2 else -swing,
        lambda t, p: levels[t // 50 % 40],
        adaptive,
    ]


@pytest.mark.parametrize("clock", ["blocks", "continuous"])
@pytest.mark.parametrize("actions", [1, 2, 3, 4, 5, 7, 8, 11, 16])
def test_it_agrees_with_algorithm_one_in_every_round(actions: int, clock: str) -> None:
    random = np.random.default_rng(actions)
    given = [int(action) for action in random.permutation(actions)]
    orders = [None, tuple(given)]
    runs = [(order, adversary) for order in orders for adversary in adversaries(actions, random)]
    oracle = AlgorithmOne(actions, [list(order or range(actions)) for order, _ in runs], clock)
    learners = [Wavelet(order=order, clock=clock).start(actions) for order, _ in runs]  # type: ignore[arg-type]
    worst = 0.0
    for t in range(ROUNDS):
        p = np.array([learner.play() for learner in learners])
        worst = max(worst, np.abs(p - oracle.play()).max())
        assert worst <= 1e-9, f"round {t}"
        loss = np.array([adversary(t, strategy) for (_, adversary), strategy in zip(runs, p, strict=True)])
        oracle.observe(loss)
        for learner, seen in zip(learners, loss, strict=True):
            learner.observe(seen)
