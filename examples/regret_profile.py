"""Print a regret profile: the regret against growing classes of deviations, from external and internal to swap."""

import gamesim


def main() -> None:
    game = gamesim.games.make("uniform", players=2, actions=[6, 5], seed=4)
    record = gamesim.simulate(game, ["hedge", "hedge"], rounds=5000, perturb=0.5)
    together, alone = record.profile(0)
    print("k    all but k-1 actions sent to one action    all but k actions unchanged")
    for k, (one, other) in enumerate(zip(together, alone, strict=True), start=1):
        print(f"{k}    {one:38.2f}    {other:27.2f}")
    print(f"external {record.regret('external')[0]:.2f}, internal {record.regret('internal')[0]:.2f}, ", end="")
    print(f"swap {record.regret('swap')[0]:.2f}")


if __name__ == "__main__":
    main()
