"""Games of several players: what each gets depends on how many of the others do what."""

from collections.abc import Sequence

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import crowd, numbered, tabulate
from gamesim.validation import at_least, positive


def el_farol(players: int = 5, capacity: int = 3) -> Table:
    """The bar that is fun unless too many come.

    Going pays 1 if at most `capacity` go and -1 if more do; staying at home pays 0.

    Source: Arthur (1994), "Inductive reasoning and bounded rationality".
    Teaches: many pure equilibria, all unequal; with sampled feedback learners sort themselves into
    those who go and those who do not, with expected feedback equal learners all mix alike.

    >>> el_farol(players=3, capacity=1).payoffs[0, 1].tolist()  # the first goes
    [[1.0, -1.0], [-1.0, -1.0]]
    """
    names = crowd(players)
    at_least("capacity", capacity, 0)

    def payoff(i: int, go: list[Integers]) -> Vector:
        fun: Vector = go[i] * (1.0 - 2.0 * (sum(go) > capacity))
        return fun

    return tabulate("el-farol", names, [["stay", "go"]] * players, payoff)


def public_goods(players: int = 4, endowment: int = 2, factor: float = 2.0) -> Table:
    """The common pot that multiplies what is given and shares it with all, givers or not.

    Each gives 0 to `endowment` coins; the pot is multiplied by `factor`, between 1 and the number of players, and
    shared equally.

    Source: Ledyard (1995), "Public goods: a survey of experimental research".
    Teaches: giving nothing is dominant, giving everything is best for all: a dilemma of many.

    >>> public_goods(players=3, endowment=2, factor=1.5).payoffs[:, 2, 0, 0].tolist()  # only the first gives, 2
    [1.0, 3.0, 3.0]
    """
    names = crowd(players)
    at_least("endowment", endowment, 1)
    if not 1 < factor < players:
        raise InputError(f"factor must lie between 1 and the number of players, {players}, and {factor} came")

    def payoff(i: int, give: list[Integers]) -> Vector:
        kept: Vector = endowment - give[i] + factor / players * sum(give)
        return kept

    return tabulate("public-goods", names, [numbered(endowment + 1)] * players, payoff)


def minimum_effort(
    players: int = 3, efforts: int = 7, gain: float = 0.2, cost: float = 0.1, base: float = 0.6
) -> Table:
    """The weakest link: everyone's pay rises with the least effort, and effort costs.

    Efforts are 1, ..., `efforts`; a player gets base + gain · (least effort) - cost · (own effort).

    Source: Van Huyck, Battalio and Beil (1990), "Tacit coordination games, strategic uncertainty, and coordination
    failure", with these numbers in dollars.
    Teaches: every common effort is a strict equilibrium; the more players, the lower the one that learners fall to.

    >>> minimum_effort(players=2).payoffs[:, 6, 2].round(9).tolist()  # efforts of 7 and 3
    [0.5, 0.9]
    """
    names = crowd(players)
    at_least("efforts", efforts, 1)
    if not 0 < cost < gain:
        raise InputError(f"cost must lie between 0 and gain, {gain}, and {cost} came")

    def payoff(i: int, choices: list[Integers]) -> Vector:
        least = choices[0]
        for choice in choices[1:]:
            least = np.minimum(least, choice)
        return np.asarray(base + gain * (1 + least) - cost * (1 + choices[i]), dtype=np.float64)

    return tabulate("minimum-effort", names, [numbered(efforts, 1)] * players, payoff)


