"""The record of a run: what was played, and everything that is measured from it.

On disk a record is a folder, see `gamesim.record_files`. It is written to a temporary folder that is renamed at the
end, so a folder under its final name is always whole.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim import record_files
from gamesim.atomic import write_folder
from gamesim.deprecated import Renamed
from gamesim.engine.sums import Sums
from gamesim.errors import InputError, unknown
from gamesim.game import Game
from gamesim.learner import Feedback, Learner, PlainRegret, RegretKind
from gamesim.measure import regrets
from gamesim.measure.builtin import Deviations, gap_name, regret_options
from gamesim.measure.curves import Curve
from gamesim.measure.incentives import EquilibriumKind, checked_kind
from gamesim.measure.moments import Moments
from gamesim.measure.registry import find

# What a measure of one number is: a float of one run, an array of replicas, and either where a record may be both.
if TYPE_CHECKING:
    from typing_extensions import TypeVar  # its type variables have defaults, as Python's do from 3.13 on

    Number = TypeVar("Number", bound=float | NDArray[np.float64], default=Any)
else:
    from typing import TypeVar

    Number = TypeVar("Number")

__all__ = ["Curve", "Record", "load"]

SHARED = ("checkpoints", "trajectory_rounds")  # arrays that all replicas have in common


@dataclass(frozen=True, eq=False)
class Record(Generic[Number]):
    """What a run leaves: arrays only, and measures that are functions of them.

    The `game`, its `learners` (a Learner each, or a class of the user's own), the `rounds` played, the `seed` and the
    `feedback` say which run it was, and `started` whose first strategy was given or perturbed. It is `single` where no
    replicas were asked for; otherwise every measure has a leading axis, one entry a replica, and `record[r]` is the
    record of one. `arrays` and `settings` are what is kept on disk, and what a continued run needs.

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
    feedback: Feedback
    started: tuple[bool, ...]  # whose first strategy was given or perturbed
    single: bool
    arrays: dict[str, NDArray[Any]]
    settings: dict[str, Any]  # what only a continued run needs

    def __repr__(self) -> str:
        kept = map(record_files.described, self.learners)
        learners = dict.fromkeys(str(one["learner"] if "learner" in one else one["python"]) for one in kept)
        replicas = "" if self.single else f", {self.replicas} replicas"
        named = f"{self.game.name}, {' and '.join(learners)}"
        return f"<Record: {named}, {self.rounds:,} rounds{replicas}, seed {self.seed}>"

    @property
    def replicas(self) -> int:
        """How many independent copies of the run this record holds.

        >>> import gamesim
        >>> record = gamesim.simulate("chicken", "hedge", rounds=100, replicas=3, perturb=0.5)
        >>> record.replicas, record.payoffs.shape, record[2].seed
        (3, (3, 2), 2)
        """
        return len(self.arrays["average"])

    def __getitem__(self, replica: int) -> "Record[float]":
        count = self.replicas
        if not -count <= replica < count:
            raise IndexError(f"replica {replica} of {count}")
        at = replica % count
        arrays = {name: part if name in SHARED else part[at : at + 1] for name, part in self.arrays.items()}
        settings = self.settings | {"random": [self.settings["random"][at]]}
        one = replace(self, seed=self.seed + at, single=True, arrays=arrays, settings=settings)
        return cast("Record[float]", one)

    def __iter__(self) -> Iterator["Record[float]"]:
        return (self[replica] for replica in range(self.replicas))

    @cached_property
    def _grid(self) -> NDArray[np.int64]:
        """The rounds of the checkpoints, and the last round."""
        kept = self.arrays["checkpoints"]
        return kept if len(kept) and kept[-1] == self.rounds else np.append(kept, self.rounds)

    def moments(self, replica: int = 0) -> Moments:
        """Return what the measures come from: the sums of one `replica` at its checkpoints and after its last round.

        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> moments = record.moments()
        >>> moments.rounds[-3:].tolist(), moments[-1].profile.round(3).tolist()
        ([126, 158, 200], [0.019, 0.981, 0.5, 0.5])
        """

        last = len(self._grid) - 1

        def sums_at(k: int) -> Sums:
            if k == last:
                return Sums(*(self.arrays[name][replica] for name in Sums._fields))
            return Sums(*(self.arrays[f"checkpoint_{name}"][replica, k] for name in Sums._fields))

        def stacked(name: str) -> NDArray[np.float64]:
            earlier = self.arrays[f"checkpoint_{name}"][replica, :last]
            return np.concatenate([earlier, self.arrays[name][replica, None]])

        return Moments(self.game, self._grid, sums_at, stacked)

    def measure(self, name: str, **options: Any) -> Number | NDArray[np.float64]:
        """Return a measure by its `name`, in the measure's own units; `gamesim.measure.available()` has all of them.

        It is a float, or an array where there is one number per player, action or cell of the joint; with replicas it
        has a leading axis. Some measures take `options`.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(record.measure("ce-gap-share"), 3)
        0.121
        >>> record.measure("quantile-regret", epsilon=1.0).round(1).tolist()
        [-196.7, -96.7]
        """
        measure = find(name)
        found = [measure.now(self.moments(replica), **options) for replica in range(self.replicas)]
        return cast(Number, found[0] if self.single else np.array(found))

    def _number(self, name: str) -> Number:
        """Return a measure that is one number per run."""
        return cast(Number, self.measure(name))

    def _array(self, name: str, **options: Any) -> NDArray[np.float64]:
        """Return a measure that has several numbers per run."""
        return cast(NDArray[np.float64], self.measure(name, **options))

    @property
    def joint(self) -> NDArray[np.float64] | None:
        """The empirical distribution over action profiles, an axis a player; None where it does not fit into memory."""
        if self.arrays["joint"].shape[1] == 0:
            return None
        return self._array("joint")

    @property
    def average(self) -> list[NDArray[np.float64]]:
        """Each player's average strategy: a probability for each action.

        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> [strategy.round(3).tolist() for strategy in record.average]
        [[0.019, 0.981], [0.5, 0.5]]
        """
        return self._by_player(self._array("average-strategies"))

    @property
    def trajectory(self) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
        """The rounds at which strategies were kept, and each player's strategies at them (a row a round).

        >>> import gamesim
        >>> rounds, (first, second) = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200).trajectory
        >>> rounds[[0, -1]].tolist(), first[[0, -1]].round(3).tolist()
        ([1, 200], [[0.5, 0.5], [0.0, 1.0]])
        """
        kept = self.arrays["trajectory"]
        return self.arrays["trajectory_rounds"], self._by_player(kept[0] if self.single else kept)

    def _by_player(self, side_by_side: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return each player's own part of an array over all players' actions."""
        return list(np.split(side_by_side, np.cumsum(self.game.sizes)[:-1], axis=-1))

    @property
    def payoffs(self) -> NDArray[np.float64]:
        """Each player's average payoff a round."""
        return self._array("payoffs")

    @property
    def welfare(self) -> Number:
        """The sum of all players' average payoffs a round; a float, or one for each replica.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(float(record.welfare), 2), record.payoffs.round(2).tolist()
        (3.48, [2.98, 0.5])
        """
        return self._number("welfare")

    def regret(
        self, kind: RegretKind, *, epsilon: float | None = None, phi: Deviations | None = None
    ) -> NDArray[np.float64]:
        """Each player's total regret, in payoff units: external, internal, swap, quantile (epsilon=…) or phi (phi=…).

        It is summed over all rounds, of this `kind`: "external" to the best action, "internal" for the best change of
        one action into another, "swap" for the best such change of every action, "quantile" to the best but a share
        `epsilon` of the actions, or "phi" for `phi`, a stochastic matrix for each player, or one for all.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.regret("external").round(1).tolist()
        [3.3, 96.7]
        >>> record.regret("quantile", epsilon=1.0).round(1).tolist()  # to the worst action
        [-196.7, -96.7]
        >>> record.regret("phi", phi=[[0, 1], [1, 0]]).round(1).tolist()  # "the other action, whatever you play"
        [-193.5, 0.0]
        """
        options = regret_options(kind, epsilon, phi)
        return self._array(f"{kind}-regret", **options)

    def profile(self, player: int | str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The regret profile of one player, by number or name, in payoff units and in total: see `regrets.profile`.

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
        found = [regrets.profile(self.moments(replica)[-1].matrices[i]) for replica in range(self.replicas)]
        together, alone = np.moveaxis(np.array(found[0] if self.single else found), -2, 0)
        scale = self.game.scale[i]
        return scale * together, scale * alone

    def bound(self, player: int, kind: PlainRegret, rounds: int | None = None) -> float | None:
        """The most that a player's total regret can be, in payoff units, or None if its learner does not promise that.

        `kind` is "external", "internal" or "swap", and `rounds` is all, or fewer. What a learner promises of one kind
        can bound another, and a strategy that was given or perturbed is not the learner's own: see `Guarantee.on`.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> bool(record.regret("external")[0] <= record.bound(0, "external"))
        True
        >>> round(record.bound(0, "external"), 1), round(record.bound(0, "external", rounds=50), 1)
        (50.8, 25.9)
        >>> round(record.bound(0, "swap"), 1)  # with two actions; with more Hedge does not promise that
        101.7
        >>> gamesim.simulate("shapley", "hedge", rounds=200).bound(0, "swap") is None
        True
        """
        learner = self.learners[player]
        promise = learner.guarantee() if isinstance(learner, Learner) else None
        if promise is None:
            return None
        at = self.rounds if rounds is None else rounds
        losses = promise.bound_on(kind, at, self.game.sizes[player], self.started[player])
        return None if losses is None else float(losses * self.game.scale[player])

    def certificate(self, player: int, phi: ArrayLike) -> float | None:
        """The bound on a player's total regret against φ that its learner's own gradients prove, in payoff units.

        `phi` is a stochastic matrix: row i is where the mass of action i is sent. None where the learner keeps no such
        proof. A first strategy p that was given or perturbed is not the learner's own q: it adds the largest
        <p - q, l - φl> that there is, once, which is 2 for external and internal regret and at most 4.

        >>> import gamesim
        >>> record = gamesim.simulate("shapley", ["wavelet-continuous", "hedge"], rounds=1000, perturb=0.2)
        >>> best = record.best_deviation(0, "swap")
        >>> bool(record.regret("swap")[0] <= record.certificate(0, best) <= record.bound(0, "swap"))
        True
        >>> record.certificate(1, best) is None
        True
        """
        if not self.single:
            raise InputError("a certificate is of one run: take record[replica]")
        learner = self.learners[player]
        if not hasattr(learner, "certificate"):
            return None
        sizes = [
            one.first_state(actions).size if isinstance(one, Learner) else 0
            for one, actions in zip(self.learners, self.game.sizes, strict=True)
        ]
        state = np.split(self.arrays["continue_state"][0], np.cumsum(sizes)[:-1])[player]
        losses = learner.certificate(state, phi)
        if self.started[player]:
            changes = np.eye(self.game.sizes[player]) - np.asarray(phi, dtype=np.float64)
            losses += max(np.abs(changes - row).sum(axis=1).max() for row in changes)
        return float(losses * self.game.scale[player])

    def best_deviation(self, player: int, kind: PlainRegret) -> NDArray[np.float64]:
        """The deviation φ that this player's regret of a kind, external, internal or swap, is measured against.

        It is a stochastic matrix of zeros and ones: row i is where the mass of action i is sent.

        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> record.best_deviation(0, "swap")  # "play one further"
        array([[0., 1., 0.],
               [0., 0., 1.],
               [1., 0., 0.]])
        """
        if not self.single:
            raise InputError("a deviation is of one run: take record[replica]")
        return regrets.best_deviation(self.moments()[-1].matrices[player], kind)

    def gap(self, kind: EquilibriumKind) -> Number:
        """The CE gap (largest swap regret a round) or CCE gap (largest external regret a round), in payoff units.

        `kind` is "ce" or "cce"; a float comes back, or one for each replica.

        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> round(record.gap("ce"), 2), round(record.gap("cce"), 3)
        (0.14, 0.006)
        """
        return self._number(gap_name(kind))

    def nash_gap(self) -> Number:
        """The most that a player gains a round by leaving its average strategy while the others keep to theirs.

        It is in payoff units; a float comes back, or one for each replica.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(record.nash_gap(), 3)
        0.484
        """
        return self._number("nash-gap")

    def distance(self, kind: EquilibriumKind) -> Number:
        """How far the joint is from the CE or CCE set, in total variation, from 0 to 1; `kind` is "ce" or "cce".

        A distance can be large where the gap is small: the gap says how much anybody gains by deviating, the distance
        how much play would have to change.

        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> round(record.distance("ce"), 3), round(record.distance("cce"), 3)
        (0.245, 0.006)
        """
        return self._number(f"{checked_kind(kind)}-distance")

    @property
    def curve(self) -> Curve:
        """The same measures on the logarithmic grid of rounds, ending with the last round.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.rounds[:5].tolist(), int(record.curve.rounds[-1])
        ([1, 2, 3, 4, 5], 200)
        """
        return self.curve_from(1)

    def curve_from(self, first: int) -> Curve:
        """The curve from round `first` on: all rounds count in its measures, but earlier checkpoints are left out.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve_from(150).rounds.tolist()
        [158, 200]
        """
        replicas = [self.moments(replica) for replica in range(self.replicas)]
        return Curve(replicas, int(np.searchsorted(self.arrays["checkpoints"], first)), single=self.single)

    since = Renamed("curve_from")
    players = Renamed("learners")

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the record as a new folder at this path and return it; an existing one is kept unless `force`.

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
        """Write manifest and arrays into an existing folder, as `save` does into a new one.

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


def load(path: str | os.PathLike[str]) -> Record[Any]:
    """Read a record back from the folder at this path; nothing in it is executed.

    >>> import gamesim
    >>> import tempfile
    >>> record = gamesim.simulate("chicken", ["hedge", "uniform"], rounds=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(record.save(f"{folder}/record"))
    >>> again.rounds, bool((again.joint == record.joint).all())
    (10, True)
    """
    return Record(**record_files.read(Path(path)))
