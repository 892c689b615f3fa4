"""Sweeps: the final store is the same whatever runs the points and whatever fails."""

import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gamesim.cli.main import main
from gamesim.errors import InputError
from gamesim.scenario import Scenario
from gamesim.study import jobs as jobs_module
from gamesim.study import worker
from gamesim.study.description import Description
from gamesim.study.jobs import Job, Outcome
from gamesim.study.model import Study
from gamesim.study.pools import Open, Pool, cluster, local
from gamesim.study.run import run_study
from gamesim.study.store import FILE, Store
from tests.test_damage import in_format

pytestmark = pytest.mark.slow

BASE: dict[str, Any] = {
    "rounds": 50,
    "game": {"name": "uniform", "settings": {"actions": [2, 3]}},
    "everyone": {"learner": "hedge", "perturb": 0.5},
}
STUDY: dict[str, Any] = {
    "base": BASE,
    "seeds": 4,
    "measures": ["ce-gap", "welfare"],
    "grid": {"rounds": [40, 80], "everyone.learner": ["hedge", "regret-matching"]},
}


@dataclass(frozen=True)
class Claimed:
    """A point of a study that does not run scenarios."""

    key: str
    labels: dict[str, Any]
    seed: int
    text: str


class Here(Executor):
    """An executor that runs every call immediately, in this thread."""

    def submit(self, call: Any, /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(call(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def here() -> Pool:
    return Pool(Here(), 1)


def swept(path: Path, raw: dict[str, Any], open_pool: Open = here) -> Store:
    """Sweep a study, and return its store, open for reading."""
    study = Study.from_dict(raw)
    with Store(path, write=True) as store:
        store.register(study.points(), study.description)
        run_study(study, store, open_pool)
    return Store(path)


def content(store: Store) -> list[tuple[Any, ...]]:
    """Return everything in a store except times."""
    return [(row.key, row.labels, row.seed, row.status, row.measures, row.error) for row in store.rows()]


def test_the_store_has_the_measures_of_single_runs(tmp_path: Path) -> None:
    with swept(tmp_path / FILE, STUDY) as store:
        rows = list(store.rows())
        assert store.counts() == {"todo": 0, "done": 16, "failed": 0}
    points = list(Study.from_dict(STUDY).points())
    assert [row.key for row in rows] == [one.key for one in points]
    for row, one in zip(rows, points, strict=True):
        scenario = Scenario.from_dict({**one.scenario, "seed": one.seed})
        record = scenario.simulation().run(scenario.rounds)
        assert row.measures == {"ce-gap": record.gap("ce"), "welfare": record.welfare}
        assert row.labels == {"rounds": scenario.rounds, "everyone.learner": one.scenario["everyone"]["learner"]}


def test_processes_and_threads_give_the_same_store(tmp_path: Path) -> None:
    def threads() -> Pool:
        executor = ThreadPoolExecutor(3)
        return Pool(executor, 3, close=executor.shutdown)

    with (
        swept(tmp_path / "a", STUDY) as one,
        swept(tmp_path / "b", STUDY, local(2)) as two,
        swept(tmp_path / "c", STUDY, threads) as three,
    ):
        assert content(one) == content(two) == content(three)


def test_only_new_points_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Job] = []
    run = worker.run

    def counted(jobs: Sequence[Job], measures: Sequence[str], **options: Any) -> list[Outcome]:
        ran.extend(jobs)
        return run(jobs, measures, **options)

    monkeypatch.setattr(worker, "run", counted)
    swept(tmp_path / FILE, STUDY).close()
    assert len(ran) == 16
    swept(tmp_path / FILE, STUDY).close()
    assert len(ran) == 16
    longer = {**STUDY, "seeds": 5, "grid": {**STUDY["grid"], "rounds": [80, 160]}}
    with swept(tmp_path / FILE, longer) as store:
        assert store.counts()["done"] == 20  # points with 40 rounds are no longer part of the study
    assert len(ran) == 16 + 10 + 2
    with swept(tmp_path / FILE, {**longer, "measures": ["ce-gap", "nash-gap"]}) as store:
        assert all(set(row.measures) == {"ce-gap", "nash-gap", "welfare"} for row in store.rows())
    assert len(ran) == 28 + 20
    with swept(tmp_path / FILE, STUDY) as store:
        assert store.counts()["done"] == 16
    assert len(ran) == 48


def test_identical_points_run_once(tmp_path: Path) -> None:
    twice = {"base": BASE, "changes": [{"label": "a", "rounds": 5}, {"label": "b", "rounds": 5}]}
    with swept(tmp_path / FILE, twice) as store:
        assert store.counts() == {"todo": 0, "done": 1, "failed": 0}


def test_a_point_that_raises_is_stored_as_failed_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(
        'seeds = 2\nbase = { rounds = 50, game = { name = "chicken" }, everyone = { learner = "hedge" } }\n'
        'grid = { feedback = ["sampled", "bandit"], "everyone.learner" = ["hedge", "exp3"] }'
    )
    assert main(["sweep", "mine.toml", "--workers", "1"]) == 1
    out = capsys.readouterr().out
    assert "4 failed" in out
    expected = "everyone.learner hedge, feedback bandit, seed 1: scenario: everyone.learner: hedge requires"
    assert expected in " ".join(out.split())
    with Store(Path("studies/mine") / FILE) as store:
        rows = list(store.rows())
    assert [row.status for row in rows].count("done") == 4
    failed = [row for row in rows if row.status == "failed"]
    assert {(row.labels["feedback"], row.labels["everyone.learner"]) for row in failed} == {
        ("bandit", "hedge"),
        ("sampled", "exp3"),
    }
    assert all(row.error and not row.measures for row in failed)
    assert main(["study", "mine.toml", "--csv", "mine.csv"]) == 0
    assert "hedge requires" in Path("mine.csv").read_text()


def test_a_dry_run_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(
        'seeds = 30\nbase = { rounds = 9, game = { name = "chicken" }, everyone = { learner = "hedge" } }'
    )
    assert main(["sweep", "mine.toml", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "30 points, 0 of them finished" in out
    assert "workers" in out and "MB of disk" in out
    assert os.listdir() == ["mine.toml"]


def dying(times: int) -> tuple[Open, list[int]]:
    """Return a pool whose workers die `times` times on points with seed 2, and a list that grows with each opening."""
    opened: list[int] = []
    left = [times]

    class Dying(Here):
        def submit(self, call: Any, /, *given: Any, **named: Any) -> Future[Any]:
            if left[0] and any(job.seed == 2 for job in given[1]):
                left[0] -= 1
                future: Future[Any] = Future()
                future.set_exception(BrokenProcessPool("a worker died"))
                return future
            return super().submit(call, *given, **named)

    def open_pool() -> Pool:
        opened.append(1)
        return Pool(Dying(), 2)

    return open_pool, opened


def test_a_lost_worker_loses_no_point(tmp_path: Path) -> None:
    open_pool, opened = dying(4)
    with swept(tmp_path / "a", STUDY) as undisturbed, swept(tmp_path / "b", STUDY, open_pool) as store:
        assert content(store) == content(undisturbed)
    assert len(opened) > 1


def test_a_point_that_kills_its_worker_fails_alone(tmp_path: Path) -> None:
    open_pool, _ = dying(10**6)
    with swept(tmp_path / "a", STUDY) as undisturbed, swept(tmp_path / "b", STUDY, open_pool) as store:
        for row, other in zip(store.rows(), undisturbed.rows(), strict=True):
            if row.seed == 2:
                assert row.status == "failed"
                assert row.error is not None and "its worker died" in row.error
            else:
                assert (row.status, row.measures) == ("done", other.measures)


def test_a_worker_of_another_version_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "version_here", lambda: "0.0.9")
    with pytest.raises(InputError, match=r"but a worker has gamesim 0\.0\.9"):
        swept(tmp_path / FILE, STUDY)
    with Store(tmp_path / FILE) as store:
        assert store.counts()["todo"] == 16


def test_a_second_sweep_on_the_same_store_is_rejected(tmp_path: Path) -> None:
    with Store(tmp_path / FILE, write=True) as store:
        study = Study.from_dict(STUDY)
        store.register(study.points(), study.description)
        with pytest.raises(InputError, match="another sweep is using"):
            Store(tmp_path / FILE, write=True)
        with Store(tmp_path / FILE) as reader:  # reading needs no lock
            assert reader.counts()["todo"] == 16
    Store(tmp_path / FILE, write=True).close()


def test_a_store_of_a_newer_version_is_rejected(tmp_path: Path) -> None:
    swept(tmp_path / FILE, STUDY).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = (tmp_path / FILE).read_bytes()
    for write in (True, False):
        with pytest.raises(InputError, match="newer version of gamesim"):
            Store(tmp_path / FILE, write=write)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_store_in_the_previous_format_is_upgraded(tmp_path: Path) -> None:
    with swept(tmp_path / FILE, STUDY) as store:
        before = content(store)
    in_format(tmp_path / FILE, 1)
    with Store(tmp_path / FILE) as store:
        assert content(store) == before
    with swept(tmp_path / FILE, {**STUDY, "seeds": 5}) as store:
        assert store.counts() == {"todo": 0, "done": 20, "failed": 0}
        assert [row for row in content(store) if row[2] < 4] == before


def test_payoff_tables_are_stored_once(tmp_path: Path) -> None:
    game = {"payoffs": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]}
    study = Study.from_dict({"base": {**BASE, "game": game}, "seeds": 3, "grid": {"rounds": [5, 6]}})
    with Store(tmp_path / FILE, write=True) as store:
        store.register(study.points(), study.description)
        assert [job.text for job in store.todo()] == [point.text for point in study.points()]
        assert store._db.execute("SELECT count(*) FROM payoffs").fetchone() == (1,)
        assert all("payoffs" not in text for (text,) in store._db.execute("SELECT text FROM cells"))


def test_measures_may_differ_between_points(tmp_path: Path) -> None:
    points = [Claimed(str(i), {"x": i}, i, "[]") for i in range(3)]
    with Store(tmp_path / FILE, write=True) as store:
        store.register(points, Description("mine"))
        store.finish([Outcome("0", {"a": 1.0}, None, 0.1), Outcome("1", {"b": 2.0, "c": None}, None, 0.1)])
        store.finish([Outcome("2", None, "no", 0.1)])
        store.register(points, Description("mine"))
        assert [job.key for job in store.todo()] == ["2"]
        assert [row.measures for row in store.rows()] == [{"a": 1.0}, {"b": 2.0, "c": None}, {}]
        store.forget(["0"])
        store.register(points, Description("mine"))
        assert [job.key for job in store.todo()] == ["0", "2"]


def test_a_file_that_is_not_a_store_is_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("my diary, which is long enough to be taken for a database\n" * 20)
    with pytest.raises(InputError, match="not the store of a study"):
        Store(tmp_path / FILE, write=True)
    assert (tmp_path / FILE).read_text().startswith("my diary")
    with sqlite3.connect(tmp_path / "other") as db:
        db.execute("CREATE TABLE addresses (name TEXT)")
    db.close()
    with pytest.raises(InputError, match="not the store of a study"):
        Store(tmp_path / "other", write=True)
    with pytest.raises(InputError, match="there is no study at"):
        Store(tmp_path / "nothing")


def test_a_full_disk_loses_no_finished_point(tmp_path: Path) -> None:
    study = Study.from_dict(STUDY)
    with Store(tmp_path / FILE, write=True) as store:
        store.register(study.points(), study.description)
        jobs = list(store.todo())
        store.finish(worker.run(jobs[:8], study.measures))
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then fails as on a full disk
        huge = [Outcome(job.key, None, "x" * 5000, 0.0) for job in jobs[8:]]
        with pytest.raises(InputError, match=r"full; finished points are kept: free disk space"):
            store.finish(huge)
    with swept(tmp_path / FILE, STUDY) as store, swept(tmp_path / "undisturbed", STUDY) as undisturbed:
        assert content(store) == content(undisturbed)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
def test_the_command_reports_a_file_that_cannot_grow(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'seeds = 400\nbase = { rounds = 9, game = { name = "chicken" }, everyone = { learner = "hedge" } }'
    )
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); "
        "from gamesim.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    call = [sys.executable, "-c", limited, "sweep", "mine.toml", "--workers", "1"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done.stderr
    assert "finished points are kept" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/proc takes no files")
def test_a_read_only_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot create"):
        Store(Path("/proc/gamesim") / FILE, write=True)
    if os.geteuid() != 0:  # root may write everywhere
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(InputError, match="cannot write to"):
            Store(tmp_path / "closed" / FILE, write=True)


# On a cluster.


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def a_cluster(folder: Path, environments: list[dict[str, str]]) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """Start a scheduler and workers as separate processes on loopback."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    address = f"tcp://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    started: list[subprocess.Popen[str]] = []
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, "text": True}
    try:
        started.append(subprocess.Popen([*command, "--no-show"], **quiet))
        for environment in environments:
            one = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard"]
            one += ["--nthreads", "1", "--local-directory", str(folder), "--death-timeout", "60"]
            started.append(subprocess.Popen(one, env=os.environ | environment, **quiet))
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def test_a_cluster_gives_the_same_store_even_if_a_worker_is_killed(tmp_path: Path) -> None:
    study = {**STUDY, "seeds": 12, "grid": {**STUDY["grid"], "rounds": [40, 30_000]}}
    with a_cluster(tmp_path, [{}, {}]) as (address, workers):
        connected = cluster(address)

        def both() -> Pool:
            deadline = time.monotonic() + 60
            while (pool := connected()).width < 2 and time.monotonic() < deadline:
                pool.close()
                time.sleep(0.2)
            return pool

        whole = Study.from_dict(study)
        seen = 0

        def kill_one(outcomes: Any) -> None:
            nonlocal seen
            seen += len(outcomes)
            if seen > 10:
                workers[0].kill()

        with Store(tmp_path / "cluster", write=True) as store:
            store.register(whole.points(), whole.description)
            run_study(whole, store, both, kill_one)
        assert workers[0].wait(30) != 0
        assert workers[1].poll() is None
    with Store(tmp_path / "cluster") as store, swept(tmp_path / "local", study) as here_swept:
        assert content(store) == content(here_swept)


def test_a_cluster_without_the_package_or_a_scheduler_is_rejected(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with pytest.raises(InputError, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:1"):
        cluster("tcp://127.0.0.1:1")()
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "gamesim.py").write_text("raise ImportError('there is no gamesim here')")
    rejected = pytest.raises(InputError, match=r"worker tcp://.* cannot run gamesim .*install gamesim")
    with a_cluster(tmp_path, [{"PYTHONPATH": str(hidden)}]) as (address, _), rejected:
        cluster(address)()
