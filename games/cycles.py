"""Games with cycles: every action is beaten by another, and learning may cycle.

Each function is a game. Scenarios use its name with hyphens; its arguments are the settings.
"""

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.limits import limited
from gamesim.games.tabulate import tabulate
from gamesim.validation import positive

HANDS = ["rock", "paper", "scissors"]


def rock_paper_scissors() -> Table:
    """Rock-paper-scissors: each action beats one action and loses to another.

    Notes
    -----
    Source: folklore; as a model of cycling in nature, Maynard Smith (1982), appendix D.

    Payoffs, as (Row, Column):

                  rock     paper    scissors
        rock      (0, 0)   (-1, 1)  (1, -1)
        paper     (1, -1)  (0, 0)   (-1, 1)
        scissors  (-1, 1)  (1, -1)  (0, 0)

    Teaches: Uniform play is the only equilibrium of this zero-sum game. From other starts, Hedge cycles around it.

    Examples
    --------
    >>> rock_paper_scissors().payoffs[:, 0, 2].tolist()  # Row's rock breaks Column's scissors
    [1.0, -1.0]
    """
    wins = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    return Table.from_payoffs([wins, -wins], name="rock-paper-scissors", actions=[HANDS, HANDS])


def bad_rps() -> Table:
    """Rock-paper-scissors in which a loss costs more than a win gains.

    Notes
    -----
    Source: Moulin and Vial (1978), "Strategically zero-sum games"; the matrix is A = [[0,-2,1],[1,0,-2],[-2,1,0]].

    Payoffs, as (Row, Column):

                  rock     paper    scissors
        rock      (0, 0)   (-2, 1)  (1, -2)
        paper     (1, -2)  (0, 0)   (-2, 1)
        scissors  (-2, 1)  (1, -2)  (0, 0)

    Teaches: Every correlated equilibrium has a total payoff of -2/3, while coarse correlated equilibria reach 0. The
    two sets differ in what they pay, not only in what they play.

    Examples
    --------
    >>> bad_rps().payoffs[:, 0, 1].tolist()  # Row's rock, Column's paper
    [-2.0, 1.0]
    """
    row = np.array([[0, -2, 1], [1, 0, -2], [-2, 1, 0]])
    return Table.from_payoffs([row, row.T], name="bad-rps", actions=[HANDS, HANDS])


def good_rps() -> Table:
    """Rock-paper-scissors in which a win gains more than a loss costs.

    Notes
    -----
    Source: Hofbauer and Sigmund (1998), "Evolutionary Games and Population Dynamics", section 7.7; the matrix is
    A = [[0,-1,2],[2,0,-1],[-1,2,0]].

    Payoffs, as (Row, Column):

                  rock     paper    scissors
        rock      (0, 0)   (-1, 2)  (2, -1)
        paper     (2, -1)  (0, 0)   (-1, 2)
        scissors  (-1, 2)  (2, -1)  (0, 0)

    Teaches: Uniform play is evolutionarily stable, and the replicator dynamic of one population spirals into it. With
    payoffs -2 and 1 (bad-rps) it spirals away, with -1 and 1 it circles.

    Examples
    --------
    >>> good_rps().payoffs[:, 0, 1].tolist()  # Row's rock, Column's paper
    [-1.0, 2.0]
    """
    row = np.array([[0, -1, 2], [2, 0, -1], [-1, 2, 0]])
    return Table.from_payoffs([row, row.T], name="good-rps", actions=[HANDS, HANDS])


def rock_paper_scissors_well() -> Table:
    """Rock-paper-scissors with a well that beats rock and scissors.

    Rock and scissors fall into the well, and paper covers it.

    Notes
    -----
    Source: folklore of European schoolyards.

    Payoffs, as (Row, Column):

                  rock     paper    scissors  well
        rock      (0, 0)   (-1, 1)  (1, -1)   (-1, 1)
        paper     (1, -1)  (0, 0)   (-1, 1)   (1, -1)
        scissors  (-1, 1)  (1, -1)  (0, 0)    (-1, 1)
        well      (1, -1)  (-1, 1)  (1, -1)   (0, 0)

    Teaches: Rock is weakly dominated by the well, and the only equilibrium never plays it. What remains is
    rock-paper-scissors with the well in place of rock.

    Examples
    --------
    >>> rock_paper_scissors_well().payoffs[:, 3, 0].tolist()  # Column's rock falls into Row's well
    [1.0, -1.0]
    """
    wins = np.array([[0, -1, 1, -1], [1, 0, -1, 1], [-1, 1, 0, -1], [1, -1, 1, 0]])
    return Table.from_payoffs([wins, -wins], name="rock-paper-scissors-well", actions=[[*HANDS, "well"]] * 2)


