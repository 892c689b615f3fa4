"""Games with several players: congestion, public goods, voting."""

from collections.abc import Sequence

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.formatting import shown
from gamesim.game import Table
from gamesim.games.limits import limited, table
from gamesim.games.tabulate import crowd, numbered, tabulate
from gamesim.validation import at_least, positive


@limited(lambda players: table(players, 2))
def el_farol(players: int = 5, capacity: int = 3) -> Table:
    """The El Farol bar: going out is fun unless too many go.

    Parameters
    ----------
    players : int, default 5
        Number of players, at least 2.
    capacity : int, default 3
        Largest number of players for whom the bar is fun, at least 0.

    Notes
    -----
    Source: Arthur (1994), "Inductive reasoning and bounded rationality".

    Payoffs:

        u_i = 0   if i stays
        u_i = 1   if i goes and at most capacity players go
        u_i = -1  if i goes and more than capacity players go

    Teaches: If there is room for some players but not for all, exactly capacity players go in every pure equilibrium,
    so equal players fare unequally. With sampled feedback Hedge players sort themselves into those who go and those who
    stay; with expected feedback identical learners with identical starts all mix alike.

    Examples
    --------
    >>> el_farol(players=3, capacity=1).payoffs[0, 1].tolist()  # the first goes
    [[1.0, -1.0], [-1.0, -1.0]]
    """
    names = crowd(players)
    at_least("capacity", capacity, 0)

    def payoff(i: int, go: list[Integers]) -> Vector:
        fun: Vector = go[i] * (1.0 - 2.0 * (sum(go) > capacity))
        return fun

    return tabulate("el-farol", names, [["stay", "go"]] * players, payoff)


@limited(lambda players, endowment: table(players, endowment + 1))
def public_goods(players: int = 4, endowment: int = 2, factor: float = 2.0) -> Table:
    """The public goods game: contributions are multiplied and shared by all.

    Parameters
    ----------
    players : int, default 4
        Number of players, at least 2.
    endowment : int, default 2
        Coins of each player, at least 1. Contributions are 0, ..., `endowment`.
    factor : float, default 2.0
        What the contributions are multiplied by, strictly between 1 and `players`.

    Notes
    -----
    Source: Ledyard (1995), "Public goods: a survey of experimental research".

    Payoffs:

        u_i = endowment - g_i + (factor / players) · Σ_j g_j

    Teaches: Contributing nothing is strictly dominant, and full contributions maximise the total payoff: a prisoner's
    dilemma with many players.

    Examples
    --------
    >>> public_goods(players=3, endowment=2, factor=1.5).payoffs[:, 2, 0, 0].tolist()  # only the first gives, 2
    [1.0, 3.0, 3.0]
    """
    names = crowd(players)
    at_least("endowment", endowment, 1)
    if not 1 < factor < players:
        raise InputError(f"factor must be between 1 and the number of players ({players}), both excluded, got {factor}")

    def payoff(i: int, give: list[Integers]) -> Vector:
        kept: Vector = endowment - give[i] + factor / players * sum(give)
        return kept

    return tabulate("public-goods", names, [numbered(endowment + 1)] * players, payoff)


