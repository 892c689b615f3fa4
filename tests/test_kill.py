"""Kill sweeps and runs (SIGKILL) at random times: finished work is never lost, duplicated or truncated.

GAMESIM_KILLS sets the number of kills; the default is small, to keep the suite short.
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import atomic
from gamesim.cli.checkpoints import partial_folder
from gamesim.scenario import read
from gamesim.study.model import read as read_study
from gamesim.study.run import run_study
from gamesim.study.store import FILE, Store
from tests.test_sweep import content, here

KILLS = int(os.environ.get("GAMESIM_KILLS", "3"))
pytestmark = pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="finds the workers in /proc"
)

STUDY = """
seeds = 20
measures = ["ce-gap", "welfare"]
base = { rounds = 20000, feedback = "sampled", game = { name = "shapley" }, everyone = { learner = "hedge" } }
[grid]
"everyone.learner" = ["hedge", "regret-matching"]
rounds = [20000, 30000, 40000]
"""
SCENARIO = """
rounds = 2000000
feedback = "sampled"
game = { name = "uniform", settings = { actions = [3, 4] } }
everyone = { learner = "hedge", perturb = 0.5 }
"""


def command(*arguments: str) -> subprocess.Popen[bytes]:
    call = [sys.executable, "-c", "import sys; from gamesim.cli.main import main; sys.exit(main())", *arguments]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def below(process: int) -> list[int]:
    """Return all descendants of a process."""
    try:
        children = [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
    return [*children, *(one for child in children for one in below(child))]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def waited(condition: Any, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def count(store: Path) -> int:
    """Return the number of finished points in a store."""
    try:
        with Store(store) as opened:
            return opened.counts()["done"]
    except gamesim.InputError:  # there is no store yet
        return 0


def checkpoints(target: Path) -> list[str]:
    """Return the names of the checkpoints of a run."""
    return sorted(path.name for path in partial_folder(target).glob("record-*"))


def finished(store: Path) -> dict[str, dict[str, float | None]]:
    """Return the measures of the finished points in a store, after checking that each is complete."""
    if not store.exists():
        return {}
    try:
        with Store(store) as opened:
            rows = list(opened.rows("done"))
    except gamesim.InputError as error:
        assert "contains no study yet" in str(error)
        return {}
    assert all(set(row.measures) == {"ce-gap", "welfare"} and row.error is None for row in rows)
    assert len({row.key for row in rows}) == len(rows)
    return {row.key: row.measures for row in rows}


def test_a_sweep_survives_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(STUDY)
    study = read_study("mine.toml")
    with Store(tmp_path / "undisturbed", write=True) as store:
        store.register(study.points(), study.description)
        run_study(study, store, here)
        expected = content(store)
    chance = random.Random(KILLS)
    kills, sweeps = {"coordinator": 0, "worker": 0}, 0
    while min(kills.values()) < KILLS:
        sweeps += 1
        path = tmp_path / f"sweep-{sweeps}" / FILE
        before = finished(path)
        while True:
            process = command("sweep", "mine.toml", "--out", str(path.parent), "--workers", "2", "--quiet")
            waited(lambda: len(below(process.pid)) >= 3 or process.poll() is not None)  # noqa: B023
            while process.poll() is None and min(kills.values()) < KILLS:
                known = count(path)
                if chance.random() < 0.6:  # after a point finishes; otherwise at any time, including the start
                    waited(lambda: count(path) > known or process.poll() is not None)  # noqa: B023
                time.sleep(chance.uniform(0, 0.6))
                workers = below(process.pid)
                if kills["worker"] < KILLS and workers and chance.random() < 0.7:
                    kill(chance.choice(workers))
                    kills["worker"] += 1
                elif kills["coordinator"] < KILLS:
                    kill(process.pid)
                    kills["coordinator"] += 1
                    process.wait()
                    assert waited(lambda: not any(map(alive, workers))), "workers outlive their coordinator"  # noqa: B023
            _, stderr = process.communicate(timeout=300)
            now = finished(path)
            assert all(now[key] == measures for key, measures in before.items()), "a finished point was lost"
            before = now
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, stderr.decode()
        with Store(path) as store:
            assert content(store) == expected
            assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_run_survives_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)
    scenario = read("mine.toml")
    expected = scenario.simulation().run(scenario.rounds)
    chance = random.Random(KILLS)
    kills, runs, resumed = 0, 0, 0
    run = ("run", "mine.toml", "--checkpoint", "0.05", "--quiet", "--no-figures")
    while kills < KILLS:
        runs += 1
        target = tmp_path / f"run-{runs}"
        process = command(*run, "--out", str(target))
        while True:
            known = checkpoints(target)
            if chance.random() < 0.7:  # after a checkpoint; otherwise at any time, including the start
                waited(lambda: checkpoints(target) not in ([], known) or process.poll() is not None)  # noqa: B023
            time.sleep(chance.uniform(0, 0.5))
            if process.poll() is None and kills < KILLS:
                kill(process.pid)
                kills += 1
            _, stderr = process.communicate(timeout=300)
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, stderr.decode()
            if target.exists():  # killed at the very end
                gamesim.load(target / "record")
            resumed += bool(checkpoints(target))
            if partial_folder(target).exists() or target.exists():
                process = command("resume", str(target), "--quiet", "--no-figures")
            else:  # killed before it started
                process = command(*run, "--out", str(target))
        record = gamesim.load(target / "record")
        assert record.rounds == expected.rounds
        assert set(record.arrays) == set(expected.arrays)
        for name, part in expected.arrays.items():
            assert np.array_equal(record.arrays[name], part, equal_nan=True), name
        assert record.settings == expected.settings
        assert sorted(os.listdir(tmp_path)) == sorted(["mine.toml", *(f"run-{i + 1}" for i in range(runs))])
    assert resumed > 0


def test_a_stopped_run_is_resumed_and_a_finished_one_extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quiet = ("--quiet", "--no-figures")
    Path("mine.toml").write_text(SCENARIO.replace("2000000", "30000").replace("hedge", "coin-betting"))
    for call in (("run", "mine.toml"), ("run", "mine.toml", "--rounds", "50000")):
        assert gamesim.cli.main.main([*call, "--out", "mine", *quiet]) == 0
    # The learners stay tuned to 30,000 rounds; the scenario states that horizon and repeats the whole run.
    assert "horizon = 30000" in Path("mine/scenario.toml").read_text()
    assert gamesim.cli.main.main(["run", "mine/scenario.toml", "--out", "again", *quiet]) == 0
    for part in Path("mine/record").iterdir():
        assert part.read_bytes() == (Path("again/record") / part.name).read_bytes(), part.name
    # Extend it again with a scenario that does not state the horizon.
    assert gamesim.cli.main.main(["run", "mine.toml", "--rounds", "60000", "--out", "mine", *quiet]) == 0
    assert gamesim.load("mine/record").rounds == 60000
    assert gamesim.cli.main.main(["resume", "mine", *quiet]) == 0  # nothing left to do
    # A different seed is a different run, and the existing one is not overwritten.
    assert gamesim.cli.main.main(["run", "mine.toml", "--seed", "1", "--rounds", "70000", "--out", "mine", *quiet]) == 2
    assert gamesim.load("mine/record").rounds == 60000
    assert gamesim.cli.main.main(["resume", "nothing"]) == 2


def test_a_run_resumed_after_ctrl_c_gives_the_same_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)
    process = command("run", "mine.toml", "--out", "mine", "--no-figures")
    assert process.stderr is not None
    process.stderr.readline()  # it is running
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    stopped = gamesim.load("mine/record").rounds
    assert (process.returncode == 130) == (stopped < 2000000)
    assert gamesim.cli.main.main(["resume", "mine", "--quiet", "--no-figures"]) == 0
    scenario = read("mine.toml")
    expected, record = scenario.simulation().run(scenario.rounds), gamesim.load("mine/record")
    for name, part in expected.arrays.items():
        assert np.array_equal(record.arrays[name], part, equal_nan=True), name


@pytest.mark.parametrize("again", [("resume", "mine"), ("run", "mine.toml", "--out", "mine", "--force")])
def test_a_run_killed_between_its_last_round_and_its_folder_is_finished(
    again: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO.replace("2000000", "3000"))
    quiet = ("--quiet", "--no-figures")

    class KilledError(BaseException):
        """Stands for a signal that ends the process."""

    def killed(path: str | Path, *rest: Any, **options: Any) -> Path:
        if Path(path).name == "mine":
            raise KilledError
        return written(path, *rest, **options)

    written = atomic.write_folder
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(atomic, "write_folder", killed)
        gamesim.cli.main.main(["run", "mine.toml", "--out", "mine", "--checkpoint", "1e-9", *quiet])
    (kept,) = Path("mine.partial").glob("record-*")
    assert gamesim.load(kept).rounds == 3000  # nothing is left to play
    assert gamesim.cli.main.main([*again, *quiet]) == 0
    assert gamesim.cli.main.main(["run", "mine.toml", "--out", "unbroken", *quiet]) == 0
    for part in Path("mine/record").iterdir():
        assert part.read_bytes() == (Path("unbroken/record") / part.name).read_bytes(), part.name
    assert sorted(os.listdir()) == ["mine", "mine.toml", "unbroken"]
