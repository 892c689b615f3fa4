"""TreeSwap: external-regret learners at several timescales, whose average has small swap regret."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, inlined, kernel, part
from gamesim.engine.layout import Layout
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.numeric import copy, fill
from gamesim.players._kernels.simplex import recall
from gamesim.players.blum_mansour import row_learner
from gamesim.players.hedge import Hedge
from gamesim.validation import MOST_ROUNDS, positive

MOST_LEVELS = 50  # of two blocks each last for as many rounds as a run may have


class Settings(NamedTuple):
    """Kernel settings: the tree, and the node learner's kernel addresses, first state and settings."""

    play: int
    observe: int
    base: int
    depth: int
    size: int  # length of a node learner's state
    first: Vector
    row: Vector


SETTINGS = Layout(
    Settings, "", play="int", observe="int", base="int", depth="int", size="int", first="size", row="rest"
)
_settings_view = SETTINGS.view


class Level(NamedTuple):
    """One level: state and strategy of its current node's learner, and the loss of its current block."""

    learner: Vector
    strategy: Vector
    block: Vector


LEVEL = Layout(Level, "d size", learner="size", strategy="d", block="d")
_level_view = LEVEL.view


class State(NamedTuple):
    """State of TreeSwap."""

    strategy: Vector
    rounds: Vector
    levels: Vector  # from the slowest to the fastest


STATE = Layout(State, strategy="d", rounds="1", levels="rest")
_view = STATE.view


@inlined
def _level(levels: Vector, number: int, d: int, size: int) -> Level:
    width = size + 2 * d
    return _level_view(part(levels, number * width, (number + 1) * width), d, size)


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    d = loss.size
    play, observe, base, depth, size, first, row = _settings_view(settings)
    strategy, counted, levels = _view(state, d)
    counted[0] += 1
    rounds = int(counted[0])
    held = 1  # rounds for which this level holds a strategy
    fastest = _level(levels, depth - 1, d, size)
    for i in range(d):
        fastest.block[i] += loss[i]
    for number in range(depth - 1, -1, -1):
        level = _level(levels, number, d, size)
        if rounds % held != 0:
            break
        if number > 0:
            above = _level(levels, number - 1, d, size)
            for i in range(d):
                above.block[i] += level.block[i]
        if (rounds // held) % base == 0:  # the node is done: the next one starts afresh
            copy(level.learner, first)
        else:
            for i in range(d):
                level.block[i] /= held
            call_learner(observe, row, level.learner, level.block)
        fill(level.block, 0.0)
        call_learner(play, row, level.learner, level.strategy)
        if held > rounds // base:  # no slower level is due; its number of rounds may exceed an integer
            break
        held *= base
    for i in range(d):
        total = 0.0
        for number in range(depth):
            total += _level(levels, number, d, size).strategy[i]
        strategy[i] = total / depth


@dataclass(frozen=True)
class TreeSwap(Learner):
    """Minimise swap regret by averaging learners that run at several timescales.

    Parameters
    ----------
    rows : str or Learner, default "hedge"
        The external-regret learner at the nodes of the tree, by name or with settings. It must learn
        from the loss of every action. By default it is Hedge tuned to `base` rounds.
    base : int, optional
        Number M of blocks that a node plays, and the ratio of the block lengths of successive levels.
    depth : int, optional
        Number D of levels, at most 50.
    horizon : int, optional
        Number of rounds for which `base` and `depth` are chosen, where not given, to minimise the
        bound. A simulation sets it if it is not given.

    Notes
    -----
    Let T = M^D. Write round t with D digits in base M. On level h, the round passes through the node
    named by its first h - 1 digits. The learner of this node holds its strategy for the M^(D-h) rounds
    of one digit, then observes their mean loss, and is restarted after M such blocks. The strategy p is
    the average over the levels.

    A deviation from the strategy of level h cannot beat the best fixed action of its block, which level
    h + 1 follows with regret ε per round over M rounds. The sum telescopes to the bound on swap regret

        T ((1 - 1/D) ε + 2/D)

    References
    ----------
    Dagan, Daskalakis, Fishelson and Golowich (2024), "From external to swap regret 2.0", Theorem 1.1
    and Algorithm 1.

    Peng and Rubinstein (2024), "Fast swap regret minimization and applications to approximate
    correlated equilibria", Theorem 1.1.

    Examples
    --------
    >>> learner = TreeSwap(base=2, depth=2).start(actions=2)
    >>> for _ in range(3):
    ...     learner.observe([1.0, -1.0])
    ...     learner.play().round(3)
    array([0.33, 0.67])
    array([0.33, 0.67])
    array([0.159, 0.841])
    """

    rows: str | Learner = "hedge"
    base: int | None = None
    depth: int | None = None
    horizon: int | None = None

    name = "treeswap"
    kernels = recall, _observe
    state_layout = STATE

    def __post_init__(self) -> None:
        positive("base", self.base, most=MOST_ROUNDS)
        positive("depth", self.depth, most=MOST_LEVELS)
        positive("horizon", self.horizon, most=MOST_ROUNDS)
        row_learner(self.rows)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        base, depth = self.shape(actions)
        row = self._row(actions, base)
        play, observe = (address(function, LEARNER_KERNEL) for function in row.kernels)
        first = row.first_state(actions)
        return SETTINGS.pack(
            play=play,
            observe=observe,
            base=base,
            depth=depth,
            size=first.size,
            first=first,
            row=row.kernel_settings(actions),
        )

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        base, depth = self.shape(actions)
        row = self._row(actions, base)
        learner, strategy = row.first_state(actions), row.start(actions).play()
        level = LEVEL.pack(actions, learner.size, learner=learner, strategy=strategy)
        return STATE.pack(actions, strategy=strategy, levels=np.tile(level, depth))

    def shape(self, actions: int, rounds: int | None = None) -> tuple[int, int]:
        """Return base and depth as given, or those that minimise the bound for the horizon."""
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
        rounds = float(min(base**depth, 10**300))  # beyond this the bound is trivial, and no float
        return rounds * ((1 - 1 / depth) * external / base + 2 / depth)

    def guarantee(self) -> Guarantee:  # noqa: D102
        def bound(rounds: int, actions: int) -> float:
            base, depth = self.shape(actions, self.horizon or rounds)
            whole = base**depth
            return min(2 * rounds, self._bound(actions, base, depth)) if rounds <= whole else 2 * rounds

        return Guarantee("swap", "T (1 - 1/D) ε + 2 T / D, ε the rows' bound per round over M rounds, T = M^D", bound)


def _root(rounds: int, depth: int) -> int:
    """Return the least base with base^depth ≥ rounds."""
    base = max(1, int(rounds ** (1 / depth)) - 1)
    while base**depth < rounds:
        base += 1
    return base
