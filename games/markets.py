"""Markets and bargains: firms that choose quantities, prices or places, and two who divide something."""

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import crowd, numbered, tabulate
from gamesim.validation import at_least, positive


def cournot(players: int = 2, most: int = 6, demand: float = 12.0, cost: float = 0.0) -> Table:
    """The market in which firms choose quantities and the total makes the price.

    Quantities are 0, ..., `most`; the price is demand less the total, never below 0; a unit has a `cost`.

    Source: Cournot (1838), "Recherches sur les principes mathématiques de la théorie des richesses", chapter 7.
    Teaches: two firms supply (demand - cost) / 3 each, between monopoly and competition, and learners find it.

    >>> cournot().payoffs[0, 4, 4]  # (12 - 8) · 4
    np.float64(16.0)
    >>> cournot(players=3, cost=1.0).payoffs[:, 1, 2, 3].tolist()  # the price is 12 - 6
    [5.0, 10.0, 15.0]
    """
    names = [f"Firm {k + 1}" for k in range(len(crowd(players, least=1)))]
    at_least("most", most, 1)
    positive("demand", demand)
    at_least("cost", cost, 0)

    def payoff(i: int, quantity: list[Integers]) -> Vector:
        price = np.maximum(demand - sum(quantity), 0.0)
        profit: Vector = quantity[i] * (price - cost)
        return profit

    return tabulate("cournot", names, [numbered(most + 1)] * players, payoff)


def bertrand(players: int = 2, top: int = 6, cost: float = 1.0) -> Table:
    """The market in which the lowest price takes all, and competition of two is enough.

    Prices are 0, ..., `top`; at the lowest price p the market buys top - p units, shared by those who ask it.

    Source: Bertrand (1883), review of Cournot; the discrete prices leave equilibria just above cost.
    Teaches: undercutting: two sellers are enough to bring the price down to about the cost.

    >>> bertrand(players=2, top=6, cost=1.0).payoffs[:, 3, 4].tolist()  # 3 units at 3 - 1
    [6.0, 0.0]
    """
    names = [f"Firm {k + 1}" for k in range(len(crowd(players, least=1)))]
    at_least("top", top, 1)
    at_least("cost", cost, 0)

    def payoff(i: int, price: list[Integers]) -> Vector:
        lowest = price[0]
        for other in price[1:]:
            lowest = np.minimum(lowest, other)
        sellers = sum(other == lowest for other in price)
        sold = (price[i] == lowest) * (top - lowest) / np.asarray(sellers)
        profit: Vector = sold * (price[i] - cost)
        return profit

    return tabulate("bertrand", names, [numbered(top + 1)] * players, payoff)


def hotelling(players: int = 2, places: int = 7) -> Table:
    """The beach on which ice cream sellers choose places, and two meet in the middle.

    One customer at each of `places` places walks to the nearest seller; equally near ones share.

    Source: Hotelling (1929), "Stability in competition"; Eaton and Lipsey (1975) for three sellers.
    Teaches: minimal difference with two; with three there is no pure equilibrium.

    >>> hotelling(players=2, places=7).payoffs[:, 3, 5].tolist()  # at places 4 and 6; the customer at 5 is shared
    [4.5, 2.5]
    """
    names = [f"Seller {k + 1}" for k in range(len(crowd(players)))]
    at_least("places", places, 1)

    def payoff(i: int, place: list[Integers]) -> Vector:
        customers = np.zeros([1] * players)
        for customer in range(places):
            walks = [np.abs(at - customer) for at in place]
            nearest = walks[0]
            for walk in walks[1:]:
                nearest = np.minimum(nearest, walk)
            customers = customers + (walks[i] == nearest) / np.asarray(sum(walk == nearest for walk in walks))
        return customers

    return tabulate("hotelling", names, [numbered(places, 1)] * players, payoff)


