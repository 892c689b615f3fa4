"""Compare gaps in Shapley's game: every learner's CCE gap vanishes, but the CE gap only with bounded swap regret."""

import gamesim

LEARNERS = ("hedge", "regret-matching", "internal-regret-matching", "blum-mansour", "wavelet-continuous")


def main() -> None:
    print(f"{'learner':26}{'CCE gap':>10}{'CE gap':>10}{'total payoff':>14}")
    for name in LEARNERS:
        record = gamesim.simulate("shapley", name, rounds=20_000, perturb=0.2)
        print(f"{name:26}{record.gap('cce'):10.4f}{record.gap('ce'):10.4f}{record.welfare:14.3f}")


if __name__ == "__main__":
    main()
