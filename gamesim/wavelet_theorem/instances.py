"""The learners of the study, the comparators φ*, and the losses that favour them."""

from collections.abc import Callable
from zlib import crc32

import numpy as np

from gamesim.learner import Learner
from gamesim.players.adahedge import AdaHedge
from gamesim.players.aggregate import Aggregate
from gamesim.players.blum_mansour import BlumMansour
from gamesim.players.blum_mansour_log_barrier import BlumMansourLogBarrier
from gamesim.players.comparator_adaptive_bm import ComparatorAdaptiveBM
from gamesim.players.prior_hedge import PriorHedge
from gamesim.players.subsequence_regret import SubsequenceRegret
from gamesim.players.uniform import Uniform
from gamesim.players.wavelet import Wavelet, WaveletContinuous
from gamesim.players.wavelet_optimistic import WaveletOptimistic
from gamesim.wavelet_theorem.drivers import Matrix

PAPER, CONTINUOUS, OPTIMISTIC = WAVELETS = ("wavelet", "wavelet-continuous", "wavelet-optimistic")
PREDICTIVE, BARRIER, ADAPTIVE = ROWS = ("BM predictive RM⁺", "BM log barrier", "BM AdaHedge")
PRIOR, COPIES, AGGREGATE, SUBSEQUENCE = "prior-hedge", "comparator-adaptive BM", "aggregate", "subsequence-regret"
EXTERNAL, UNIFORM = "AdaHedge", "uniform play"
NORMAL, ADANORMAL, SQUINT = "NormalHedge", "AdaNormalHedge", "Squint"

LEARNERS: dict[str, Callable[[], Learner]] = {
    PAPER: Wavelet,
    CONTINUOUS: WaveletContinuous,
    OPTIMISTIC: WaveletOptimistic,
    PREDICTIVE: lambda: BlumMansour(rows="predictive-rm-plus"),
    BARRIER: BlumMansourLogBarrier,
    ADAPTIVE: lambda: BlumMansour(rows="adahedge"),
    PRIOR: lambda: PriorHedge(anytime=True),
    COPIES: ComparatorAdaptiveBM,
    AGGREGATE: Aggregate,
    SUBSEQUENCE: SubsequenceRegret,
}
RIVALS = tuple(name for name in LEARNERS if name not in WAVELETS)
# The matrices of subsequence regret are defined only up to scaling, which fixed points ignore: they cannot be played.
ALONE = tuple(name for name in LEARNERS if name != SUBSEQUENCE)
YARDSTICKS: dict[str, Callable[[], Learner]] = {EXTERNAL: AdaHedge, UNIFORM: Uniform}

SEEDS = range(20)
SMALL_SEEDS = range(1000, 1003)  # other instances than those of the full version, on which nothing may be tuned


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
