"""Whether players obey a correlating device: what each gains by disobeying each of its recommendations."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Vector
from gamesim.game import Game, Table
from gamesim.measure.elimination import own_first
from gamesim.measure.incentives import Deviation, checked_joint, deviation_matrices, written_out

BREAKS = 1e-9  # share of the payoff range up to which a gain is rounding


@dataclass(frozen=True, eq=False)
class Obedience:
    """Hold the incentives to obey a correlating device.

    The device draws an action profile from a joint distribution and recommends to each player its action. A player
    knows the distribution and its recommendation, and expects the others to obey.

    Parameters
    ----------
    game : Table
        The game.
    joint : ndarray of float, one axis per player
        The distribution q of the device.
    gains : list of ndarray of shape (actions, actions)
        For each player, the gain of playing b whenever a is recommended, in payoff units per round, as entry [a, b].

    Examples
    --------
    >>> from gamesim import equilibrium, games
    >>> light = equilibrium.obedience(games.make("chicken"), [[0.7, 0.2], [0.1, 0]])
    >>> light.is_equilibrium, round(light.gap, 3)
    (False, 0.5)
    >>> print(light.broken()[0])
    Column gains 0.5 by playing dare when chicken out is recommended
    """

    game: Table
    joint: NDArray[np.float64]
    gains: list[NDArray[np.float64]]

    @property
    def recommended(self) -> list[Vector]:
        """Return the probability that each action is recommended, for each player.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> light = equilibrium.obedience(games.make("chicken"), [[0.7, 0.2], [0.1, 0]])
        >>> [one.round(3).tolist() for one in light.recommended]
        [[0.9, 0.1], [0.8, 0.2]]
        """
        return [own_first(self.joint, i).sum(axis=1) for i in range(len(self.gains))]

    @property
    def gains_if_recommended(self) -> list[NDArray[np.float64]]:
        """Return the gains given the recommendation, in payoff units.

        They are what a player expects that has seen its recommendation; NaN if the action is never recommended.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> light = equilibrium.obedience(games.make("chicken"), [[0.7, 0.2], [0.1, 0]])
        >>> light.gains_if_recommended[1].round(3).tolist()  # Column's: dare instead of chicken out gains 0.5 / 0.8
        [[0.0, 0.625], [-1.0, 0.0]]
        """
        found = []
        for gains, chance in zip(self.gains, self.recommended, strict=True):
            with np.errstate(invalid="ignore", divide="ignore"):
                found.append(np.where(chance[:, None] > 0, gains / chance[:, None], np.nan))
        return found

    @property
    def gap(self) -> float:
        """Return the CE gap: the largest gain of a player, in payoff units per round.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> round(equilibrium.obedience(games.make("chicken"), [[0.6, 0.2], [0.2, 0]]).gap, 6)
        0.2
        """
        return float(max(one.max(axis=1).sum() for one in self.gains))

    @property
    def is_equilibrium(self) -> bool:
        """Return whether the device is a correlated equilibrium, up to rounding.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> equilibrium.obedience(games.make("chicken"), [[1 / 3, 1 / 3], [1 / 3, 0]]).is_equilibrium
        True
        """
        return not self.broken()

    def broken(self) -> list[Deviation]:
        """Return the constraints that break, the largest gain first.

        Returns
        -------
        list of Deviation
            The profitable disobediences, in payoff units per round.

        Examples
        --------
        >>> from gamesim import equilibrium, games
        >>> pennies = equilibrium.obedience(games.make("matching-pennies"), [[0.5, 0], [0, 0.5]])
        >>> [str(one) for one in pennies.broken()]  # doctest: +NORMALIZE_WHITESPACE
        ['Mismatcher gains 1 by playing tails when heads is recommended',
         'Mismatcher gains 1 by playing heads when tails is recommended']
        """
        low, high = self.game.range
        found = [
            Deviation(self.game.players[i], self.game.actions[i][a], self.game.actions[i][b], float(gain))
            for i, gains in enumerate(self.gains)
            for (a, b), gain in np.ndenumerate(gains)
            if gain > BREAKS * (high[i] - low[i])
        ]
        return sorted(found, key=lambda one: -one.gain)


def obedience(game: Game, joint: ArrayLike) -> Obedience:
    """Return the gains from disobeying a correlating device.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joint : array_like
        The distribution q of the device, one axis per player. Devices to try: the vertices of
        ``equilibrium.polytope(game, "ce")``, its `optimum` and `max_entropy`, or the `joint` of a record.

    Returns
    -------
    Obedience
        The gains, and the constraints that break.

    Raises
    ------
    InputError
        If the game has no payoff table, or `joint` is not a distribution of its shape.

    Notes
    -----
    The gain of playing b whenever a is recommended to player i is::

        Σ_{a_-i} q(a, a_-i) (u_i(b, a_-i) - u_i(a, a_-i))

    If none is positive, the device is a correlated equilibrium.

    References
    ----------
    Aumann (1987), "Correlated equilibrium as an expression of Bayesian rationality".

    Examples
    --------
    >>> from gamesim import equilibrium, games
    >>> game = games.make("chicken")
    >>> best = equilibrium.polytope(game, "ce").optimum([1, 1])
    >>> best.round(3).tolist(), obedience(game, best).is_equilibrium
    ([[0.5, 0.25], [0.25, 0.0]], True)
    """
    table = written_out(game)
    gains = [matrix - np.diag(matrix)[:, None] for matrix in deviation_matrices(table, joint)]
    return Obedience(table, checked_joint(table, joint), gains)
