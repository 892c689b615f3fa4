"""Run the fuzzer: `python -m tests.fuzzing --count 10000 --seed 1`, or `--replay FOLDER` for saved inputs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.fuzzing.campaign import campaign
from tests.fuzzing.inputs import saved
from tests.fuzzing.judge import new_judge
from tests.fuzzing.kinds import KINDS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="number of inputs (default: 10000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all inputs (default: 0)")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=[], help="kinds of inputs (default: all)")
    parser.add_argument("--failures", type=Path, default=Path("build/fuzzing"), help="where to save inputs that fail")
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="judge the inputs saved in a folder instead")
    given = parser.parse_args(arguments)
    if given.replay:
        return replay(given.replay)
    counts = campaign(given.count, given.seed, given.only, given.failures.resolve())
    print(counts.table())
    return 1 if counts.faults else 0


def replay(folder: Path) -> int:
    """Judge saved inputs, print their outcomes, and return 1 if one of them fails."""
    failed = 0
    inputs = saved(folder)
    with new_judge() as judge:
        for place, kind, files in inputs:
            outcome = judge.judge(kind, files)
            failed += outcome.is_fault
            print(f"{place}: {outcome.kind}: {outcome.details}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
