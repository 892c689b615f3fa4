"""Families of random games: the same seed and settings give the same game, always."""

from collections.abc import Sequence

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import crowd, numbered, table_sizes, tabulate
from gamesim.validation import at_least


def uniform(players: int = 2, actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """Draw every payoff independently and uniformly from [0, 1]: a game without structure.

    Source: the plainest of GAMUT's families (Nudelman, Wortman, Shoham and Leyton-Brown, 2004, "RandomGame").
    Teaches: what learners do when nothing is built in; coarse and correlated equilibria are usually many.

    >>> uniform(players=3, actions=[2, 3, 4], seed=1).payoffs.shape
    (3, 2, 3, 4)
    """
    sizes = table_sizes(players, actions)
    payoffs = np.random.default_rng(seed).random((players, *sizes))
    return Table.from_payoffs(payoffs, name="uniform")


def zero_sum(actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """Draw one player's payoffs uniformly from [-1, 1]; the other loses what this one wins.

    Source: von Neumann (1928).
    Teaches: average play of no-regret learners converges to optimal strategies, at rates that differ by orders.

    >>> zero_sum(actions=[2, 3], seed=1).payoffs[:, 0, 2].round(2).tolist()
    [-0.71, 0.71]
    """
    sizes = table_sizes(2, actions)
    won = np.random.default_rng(seed).uniform(-1, 1, sizes)
    return Table.from_payoffs([won, -won], name="zero-sum")


def covariant(players: int = 2, actions: int | Sequence[int] = 4, correlation: float = 0.0, seed: int = 0) -> Table:
    """Draw normal payoffs with one correlation between the players in each cell, from zero-sum to common interest.

    With two players -1 is zero-sum and 1 is common interest; with n players the least correlation is -1/(n - 1).

    Source: Rinott and Scarsini (2000), "On the number of pure strategy Nash equilibria in random games"; GAMUT's
    "CovariantGame".
    Teaches: the more the interests agree, the more pure equilibria there are.

    >>> game = covariant(players=2, actions=[40, 50], correlation=0.7, seed=1)
    >>> round(float(np.corrcoef(game.payoffs[0].ravel(), game.payoffs[1].ravel())[0, 1]), 2)
    0.68
    """
    sizes = table_sizes(players, actions)
    least = -1 / (players - 1) if players > 1 else -1.0
    if not least <= correlation <= 1:
        raise InputError(f"the correlation of {players} players must lie in [{least:.3g}, 1], and {correlation} came")
    draws = np.random.default_rng(seed).standard_normal((players, *sizes))
    common = draws.mean(axis=0)
    # The mean and the differences from it are independent; weighting them apart sets variance 1 and the correlation.
    together = np.sqrt(max(0.0, 1 + (players - 1) * correlation))
    payoffs = np.sqrt(1 - correlation) * (draws - common) + together * common
    return Table.from_payoffs(payoffs, name="covariant")


def potential(players: int = 3, actions: int | Sequence[int] = 3, conflict: float = 1.0, seed: int = 0) -> Table:
    """Draw a game in which one function, the potential, gives everyone's gain from any change of their own action.

    Payoffs are a uniform potential plus `conflict` times a uniform term that the player cannot influence.

    Source: Monderer and Shapley (1996), "Potential games".
    Teaches: single players' improvements always end in a pure equilibrium; how good it is for all is another
    matter.

    >>> game = potential(players=2, actions=[3, 4], seed=1)
    >>> apart = game.payoffs[0] - game.payoffs[1]  # a term of the row plus one of the column
    >>> bool(np.allclose(np.diff(np.diff(apart, axis=0), axis=1), 0))
    True
    """
    sizes = table_sizes(players, actions)
    at_least("conflict", conflict, 0)
    random = np.random.default_rng(seed)
    shared = random.random(sizes)
    payoffs = np.empty((players, *sizes))
    for i in range(players):
        without_own = tuple(1 if j == i else size for j, size in enumerate(sizes))
        payoffs[i] = shared + conflict * random.random(without_own)
    return Table.from_payoffs(payoffs, name="potential")


def congestion(players: int = 3, actions: int = 3, resources: int = 4, seed: int = 0) -> Table:
    """Draw a congestion game: each action uses some resources, which cost more the more players use them.

    Every action is a random non-empty set of resources; a resource with k users costs each of them slope · k + toll,
    both uniform in [0, 1]. Payoffs are -cost.

    Source: Rosenthal (1973), "A class of games possessing pure-strategy Nash equilibria".
    Teaches: potential games with a price of anarchy of at most 5/2, also for coarse correlated equilibria.

    >>> game = congestion(players=2, actions=3, seed=1)
    >>> game.payoffs[:, 0, 2].round(2).tolist()
    [-1.6, -3.29]
    """
    at_least("actions", actions, 1)
    at_least("resources", resources, 1)
    sizes = table_sizes(players, actions)
    random = np.random.default_rng(seed)
    uses = random.random((players, actions, resources)) < 0.5
    empty = ~uses.any(axis=2)
    uses[empty, random.integers(resources, size=int(empty.sum()))] = True
    slope, toll = random.random(resources), random.random(resources)

    def payoff(i: int, choices: list[Integers]) -> Vector:
        cost = np.zeros(sizes)
        for resource in range(resources):
            users = sum(uses[j, choices[j], resource] * 1.0 for j in range(players))
            cost += uses[i, choices[i], resource] * (slope[resource] * users + toll[resource])
        return -cost

    return tabulate("congestion", crowd(players, least=1), [numbered(actions, 1)] * players, payoff)


def dominance_solvable(players: int = 2, actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """Draw a game that iterated strict dominance brings down to one action profile.

    Payoffs are uniform in [0, 1]. Every action has a hidden rank; those of the highest rank are eliminated first,
    player by player. Against opponents of a higher rank, already gone, payoffs are in no order.

    Source: Moulin (1979), "Dominance solvable voting schemes", for the idea.
    Teaches: the one profile left is the only correlated equilibrium; coarse correlated equilibria may keep the dead.

    >>> from gamesim.games.io.interop import pure_equilibria
    >>> pure_equilibria(dominance_solvable(players=3, actions=[2, 3, 4], seed=1)).tolist()  # one only
    [[1, 1, 1]]
    """
    sizes = table_sizes(players, actions)
    random = np.random.default_rng(seed)
    payoffs = random.random((players, *sizes))
    ranks = np.indices(sizes, sparse=True)
    for i in range(players):
        # When player i's action of rank r goes, players before i are below rank r and players after i at most at r.
        last = np.zeros([1] * players, dtype=np.int64)
        for j in range(players):
            if j != i:
                last = np.maximum(last, ranks[j] + (j < i))
        first = np.broadcast_to(np.maximum(last - 1, 0), [1 if j == i else size for j, size in enumerate(sizes)])
        table = np.moveaxis(payoffs[i], i, 0)  # a view: own axis first
        start = np.moveaxis(first, i, 0)[0]
        for begin in range(sizes[i] - 1):
            table[begin:, start == begin] = -np.sort(-table[begin:, start == begin], axis=0)
    for i, size in enumerate(sizes):
        payoffs = np.take(payoffs, random.permutation(size), axis=i + 1)
    return Table.from_payoffs(payoffs, name="dominance-solvable")


def unit_vector(actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """Draw a game in which row has exactly one good answer, worth 1, to each column; column's payoffs are uniform.

    Source: Savani and von Stengel (2016), "Unit vector games".
    Teaches: small games that are hard for equilibrium computation.

    >>> unit_vector(actions=[3, 5], seed=1).payoffs[0]
    array([[0., 0., 0., 0., 1.],
           [1., 1., 0., 0., 0.],
           [0., 0., 1., 1., 0.]])
    """
    rows, columns = table_sizes(2, actions)
    random = np.random.default_rng(seed)
    row = np.zeros((rows, columns))
    row[random.integers(rows, size=columns), np.arange(columns)] = 1
    return Table.from_payoffs([row, random.random((rows, columns))], name="unit-vector")


def symmetric(players: int = 2, actions: int = 4, seed: int = 0) -> Table:
    """Draw a game in which who you are does not matter, only what you and how many of the others do.

    A payoff is uniform in [0, 1] for each own action and each collection of the others' actions.

    Source: von Neumann and Morgenstern (1944), section 28.
    Teaches: equal learners with equal starts stay equal, and miss what asymmetric play would earn.

    >>> game = symmetric(players=3, actions=2, seed=1)
    >>> bool(game.payoffs[0, 1, 0, 0] == game.payoffs[2, 0, 0, 1])  # to be the only one with the second action
    True
    """
    sizes = table_sizes(players, actions)
    values = np.random.default_rng(seed).random(sizes)  # own action first, then the others', read in order only
    choices = np.indices(sizes)
    payoffs = np.empty((players, *sizes))
    for i in range(players):
        others = np.sort(np.delete(choices, i, axis=0), axis=0)
        payoffs[i] = values[(choices[i], *others)]
    return Table.from_payoffs(payoffs, name="symmetric")


def ordered_action(
    players: int = 2, actions: int | Sequence[int] = 16, smoothness: float = 0.2, seed: int = 0
) -> Table:
    """Draw payoffs that are smooth in the action's number, as with prices, bids or places on a line.

    Normal noise is blurred along every axis by a Gaussian as wide as `smoothness` times the number of actions, then
    brought to [0, 1].

    Source: random fields as in Adler (1981), "The Geometry of Random Fields".
    Teaches: where neighbouring actions are alike, learners that know the order may learn faster.

    >>> game = ordered_action(players=2, actions=[5, 16], seed=1)
    >>> game.payoffs[0, 2, :6].round(2)  # as the other's action moves
    array([0.98, 0.96, 0.89, 0.77, 0.62, 0.46])
    """
    sizes = table_sizes(players, actions)
    at_least("smoothness", smoothness, 0)
    payoffs = np.random.default_rng(seed).standard_normal((players, *sizes))
    for axis, size in enumerate(sizes, start=1):
        distance = np.subtract.outer(np.arange(size), np.arange(size))
        width = max(smoothness * size, 1e-3)
        blur = np.exp(-0.5 * (distance / width) ** 2)
        payoffs = np.moveaxis(np.tensordot(blur, payoffs, axes=(1, axis)), 0, axis)
    low, high = payoffs.min(), payoffs.max()
    return Table.from_payoffs((payoffs - low) / (high - low if high > low else 1.0), name="ordered-action")


def sparse(players: int = 2, actions: int | Sequence[int] = 8, density: float = 0.2, seed: int = 0) -> Table:
    """Draw a game in which most payoffs are 0, and a share `density` of them uniform in [0, 1].

    Source: Chen, Deng and Teng (2006), "Sparse games are hard".
    Teaches: with few cells that matter, equilibria have small supports.

    >>> sparse(players=2, actions=[3, 4], density=0.25, seed=1).payoffs[0].round(2)
    array([[0.  , 0.  , 0.  , 0.  ],
           [0.31, 0.  , 0.  , 0.41],
           [0.  , 0.  , 0.  , 0.  ]])
    """
    sizes = table_sizes(players, actions)
    if not 0 <= density <= 1:
        raise InputError(f"density must lie in [0, 1], and {density} came")
    random = np.random.default_rng(seed)
    payoffs = random.random((players, *sizes))
    payoffs[random.random(payoffs.shape) >= density] = 0.0
    return Table.from_payoffs(payoffs, name="sparse")
