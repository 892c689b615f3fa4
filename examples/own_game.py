"""Define a game with three players, and compare the payoffs of its equilibria with those of learning."""

import numpy as np

import gamesim
from gamesim import equilibrium, games


def main() -> None:
    random = np.random.default_rng(3)
    payoffs = random.uniform(0, 1, (3, 2, 4, 3))  # one table per player, with one axis per player
    game = games.from_payoffs(*payoffs, players=["Ann", "Bob", "Cem"], name="random game")
    record = gamesim.simulate(game, ["hedge", "wavelet", "regret-matching-plus"], rounds=5000)
    for name, payoff, regret in zip(game.players, record.payoffs, record.regret("swap"), strict=True):
        print(f"{name}: payoff {payoff:.3f}, swap regret per round {regret / record.rounds:.4f}")
    for kind in ("ce", "cce"):
        low, high = equilibrium.welfare_range(game, kind)
        print(f"{kind.upper()}: total payoff {low:.3f} to {high:.3f}; this run: {record.welfare:.3f}")


if __name__ == "__main__":
    main()
