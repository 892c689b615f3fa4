"""Kill commands at fault points and random moments, resume them, and check that nothing is lost or left behind.

Run: python -m tests.kill_campaign [COMMAND ...] [--kills N] [--signals LIST] [--seed N]

Every trial starts a command in a new folder, kills it, continues with the command that a user would give next, possibly
kills that too, and so on until a command ends undisturbed. After every kill, what was finished before is still there
and complete. In the end the bytes are those of an undisturbed run, and no other file is left. Commands run in forks of
this process, which has imported everything, or in a new process to kill them while they start.
"""

import argparse
import io
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from tests.fault_points import kind_of, strike, watch

AT_RANDOM, STARTING, A_WORKER = "random moment", "start-up", "a worker, not the sweep"
SHOWN = 200  # bytes of a line that differs
ENDS_WITHIN = 5.0  # seconds after its coordinator, every worker has ended

SCENARIO = """
rounds = 400000
feedback = "sampled"
game = { name = "uniform", settings = { actions = [3, 4] } }
everyone = { learner = "hedge", perturb = 0.5 }
"""
STUDY = """
seeds = 10
measures = ["ce-gap", "welfare"]
base = { rounds = 2000, feedback = "sampled", game = { name = "shapley" }, everyone = { learner = "hedge" } }
[grid]
"everyone.learner" = ["hedge", "regret-matching"]
rounds = [20000, 100000]
"""

Arguments = tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (negative for a signal), its error output and the fault point, if reached."""

    code: int
    errors: str
    point: str | None
    seconds: float


# Running commands.


def run(
    given: Arguments,
    folder: Path,
    visit: Callable[[str], object] | None = None,
    then: Callable[[int], object] = lambda _: None,
) -> Ended:
    """Run a command in a fork; `visit` is called in it at each fault point, `then` here with its process number."""
    with tempfile.TemporaryFile() as errors:
        began = perf_counter()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the fork handles it
        process = os.fork()
        if process == 0:
            _run_here(given, folder, errors.fileno(), visit)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        then(process)
        _, status = os.waitpid(process, 0)
        took = perf_counter() - began
        errors.seek(0)
        return Ended(os.waitstatus_to_exitcode(status), errors.read().decode(), None, took)


def _run_here(given: Arguments, folder: Path, errors: int, visit: Callable[[str], object] | None) -> None:
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(errors, 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        this = sys.modules["__main__"]
        this.__spec__ = this.__file__ = None  # so that workers do not import it
        sys.argv = ["gamesim", *given]
        if visit is not None:
            watch(visit, folder)
        from gamesim.__main__ import start

        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = start()
    finally:
        sys.stderr.flush()
        os._exit(code)


def run_alone(given: Arguments, folder: Path, then: Callable[[int], object]) -> Ended:
    """Run a command in a new process; `then` is called as soon as Python has started."""
    began = perf_counter()
    code = "import os, sys; from gamesim.__main__ import start; os.write(1, b'.'); sys.exit(start())"
    with subprocess.Popen(
        [sys.executable, "-c", code, *given],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        then(process.pid)
        _, errors = process.communicate()
    return Ended(process.returncode, errors.decode(), None, perf_counter() - began)


def members(group: int) -> list[int]:
    """Return the living processes of a group."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(place.parent.name))
    return found


