"""Dilemmas and coordination games for two players.

Each function is a game. Scenarios use its name with hyphens; its arguments are the settings.
"""

from gamesim.game import Table
from gamesim.games.limits import limited, table
from gamesim.games.tabulate import bimatrix, numbered, tabulate
from gamesim.validation import at_least, positive


def prisoners_dilemma() -> Table:
    """The prisoner's dilemma: defecting is dominant, and mutual defection hurts both.

    Notes
    -----
    Source: Flood and Dresher (1950), named by Tucker; these payoffs are Axelrod's (1980).

    Payoffs, as (Row, Column):

                   cooperate  defect
        cooperate  (3, 3)     (0, 5)
        defect     (5, 0)     (1, 1)

    Teaches: A strictly dominant action is the only Nash, correlated and coarse correlated equilibrium, so every
    no-regret learner defects in all but a vanishing share of the rounds.

    Examples
    --------
    >>> prisoners_dilemma().payoffs[:, 0, 1].tolist()  # Row cooperates, Column defects
    [0.0, 5.0]
    """
    return bimatrix("prisoners-dilemma", [[(3, 3), (0, 5)], [(5, 0), (1, 1)]], ["cooperate", "defect"])


def deadlock() -> Table:
    """Not a dilemma after all: defecting is dominant, and mutual defection is better.

    Notes
    -----
    Source: Snyder and Diesing (1977), "Conflict among Nations".

    Payoffs, as (Row, Column):

                   cooperate  defect
        cooperate  (1, 1)     (0, 3)
        defect     (3, 0)     (2, 2)

    Teaches: A dominant action need not be a tragedy. Exchange the payoffs of mutual cooperation and mutual defection
    and you have a prisoner's dilemma.

    Examples
    --------
    >>> deadlock().payoffs[:, 0, 1].tolist()  # Row cooperates, Column defects
    [0.0, 3.0]
    """
    return bimatrix("deadlock", [[(1, 1), (0, 3)], [(3, 0), (2, 2)]], ["cooperate", "defect"])


def chicken() -> Table:
    """Chicken (hawk-dove): each player wants to dare only if the other yields.

    Notes
    -----
    Source: Aumann (1974, 1987), "Correlated equilibrium as an expression of Bayesian rationality", with these payoffs.

    Payoffs, as (Row, Column):

                     chicken out  dare
        chicken out  (6, 6)       (2, 7)
        dare         (7, 2)       (0, 0)

    Teaches: The best correlated equilibrium recommends yielding to both with probability 1/2 and daring to one of them,
    each with probability 1/4. It pays 5.25 each, more than the mixed Nash equilibrium (14/3 each) and more than the
    pure ones on average (4.5).

    Examples
    --------
    >>> chicken().payoffs[:, 0, 1].tolist()  # Row chickens out, Column dares
    [2.0, 7.0]
    """
    return bimatrix("chicken", [[(6, 6), (2, 7)], [(7, 2), (0, 0)]], ["chicken out", "dare"])


@limited()
def hawk_dove(value: float = 2.0, cost: float = 4.0) -> Table:
    """Hawk-dove: a contest in which a fight may cost more than the prize is worth.

    Parameters
    ----------
    value : float, default 2.0
        Value of the prize, positive.
    cost : float, default 4.0
        Cost of losing a fight, positive. Above `value` the game is a game of chicken; below it fighting is
        dominant.

    Notes
    -----
    Source: Maynard Smith and Price (1973), "The logic of animal conflict".

    Payoffs:

        hawk against hawk: (value - cost) / 2 each
        hawk against dove: value and 0
        dove against dove: value / 2 each

    Teaches: If cost > value, the mixed equilibrium plays hawk with probability value / cost and pays (1 - value / cost)
    value / 2. A device that names an owner, recommends hawk to the owner and dove to the intruder pays value / 2 on
    average, which is more.

    Examples
    --------
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
    """The stag hunt: cooperation pays most, and caution risks least.

    Notes
    -----
    Source: Rousseau (1755); Skyrms (2004), "The Stag Hunt and the Evolution of Social Structure".

    Payoffs, as (Row, Column):

              stag    hare
        stag  (4, 4)  (0, 3)
        hare  (3, 0)  (3, 3)

    Teaches: There are two strict pure equilibria. Hunting the stag is better for both; hunting hares is safer, because
    the stag pays only if the other hunts it with probability at least 3/4. Where learners end up depends on where they
    start: from uniform strategies Hedge players hunt hares.

    Examples
    --------
    >>> stag_hunt().payoffs[:, 0, 1].tolist()  # Row goes for the stag, Column for a hare
    [0.0, 3.0]
    """
    return bimatrix("stag-hunt", [[(4, 4), (0, 3)], [(3, 0), (3, 3)]], ["stag", "hare"])


def battle_of_the_sexes() -> Table:
    """Battle of the sexes: both want to meet, but at different places.

    Notes
    -----
    Source: Luce and Raiffa (1957), "Games and Decisions", section 5.3.

    Payoffs, as (One, Other):

               opera   fight
        opera  (3, 2)  (0, 0)
        fight  (0, 0)  (2, 3)

    Teaches: Coordination with a conflict of interest. A coin flip observed by both is a correlated equilibrium with a
    total payoff of 5, the maximum; the mixed Nash equilibrium has a total of only 2.4.

    Examples
    --------
    >>> battle_of_the_sexes().payoffs[:, 0, 0].tolist()  # both at the opera
    [3.0, 2.0]
    """
    return bimatrix(
        "battle-of-the-sexes", [[(3, 2), (0, 0)], [(0, 0), (2, 3)]], ["opera", "fight"], players=("One", "Other")
    )


def traffic_light() -> Table:
    """A crossing at which a traffic light is a correlated equilibrium.

    Notes
    -----
    Source: Roughgarden (2016), "Twenty Lectures on Algorithmic Game Theory", lecture 13.

    Payoffs, as (East, North):

              stop    go
        stop  (0, 0)  (0, 1)
        go    (1, 0)  (-5, -5)

    Teaches: The light lets each driver go half of the time and pays 1/2 each. No pair of independent strategies pays
    both players as much.

    Examples
    --------
    >>> traffic_light().payoffs[:, 1, 0].tolist()  # East goes, North stops
    [1.0, 0.0]
    """
    return bimatrix("traffic-light", [[(0, 0), (0, 1)], [(1, 0), (-5, -5)]], ["stop", "go"], players=("East", "North"))


@limited(lambda actions: table(2, actions))
def pure_coordination(actions: int = 3) -> Table:
    """Pure coordination: two players meet only if they choose the same place.

    Parameters
    ----------
    actions : int, default 3
        Number of places, at least 1.

    Notes
    -----
    Source: Schelling (1960), "The Strategy of Conflict", chapter 3.

    Payoffs:

        u_i = 1 if both choose the same place
        u_i = 0 otherwise

    Teaches: Every place is a strict equilibrium. Uniform play is an equilibrium too, and identical learners with
    expected feedback stay there: they need sampled feedback or unequal starts to agree on a place.

    Examples
    --------
    >>> game = pure_coordination(actions=4)
    >>> game.payoffs[:, 2, 2].tolist(), game.payoffs[:, 2, 3].tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """
    at_least("actions", actions, 1)
    places = numbered(actions, 1)
    return tabulate("pure-coordination", ("Row", "Column"), [places] * 2, lambda i, at: (at[0] == at[1]) * 1.0)
