"""The moments of a run: sums over its rounds, from which all measures are computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.compiled import Vector
from gamesim.engine.sums import Sums
from gamesim.game import Game


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

    Notes
    -----
    With p a player's strategy (its drawn action if actions are drawn) and l its losses in [-1, 1], the sums are::

        sums.average         = Σ p, concatenated over players
        sums.counterfactuals = Σ p ⊗ l, player after player
        sums.joint           = Σ p_1 ⊗ ... ⊗ p_n, empty if too large to store
        sums.path            = Σ |p_t - p_{t-1}|_1 of each player's strategies, drawn or not
        sums.last            = p_t of the last round, concatenated over players

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
    rounds: int
    sums: Sums

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
        ends = np.cumsum(np.square(self.game.sizes))
        parts = np.split(self.sums.counterfactuals, ends[:-1])
        return [part.reshape(size, size) for part, size in zip(parts, self.game.sizes, strict=True)]

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
        rounds: NDArray[np.int64],
        sums_at: Callable[[int], Sums],
        stacked: Callable[[str], NDArray[np.float64]] | None = None,
    ) -> None:
        self.game = game
        self.rounds = rounds
        self._sums_at = sums_at  # returns the sums at one moment, given its index
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
                self.game, self.rounds[at], lambda k: self._sums_at(chosen[k]), lambda name: self._stacked(name)[at]
            )
        k = range(len(self))[at]
        return Moment(self.game, int(self.rounds[k]), self._sums_at(k))

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


class _OneByOne:
    """Stack each sum on access: unused sums may be large."""

    def __init__(self, stacked: Callable[[str], NDArray[np.float64]]) -> None:
        self._stacked = stacked

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        return self._stacked(name)