def volunteers_dilemma(players: int = 4, benefit: float = 2.0, cost: float = 1.0) -> Table:
    """The help that one must give, and that each leaves to the others.

    All get the `benefit` if at least one volunteers; each volunteer pays the `cost`.

    Source: Diekmann (1985), "Volunteer's dilemma".
    Teaches: in the symmetric equilibrium help gets less likely the more there are to help; with
    sampled feedback learners settle who volunteers.

    >>> volunteers_dilemma(players=3).payoffs[:, 1, 0, 0].tolist()  # the first volunteers
    [1.0, 2.0, 2.0]
    """
    names = crowd(players)
    if not 0 < cost < benefit:
        raise InputError(f"cost must lie between 0 and benefit, {benefit}, and {cost} came")

    def payoff(i: int, help: list[Integers]) -> Vector:
        return np.asarray(benefit * (sum(help) > 0) - cost * help[i], dtype=np.float64)

    return tabulate("volunteers-dilemma", names, [["wait", "volunteer"]] * players, payoff)


def minority(players: int = 5) -> Table:
    """The crowd in which those in the minority win.

    Source: Challet and Zhang (1997), "Emergence of cooperation and organization in an evolutionary game".
    Teaches: with an odd crowd most always lose, and a loser who switches loses again: nobody has to settle.

    >>> minority(players=3).payoffs[:, 1, 0, 0].tolist()  # one buys, two sell
    [1.0, 0.0, 0.0]
    """
    names = crowd(players, least=3)
    if players % 2 == 0:
        raise InputError(f"the minority game needs an odd number of players, and {players} came")

    def payoff(i: int, buy: list[Integers]) -> Vector:
        buyers = sum(buy)
        won: Vector = np.where(buy[i] == 1, 2 * buyers < players, 2 * buyers > players) * 1.0
        return won

    return tabulate("minority", names, [["sell", "buy"]] * players, payoff)


def diners_dilemma(players: int = 4, joys: Sequence[float] = (2.0, 4.0), prices: Sequence[float] = (1.0, 4.0)) -> Table:
    """The shared bill at which everyone orders the dish that nobody would pay for alone.

    `joys` and `prices` are those of the cheap and of the dear dish; the bill is split equally.

    Source: Glance and Huberman (1994), "The dynamics of social dilemmas"; Gneezy, Haruvy and Yafe (2004).
    Teaches: a prisoner's dilemma of many, in which only a fraction of one's own cost is one's own.

    >>> diners_dilemma(players=2).payoffs[:, 1, 0].tolist()  # dear and cheap: the bill of 5 is halved
    [1.5, -0.5]
    """
    names = crowd(players)
    if len(joys) != 2 or len(prices) != 2:
        raise InputError(f"joys and prices are those of two dishes, and {list(joys)} and {list(prices)} came")
    joy, price = np.array(joys, dtype=np.float64), np.array(prices, dtype=np.float64)

    def payoff(i: int, dish: list[Integers]) -> Vector:
        pleasure: Vector = joy[dish[i]] - sum(price[choice] for choice in dish) / players
        return pleasure

    return tabulate("diners-dilemma", names, [["cheap", "dear"]] * players, payoff)


def pigou(players: int = 4) -> Table:
    """Two roads, one wide and one that slows with traffic: selfish drivers take 4/3 of the best total time.

    The wide road takes time 1; the narrow one takes the fraction of all players who are on it. Payoffs are -time.

    Source: Pigou (1920), "The Economics of Welfare"; Roughgarden and Tardos (2002), "How bad is selfish routing?".
    Teaches: the price of anarchy of affine costs, 4/3, in its smallest example (exact for even numbers of players).

    >>> pigou(players=4).payoffs[:, 1, 1, 1, 0].tolist()  # three on the narrow road
    [-0.75, -0.75, -0.75, -1.0]
    """
    names = [f"Driver {k + 1}" for k in range(len(crowd(players)))]

    def payoff(i: int, narrow: list[Integers]) -> Vector:
        time: Vector = np.where(narrow[i] == 1, sum(narrow) / players, 1.0)
        return -time

    return tabulate("pigou", names, [["wide", "narrow"]] * players, payoff)


