"""Time per round (play and observe) of every learner, as a multiple of two matrix-vector products, on one thread.

Losses imitate a game that does not converge: random walks in [-1, 1], the same for all learners. Under bandit feedback
all losses except that of a sampled action are NaN. Rounds are timed in short pieces; for each piece the minimum thread
time over several repetitions is used, as the machine may be busy. All learners and the products take turns; a ratio is
the median over the turns, with a 95 % interval. The products do not change with gamesim, so that ratios of two commits
can be compared.

    python benchmarks/learners.py [--rounds AT_16_ACTIONS] [--turns TURNS] [--store]
"""

import argparse
from statistics import median
from time import thread_time

import numpy as np
from numpy.typing import NDArray
from results import Ratio, store
from rounds import products
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from gamesim import games, players
from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel, part
from gamesim.learner import Learner

REPETITIONS = 7
PIECES = 40
PRODUCTS = 640_000  # divided by the number of actions: how often the reference is computed


@kernel
def _run(play: int, observe: int, settings: Vector, state: Vector, strategy: Vector, losses: Vector) -> None:
    d = strategy.size
    for first in range(0, losses.size, d):
        call_learner(play, settings, state, strategy)
        call_learner(observe, settings, state, part(losses, first, first + d))


def microseconds(player: Learner, losses: NDArray[np.float64]) -> float:
    """Return the time per round in microseconds."""
    rounds, actions = losses.shape
    player = player.with_horizon(rounds)
    play, observe = (address(function, LEARNER_KERNEL) for function in player.kernels)
    if player.feedback == ("bandit",):
        seen = np.random.default_rng(0).integers(actions, size=(rounds, 1)) == np.arange(actions)
        losses = np.where(seen, losses, np.nan)
    pieces = np.array_split(losses, max(1, min(PIECES, rounds)))
    times = np.full(len(pieces), np.inf)
    for _ in range(REPETITIONS):
        settings, state = player.kernel_settings(actions), player.first_state(actions)
        for k, piece in enumerate(pieces):
            start = thread_time()
            _run(play, observe, settings, state, np.zeros(actions), piece.ravel())
            times[k] = min(times[k], thread_time() - start)
    return float(1e6 * times.sum() / rounds)


def walk(rounds: int, actions: int) -> NDArray[np.float64]:
    """Return drifting losses: random walks reflected at ±1."""
    steps = np.random.default_rng(1).normal(scale=0.1, size=(rounds, actions))
    return np.abs((np.cumsum(steps, axis=0) + 1) % 4 - 2) - 1


def reference(actions: int) -> float:
    """Return the microseconds of two matrix-vector products, which any round of a two-player game needs."""
    multiplied = products(games.make("uniform", actions=actions, seed=0), PRODUCTS // actions)
    return 1e6 * min(multiplied() for _ in range(REPETITIONS))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20_000, help="with 16 actions; a tenth with 64")
    parser.add_argument("--turns", type=int, default=6, help="measurements of every learner, in turns")
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/learners.jsonl")
    given = parser.parse_args()
    learners = [*players.available(), *(f"blum-mansour {rows}" for rows in ("adahedge", "regret-matching", "hedge"))]
    sizes = {16: given.rounds, 64: max(given.rounds // 10, 10)}
    times: dict[tuple[str, int], list[float]] = {(name, actions): [] for name in learners for actions in sizes}
    bare: dict[int, list[float]] = {actions: [] for actions in sizes}
    with threadpool_limits(1):
        for _ in range(given.turns):
            for actions, rounds in sizes.items():
                losses = walk(rounds, actions)
                bare[actions].append(reference(actions))
                for learner in learners:
                    name, _, rows = learner.partition(" ")
                    one = players.make(name, **({"rows": rows} if rows else {}))
                    times[learner, actions].append(microseconds(one, losses))
    found = {(learner, actions): Ratio.of(took, bare[actions]) for (learner, actions), took in times.items()}
    print(f"{'learner':32}" + "".join(f"{f'd = {d}, µs':>14}{'/ products':>28}{'/ hedge':>9}" for d in sizes))
    for learner in learners:
        cells = ""
        for d in sizes:
            took = median(times[learner, d])
            cells += f"{took:14.3f}{found[learner, d]!s:>28}{took / median(times['hedge', d]):9.2f}"
        print(f"{learner:32}{cells}")
    if given.store:
        store("learners", {f"{learner}, d = {d}, products": one for (learner, d), one in found.items()})


if __name__ == "__main__":
    main()
