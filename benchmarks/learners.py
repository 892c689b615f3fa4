"""Time per round (play and observe) of every learner, relative to Hedge and wavelet, on one thread.

Losses imitate a game that does not converge: random walks in [-1, 1], the same for all learners. Under bandit feedback
all losses except that of a sampled action are NaN. Rounds are timed in short pieces; for each piece the minimum thread
time over several repetitions is used, as the machine may be busy.

    python benchmarks/learners.py [--rounds AT_16_ACTIONS] [--store]
"""

import argparse
from time import thread_time

import numpy as np
from numpy.typing import NDArray
from results import Ratio, store

from gamesim import players
from gamesim.engine.compiled import LEARNER_KERNEL, Vector, address, call_learner, kernel, part
from gamesim.learner import Learner

REPETITIONS = 7
PIECES = 40


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20_000, help="with 16 actions; a tenth with 64")
    parser.add_argument("--store", action="store_true", help="append the ratios to benchmarks/results/learners.jsonl")
    given = parser.parse_args()
    at_16 = given.rounds
    learners = [*players.available(), *(f"blum-mansour {rows}" for rows in ("adahedge", "regret-matching", "hedge"))]
    times: dict[str, list[float]] = {name: [] for name in learners}
    for actions, rounds in ((16, at_16), (64, max(at_16 // 10, 10))):
        losses = walk(rounds, actions)
        microseconds(players.make("hedge"), losses)  # warm up the processor
        for learner in learners:
            name, _, rows = learner.partition(" ")
            times[learner].append(microseconds(players.make(name, **({"rows": rows} if rows else {})), losses))
    print(f"{'µs per round':32}" + "".join(f"{f'd = {d}':>10}{'/ hedge':>9}{'/ wavelet':>10}" for d in (16, 64)))
    for learner, measured in times.items():
        cells = "".join(
            f"{time:10.3f}{time / times['hedge'][k]:9.2f}{time / times['wavelet'][k]:10.2f}"
            for k, time in enumerate(measured)
        )
        print(f"{learner:32}{cells}")
    if given.store:
        of_hedge = times["hedge"]
        cases = {
            f"{learner}, d = {d}, hedge": Ratio.of([measured[k]], [of_hedge[k]])
            for learner, measured in times.items()
            for k, d in enumerate((16, 64))
        }
        store("learners", cases)


if __name__ == "__main__":
    main()