def braess(players: int = 4, shortcut: bool = True) -> Table:
    """The road that makes everyone slower: Braess's paradox.

    From s to t over v or w: the roads s-v and w-t take the fraction of players on them, v-t and s-w take 1. With the
    `shortcut` v-w, which takes no time, all drive s-v-w-t for 2 each; without it 3/2. Payoffs are -time.

    Source: Braess (1968), "Über ein Paradoxon aus der Verkehrsplanung".
    Teaches: more choice can be worse for all, by 4/3; learners find the bad equilibrium by themselves.

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


def load_balancing(weights: Sequence[float] = (2.0, 2.0, 1.0, 1.0), machines: int = 2) -> Table:
    """Jobs that choose machines, each waiting for everything on its own machine.

    Payoffs are minus the total weight on one's machine.

    Source: Koutsoupias and Papadimitriou (1999), "Worst-case equilibria", which began the price of anarchy.
    Teaches: a potential game with a bad pure equilibrium: both heavy jobs on one machine finish at 4, at best 3.

    >>> load_balancing(weights=(3.0, 2.0, 1.0)).payoffs[:, 0, 1, 0].tolist()  # the second job has a machine to itself
    [-4.0, -2.0, -4.0]
    """
    if len(weights) < 2:
        raise InputError(f"weights must be those of two or more jobs, and {list(weights)} came")
    for k, weight in enumerate(weights):
        positive(f"weight {k + 1}", weight)
    at_least("machines", machines, 1)

    def payoff(i: int, machine: list[Integers]) -> Vector:
        load: Vector = sum((machine[j] == machine[i]) * weights[j] for j in range(len(weights)))
        return -load

    names = [f"Job {k + 1}" for k in range(len(weights))]
    return tabulate("load-balancing", names, [numbered(machines, 1)] * len(weights), payoff)


def affine_congestion() -> Table:
    """Three players and six resources with a pure equilibrium 5/2 times as costly as the best: the worst there is.

    A resource costs each of its users the number of its users. Player i takes the resources h_i and g_i, or
    h_{i-1}, h_{i+1} and g_{i+1}. Payoffs are -cost.

    Source: Christodoulou and Koutsoupias (2005), "The price of anarchy of finite congestion games"; Awerbuch, Azar
    and Epstein (2005).
    Teaches: 5/2 bounds the price of anarchy of affine congestion games, for coarse correlated equilibria too
    (Roughgarden, 2009).

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
    """The vote in which having the casting vote gets the chair the worst candidate.

    Three voters like A > B > C, B > C > A and C > A > B; the majority decides, and the first voter if all differ. The
    payoffs are 2, 1, 0 for the best, middle and worst candidate.

    Source: Farquharson (1969), "Theory of Voting"; Brams (1975).
    Teaches: iterated weak dominance elects C, the worst for the voter with more power.

    >>> chairs_paradox().payoffs[:, 0, 1, 1].tolist()  # votes for A, B and B elect B
    [1.0, 2.0, 0.0]
    """
    likes = np.array([[2, 1, 0], [0, 2, 1], [1, 0, 2]], dtype=np.float64)  # voter, candidate

    def payoff(i: int, vote: list[Integers]) -> Vector:
        elected = np.where(vote[1] == vote[2], vote[1], vote[0])
        liked: Vector = likes[i][elected]
        return liked

    return tabulate("chairs-paradox", ["Chair", "Second", "Third"], [list("ABC")] * 3, payoff)


def plurality_voting(voters: int = 5, candidates: int = 3) -> Table:
    """The election by plurality in which nobody is sure to gain by voting for the favourite.

    Voter k likes candidate k, k + 1, ... (counted cyclically) in this order, worth candidates - 1 down to 0; a tie is
    decided by lot.

    Source: the cycle is Condorcet's (1785); manipulation: Gibbard (1973), Satterthwaite (1975).
    Teaches: many equilibria, even unanimous votes for a candidate whom most dislike; learning selects among them.

    >>> plurality_voting(voters=3).payoffs[:, 0, 0, 1].tolist()  # the first candidate is elected
    [2.0, 0.0, 1.0]
    """
    names = [f"Voter {k + 1}" for k in range(len(crowd(voters)))]
    at_least("candidates", candidates, 2)

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
