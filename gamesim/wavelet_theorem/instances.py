"""The learners of the study, the comparators φ*, and the mean losses that favour them."""

from collections.abc import Callable
from math import log, sqrt
from zlib import crc32

import numpy as np

from gamesim.learner import Learner
from gamesim.players.adahedge import AdaHedge
from gamesim.players.blum_mansour import BlumMansour
from gamesim.players.hedge import Hedge
from gamesim.players.internal_regret_matching import InternalRegretMatching
from gamesim.players.prior_hedge import PriorHedge
from gamesim.players.stoltz_lugosi import StoltzLugosi
from gamesim.players.wavelet import Wavelet, WaveletContinuous
from gamesim.wavelet_theorem.drivers import Matrix

PAPER, OURS = "wavelet", "wavelet-continuous"
FIRST_ORDER, ADAPTIVE = "blum-mansour", "blum-mansour adahedge"
PRIOR, PAIRS, MATCHING = "prior-hedge", "stoltz-lugosi", "internal-regret-matching"
HEDGE, ADAHEDGE = "hedge", "adahedge"

LEARNERS: dict[str, Callable[[], Learner]] = {
    PAPER: Wavelet,
    OURS: WaveletContinuous,
    FIRST_ORDER: BlumMansour,
    ADAPTIVE: lambda: BlumMansour(rows="adahedge"),
    PRIOR: PriorHedge,
    PAIRS: StoltzLugosi,
    MATCHING: InternalRegretMatching,
    HEDGE: Hedge,
    ADAHEDGE: AdaHedge,
}
# φ of internal regret matching is defined only up to scaling, which the fixed point ignores: its rows cannot be played.
ALONE = tuple(name for name in LEARNERS if name != MATCHING)


def seed_of(seed: int, *about: object) -> list[int]:
    """Return the seed of an instance; it is the same for all learners."""
    return [seed, crc32(repr(about).encode())]


def rule(family: str, actions: int, k: int, seed: int) -> Matrix:
    """Draw a modification rule φ* from a family.

    "unif": d - k + 1 rows share one target and k - 1 random rows have distinct other targets: unif(φ*) = d - k + 1.
    "self": k random rows move and the others stay: self(φ*) = d - k. "blocks": k blocks of adjacent rows, with one
    target per block. "permutation": a random permutation, for any k.
    """
    random = np.random.default_rng(seed_of(seed, family, actions, k))
    if family == "unif":
        order = random.permutation(actions)
        target = np.full(actions, order[0])
        target[random.permutation(actions)[: k - 1]] = order[1:k]
    elif family == "self":
        target = np.arange(actions)
        moved = random.permutation(actions)[:k]
        target[moved] = (moved + random.integers(1, actions, k)) % actions
    elif family == "blocks":
        target = np.repeat(random.permutation(actions)[:k], actions // k)
    else:
        target = random.permutation(actions)
    return np.eye(actions, dtype=np.float64)[target.tolist()]


def edge(actions: int, rounds: int, rows: int | None = None) -> float:
    """Return the mean advantage of the right action: √(rows ln d / T), by default with d rows.

    This is the scale at which learning is hard if T rounds are shared by `rows` unrelated rows of φ*.
    """
    return min(1.0, sqrt((rows or actions) * log(actions) / rounds))


def favouring(phi: Matrix, rounds: int, rows: int | None = None) -> Matrix:
    """Return mean losses of minus the edge where φ* puts its mass, and 0 elsewhere."""
    return -edge(len(phi), rounds, rows) * phi


def uniform_regret(actions: int, rounds: int, rows: int | None = None) -> float:
    """Return the mean regret of uniform play, alone or against a constant φ*."""
    return (1 - 1 / actions) * rounds * edge(actions, rounds, rows)
