"""Swap regret of the wavelet learner with three orders of actions: as given, spectral and random.

Run `python benchmarks/order.py`, optionally with the number of seeds (default 24) as an argument. For each family of
games and each opponent it prints the median swap regret of the first player with each order, in units of loss, the
median difference between the spectral order and the order as given, paired by seed, in how many seeds the spectral
order has less regret, and the p-value of a sign test with Holm's correction for all comparisons. The families:

- ordered: payoffs smooth in the actions (the generator `ordered-action`, 16 actions);
- shuffled: the same games, with the actions of all players in random order;
- rooms: the game of the scenario `ordered-well`, in which all places in a room have the same payoffs, shuffled;
- random: independent payoffs (the generator `uniform`, 16 actions).
"""

import sys
from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

import gamesim
from gamesim import games, players, scenario
from gamesim.game import Table

ROUNDS = 4000
OPPONENTS = ("itself", "best-response", "adversary")
FAMILIES = ("ordered", "shuffled", "rooms", "random")
ORDERS = ("given", "spectral", "random")


def game_of(family: str, seed: int) -> Table:
    """Return a game of a family."""
    payoffs: NDArray[np.float64]
    if family == "random":
        return games.make("uniform", actions=16, seed=seed)
    if family == "rooms":
        payoffs = scenario.read(scenario.find("ordered-well")).played_game.arrays()["payoffs"]
    else:
        payoffs = games.make("ordered-action", actions=16, seed=seed).payoffs
    if family != "ordered":
        random = np.random.default_rng(seed)
        rows, columns = (random.permutation(size) for size in payoffs.shape[1:])
        payoffs = payoffs[:, rows][:, :, columns]
    return Table.from_payoffs(payoffs, name=family)


def regret(game: Table, opponent: str, order: str, seed: int) -> float:
    """Return the total swap regret of the first player in units of loss."""
    permutation = tuple(np.random.default_rng(1000 + seed).permutation(16).tolist())
    chosen = {"given": None, "spectral": "spectral", "random": permutation}[order]
    learner = players.make("wavelet-continuous", order=chosen)
    other = players.make("wavelet-continuous" if opponent == "itself" else opponent)
    record = gamesim.simulate(game, [learner, other], ROUNDS, seed=seed, perturb=0.3)
    return float(record.regret("swap")[0] / game.scale[0])


def compare(seeds: int) -> Iterator[tuple[str, str, NDArray[np.float64]]]:
    """Yield the regrets of all seeds (rows) and orders (columns), for each family and opponent."""
    for family, opponent in product(FAMILIES, OPPONENTS):
        found = []
        for seed in range(seeds):
            game = game_of(family, seed)
            found.append([regret(game, opponent, order, seed) for order in ORDERS])
        yield family, opponent, np.array(found)


def main() -> None:
    """Print the table."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    cells = list(compare(seeds))
    wins = [int((found[:, 1] < found[:, 0] * (1 - 1e-9)).sum()) for *_, found in cells]
    losses = [int((found[:, 1] > found[:, 0] * (1 + 1e-9)).sum()) for *_, found in cells]
    p = np.array(
        [binomtest(won, won + lost).pvalue if won + lost else 1.0 for won, lost in zip(wins, losses, strict=True)]
    )
    ranks = np.argsort(p)
    holm = np.empty(len(p))
    holm[ranks] = np.minimum(1, np.maximum.accumulate(p[ranks] * (len(p) - np.arange(len(p)))))
    print(f"{'family':9} {'opponent':14} {'given':>7} {'spectral':>8} {'random':>7} {'difference':>11}  wins      p")
    for at, (family, opponent, found) in enumerate(cells):
        given, spectral, random = np.median(found, axis=0)
        print(
            f"{family:9} {opponent:14} {given:7.2f} {spectral:8.2f} {random:7.2f} "
            f"{np.median(found[:, 1] - found[:, 0]):11.3f}  {wins[at]:2}/{wins[at] + losses[at]:2}  {holm[at]:.3f}"
        )


if __name__ == "__main__":
    main()