def children(process: int) -> list[int]:
    """Return all descendants of a process."""
    try:
        own = [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
    return [*own, *(one for child in own for one in children(child))]


def has_ended(process: int) -> bool:
    """Whether a child of this process has ended; it stays a zombie until it is waited for."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def no_process_outlives(process: int) -> None:
    """Wait until a process ends, and check that soon afterwards no process of its group is alive."""
    while not has_ended(process):
        time.sleep(0.01)
    until = perf_counter() + ENDS_WITHIN
    while left := members(process):
        assert perf_counter() < until, f"{left} outlive their sweep"
        time.sleep(0.02)


def send(process: int, number: signal.Signals, *, group: bool) -> None:
    with suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(process, number)


# What is killed.


class Trial(ABC):
    """A command in a folder that is killed and continued: what is given first and next, and what is checked."""

    variants: ClassVar[tuple[str, ...]]
    has_workers = False

    def __init__(self, folder: Path, variant: str, templates: Path) -> None:
        self.folder, self.variant, self.templates = folder, variant, templates

    @classmethod
    @abstractmethod
    def make_templates(cls, folder: Path) -> None:
        """Make what an undisturbed command leaves behind, and what trials start from."""

    @abstractmethod
    def command(self) -> Arguments:
        """Return the command to give now, first or after a kill."""

    @abstractmethod
    def check(self) -> None:
        """Check, after a kill, that nothing is lost or incomplete."""

    @abstractmethod
    def check_end(self) -> None:
        """Check the final state."""


def tree(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def same(folder: Path, *others: Path) -> None:
    """Check that a folder has the same files as one of some others."""
    found = tree(folder)
    if all(found != tree(other) for other in others):
        raise AssertionError(
            "\n".join(f"{folder} differs from {one}:\n{differences(found, tree(one))}" for one in others)
        )


def differences(found: dict[str, bytes], expected: dict[str, bytes]) -> str:
    """Describe, one per line, the files that differ, with the first of their lines that do."""
    lines = []
    for name in sorted(found.keys() | expected.keys()):
        if name not in expected or name not in found:
            lines.append(f"  {name} is {'missing' if name in expected else 'not expected'}")
        elif found[name] != expected[name]:
            pairs = zip_longest(found[name].split(b"\n"), expected[name].split(b"\n"), fillvalue=b"(the end)")
            number, (one, other) = next((i, pair) for i, pair in enumerate(pairs, start=1) if pair[0] != pair[1])
            lines.append(f"  {name}, line {number}: {one[:SHOWN]!r} instead of {other[:SHOWN]!r}")
    return "\n".join(lines)


class Run(Trial):
    """A run with checkpoints, one that extends an earlier run, and one that replaces it."""

    variants = ("new", "extend", "replace", "figures")
    EXTRA: ClassVar[dict[str, Arguments]] = {
        "new": ("--checkpoint", "0.02", "--no-figures"),
        "extend": ("--no-figures",),
        "replace": ("--checkpoint", "0.02", "--no-figures", "--force"),
        "figures": ("--checkpoint", "0.02"),
    }

    def __init__(self, folder: Path, variant: str, templates: Path) -> None:
        super().__init__(folder, variant, templates)
        (folder / "mine.toml").write_text(SCENARIO)
        self.rounds = 0
        self.expected = templates / ("figures" if variant == "figures" else "new")
        self.before = {"extend": templates / "shorter", "replace": templates / "other"}.get(variant)
        if self.before is not None:
            shutil.copytree(self.before, folder / "mine")
        if not self.expected.exists():  # the figures, which take long to draw and are needed in few trials
            assert run(("run", "mine.toml", "--quiet", "--out", "figures"), templates).code == 0

    @classmethod
    def make_templates(cls, folder: Path) -> None:
        (folder / "mine.toml").write_text(SCENARIO)
        for name, more in {"new": (), "shorter": ("--rounds", "100000"), "other": ("--seed", "5")}.items():
            assert run(("run", "mine.toml", "--quiet", "--no-figures", *more, "--out", name), folder).code == 0

    def command(self) -> Arguments:
        more = [one for one in self.EXTRA[self.variant] if one == "--no-figures"]
        if (self.folder / "mine.partial").exists() or self._is_of_this_run():
            return ("resume", "mine", "--quiet", *more)
        return ("run", "mine.toml", "--out", "mine", "--quiet", *self.EXTRA[self.variant])

    def _is_of_this_run(self) -> bool:
        scenario = self.folder / "mine" / "scenario.toml"
        return scenario.exists() and scenario.read_bytes() == (self.expected / "scenario.toml").read_bytes()

    def check(self) -> None:
        import gamesim

        target = self.folder / "mine"
        kept = [0]
        if target.exists():
            rounds = gamesim.load(target / "record").rounds
            if self._is_of_this_run():
                kept.append(rounds)
            else:
                assert self.before is not None
                same(target, self.before)
        kept += [gamesim.load(one).rounds for one in sorted((self.folder / "mine.partial").glob("record-*"))[-1:]]
        if self.before is None or target.exists():  # otherwise the next command restores it
            assert max(kept) >= self.rounds, "rounds were lost"
            self.rounds = max(kept)

    def check_end(self) -> None:
        same(self.folder / "mine", self.expected)
        assert sorted(os.listdir(self.folder)) == ["mine", "mine.toml"], os.listdir(self.folder)


class Compare(Trial):
    """A comparison, new or in place of an earlier one."""

    variants = ("replace", "new")

    def __init__(self, folder: Path, variant: str, templates: Path) -> None:
        super().__init__(folder, variant, templates)
        (folder / "mine.toml").write_text(SCENARIO.replace("400000", "20000"))
        self.known = [templates / "new"]
        if variant == "replace":
            shutil.copytree(templates / "other", folder / "mine")
            self.known.append(templates / "other")

    @classmethod
    def make_templates(cls, folder: Path) -> None:
        (folder / "mine.toml").write_text(SCENARIO.replace("400000", "20000"))
        for name, learners in (("new", "hedge,regret-matching"), ("other", "adahedge,hedge")):
            given = ("compare", "mine.toml", "--learners", learners, "--out", name)
            assert run(given, folder).code == 0

    def command(self) -> Arguments:
        given = ("compare", "mine.toml", "--learners", "hedge,regret-matching", "--out", "mine")
        return (*given, "--force") if self.variant == "replace" or (self.folder / "mine").exists() else given

    def check(self) -> None:
        if self.variant == "replace":  # a command that writes there finds a complete comparison, old or new
            ended = run(tuple(one for one in self.command() if one != "--force"), self.folder)
            assert ended.code == 2 and "already exists" in ended.errors, ended
            assert (self.folder / "mine").is_dir()
        if (self.folder / "mine").exists():
            same(self.folder / "mine", *self.known)

    def check_end(self) -> None:
        same(self.folder / "mine", self.templates / "new")
        assert sorted(os.listdir(self.folder)) == ["mine", "mine.toml"], os.listdir(self.folder)


class Study(Trial):
    """The export and the figures of a study's results, new or in place of earlier files."""

    variants = ("replace", "new")
    OLD = b"an earlier file"

    def __init__(self, folder: Path, variant: str, templates: Path) -> None:
        super().__init__(folder, variant, templates)
        shutil.copytree(templates / "store", folder / "store")
        if variant == "replace":
            for name in tree(templates / "new"):
                (folder / "new" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "new" / name).write_bytes(self.OLD)

    @classmethod
    def make_templates(cls, folder: Path) -> None:
        (folder / "mine.toml").write_text(STUDY)
        for given in (("sweep", "mine.toml", "--out", "store", "--workers", "1", "--quiet"), cls._given()):
            ended = run(given, folder)
            assert ended.code == 0, ended

    @staticmethod
    def _given() -> Arguments:
        return ("study", "store", "--csv", "new/points.csv", "--figures", "new/figs")

    def command(self) -> Arguments:
        return (*self._given(), "--force") if (self.folder / "new").exists() else self._given()

    def check(self) -> None:
        expected = tree(self.templates / "new")
        for name, content in tree(self.folder / "new").items():
            if not any(part.startswith(".") for part in Path(name).parts):
                assert content in (expected[name], self.OLD), f"{name} is incomplete"

    def check_end(self) -> None:
        same(self.folder / "new", self.templates / "new")
        assert sorted(os.listdir(self.folder)) == ["new", "store"], os.listdir(self.folder)


class Sweep(Trial):
    """A sweep with two workers."""

    variants = ("new",)
    has_workers = True

    def __init__(self, folder: Path, variant: str, templates: Path) -> None:
        super().__init__(folder, variant, templates)
        (folder / "mine.toml").write_text(STUDY)
        self.finished: dict[str, Any] = {}

    @classmethod
    def make_templates(cls, folder: Path) -> None:
        (folder / "mine.toml").write_text(STUDY)
        assert run(("sweep", "mine.toml", "--out", "new", "--workers", "1", "--quiet"), folder).code == 0

    def command(self) -> Arguments:
        return ("sweep", "mine.toml", "--out", "mine", "--workers", "2", "--quiet")

    def check(self) -> None:
        from gamesim.errors import InputError

        try:
            rows = self._rows(self.folder / "mine")
        except InputError as error:
            assert re.search("there is no study|contains no study yet", str(error)) and not self.finished, error
            return
        now = {row.key: row.measures for row in rows if row.status == "done"}
        assert not [row for row in rows if row.status == "failed"]
        assert all(now[key] == measures for key, measures in self.finished.items()), "a finished point was lost"
        self.finished = now

    @staticmethod
    def _rows(folder: Path) -> list[Any]:
        from gamesim.study.store import FILE, Store

        with Store(folder / FILE) as store:
            assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            rows = list(store.rows())
        assert len({row.key for row in rows}) == len(rows), "a point is there twice"
        return rows

    def check_end(self) -> None:
        found, expected = (
            [(row.key, row.labels, row.seed, row.status, row.measures, row.error) for row in self._rows(folder)]
            for folder in (self.folder / "mine", self.templates / "new")
        )
        assert found == expected
        assert sorted(os.listdir(self.folder)) == ["mine", "mine.toml"], os.listdir(self.folder)


TRIALS: dict[str, type[Trial]] = {"run": Run, "compare": Compare, "study": Study, "sweep": Sweep}


# The campaign.


class Campaign:
    """Kills one command many times and counts how it ended, by signal and fault point."""

    def __init__(self, name: str, place: Path, signals: Sequence[signal.Signals], seed: int) -> None:
        self.name, self.place, self.kind, self.signals = name, place, TRIALS[name], signals
        self.chance = random.Random(f"{name} {seed}")
        self.counts: Counter[tuple[str, str, str]] = Counter()  # signal, fault point and what became of the command
        self.kills = self.trials = 0
        self.points: dict[tuple[str, str], Counter[str]] = {}  # of each variant and command: points by kind
        self.seconds: dict[tuple[str, str], float] = {}
        (place / "templates").mkdir()
        self.kind.make_templates(place / "templates")

    def run(self, kills: int) -> None:
        while self.kills < kills:
            self.trials += 1
            folder = self.place / f"trial-{self.trials}"
            folder.mkdir()
            trial = self.kind(folder, self._variant(), self.place / "templates")
            self._survey(trial)
            while True:
                ended, struck = self._next(trial, kill=self.kills < kills and self.chance.random() < 0.9)
                trial.check()
                if ended.code == 0 and not struck:
                    break
            trial.check_end()
            shutil.rmtree(folder)

    def _variant(self) -> str:
        """Return a variant; the last is the slowest and comes less often."""
        variants = self.kind.variants
        return self.chance.choices(variants, [*[3] * (len(variants) - 1), 1])[0]

    def _survey(self, trial: Trial) -> None:
        """Count the fault points of a new trial's command, once, by running it undisturbed in another folder."""
        known = (trial.variant, trial.command()[0])
        if known in self.points:
            return
        folder = self.place / "survey"
        folder.mkdir()
        other = self.kind(folder, trial.variant, self.place / "templates")
        note = self.place / "points"
        note.write_text("")

        def visit(name: str) -> None:
            with note.open("a") as out:
                out.write(kind_of(name) + "\n")

        self.seconds[known] = run(other.command(), folder, visit).seconds
        self.points[known] = Counter(note.read_text().splitlines())
        other.check_end()
        shutil.rmtree(folder)

    def _next(self, trial: Trial, *, kill: bool) -> tuple[Ended, bool]:
        """Give the next command, and kill it or not; return how it ended and whether a signal was sent."""
        given = trial.command()
        if not kill:
            ended = run(given, trial.folder)
            assert ended.code == 0, (given, ended)
            return ended, False
        number = self.signals[self.kills % len(self.signals)]
        points = self.points.get((trial.variant, given[0])) or next(iter(self.points.values()))
        kinds = [AT_RANDOM] * 3 + [STARTING, *sorted(points)]
        where = self.chance.choice(kinds + [A_WORKER] * 3 if trial.has_workers and number != signal.SIGINT else kinds)
        ended = self._strike(trial, given, where, number, points[where])
        struck = ended.point is not None
        if struck:
            self.kills += 1
            how = {0: "finished", -number: "killed", 130: "stopped", -signal.SIGINT: "stopped"}[ended.code]
            self.counts[number.name, where, how] += 1
            assert "Traceback" not in ended.errors or number != signal.SIGINT, ended.errors
        else:
            assert ended.code == 0, (given, ended)
        return ended, struck

    def _strike(self, trial: Trial, given: Arguments, where: str, number: signal.Signals, points: int) -> Ended:
        """Run a command and send it a signal; its fault point is None if the command ended before reaching it."""
        note = self.place / "note"
        note.unlink(missing_ok=True)
        group = trial.has_workers and number == signal.SIGINT  # as Ctrl-C in a terminal
        delay = self.chance.uniform(0, 2 if where == STARTING else 1.1 * max(self.seconds.values()))

        def later(process: int) -> None:
            time.sleep(delay)
            targets = children(process) if where == A_WORKER else [process]
            if targets and not has_ended(process):
                note.write_text(where)
                send(self.chance.choice(targets), number, group=group)
            check_end(process)

        def check_end(process: int) -> None:
            if trial.has_workers:
                no_process_outlives(process)

        if where == STARTING:
            ended = run_alone(given, trial.folder, later)
        elif where in (AT_RANDOM, A_WORKER):
            ended = run(given, trial.folder, None, later)
        else:
            visit = strike(where, self.chance.randint(1, points), number, note, group=group)
            ended = run(given, trial.folder, visit, check_end)
        return replace(ended, point=note.read_text() if note.exists() else None)


def table(campaigns: Sequence[Campaign]) -> str:
    """Return one line per command, signal and fault point."""
    lines = [
        "| command | signal | fault point | kills | killed | stopped | finished |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for campaign in campaigns:
        for number, where in sorted({(number, where) for number, where, _ in campaign.counts}):
            hows = [campaign.counts[number, where, how] for how in ("killed", "stopped", "finished")]
            lines.append(f"| {campaign.name} | {number} | {where} | {sum(hows)} | {' | '.join(map(str, hows))} |")
    return "\n".join(lines)


def warm_up(folder: Path) -> None:
    """Import everything and load the kernels, so that forks start at once; linear programs would start threads."""
    import gamesim.cli.sweep
    import gamesim.figures.study  # noqa: F401
    from gamesim.cli.main import main as command

    (folder / "mine.toml").write_text(SCENARIO.replace("400000", "1000") + 'measure = { distance = "never" }')
    mine, out = str(folder / "mine.toml"), str(folder / "out")
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        command(["run", mine, "--out", out, "--quiet", "--no-figures"])
        command(["compare", mine, "--learners", "hedge,regret-matching,adahedge", "--out", f"{out}-compared"])
    until = perf_counter() + 10
    while len(os.listdir("/proc/self/task")) > 1:  # only a process with one thread can fork safely
        assert perf_counter() < until, "a thread is still running"
        time.sleep(0.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"of {', '.join(TRIALS)} (default: all)")
    parser.add_argument("--kills", type=int, default=200, help="per command (default: 200)")
    parser.add_argument(
        "--signals", default="SIGKILL,SIGTERM,SIGINT", help="separated by commas (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell ignores it in the background, and so would commands
    campaigns = []
    with tempfile.TemporaryDirectory() as place:
        if set(given.commands) != {"sweep"}:  # whose workers are new processes anyway
            warm_up(Path(place))
        for name in given.commands or TRIALS:
            began = perf_counter()
            (Path(place) / name).mkdir()
            signals = [signal.Signals[one] for one in given.signals.split(",")]
            campaigns.append(Campaign(name, Path(place) / name, signals, given.seed))
            campaigns[-1].run(given.kills)
            print(
                f"{name}: {campaigns[-1].kills} kills in {campaigns[-1].trials} trials, "
                f"{perf_counter() - began:.0f} s; nothing lost, duplicated or left behind",
                flush=True,
            )
    print(table(campaigns))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"CPU: {sum(one.ru_utime + one.ru_stime for one in used):.0f} s")


if __name__ == "__main__":
    main()
