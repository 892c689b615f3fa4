"""TreeSwap: external-regret learners at several paces, whose average has little swap regret."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from gamesim.players.blum_mansour import row_learner
from gamesim.players.hedge import Hedge
from gamesim.players.regret_matching import recall, uniform_then

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel
from gamesim.learner import Guarantee, Learner
from gamesim.validation import positive


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    play, observe, base, depth, size = settings[0], settings[1], int(settings[2]), int(settings[3]), int(settings[4])
    state[d] += 1
    rounds = int(state[d])
    width = size + 2 * d  # a level: its learner, its strategy, and the loss of its current block
    held = 1  # rounds that the strategy of this level is held for
    level = d + 1 + (depth - 1) * width
    for i in range(d):
        state[level + size + d + i] += loss[i]
    for above in range(depth - 1, -1, -1):
        strategy, block = level + size, level + size + d
        if rounds % held != 0:
            break
        if above > 0:
            for i in range(d):
                state[block - width + i] += state[block + i]
        if rounds % (held * base) == 0:  # the node is done: its sister starts anew
            for i in range(size):
                state[level + i] = settings[5 + i]
        else:
            for i in range(d):
                state[block + i] /= held
            call_learner(
                int(observe), settings, 5 + size, settings.size, state, level, level + size, state, block, block + d
            )
        for i in range(d):
            state[block + i] = 0.0
        call_learner(
            int(play), settings, 5 + size, settings.size, state, level, level + size, state, strategy, strategy + d
        )
        held *= base
        level -= width
    for i in range(d):
        total = 0.0
        for h in range(depth):
            total += state[d + 1 + h * width + size + i]
        state[i] = total / depth


@dataclass(frozen=True)
class TreeSwap(Learner):
    """Play the average of `depth` learners, each on blocks `base` times as long as the next one's.

    Let T = M^D with M the `base` and D the `depth`. Round t, written with D digits in base M, passes on level h through
    the node that its first h - 1 digits name. The node's learner, of the kind that `rows` names, holds its strategy for
    the M^(D-h) rounds of one digit, is then fed their mean loss, and is done after M of these; p is the average over
    the levels. A deviation from level h's strategy cannot beat the best fixed action of its block, which level h + 1
    follows with regret ε a round, over M rounds: the sum telescopes to swap regret ≤ T ((1 - 1/D) ε + 2/D). Hedge as
    `rows` is tuned to M. What is not given of base and depth is chosen for the `horizon`, so that this bound is least.

    Reference: Dagan, Daskalakis, Fishelson and Golowich (2024), "From external to swap regret 2.0", Theorem 1.1 and
    Algorithm 1; Peng and Rubinstein (2024), "Fast swap regret minimization and applications to approximate correlated
    equilibria", Theorem 1.1.

    >>> learner = TreeSwap(base=2, depth=2).start(actions=2)
    >>> for _ in range(3):
    ...     learner.observe([1.0, -1.0])
    ...     learner.play().round(3)
    array([0.33, 0.67])
    array([0.33, 0.67])
    array([0.159, 0.841])
    """

    rows: str = "hedge"
    base: int | None = None
    depth: int | None = None
    horizon: int | None = None

    name = "treeswap"
    kernels = recall, _observe

    def __post_init__(self) -> None:
        for name in ("base", "depth", "horizon"):
            positive(name, getattr(self, name))
        row_learner(self.rows)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        base, depth = self.shape(actions)
        row = self._row(actions, base)
        play, observe = (address(function, LEARNER_KERNEL) for function in row.kernels)
        first = row.first_state(actions)
        return np.concatenate([[play, observe, base, depth, first.size], first, row.kernel_settings(actions)])

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        base, depth = self.shape(actions)
        row = self._row(actions, base)
        level = np.concatenate([row.first_state(actions), np.zeros(2 * actions)])
        level[-2 * actions : -actions] = row.start(actions).play()
        whole = np.concatenate([uniform_then(actions, 1), np.tile(level, depth)])
        whole[:actions] = level[-2 * actions : -actions]
        return whole

    def shape(self, actions: int, rounds: int | None = None) -> tuple[int, int]:
        """Return base and depth: as given, or best for the horizon."""
        if self.base is not None and self.depth is not None:
            return self.base, self.depth
        rounds = rounds or self.required_horizon()
        if self.base is not None:
            return self.base, next(depth for depth in range(1, rounds + 1) if max(self.base, 2) ** depth >= rounds)
        depths = range(1, 1 + max(1, (rounds - 1).bit_length())) if self.depth is None else [self.depth]
        return min(((_root(rounds, depth), depth) for depth in depths), key=lambda shape: self._bound(actions, *shape))

    def _row(self, actions: int, base: int) -> Learner:
        if self.rows == "hedge" and actions > 1:
            return Hedge(rate=sqrt(2 * log(actions) / base))
        return row_learner(self.rows, base)

    def _bound(self, actions: int, base: int, depth: int) -> float:
        promised = self._row(actions, base).guarantee()
        bound = promised.bound_on("external", base, actions) if promised is not None else None
        external = 2 * base if bound is None else bound
        return float(base**depth * ((1 - 1 / depth) * external / base + 2 / depth))

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            base, depth = self.shape(actions, self.horizon or rounds)
            whole = base**depth
            return min(2 * rounds, self._bound(actions, base, depth)) if rounds <= whole else 2 * rounds

        return Guarantee("swap", "T (1 - 1/D) ε + 2 T / D, ε the rows' bound a round over M rounds, T = M^D", bound)


def _root(rounds: int, depth: int) -> int:
    """Return the least base with base^depth ≥ rounds."""
    base = max(1, int(rounds ** (1 / depth)) - 1)
    while base**depth < rounds:
        base += 1
    return base
