"""Compare Hedge and optimistic Hedge in matching pennies: only with optimism do the strategies converge."""

import gamesim
from gamesim import players


def main() -> None:
    for name in ("hedge", "optimistic-hedge"):
        learner = players.make(name, rate=0.1)
        record = gamesim.simulate("matching-pennies", [learner, learner], rounds=5000, opening=[[0.9, 0.1], None])
        average, last = record.average[0], record.trajectory[1][0][-1]
        print(f"{name}: average strategy {average.round(3)}, last strategy {last.round(3)}, ", end="")
        print(f"Nash gap of the average strategies {record.nash_gap():.4f}")


if __name__ == "__main__":
    main()
