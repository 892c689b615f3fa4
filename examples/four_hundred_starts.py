"""Start the replicator dynamics at 400 points of the square in one call, and see where they end."""

import numpy as np

import gamesim


def main() -> None:
    record = gamesim.simulate("battle-of-the-sexes", "replicator", rounds=3000, replicas=400, start="grid")
    starts = np.stack([strategies[:, 0, 0] for strategies in record.trajectory[1]], axis=1)
    ends = np.stack([strategies[:, 0] for strategies in record.last], axis=1)
    for name, at in (("both play the first action", [1, 1]), ("both play the second action", [0, 0])):
        there = np.abs(ends - at).max(axis=1) < 0.01
        print(f"{name}: {there.sum()} of {len(ends)}, mean start {starts[there].mean(axis=0).round(2)}")
    between = np.abs(ends - ends.round()).max(axis=1) >= 0.01
    print(
        f"neither: {between.sum()}, which started between the basins and end at {ends[between].mean(axis=0).round(2)}"
    )


if __name__ == "__main__":
    main()
