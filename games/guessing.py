"""Games of hiding and guessing: a predictable player loses, so players mix.

Each function is a game. Scenarios use its name with hyphens; its arguments are the settings.
"""

from collections.abc import Sequence

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.limits import limited, table
from gamesim.games.tabulate import bimatrix
from gamesim.validation import positive

PENNIES = ["heads", "tails"]


def matching_pennies() -> Table:
    """Matching pennies: one player wants to match, the other to mismatch.

    Notes
    -----
    Source: von Neumann (1928), "Zur Theorie der Gesellschaftsspiele".

    Payoffs, as (Matcher, Mismatcher):

               heads    tails
        heads  (1, -1)  (-1, 1)
        tails  (-1, 1)  (1, -1)

    Teaches: The smallest zero-sum game without a pure equilibrium. From any start other than the equilibrium, the
    strategies of Hedge spiral outwards while their averages approach it; those of optimistic Hedge, unless its rate is
    large, spiral inwards.

    Examples
    --------
    >>> matching_pennies().payoffs[:, 0, 1].tolist()  # heads and tails: the second wins
    [-1.0, 1.0]
    """
    cells = [[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]]
    return bimatrix("matching-pennies", cells, PENNIES, players=("Matcher", "Mismatcher"))


@limited()
def asymmetric_pennies(prize: float = 320.0) -> Table:
    """Matching pennies with one large prize for the row player.

    Parameters
    ----------
    prize : float, default 320.0
        Row's payoff if both play heads, positive. Above 40 the only equilibrium is mixed; below it, tails is
        dominant for Row.

    Notes
    -----
    Source: Goeree and Holt (2001), "Ten little treasures of game theory and ten intuitive contradictions".

    Payoffs:

        (heads, heads) pays (prize, 40)
        (heads, tails) and (tails, heads) pay (40, 80)
        (tails, tails) pays (80, 40)

    Teaches: In equilibrium the prize changes the other player's strategy only: for every prize above 40 Row plays each
    action with probability 1/2, and Column plays heads with probability 40 / prize. Participants in experiments play
    the action with the prize.

    Examples
    --------
    >>> asymmetric_pennies(prize=100.0).payoffs[:, 0, 0].tolist()  # both heads
    [100.0, 40.0]
    """
    positive("prize", prize)
    return bimatrix("asymmetric-pennies", [[(prize, 40), (40, 80)], [(40, 80), (80, 40)]], PENNIES)


def penalty_kick() -> Table:
    """The penalty kick, with the scoring rates of professional football.

    Notes
    -----
    Source: Palacios-Huerta (2003), "Professionals play minimax": scoring rates in percent, natural side of the kicker.

    Payoffs, as (Kicker, Goalkeeper):

               left             right
        left   (58.3, -58.3)    (94.97, -94.97)
        right  (92.91, -92.91)  (69.92, -69.92)

    Teaches: In the only equilibrium the kicker shoots left with probability 0.385 and the goalkeeper dives left with
    probability 0.420. In the data professionals choose left in 40.0 % and 42.3 % of all kicks.

    Examples
    --------
    >>> penalty_kick().payoffs[:, 0, 1].tolist()  # the ball goes left, the goalkeeper right
    [94.97, -94.97]
    """
    rates = np.array([[58.30, 94.97], [92.91, 69.92]])
    sides = ["left", "right"]
    return Table.from_payoffs(
        [rates, -rates], name="penalty-kick", players=("Kicker", "Goalkeeper"), actions=[sides, sides]
    )


@limited()
def inspection(gain: float = 1.0, fine: float = 4.0, cost: float = 1.0, harm: float = 2.0) -> Table:
    """The inspection game: an inspector who never inspects is cheated.

    Parameters
    ----------
    gain : float, default 1.0
        What a violation gains the inspectee, positive.
    fine : float, default 4.0
        Fine for an inspected violation, positive.
    cost : float, default 1.0
        Cost of an inspection, positive.
    harm : float, default 2.0
        Harm that an undetected violation does to the inspector, positive.

    Notes
    -----
    Source: Dresher (1962); Avenhaus, von Stengel and Zamir (2002), "Inspection games".

    Payoffs:

        (inspect, comply) pays (-cost, 0)
        (inspect, violate) pays (-cost, gain - fine)
        (trust, comply) pays (0, 0)
        (trust, violate) pays (-harm, gain)

    Teaches: If fine > gain and harm > cost, the only equilibrium inspects with probability gain / fine and violates
    with probability cost / harm. Raising the fine therefore reduces inspection, not violation: each player mixes so
    that the other is indifferent.

    Examples
    --------
    >>> inspection(fine=3.0).payoffs[:, 0, 1].tolist()  # a violation is inspected
    [-1.0, -2.0]
    """
    for name, value in (("gain", gain), ("fine", fine), ("cost", cost), ("harm", harm)):
        positive(name, value)
    cells = [[(-cost, 0.0), (-cost, gain - fine)], [(0.0, 0.0), (-harm, gain)]]
    return bimatrix("inspection", cells, ["inspect", "trust"], ["comply", "violate"], ("Inspector", "Inspectee"))


@limited(lambda values: table(2, len(values)))
def hide_and_seek(values: Sequence[float] = (1.0, 2.0, 3.0)) -> Table:
    """Hide and seek: places differ in what finding the treasure there is worth.

    Parameters
    ----------
    values : sequence of float, default (1.0, 2.0, 3.0)
        Value of each place, positive; at least one place.

    Notes
    -----
    Source: von Neumann (1953), "A certain zero-sum two-person game equivalent to the optimal assignment problem".

    Payoffs:

        the seeker gets values[k] if both choose place k, else 0
        the hider gets the negative of this

    Teaches: Both players choose each place with a probability proportional to the inverse of its value. The value of
    the game is 1 / Σ_k (1 / values[k]).

    Examples
    --------
    >>> hide_and_seek(values=(1.0, 5.0)).payoffs[:, 1, 1].tolist()  # found in the second place
    [5.0, -5.0]
    """
    if not values:
        raise InputError("values must have at least one entry, one per place, got none")
    for k, value in enumerate(values):
        positive(f"values[{k + 1}]", value)
    found = np.diag(np.array(values, dtype=np.float64))
    return Table.from_payoffs([found, -found], name="hide-and-seek", players=("Seeker", "Hider"))
