"""The measures along a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.learner import RegretKind
from gamesim.measure.builtin import Deviations, gap_name, regret_options
from gamesim.measure.incentives import EquilibriumKind, checked_kind
from gamesim.measure.moments import Moments
from gamesim.measure.registry import find


class Curve:
    """The measures on the logarithmic grid of rounds, with the same names, arguments and units as a record's.

    `rounds` is the grid. Each measure has an entry for each of these rounds, and tells of all rounds up to it; with
    replicas a row of such entries for each.

    >>> import gamesim
    >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
    >>> curve = record.curve
    >>> curve.rounds[-4:].tolist()
    [100, 126, 158, 200]
    >>> curve.payoffs()[-4:].round(2).tolist()  # a row for each of these rounds, an entry for each player
    [[2.97, 0.5], [2.97, 0.5], [2.98, 0.5], [2.98, 0.5]]
    """

    def __init__(self, replicas: Sequence[Moments], first: int, *, single: bool) -> None:
        self.rounds: NDArray[np.int64] = replicas[0].rounds[first:]
        self._replicas, self._first, self._single = replicas, first, single

    def measure(self, name: str, **options: Any) -> NDArray[np.float64]:
        """Return a measure by its `name` at each checkpoint, in the measure's own units; `options` as in `Record`.

        >>> import gamesim
        >>> curve = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200).curve
        >>> curve.measure("welfare")[-4:].round(2).tolist()
        [3.47, 3.47, 3.48, 3.48]
        >>> bool((curve.measure("ce-gap") == curve.gap("ce")).all())
        True
        """
        measure = find(name)
        rows = [measure.along(moments, self._first, **options) for moments in self._replicas]
        return rows[0] if self._single else np.array(rows)

    def regret(
        self, kind: RegretKind, *, epsilon: float | None = None, phi: Deviations | None = None
    ) -> NDArray[np.float64]:
        """Each player's total regret at each checkpoint, in payoff units; `kind`, `epsilon` and `phi` as in `Record`.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.regret("external")[-3:].round(1).tolist()  # the follower's grows: it does not learn
        [[3.3, 59.7], [3.3, 75.7], [3.3, 96.7]]
        """
        return self.measure(f"{kind}-regret", **regret_options(kind, epsilon, phi))

    def gap(self, kind: EquilibriumKind) -> NDArray[np.float64]:
        """The CE or CCE gap at each checkpoint, in payoff units a round; `kind` is "ce" or "cce".

        >>> import gamesim
        >>> curve = gamesim.simulate("shapley", "hedge", rounds=10_000, perturb=0.2).curve_from(1000)
        >>> curve.gap("cce")[[0, -1]].round(4).tolist()
        [0.0058, 0.0008]
        >>> curve.gap("ce")[[0, -1]].round(2).tolist()  # it stays
        [0.14, 0.15]
        """
        return self.measure(gap_name(kind))

    def nash_gap(self) -> NDArray[np.float64]:
        """The Nash gap of the average strategies at each checkpoint, in payoff units a round.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.nash_gap()[::8].round(3).tolist()
        [0.5, 0.311, 0.459]
        """
        return self.measure("nash-gap")

    def distance(self, kind: EquilibriumKind) -> NDArray[np.float64]:
        """The distance to the CE or CCE set at each checkpoint, in total variation; `kind` is "ce" or "cce".

        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", "hedge", rounds=100)
        >>> record.curve.distance("ce")[::5].round(2).tolist()
        [0.75, 0.53, 0.33, 0.16]
        """
        return self.measure(f"{checked_kind(kind)}-distance")

    def joint(self) -> NDArray[np.float64] | None:
        """The joint of the rounds up to each checkpoint, or None where it would not fit into memory.

        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=100)
        >>> record.curve.joint()[[0, -1]].round(2).tolist()  # after one round, and after all
        [[[0.25, 0.25], [0.25, 0.25]], [[0.02, 0.02], [0.48, 0.48]]]
        """
        return None if self._replicas[0][-1].joint is None else self.measure("joint")

    def payoffs(self) -> NDArray[np.float64]:
        """Each player's average payoff a round up to each checkpoint.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.payoffs()[[0, -1]].round(2).tolist()  # after one round, and after all
        [[2.5, 0.5], [2.98, 0.5]]
        """
        return self.measure("payoffs")
