"""What the wavelet learner proves: a bound on its regret against any deviation, from the gradients that it saw."""

import numpy as np

import gamesim


def main() -> None:
    game = gamesim.games.make("uniform", players=2, actions=8, seed=1)
    record = gamesim.simulate(game, ["wavelet-continuous", "hedge"], rounds=5000, perturb=0.5)
    deviations = {
        "always the first action": np.eye(8)[[0] * 8],
        "one further": np.roll(np.eye(8), 1, axis=1),
        "the best swap": record.best_deviation(0, "swap"),
    }
    for name, phi in deviations.items():
        print(f"{name}: regret {record.regret('phi', phi=[phi, phi])[0]:.2f}, proven {record.certificate(0, phi):.1f}")
    print(f"declared for the worst case: {record.bound(0, 'swap'):.0f}")


if __name__ == "__main__":
    main()
