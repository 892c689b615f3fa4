"""Markets and bargaining: firms choose quantities, prices or places; two players divide a pie."""

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.limits import limited, table
from gamesim.games.tabulate import crowd, numbered, tabulate
from gamesim.validation import at_least, positive


@limited(lambda players, most: table(players, most + 1))
def cournot(players: int = 2, most: int = 6, demand: float = 12.0, cost: float = 0.0) -> Table:
    """Cournot competition: firms choose quantities, and the total sets the price.

    Parameters
    ----------
    players : int, default 2
        Number of firms, at least 1.
    most : int, default 6
        Largest quantity, at least 1. Quantities are 0, ..., `most`.
    demand : float, default 12.0
        Price at a total quantity of 0, positive.
    cost : float, default 0.0
        Cost per unit, at least 0.

    Notes
    -----
    Source: Cournot (1838), "Recherches sur les principes mathématiques de la théorie des richesses", chapter 7.

    Payoffs:

        price = max(demand - Σ_j q_j, 0)
        u_i = q_i (price - cost)

    Teaches: With continuous quantities two firms supply (demand - cost) / 3 each, between monopoly and perfect
    competition. With the default settings this is 4 each, and Hedge finds it from uniform strategies. Because
    quantities are integers, (3, 5) and (5, 3) are equilibria too.

    Examples
    --------
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


@limited(lambda players, top: table(players, top + 1))
def bertrand(players: int = 2, top: int = 6, cost: float = 1.0) -> Table:
    """Bertrand competition: the firm with the lowest price serves the whole market.

    Parameters
    ----------
    players : int, default 2
        Number of firms, at least 1.
    top : int, default 6
        Largest price, at least 1. Prices are 0, ..., `top`.
    cost : float, default 1.0
        Cost per unit, at least 0.

    Notes
    -----
    Source: Bertrand (1883), review of Cournot; the discrete prices leave equilibria just above cost.

    Payoffs:

        p = min_j p_j
        u_i = (top - p) (p - cost) / (number of firms at p) if p_i = p
        u_i = 0 otherwise

    Teaches: Two firms that undercut each other suffice to bring the price down to about the cost. Prices are integers,
    so there are two pure equilibria with the default settings: both firms at the cost, and both one above it.

    Examples
    --------
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


@limited(lambda players, places: table(players, places, loops=places))
def hotelling(players: int = 2, places: int = 7) -> Table:
    """Hotelling's line: sellers choose places, and customers walk to the nearest one.

    Parameters
    ----------
    players : int, default 2
        Number of sellers, at least 2.
    places : int, default 7
        Number of places, at least 1, with one customer each.

    Notes
    -----
    Source: Hotelling (1929), "Stability in competition"; Eaton and Lipsey (1975) for three sellers.

    Payoffs:

        u_i = Σ over customers c with i among the nearest sellers of 1 / (number of sellers nearest to c)

    Teaches: Two sellers meet in the middle: at the middle place if the number of places is odd, at the two middle
    places, together or apart, if it is even. Three sellers have a pure equilibrium only if there are at most four
    places. On longer lines they have none, as on Hotelling's continuous line (Eaton and Lipsey, 1975).

    Examples
    --------
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


@limited(lambda low, high: table(2, high - low + 1))
def travellers_dilemma(low: int = 2, high: int = 12, bonus: float = 2.0) -> Table:
    """The traveller's dilemma: two claims for a lost suitcase; the lower one is paid.

    Parameters
    ----------
    low : int, default 2
        Lowest claim, at least 0.
    high : int, default 12
        Highest claim, at least `low`.
    bonus : float, default 2.0
        Reward for the lower claim and penalty for the higher, positive.

    Notes
    -----
    Source: Basu (1994), "The traveler's dilemma: paradoxes of rationality in game theory" (claims 2 to 100).

    Payoffs:

        u_i = min(c_1, c_2) + bonus  if c_i < c_j
        u_i = min(c_1, c_2)          if c_i = c_j
        u_i = min(c_1, c_2) - bonus  if c_i > c_j

    Teaches: If bonus > 1, undercutting by 1 always pays, and the only equilibrium is the lowest claim of both.
    Participants in experiments claim much more; with the default settings Hedge ends up there. If bonus ≤ 1, every pair
    of equal claims is an equilibrium.

    Examples
    --------
    >>> travellers_dilemma(low=2, high=5, bonus=2.0).payoffs[:, 3, 2].tolist()  # claims of 5 and 4
    [2.0, 6.0]
    """
    at_least("low", low, 0)
    if high < low:
        raise InputError(f"high must be at least low ({low}), got {high}")
    positive("bonus", bonus)

    def payoff(i: int, claim: list[Integers]) -> Vector:
        paid: Vector = low + np.minimum(claim[0], claim[1]) + bonus * np.sign(claim[1 - i] - claim[i])
        return paid

    return tabulate("travellers-dilemma", ("Row", "Column"), [numbered(high - low + 1, low)] * 2, payoff)


@limited(lambda pie: table(2, pie + 1))
def ultimatum(pie: int = 5) -> Table:
    """The ultimatum game: one player offers a share, the other takes it or leaves it.

    The responder names the smallest share that it accepts.

    Parameters
    ----------
    pie : int, default 5
        Number of coins to share, at least 1.

    Notes
    -----
    Source: Güth, Schmittberger and Schwarze (1982), "An experimental analysis of ultimatum bargaining".

    Payoffs:

        (pie - offer, offer) if the offer is accepted
        (0, 0) otherwise

    Teaches: Every split is the outcome of some Nash equilibrium. Backward induction leaves the responder at most one
    coin.

    Examples
    --------
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


