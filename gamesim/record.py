"""The record of a run: what was played, and everything that is measured from it.

On disk a record is a folder: `manifest.json` says what it is, and each array is a .npy file beside it. A record is
written to a temporary folder that is renamed at the end, so a folder under its final name is always whole.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.metadata import version
from math import log10
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim import equilibrium, games
from gamesim.atomic import write_folder
from gamesim.deprecated import Renamed
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game, Table
from gamesim.learner import Learner
from gamesim.measure import regrets

__all__ = ["Curve", "Record", "load"]

FORMAT = 1
GAPS = {"ce": "swap", "cce": "external"}
KINDS = ("external", "internal", "swap", "quantile", "phi")
VERSIONS = ("gamesim", "numpy", "scipy", "numba")


@dataclass(frozen=True, eq=False)
class Moment:
    """One replica's sums at one round: enough for every measure."""

    game: Game
    rounds: int
    average: Vector
    counterfactuals: Vector
    joint: NDArray[np.float64] | None

    @cached_property
    def matrices(self) -> list[NDArray[np.float64]]:
        """Each player's counterfactual losses Σ p ⊗ l, in the units that learners see."""
        matrices, first = [], 0
        for size in self.game.sizes:
            matrices.append(self.counterfactuals[first : first + size * size].reshape(size, size))
            first += size * size
        return matrices

    def regret(self, kind: str, epsilon: float | None, phi: Any) -> Vector:
        """Each player's total regret of this kind, in payoff units."""
        if kind not in KINDS:
            raise InputError(f"there is no regret called {kind!r}: {did_you_mean(kind, KINDS)}")
        if (kind == "quantile") != (epsilon is not None) or (kind == "phi") != (phi is not None):
            raise InputError("quantile regret takes epsilon=..., phi regret takes phi=..., and the others take neither")
        if kind == "quantile":
            assert epsilon is not None
            found = [regrets.quantile(matrix, epsilon) for matrix in self.matrices]
        elif kind == "phi":
            maps = [phi] * len(self.matrices) if np.ndim(phi[0]) == 1 else phi
            if len(maps) != len(self.matrices):
                raise InputError(f"{len(self.matrices)} players need a φ each, and {len(maps)} came")
            found = [regrets.against(matrix, one) for matrix, one in zip(self.matrices, maps, strict=True)]
        else:
            return _of_each(self.game, self.counterfactuals, getattr(regrets, kind)) * self.game.scale
        return np.array(found) * self.game.scale

    def gap(self, kind: str) -> float:
        """The largest incentive to deviate, per round and in payoff units; 0 in equilibrium."""
        return max(0.0, float(self.regret(_regret_of(kind), None, None).max()) / self.rounds)

    def distance(self, kind: str) -> float:
        """How far the joint is from the set of equilibria, in total variation."""
        if self.joint is None:
            raise InputError(no_distance(self.game) or "this record holds no joint")
        return equilibrium.distance(self.game, self.joint, kind)

    def payoffs(self) -> Vector:
        """Each player's average payoff a round."""
        losses = _of_each(self.game, self.counterfactuals, _traces) / self.rounds
        return self.game.middle - self.game.scale * losses

    def nash_gap(self) -> float:
        """The most that a player gains by leaving its average strategy while the others keep to theirs."""
        profile = self.average / self.rounds
        losses = np.split(self.game.expected_losses(profile), np.cumsum(self.game.sizes)[:-1])
        played = np.split(profile, np.cumsum(self.game.sizes)[:-1])
        gains = [strategy @ loss - loss.min() for strategy, loss in zip(played, losses, strict=True)]
        return max(0.0, float((np.array(gains) * self.game.scale).max()))


def _regret_of(kind: str) -> str:
    """Return the regret whose largest, a round, is this gap."""
    if kind not in GAPS:
        raise InputError(f"there is no gap called {kind!r}: {did_you_mean(kind, GAPS)}")
    return GAPS[kind]


def _of_each(game: Game, counterfactuals: Vector, measure: Callable[[NDArray[np.float64]], Any]) -> Vector:
    """Measure every player's matrix, those of one size in one go: there may be thousands; leading axes stay."""
    sizes = np.array(game.sizes)
    starts = np.cumsum(sizes**2) - sizes**2
    result = np.zeros((*counterfactuals.shape[:-1], len(sizes)))
    for size in sorted(set(game.sizes)):
        who = np.flatnonzero(sizes == size)
        entries = starts[who, None] + np.arange(size * size)
        result[..., who] = measure(counterfactuals[..., entries].reshape(*result.shape[:-1], len(who), size, size))
    return result