def rock_paper_scissors_lizard_spock() -> Table:
    """Rock-paper-scissors with five actions, each beating two and losing to two.

    Notes
    -----
    Source: Kass and Bryla (about 1995).

    Payoffs, as (Row, Column):

                  rock     paper    scissors  spock    lizard
        rock      (0, 0)   (-1, 1)  (1, -1)   (-1, 1)  (1, -1)
        paper     (1, -1)  (0, 0)   (-1, 1)   (1, -1)  (-1, 1)
        scissors  (-1, 1)  (1, -1)  (0, 0)    (-1, 1)  (1, -1)
        spock     (1, -1)  (-1, 1)  (1, -1)   (0, 0)   (-1, 1)
        lizard    (-1, 1)  (1, -1)  (-1, 1)   (1, -1)  (0, 0)

    Teaches: A larger cycle, whose only equilibrium is uniform play. No action is better than any other: rotating the
    actions leaves the game unchanged.

    Examples
    --------
    >>> game = rock_paper_scissors_lizard_spock()
    >>> lizard, paper = game.actions[0].index("lizard"), game.actions[1].index("paper")
    >>> game.payoffs[:, lizard, paper].tolist()  # the lizard eats the paper
    [1.0, -1.0]
    """
    order = [
        "rock",
        "paper",
        "scissors",
        "spock",
        "lizard",
    ]  # each beats those one and three places before it, cyclically

    def payoff(i: int, choices: list[Integers]) -> Vector:
        ahead = (choices[i] - choices[1 - i]) % 5
        return np.where(ahead == 0, 0.0, np.where(ahead % 2 == 1, 1.0, -1.0))

    return tabulate("rock-paper-scissors-lizard-spock", ("Row", "Column"), [order] * 2, payoff)


@limited()
def feeble_twin(loss: float = 2.0, win: float = 1.0, feebleness: float = 0.05) -> Table:
    """Bad rock-paper-scissors with a dominated twin of scissors that may survive.

    Parameters
    ----------
    loss : float, default 2.0
        Cost of losing, positive.
    win : float, default 1.0
        Gain from winning, positive.
    feebleness : float, default 0.05
        How much less the twin gets than scissors, always; positive.

    Notes
    -----
    Source: Hofbauer and Sandholm (2011), "Survival of dominated strategies under evolutionary dynamics".

    Payoffs:

        u(twin, b) = u(scissors, b) - feebleness, for every action b
        u(a, twin) = u(a, scissors), for every other action a

    Teaches: While play cycles, many evolutionary dynamics (Brown-von Neumann-Nash and Smith dynamics among them) keep
    playing the twin although it is strictly dominated. The replicator dynamic and Hedge do eliminate it, slowly if
    feebleness is small. No correlated equilibrium plays it.

    Examples
    --------
    >>> feeble_twin(loss=3.0, feebleness=0.25).payoffs[0, 2:].tolist()  # scissors, and their twin
    [[-3.0, 1.0, 0.0, 0.0], [-3.25, 0.75, -0.25, -0.25]]
    """
    for name, value in (("loss", loss), ("win", win), ("feebleness", feebleness)):
        positive(name, value)
    three = np.array([[0, -loss, win], [win, 0, -loss], [-loss, win, 0]])
    four = np.pad(three, ((0, 1), (0, 1)), mode="edge")
    four[3] -= feebleness
    return Table.from_payoffs([four, four.T], name="feeble-twin", actions=[[*HANDS, "twin"]] * 2)


