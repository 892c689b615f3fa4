"""Adversaries for rates in T: some leave room to learn, some do not.

- "fixed gap": losses are ±1; one action has mean -`GAP`, the others 0.
- "shifting": the same, but the good action changes after every eighth of the rounds.
- "adaptive": the adversary sees the strategy and chooses the signs of the losses that maximise swap regret after the
  round, by trying all of them but equal ones, which change no regret. Ties are broken by chance.
- "live pairs": actions form pairs, and one pair is live until it has been played with total mass 2T/d. One action of
  the live pair, chosen by a fair coin, loses 1 and the other gains 1; all other actions lose 1. Whatever a learner
  plays, its expected swap regret is of order √(dT): avoiding the live pair costs 1 per round, and its coins cannot be
  predicted. (After the lower bound of Blum and Mansour 2007; Ito 2020 sharpens it to √(dT ln d).)
- "edge √(1/T)": as "fixed gap", but with a gap of √(d ln d / T). A control: it makes every learner look like √T.
"""

from math import log, sqrt

import numpy as np

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel, part
from gamesim.learner import Learner
from gamesim.wavelet_theorem.drivers import CHUNK, Matrix, add_outer, flip

GAP = 0.2
SHIFTS = 8
FIXED, SHIFTING, ADAPTIVE, PAIRS, EDGE = INSTANCES = (
    "fixed gap", "shifting", "adaptive", "live pairs", "edge √(1/T)"
)  # fmt: skip


@kernel
def worst_signs(strategy: Vector, matrix: Vector, chance: float, loss: Vector) -> None:
    """Write the losses in {-1, 1}, not all equal, after which swap regret, given Σ p ⊗ l so far, is largest.

    The bits of a number mark the losses that are 1. Row by row, least entries over sets follow from smaller sets.
    """
    d = strategy.size
    last = (1 << d) - 1
    totals, least = np.zeros(1 << d), np.full(1 << d, np.inf)
    for i in range(d):
        p = strategy[i]
        for j in range(d):
            entry = matrix[i * d + j]
            for signs in range(1 << j):
                least[(1 << j) + signs] = min(entry, least[signs])
        for signs in range(1 << d):
            own = p if signs >> i & 1 else -p
            totals[signs] += own - min(least[signs] + p, least[last - signs] - p)
    best, chosen, start = -np.inf, 1, int(chance * last)
    for k in range(last):
        signs = start + k if start + k < last else start + k - last
        if signs > 0 and totals[signs] > best + 1e-12:
            best, chosen = totals[signs], signs
    for j in range(d):
        loss[j] = 1.0 if chosen >> j & 1 else -1.0


@kernel
def run_adversary(
    play: int,
    observe: int,
    settings: Vector,
    state: Vector,
    strategy: Vector,
    instance: int,
    first: int,
    rounds: int,
    order: Vector,
    points: Vector,
    live: Vector,
    matrix: Vector,
) -> None:
    """Play a chunk of rounds from round `first` on and add p ⊗ l to `matrix`.

    `order` permutes the actions; `live` holds the gap, the live pair and its mass.
    """
    d = strategy.size
    loss, mean = np.zeros(d), np.zeros(d)
    for t in range(points.size // d):
        call_learner(play, settings, state, strategy)
        chance = part(points, t * d, t * d + d)
        if instance == 3:
            pair = int(live[1])
            loss[:] = 1.0
            loss[int(order[2 * pair + (1 if chance[0] < 0.5 else 0)])] = -1.0
            live[2] += strategy[int(order[2 * pair])] + strategy[int(order[2 * pair + 1])]
            if live[2] >= 2 * rounds / d and pair < d // 2 - 1:
                live[1], live[2] = pair + 1, 0.0
        elif instance == 2:
            worst_signs(strategy, matrix, chance[0], loss)
        else:
            shift = (first + t) * SHIFTS // rounds if instance == 1 else 0
            mean[:] = 0.0
            mean[int(order[shift % d])] = -live[0]
            flip(mean, chance, loss)
        add_outer(strategy, loss, matrix)
        call_learner(observe, settings, state, loss)


def suffered(player: Learner, instance: str, actions: int, rounds: int, seed: list[int]) -> Matrix:
    """Return Σ p ⊗ l of a learner against an adversary."""
    random = np.random.default_rng(seed)
    order = random.permutation(actions).astype(np.float64)
    gap = min(sqrt(actions * log(actions) / rounds), 1.0) if instance == EDGE else GAP
    tuned = player.with_horizon(rounds)
    play, observe = (address(function, LEARNER_KERNEL) for function in tuned.kernels)
    settings, state = tuned.kernel_settings(actions), tuned.first_state(actions)
    strategy, matrix, live = np.zeros(actions), np.zeros(actions * actions), np.array([gap, 0.0, 0.0])
    for first in range(0, rounds, CHUNK // actions):
        points = random.random(min(CHUNK // actions, rounds - first) * actions)
        run_adversary(
            play, observe, settings, state, strategy, INSTANCES.index(instance), first, rounds, order, points, live,
            matrix,
        )  # fmt: skip
    return matrix.reshape(actions, actions)
