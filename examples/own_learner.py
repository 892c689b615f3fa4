"""A learner of one's own, against one of gamesim's: follow the leader loses to whoever is a step ahead."""

import numpy as np
from numpy.typing import NDArray

import gamesim


class FollowTheLeader:
    """Play the action that would have been best so far."""

    def __init__(self, actions: int) -> None:
        self.total = np.zeros(actions)

    def play(self) -> NDArray[np.float64]:
        """Return all mass on the best action so far."""
        strategy: NDArray[np.float64] = np.eye(len(self.total))[self.total.argmin()]
        return strategy

    def observe(self, loss: NDArray[np.float64]) -> None:
        """Add up the losses."""
        self.total += loss


def main() -> None:
    for other in ("hedge", "best-response"):
        record = gamesim.simulate("matching-pennies", [FollowTheLeader, other], rounds=1000)
        print(f"against {other}: payoff {record.payoffs[0]:.2f}, external regret {record.regret('external')[0]:.0f}")


if __name__ == "__main__":
    main()