def _traces(stack: NDArray[np.float64]) -> Any:
    return np.trace(stack, axis1=-2, axis2=-1)


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

    def __init__(
        self, rounds: NDArray[np.int64], over: Callable[[Callable[[Moment], Any]], Any], gaps: Callable[[str], Any]
    ) -> None:
        self.rounds = rounds
        self._over, self._gaps = over, gaps

    def regret(self, kind: str, *, epsilon: float | None = None, phi: Any = None) -> NDArray[np.float64]:
        """Each player's total regret at each checkpoint, in payoff units; `kind`, `epsilon` and `phi` as in `Record`.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.regret("external")[-3:].round(1).tolist()  # the follower's grows: it does not learn
        [[3.3, 59.7], [3.3, 75.7], [3.3, 96.7]]
        """
        result: NDArray[np.float64] = self._over(lambda moment: moment.regret(kind, epsilon, phi))
        return result

    def gap(self, kind: str) -> NDArray[np.float64]:
        """The CE or CCE gap at each checkpoint, in payoff units a round; `kind` is "ce" or "cce".

        >>> import gamesim
        >>> curve = gamesim.simulate("shapley", "hedge", rounds=10_000, perturb=0.2).curve_from(1000)
        >>> curve.gap("cce")[[0, -1]].round(4).tolist()
        [0.0058, 0.0008]
        >>> curve.gap("ce")[[0, -1]].round(2).tolist()  # it stays
        [0.14, 0.15]
        """
        result: NDArray[np.float64] = self._gaps(kind)
        return result

    def nash_gap(self) -> NDArray[np.float64]:
        """The Nash gap of the average strategies at each checkpoint, in payoff units a round.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.nash_gap()[::8].round(3).tolist()
        [0.5, 0.311, 0.459]
        """
        result: NDArray[np.float64] = self._over(Moment.nash_gap)
        return result

    def distance(self, kind: str) -> NDArray[np.float64]:
        """The distance to the CE or CCE set at each checkpoint, in total variation; `kind` is "ce" or "cce".

        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", "hedge", rounds=100)
        >>> record.curve.distance("ce")[::5].round(2).tolist()
        [0.75, 0.53, 0.33, 0.16]
        """
        result: NDArray[np.float64] = self._over(lambda moment: moment.distance(kind))
        return result

    def joint(self) -> NDArray[np.float64] | None:
        """The joint of the rounds up to each checkpoint, or None where it would not fit into memory.

        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=100)
        >>> record.curve.joint()[[0, -1]].round(2).tolist()  # after one round, and after all
        [[[0.25, 0.25], [0.25, 0.25]], [[0.02, 0.02], [0.48, 0.48]]]
        """
        result: NDArray[np.float64] = self._over(lambda moment: np.nan if moment.joint is None else moment.joint)
        return None if np.isnan(result).any() else result

    def payoffs(self) -> NDArray[np.float64]:
        """Each player's average payoff a round up to each checkpoint.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> record.curve.payoffs()[[0, -1]].round(2).tolist()  # after one round, and after all
        [[2.5, 0.5], [2.98, 0.5]]
        """
        result: NDArray[np.float64] = self._over(Moment.payoffs)
        return result


