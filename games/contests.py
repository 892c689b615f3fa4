"""Contests and parlour games: auctions, battles over fields, waiting, fingers and cards."""

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import crowd, numbered, tabulate
from gamesim.validation import at_least, positive


def _share_of_prize(i: int, bids: list[Integers]) -> Vector:
    """How much of the prize bidder i gets: all of it as the only highest bidder, an equal part in a tie."""
    highest = bids[0]
    for bid in bids[1:]:
        highest = np.maximum(highest, bid)
    tied = sum(bid == highest for bid in bids)
    share: Vector = (bids[i] == highest) / np.asarray(tied)
    return share


def _bidders(values: Sequence[float], top: int) -> tuple[list[str], list[list[str]]]:
    """Names and bids of an auction, once its settings make sense."""
    if len(values) < 2:
        raise InputError(f"values must name what the prize is worth to two or more bidders, and {list(values)} came")
    for k, value in enumerate(values):
        at_least(f"value {k + 1}", value, 0)
    at_least("top", top, 1)
    return [f"Bidder {k + 1}" for k in range(len(values))], [numbered(top + 1)] * len(values)


def first_price_auction(values: Sequence[float] = (6.0, 4.0), top: int = 6) -> Table:
    """The sealed auction whose winner pays the own bid, and so bids less than the prize is worth.

    Bids are 0, ..., `top`; ties are broken by lot.

    Source: Vickrey (1961), "Counterspeculation, auctions, and competitive sealed tenders".
    Teaches: in equilibrium the one who values it most wins just above the second value; coarse correlated equilibria
    may give the prize to the wrong one (Feldman, Lucier and Nisan, 2016).

    >>> first_price_auction(values=(6.0, 4.0)).payoffs[:, 5, 3].tolist()  # bids of 5 and 3: the winner pays 5
    [1.0, 0.0]
    """
    names, bids = _bidders(values, top)
    return tabulate("first-price-auction", names, bids, lambda i, bid: _share_of_prize(i, bid) * (values[i] - bid[i]))