@limited(lambda players, efforts: table(players, actions=efforts))
def minimum_effort(
    players: int = 3, efforts: int = 7, gain: float = 0.2, cost: float = 0.1, base: float = 0.6
) -> Table:
    """The weakest-link game: pay rises with the lowest effort, and effort is costly.

    Parameters
    ----------
    players : int, default 3
        Number of players, at least 2.
    efforts : int, default 7
        Number of effort levels 1, ..., `efforts`, at least 1.
    gain : float, default 0.2
        Gain of every player per unit of the lowest effort.
    cost : float, default 0.1
        Cost per unit of own effort, strictly between 0 and `gain`.
    base : float, default 0.6
        Constant part of the payoff.

    Notes
    -----
    Source: Van Huyck, Battalio and Beil (1990), "Tacit coordination games, strategic uncertainty, and coordination
    failure", with these numbers in dollars.

    Payoffs:

        u_i = base + gain · min_j e_j - cost · e_i

    Teaches: Every common effort is a strict equilibrium. With more players, learners may end up at a lower effort:
    with the default settings Hedge ends up at 4 with two players and at 1 with three, four or five.

    Examples
    --------
    >>> minimum_effort(players=2).payoffs[:, 6, 2].round(9).tolist()  # efforts of 7 and 3
    [0.5, 0.9]
    """
    names = crowd(players)
    at_least("efforts", efforts, 1)
    if not 0 < cost < gain:
        raise InputError(f"cost must be between 0 and gain ({gain}), both excluded, got {cost}")

    def payoff(i: int, choices: list[Integers]) -> Vector:
        least = choices[0]
        for choice in choices[1:]:
            least = np.minimum(least, choice)
        return np.asarray(base + gain * (1 + least) - cost * (1 + choices[i]), dtype=np.float64)

    return tabulate("minimum-effort", names, [numbered(efforts, 1)] * players, payoff)


@limited(lambda players: table(players, 2))
def volunteers_dilemma(players: int = 4, benefit: float = 2.0, cost: float = 1.0) -> Table:
    """The volunteer's dilemma: one volunteer is enough, and volunteering is costly.

    Parameters
    ----------
    players : int, default 4
        Number of players, at least 2.
    benefit : float, default 2.0
        What everyone gets if at least one player volunteers.
    cost : float, default 1.0
        Cost of volunteering, strictly between 0 and `benefit`.

    Notes
    -----
    Source: Diekmann (1985), "Volunteer's dilemma".

    Payoffs:

        u_i = benefit · [at least one player volunteers] - cost · [i volunteers]

    Teaches: In each pure equilibrium exactly one player volunteers. In the symmetric mixed one nobody does with
    probability (cost / benefit)^(n / (n - 1)), which grows with the number n of players. With sampled feedback Hedge
    players end up with a single volunteer.

    Examples
    --------
    >>> volunteers_dilemma(players=3).payoffs[:, 1, 0, 0].tolist()  # the first volunteers
    [1.0, 2.0, 2.0]
    """
    names = crowd(players)
    if not 0 < cost < benefit:
        raise InputError(f"cost must be between 0 and benefit ({benefit}), both excluded, got {cost}")

    def payoff(i: int, help: list[Integers]) -> Vector:
        return np.asarray(benefit * (sum(help) > 0) - cost * help[i], dtype=np.float64)

    return tabulate("volunteers-dilemma", names, [["wait", "volunteer"]] * players, payoff)


@limited(lambda players: table(players, 2))
def minority(players: int = 5) -> Table:
    """The minority game: the players on the smaller side win.

    Parameters
    ----------
    players : int, default 5
        Number of players, odd and at least 3.

    Notes
    -----
    Source: Challet and Zhang (1997), "Emergence of cooperation and organization in an evolutionary game".

    Payoffs:

        u_i = 1 if fewer than half of the players choose i's side
        u_i = 0 otherwise

    Teaches: Most players lose in every round. In the pure equilibria the minority is as large as possible; a loser who
    switches makes it the majority and loses again, so losers are indifferent and play need not settle.

    Examples
    --------
    >>> minority(players=3).payoffs[:, 1, 0, 0].tolist()  # one buys, two sell
    [1.0, 0.0, 0.0]
    """
    names = crowd(players, least=3)
    if players % 2 == 0:
        raise InputError(f"players must be odd in the minority game, got {players}")

    def payoff(i: int, buy: list[Integers]) -> Vector:
        buyers = sum(buy)
        won: Vector = np.where(buy[i] == 1, 2 * buyers < players, 2 * buyers > players) * 1.0
        return won

    return tabulate("minority", names, [["sell", "buy"]] * players, payoff)


