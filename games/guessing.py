"""Games of hiding and guessing: whoever can be predicted loses, so that players mix.

Each function is a game; scenarios use its name with hyphens. Its settings are its arguments.
"""

from collections.abc import Sequence

import numpy as np

from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import bimatrix
from gamesim.validation import positive

PENNIES = ["heads", "tails"]


def matching_pennies() -> Table:
    """The smallest zero-sum game without a pure equilibrium.

    Source: von Neumann (1928), "Zur Theorie der Gesellschaftsspiele".
    Teaches: with Hedge the average play converges while the last strategies spiral out; optimistic Hedge spirals in.

    >>> matching_pennies().payoffs[:, 0, 1].tolist()  # heads and tails: the second wins
    [-1.0, 1.0]
    """
    cells = [[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]]
    return bimatrix("matching-pennies", cells, PENNIES, players=("Matcher", "Mismatcher"))


def asymmetric_pennies(prize: float = 320.0) -> Table:
    """Matching pennies with one large prize, which in equilibrium changes the other player's strategy only.

    Source: Goeree and Holt (2001), "Ten little treasures of game theory and ten intuitive contradictions".
    Teaches: people follow the prize; Nash's row player plays one half, whatever the prize.

    >>> asymmetric_pennies(prize=100.0).payoffs[:, 0, 0].tolist()  # both heads
    [100.0, 40.0]
    """
    positive("prize", prize)
    return bimatrix("asymmetric-pennies", [[(prize, 40), (40, 80)], [(40, 80), (80, 40)]], PENNIES)


def penalty_kick() -> Table:
    """The penalty kick, with the scoring rates of professional football.

    Source: Palacios-Huerta (2003), "Professionals play minimax": scoring rates in percent, natural side of the kicker.
    Teaches: the equilibrium (kicker's left 38.5 %, goalkeeper's left 42.0 %) is close to what professionals do.

    >>> penalty_kick().payoffs[:, 0, 1].tolist()  # the ball goes left, the goalkeeper right
    [94.97, -94.97]
    """
    rates = np.array([[58.30, 94.97], [92.91, 69.92]])
    sides = ["left", "right"]
    return Table.from_payoffs(
        [rates, -rates], name="penalty-kick", players=("Kicker", "Goalkeeper"), actions=[sides, sides]
    )


def inspection(gain: float = 1.0, fine: float = 4.0, cost: float = 1.0, harm: float = 2.0) -> Table:
    """The inspector who must check sometimes, because one who never checks is cheated.

    Violating brings `gain`, less the `fine` if inspected; inspecting has a `cost`; an unseen violation does `harm`.

    Source: Dresher (1962); Avenhaus, von Stengel and Zamir (2002), "Inspection games".
    Teaches: raising the fine lowers inspection, not violation: each mixes so as to make the other indifferent.

    >>> inspection(fine=3.0).payoffs[:, 0, 1].tolist()  # a violation is inspected
    [-1.0, -2.0]
    """
    for name, value in (("gain", gain), ("fine", fine), ("cost", cost), ("harm", harm)):
        positive(name, value)
    cells = [[(-cost, 0.0), (-cost, gain - fine)], [(0.0, 0.0), (-harm, gain)]]
    return bimatrix("inspection", cells, ["inspect", "trust"], ["comply", "violate"], ("Inspector", "Inspectee"))


def hide_and_seek(values: Sequence[float] = (1.0, 2.0, 3.0)) -> Table:
    """The treasure hidden in one of several places, each worth something else to the one who finds it there.

    The seeker gets the place's value if she looks where it was hidden, the hider loses it.

    Source: von Neumann (1953), "A certain zero-sum two-person game equivalent to the optimal assignment problem".
    Teaches: both play in inverse proportion to the values; the value of the game is 1 / Σ 1/values.

    >>> hide_and_seek(values=(1.0, 5.0)).payoffs[:, 1, 1].tolist()  # found in the second place
    [5.0, -5.0]
    """
    if not values:
        raise InputError("values must name at least one place, and none came")
    for k, value in enumerate(values):
        positive(f"value {k + 1}", value)
    found = np.diag(np.array(values, dtype=np.float64))
    return Table.from_payoffs([found, -found], name="hide-and-seek", players=("Seeker", "Hider"))
