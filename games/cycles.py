"""Games without rest: each action is beaten by another, and learning goes round in circles.

Each function is a game; scenarios use its name with hyphens. Its settings are its arguments.
"""

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import tabulate
from gamesim.validation import positive

HANDS = ["rock", "paper", "scissors"]


def rock_paper_scissors() -> Table:
    """The children's game: each action beats one and loses to another.

    Source: folklore; as a model of cycling in nature, Maynard Smith (1982), appendix D.
    Teaches: zero-sum cycling around the one equilibrium, uniform play.

    >>> rock_paper_scissors().payoffs[:, 0, 2].tolist()  # Row's rock breaks Column's scissors
    [1.0, -1.0]
    """
    wins = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    return Table.from_payoffs([wins, -wins], name="rock-paper-scissors", actions=[HANDS, HANDS])


def bad_rps() -> Table:
    """Rock-paper-scissors in which losing costs more than winning brings: coarse equilibria pay more than CE.

    Source: Moulin and Vial (1978), "Strategically zero-sum games"; the matrix is A = [[0,-2,1],[1,0,-2],[-2,1,0]].
    Teaches: every correlated equilibrium pays -2/3 in all, coarse correlated ones up to 0: the sets truly differ.

    >>> bad_rps().payoffs[:, 0, 1].tolist()  # Row's rock, Column's paper
    [-2.0, 1.0]
    """
    row = np.array([[0, -2, 1], [1, 0, -2], [-2, 1, 0]])
    return Table.from_payoffs([row, row.T], name="bad-rps", actions=[HANDS, HANDS])


def rock_paper_scissors_well() -> Table:
    """Rock-paper-scissors with a well, which rock and scissors fall into and paper covers: nobody needs rock any more.

    Source: folklore of European schoolyards.
    Teaches: a weakly dominated action dies out; what remains is rock-paper-scissors with a well for the rock.

    >>> rock_paper_scissors_well().payoffs[:, 3, 0].tolist()  # Column's rock falls into Row's well
    [1.0, -1.0]
    """
    wins = np.array([[0, -1, 1, -1], [1, 0, -1, 1], [-1, 1, 0, -1], [1, -1, 1, 0]])
    return Table.from_payoffs([wins, -wins], name="rock-paper-scissors-well", actions=[[*HANDS, "well"]] * 2)


def rock_paper_scissors_lizard_spock() -> Table:
    """Rock-paper-scissors with five actions, each beating two and losing to two.

    Source: Kass and Bryla (about 1995).
    Teaches: a larger cycle with uniform equilibrium; a tournament in which every action is as good as any other.

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


def feeble_twin(loss: float = 2.0, win: float = 1.0, feebleness: float = 0.05) -> Table:
    """Bad rock-paper-scissors with a twin of scissors that is always a little worse, and yet may survive.

    A `loss` and a `win` are what they cost and bring; the twin gets `feebleness` less than scissors, always.

    Source: Hofbauer and Sandholm (2011), "Survival of dominated strategies under evolutionary dynamics".
    Teaches: while play cycles, dynamics such as the replicator's keep playing a strictly dominated action for long; no
    correlated equilibrium plays it at all.

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
    """The game in which fictitious play cycles for ever.

    Source: Shapley (1964), "Some topics in two-person games".
    Teaches: no-external-regret play earns nearly 1 in all, a coarse correlated equilibrium that is no correlated one;
    learners without swap regret do reach a correlated equilibrium.

    >>> shapley().payoffs[:, 0, 1].tolist()  # Column is one further than Row, and wins
    [0.0, 1.0]
    """
    column = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    return Table.from_payoffs(
        [np.eye(3), column], name="shapley", actions=[["top", "middle", "bottom"], ["left", "centre", "right"]]
    )


def sparrow(beta: float = 0.7) -> Table:
    """Shapley's game with a dial: fictitious play is periodic at one end and chaotic in between.

    At `beta` = 0 it is Shapley's game; near the golden ratio's 0.618 the cycle loses its stability.

    Source: Sparrow, van Strien and Harris (2008), "Fictitious play in 3×3 games: the transition between periodic and
    chaotic behaviour".
    Teaches: simple learners in simple games can be chaotic.

    >>> sparrow(beta=0.5).payoffs[:, 0, 0].tolist()  # in Shapley's game 1 and 0
    [1.0, -0.5]
    """
    if not -1 < beta < 1:
        raise InputError(f"beta must lie between -1 and 1, and {beta} came")
    row = np.array([[1, 0, beta], [beta, 1, 0], [0, beta, 1]])
    column = np.array([[-beta, 1, 0], [0, -beta, 1], [1, 0, -beta]])
    return Table.from_payoffs([row, column], name="sparrow")


def zeeman() -> Table:
    """The game whose dynamics have two attractors: a pure action and a mixture of all three.

    Source: Zeeman (1980), "Population dynamics from game theory".
    Teaches: where learning ends depends on where it starts, and a stable mixture need not be evolutionarily stable.

    >>> zeeman().payoffs[:, 0, 1].tolist()
    [6.0, -3.0]
    """
    row = np.array([[0, 6, -4], [-3, 0, 5], [-1, 3, 0]])
    return Table.from_payoffs([row, row.T], name="zeeman")


def jordan() -> Table:
    """Three-player matching pennies, in which learning circles around the one equilibrium.

    Each wants to match the next, and the last wants to differ from the first.

    Source: Jordan (1993), "Three problems in learning mixed-strategy Nash equilibria".
    Teaches: no uncoupled smooth dynamic reaches this equilibrium; with three players cycling is not a zero-sum matter.

    >>> jordan().payoffs[:, 0, 0, 1].tolist()  # only the second fails: it does not match the third
    [1.0, -1.0, 1.0]
    """

    def payoff(i: int, choices: list[Integers]) -> Vector:
        match: Vector = np.where(choices[i] == choices[(i + 1) % 3], 1.0, -1.0)
        return -match if i == 2 else match

    return tabulate("jordan", ["First", "Second", "Third"], [["heads", "tails"]] * 3, payoff)