@dataclass(frozen=True, eq=False)
class Record:
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
    feedback: str
    started: tuple[bool, ...]  # whose first strategy was given or perturbed
    single: bool
    arrays: dict[str, NDArray[Any]]
    settings: dict[str, Any]  # what only a continued run needs

    def __repr__(self) -> str:
        described = map(_describe, self.learners)
        learners = dict.fromkeys(str(one["learner"] if "learner" in one else one["python"]) for one in described)
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

    def __getitem__(self, replica: int) -> "Record":
        count = self.replicas
        if not -count <= replica < count:
            raise IndexError(f"replica {replica} of {count}")
        at = replica % count
        shared = ("checkpoints", "trajectory_rounds")
        arrays = {name: part if name in shared else part[at : at + 1] for name, part in self.arrays.items()}
        settings = self.settings | {"random": [self.settings["random"][at]]}
        return replace(self, seed=self.seed + at, single=True, arrays=arrays, settings=settings)

    def __iter__(self) -> Iterator["Record"]:
        return (self[replica] for replica in range(self.replicas))

    def _moment(self, replica: int, checkpoint: int | None = None) -> Moment:
        prefix, at = ("", (replica,)) if checkpoint is None else ("checkpoint_", (replica, checkpoint))
        rounds = self.rounds if checkpoint is None else int(self.arrays["checkpoints"][checkpoint])
        joint = self.arrays[f"{prefix}joint"][at]
        return Moment(
            self.game,
            rounds,
            self.arrays[f"{prefix}average"][at],
            self.arrays[f"{prefix}counterfactuals"][at],
            joint.reshape(self.game.sizes) / rounds if joint.size else None,
        )

    def _over(self, measure: Callable[[Moment], Any]) -> Any:
        results = [measure(self._moment(replica)) for replica in range(self.replicas)]
        return results[0] if self.single else np.array(results)

    @property
    def joint(self) -> NDArray[np.float64] | None:
        """The empirical distribution over action profiles, an axis a player; None where it does not fit into memory."""
        if self.arrays["joint"].shape[1] == 0:
            return None
        joint: NDArray[np.float64] = self._over(lambda moment: moment.joint)
        return joint

    @property
    def average(self) -> list[NDArray[np.float64]]:
        """Each player's average strategy: a probability for each action.

        >>> import gamesim
        >>> record = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200)
        >>> [strategy.round(3).tolist() for strategy in record.average]
        [[0.019, 0.981], [0.5, 0.5]]
        """
        parts = self.arrays["average"] / self.rounds
        split = np.split(parts[0] if self.single else parts, np.cumsum(self.game.sizes)[:-1], axis=-1)
        return list(split)

    @property
    def trajectory(self) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
        """The rounds at which strategies were kept, and each player's strategies at them (a row a round).

        >>> import gamesim
        >>> rounds, (first, second) = gamesim.simulate("prisoners-dilemma", ["hedge", "uniform"], rounds=200).trajectory
        >>> rounds[[0, -1]].tolist(), first[[0, -1]].round(3).tolist()
        ([1, 200], [[0.5, 0.5], [0.0, 1.0]])
        """
        kept = self.arrays["trajectory"]
        split = np.split(kept[0] if self.single else kept, np.cumsum(self.game.sizes)[:-1], axis=-1)
        return self.arrays["trajectory_rounds"], list(split)

    @property
    def payoffs(self) -> NDArray[np.float64]:
        """Each player's average payoff a round."""
        result: NDArray[np.float64] = self._over(Moment.payoffs)
        return result

    @property
    def welfare(self) -> Any:
        """The sum of all players' average payoffs a round; a float, or one for each replica.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(float(record.welfare), 2), record.payoffs.round(2).tolist()
        (3.48, [2.98, 0.5])
        """
        return self.payoffs.sum(axis=-1)

    def regret(self, kind: str, *, epsilon: float | None = None, phi: Any = None) -> NDArray[np.float64]:
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
        result: NDArray[np.float64] = self._over(lambda moment: moment.regret(kind, epsilon, phi))
        return result

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
            raise InputError(f"there is no player called {player!r}: {did_you_mean(player, names)}")
        i = names.index(player) if isinstance(player, str) else player
        scale = self.game.scale[i]
        together, alone = np.moveaxis(
            np.array(self._over(lambda moment: np.array(regrets.profile(moment.matrices[i])))), -2, 0
        )
        return scale * together, scale * alone

    def bound(self, player: int, kind: str, rounds: int | None = None) -> float | None:
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

    def certificate(self, player: int, phi: Any) -> float | None:
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
            changes = np.eye(self.game.sizes[player]) - phi
            losses += max(np.abs(changes - row).sum(axis=1).max() for row in changes)
        return float(losses * self.game.scale[player])

    def best_deviation(self, player: int, kind: str) -> NDArray[np.float64]:
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
        return regrets.best_deviation(self._moment(0).matrices[player], kind)

    def gap(self, kind: str) -> Any:
        """The CE gap (largest swap regret a round) or CCE gap (largest external regret a round), in payoff units.

        `kind` is "ce" or "cce"; a float comes back, or one for each replica.

        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> round(record.gap("ce"), 2), round(record.gap("cce"), 3)
        (0.14, 0.006)
        """
        return self._over(lambda moment: moment.gap(kind))

    def nash_gap(self) -> Any:
        """The most that a player gains a round by leaving its average strategy while the others keep to theirs.

        It is in payoff units; a float comes back, or one for each replica.

        >>> import gamesim
        >>> record = gamesim.simulate("commitment", ["hedge", "uniform"], rounds=200)
        >>> round(record.nash_gap(), 3)
        0.484
        """
        return self._over(Moment.nash_gap)

    def distance(self, kind: str) -> Any:
        """How far the joint is from the CE or CCE set, in total variation, from 0 to 1; `kind` is "ce" or "cce".

        A distance can be large where the gap is small: the gap says how much anybody gains by deviating, the distance
        how much play would have to change.

        >>> import gamesim
        >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
        >>> round(record.distance("ce"), 3), round(record.distance("cce"), 3)
        (0.245, 0.006)
        """
        return self._over(lambda moment: moment.distance(kind))

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
        grid = [int(r) for r in self.arrays["checkpoints"]]
        at: list[int | None] = [k for k, r in enumerate(grid) if r >= first]
        rounds = [r for r in grid if r >= first]
        if not grid or grid[-1] != self.rounds:
            at.append(None)
            rounds.append(self.rounds)

        def over(measure: Callable[[Moment], Any]) -> Any:
            rows = [[measure(self._moment(replica, k)) for k in at] for replica in range(self.replicas)]
            return np.array(rows[0] if self.single else rows)

        def gaps(kind: str) -> Any:
            measure, rows = getattr(regrets, _regret_of(kind)), []
            for replica in range(self.replicas):  # all checkpoints in one go, not a moment each
                kept = self.arrays["checkpoint_counterfactuals"][replica, len(grid) - len(at) + at.count(None) :]
                last = self.arrays["counterfactuals"][replica : replica + 1]
                totals = _of_each(self.game, np.concatenate([kept, last]) if None in at else kept, measure)
                rows.append(np.maximum(0.0, (totals * self.game.scale).max(axis=-1) / np.array(rounds)))
            return rows[0] if self.single else np.array(rows)

        return Curve(np.array(rounds, dtype=np.int64), over, gaps)

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
        for name, part in self.arrays.items():
            np.save(folder / f"{name}.npy", part, allow_pickle=False)
        for name, part in self.game.arrays().items():
            np.save(folder / f"game_{name}.npy", part, allow_pickle=False)
        manifest = {
            "format": FORMAT,
            "versions": {name: version(name) for name in VERSIONS},
            "game": {
                "kind": type(self.game).__name__,
                "name": self.game.name,
                "players": self.game.players,
                "actions": self.game.actions,
                "arrays": sorted(self.game.arrays()),
            },
            "players": [_describe(player) for player in self.learners],
            "rounds": self.rounds,
            "seed": self.seed,
            "feedback": self.feedback,
            "started": self.started,
            "single": self.single,
            "arrays": sorted(self.arrays),
            "settings": self.settings,
        }
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def load(path: str | os.PathLike[str]) -> Record:
    """Read a record back from the folder at this path; nothing in it is executed.

    >>> import gamesim
    >>> import tempfile
    >>> record = gamesim.simulate("chicken", ["hedge", "uniform"], rounds=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(record.save(f"{folder}/record"))
    >>> again.rounds, bool((again.joint == record.joint).all())
    (10, True)
    """
    from gamesim import players

    folder = Path(path)
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except FileNotFoundError:
        raise InputError(f"there is no record at {folder}: a record is a folder with a manifest.json in it") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / 'manifest.json'} is not valid JSON ({error})") from None
    if manifest.get("format") != FORMAT:
        raise InputError(f"{folder} has record format {manifest.get('format')}, and this version reads {FORMAT}")
    try:
        of_game = manifest["game"]
        games.available()  # imports every kind of game
        parts = {name: np.load(folder / f"game_{name}.npy", allow_pickle=False) for name in of_game["arrays"]}
        labels = tuple(tuple(of_player) for of_player in of_game["actions"])
        game = Game.kinds()[of_game["kind"]].from_arrays(of_game["name"], tuple(of_game["players"]), labels, parts)
        return Record(
            game=game,
            learners=tuple(
                players.make(one["learner"], **one["settings"]) if "learner" in one else one["python"]
                for one in manifest["players"]
            ),
            rounds=manifest["rounds"],
            seed=manifest["seed"],
            feedback=manifest["feedback"],
            started=tuple(manifest["started"]),
            single=manifest["single"],
            arrays={name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in manifest["arrays"]},
            settings=manifest["settings"],
        )
    except (KeyError, OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} is not a whole record ({type(error).__name__}: {error})") from None


def no_distance(game: Game) -> str | None:
    """Say why distances cannot be measured in a game, or None if they can."""
    from gamesim.simulation import LARGEST_JOINT

    if game.cells > LARGEST_JOINT:
        size = f"{game.cells:,}" if game.cells < 1e12 else f"about 10^{round(log10(game.cells)):,}"
        return f"the joint has {size} cells, more than the {LARGEST_JOINT:,} that are kept; gaps come from the regrets"
    if not isinstance(game, Table):
        return "the game has no payoff table; gaps come from the regrets"
    return None


def _describe(player: Any) -> dict[str, Any]:
    if isinstance(player, Learner):
        return {"learner": player.name, "settings": asdict(player)}
    return {"python": player if isinstance(player, str) else getattr(player, "__qualname__", repr(player))}
