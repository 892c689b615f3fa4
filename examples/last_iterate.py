"""Measure the last strategies along a run: optimism makes them converge, and a user-defined measure shows it."""

import numpy as np
from scipy.stats import sem, t

import gamesim
from gamesim.measure import Moment


def distance_to_uniform(moment: Moment) -> float:
    """Return the total variation of the first player's last strategy from the equilibrium, which is uniform."""
    played = moment.sums.last[: moment.game.sizes[0]]
    return float(np.abs(played - 1 / len(played)).sum() / 2)


def main() -> None:
    print("distance of the last strategy to the equilibrium: mean over 20 starts, and its 95 % interval")
    for learner in ("hedge:rate=0.1", "optimistic-hedge:rate=0.1"):
        record = gamesim.simulate("rock-paper-scissors", learner, 5000, replicas=20, start="random")
        values = record.curve.measure(distance_to_uniform)  # one row per replica, one column per checkpoint
        for rounds in (10, 100, 1000, 5000):
            at = values[:, record.curve.rounds == rounds].ravel()
            print(f"{learner}, round {rounds:,}: {at.mean():.3f} ± {t.ppf(0.975, len(at) - 1) * sem(at):.3f}")


if __name__ == "__main__":
    main()