def second_price_auction(values: Sequence[float] = (6.0, 4.0), top: int = 6) -> Table:
    """The sealed auction whose winner pays the second-highest bid, so that honesty is weakly dominant.

    Bids are 0, ..., `top`; ties are broken by lot.

    Source: Vickrey (1961), "Counterspeculation, auctions, and competitive sealed tenders".
    Teaches: honest bids are an equilibrium, and so are bullying ones; weak dominance is too weak for learners.

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


def all_pay_auction(values: Sequence[float] = (5.0, 5.0), top: int = 6) -> Table:
    """The contest in which every bidder pays, winner or not: lobbying, races, arms.

    Bids are 0, ..., `top`; ties are broken by lot.

    Source: Baye, Kovenock and de Vries (1996), "The all-pay auction with complete information".
    Teaches: no pure equilibrium; in the mixed one the bids together eat up the prize.

    >>> all_pay_auction(values=(6.0, 4.0)).payoffs[:, 5, 3].tolist()  # bids of 5 and 3: both pay
    [1.0, -3.0]
    """
    names, bids = _bidders(values, top)
    return tabulate("all-pay-auction", names, bids, lambda i, bid: _share_of_prize(i, bid) * values[i] - bid[i])


def war_of_attrition(value: float = 4.0, longest: int = 6) -> Table:
    """The waiting contest: who waits longer gets the prize, and both pay for the time of the shorter wait.

    Waits are 0, ..., `longest`, and cost 1 a unit of time; the prize has this `value`, halved in a tie.

    Source: Maynard Smith (1974), "The theory of games and the evolution of animal conflicts".
    Teaches: pure equilibria in which one gives in at once, and a mixed one in which the waiting eats up the prize.

    >>> war_of_attrition(value=4.0).payoffs[:, 3, 1].tolist()  # Row waits up to 3, Column gives in at 1
    [3.0, -1.0]
    """
    positive("value", value)
    at_least("longest", longest, 1)

    def payoff(i: int, wait: list[Integers]) -> Vector:
        return _share_of_prize(i, wait) * value - np.minimum(wait[0], wait[1])

    return tabulate("war-of-attrition", ("Row", "Column"), [numbered(longest + 1)] * 2, payoff)


def blotto(soldiers: Sequence[int] = (5, 5), fields: int = 3) -> Table:
    """Colonel Blotto's problem: spread soldiers over fields; the larger force wins a field.

    A player's payoff is the number of fields won less the number lost; `soldiers` are the armies of the two.

    Source: Borel (1921); Gross and Wagner (1950), "A continuous Colonel Blotto game".
    Teaches: large zero-sum games with many equilibria; no pure action is safe.

    >>> blotto(soldiers=[2, 1], fields=2).payoffs[0]
    array([[1., 0.],
           [1., 1.],
           [0., 1.]])
    """
    if len(soldiers) != 2:
        raise InputError(f"soldiers must name two armies, and {list(soldiers)} came")
    at_least("fields", fields, 1)
    for army in soldiers:
        at_least("soldiers", army, 0)
    if (max(soldiers) + 1) ** (fields - 1) > 10**6:
        raise InputError(f"blotto with {max(soldiers)} soldiers on {fields} fields is too large: take fewer of either")
    forces = []
    for army in soldiers:
        first = np.array(list(product(range(army + 1), repeat=fields - 1)), dtype=np.int64).reshape(-1, fields - 1)
        last = army - first.sum(axis=1)
        forces.append(np.column_stack([first, last])[last >= 0])
    labels = [["-".join(map(str, force)) for force in army.tolist()] for army in forces]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        won = sum(np.sign(forces[i][choices[i], k] - forces[1 - i][choices[1 - i], k]) for k in range(fields))
        return np.asarray(won, dtype=np.float64)

    return tabulate("blotto", ("Row", "Column"), labels, payoff)


def morra(fingers: int = 2) -> Table:
    """Two-finger Morra: show fingers and guess the other's; a lone right guess wins the sum of the fingers.

    Source: ancient Rome; Dresher (1961), "Games of Strategy"; solved in Dantzig (1963).
    Teaches: a symmetric zero-sum game whose optimal play never shows and guesses the same number: the value is 0.

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
    """Poker with three cards and one bet, small enough to solve, with bluffing and slow play.

    Both pay 1 and get one of jack, queen, king. The first bets 1 or checks; a bet is called or folded; after a check
    the second may bet, and the first then calls or folds. First's actions, for each card: b bet, c check and call,
    f check and fold. Second's, for each card: against a bet c call or f fold, then against a check b bet or k check.

    Source: Kuhn (1950), "A simplified two-person poker".
    Teaches: the value is -1/18 to the first player; optimal play bluffs with the jack one third as often as it bets the
    king.

    >>> game = kuhn_poker()
    >>> bet, fold = game.actions[0].index("bbb"), game.actions[1].index("fkfkfk")
    >>> game.sizes, game.payoffs[:, bet, fold].round(9).tolist()  # who always bets wins 1 from who always folds
    ((27, 64), [1.0, -1.0])
    """
    cards = range(3)
    firsts = ["".join(plan) for plan in product("bcf", repeat=3)]
    seconds = ["".join(plan) for plan in product(("cb", "ck", "fb", "fk"), repeat=3)]

    def showdown(first: str, second: str) -> int:
        """Say who wins how much between two plans, by what happens: 0 if the second folds, 1 or 2 for a showdown."""
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


def guess_two_thirds(players: int = 3, top: int = 10, fraction: float = 2 / 3) -> Table:
    """The beauty contest: the guess nearest to two thirds of the average wins the prize.

    Guesses are 0, ..., `top`; the nearest to `fraction` times the average share a prize of 1.

    Source: Moulin (1986); Nagel (1995), "Unraveling in guessing games: an experimental study".
    Teaches: iterated dominance goes to 0 step by step, and so, in rounds, do learners.

    >>> guess_two_thirds(players=3, top=10).payoffs[:, 6, 3, 9].tolist()  # two thirds of the average 6 are 4
    [0.0, 1.0, 0.0]
    """
    names = crowd(players)
    at_least("top", top, 1)
    if not 0 < fraction < 1:
        raise InputError(f"fraction must lie between 0 and 1, and {fraction} came")

    def payoff(i: int, guess: list[Integers]) -> Vector:
        target = fraction * sum(guess) / players
        misses = [np.round(np.abs(choice - target), 9) for choice in guess]  # equal misses are equal: no rounding noise
        nearest = misses[0]
        for miss in misses[1:]:
            nearest = np.minimum(nearest, miss)
        winners = sum(miss == nearest for miss in misses)
        prize: Vector = (misses[i] == nearest) / np.asarray(winners)
        return prize

    return tabulate("guess-two-thirds", names, [numbered(top + 1)] * players, payoff)
