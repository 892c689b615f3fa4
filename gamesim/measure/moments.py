"""The moments of a run: what its rounds have added up to so far, from which everything is measured."""

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
    """One run after some of its rounds: the `game`, the `rounds` played, and the `sums` over them.

    `sums.average` is Σ p of all players side by side, `sums.counterfactuals` is Σ p ⊗ l, player after player, and
    `sums.joint` is Σ of the product of all strategies, empty where it would not fit into memory; l are losses in
    [-1, 1]. Where actions are drawn, p is the drawn action.

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
        """Each player's counterfactual losses Σ p ⊗ l, in the units of loss that learners see.

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
        """All players' average strategies side by side.

        >>> import gamesim
        >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments()[-1].profile.round(3).tolist()
        [0.019, 0.981, 0.5, 0.5]
        """
        return self.sums.average / self.rounds

    @property
    def joint(self) -> NDArray[np.float64] | None:
        """The empirical distribution over action profiles, an axis a player; None where it does not fit into memory.

        >>> import gamesim
        >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments()[-1].joint.round(2).tolist()
        [[0.01, 0.01], [0.49, 0.49]]
        """
        total = self.sums.joint
        return total.reshape(self.game.sizes) / self.rounds if total.size else None


class Moments(Sequence[Moment]):
    """One run at each of its checkpoints and at its last round, in this order; each moment is made when asked for.

    Where a moment has a number or an array, this has an entry or a row for each of them: `rounds`, and the `sums`,
    each stacked when it is asked for. Slices are Moments.

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
        self._sums_at = sums_at  # the sums at one moment, by its number
        self._stacked = stacked or self._stack  # one sum at all moments, by its name

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
        """The sums at all of these moments, each an array with a row a moment.

        >>> import gamesim
        >>> simulation = gamesim.Simulation("prisoners-dilemma", ["hedge", "uniform"])
        >>> _ = simulation.run(200)
        >>> simulation.moments().sums.average[[0, -1]].round(1).tolist()
        [[0.5, 0.5, 0.5, 0.5], [3.9, 196.1, 100.0, 100.0]]
        """
        return cast(Sums, _OneByOne(self._stacked))


class _OneByOne:
    """Sums that are stacked each when it is asked for: those that nobody reads may be large."""

    def __init__(self, stacked: Callable[[str], NDArray[np.float64]]) -> None:
        self._stacked = stacked

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        return self._stacked(name)
