"""What a simulation keeps of the strategies of single rounds: thinned, every k-th round, windows, or nothing."""

from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import IO, Any, Literal, TypeAlias
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from gamesim import validation
from gamesim.engine import trajectory
from gamesim.engine.compiled import Integers
from gamesim.engine.loop import SMALL_BLOCK, Track
from gamesim.errors import InputError, unknown

Keep: TypeAlias = Literal["thinned", "every", "windows", "none"] | int

NAMES = ("thinned", "every", "windows", "none")
MOST_BYTES = 2**33  # of a trajectory without thinning
WINDOW = SMALL_BLOCK  # consecutive rounds at each checkpoint


class Trajectories:
    """The trajectories of all replicas."""

    def __init__(self, keep: Keep, sizes: Sequence[int], replicas: int) -> None:
        self.keep = checked(keep)
        self._width, self._replicas = sum(sizes), replicas
        self._files: list[IO[bytes]] = []
        self._rounds: list[Integers] = []  # of the rows that are no longer in a track
        self._windows: list[list[NDArray[np.float64]]] = []  # one list per checkpoint, one entry per replica
        if self.every:
            self._files = [TemporaryFile() for _ in range(replicas)]  # noqa: SIM115  # open as long as this object
            for file in self._files:
                finalize(self, file.close)

    @property
    def every(self) -> int | None:
        """The number of rounds from one kept round to the next: 0 if thinned, None if the loop keeps none."""
        if isinstance(self.keep, int):
            return self.keep
        return {"thinned": 0, "every": 1, "windows": None, "none": None}[self.keep]

    def most_rounds(self, sizes: Sequence[int]) -> int | None:
        """Return how many rounds a track can hold before `flush` is called, None if any number."""
        return self.every * (trajectory.rows(sizes) - 1) if self.every else None

    def refuse_beyond_limit(self, rounds: int) -> None:
        """Raise an InputError if these rounds do not fit."""
        if self.every and (needed := 8 * self._width * self._replicas * (rounds // self.every)) > MOST_BYTES:
            most = MOST_BYTES * self.every // (8 * self._width * self._replicas)
            raise InputError(
                f"a trajectory of {rounds:,} rounds would need {needed / 2**30:.1f} GiB, but the limit is "
                f'{MOST_BYTES / 2**30:.0f} GiB; keep fewer rounds, at most {most:,}, or a "thinned" trajectory'
            )

    def flush(self, tracks: Sequence[Track]) -> None:
        """Move the rows of the tracks to files, unless they are thinned."""
        if not self.every:
            return
        count = int(tracks[0].kept.numbers[trajectory.COUNT])
        self._rounds.append(tracks[0].kept.rounds[:count].copy())
        for file, track in zip(self._files, tracks, strict=True):
            file.write(track.kept.rows[:count].tobytes())
            track.kept.numbers[trajectory.COUNT] = 0

    def at_checkpoint(self, rounds: int, tracks: Sequence[Track]) -> None:
        """Keep the last rounds before a checkpoint."""
        if self.keep != "windows":
            return
        before = self._rounds[-1][-1] + 1 if self._rounds else 0
        window = np.arange(max(before, rounds - WINDOW), rounds)
        self._rounds.append(window)
        self._windows.append([track.strategies[window % len(track.losses)] for track in tracks])

    def arrays(self, tracks: Sequence[Track]) -> dict[str, NDArray[Any]]:
        """Return the kept rounds, counted from 1, and the strategies in them, one row per replica."""
        if self.keep == "thinned":
            count = tracks[0].kept.numbers[trajectory.COUNT]
            kept = np.stack([track.kept.rows[:count] for track in tracks])
            rounds = tracks[0].kept.rounds[:count].copy()
        else:
            self.flush(tracks)
            rounds = np.concatenate([np.zeros(0, dtype=np.int64), *self._rounds])
            kept = self._from_files(len(rounds)) if self.every else self._from_windows()
        return {"trajectory": kept, "trajectory_rounds": rounds + 1}

    def fits(self, numbers: Sequence[int], track: Track, kept: int) -> bool:
        """Whether a run that kept `kept` rounds can continue with these numbers of `trajectory.Kept`."""
        stride, count, following, fixed = (int(one) for one in numbers)
        fresh = track.kept.numbers
        if self.keep == "thinned":
            return fixed == 0 and 1 <= stride <= 2**50 and 0 <= count == kept < len(track.kept.rows)
        same = (stride, count, fixed) == (fresh[trajectory.STRIDE], 0, fresh[trajectory.FIXED])
        return same and (following == trajectory.NEVER) == (fresh[trajectory.NEXT] == trajectory.NEVER)

    def take_over(self, arrays: dict[str, NDArray[Any]], tracks: Sequence[Track]) -> None:
        """Restore the trajectories of a record."""
        kept, rounds = arrays["trajectory"], arrays["trajectory_rounds"] - 1
        if self.keep == "thinned":
            for replica, track in enumerate(tracks):
                track.kept.rows[: len(rounds)], track.kept.rounds[: len(rounds)] = kept[replica], rounds
            return
        self._rounds = [rounds]
        if self.every:
            for replica, file in enumerate(self._files):
                file.write(np.ascontiguousarray(kept[replica]).tobytes())
        elif len(rounds):
            self._windows = [list(kept)]

    def _from_files(self, count: int) -> NDArray[np.float64]:
        """Return the files as arrays: mapped for one replica, so that only what is read is loaded."""
        for file in self._files:
            file.flush()
        shape = (count, self._width)
        if count == 0:
            return np.zeros((self._replicas, *shape))
        mapped = [np.memmap(file, dtype=np.float64, mode="r", shape=shape) for file in self._files]
        return mapped[0][None] if self._replicas == 1 else np.stack(mapped)

    def _from_windows(self) -> NDArray[np.float64]:
        empty = np.zeros((self._replicas, 0, self._width))
        return np.concatenate([empty, *(np.stack(of_replicas) for of_replicas in self._windows)], axis=1)


def checked(keep: Any) -> Keep:
    """Return what to keep, or raise an InputError."""
    if isinstance(keep, str):
        if keep not in NAMES:
            raise unknown("trajectory", keep, NAMES)
        return keep  # type: ignore[return-value]  # one of the names
    return validation.whole_number("trajectory", keep, least=1, most=validation.MOST_ROUNDS)