@limited(lambda players: table(players, 2))
def diners_dilemma(players: int = 4, joys: Sequence[float] = (2.0, 4.0), prices: Sequence[float] = (1.0, 4.0)) -> Table:
    """The diner's dilemma: a shared bill makes the expensive dish tempting.

    Parameters
    ----------
    players : int, default 4
        Number of players, at least 2.
    joys : sequence of float, default (2.0, 4.0)
        What the cheap and the expensive dish are worth to the player who eats it.
    prices : sequence of float, default (1.0, 4.0)
        Prices of the cheap and the expensive dish.

    Notes
    -----
    Source: Glance and Huberman (1994), "The dynamics of social dilemmas"; Gneezy, Haruvy and Yafe (2004).

    Payoffs:

        u_i = joys[d_i] - Σ_j prices[d_j] / players

    Teaches: A prisoner's dilemma with many players: each diner pays only the fraction 1 / players of the price of their
    own dish. This holds if the difference in joy is larger than the difference in price divided by the number of
    players, and smaller than the difference in price, as it is by default.

    Examples
    --------
    >>> diners_dilemma(players=2).payoffs[:, 1, 0].tolist()  # expensive and cheap: the bill of 5 is halved
    [1.5, -0.5]
    """
    names = crowd(players)
    if len(joys) != 2 or len(prices) != 2:
        raise InputError(
            f"joys and prices must have two entries each, one per dish, got {shown(joys)} and {shown(prices)}"
        )
    joy, price = np.array(joys, dtype=np.float64), np.array(prices, dtype=np.float64)

    def payoff(i: int, dish: list[Integers]) -> Vector:
        pleasure: Vector = joy[dish[i]] - sum(price[choice] for choice in dish) / players
        return pleasure

    return tabulate("diners-dilemma", names, [["cheap", "dear"]] * players, payoff)


@limited(lambda players: table(players, 2))
def pigou(players: int = 4) -> Table:
    """Pigou's example: a wide road, and a narrow one that slows down with traffic.

    Parameters
    ----------
    players : int, default 4
        Number of drivers, at least 2.

    Notes
    -----
    Source: Pigou (1920), "The Economics of Welfare"; Roughgarden and Tardos (2002), "How bad is selfish routing?".

    Payoffs:

        u_i = -1                                     on the wide road
        u_i = -(drivers on the narrow road) / players  on the narrow road

    Teaches: The smallest example of the price of anarchy of affine costs, 4/3. All drivers on the narrow road is the
    worst equilibrium; half of them there is optimal. The ratio is exactly 4/3 for even numbers of drivers and
    approaches it for odd ones.

    Examples
    --------
    >>> pigou(players=4).payoffs[:, 1, 1, 1, 0].tolist()  # three on the narrow road
    [-0.75, -0.75, -0.75, -1.0]
    """
    names = [f"Driver {k + 1}" for k in range(len(crowd(players)))]

    def payoff(i: int, narrow: list[Integers]) -> Vector:
        time: Vector = np.where(narrow[i] == 1, sum(narrow) / players, 1.0)
        return -time

    return tabulate("pigou", names, [["wide", "narrow"]] * players, payoff)


