"""Contests and parlour games: auctions, Blotto, attrition, Morra and poker."""

from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.formatting import shown
from gamesim.game import Table
from gamesim.games.divisions import divisions, number_of_divisions
from gamesim.games.limits import MOST_ACTIONS, Need, limited, table
from gamesim.games.tabulate import crowd, numbered, tabulate
from gamesim.validation import at_least, positive


def _share_of_prize(i: int, bids: list[Integers]) -> Vector:
    """Return bidder i's share of the prize: 1 for the only highest bid, an equal share in a tie, else 0."""
    highest = bids[0]
    for bid in bids[1:]:
        highest = np.maximum(highest, bid)
    tied = sum(bid == highest for bid in bids)
    share: Vector = (bids[i] == highest) / np.asarray(tied)
    return share


def _bidders(values: Sequence[float], top: int) -> tuple[list[str], list[list[str]]]:
    """Return the bidders' names and bids after checking the settings."""
    if len(values) < 2:
        raise InputError(f"values must have two or more entries, one per bidder, got {shown(values)}")
    for k, value in enumerate(values):
        at_least(f"values[{k + 1}]", value, 0)
    at_least("top", top, 1)
    return [f"Bidder {k + 1}" for k in range(len(values))], [numbered(top + 1)] * len(values)


@limited(lambda values, top: table(len(values), top + 1))
def first_price_auction(values: Sequence[float] = (6.0, 4.0), top: int = 6) -> Table:
    """A sealed-bid auction whose winner pays their bid.

    Ties are broken by lot; payoffs are expected payoffs.

    Parameters
    ----------
    values : sequence of float, default (6.0, 4.0)
        What the prize is worth to each bidder, at least 0; two or more bidders.
    top : int, default 6
        Largest bid, at least 1. Bids are 0, ..., `top`.

    Notes
    -----
    Source: Vickrey (1961), "Counterspeculation, auctions, and competitive sealed tenders".

    Payoffs:

        u_i = values[i] - b_i                    if b_i is the only highest bid
        u_i = (values[i] - b_i) / (number tied)  if b_i ties for the highest bid
        u_i = 0                                  otherwise

    Teaches: With the default settings the bidder with the higher value shades its bid: it bids 4 or 5, near the second
    value, in every pure equilibrium, and wins or ties. In coarse correlated equilibria the other bidder may win more
    often, with probability up to 5/8 (see Feldman, Lucier and Nisan, 2016).

    Examples
    --------
    >>> first_price_auction(values=(6.0, 4.0)).payoffs[:, 5, 3].tolist()  # bids of 5 and 3: the winner pays 5
    [1.0, 0.0]
    """
    names, bids = _bidders(values, top)
    return tabulate("first-price-auction", names, bids, lambda i, bid: _share_of_prize(i, bid) * (values[i] - bid[i]))


@limited(lambda values, top: table(len(values), top + 1))
def second_price_auction(values: Sequence[float] = (6.0, 4.0), top: int = 6) -> Table:
    """A sealed-bid auction whose winner pays the second-highest bid.

    Ties are broken by lot; payoffs are expected payoffs.

    Parameters
    ----------
    values : sequence of float, default (6.0, 4.0)
        What the prize is worth to each bidder, at least 0; two or more bidders.
    top : int, default 6
        Largest bid, at least 1. Bids are 0, ..., `top`.

    Notes
    -----
    Source: Vickrey (1961), "Counterspeculation, auctions, and competitive sealed tenders".

    Payoffs:

        p = max of the other bids
        u_i = values[i] - p                    if b_i > p
        u_i = (values[i] - p) / (number tied)  if b_i = p
        u_i = 0                                otherwise

    Teaches: If the values are among the bids, as by default, bidding one's value is weakly dominant, so truthful bids
    are an equilibrium. There are others: the bidder with the lower value bids high enough to deter the other, and wins.
    Weak dominance does not make learners truthful, because many bids do equally well against the bids they meet.

    Examples
    --------
    >>> second_price_auction(values=(6.0, 4.0)).payoffs[:, 5, 3].tolist()  # bids of 5 and 3: the winner pays 3
    [3.0, 0.0]
    """
    names, bids = _bidders(values, top)

    def payoff(i: int, bid: list[Integers]) -> Vector:
        others = [bid[j] for j in range(len(bid)) if j != i]
        price = others[0]
        for other in others[1:]:
            price = np.maximum(price, other)
        return _share_of_prize(i, bid) * (values[i] - price)

    return tabulate("second-price-auction", names, bids, payoff)


