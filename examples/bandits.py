"""Compare full-information and bandit feedback in the prisoner's dilemma: how much slower is bandit learning?"""

import gamesim
from gamesim import players

CASES = [(name, feedback) for name in ("hedge", "exp3", "tsallis-inf") for feedback in players.make(name).feedback]


def main() -> None:
    for learner, feedback in CASES:
        record = gamesim.simulate("prisoners-dilemma", learner, rounds=5000, feedback=feedback, replicas=10)
        share = record.average[0][:, 1].mean()
        print(f"{learner:12}{feedback:10} the first player defects in {share:6.1%} of the rounds, ", end="")
        print(f"CE gap {record.gap('ce').mean():.3f}")


if __name__ == "__main__":
    main()
