"""Games of several players: what each gets depends on how many of the others do what."""

from gamesim.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import at_least, crowd, numbered, tabulate


def el_farol(players: int = 5, capacity: int = 3) -> Table:
    """The bar that is fun unless too many come.

    Going pays 1 if at most `capacity` go and -1 if more do; staying at home pays 0.

    Source: Arthur (1994), "Inductive reasoning and bounded rationality".
    Teaches: many pure equilibria, all unequal; learners sort themselves into those who go and those who do not.

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
    """
    names = crowd(players)
    at_least("endowment", endowment, 1)
    if not 1 < factor < players:
        raise InputError(f"factor must lie between 1 and the number of players, {players}, and {factor} came")

    def payoff(i: int, give: list[Integers]) -> Vector:
        kept: Vector = endowment - give[i] + factor / players * sum(give)
        return kept

    return tabulate("public-goods", names, [numbered(endowment + 1)] * players, payoff)