@limited(lambda players: table(players, 3))
def braess(players: int = 4, shortcut: bool = True) -> Table:
    """Braess's paradox: a new road that can make everyone slower.

    Drivers go from s to t via v or w. The shortcut leads from v to w and takes no time.

    Parameters
    ----------
    players : int, default 4
        Number of drivers, at least 2.
    shortcut : bool, default True
        Whether the shortcut is open.

    Notes
    -----
    Source: Braess (1968), "Über ein Paradoxon aus der Verkehrsplanung".

    Payoffs:

        x = fraction of drivers on s-v
        y = fraction of drivers on w-t
        u_i = -(x + 1)  on s-v-t
        u_i = -(1 + y)  on s-w-t
        u_i = -(x + y)  on s-v-w-t

    Teaches: More choice can be worse for all. With the shortcut, all drivers on s-v-w-t is an equilibrium (the worst)
    and takes each of them 2; without it, equilibria take 3/2 for even numbers of drivers, a ratio of 4/3. Hedge players
    approach the bad equilibrium on their own.

    Examples
    --------
    >>> braess(players=2).payoffs[:, 2, 0].tolist()  # s-v-w-t and s-v-t: both on s-v
    [-1.5, -2.0]
    """
    names = [f"Driver {k + 1}" for k in range(len(crowd(players)))]

    def payoff(i: int, way: list[Integers]) -> Vector:
        first = sum((choice != 1) * 1.0 for choice in way) / players  # on s-v: upper way or shortcut
        second = sum((choice != 0) * 1.0 for choice in way) / players  # on w-t: lower way or shortcut
        time: Vector = np.where(way[i] == 0, first + 1, np.where(way[i] == 1, 1 + second, first + second))
        return -time

    ways = ["s-v-t", "s-w-t", "s-v-w-t"] if shortcut else ["s-v-t", "s-w-t"]
    return tabulate("braess", names, [ways] * players, payoff)


@limited(lambda weights, machines: table(len(weights), machines))
def load_balancing(weights: Sequence[float] = (2.0, 2.0, 1.0, 1.0), machines: int = 2) -> Table:
    """Load balancing: jobs choose machines and wait for everything on their machine.

    Parameters
    ----------
    weights : sequence of float, default (2.0, 2.0, 1.0, 1.0)
        Weight of each job, positive; two or more jobs.
    machines : int, default 2
        Number of machines, at least 1.

    Notes
    -----
    Source: Koutsoupias and Papadimitriou (1999), "Worst-case equilibria", which began the price of anarchy.

    Payoffs:

        u_i = -(total weight of the jobs on i's machine)

    Teaches: A weighted potential game whose pure equilibria may differ in quality. With the default settings both heavy
    jobs may share a machine, and the last job finishes at 4; in the optimum it finishes at 3.

    Examples
    --------
    >>> load_balancing(weights=(3.0, 2.0, 1.0)).payoffs[:, 0, 1, 0].tolist()  # the second job has a machine to itself
    [-4.0, -2.0, -4.0]
    """
    if len(weights) < 2:
        raise InputError(f"weights must have two or more entries, one per job, got {shown(weights)}")
    for k, weight in enumerate(weights):
        positive(f"weights[{k + 1}]", weight)
    at_least("machines", machines, 1)

    def payoff(i: int, machine: list[Integers]) -> Vector:
        load: Vector = sum((machine[j] == machine[i]) * weights[j] for j in range(len(weights)))
        return -load

    names = [f"Job {k + 1}" for k in range(len(weights))]
    return tabulate("load-balancing", names, [numbered(machines, 1)] * len(weights), payoff)


def affine_congestion() -> Table:
    """The worst affine congestion game: an equilibrium costs 5/2 times the optimum.

    Three players choose among six resources, h_1, h_2, h_3 and g_1, g_2, g_3. Player i uses h_i and g_i (near), or
    h_{i-1}, h_{i+1} and g_{i+1} (far), cyclically.

    Notes
    -----
    Source: Christodoulou and Koutsoupias (2005), "The price of anarchy of finite congestion games"; Awerbuch, Azar and
    Epstein (2005).

    Payoffs:

        cost of a resource to each of its users = number of its users
        u_i = -(sum of the costs of i's resources)

    Teaches: The price of anarchy of affine congestion games is at most 5/2, for coarse correlated equilibria too
    (Roughgarden, 2009). Here a pure equilibrium, everyone far, attains it.

    Examples
    --------
    >>> game = affine_congestion()
    >>> game.payoffs[:, 0, 0, 0].tolist(), game.payoffs[:, 1, 1, 1].tolist()
    ([-2.0, -2.0, -2.0], [-5.0, -5.0, -5.0])
    """
    uses = np.zeros((3, 2, 6))  # player, action, resource: h_1 h_2 h_3 g_1 g_2 g_3
    for i in range(3):
        uses[i, 0, [i, 3 + i]] = 1
        uses[i, 1, [(i - 1) % 3, (i + 1) % 3, 3 + (i + 1) % 3]] = 1

    def payoff(i: int, choices: list[Integers]) -> Vector:
        users = sum(uses[j][choices[j]] for j in range(3))
        cost: Vector = (uses[i][choices[i]] * users).sum(axis=-1)
        return -cost

    return tabulate("affine-congestion", crowd(3), [["near", "far"]] * 3, payoff)


