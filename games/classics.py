"""Small games that everyone knows, as their sources print them: dilemmas, coordination, cycles.

Each function is a game; scenarios use its name with hyphens. Its settings are its arguments.
"""

import numpy as np

from gamesim.game import Table
from gamesim.games.tabulate import bimatrix, tabulate

PENNIES = ["heads", "tails"]
RPS = ["rock", "paper", "scissors"]


def prisoners_dilemma() -> Table:
    """The dilemma in which defecting is dominant and both defecting is worse for both.

    Source: Flood and Dresher (1950), named by Tucker; these payoffs are Axelrod's (1980).
    Teaches: a dominant action is the only correlated, coarse correlated and Nash equilibrium; every learner finds it.
    """
    return bimatrix("prisoners-dilemma", [[(3, 3), (0, 5)], [(5, 0), (1, 1)]], ["cooperate", "defect"])


def chicken() -> Table:
    """The game of daring whose correlated equilibria pay more than its Nash equilibria mixed.

    Source: Aumann (1974, 1987), "Correlated equilibrium as an expression of Bayesian rationality", with these payoffs.
    Teaches: a device that never says dare to both pays 5.25 each; the mixed Nash equilibrium 14/3.
    """
    return bimatrix("chicken", [[(6, 6), (2, 7)], [(7, 2), (0, 0)]], ["chicken out", "dare"])


def stag_hunt() -> Table:
    """The hunt in which trust pays most and caution risks least.

    Source: Rousseau (1755); Skyrms (2004), "The Stag Hunt and the Evolution of Social Structure".
    Teaches: two pure equilibria, one better, one safer; where learners end depends on where they start.
    """
    return bimatrix("stag-hunt", [[(4, 4), (0, 3)], [(3, 0), (3, 3)]], ["stag", "hare"])


def battle_of_the_sexes() -> Table:
    """The evening that both want to spend together, each at another place.

    Source: Luce and Raiffa (1957), "Games and Decisions", section 5.3.
    Teaches: coordination with a conflict; a coin flip seen by both is a correlated equilibrium worth 5 in all.
    """
    return bimatrix(
        "battle-of-the-sexes", [[(3, 2), (0, 0)], [(0, 0), (2, 3)]], ["opera", "fight"], players=("One", "Other")
    )


def traffic_light() -> Table:
    """The crossing where a traffic light is a correlated equilibrium.

    Source: Roughgarden (2016), "Twenty Lectures on Algorithmic Game Theory", example 13.5.
    Teaches: half the time one stops and half the time the other; no independent choices do as well for both.
    """
    return bimatrix("traffic-light", [[(0, 0), (0, 1)], [(1, 0), (-5, -5)]], ["stop", "go"], players=("East", "North"))


def matching_pennies() -> Table:
    """The smallest zero-sum game without a pure equilibrium.

    Source: von Neumann (1928), "Zur Theorie der Gesellschaftsspiele".
    Teaches: with Hedge the average play converges while the last strategies spiral out; optimistic Hedge spirals in.
    """
    cells = [[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]]
    return bimatrix("matching-pennies", cells, PENNIES, players=("Matcher", "Mismatcher"))


def rock_paper_scissors() -> Table:
    """The children's game: each action beats one and loses to another.

    Source: folklore; as a model of cycling in nature, Maynard Smith (1982), appendix D.
    Teaches: zero-sum cycling around the one equilibrium, uniform play.
    """
    wins = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    return Table.of([wins, -wins], name="rock-paper-scissors", actions=[RPS, RPS])


def bad_rps() -> Table:
    """Rock-paper-scissors in which losing costs more than winning brings: coarse equilibria pay more than CE.

    Source: Moulin and Vial (1978), "Strategically zero-sum games"; the matrix is A = [[0,-2,1],[1,0,-2],[-2,1,0]].
    Teaches: every correlated equilibrium pays -2/3 in all, coarse correlated ones up to 0: the sets truly differ.
    """
    row = np.array([[0, -2, 1], [1, 0, -2], [-2, 1, 0]])
    return Table.of([row, row.T], name="bad-rps", actions=[RPS, RPS])


def shapley() -> Table:
    """The game in which fictitious play cycles for ever.

    Source: Shapley (1964), "Some topics in two-person games".
    Teaches: no-external-regret play earns nearly 1 in all, a coarse correlated equilibrium that is no correlated one;
    learners without swap regret do reach a correlated equilibrium.
    """
    column = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    return Table.of(
        [np.eye(3), column], name="shapley", actions=[["top", "middle", "bottom"], ["left", "centre", "right"]]
    )


def jordan() -> Table:
    """Three-player matching pennies, in which learning circles around the one equilibrium.

    Each wants to match the next, and the last wants to differ from the first.

    Source: Jordan (1993), "Three problems in learning mixed-strategy Nash equilibria", example 2.1.
    Teaches: no uncoupled smooth dynamic reaches this equilibrium; with three players cycling is not a zero-sum matter.
    """

    def payoff(i: int, choices: list[np.ndarray]) -> np.ndarray:
        match = np.where(choices[i] == choices[(i + 1) % 3], 1.0, -1.0)
        return -match if i == 2 else match

    return tabulate("jordan", ["First", "Second", "Third"], [PENNIES] * 3, payoff)
