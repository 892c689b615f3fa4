"""Losses that try the hints of `wavelet-optimistic`, and what hints then cost."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel, part
from gamesim.learner import Learner
from gamesim.players._kernels.reduction import reduction
from gamesim.players._kernels.wavelet import hints_view, own_view, settings_view
from gamesim.players.wavelet_optimistic import WaveletOptimistic
from gamesim.wavelet_theorem.drivers import add_outer

CHUNK = 10_000  # rounds whose losses are in memory
Losses = NDArray[np.float64]


def _alternating(t: Losses, d: int, random: np.random.Generator) -> Losses:
    return np.where(t % 2, 1.0, -1.0) * np.where(np.arange(d) % 2, 1.0, -1.0)


def _one_alternates(t: Losses, d: int, random: np.random.Generator) -> Losses:
    return np.where(np.arange(d) == 0, np.where(t % 2, 1.0, -1.0), 0.0)


def _alternating_favourite(t: Losses, d: int, random: np.random.Generator) -> Losses:
    """Alternate between two loss vectors whose mean favours the last action."""
    return np.where(np.arange(d) == d - 1, -0.1, 0.9 * _alternating(t, d, random))


def _signs(t: Losses, d: int, random: np.random.Generator) -> Losses:
    return np.where(random.random((len(t), d)) < 0.5, -1.0, 1.0)


def _one_better(t: Losses, d: int, random: np.random.Generator) -> Losses:
    return np.where(random.random((len(t), d)) < 0.5 + 0.05 * (np.arange(d) == d - 1), -1.0, 1.0)


def _rotating(t: Losses, d: int, random: np.random.Generator) -> Losses:
    return np.where((np.arange(d) - t) % d == 0, 1.0, -1.0)


def _switching(t: Losses, d: int, random: np.random.Generator) -> Losses:
    """Favour one action after another, for longer and longer."""
    return np.where(np.arange(d) == np.floor(np.log1p(t) / 0.2) % d, -1.0, 1.0)


def _chirp(t: Losses, d: int, random: np.random.Generator) -> Losses:
    return np.sin(t**1.5 / 50 + 2 * np.pi * np.arange(d) / d)


def _noise(t: Losses, d: int, random: np.random.Generator) -> Losses:
    return 0.2 * random.uniform(-1, 1, (len(t), d))


# The losses of rounds t = 0, 1, ..., one row each; after them what the adversary does when it sees the strategy:
# nothing (0), loss 1 for the most likely action (1), or this in even rounds and loss -1 in odd rounds (2)
FAMILIES: dict[str, tuple[Callable[[Losses, int, np.random.Generator], Losses], int]] = {
    "all losses alternate": (_alternating, 0),
    "one loss alternates": (_one_alternates, 0),
    "alternating, one better": (_alternating_favourite, 0),
    "random signs": (_signs, 0),
    "random signs, one better": (_one_better, 0),
    "rotating": (_rotating, 0),
    "slowly switching": (_switching, 0),
    "chirp": (_chirp, 0),
    "against play": (_noise, 1),
    "against and for play": (_noise, 2),
}


@kernel
def _share_spent(settings: Vector, state: Vector) -> float:
    """Return the largest share of its allowance that the hints of a feature have spent."""
    chosen = settings_view(settings)
    size = chosen.size
    own = own_view(reduction(state, size).own, size)
    spent = hints_view(own, size).spent
    largest = 0.0
    for b in range(size * size + 1):
        at = b if b < size else size + b % size if b < size * size else chosen.scales.size - 1
        largest = max(largest, spent[b] / (chosen.guard * chosen.scales[at] * np.sqrt(own.times[b] + 1)))
    return largest


@kernel
def _run(
    play: int,
    observe: int,
    settings: Vector,
    state: Vector,
    strategy: Vector,
    losses: Vector,
    adaptive: int,
    matrix: Vector,
    watch: bool,
) -> float:
    d, largest = strategy.size, 0.0
    for t in range(losses.size // d):
        call_learner(play, settings, state, strategy)
        loss = part(losses, t * d, t * d + d)
        if adaptive > 0:
            loss[np.argmax(strategy)] = -1.0 if adaptive == 2 and t % 2 else 1.0
        add_outer(strategy, loss, matrix)
        call_learner(observe, settings, state, loss)
        if watch:
            largest = max(largest, _share_spent(settings, state))
    return largest


def suffer(player: Learner, family: str, rounds: int, actions: int, seed: int = 0) -> tuple[Losses, float]:
    """Run a learner against a family of losses.

    Returns
    -------
    matrix : ndarray of shape (d, d)
        The sum of p ⊗ l over the rounds, from which all regrets follow.
    share : float
        The largest share of its allowance that the hints of a feature had spent in any round; 0 without hints.
    """
    losses_of, adaptive = FAMILIES[family]
    random = np.random.default_rng(seed)
    settings, state = player.kernel_settings(actions), player.first_state(actions)
    watch = isinstance(player, WaveletOptimistic) and player.guard > 0
    play, observe = (address(function, LEARNER_KERNEL) for function in player.kernels)
    matrix, strategy, share = np.zeros(actions * actions), np.zeros(actions), 0.0
    for start in range(0, rounds, CHUNK):
        t = np.arange(start, min(start + CHUNK, rounds), dtype=np.float64)[:, np.newaxis]
        losses = np.broadcast_to(losses_of(t, actions, random), (len(t), actions)).ravel()
        spent = _run(play, observe, settings, state, strategy, losses.copy(), adaptive, matrix, watch)
        share = max(share, spent)
    return matrix.reshape(actions, actions), share
