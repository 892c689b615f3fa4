"""Games whose equilibria surprise: secrets that help, dominated actions that pay, reasoning that ends too soon.

Each function is a game; scenarios use its name with hyphens. Its settings are its arguments.
"""

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import bimatrix, tabulate
from gamesim.validation import at_least


def dominated_twins(lateness: float = 0.1) -> Table:
    """The meeting at which always coming late, a strictly dominated action, is a coarse correlated equilibrium.

    Two places; meeting pays 1, and coming late costs `lateness` whatever the other does. Drawing a place by a public
    coin and both coming late pays 1 - lateness; no fixed action pays more than 1/2.

    Source: the observation is Viossat and Zapechelnyuk's (2013), "No-regret dynamics and fictitious play".
    Teaches: coarse correlated equilibria can live on dominated actions, correlated equilibria never do.

    >>> dominated_twins().payoffs[0].round(1).tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.9, -0.1, 0.9, -0.1], [-0.1, 0.9, -0.1, 0.9]]
    """
    if not 0 < lateness < 0.5:
        raise InputError(f"lateness must lie between 0 and 1/2, and {lateness} came")
    labels = ["park", "quay", "park, late", "quay, late"]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        pay: Vector = (choices[0] % 2 == choices[1] % 2) - lateness * (choices[i] >= 2)
        return pay

    return tabulate("dominated-twins", ("Row", "Column"), [labels] * 2, payoff)


def aumann() -> Table:
    """The three-player game in which two players share a secret and all three gain.

    If the first two flip a coin that the third cannot see, all get 2; the third, knowing it, would exploit them.

    Source: Aumann (1974), "Subjectivity and correlation in randomized strategies"; Osborne and Rubinstein (1994),
    exercise 48.1.
    Teaches: what a player does not know can help everyone; every pure Nash equilibrium pays somebody nothing.

    >>> aumann().payoffs[:, 0, 0, 0].tolist()  # (top, left, A)
    [0.0, 0.0, 3.0]
    """
    payoffs = np.zeros((3, 2, 2, 3))
    payoffs[:, 0, 0, 0] = 0, 0, 3
    payoffs[:, 1, 0, 0] = 1, 0, 0
    payoffs[:, 0, 0, 1] = payoffs[:, 1, 1, 1] = 2
    payoffs[:, 1, 0, 2] = 0, 1, 0
    payoffs[:, 1, 1, 2] = 0, 0, 3
    actions = [["top", "bottom"], ["left", "right"], ["A", "B", "C"]]
    return Table.from_payoffs(payoffs, name="aumann", players=["First", "Second", "Third"], actions=actions)


def commitment() -> Table:
    """The game that a leader who can commit wins with an action that is dominated.

    Source: Conitzer and Sandholm (2006), "Computing the optimal strategy to commit to", figure 1.
    Teaches: simultaneous learners end at (up, left), worth 2 to the leader; committing to half and half is worth 3.5.

    >>> commitment().payoffs[:, 0, 1].tolist()  # (up, right)
    [4.0, 0.0]
    """
    cells = [[(2, 1), (4, 0)], [(1, 0), (3, 1)]]
    return bimatrix("commitment", cells, ["up", "down"], ["left", "right"], ("Leader", "Follower"))


def centipede(moves: int = 4) -> Table:
    """The growing pot that two players pass to and fro, until one of them takes the larger share.

    At move k (from 0) the mover may take 4·2^k and leave 2^k; after the last move the shares double once more, and the
    one whose turn it would be gets the larger. An action is at which of one's own moves to take, if ever.

    Source: Rosenthal (1981); McKelvey and Palfrey (1992), "An experimental study of the centipede game".
    Teaches: the only Nash outcome is taking at once, found by iterated reasoning; learners need long to find it.

    >>> centipede().payoffs[:, 2, 2]  # nobody ever takes
    array([64., 16.])
    """
    at_least("moves", moves, 1)
    if moves > 100:
        raise InputError(f"moves must be at most 100, and {moves} came")
    turns = [range(player, moves, 2) for player in (0, 1)]
    labels = [[*(f"take at {k + 1}" for k in turn), "pass"] for turn in turns]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        stops = [np.where(choices[j] < len(turns[j]), 2 * choices[j] + j, moves) for j in (0, 1)]
        stop = np.minimum(*stops)
        share: Vector = np.where(stop % 2 == i, 4.0, 1.0) * 2.0**stop
        return share

    return tabulate("centipede", ("First", "Second"), labels, payoff)
