"""Run many inputs in a child process, one after the other, and survive whatever they do to it.

The child counts in memory that it shares with its parent, so the parent knows which input a child was at when it
crashed or hung. The next child saves that input and continues after it.
"""

import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.fuzzing.counts import Counts
from tests.fuzzing.inputs import made, save
from tests.fuzzing.judge import load_kernels, new_judge, scratch_folder
from tests.fuzzing.kinds import KINDS
from tests.fuzzing.oracle import Outcome

PATIENCE = 60.0  # seconds without progress after which a child is killed
SAVED_ALIKE = 3  # inputs saved of those that fail at the same place
CRASH = Outcome("crash", "the process was killed by a signal, or hung in compiled code")


def campaign(count: int, seed: int, only: Sequence[str], failures: Path) -> Counts:
    """Run inputs 0 to `count` - 1 of a seed, save those that fail, and return the counts, also when interrupted."""
    load_kernels()
    counts = Counts(list(KINDS))
    with scratch_folder() as scratch:  # of the parent, because a child that crashes leaves its files behind
        _run(counts, count, seed, only, failures, scratch)
    return counts


def _run(counts: Counts, count: int, seed: int, only: Sequence[str], failures: Path, scratch: str) -> None:
    """Run inputs in one child after the other, each from the input at which the last one crashed."""
    crashed = -1
    while counts.current < count:
        child = os.fork()
        if child == 0:
            code = 1
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its child
            try:
                _work(counts, count, seed, only, failures, scratch, crashed)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        try:
            if _await(child, counts):
                crashed = counts.current
        except KeyboardInterrupt:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break


def _await(child: int, counts: Counts) -> bool:
    """Wait for a child to end, kill it if it makes no progress, and return whether it died by a signal."""
    at, since = -1, time.monotonic()
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if counts.current != at:
            at, since = counts.current, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
    if os.WIFEXITED(ended[1]) and os.WEXITSTATUS(ended[1]):
        raise SystemExit(f"the fuzzer itself failed at input {counts.current}")
    return os.WIFSIGNALED(ended[1])


def _work(
    counts: Counts, count: int, seed: int, only: Sequence[str], failures: Path, scratch: str, crashed: int
) -> None:
    """Run inputs from the current one on, in this process."""
    alike: Counter[str] = Counter()
    with new_judge(scratch) as judge:
        for number in range(counts.current, count):
            counts.current = number
            kind, given = made(seed, number, only)
            began = time.process_time()
            outcome = CRASH if number == crashed else judge.judge(kind, given)
            counts.add(kind, outcome.kind, time.process_time() - began)
            if outcome.is_fault:
                place = f"{kind} {outcome.kind} {outcome.place}"
                alike[place] += 1
                if alike[place] <= SAVED_ALIKE:
                    note = f"{outcome.kind}\nseed {seed}, input {number}\n{outcome.details}\n"
                    print(f"{save(failures, kind, given, note)}: {outcome.kind}: {outcome.place}", flush=True)
    counts.current = count
