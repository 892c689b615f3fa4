"""Games with surprising equilibria: helpful secrets, useful dominated actions, unravelling.

Each function is a game. Scenarios use its name with hyphens; its arguments are the settings.
"""

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.limits import limited
from gamesim.games.tabulate import bimatrix, tabulate
from gamesim.validation import at_least


@limited()
def dominated_twins(lateness: float = 0.1) -> Table:
    """A meeting game with a coarse correlated equilibrium on dominated actions.

    Two players choose a place, and whether to be late. Being late is strictly dominated.

    Parameters
    ----------
    lateness : float, default 0.1
        Cost of being late, strictly between 0 and 1/2.

    Notes
    -----
    Source: the observation is Viossat and Zapechelnyuk's (2013), "No-regret dynamics and fictitious play".

    Payoffs:

        u_i = [both at the same place] - lateness · [i is late]

    Teaches: Coarse correlated equilibria can put all weight on strictly dominated actions; correlated equilibria never
    do. If a public coin chooses the place and both are always late, both get 1 - lateness, and no fixed action pays
    more than 1/2 against this play.

    Examples
    --------
    >>> dominated_twins().payoffs[0].round(1).tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.9, -0.1, 0.9, -0.1], [-0.1, 0.9, -0.1, 0.9]]
    """
    if not 0 < lateness < 0.5:
        raise InputError(f"lateness must be between 0 and 1/2, both excluded, got {lateness}")
    labels = ["park", "quay", "park, late", "quay, late"]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        pay: Vector = (choices[0] % 2 == choices[1] % 2) - lateness * (choices[i] >= 2)
        return pay

    return tabulate("dominated-twins", ("Row", "Column"), [labels] * 2, payoff)


def aumann() -> Table:
    """A three-player game in which a secret shared by two players helps all three.

    The first player chooses top or bottom, the second left or right, the third A, B or C.

    Notes
    -----
    Source: Aumann (1974), "Subjectivity and correlation in randomized strategies"; Osborne and Rubinstein (1994),
    exercise 48.1.

    Payoffs:

        (top, left, A) pays (0, 0, 3)
        (bottom, left, A) pays (1, 0, 0)
        (top, left, B) and (bottom, right, B) pay (2, 2, 2)
        (bottom, left, C) pays (0, 1, 0)
        (bottom, right, C) pays (0, 0, 3)
        all other profiles pay (0, 0, 0)

    Teaches: Less information can help everyone. If the first two flip a coin that the third does not observe, and play
    (top, left) or (bottom, right), the third plays B and all get 2. If the third observed the coin, A or C would pay it
    3 and the others nothing. Every pure Nash equilibrium pays at least two of the three players nothing.

    Examples
    --------
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
    """A game in which a leader gains by committing to a dominated action.

    Notes
    -----
    Source: Conitzer and Sandholm (2006), "Computing the optimal strategy to commit to", figure 1.

    Payoffs, as (Leader, Follower):

              left    right
        up    (2, 1)  (4, 0)
        down  (1, 0)  (3, 1)

    Teaches: Simultaneous play leads to (up, left), the only equilibrium, worth 2 to the leader. Committing to up and
    down with probability 1/2 each makes the follower willing to play right and is worth 3.5.

    Examples
    --------
    >>> commitment().payoffs[:, 0, 1].tolist()  # (up, right)
    [4.0, 0.0]
    """
    cells = [[(2, 1), (4, 0)], [(1, 0), (3, 1)]]
    return bimatrix("commitment", cells, ["up", "down"], ["left", "right"], ("Leader", "Follower"))


@limited()
def centipede(moves: int = 4) -> Table:
    """The centipede: two players pass a growing pot until one takes the larger share.

    The players move in turn. An action names the move at which a player takes, or passing throughout.

    Parameters
    ----------
    moves : int, default 4
        Number of moves, from 1 to 100.

    Notes
    -----
    Source: Rosenthal (1981); McKelvey and Palfrey (1992), "An experimental study of the centipede game".

    Payoffs:

        taking at move k = 0, 1, ... pays the mover 4 · 2^k and the other player 2^k
        passing throughout ends as if the next player took at move k = moves

    Teaches: In every Nash equilibrium the first player takes at once, although both gain by passing if there are two or
    more moves. Backward induction finds this in a few steps; learners take long: with four moves, Hedge passes the
    first move in most of the first 1000 rounds.

    Examples
    --------
    >>> centipede().payoffs[:, 2, 2]  # nobody ever takes
    array([64., 16.])
    """
    at_least("moves", moves, 1)
    if moves > 100:
        raise InputError(f"moves must be at most 100, got {moves}")
    turns = [range(player, moves, 2) for player in (0, 1)]
    labels = [[*(f"take at {k + 1}" for k in turn), "pass"] for turn in turns]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        stops = [np.where(choices[j] < len(turns[j]), 2 * choices[j] + j, moves) for j in (0, 1)]
        stop = np.minimum(*stops)
        share: Vector = np.where(stop % 2 == i, 4.0, 1.0) * 2.0**stop
        return share

    return tabulate("centipede", ("First", "Second"), labels, payoff)