def travellers_dilemma(low: int = 2, high: int = 12, bonus: float = 2.0) -> Table:
    """The two travellers who claim for the same lost suitcase and undercut each other to the least claim.

    Both are paid the lower claim; who claimed less gets the `bonus`, who claimed more pays it.

    Source: Basu (1994), "The traveler's dilemma: paradoxes of rationality in game theory" (claims 2 to 100).
    Teaches: iterated reasoning ends at the least claim, people stay near the top; learners walk
    down claim by claim.

    >>> travellers_dilemma(low=2, high=5, bonus=2.0).payoffs[:, 3, 2].tolist()  # claims of 5 and 4
    [2.0, 6.0]
    """
    at_least("low", low, 0)
    at_least("high", high, low)
    positive("bonus", bonus)

    def payoff(i: int, claim: list[Integers]) -> Vector:
        paid: Vector = low + np.minimum(claim[0], claim[1]) + bonus * np.sign(claim[1 - i] - claim[i])
        return paid

    return tabulate("travellers-dilemma", ("Row", "Column"), [numbered(high - low + 1, low)] * 2, payoff)


def ultimatum(pie: int = 5) -> Table:
    """The offer that can only be taken or left: one names a share, the other the least that is acceptable.

    Source: Güth, Schmittberger and Schwarze (1982), "An experimental analysis of ultimatum bargaining".
    Teaches: every split is the outcome of a Nash equilibrium; backward induction leaves the responder next to nothing.

    >>> game = ultimatum(pie=5)
    >>> game.payoffs[:, 2, 1].tolist(), game.payoffs[:, 1, 2].tolist()  # 2 for at least 1; 1 is not enough for 2
    ([3.0, 2.0], [0.0, 0.0])
    """
    at_least("pie", pie, 1)

    def payoff(i: int, choices: list[Integers]) -> Vector:
        offer, least = choices
        share = offer if i == 1 else pie - offer
        got: Vector = np.where(offer >= least, share, 0.0)
        return got

    labels = [[f"offer {k}" for k in range(pie + 1)], [f"accept {k} or more" for k in range(pie + 1)]]
    return tabulate("ultimatum", ("Proposer", "Responder"), labels, payoff)


def nash_demand(pie: int = 10) -> Table:
    """The bargain in which both name their share, and get it only if the shares fit in the pie.

    Source: Nash (1953), "Two-person cooperative games".
    Teaches: every exact division is an equilibrium; which one is found depends on the start.

    >>> game = nash_demand(pie=10)
    >>> game.payoffs[:, 6, 4].tolist(), game.payoffs[:, 6, 5].tolist()
    ([6.0, 4.0], [0.0, 0.0])
    """
    at_least("pie", pie, 1)

    def payoff(i: int, demand: list[Integers]) -> Vector:
        got: Vector = np.where(demand[0] + demand[1] <= pie, demand[i], 0.0)
        return got

    return tabulate("nash-demand", ("Row", "Column"), [numbered(pie + 1)] * 2, payoff)


def trust(endowment: int = 2, factor: int = 3) -> Table:
    """The investment that pays both if it is returned, and is not made because it need not be.

    The investor sends 0, ..., `endowment` coins, multiplied by `factor`; the trustee keeps all, or returns a third or a
    half of what arrives.

    Source: Berg, Dickhaut and McCabe (1995), "Trust, reciprocity, and social history".
    Teaches: the trustee's keeping is weakly dominant, so nothing is sent; and once nothing is, the
    trustee has nothing left to learn from.

    >>> trust(endowment=2, factor=3).payoffs[:, 2, 1].tolist()  # 2 sent, 6 arrive, a third comes back
    [2.0, 4.0]
    """
    at_least("endowment", endowment, 1)
    if factor <= 1:
        raise InputError(f"factor must be larger than 1, and {factor} came")
    returned = np.array([0.0, 1 / 3, 1 / 2])

    def payoff(i: int, choices: list[Integers]) -> Vector:
        sent, answer = choices
        back = factor * sent * returned[answer]
        got: Vector = factor * sent - back if i == 1 else endowment - sent + back
        return got

    labels = [[f"send {k}" for k in range(endowment + 1)], ["keep all", "return a third", "return half"]]
    return tabulate("trust", ("Investor", "Trustee"), labels, payoff)
