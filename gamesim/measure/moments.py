"""The moments of a run: sums over its rounds, from which all measures are computed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast, get_args, overload

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Vector
from gamesim.engine.sums import Sums, lengths
from gamesim.errors import InputError, unknown
from gamesim.game import Game, Table
from gamesim.learner import REGRETS_OF, RegretOf
from gamesim.measure.observers import BUILT_IN, body

Weights: TypeAlias = Literal["linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


@dataclass(frozen=True, eq=False)
class Moment:
    """Hold the sums over the first rounds of a run.

    Parameters
    ----------
    game : Game
        The game.
    rounds : int
        The number of rounds so far.
    sums : Sums
        The sums over these rounds, see Notes.
    totals : mapping of str to int, optional
        The names of observers, and the lengths of their totals in ``sums.observed``.

    Notes
    -----
    With p a player's strategy (its drawn action if actions are drawn) and l its losses in [-1, 1], the sums are::

        sums.average = Σ p, concatenated over players
        sums.joint   = Σ p_1 ⊗ ... ⊗ p_n, empty if too large to store
        sums.path    = Σ |p_t - p_{t-1}|_1 of each player's strategies, drawn or not
        sums.last    = p_t of the last round, concatenated over players

    `counterfactuals` has the sums Σ p ⊗ l.

    Examples
    --------
    >>> import gamesim
    >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
    >>> _ = simulation.run(200)
    >>> moment = simulation.moments()[-1]
    >>> moment.rounds, moment.sums.average.round(1).tolist()
    (200, [3.9, 196.1, 100.0, 100.0])
    """

    game: Game
    rounds: float  # a sum of weights if they are weighted
    sums: Sums
    totals: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def matrices(self) -> list[NDArray[np.float64]]:
        """Return each player's counterfactual losses Σ p ⊗ l, in units of loss.

        Examples
        --------
        >>> import gamesim
        >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments()[-1].matrices[0].round(1).tolist()
        [[1.6, -0.8], [78.4, -39.2]]
        """
        return self.matrices_of("play")

    def matrices_of(self, of: RegretOf) -> list[NDArray[np.float64]]:
        """Return each player's counterfactual losses, of play or of the strategies.

        Parameters
        ----------
        of : {"play", "strategies"}
            Whether p in Σ p ⊗ l is the drawn action, if actions are drawn, or the strategy.

        Returns
        -------
        list of ndarray of shape (d, d)
            One matrix per player, in units of loss.

        Raises
        ------
        InputError
            If `of` is unknown, or the run is from a version that did not store the matrices of strategies.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200, feedback="sampled")
        >>> moment = record.moments()[-1]
        >>> [moment.matrices_of(of)[1].round(1).tolist() for of in ("play", "strategies")]
        [[[95.2, 53.6], [98.8, 58.4]], [[97.0, 56.0], [97.0, 56.0]]]
        """
        ends = np.cumsum(np.square(self.game.sizes))
        parts = np.split(self.counterfactuals(of), ends[:-1])
        return [part.reshape(size, size) for part, size in zip(parts, self.game.sizes, strict=True)]

    def counterfactuals(self, of: RegretOf = "play") -> Vector:
        """Return the sums Σ p ⊗ l, player after player, in units of loss.

        They are the entries of `matrices_of`.

        Parameters
        ----------
        of : {"play", "strategies"}, default "play"
            Whether p is the drawn action, if actions are drawn, or the strategy.

        Returns
        -------
        ndarray of float
            All matrices, flattened and concatenated.

        Examples
        --------
        >>> import gamesim
        >>> gamesim.simulate("chicken", "uniform", rounds=2).moments()[-1].counterfactuals().round(2).tolist()
        [-0.14, 0.0, -0.14, 0.0, -0.14, 0.0, -0.14, 0.0]
        """
        return _of_strategies(self.sums) if _has_strategies(self.sums, of) else self._counterfactuals

    @cached_property
    def _counterfactuals(self) -> Vector:
        return _of_play(self.game, self.sums)

    @property
    def profile(self) -> Vector:
        """Return all players' average strategies, concatenated.

        Examples
        --------
        >>> import gamesim
        >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments()[-1].profile.round(3).tolist()
        [0.019, 0.981, 0.5, 0.5]
        """
        return self.sums.average / self.rounds

    @property
    def joint(self) -> NDArray[np.float64] | None:
        """Return the joint distribution of play, or None if too large to store.

        It has one axis per player.

        Examples
        --------
        >>> import gamesim
        >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments()[-1].joint.round(2).tolist()
        [[0.01, 0.01], [0.49, 0.49]]
        """
        total = self.sums.joint
        return total.reshape(self.game.sizes) / self.rounds if total.size else None

    def observed(self, name: str) -> Vector:
        """Return the total of an observer.

        Parameters
        ----------
        name : str
            The name of the observer.

        Returns
        -------
        ndarray of float
            The total, without the header of built-in observers, whose regrets are in units of loss.

        Raises
        ------
        InputError
            If the run has no such observer.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("chicken", ["hedge", "uniform"], rounds=50, observers=["dynamic-regret"])
        >>> record.moments()[-1].observed("dynamic-regret").round(1).tolist()
        [2.3, 1.2]
        """
        if name not in self.totals:
            hint = f"this run has {', '.join(self.totals)}" if self.totals else f'run it with observers=["{name}"]'
            raise InputError(f"this run has no observer {name!r}; {hint}")
        first = 0
        for one, length in self.totals.items():
            if one == name:
                break
            first += length
        total = self.sums.observed[first : first + length]
        return body(total) if name in BUILT_IN else total

    def weighted(self, weights: Weights) -> "Moment":
        """Return the moment with every round weighted.

        Parameters
        ----------
        weights : {"linear", "quadratic"}
            Whether round t has weight t or t². The run needs the observer "linear-weights" or "quadratic-weights".

        Returns
        -------
        Moment
            A moment of weighted sums, of which all measures can be computed; its rounds are the sum of the weights.

        Raises
        ------
        InputError
            If the run has no such observer.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("chicken", "hedge", rounds=4, perturb=0.5, observers=["linear-weights"])
        >>> record.moments()[-1].weighted("linear").rounds
        10.0
        """
        if weights not in WEIGHTS:
            raise unknown("weights", weights, WEIGHTS)
        held = lengths(self.game.sizes, drawn=False, tabled=False)
        total = self.observed(f"{weights}-weights")
        ends = np.cumsum([1, held["average"], held["counterfactuals"]])
        weight, average, matrices, joint = np.split(total, ends)
        sums = self.sums._replace(average=average, counterfactuals=matrices, joint=joint, observed=np.zeros(0))
        return Moment(self.game, float(weight[0]), sums)


class Moments(Sequence[Moment]):
    """Hold the moments of a run at its checkpoints and after its last round.

    It is a sequence of `Moment`, each created on access. `rounds` and `sums` have one entry or row per moment; slices
    are again `Moments`.

    Parameters
    ----------
    game : Game
        The game.
    rounds : ndarray of int
        The number of rounds at each moment.
    sums_at : callable
        A function that returns the sums at a moment, given its index.
    stacked : callable, optional
        A function that returns one sum at all moments, given its name.
    totals : mapping of str to int, optional
        The names of observers, and the lengths of their totals.

    Examples
    --------
    >>> import gamesim
    >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
    >>> _ = simulation.run(200)
    >>> moments = simulation.moments()
    >>> moments.rounds[-3:].tolist(), moments[-2].rounds, moments[-3:].sums.joint.shape
    ([126, 158, 200], 158, (3, 4))
    """

    def __init__(
        self,
        game: Game,
        rounds: NDArray[Any],
        sums_at: Callable[[int], Sums],
        stacked: Callable[[str], NDArray[np.float64]] | None = None,
        totals: Mapping[str, int] | None = None,
    ) -> None:
        self.game = game
        self.rounds = rounds
        self._sums_at = sums_at  # returns the sums at one moment, given its index
        self.totals = totals or {}
        self._stacked = stacked or self._stack  # returns one sum at all moments, given its name

    def _stack(self, name: str) -> NDArray[np.float64]:
        return np.stack([getattr(self._sums_at(k), name) for k in range(len(self))])

    def __len__(self) -> int:
        return len(self.rounds)

    @overload
    def __getitem__(self, at: int) -> Moment: ...

    @overload
    def __getitem__(self, at: slice) -> "Moments": ...

    def __getitem__(self, at: int | slice) -> "Moment | Moments":
        if isinstance(at, slice):
            chosen = range(len(self))[at]
            return Moments(
                self.game,
                self.rounds[at],
                lambda k: self._sums_at(chosen[k]),
                lambda name: self._stacked(name)[at],
                self.totals,
            )
        k = range(len(self))[at]
        return self._last if k == len(self) - 1 else self._moment(k)

    @cached_property
    def _last(self) -> Moment:
        """The last moment, which several measures of a run share, and what they derive from its sums."""
        return self._moment(len(self) - 1)

    def _moment(self, k: int) -> Moment:
        return Moment(self.game, int(self.rounds[k]), self._sums_at(k), self.totals)

    def weighted(self, weights: Weights) -> "Moments":
        """Return the moments with every round weighted, see `Moment.weighted`.

        Parameters
        ----------
        weights : {"linear", "quadratic"}
            Whether round t has weight t or t².

        Returns
        -------
        Moments
            The moments of weighted sums.

        Examples
        --------
        >>> import gamesim
        >>> record = gamesim.simulate("chicken", "hedge", rounds=4, perturb=0.5, observers=["linear-weights"])
        >>> record.moments().weighted("linear").rounds.tolist()
        [1.0, 3.0, 6.0, 10.0]
        """
        found = [one.weighted(weights) for one in self]
        return Moments(self.game, np.array([one.rounds for one in found]), lambda k: found[k].sums)

    def counterfactuals(self, of: RegretOf = "play") -> NDArray[np.float64]:
        """Return the sums Σ p ⊗ l at all moments, see `Moment.counterfactuals`.

        Parameters
        ----------
        of : {"play", "strategies"}, default "play"
            Whether p is the drawn action, if actions are drawn, or the strategy.

        Returns
        -------
        ndarray of float
            One row per moment: all matrices in units of loss, flattened and concatenated.

        Examples
        --------
        >>> import gamesim
        >>> gamesim.simulate("chicken", "uniform", rounds=2).moments().counterfactuals().shape
        (2, 8)
        """
        return _of_strategies(self.sums) if _has_strategies(self.sums, of) else self._counterfactuals

    @cached_property
    def _counterfactuals(self) -> NDArray[np.float64]:
        return _of_play(self.game, self.sums)

    @property
    def sums(self) -> Sums:
        """Return the sums at all moments, each an array with one row per moment.

        Examples
        --------
        >>> import gamesim
        >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments().sums.average[[0, -1]].round(1).tolist()
        [[0.5, 0.5, 0.5, 0.5], [3.9, 196.1, 100.0, 100.0]]
        """
        return cast(Sums, _OneByOne(self._stacked))


def _has_strategies(sums: Sums, of: RegretOf) -> bool:
    """Return whether the sums Σ p ⊗ l of the strategies are wanted and differ from those of play."""
    if of not in REGRETS_OF:
        raise unknown("regret of", of, REGRETS_OF)
    return of == "strategies" and sums.strategy_counterfactuals.shape[-1] > 0


def _of_play(game: Game, sums: Sums) -> NDArray[np.float64]:
    """Return the sums Σ p ⊗ l of play, at one or all moments.

    If the game is a table of losses L, the loss of action j is the sum of L(j, a) over the actions a of the others,
    weighted with their probabilities. Then

        (Σ p ⊗ l)_ij = Σ_a joint(i, a) L(j, a)
    """
    if sums.counterfactuals.shape[-1] > 0 or not isinstance(game, Table):
        return sums.counterfactuals
    *leading, cells = sums.joint.shape
    joint = sums.joint.reshape(-1, *game.sizes)
    found = []
    for player, (size, table) in enumerate(zip(game.sizes, game.losses, strict=True)):
        others = [other for other in range(len(game.sizes)) if other != player]
        mass = joint.transpose(0, player + 1, *(other + 1 for other in others)).reshape(-1, size, cells // size)
        losses = table.transpose(player, *others).reshape(size, -1)
        found.append((mass @ losses.T).reshape(*leading, size * size))
    return np.concatenate(found, axis=-1)


def _of_strategies(sums: Sums) -> NDArray[np.float64]:
    """Return the sums Σ p ⊗ l of the strategies, at one or all moments."""
    strategies = sums.strategy_counterfactuals
    if np.isnan(strategies).any():
        raise InputError(
            "the regret of the strategies is not in this record, which an earlier version of gamesim began; "
            "repeat the run to obtain it"
        )
    return strategies


class _OneByOne:
    """Stack each sum on access: unused sums may be large."""

    def __init__(self, stacked: Callable[[str], NDArray[np.float64]]) -> None:
        self._stacked = stacked

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        return self._stacked(name)