@limited(lambda values, top: table(len(values), top + 1))
def all_pay_auction(values: Sequence[float] = (5.0, 5.0), top: int = 6) -> Table:
    """An auction in which every bidder pays: lobbying, patent races, arms races.

    Ties are broken by lot; payoffs are expected payoffs.

    Parameters
    ----------
    values : sequence of float, default (5.0, 5.0)
        What the prize is worth to each bidder, at least 0; two or more bidders.
    top : int, default 6
        Largest bid, at least 1. Bids are 0, ..., `top`.

    Notes
    -----
    Source: Baye, Kovenock and de Vries (1996), "The all-pay auction with complete information".

    Payoffs:

        u_i = values[i] - b_i                  if b_i is the only highest bid
        u_i = values[i] / (number tied) - b_i  if b_i ties for the highest bid
        u_i = -b_i                             otherwise

    Teaches: There is no pure equilibrium with the default settings. In the only equilibrium, Nash and coarse correlated
    alike, both bid 0, ..., 4 with probability 1/5 each: the bids add up to 4 of the prize of 5 on average, and each
    bidder keeps 1/2. With continuous bids the expected bids of two bidders with equal values add up to the whole prize;
    integer bids up to the value or more leave each of them at most 1, a vanishing share of a large prize.

    Examples
    --------
    >>> all_pay_auction(values=(6.0, 4.0)).payoffs[:, 5, 3].tolist()  # bids of 5 and 3: both pay
    [1.0, -3.0]
    """
    names, bids = _bidders(values, top)
    return tabulate("all-pay-auction", names, bids, lambda i, bid: _share_of_prize(i, bid) * values[i] - bid[i])


@limited(lambda longest: table(2, longest + 1))
def war_of_attrition(value: float = 4.0, longest: int = 6) -> Table:
    """The war of attrition: the more patient player wins, and both pay.

    Both stop when the less patient player gives in. A unit of time costs each of them 1.

    Parameters
    ----------
    value : float, default 4.0
        Value of the prize, positive.
    longest : int, default 6
        Longest wait, at least 1. Waits are 0, ..., `longest`.

    Notes
    -----
    Source: Maynard Smith (1974), "The theory of games and the evolution of animal conflicts".

    Payoffs:

        u_i = value - min(w_1, w_2)      if w_i > w_j
        u_i = value / 2 - min(w_1, w_2)  if w_i = w_j
        u_i = -min(w_1, w_2)             if w_i < w_j

    Teaches: If waits of at least `value` are possible, as by default, there are pure equilibria in which one player
    gives in at once because the other would wait that long. In the symmetric mixed equilibrium waiting consumes most of
    the prize (with the default settings each player keeps 0.38 of 4), and all of it in continuous time.

    Examples
    --------
    >>> war_of_attrition(value=4.0).payoffs[:, 3, 1].tolist()  # Row waits up to 3, Column gives in at 1
    [3.0, -1.0]
    """
    positive("value", value)
    at_least("longest", longest, 1)

    def payoff(i: int, wait: list[Integers]) -> Vector:
        return _share_of_prize(i, wait) * value - np.minimum(wait[0], wait[1])

    return tabulate("war-of-attrition", ("Row", "Column"), [numbered(longest + 1)] * 2, payoff)


def _needs_of_blotto(soldiers: Sequence[int], fields: int) -> Iterator[Need]:
    yield Need("actions of {amount} numbers", fields, MOST_ACTIONS)
    yield from table(2, [number_of_divisions(army, fields) for army in soldiers[:2]], loops=fields)


@limited(_needs_of_blotto)
def blotto(soldiers: Sequence[int] = (5, 5), fields: int = 3) -> Table:
    """Colonel Blotto: divide soldiers among fields; the larger force wins a field.

    Parameters
    ----------
    soldiers : sequence of int, default (5, 5)
        Soldiers of the two players, at least 0 each.
    fields : int, default 3
        Number of fields, at least 1.

    Notes
    -----
    Source: Borel (1921); Gross and Wagner (1950), "A continuous Colonel Blotto game".

    Payoffs:

        u_1 = (fields that player 1 wins) - (fields that player 2 wins)
        u_2 = -u_1

    Teaches: A zero-sum game with many actions. With the default settings it has no pure equilibrium: for every division
    of the soldiers there is one that beats it.

    Examples
    --------
    >>> blotto(soldiers=[2, 1], fields=2).payoffs[0]
    array([[1., 0.],
           [1., 1.],
           [0., 1.]])
    """
    if len(soldiers) != 2:
        raise InputError(f"soldiers must have two entries, one per player, got {shown(soldiers)}")
    at_least("fields", fields, 1)
    for army in soldiers:
        at_least("soldiers", army, 0)
    forces = [divisions(army, fields) for army in soldiers]
    labels = [["-".join(map(str, force)) for force in army.tolist()] for army in forces]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        won = sum(np.sign(forces[i][choices[i], k] - forces[1 - i][choices[1 - i], k]) for k in range(fields))
        return np.asarray(won, dtype=np.float64)

    return tabulate("blotto", ("Row", "Column"), labels, payoff)


