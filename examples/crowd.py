"""Let a hundred drivers choose routes through a road network, a game far too large for a payoff table."""

import gamesim


def main() -> None:
    game = gamesim.games.make("routing", players=100)
    for learner in ("hedge", "regret-matching-plus"):
        record = gamesim.simulate(game, learner, rounds=2000, perturb=0.2)
        print(f"{learner}: {len(game.players)} drivers, average travel time {-record.welfare / 100:.3f}; ", end="")
        print(f"no driver would save more than {record.gap('cce'):.4f} per round by keeping to one route")


if __name__ == "__main__":
    main()
