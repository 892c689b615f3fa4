"""Run Hedge without a game, on random losses, and print its regret after each power of ten."""

import numpy as np

from gamesim import players


def main() -> None:
    learner = players.make("hedge").start(actions=4)
    random = np.random.default_rng(0)
    incurred, totals = 0.0, np.zeros(4)
    for t in range(1, 10_001):
        loss = random.uniform(-1, 1, 4) - [0, 0, 0.1, 0]  # the third action is slightly better
        loss = np.clip(loss, -1, 1)
        incurred += float(learner.play() @ loss)
        totals += loss
        learner.observe(loss)
        if t in (10, 100, 1000, 10_000):
            regret = incurred - totals.min()
            print(f"{t:6} rounds: regret {regret:6.1f}, per round {regret / t:.4f}, ", end="")
            print(f"strategy {learner.play().round(2)}")


if __name__ == "__main__":
    main()