@limited(lambda fingers: table(2, fingers**2))
def morra(fingers: int = 2) -> Table:
    """Morra: show fingers and guess the other's; a sole correct guess wins the sum.

    Parameters
    ----------
    fingers : int, default 2
        Largest number of fingers, at least 1.

    Notes
    -----
    Source: ancient Rome; Dresher (1961), "Games of Strategy"; solved in Dantzig (1963).

    Payoffs:

        u_1 = ([player 1 guesses right] - [player 2 guesses right]) · (fingers shown by both)
        u_2 = -u_1

    Teaches: A symmetric zero-sum game, so its value is 0. With two fingers, optimal play never shows and guesses the
    same number; with three, it always shows and guesses numbers that add up to 4.

    Examples
    --------
    >>> game = morra(fingers=2)
    >>> game.actions[0][1], game.actions[1][3]
    ('show 1, say 2', 'show 2, say 2')
    >>> game.payoffs[:, 1, 3].tolist()
    [3.0, -3.0]
    """
    at_least("fingers", fingers, 1)
    shows, guesses = np.array(list(product(range(1, fingers + 1), repeat=2)), dtype=np.int64).T
    labels = [f"show {show}, say {guess}" for show, guess in zip(shows, guesses, strict=True)]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        mine, other = choices[i], choices[1 - i]
        right = (guesses[mine] == shows[other]) * 1.0 - (guesses[other] == shows[mine])
        won: Vector = right * (shows[mine] + shows[other])
        return won

    return tabulate("morra", ("Row", "Column"), [labels] * 2, payoff)


def kuhn_poker() -> Table:
    """Kuhn poker: three cards and one bet, with bluffing and slow play.

    Both pay 1 and get one of jack, queen and king. The first player bets 1 or checks; a bet is called or folded. After
    a check the second player may bet 1, and the first then calls or folds. The actions of the first player have one
    letter per card, in the order jack, queen, king: b bet; c check, then call; f check, then fold. Those of the second
    have two per card: c call or f fold after a bet, then b bet or k check after a check.

    Notes
    -----
    Source: Kuhn (1950), "A simplified two-person poker".

    Payoffs:

        u_1 = expected winnings over the six deals
        u_2 = -u_1

    Teaches: The value is -1/18 to the first player. In optimal play the first player bluffs with the jack one third as
    often as it bets with the king.

    Examples
    --------
    >>> game = kuhn_poker()
    >>> bet, fold = game.actions[0].index("bbb"), game.actions[1].index("fkfkfk")
    >>> game.sizes, game.payoffs[:, bet, fold].round(9).tolist()  # always betting wins 1 from always folding
    ((27, 64), [1.0, -1.0])
    """
    cards = range(3)
    firsts = ["".join(plan) for plan in product("bcf", repeat=3)]
    seconds = ["".join(plan) for plan in product(("cb", "ck", "fb", "fk"), repeat=3)]

    def showdown(first: str, second: str) -> int:
        """Return the stake of a showdown (1 or 2), 0 if the second player folds, or -1 if the first does."""
        if first == "b":
            return 2 if second[0] == "c" else 0
        if second[1] == "k":
            return 1
        return 2 if first == "c" else -1

    payoffs = np.zeros((len(firsts), len(seconds)))
    for (row, first), (column, second) in product(enumerate(firsts), enumerate(seconds)):
        for mine, other in permutations(cards, 2):
            stake = showdown(first[mine], second[2 * other : 2 * other + 2])
            won = stake * (1 if mine > other else -1) if stake > 0 else (1 if stake == 0 else -1)
            payoffs[row, column] += won / 6
    return Table.from_payoffs(
        [payoffs, -payoffs], name="kuhn-poker", players=("First", "Second"), actions=[firsts, seconds]
    )


@limited(lambda players, top: table(players, top + 1))
def guess_two_thirds(players: int = 3, top: int = 10, fraction: float = 2 / 3) -> Table:
    """The beauty contest: the guess nearest to two thirds of the average wins.

    Parameters
    ----------
    players : int, default 3
        Number of players, at least 2.
    top : int, default 10
        Largest guess, at least 1. Guesses are 0, ..., `top`.
    fraction : float, default 2/3
        Fraction of the average to guess, strictly between 0 and 1.

    Notes
    -----
    Source: Moulin (1986); Nagel (1995), "Unraveling in guessing games: an experimental study".

    Payoffs:

        u_i = 1 / (number of nearest guesses) if i's guess is among the nearest to fraction · average
        u_i = 0 otherwise

    Teaches: With the default fraction and up to three players, everyone guessing 0 is the only pure equilibrium;
    iterated dominance leads there step by step, and so does Hedge over the rounds. With four or more players, everyone
    guessing 1 is an equilibrium too, because guesses are integers.

    Examples
    --------
    >>> guess_two_thirds(players=3, top=10).payoffs[:, 6, 3, 9].tolist()  # two thirds of the average 6 are 4
    [0.0, 1.0, 0.0]
    """
    names = crowd(players)
    at_least("top", top, 1)
    if not 0 < fraction < 1:
        raise InputError(f"fraction must be between 0 and 1, both excluded, got {fraction}")

    def payoff(i: int, guess: list[Integers]) -> Vector:
        target = fraction * sum(guess) / players
        # Rounded, so that floating-point errors do not break ties.
        misses = [np.round(np.abs(choice - target), 9) for choice in guess]
        nearest = misses[0]
        for miss in misses[1:]:
            nearest = np.minimum(nearest, miss)
        winners = sum(miss == nearest for miss in misses)
        prize: Vector = (misses[i] == nearest) / np.asarray(winners)
        return prize

    return tabulate("guess-two-thirds", names, [numbered(top + 1)] * players, payoff)
