"""The progress of a campaign, in memory that processes share."""

import mmap
from collections.abc import Sequence

import numpy as np

from tests.fuzzing.oracle import FAULTS, OUTCOMES


class Counts:
    """The number of the current input, and how many inputs of each kind have which outcome."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = list(kinds)
        cells = len(self._kinds) * len(OUTCOMES)
        numbers = np.frombuffer(mmap.mmap(-1, 8 * (1 + cells + len(self._kinds))), dtype=np.int64)
        self._current = numbers[:1]
        self._counts = numbers[1 : 1 + cells].reshape(len(self._kinds), len(OUTCOMES))
        self._microseconds = numbers[1 + cells :]

    @property
    def current(self) -> int:
        """The number of the current input."""
        return int(self._current[0])

    @current.setter
    def current(self, number: int) -> None:
        self._current[0] = number

    @property
    def faults(self) -> int:
        """The number of inputs that failed."""
        return int(sum(self._counts[:, OUTCOMES.index(fault)].sum() for fault in FAULTS))

    def add(self, kind: str, outcome: str, seconds: float) -> None:
        """Count one input."""
        row = self._kinds.index(kind)
        self._counts[row, OUTCOMES.index(outcome)] += 1
        self._microseconds[row] += round(1e6 * seconds)

    def table(self) -> str:
        """Return the counts, one line per kind."""
        rows = [["kind", "inputs", *OUTCOMES, "ms each"]]
        for kind, counts, spent in zip(self._kinds, self._counts, self._microseconds, strict=True):
            if total := int(counts.sum()):
                rows.append([kind, *(f"{n:,}" for n in (total, *counts)), f"{spent / total / 1000:.2f}"])
        totals = self._counts.sum(axis=0)
        rows.append(["total", *(f"{n:,}" for n in (totals.sum(), *totals)), ""])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
