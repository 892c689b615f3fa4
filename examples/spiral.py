"""Matching pennies: averages converge with both learners, strategies only with the optimistic one."""

import gamesim
from gamesim import players


def main() -> None:
    for name in ("hedge", "optimistic-hedge"):
        learner = players.make(name, rate=0.1)
        record = gamesim.simulate("matching-pennies", [learner, learner], rounds=5000, start=[[0.9, 0.1], None])
        last = record.trajectory[1][0][-1]
        print(f"{name}: average {record.average[0].round(3)}, last {last.round(3)}, Nash gap {record.nash_gap():.4f}")


if __name__ == "__main__":
    main()