def chairs_paradox() -> Table:
    """The chair's paradox: the voter with the casting vote gets its worst candidate.

    The voters rank the candidates A > B > C (the chair), B > C > A and C > A > B. The majority decides, and the chair
    if all votes differ.

    Notes
    -----
    Source: Farquharson (1969), "Theory of Voting"; Brams (1975).

    Payoffs:

        u_i = 2, 1 or 0 if i's best, middle or worst candidate is elected

    Teaches: Iterated elimination of weakly dominated actions elects C, the worst candidate for the voter with the most
    power.

    Examples
    --------
    >>> chairs_paradox().payoffs[:, 0, 1, 1].tolist()  # votes for A, B and B elect B
    [1.0, 2.0, 0.0]
    """
    likes = np.array([[2, 1, 0], [0, 2, 1], [1, 0, 2]], dtype=np.float64)  # voter, candidate

    def payoff(i: int, vote: list[Integers]) -> Vector:
        elected = np.where(vote[1] == vote[2], vote[1], vote[0])
        liked: Vector = likes[i][elected]
        return liked

    return tabulate("chairs-paradox", ["Chair", "Second", "Third"], [list("ABC")] * 3, payoff)


@limited(lambda voters, candidates: table(voters, candidates, loops=candidates))
def plurality_voting(voters: int = 5, candidates: int = 3) -> Table:
    """Plurality voting with cyclic preferences: sincere votes are not always best.

    Voter k ranks the candidates k, k + 1, ... in this order, cyclically. Ties are broken by lot; payoffs are expected
    payoffs.

    Parameters
    ----------
    voters : int, default 5
        Number of voters, at least 2.
    candidates : int, default 3
        Number of candidates, at least 2.

    Notes
    -----
    Source: the cycle is Condorcet's (1785); manipulation: Gibbard (1973), Satterthwaite (1975).

    Payoffs:

        u_i = candidates - 1 if i's favourite is elected, ..., 0 if i's last choice is

    Teaches: There are many equilibria, and learning selects among them. With three or more voters every unanimous vote
    is an equilibrium, even if most voters prefer another candidate.

    Examples
    --------
    >>> plurality_voting(voters=3).payoffs[:, 0, 0, 1].tolist()  # the first candidate is elected
    [2.0, 0.0, 1.0]
    """
    at_least("voters", voters, 2)
    at_least("candidates", candidates, 2)
    names = [f"Voter {k + 1}" for k in range(voters)]

    def payoff(i: int, vote: list[Integers]) -> Vector:
        votes = [sum((choice == candidate) * 1 for choice in vote) for candidate in range(candidates)]
        most = np.asarray(votes[0])
        for count in votes[1:]:
            most = np.maximum(most, count)
        tied = sum((count == most) * 1 for count in votes)
        liked: Vector = sum((votes[c] == most) * float((i - c - 1) % candidates) for c in range(candidates)) / tied
        return liked

    labels = [f"candidate {k + 1}" for k in range(candidates)]
    return tabulate("plurality-voting", names, [labels] * voters, payoff)