def shapley() -> Table:
    """Shapley's game: fictitious play cycles forever.

    Notes
    -----
    Source: Shapley (1964), "Some topics in two-person games".

    Payoffs, as (Row, Column):

                left    centre  right
        top     (1, 0)  (0, 1)  (0, 0)
        middle  (0, 0)  (1, 0)  (0, 1)
        bottom  (0, 1)  (0, 0)  (1, 0)

    Teaches: From an unequal start, learners with low external but high swap regret, such as Hedge, cycle in ever longer
    turns: play approaches the coarse correlated equilibria but not the correlated ones. Learners with low swap regret
    do approach a correlated equilibrium.

    Examples
    --------
    >>> shapley().payoffs[:, 0, 1].tolist()  # Column is one further than Row, and wins
    [0.0, 1.0]
    """
    column = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    return Table.from_payoffs(
        [np.eye(3), column], name="shapley", actions=[["top", "middle", "bottom"], ["left", "centre", "right"]]
    )


@limited()
def sparrow(beta: float = 0.7) -> Table:
    """Shapley's game with a parameter: fictitious play can be periodic or chaotic.

    Parameters
    ----------
    beta : float, default 0.7
        The parameter, strictly between -1 and 1. At 0 this is Shapley's game.

    Notes
    -----
    Source: Sparrow, van Strien and Harris (2008), "Fictitious play in 3×3 games: the transition between periodic and
    chaotic behaviour".

    Payoffs:

        Row:    1 for matching Column, beta for being one ahead of it (cyclically), else 0
        Column: 1 for being one ahead of Row (cyclically), -beta for matching it, else 0

    Teaches: Simple learners in simple games can be chaotic. Shapley's cycle loses its stability at the golden mean,
    beta ≈ 0.618; chaos follows, and near beta = 1 play is periodic again, with both players trying to be one ahead.

    Examples
    --------
    >>> sparrow(beta=0.5).payoffs[:, 0, 0].tolist()  # in Shapley's game 1 and 0
    [1.0, -0.5]
    """
    if not -1 < beta < 1:
        raise InputError(f"beta must be between -1 and 1, both excluded, got {beta}")
    row = np.array([[1, 0, beta], [beta, 1, 0], [0, beta, 1]])
    column = np.array([[-beta, 1, 0], [0, -beta, 1], [1, 0, -beta]])
    return Table.from_payoffs([row, column], name="sparrow")


def zeeman() -> Table:
    """Zeeman's game: the replicator dynamic has two attractors, one pure, one mixed.

    Notes
    -----
    Source: Zeeman (1980), "Population dynamics from game theory".

    Payoffs, as (Row, Column):

           1         2        3
        1  (0, 0)    (6, -3)  (-4, -1)
        2  (-3, 6)   (0, 0)   (5, 3)
        3  (-1, -4)  (3, 5)   (0, 0)

    Teaches: Where learning ends depends on where it starts. The uniform mixture attracts the replicator dynamic,
    although it is not evolutionarily stable: the first action invades it when common enough. The first action is a
    strict equilibrium.

    Examples
    --------
    >>> zeeman().payoffs[:, 0, 1].tolist()
    [6.0, -3.0]
    """
    row = np.array([[0, 6, -4], [-3, 0, 5], [-1, 3, 0]])
    return Table.from_payoffs([row, row.T], name="zeeman")


def jordan() -> Table:
    """Jordan's game: three-player matching pennies with a single, mixed equilibrium.

    The first wants to match the second, the second the third; the third wants to mismatch the first.

    Notes
    -----
    Source: Jordan (1993), "Three problems in learning mixed-strategy Nash equilibria".

    Payoffs:

        u_1 = 1 if a_1 = a_2, else -1
        u_2 = 1 if a_2 = a_3, else -1
        u_3 = 1 if a_3 ≠ a_1, else -1

    Teaches: Cycling is not peculiar to zero-sum games. From most starts, fictitious play does not converge here. Hart
    and Mas-Colell (2003) use variants of this game to show that no uncoupled smooth dynamic converges to Nash
    equilibria in all games.

    Examples
    --------
    >>> jordan().payoffs[:, 0, 0, 1].tolist()  # only the second fails: it does not match the third
    [1.0, -1.0, 1.0]
    """

    def payoff(i: int, choices: list[Integers]) -> Vector:
        match: Vector = np.where(choices[i] == choices[(i + 1) % 3], 1.0, -1.0)
        return -match if i == 2 else match

    return tabulate("jordan", ["First", "Second", "Third"], [["heads", "tails"]] * 3, payoff)
