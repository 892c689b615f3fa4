"""Certify the regret of a wavelet learner against any deviation, from the gradients that it observed."""

import numpy as np

import gamesim


def main() -> None:
    game = gamesim.games.make("uniform", players=2, actions=8, seed=1)
    record = gamesim.simulate(game, ["wavelet-continuous", "hedge"], rounds=5000, perturb=0.5)
    deviations = {
        "always the first action": np.eye(8)[[0] * 8],
        "the next action": np.roll(np.eye(8), 1, axis=1),
        "the best swap deviation": record.best_deviation(0, "swap"),
    }
    for name, phi in deviations.items():
        regret = record.regret("phi", phi=[phi, phi])[0]
        exact, bound = record.certificate(0, phi, exact=True), record.certificate(0, phi)
        print(f"{name}: regret {regret:.2f}, improper regret {exact:.2f}, certificate {bound:.1f}")
    print(f"guarantee for the worst case: {record.bound(0, 'swap'):.0f}")


if __name__ == "__main__":
    main()