@limited(lambda pie: table(2, pie + 1))
def nash_demand(pie: int = 10) -> Table:
    """The Nash demand game: both name a share and get it if the shares are feasible.

    Parameters
    ----------
    pie : int, default 10
        Number of coins to share, at least 1. Demands are 0, ..., `pie`.

    Notes
    -----
    Source: Nash (1953), "Two-person cooperative games".

    Payoffs:

        u_i = d_i if d_1 + d_2 ≤ pie
        u_i = 0 otherwise

    Teaches: Every exact division of the pie is an equilibrium, and so is the demand of everything by both. Which one
    learners find depends on where they start.

    Examples
    --------
    >>> game = nash_demand(pie=10)
    >>> game.payoffs[:, 6, 4].tolist(), game.payoffs[:, 6, 5].tolist()
    ([6.0, 4.0], [0.0, 0.0])
    """
    at_least("pie", pie, 1)

    def payoff(i: int, demand: list[Integers]) -> Vector:
        got: Vector = np.where(demand[0] + demand[1] <= pie, demand[i], 0.0)
        return got

    return tabulate("nash-demand", ("Row", "Column"), [numbered(pie + 1)] * 2, payoff)


@limited(lambda endowment: table(2, [endowment + 1, 3]))
def trust(endowment: int = 2, factor: int = 3) -> Table:
    """The trust game: an investment pays both if part of it is returned.

    The investor sends 0, ..., `endowment` coins. The trustee keeps everything that arrives, or returns a third or half
    of it.

    Parameters
    ----------
    endowment : int, default 2
        Coins of the investor, at least 1.
    factor : int, default 3
        What each coin sent is multiplied by, at least 2.

    Notes
    -----
    Source: Berg, Dickhaut and McCabe (1995), "Trust, reciprocity, and social history".

    Payoffs:

        investor: endowment - sent + share · factor · sent
        trustee:  (1 - share) · factor · sent, with share 0, 1/3 or 1/2

    Teaches: Keeping everything is weakly dominant for the trustee, so nothing is sent in any Nash equilibrium. Once
    nothing is sent, all actions of the trustee pay the same, and it has nothing left to learn from.

    Examples
    --------
    >>> trust(endowment=2, factor=3).payoffs[:, 2, 1].tolist()  # 2 sent, 6 arrive, a third is returned
    [2.0, 4.0]
    """
    at_least("endowment", endowment, 1)
    if factor <= 1:
        raise InputError(f"factor must be greater than 1, got {factor}")
    returned = np.array([0.0, 1 / 3, 1 / 2])

    def payoff(i: int, choices: list[Integers]) -> Vector:
        sent, answer = choices
        back = factor * sent * returned[answer]
        got: Vector = factor * sent - back if i == 1 else endowment - sent + back
        return got

    labels = [[f"send {k}" for k in range(endowment + 1)], ["keep all", "return a third", "return half"]]
    return tabulate("trust", ("Investor", "Trustee"), labels, payoff)
