"""The measures along a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.learner import RegretKind, RegretOf
from gamesim.measure.builtin import Deviations, gap_name, regret_options
from gamesim.measure.distance import refuse_slow
from gamesim.measure.incentives import EquilibriumKind, checked_kind
from gamesim.measure.linear_programs import SECONDS
from gamesim.measure.moments import Moments, Weights
from gamesim.measure.registry import MomentFunction, find


class Curve:
    """Evaluate measures at the checkpoints of a run.

    The methods have the same names, arguments and units as those of `Record`. Each value covers all rounds up to its
    checkpoint. `Record.curve` and `Record.curve_from` create curves.

    Parameters
    ----------
    replicas : sequence of Moments
        The moments of each replica.
    first : int
        The index of the first checkpoint.
    single : bool
        Whether the run has no replicas, so that values have no leading axis.

    Attributes
    ----------
    rounds : ndarray of int
        The round of each checkpoint.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
    >>> curve = record.curve
    >>> curve.rounds[-4:].tolist()
    [100, 126, 158, 200]
    >>> curve.payoffs()[-4:].round(2).tolist()  # one row per checkpoint, one entry per player
    [[2.97, 0.5], [2.97, 0.5], [2.98, 0.5], [2.98, 0.5]]
    """

    def __init__(self, replicas: Sequence[Moments], first: int, *, single: bool) -> None:
        self.rounds: NDArray[np.int64] = replicas[0].rounds[first:]
        self._replicas, self._first, self._single = replicas, first, single

    def measure(
        self, measure: str | MomentFunction, *, weights: Weights | None = None, **options: Any
    ) -> NDArray[np.float64]:
        """Return a measure, built in or your own, at each checkpoint.

        Parameters
        ----------
        measure : str or callable
            The name of the measure, or a function of a `Moment`, see `Record.measure`.
        weights : {"linear", "quadratic"}, optional
            Weights of the rounds, see `Record.measure`.
        **options
            The options of the measure, if it has any.

        Returns
        -------
        ndarray of float
            The values in the measure's unit, one entry or row per checkpoint. With replicas it has a leading axis.

        Raises
        ------
        InputError
            If the measure is unknown, or an option is unknown or missing.

        Examples
        --------
        >>> import gamesim
        >>> curve = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200).curve
        >>> curve.measure("welfare")[-4:].round(2).tolist()
        [3.47, 3.47, 3.48, 3.48]
        >>> bool((curve.measure("ce-gap") == curve.gap("ce")).all())
        True
        """
        chosen = find(measure)
        replicas = self._replicas if weights is None else [moments.weighted(weights) for moments in self._replicas]
        rows = [chosen.along(moments, self._first, **options) for moments in replicas]
        return rows[0] if self._single else np.array(rows)

    def regret(
        self,
        kind: RegretKind,
        *,
        of: RegretOf = "play",
        epsilon: float | None = None,
        phi: Deviations | None = None,
    ) -> NDArray[np.float64]:
        """Return each player's total regret at each checkpoint.

        Parameters
        ----------
        kind : {"external", "internal", "swap", "quantile", "phi"}
            The kind of regret, see `Record.regret`.
        of : {"play", "strategies"}, default "play"
            Whether the regret is of the drawn actions, if actions are drawn, or of the strategies.
        epsilon : float, optional
            For quantile regret only: the share of actions, in (0, 1].
        phi : array_like, optional
            For phi regret only: a stochastic matrix for all players, or one per player.

        Returns
        -------
        ndarray of shape (checkpoints, players)
            The regrets, in payoff units.

        Raises
        ------
        InputError
            If the kind is unknown, or `epsilon` or `phi` is missing or not applicable.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.regret("external")[-3:].round(1).tolist()  # the second player does not learn
        [[3.3, 59.7], [3.3, 75.7], [3.3, 96.7]]
        """
        return self.measure(f"{kind}-regret", **regret_options(kind, of, epsilon, phi))

    def gap(self, kind: EquilibriumKind) -> NDArray[np.float64]:
        """Return the CE or CCE gap at each checkpoint.

        Parameters
        ----------
        kind : {"ce", "cce"}
            Correlated or coarse correlated equilibrium.

        Returns
        -------
        ndarray of shape (checkpoints,)
            The gaps, in payoff units per round.

        Raises
        ------
        InputError
            If the kind is unknown.

        Examples
        --------
        >>> import gamesim
        >>> curve = gamesim.simulate("shapley", "hedge", rounds=10_000, perturb=0.2).curve_from(1000)
        >>> curve.gap("cce")[[0, -1]].round(4).tolist()
        [0.0058, 0.0008]
        >>> curve.gap("ce")[[0, -1]].round(2).tolist()  # does not vanish
        [0.14, 0.15]
        """
        return self.measure(gap_name(kind))

    def nash_gap(self) -> NDArray[np.float64]:
        """Return the Nash gap of the average strategies at each checkpoint.

        Returns
        -------
        ndarray of shape (checkpoints,)
            The gaps, in payoff units per round.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.nash_gap()[::8].round(3).tolist()
        [0.5, 0.311, 0.459]
        """
        return self.measure("nash-gap")

    def distance(self, kind: EquilibriumKind, *, always: bool = False, seconds: float = SECONDS) -> NDArray[np.float64]:
        """Return the distance to the CE or CCE set at each checkpoint.

        Parameters
        ----------
        kind : {"ce", "cce"}
            Correlated or coarse correlated equilibria.
        always : bool, default False
            Whether to solve linear programs that may take minutes.
        seconds : float, default 60
            Time limit for each checkpoint.

        Returns
        -------
        ndarray of shape (checkpoints,)
            The distances in total variation, from 0 to 1; NaN, with a warning, for those not solved within the time
            limit.

        Raises
        ------
        InputError
            If the kind is unknown, or the game has no payoff table or is too large.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", "hedge", rounds=100)
        >>> record.curve.distance("ce")[::5].round(2).tolist()
        [0.75, 0.53, 0.33, 0.16]
        """
        name = f"{checked_kind(kind)}-distance"
        refuse_slow(self._replicas[0].game, len(self._replicas), always=always)
        return self.measure(name, always=True, seconds=seconds)

    def joint(self) -> NDArray[np.float64] | None:
        """Return the joint distribution of play up to each checkpoint.

        Returns
        -------
        ndarray or None
            The joint distributions along the first axis, or None if too large to store.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=100)
        >>> record.curve.joint()[[0, -1]].round(2).tolist()  # after one round, and after all
        [[[0.25, 0.25], [0.25, 0.25]], [[0.02, 0.02], [0.48, 0.48]]]
        """
        return None if self._replicas[0][-1].joint is None else self.measure("joint")

    def payoffs(self) -> NDArray[np.float64]:
        """Return each player's average payoff up to each checkpoint.

        Returns
        -------
        ndarray of shape (checkpoints, players)
            The payoffs, in payoff units per round.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.payoffs()[[0, -1]].round(2).tolist()  # after one round, and after all
        [[2.5, 0.5], [2.98, 0.5]]
        """
        return self.measure("payoffs")
