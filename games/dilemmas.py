"""Dilemmas and coordination: two players whose interests agree in part.

Each function is a game; scenarios use its name with hyphens. Its settings are its arguments.
"""

from gamesim.game import Table
from gamesim.games.tabulate import bimatrix, numbered, tabulate
from gamesim.validation import at_least, positive


def prisoners_dilemma() -> Table:
    """The dilemma in which defecting is dominant and both defecting is worse for both.

    Source: Flood and Dresher (1950), named by Tucker; these payoffs are Axelrod's (1980).
    Teaches: a dominant action is the only correlated, coarse correlated and Nash equilibrium: learners must find it.

    >>> prisoners_dilemma().payoffs[:, 0, 1].tolist()  # Row cooperates, Column defects
    [0.0, 5.0]
    """
    return bimatrix("prisoners-dilemma", [[(3, 3), (0, 5)], [(5, 0), (1, 1)]], ["cooperate", "defect"])


def deadlock() -> Table:
    """The dilemma that is none: defecting is dominant, and best for both.

    Source: Snyder and Diesing (1977), "Conflict among Nations".
    Teaches: a dominant action need not be a tragedy; compare the prisoner's dilemma, one swap of payoffs away.

    >>> deadlock().payoffs[:, 0, 1].tolist()  # Row cooperates, Column defects
    [0.0, 3.0]
    """
    return bimatrix("deadlock", [[(1, 1), (0, 3)], [(3, 0), (2, 2)]], ["cooperate", "defect"])


def chicken() -> Table:
    """The game of daring whose correlated equilibria pay more than its Nash equilibria mixed.

    Source: Aumann (1974, 1987), "Correlated equilibrium as an expression of Bayesian rationality", with these payoffs.
    Teaches: a device that never says dare to both pays 5.25 each; the mixed Nash equilibrium 14/3.

    >>> chicken().payoffs[:, 0, 1].tolist()  # Row chickens out, Column dares
    [2.0, 7.0]
    """
    return bimatrix("chicken", [[(6, 6), (2, 7)], [(7, 2), (0, 0)]], ["chicken out", "dare"])


def hawk_dove(value: float = 2.0, cost: float = 4.0) -> Table:
    """The contest over a prize in which fighting costs more than the prize is worth.

    Two hawks get (value - cost) / 2 each, a hawk takes the value from a dove, two doves share it.

    Source: Maynard Smith and Price (1973), "The logic of animal conflict".
    Teaches: the mixed equilibrium has value / cost hawks; a correlated device that names an owner does better.

    >>> game = hawk_dove(value=3.0, cost=4.0)
    >>> game.payoffs[:, 0, 0].tolist(), game.payoffs[:, 0, 1].tolist()  # two hawks; a hawk and a dove
    ([-0.5, -0.5], [3.0, 0.0])
    """
    positive("value", value)
    positive("cost", cost)
    fight = (value - cost) / 2
    cells = [[(fight, fight), (value, 0.0)], [(0.0, value), (value / 2, value / 2)]]
    return bimatrix("hawk-dove", cells, ["hawk", "dove"])


def stag_hunt() -> Table:
    """The hunt in which trust pays most and caution risks least.

    Source: Rousseau (1755); Skyrms (2004), "The Stag Hunt and the Evolution of Social Structure".
    Teaches: two pure equilibria, one better, one safer; where learners end depends on where they start.

    >>> stag_hunt().payoffs[:, 0, 1].tolist()  # Row goes for the stag, Column for a hare
    [0.0, 3.0]
    """
    return bimatrix("stag-hunt", [[(4, 4), (0, 3)], [(3, 0), (3, 3)]], ["stag", "hare"])


def battle_of_the_sexes() -> Table:
    """The evening that both want to spend together, each at another place.

    Source: Luce and Raiffa (1957), "Games and Decisions", section 5.3.
    Teaches: coordination with a conflict; a coin flip seen by both is a correlated equilibrium worth 5 in all.

    >>> battle_of_the_sexes().payoffs[:, 0, 0].tolist()  # both at the opera
    [3.0, 2.0]
    """
    return bimatrix(
        "battle-of-the-sexes", [[(3, 2), (0, 0)], [(0, 0), (2, 3)]], ["opera", "fight"], players=("One", "Other")
    )


def traffic_light() -> Table:
    """The crossing where a traffic light is a correlated equilibrium.

    Source: Roughgarden (2016), "Twenty Lectures on Algorithmic Game Theory", lecture 13.
    Teaches: half the time one stops and half the time the other; no independent choices do as well for both.

    >>> traffic_light().payoffs[:, 1, 0].tolist()  # East goes, North stops
    [1.0, 0.0]
    """
    return bimatrix("traffic-light", [[(0, 0), (0, 1)], [(1, 0), (-5, -5)]], ["stop", "go"], players=("East", "North"))


def pure_coordination(actions: int = 3) -> Table:
    """The meeting without a meeting point: 1 for both if they choose the same place, else 0.

    Source: Schelling (1960), "The Strategy of Conflict", chapter 3.
    Teaches: as many strict equilibria as places; uniform play is one too, and equal
    learners stay there: it takes drawn actions (sampled feedback) or unequal starts to agree on a place.

    >>> game = pure_coordination(actions=4)
    >>> game.payoffs[:, 2, 2].tolist(), game.payoffs[:, 2, 3].tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """
    at_least("actions", actions, 1)
    places = numbered(actions, 1)
    return tabulate("pure-coordination", ("Row", "Column"), [places] * 2, lambda i, at: (at[0] == at[1]) * 1.0)
