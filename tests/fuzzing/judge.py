"""A process that judges inputs: its working folder holds the files of one input at a time, and nothing else."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from gamesim import players
from gamesim.measure.observers import BUILT_IN
from gamesim.simulation import Simulation
from tests.fuzzing.game_files import OTHERS
from tests.fuzzing.kinds import KINDS
from tests.fuzzing.oracle import Oracle, Outcome
from tests.fuzzing.values import Input, files_in, write


class Judge:
    """Judge inputs, from now on, in this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        sys.dont_write_bytecode = True
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # an input may name standard input
        load_kernels()
        for kind in KINDS.values():
            if kind.prepare is not None:
                kind.prepare()
        self._oracle = Oracle(folder)
        self._oracle.limit_memory()

    def judge(self, kind: str, given: Input) -> Outcome:
        """Return the outcome of an input."""
        write(self._folder, given)
        readable = KINDS[kind].readable
        outcome = self._oracle.judge(
            lambda: KINDS[kind].use(given, self._folder), readable=readable() if readable else None
        )
        left = files_in(self._folder)
        for path in self._folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if left != given and not outcome.is_fault:
            changed = sorted(name for name in left.keys() | given.keys() if left.get(name) != given.get(name))
            return Outcome("forbidden", f"changed in the folder of the input: {changed}")
        return outcome


def scratch_folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder for temporary files, in memory where there is such a folder, to spare the disk."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="fuzzing-", dir=memory if memory.is_dir() else None)


@contextmanager
def new_judge(inside: str | None = None) -> Iterator[Judge]:
    """Yield a judge whose working folder, inside a given one, is the current folder meanwhile."""
    with tempfile.TemporaryDirectory(dir=inside) if inside else scratch_folder() as scratch:
        before = Path.cwd()
        os.chdir(scratch)
        try:
            yield Judge(Path(scratch).resolve())
        finally:
            os.chdir(before)


@cache
def load_kernels() -> None:
    """Load the kernels of all learners and games: to compile one takes longer than any input may."""
    for game in (*OTHERS, "chicken"):
        Simulation(game, "uniform", observers=list(BUILT_IN)).run(1, threads=0)
    for name, learner in players.available().items():
        Simulation("chicken", [name, "uniform"], feedback=learner.feedback[0], horizon=1).run(1, threads=0)
