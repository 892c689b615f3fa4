"""A hundred drivers find their ways through a road graph: a game that is far too large for a table of payoffs."""

import gamesim


def main() -> None:
    game = gamesim.games.make("routing", players=100)
    for learner in ("hedge", "regret-matching-plus"):
        record = gamesim.simulate(game, learner, rounds=2000, perturb=0.2)
        print(f"{learner}: {len(game.players)} drivers need {-record.welfare / 100:.3f} each a round, ", end="")
        print(f"and nobody would gain more than {record.gap('cce'):.4f} by one way throughout")


if __name__ == "__main__":
    main()
