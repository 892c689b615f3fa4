"""From external to swap regret: how much each family of deviations would have gained, by how simple it is."""

import gamesim


def main() -> None:
    game = gamesim.games.make("uniform", players=2, actions=[6, 5], seed=4)
    record = gamesim.simulate(game, ["hedge", "hedge"], rounds=5000, perturb=0.5)
    together, alone = record.profile(0)
    print("k    all but k-1 actions to one place    all but k actions left alone")
    for k, (one, other) in enumerate(zip(together, alone, strict=True), start=1):
        print(f"{k}    {one:32.2f}    {other:28.2f}")
    print(f"external {record.regret('external')[0]:.2f}, internal {record.regret('internal')[0]:.2f}, ", end="")
    print(f"swap {record.regret('swap')[0]:.2f}")


if __name__ == "__main__":
    main()
