"""Shapley's game with learners of two kinds: all come to the coarse correlated equilibria, some to the correlated."""

import gamesim

LEARNERS = ("hedge", "regret-matching", "internal-regret-matching", "blum-mansour", "wavelet-continuous")


def main() -> None:
    print(f"{'learner':26}{'CCE gap':>10}{'CE gap':>10}{'payoff':>10}")
    for name in LEARNERS:
        record = gamesim.simulate("shapley", name, rounds=20_000, perturb=0.2)
        print(f"{name:26}{record.gap('cce'):10.4f}{record.gap('ce'):10.4f}{record.welfare:10.3f}")


if __name__ == "__main__":
    main()
