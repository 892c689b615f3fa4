"""The record of a run: what was played, and all measures of it.

On disk a record is a folder, see `gamesim.record_files`. `Record.save` writes a temporary folder and renames it at the
end, so a folder under its final name is always complete.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import record_files
from gamesim.atomic import write_folder
from gamesim.deprecated import Renamed
from gamesim.engine.layout import begins
from gamesim.engine.sums import Sums
from gamesim.errors import InputError, unknown
from gamesim.formatting import number, one_line
from gamesim.game import Game
from gamesim.learner import Learner, PlainRegret, RecordedFeedback, RegretKind, RegretOf
from gamesim.measure import bounds, frames, regrets
from gamesim.measure.bounds import DELTA, Holds
from gamesim.measure.builtin import PROBABILITY, Deviations, gap_name, regret_options
from gamesim.measure.builtin import joint as played_joint
from gamesim.measure.curves import Curve
from gamesim.measure.distance import distance_bounds, refuse_slow
from gamesim.measure.endings import endings
from gamesim.measure.incentives import EquilibriumKind, checked_kind
from gamesim.measure.linear_programs import SECONDS
from gamesim.measure.moments import Moments, Weights
from gamesim.measure.registry import MomentFunction, find
from gamesim.measure.rounding import gap_rounding
from gamesim.measure.total_variation import DistanceBounds
from gamesim.notebook import ROWS, Rows, card
from gamesim.user_learners import StoredLearner, name_of

# The type of a measure with one number per run: a float for one run, an array for replicas, Any if unknown.
if TYPE_CHECKING:
    from typing_extensions import TypeVar  # its type variables have defaults, as in Python 3.13

    Number = TypeVar("Number", bound=float | NDArray[np.float64], default=Any)
else:
    from typing import TypeVar

    Number = TypeVar("Number")

__all__ = ["Curve", "Record", "load"]

GENERATORS = {"random", "noise", "python_random"}  # settings with one entry per replica
SHARED = ("checkpoints", "trajectory_rounds")  # arrays that all replicas share
GAPS: dict[EquilibriumKind, str] = {"ce": "CE", "cce": "CCE"}
NUMBERS = frozenset((2, 3, 4))  # columns of the table in a notebook


@dataclass(frozen=True, eq=False)
class Record(Generic[Number]):
    """Hold the outcome of a run, with all measures as methods.

    `simulate` and `load` return records. If the run has replicas, every measure has a leading axis with one entry per
    replica, and ``record[r]`` is the record of replica r.

    Parameters
    ----------
    game : Game
        The game.
    learners : tuple
        The learner of each player: a `Learner`, or the class of a user-defined one.
    rounds : int
        The number of rounds played.
    seed : int
        The seed of the first replica.
    feedback : {"expected", "sampled", "bandit", "observed"}
        What the learners observed, see `simulate`; "observed" if the play itself was observed, see `observed`.
    started : tuple of bool
        For each player, whether its first strategy was given or perturbed.
    single : bool
        Whether the run has no replicas, so that measures have no leading axis.
    arrays : dict of str to ndarray
        The arrays that are saved: sums over rounds, checkpoints, the trajectory, and the state for resuming.
    settings : dict
        Further settings for resuming the run.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.simulate("prisoners-dilemma", "hedge", rounds=200)
    >>> record
    <Record: prisoners-dilemma, hedge, 200 rounds, seed 0>
    >>> record.joint.round(2).tolist()
    [[0.01, 0.03], [0.03, 0.94]]
    >>> record.payoffs.round(2).tolist()
    [1.09, 1.09]
    """

    game: Game
    learners: tuple[Any, ...]
    rounds: int
    seed: int
    feedback: RecordedFeedback
    started: tuple[bool, ...]
    single: bool
    arrays: dict[str, NDArray[Any]]
    settings: dict[str, Any]  # for resuming only

    def __repr__(self) -> str:
        learners = one_line(" and ".join(dict.fromkeys(map(name_of, self.learners))), 80)
        return f"<Record: {one_line(self.game.name)}, {learners}, {', '.join(self._extent())}>"

    def _extent(self) -> list[str]:
        """Return the rounds, the replicas and the seed in words."""
        observed = self.feedback == "observed"
        replicas = [] if self.single else [f"{self.replicas} {'groups' if observed else 'replicas'}"]
        return [f"{self.rounds:,} rounds", *replicas, *([] if observed else [f"seed {self.seed}"])]

    def _repr_html_(self) -> str:
        zero = gap_rounding(self.game, self.rounds)
        gaps = {name: number(float(np.mean(self.gap(kind))), zero=zero) for kind, name in GAPS.items()}
        measured = np.stack([self.payoffs, self.regret("external"), self.regret("swap")], axis=-1)
        numbers = measured if self.single else measured.mean(axis=0)
        players = zip(self.game.players, map(name_of, self.learners), numbers, strict=True)
        rows = [
            (who, what, number(float(payoff)), *(number(float(one), zero=zero * self.rounds) for one in regret))
            for who, what, (payoff, *regret) in islice(players, ROWS)
        ]
        heading = ("player", "learner", "payoff per round", "external regret", "swap regret")
        lines = [
            " · ".join([*self._extent(), f"{self.feedback} feedback"]),
            ", ".join(f"{name} gap {gap}" for name, gap in gaps.items()) + " (payoff units per round)",
        ]
        note = "" if self.single else f"means of {self.replicas} replicas"
        return card("Record", self.game.name, lines, Rows(heading, rows, len(self.learners), NUMBERS), note)

    @property
    def replicas(self) -> int:
        """Return the number of independent replicas of the run.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("chicken", "hedge", rounds=100, replicas=3, perturb=0.5)
        >>> record.replicas, record.payoffs.shape, record[2].seed
        (3, (3, 2), 2)
        """
        return len(self.arrays["average"])

    def __getitem__(self, replica: int) -> "Record[float]":
        count = self.replicas
        if not -count <= replica < count:
            raise IndexError(f"replica must lie in [-{count}, {count - 1}], got {replica}")
        at = replica % count
        arrays = {name: part if name in SHARED else part[at : at + 1] for name, part in self.arrays.items()}
        settings = self.settings | {name: self.settings[name][at : at + 1] for name in GENERATORS & set(self.settings)}
        one = replace(self, seed=self.seed + at, single=True, arrays=arrays, settings=settings)
        return cast("Record[float]", one)

    def __iter__(self) -> Iterator["Record[float]"]:
        return (self[replica] for replica in range(self.replicas))

    @cached_property
    def _grid(self) -> NDArray[np.int64]:
        """Return the rounds of the checkpoints, and the last round."""
        kept = self.arrays["checkpoints"]
        return kept if len(kept) and kept[-1] == self.rounds else np.append(kept, self.rounds)

    @property
    def players_without_state(self) -> list[int]:
        """Return the players whose learners cannot be resumed.

        They are written in Python, and their states are not in the record.

        Examples
        --------
        >>> import gamesim
        >>> gamesim.simulate("chicken", "hedge", rounds=10).players_without_state
        []
        """
        return [
            player
            for player, learner in enumerate(self.learners)
            if (learner.in_python if isinstance(learner, StoredLearner) else not isinstance(learner, Learner))
            and python_state(player) not in self.arrays
        ]

    def moments(self, replica: int = 0) -> Moments:
        """Return the sums over rounds from which all measures are computed.

        Parameters
        ----------
        replica : int, default 0
            The index of the replica.

        Returns
        -------
        Moments
            The sums at each checkpoint and after the last round.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> moments = record.moments()
        >>> moments.rounds[-3:].tolist(), moments[-1].profile.round(3).tolist()
        ([126, 158, 200], [0.019, 0.981, 0.5, 0.5])
        """

        last = len(self._grid) - 1
        empty = np.zeros((last + 1, 0))  # a sum that runs with this feedback do not need

        def sums_at(k: int) -> Sums:
            return Sums(*(sum_at(name, k) if name in self.arrays else empty[k] for name in Sums._fields))

        def sum_at(name: str, k: int) -> NDArray[np.float64]:
            found: NDArray[np.float64] = (
                self.arrays[name][replica] if k == last else self.arrays[f"checkpoint_{name}"][replica, k]
            )
            return found

        def stacked(name: str) -> NDArray[np.float64]:
            if name not in self.arrays:
                return empty
            earlier = self.arrays[f"checkpoint_{name}"][replica, :last]
            return np.concatenate([earlier, self.arrays[name][replica, None]])

        return Moments(self.game, self._grid, sums_at, stacked, self.settings.get("observers", {}))

    @property
    def observers(self) -> list[str]:
        """Return the names of the observers of the run.

        Examples
        --------
        >>> import gamesim
        >>> gamesim.simulate("chicken", "hedge", rounds=10, observers=["dynamic-regret"]).observers
        ['dynamic-regret']
        """
        return list(self.settings.get("observers", {}))

    def observed(self, name: str) -> NDArray[np.float64]:
        """Return the total of an observer.

        Parameters
        ----------
        name : str
            The name of the observer.

        Returns
        -------
        ndarray of float
            The total after the last round; regrets of built-in observers are in units of loss. With replicas it has a
            leading axis.

        Raises
        ------
        InputError
            If the run has no such observer.

        See Also
        --------
        gamesim.measure.observers : How to write an observer.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("chicken", ["hedge", "uniform"], rounds=50, observers=["dynamic-regret"])
        >>> record.observed("dynamic-regret").round(1).tolist()  # per player, in units of loss
        [2.3, 1.2]
        """
        found = [self.moments(replica)[-1].observed(name) for replica in range(self.replicas)]
        return found[0] if self.single else np.array(found)

    def measure(
        self, measure: str | MomentFunction, *, weights: Weights | None = None, **options: Any
    ) -> Number | NDArray[np.float64]:
        """Return a measure, built in or your own.

        `gamesim.measure.available` lists the names.

        Parameters
        ----------
        measure : str or callable
            The name of the measure, for example ``"ce-gap"``, or a function of a `Moment`.
        weights : {"linear", "quadratic"}, optional
            Weights of the rounds, if the run has the observer "linear-weights" or "quadratic-weights". By default all
            rounds have the same weight.
        **options
            The options of the measure, if it has any.

        Returns
        -------
        float or ndarray
            The value in the measure's unit, see `Measure`: a float, or an array with one number per player, action or
            action profile. With replicas it has a leading axis.

        Raises
        ------
        InputError
            If the measure is unknown, or an option is unknown or missing.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(record.measure("ce-gap-share"), 3)
        0.121
        >>> record.measure("quantile-regret", epsilon=1.0).round(1).tolist()
        [-196.7, -96.7]
        >>> round(record.measure(lambda moment: moment.sums.last[0]), 3)  # the last probability of the first action
        1.0
        """
        chosen = find(measure)
        moments = [self.moments(replica) for replica in range(self.replicas)]
        found = [chosen.now(one if weights is None else one.weighted(weights), **options) for one in moments]
        return cast(Number, found[0] if self.single else np.array(found))

    def _number(self, name: str) -> Number:
        """Return a measure that is one number per run."""
        return cast(Number, self.measure(name))

    def _array(self, name: str, **options: Any) -> NDArray[np.float64]:
        """Return a measure that has several numbers per run."""
        return cast(NDArray[np.float64], self.measure(name, **options))

    @property
    def joint(self) -> NDArray[np.float64] | None:
        """Return the joint distribution of play, one axis per player.

        It holds the empirical probability of each action profile. It is None if too large to store.

        Examples
        --------
        >>> import gamesim
        >>> gamesim.simulate("prisoners-dilemma", "hedge", rounds=200).joint.round(2).tolist()
        [[0.01, 0.03], [0.03, 0.94]]
        """
        if self.arrays["joint"].shape[1] == 0:
            return None
        return self._array("joint")

    @property
    def average(self) -> list[NDArray[np.float64]]:
        """Return each player's average strategy, a probability for each action.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> [strategy.round(3).tolist() for strategy in record.average]
        [[0.019, 0.981], [0.5, 0.5]]
        """
        return self._by_player(self._array("average-strategies"))

    @property
    def last(self) -> list[NDArray[np.float64]]:
        """Return each player's strategy of the last round, a probability for each action.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> [strategy.round(3).tolist() for strategy in record.last]
        [[0.0, 1.0], [0.5, 0.5]]
        """
        return self._by_player(self._array("last-strategies"))

    def endings(self) -> dict[str, int]:
        """Return how many runs end where, by their strategies in the last round.

        A run ends at a pure equilibrium if every player plays its action with probability at least 0.98, or at a mixed
        equilibrium of a small two-player game if no probability differs by more than 0.02.

        Returns
        -------
        dict of str to int
            The number of runs by place, the most frequent place first; other runs end "elsewhere".

        Examples
        --------
        >>> import gamesim
        >>> gamesim.simulate("battle-of-the-sexes", "hedge", rounds=2000, replicas=20, start="random").endings()
        {'(fight, fight)': 11, '(opera, opera)': 9}
        """
        profiles = self._array("last-strategies")
        return endings(self.game, profiles[None] if self.single else profiles)

    @property
    def trajectory(self) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
        """Return the recorded rounds, and each player's strategies in them.

        Strategies have one row per recorded round, with a probability for each action. By default, long runs record one
        round out of every two, four, and so on.

        Examples
        --------
        >>> import gamesim
        >>> rounds, (first, second) = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200).trajectory
        >>> rounds[[0, -1]].tolist(), first[[0, -1]].round(3).tolist()
        ([1, 200], [[0.5, 0.5], [0.0, 1.0]])
        """
        kept = self.arrays["trajectory"]
        return self.arrays["trajectory_rounds"], self._by_player(kept[0] if self.single else kept)

    def _by_player(self, side_by_side: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Split an array over all players' actions by player."""
        return list(np.split(side_by_side, np.cumsum(self.game.sizes)[:-1], axis=-1))

    @property
    def payoffs(self) -> NDArray[np.float64]:
        """Return each player's average payoff, in payoff units per round.

        Examples
        --------
        >>> import gamesim
        >>> gamesim.simulate("prisoners-dilemma", "hedge", rounds=200).payoffs.round(2).tolist()
        [1.09, 1.09]
        """
        return self._array("payoffs")

    @property
    def welfare(self) -> Number:
        """Return the sum of the players' average payoffs, in payoff units per round.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(float(record.welfare), 2), record.payoffs.round(2).tolist()
        (3.48, [2.98, 0.5])
        """
        return self._number("welfare")

    def regret(
        self,
        kind: RegretKind,
        *,
        of: RegretOf = "play",
        epsilon: float | None = None,
        phi: Deviations | None = None,
    ) -> NDArray[np.float64]:
        """Return each player's total regret.

        Parameters
        ----------
        kind : {"external", "internal", "swap", "quantile", "phi"}
            The deviations to compare with. External regret compares with the best fixed action, internal regret with
            the best replacement of one action by another, and swap regret with the best replacement of every action.
        of : {"play", "strategies"}, default "play"
            Whether the regret is of the drawn actions, if actions are drawn, or of the strategies that they are drawn
            from. The losses are the same. With expected feedback both are the same.
        epsilon : float, optional
            For quantile regret only: the share of actions, in (0, 1]. The regret is against the ⌈epsilon · d⌉-th best
            of d actions.
        phi : array_like, optional
            For phi regret only: a stochastic matrix for all players, or a sequence with one matrix per player. Row i is
            the distribution that replaces action i.

        Returns
        -------
        ndarray of shape (players,)
            The regret over all rounds, in payoff units. With replicas it has a leading axis.

        Raises
        ------
        InputError
            If the kind is unknown, or `epsilon` or `phi` is missing or not applicable.

        See Also
        --------
        gamesim.measure.regrets : The formulas.
        Record.bound : The bound on each of these regrets.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.regret("external").round(1).tolist()
        [3.3, 96.7]
        >>> record.regret("quantile", epsilon=1.0).round(1).tolist()  # against the worst action
        [-196.7, -96.7]
        >>> record.regret("phi", phi=[[0, 1], [1, 0]]).round(1).tolist()  # against always switching
        [-193.5, 0.0]
        >>> record = gamesim.simulate("commitment", "hedge", rounds=200, feedback="sampled")
        >>> [record.regret("external", of=of).round(1).tolist() for of in ("play", "strategies")]
        [[5.0, 3.0], [3.3, 2.1]]
        """
        options = regret_options(kind, of, epsilon, phi)
        return self._array(f"{kind}-regret", **options)

    def profile(self, player: int | str, *, of: RegretOf = "play") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the regret profile of one player.

        Parameters
        ----------
        player : int or str
            The index or the name of the player.
        of : {"play", "strategies"}, default "play"
            Whether the regrets are of the drawn actions, if actions are drawn, or of the strategies.

        Returns
        -------
        together : ndarray of shape (d,)
            The largest total regret, in payoff units, against deviations that send at least d - k + 1 actions to the
            same action, for k = 1, ..., d. It runs from external to swap regret.
        alone : ndarray of shape (d,)
            The largest total regret, in payoff units, against deviations that change at most k actions. It runs from
            internal to swap regret.

        Raises
        ------
        InputError
            If the player is unknown.

        See Also
        --------
        gamesim.measure.regrets.profile : The same in units of loss.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> together, alone = record.profile("Row")
        >>> bool(np.allclose(together[[0, -1]], [record.regret(kind)[0] for kind in ("external", "swap")]))
        True
        >>> bool(np.allclose(alone[[0, -1]], [record.regret(kind)[0] for kind in ("internal", "swap")]))
        True
        """
        names = self.game.players
        if isinstance(player, str) and player not in names:
            raise unknown("player", player, names)
        i = names.index(player) if isinstance(player, str) else player
        found = [regrets.profile(self.moments(replica)[-1].matrices_of(of)[i]) for replica in range(self.replicas)]
        together, alone = np.moveaxis(np.array(found[0] if self.single else found), -2, 0)
        scale = self.game.scale[i]
        return scale * together, scale * alone

    def bound(
        self,
        player: int,
        kind: PlainRegret,
        rounds: int | None = None,
        *,
        of: RegretOf = "play",
        delta: float = DELTA,
    ) -> float | None:
        """Return the bound that is proved for a player's total regret.

        It bounds ``regret(kind, of=of)`` in the sense that `bound_holds` states. For actions drawn from the strategies
        of a learner whose guarantee holds surely, it is exceeded with a probability of at most `delta`.

        Parameters
        ----------
        player : int
            The index of the player.
        kind : {"external", "internal", "swap"}
            The kind of regret.
        rounds : int, optional
            The number of rounds. By default all rounds of the run.
        of : {"play", "strategies"}, default "play"
            Whether the regret is of the drawn actions, if actions are drawn, or of the strategies.
        delta : float, default 0.01
            The probability with which the regret of drawn actions may exceed the bound, in (0, 1).

        Returns
        -------
        float or None
            The bound on the total regret, in payoff units, or None if nothing is proved: the learner's guarantee
            implies no bound on this kind of regret, or an opponent saw the draws before it played.

        Raises
        ------
        InputError
            If `of` is unknown or `delta` lies outside (0, 1).

        See Also
        --------
        Guarantee.bound_on : How a bound on one kind of regret implies bounds on others.
        gamesim.measure.bounds : How a bound on the regret of strategies implies one on that of draws.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> bool(record.regret("external")[0] <= record.bound(0, "external"))
        True
        >>> round(record.bound(0, "external"), 1), round(record.bound(0, "external", rounds=50), 1)
        (50.8, 25.9)
        >>> round(record.bound(0, "swap"), 1)  # Hedge bounds swap regret only with two actions
        101.7
        >>> gamesim.simulate("shapley", "hedge", rounds=200).bound(0, "swap") is None
        True
        >>> drawn = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200, feedback="sampled")
        >>> [round(drawn.bound(0, "external", of=of), 1) for of in ("strategies", "play")]
        [50.8, 115.2]
        """
        if self._unusual(player):
            return None
        losses = bounds.bound(
            self.learners,
            player,
            kind,
            self.rounds if rounds is None else rounds,
            self.game.sizes[player],
            started=self.started[player],
            feedback=self.feedback,
            of=of,
            delta=delta,
        )
        return None if losses is None else float(losses * self.game.scale[player])

    def bound_holds(self, player: int, *, of: RegretOf = "play") -> Holds | None:
        """Return in what sense `bound` holds for a player.

        Parameters
        ----------
        player : int
            The index of the player.
        of : {"play", "strategies"}, default "play"
            Whether the regret is of the drawn actions, if actions are drawn, or of the strategies.

        Returns
        -------
        {"surely", "with high probability", "in expectation"} or None
            Surely means in every run. With high probability means with probability at least 1 - delta. In expectation
            means that the bound is on the mean over runs of the regret against any fixed deviation, so a single run
            may exceed it. None means that nothing is proved.

        Raises
        ------
        InputError
            If `of` is unknown.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("matching-pennies", ["hedge", "adversary"], rounds=100, feedback="sampled")
        >>> record.bound_holds(0, of="strategies"), record.bound_holds(0)
        ('surely', 'with high probability')
        >>> record = gamesim.simulate("matching-pennies", ["hedge", "clairvoyant"], rounds=100, feedback="sampled")
        >>> record.bound_holds(0, of="strategies"), record.bound_holds(0)
        ('surely', None)
        """
        return bounds.bound_holds(self.learners, player, self.feedback, of)

    def certificate(self, player: int, phi: ArrayLike, *, exact: bool = False) -> float | None:
        """Return the certified bound on the total regret of a player's strategies.

        Some learners can prove a bound against a given deviation from the gradients of their run. It holds surely for
        ``regret("phi", phi=phi, of="strategies")``. If actions are drawn, it does not bound the regret of the draws.
        The wavelet learners give two: from the bounds of their scalar learners, and from what these lost in the run.

        Parameters
        ----------
        player : int
            The index of the player.
        phi : array_like of shape (d, d)
            The deviation: a stochastic matrix whose row i is the distribution that replaces action i.
        exact : bool, default False
            Whether to use what the scalar learners lost in this run instead of their bounds. This is never larger.

        Returns
        -------
        float or None
            The certified bound, in payoff units, or None if the learner certifies no bounds, if it observed other
            losses than those of each round (because of a delay, noise, alternating moves or different feedback), or if
            the record is of an earlier version, whose learners kept other states.

        Raises
        ------
        InputError
            If the record has replicas.

        Notes
        -----
        If the first strategy p was given or perturbed, it differs from the learner's strategy q. This adds once the
        maximum over losses l of::

            <p - q, l - φ l>

        It is 2 for external and internal regret, and at most 4.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", ["wavelet-continuous", "hedge"], rounds=1000, perturb=0.2)
        >>> best = record.best_deviation(0, "swap")
        >>> exact, certificate = record.certificate(0, best, exact=True), record.certificate(0, best)
        >>> bool(record.regret("swap")[0] <= exact <= certificate <= record.bound(0, "swap"))
        True
        >>> record.certificate(1, best) is None
        True
        """
        if not self.single:
            raise InputError("certificates need a record of a single run: use record[replica]")
        learner, state = self.learners[player], self._certified_state(player, "certificate", 0)
        if state is None:
            return None
        losses = learner.certificate(state, phi, exact)
        if self.started[player]:
            changes = np.eye(self.game.sizes[player]) - np.asarray(phi, dtype=np.float64)
            losses += max(np.abs(changes - row).sum(axis=1).max() for row in changes)
        return float(losses * self.game.scale[player])

    def profile_certificate(
        self, player: int, *, exact: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the certified bounds on the regret profile of a player's strategies.

        They hold surely for ``profile(player, of="strategies")``. The first entries bound external and internal regret,
        the last ones swap regret.

        Parameters
        ----------
        player : int
            The index of the player.
        exact : bool, default False
            Whether to use what the scalar learners lost in this run instead of their bounds. This is never larger.

        Returns
        -------
        together : ndarray of shape (d,)
            Bounds, in payoff units, on the regret against deviations that send at least d - k + 1 actions to the same
            action, for k = 1, ..., d. With replicas it has a leading axis.
        alone : ndarray of shape (d,)
            The same for deviations that change at most k actions.

        None is returned if the learner certifies no bounds, as by `certificate`.

        Notes
        -----
        The exact certificate is linear in the deviation, so its maximum over each class is computed. The bounds of the
        scalar learners are convex; their maximum is computed for external and internal regret, and bounded for larger
        k. See `gamesim.players.Wavelet.profile_certificate`.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", ["wavelet-continuous", "hedge"], rounds=1000, perturb=0.2)
        >>> together, alone = record.profile_certificate(0)
        >>> exact, _ = record.profile_certificate(0, exact=True)
        >>> bool((record.profile(0)[0] <= exact).all() and (exact <= together).all())
        True
        >>> record.profile_certificate(1) is None
        True
        """
        found = []
        for replica in range(self.replicas):
            state = self._certified_state(player, "profile_certificate", replica)
            if state is None:
                return None
            losses = self._exact_profile(player, state) if exact else self._bound_profile(player, state)
            found.append((losses + self._first_round(player)) * self.game.scale[player])
        together, alone = np.moveaxis(np.array(found[0] if self.single else found), -2, 0)
        return together, alone

    def profile_bound(self, player: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the proved bounds on the regret profile of a player's strategies.

        Unlike those of `profile_certificate`, they are known before the run.

        Parameters
        ----------
        player : int
            The index of the player.

        Returns
        -------
        together : ndarray of shape (d,)
            Bounds, in payoff units, on the regret against deviations that send at least d - k + 1 actions to the same
            action, for k = 1, ..., d.
        alone : ndarray of shape (d,)
            The same for deviations that change at most k actions.

        None is returned if the guarantee of the learner has no bounds along the profile, or does not apply.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", ["wavelet-continuous", "hedge"], rounds=1000, perturb=0.2)
        >>> together, alone = record.profile_bound(0)
        >>> together[0] == record.bound(0, "external"), alone[0] == record.bound(0, "internal")
        (np.True_, np.True_)
        """
        learner = self.learners[player]
        promise = learner.guarantee() if isinstance(learner, Learner) else None
        if promise is None or promise.profile is None or self._unusual(player):
            return None
        size = self.game.sizes[player]
        losses = promise.profile(self.rounds, size, np.arange(1, size + 1)) + self._first_round(player)
        together, alone = losses * self.game.scale[player]
        return together, alone

    def _unusual(self, player: int) -> bool:
        """Whether nothing is proved: it is for the learner's own start, and for losses observed after each round."""
        placed = self.settings.get("placed", [False] * len(self.learners))[player]
        return bool(placed or self.settings.get("protocol"))

    def _certified_state(self, player: int, method: str, replica: int) -> NDArray[np.float64] | None:
        """Return the state of a learner that certifies bounds by a method, or None if it cannot."""
        learner = self.learners[player]
        if not hasattr(learner, method) or self._unusual(player):
            return None
        sizes = self.settings.get("states") or [
            one.first_state(actions).size if isinstance(one, Learner) else 0
            for one, actions in zip(self.learners, self.game.sizes, strict=True)
        ]
        first = begins(sizes)[player]
        state: NDArray[np.float64] = self.arrays["continue_state"][replica][first : first + sizes[player]]
        return state if state.size == learner.first_state(self.game.sizes[player]).size else None

    def _bound_profile(self, player: int, state: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.learners[player].profile_certificate(state, self.game.sizes[player])
        return found

    def _exact_profile(self, player: int, state: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest improper regret along the profile; of the two ways to write φ, the smaller one."""
        worth, gradients = self.learners[player].improper_losses(state, self.game.sizes[player])
        found: NDArray[np.float64] = np.min(
            [worth - np.trace(one) + np.array(regrets.profile(one)) for one in gradients], axis=0
        )
        return found

    def _first_round(self, player: int) -> NDArray[np.float64]:
        """Return what a given or perturbed first strategy adds to losses along the profile."""
        added = np.full(self.game.sizes[player], 4.0 if self.started[player] else 0.0)
        added[0] /= 2
        return added

    def best_deviation(self, player: int, kind: PlainRegret, *, of: RegretOf = "play") -> NDArray[np.float64]:
        """Return the deviation that a player's regret is measured against.

        Parameters
        ----------
        player : int
            The index of the player.
        kind : {"external", "internal", "swap"}
            The kind of regret.
        of : {"play", "strategies"}, default "play"
            Whether the regret is of the drawn actions, if actions are drawn, or of the strategies.

        Returns
        -------
        ndarray of shape (d, d)
            A stochastic matrix of zeros and ones whose row i is the action that replaces action i.

        Raises
        ------
        InputError
            If the record has replicas.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> record.best_deviation(0, "swap")  # replace each action by the next
        array([[0., 1., 0.],
               [0., 0., 1.],
               [1., 0., 0.]])
        """
        if not self.single:
            raise InputError("best deviations need a record of a single run: use record[replica]")
        return regrets.best_deviation(self.moments()[-1].matrices_of(of)[player], kind)

    def gap(self, kind: EquilibriumKind) -> Number:
        """Return the CE or CCE gap.

        If it is ε, the joint distribution of play is an ε-approximate CE or CCE.

        Parameters
        ----------
        kind : {"ce", "cce"}
            The largest swap regret or the largest external regret of any player.

        Returns
        -------
        float or ndarray of shape (replicas,)
            The gap, in payoff units per round.

        Raises
        ------
        InputError
            If the kind is unknown.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> round(record.gap("ce"), 2), round(record.gap("cce"), 3)
        (0.14, 0.006)
        """
        return self._number(gap_name(kind))

    def nash_gap(self) -> Number:
        """Return the Nash gap of the average strategies.

        Returns
        -------
        float or ndarray of shape (replicas,)
            The maximum gain of any player who deviates from its average strategy while the others play theirs, in
            payoff units per round.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(record.nash_gap(), 3)
        0.484
        """
        return self._number("nash-gap")

    def distance(self, kind: EquilibriumKind, *, always: bool = False, seconds: float = SECONDS) -> Number:
        """Return the distance of the joint distribution of play to the CE or CCE set.

        The distance can be large although the gap is small: the gap is how much a player gains by deviating, the
        distance is how much of the play would have to change.

        Parameters
        ----------
        kind : {"ce", "cce"}
            Correlated or coarse correlated equilibria.
        always : bool, default False
            Whether to solve linear programs that may take minutes.
        seconds : float, default 60
            Time limit for each replica.

        Returns
        -------
        float or ndarray of shape (replicas,)
            The distance in total variation, from 0 to 1. If it is not solved within the time limit, NaN, with a
            warning; `distance_bounds` returns the bounds that are known then.

        Raises
        ------
        InputError
            If the kind is unknown, or the game has no payoff table or is too large.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> round(record.distance("ce"), 3), round(record.distance("cce"), 3)
        (0.245, 0.006)
        """
        name = f"{checked_kind(kind)}-distance"
        refuse_slow(self.game, self.replicas, always=always)
        return cast(Number, self.measure(name, always=True, seconds=seconds))

    def distance_bounds(
        self, kind: EquilibriumKind, *, always: bool = False, seconds: float = SECONDS
    ) -> DistanceBounds:
        """Return certified bounds on the distance to the CE or CCE set.

        Parameters
        ----------
        kind : {"ce", "cce"}
            Correlated or coarse correlated equilibria.
        always : bool, default False
            Whether to solve linear programs that may take minutes.
        seconds : float, default 60
            Time limit for solving.

        Returns
        -------
        DistanceBounds
            A lower and an upper bound in total variation, and the nearest equilibrium found.

        Raises
        ------
        InputError
            If the kind is unknown, the game has no payoff table or is too large, or the record has replicas.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> bounds = record.distance_bounds("ce")
        >>> bounds.solved, bounds.distance == record.distance("ce")
        (True, True)
        """
        if not self.single:
            raise InputError(f"the record has {self.replicas} replicas: choose one, record[0].distance_bounds(...)")
        return distance_bounds(self.game, played_joint(self.moments()[-1]), kind, always=always, seconds=seconds)

    @property
    def curve(self) -> Curve:
        """Return the measures at each checkpoint, up to the last round.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.rounds[:5].tolist(), int(record.curve.rounds[-1])
        ([1, 2, 3, 4, 5], 200)
        """
        return self.curve_from(1)

    def curve_from(self, first: int) -> Curve:
        """Return the measures at each checkpoint from a given round on.

        The measures still cover all rounds from the first.

        Parameters
        ----------
        first : int
            The first round to show.

        Returns
        -------
        Curve
            The measures at each checkpoint.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve_from(150).rounds.tolist()
        [158, 200]
        """
        replicas = [self.moments(replica) for replica in range(self.replicas)]
        return Curve(replicas, int(np.searchsorted(self.arrays["checkpoints"], first)), single=self.single)

    def to_pandas(self, measures: Sequence[str | MomentFunction] | None = None) -> Any:
        """Return measures at each checkpoint as a tidy table of pandas.

        Parameters
        ----------
        measures : sequence of str or callable, optional
            The measures, see `measure`. "trajectory" stands for the strategies of all recorded rounds. By default the
            gaps, payoffs, regrets and strategies.

        Returns
        -------
        pandas.DataFrame
            One row per value, with the columns round, player, action, measure and value, and replica if the run has
            replicas. Values are in the measure's unit. Player and action are missing where a measure has none.

        Raises
        ------
        InputError
            If pandas is not installed, a measure is unknown or needs options, or has one number per action profile.

        See Also
        --------
        Record.to_xarray : The same with named dimensions and units.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.payoffs.round(2).tolist(), round(record.gap("ce"), 2)  # in the last rows of the table
        ([2.98, 0.5], 0.48)
        >>> table = record.to_pandas(["payoffs", "ce-gap"])  # doctest: +SKIP
        >>> table.query("round == 200")  # doctest: +SKIP
            round    player action  measure     value
        40    200    Leader    NaN  payoffs  2.983693
        41    200  Follower    NaN  payoffs  0.500000
        62    200       NaN    NaN   ce-gap  0.483693
        """
        return frames.to_pandas(self.game, self._columns(measures), single=self.single)

    def to_xarray(self, measures: Sequence[str | MomentFunction] | None = None) -> Any:
        """Return measures at each checkpoint as a dataset of xarray.

        Parameters
        ----------
        measures : sequence of str or callable, optional
            The measures, see `to_pandas`. Joint distributions are possible, too.

        Returns
        -------
        xarray.Dataset
            One variable per measure, in the measure's unit, which is the attribute ``units``. The dimensions are
            replica, if the run has replicas, round (``recorded_round`` for a trajectory), player and action. Values are
            NaN where a player has fewer actions than another, and the coordinate ``label`` names the actions if they
            differ.

        Raises
        ------
        InputError
            If xarray is not installed, or a measure is unknown or needs options.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.average[0].round(3).tolist()  # of the leader
        [0.984, 0.016]
        >>> data = record.to_xarray()  # doctest: +SKIP
        >>> data["average-strategies"].sel(player="Leader", round=200).values.round(3).tolist()  # doctest: +SKIP
        [0.984, 0.016]
        """
        attributes = {
            "game": self.game.name,
            "learners": list(map(name_of, self.learners)),
            "rounds": self.rounds,
            "seed": self.seed,
            "feedback": self.feedback,
        }
        return frames.to_xarray(self.game, self._columns(measures), single=self.single, attributes=attributes)

    def _columns(self, measures: Sequence[str | MomentFunction] | None) -> dict[str, frames.Column]:
        """Return the values of measures by name, with a leading axis of replicas."""
        chosen = frames.MAIN if measures is None else [measures] if isinstance(measures, str) else list(measures)
        if not chosen:
            raise InputError("measures must name at least one measure, got none")
        curve, found = self.curve, dict[str, frames.Column]()
        for one in chosen:
            if one == frames.TRAJECTORY:
                column = frames.Column(
                    PROBABILITY, "action", self.arrays["trajectory_rounds"], self.arrays["trajectory"]
                )
                found[frames.TRAJECTORY] = column
                continue
            known, values = find(one), curve.measure(one)
            if known.name in found:
                raise InputError(f"measures must have different names, got {known.name!r} twice")
            found[known.name] = frames.Column(
                known.unit, known.per, curve.rounds, values[None] if self.single else values
            )
        return found

    since = Renamed("curve_from")
    players = Renamed("learners")

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the record to a new folder.

        Parameters
        ----------
        path : str or path-like
            The folder.
        force : bool, default False
            Whether to replace an existing folder.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        InputError
            If the folder exists and `force` is False, or if it cannot be written.

        Examples
        --------
        >>> import gamesim
        >>> import tempfile
        >>> record = gamesim.simulate("chicken", "hedge", rounds=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = record.save(f"{folder}/record")
        ...     path.name, (path / "manifest.json").is_file()
        ('record', True)
        """
        return write_folder(path, self.write_parts, force=force)

    def write_parts(self, folder: Path) -> None:
        """Write the manifest and the arrays into an existing folder.

        Parameters
        ----------
        folder : pathlib.Path
            The folder.

        Examples
        --------
        >>> import gamesim
        >>> import tempfile
        >>> record = gamesim.simulate("chicken", "hedge", rounds=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record.write_parts(Path(folder))
        ...     load(folder).rounds
        10
        """
        parts = record_files.Fields(
            game=self.game,
            learners=self.learners,
            rounds=self.rounds,
            seed=self.seed,
            feedback=self.feedback,
            started=self.started,
            single=self.single,
            arrays=self.arrays,
            settings=self.settings,
        )
        record_files.write(folder, parts)


def python_state(player: int) -> str:
    """Return the name of the array with the states of a learner in Python.

    >>> python_state(0)
    'python_state_0'
    """
    return f"python_state_{player}"


def load(path: str | os.PathLike[str]) -> Record[Any]:
    """Read a record from a folder.

    No code in the folder is executed.

    Parameters
    ----------
    path : str or path-like
        The folder that `Record.save` wrote.

    Returns
    -------
    Record
        The record.

    Raises
    ------
    InputError
        If there is no record, or it is incomplete or of another format.

    Examples
    --------
    >>> import gamesim
    >>> import tempfile
    >>> record = gamesim.simulate("chicken", ["hedge", "uniform"], rounds=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(record.save(f"{folder}/record"))
    >>> again.rounds, bool((again.joint == record.joint).all())
    (10, True)
    """
    return Record(**record_files.read(Path(path)))
