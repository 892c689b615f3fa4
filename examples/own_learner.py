"""Define a learner and play it against built-in ones: follow the leader loses to an opponent that anticipates it."""

import numpy as np
from numpy.typing import NDArray

import gamesim


class FollowTheLeader:
    """Play the action with the smallest total loss so far."""

    def __init__(self, actions: int) -> None:
        self.total = np.zeros(actions)

    def play(self) -> NDArray[np.float64]:
        """Return the pure strategy of the best action so far."""
        strategy: NDArray[np.float64] = np.eye(len(self.total))[self.total.argmin()]
        return strategy

    def observe(self, loss: NDArray[np.float64]) -> None:
        """Add the losses of a round."""
        self.total += loss


def main() -> None:
    for opponent in ("hedge", "best-response"):
        record = gamesim.simulate("matching-pennies", [FollowTheLeader, opponent], rounds=1000)
        print(f"against {opponent}: payoff {record.payoffs[0]:.2f}, external regret {record.regret('external')[0]:.0f}")


if __name__ == "__main__":
    main()
