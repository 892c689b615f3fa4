"""Ratios with intervals, stored per commit, and the comparison of two commits.

    python benchmarks/rounds.py --store          # append the results of this commit to benchmarks/results/rounds.jsonl
    python benchmarks/results.py OLD NEW         # compare two commits; make bench-compare A=OLD B=NEW does the same

Each line of a stored file is one case of one benchmark at one commit. A commit with uncommitted changes ends with "+".
If a case was measured several times at a commit, the last line counts.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table as Printed

FOLDER = Path(__file__).parent / "results"
CONFIDENCE = 0.95


class Ratio(NamedTuple):
    """The median of ratios that were measured in turns, and an interval that contains the true median."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, times: Sequence[float], to: Sequence[float]) -> "Ratio":
        """Return the ratio of times to other times; the interval's confidence is 95 % from 6 repetitions on.

        It holds for any distribution: k of n measurements are below the median with probability C(n, k) / 2^n.
        """
        ratios = np.sort(np.array(times) / np.array(to))
        n, cut = len(ratios), 0
        while 2 * sum(comb(n, k) for k in range(cut + 2)) <= (1 - CONFIDENCE) * 2**n:
            cut += 1
        return cls(float(np.median(ratios)), float(ratios[cut]), float(ratios[n - 1 - cut]))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def commit() -> str:
    """Return the abbreviated commit of the checkout, with "+" if files have changed since."""

    def git(*command: str) -> str:
        found = subprocess.run(["git", *command], cwd=FOLDER.parent, capture_output=True, text=True, check=True)
        return found.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", ":/", ":!/benchmarks/results")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def store(benchmark: str, cases: dict[str, Ratio]) -> None:
    """Append the results of this commit."""
    FOLDER.mkdir(exist_ok=True)
    now = commit()
    with (FOLDER / f"{benchmark}.jsonl").open("a", encoding="utf-8") as file:
        for case, ratio in cases.items():
            rounded = {name: float(f"{value:.4g}") for name, value in ratio._asdict().items()}
            file.write(json.dumps({"commit": now, "case": case, **rounded}) + "\n")


def stored(of: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the results of a commit, by benchmark and case; its name may be abbreviated."""
    found = {}
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["commit"].startswith(of[:10]):
                found[path.stem, row["case"]] = row
    return found


def compare(old: str, new: str) -> Printed:
    """Return a table of all cases that were measured at both commits."""
    before, after = stored(old), stored(new)
    table = Printed("benchmark", "case", old, new, "change")
    for key in sorted(before.keys() & after.keys()):
        one, two = (Ratio(*(found[key][name] for name in Ratio._fields)) for found in (before, after))
        clear = two.low > one.high or two.high < one.low
        change = f"{two.median / one.median - 1:+.0%}" if clear else "within the intervals"
        table.add_row(*key, str(one), str(two), change)
    return table


def main() -> None:
    """Print the comparison of two commits."""
    if len(sys.argv) != 3:
        sys.exit("usage: python benchmarks/results.py OLD NEW")
    table = compare(*sys.argv[1:])
    if table.row_count == 0:
        sys.exit(f"no benchmark has stored results of both {sys.argv[1]} and {sys.argv[2]}")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
