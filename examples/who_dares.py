"""Play chicken twenty times: luck decides which player dares, but the total payoff is almost the same."""

import gamesim
from gamesim import equilibrium


def main() -> None:
    record = gamesim.simulate("chicken", "hedge", rounds=5000, replicas=20, perturb=0.5)
    first = sum(payoffs[0] > payoffs[1] for payoffs in record.payoffs)
    print(f"the first player dares in {first} of 20 runs, the second in {20 - first}")
    print(f"total payoff: {record.welfare.min():.2f} to {record.welfare.max():.2f}")
    low, high = equilibrium.welfare_range(record.game, "ce")
    print(f"total payoff of correlated equilibria: {low:.2f} to {high:.2f}")


if __name__ == "__main__":
    main()
