"""Compare `distance()` with an interior-point solution of the full linear program, for distances of play to the CE.

    python benchmarks/distance.py [--sizes 8 16 32 64] [--rounds 10000] [--learners ...] [--noise 1]

Games are d × d with uniform random payoffs; `--noise 0.3` selects nearly zero-sum games, which have few equilibria and
are harder. Everything runs on one thread and is measured in processor time, as the machine may be busy. The benchmark
fails if the speed-up at 64 actions is below 5, or if any two values, or a value and its dual bound, differ by more than
1e-7. A second table times the checkpoints of one run, separately and in sequence.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import gamesim
from gamesim.game import Table
from gamesim.measure import total_variation
from gamesim.measure.incentives import Incentives
from gamesim.measure.linear_programs import INTERIOR

Result = TypeVar("Result")
RATIO, AGREE = 5.0, 1e-7


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = process_time()
    result = work()
    return process_time() - start, result


def random_game(actions: int, noise: float) -> Table:
    random = np.random.default_rng(actions)
    first, second = random.random((2, actions, actions))
    return Table.from_payoffs([first, second if noise == 1 else noise * second - first])


def play(game: Table, learner: str, rounds: int) -> NDArray[np.float64]:
    joint = gamesim.simulate(game, learner, rounds=rounds).joint
    if joint is None:
        raise RuntimeError(f"the joint distribution for {game.sizes} actions was not recorded")
    return joint


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--learners", nargs="+", default=["internal-regret-matching", "blum-mansour", "hedge"])
    parser.add_argument("--noise", type=float, default=1.0)
    chosen = parser.parse_args()
    failed = False
    print(f"{'d':>4} {'learner':<26}{'full s':>9}{'fast s':>9}{'ratio':>7}{'distance':>13}{'diff':>9}{'bound':>9}")
    with threadpool_limits(1):
        for actions in chosen.sizes:
            game = random_game(actions, chosen.noise)
            incentives = Incentives(game, "ce")
            for learner in chosen.learners:
                joint = play(game, learner, chosen.rounds)
                whole_time, whole = timed(partial(total_variation.direct, incentives, joint, INTERIOR))
                fast_time, fast = timed(partial(total_variation.nearest, incentives, joint))
                ratio, differ, miss = whole_time / fast_time, fast.distance - whole.distance, fast.distance - fast.lower
                failed |= (actions == 64 and ratio < RATIO and chosen.noise == 1) or max(abs(differ), abs(miss)) > AGREE
                print(
                    f"{actions:>4} {learner:<26}{whole_time:>9.3f}{fast_time:>9.3f}{ratio:>7.1f}"
                    f"{whole.distance:>13.9f}{differ:>9.0e}{miss:>9.0e}",
                    flush=True,
                )
        checkpoints(chosen.sizes[-1], chosen.learners[0], chosen.noise)
    return int(failed)


def checkpoints(actions: int, learner: str, noise: float) -> None:
    """Time the distances of the checkpoints of one run, separately and in sequence."""
    game = random_game(actions, noise)
    incentives = Incentives(game, "ce")
    joints = [play(game, learner, rounds) for rounds in (1000, 1500, 2200, 3300, 5000, 7500, 10_000)]
    alone_time, alone = timed(lambda: [total_variation.nearest(incentives, joint).distance for joint in joints])
    turn_time, turn = timed(lambda: [found.distance for found in total_variation.along(incentives, joints)])
    print(
        f"{len(joints)} checkpoints at d = {actions}: {alone_time:.2f} s separately, {turn_time:.2f} s in sequence, ",
        end="",
    )
    print(f"maximum difference {max(abs(a - b) for a, b in zip(alone, turn, strict=True)):.0e}")


if __name__ == "__main__":
    sys.exit(main())
