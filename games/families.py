"""Families of random games. The same seed and settings always give the same game."""

from collections.abc import Sequence

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.limits import limited, table
from gamesim.games.tabulate import crowd, numbered, table_sizes, tabulate
from gamesim.validation import at_least


@limited(table)
def uniform(players: int = 2, actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """A random game without structure: all payoffs independent and uniform.

    Parameters
    ----------
    players : int, default 2
        Number of players, at least 1.
    actions : int or sequence of int, default 4
        Number of actions, the same for all players or one number per player; at least 1.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: the plainest of GAMUT's families (Nudelman, Wortman, Shoham and Leyton-Brown, 2004, "RandomGame").

    Payoffs:

        u_i(a) ~ uniform on [0, 1], independently for each player i and action profile a

    Teaches: What learners do in games without any structure. Usually there are many correlated and, more so, many
    coarse correlated equilibria.

    Examples
    --------
    >>> uniform(players=3, actions=[2, 3, 4], seed=1).payoffs.shape
    (3, 2, 3, 4)
    """
    sizes = table_sizes(players, actions)
    payoffs = np.random.default_rng(seed).random((players, *sizes))
    return Table.from_payoffs(payoffs, name="uniform")


@limited(lambda actions: table(2, actions))
def zero_sum(actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """A random zero-sum game for two players.

    Parameters
    ----------
    actions : int or sequence of int, default 4
        Number of actions, the same for all players or one number per player; at least 1.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: von Neumann (1928).

    Payoffs:

        u_1(a) ~ uniform on [-1, 1], independently for each action profile a
        u_2 = -u_1

    Teaches: The average strategies of no-regret learners converge to optimal strategies: their Nash gap is at most the
    sum of both players' external regrets per round.

    Examples
    --------
    >>> zero_sum(actions=[2, 3], seed=1).payoffs[:, 0, 2].round(2).tolist()
    [-0.71, 0.71]
    """
    sizes = table_sizes(2, actions)
    won = np.random.default_rng(seed).uniform(-1, 1, sizes)
    return Table.from_payoffs([won, -won], name="zero-sum")


@limited(table)
def covariant(players: int = 2, actions: int | Sequence[int] = 4, correlation: float = 0.0, seed: int = 0) -> Table:
    """A random game with normal payoffs that are correlated between players.

    Parameters
    ----------
    players : int, default 2
        Number of players, at least 1.
    actions : int or sequence of int, default 4
        Number of actions, the same for all players or one number per player; at least 1.
    correlation : float, default 0.0
        Correlation between the payoffs of any two players in an action profile, from -1 / (players - 1) to 1. With
        two players, -1 is a zero-sum game and 1 one of common interest.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: Rinott and Scarsini (2000), "On the number of pure strategy Nash equilibria in random games"; GAMUT's
    "CovariantGame".

    Payoffs:

        (u_1(a), ..., u_n(a)) ~ normal with variances 1 and this correlation, independently for each profile a

    Teaches: The more the players' interests agree, the more pure equilibria there are on average.

    Examples
    --------
    >>> game = covariant(players=2, actions=[40, 50], correlation=0.7, seed=1)
    >>> round(float(np.corrcoef(game.payoffs[0].ravel(), game.payoffs[1].ravel())[0, 1]), 2)
    0.68
    """
    sizes = table_sizes(players, actions)
    least = -1 / (players - 1) if players > 1 else -1.0
    if not least <= correlation <= 1:
        raise InputError(f"the correlation of {players} players must be in [{least:.3g}, 1], got {correlation}")
    draws = np.random.default_rng(seed).standard_normal((players, *sizes))
    common = draws.mean(axis=0)
    # The mean and the deviations from it are independent, so separate weights set the variance and the correlation.
    together = np.sqrt(max(0.0, 1 + (players - 1) * correlation))
    payoffs = np.sqrt(1 - correlation) * (draws - common) + together * common
    return Table.from_payoffs(payoffs, name="covariant")


@limited(table)
def potential(players: int = 3, actions: int | Sequence[int] = 3, conflict: float = 1.0, seed: int = 0) -> Table:
    """A random potential game: one function gives the gain of every deviation.

    Parameters
    ----------
    players : int, default 3
        Number of players, at least 1.
    actions : int or sequence of int, default 3
        Number of actions, the same for all players or one number per player; at least 1.
    conflict : float, default 1.0
        Weight of the term that a player cannot influence, at least 0.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: Monderer and Shapley (1996), "Potential games".

    Payoffs:

        u_i(a) = Φ(a) + conflict · D_i(a_{-i})
        Φ, D_i ~ uniform on [0, 1], independently for each of their arguments

    Teaches: Unilateral improvements always end in a pure equilibrium. The terms D_i leave the equilibria unchanged, but
    not how good they are for the players.

    Examples
    --------
    >>> game = potential(players=2, actions=[3, 4], seed=1)
    >>> apart = game.payoffs[0] - game.payoffs[1]  # a function of the row plus one of the column
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


@limited(lambda players, actions, resources: table(players, actions, loops=resources))
def congestion(players: int = 3, actions: int = 3, resources: int = 4, seed: int = 0) -> Table:
    """A random congestion game with affine costs.

    Every action is a random non-empty set of resources.

    Parameters
    ----------
    players : int, default 3
        Number of players, at least 1.
    actions : int, default 3
        Number of actions of each player, at least 1.
    resources : int, default 4
        Number of resources, at least 1.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: Rosenthal (1973), "A class of games possessing pure-strategy Nash equilibria".

    Payoffs:

        cost of a resource r with k users = slope_r · k + toll_r, to each of them
        u_i = -(sum of the costs of i's resources)
        slope_r, toll_r ~ uniform on [0, 1]

    Teaches: Congestion games are potential games. Their price of anarchy is at most 5/2 with affine costs, for coarse
    correlated equilibria too.

    Examples
    --------
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


@limited(table)
def dominance_solvable(players: int = 2, actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """A random game that iterated strict dominance reduces to one action profile.

    Every action has a hidden rank. Those of the highest rank are eliminated first, player by player.

    Parameters
    ----------
    players : int, default 2
        Number of players, at least 1.
    actions : int or sequence of int, default 4
        Number of actions, the same for all players or one number per player; at least 1.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: Moulin (1979), "Dominance solvable voting schemes", for the idea.

    Payoffs:

        u_i(a) ~ uniform on [0, 1], sorted so that an action is strictly dominated once its turn has come

    Teaches: The only profile left is the only correlated equilibrium. Coarse correlated equilibria may put all their
    weight on eliminated actions.

    Examples
    --------
    >>> from gamesim.games.io.interop import pure_equilibria
    >>> pure_equilibria(dominance_solvable(players=3, actions=[2, 3, 4], seed=1)).tolist()  # one only
    [[1, 1, 1]]
    """
    sizes = table_sizes(players, actions)
    random = np.random.default_rng(seed)
    payoffs = random.random((players, *sizes))
    ranks = np.indices(sizes, sparse=True)
    for i in range(players):
        # When player i's action of rank r is eliminated, players before i have ranks below r, those after i at most r.
        last = np.zeros([1] * players, dtype=np.int64)
        for j in range(players):
            if j != i:
                last = np.maximum(last, ranks[j] + (j < i))
        first = np.broadcast_to(np.maximum(last - 1, 0), [1 if j == i else size for j, size in enumerate(sizes)])
        table = np.moveaxis(payoffs[i], i, 0)  # a view with the player's own axis first
        start = np.moveaxis(first, i, 0)[0]
        for begin in range(sizes[i] - 1):
            table[begin:, start == begin] = -np.sort(-table[begin:, start == begin], axis=0)
    for i, size in enumerate(sizes):
        payoffs = np.take(payoffs, random.permutation(size), axis=i + 1)
    return Table.from_payoffs(payoffs, name="dominance-solvable")


@limited(lambda actions: table(2, actions))
def unit_vector(actions: int | Sequence[int] = 4, seed: int = 0) -> Table:
    """A random unit vector game: Row has exactly one best response to each column.

    Parameters
    ----------
    actions : int or sequence of int, default 4
        Number of actions, the same for both players or one number each; at least 1.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: Savani and von Stengel (2016), "Unit vector games".

    Payoffs:

        u_1(a, b) = 1 for one action a, drawn for each b, else 0
        u_2(a, b) ~ uniform on [0, 1]

    Teaches: Unit vector games contain games that are hard for the Lemke-Howson algorithm, although one player has
    payoffs of 0 and 1 only.

    Examples
    --------
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


@limited(table)
def symmetric(players: int = 2, actions: int = 4, seed: int = 0) -> Table:
    """A random symmetric game: payoffs depend on actions, not on who plays them.

    Parameters
    ----------
    players : int, default 2
        Number of players, at least 1.
    actions : int, default 4
        Number of actions of each player, at least 1.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: von Neumann and Morgenstern (1944), section 28.

    Payoffs:

        u_i(a) = V(a_i, the others' actions in any order)
        V ~ uniform on [0, 1], independently for each of its arguments

    Teaches: With expected feedback, identical learners with identical starts stay identical, and may miss what
    asymmetric play would earn.

    Examples
    --------
    >>> game = symmetric(players=3, actions=2, seed=1)
    >>> bool(game.payoffs[0, 1, 0, 0] == game.payoffs[2, 0, 0, 1])  # being the only one to play the second action
    True
    """
    sizes = table_sizes(players, actions)
    values = np.random.default_rng(seed).random(sizes)  # own action first, then the others' in ascending order
    choices = np.indices(sizes)
    payoffs = np.empty((players, *sizes))
    for i in range(players):
        others = np.sort(np.delete(choices, i, axis=0), axis=0)
        payoffs[i] = values[(choices[i], *others)]
    return Table.from_payoffs(payoffs, name="symmetric")


@limited(table)
def ordered_action(
    players: int = 2, actions: int | Sequence[int] = 16, smoothness: float = 0.2, seed: int = 0
) -> Table:
    """A random game whose payoffs are smooth in the actions, as for prices or bids.

    Parameters
    ----------
    players : int, default 2
        Number of players, at least 1.
    actions : int or sequence of int, default 16
        Number of actions, the same for all players or one number per player; at least 1.
    smoothness : float, default 0.2
        Standard deviation of the Gaussian blur along each axis, as a fraction of the number of actions; at least 0.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: random fields as in Adler (1981), "The Geometry of Random Fields".

    Payoffs:

        u_i = Gaussian white noise, blurred along every axis
        payoffs are rescaled to [0, 1], all players together

    Teaches: Neighbouring actions have similar payoffs, so learners that know the order may learn faster.

    Examples
    --------
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


@limited(table)
def sparse(players: int = 2, actions: int | Sequence[int] = 8, density: float = 0.2, seed: int = 0) -> Table:
    """A random sparse game: most payoffs are 0.

    Parameters
    ----------
    players : int, default 2
        Number of players, at least 1.
    actions : int or sequence of int, default 8
        Number of actions, the same for all players or one number per player; at least 1.
    density : float, default 0.2
        Probability that a payoff is not 0, from 0 to 1.
    seed : int, default 0
        Seed of the random payoffs. The same seed and settings always give the same game.

    Notes
    -----
    Source: Chen, Deng and Teng (2006), "Sparse games are hard".

    Payoffs:

        u_i(a) ~ uniform on [0, 1] with probability density
        u_i(a) = 0 otherwise

    Teaches: Few cells matter, and many payoffs tie. Such games usually have several pure equilibria; Nash equilibria of
    sparse games in general are hard to compute.

    Examples
    --------
    >>> sparse(players=2, actions=[3, 4], density=0.25, seed=1).payoffs[0].round(2)
    array([[0.  , 0.  , 0.  , 0.  ],
           [0.31, 0.  , 0.  , 0.41],
           [0.  , 0.  , 0.  , 0.  ]])
    """
    sizes = table_sizes(players, actions)
    if not 0 <= density <= 1:
        raise InputError(f"density must be in [0, 1], got {density}")
    random = np.random.default_rng(seed)
    payoffs = random.random((players, *sizes))
    payoffs[random.random(payoffs.shape) >= density] = 0.0
    return Table.from_payoffs(payoffs, name="sparse")
